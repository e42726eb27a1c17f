//! One instruction of every opcode, and the way of a module through its text.

use loader::spirv::{Grammar, asm, dis, grammar as tables};

pub(crate) fn grammar() -> &'static Grammar {
    Grammar::builtin()
}

pub(crate) fn options(flags: &[&str]) -> dis::Options {
    dis::Options {
        raw_id: flags.contains(&"--raw-id"),
        indent: !flags.contains(&"--no-indent"),
        offsets: flags.contains(&"--offsets"),
        comment: flags.contains(&"--comment"),
        header: !flags.contains(&"--no-header"),
        nested: false,
    }
}

/// The difference that a module comes back with from its text.
pub(crate) fn round_trip(name: &str, words: &[u32]) -> Option<String> {
    let text = dis::disassemble(grammar(), words, options(&["--raw-id"])).unwrap();
    let again = asm::assemble(
        grammar(),
        &text,
        asm::Options {
            exact: true,
            ..Default::default()
        },
    );
    (again.as_deref() != Ok(words)).then(|| format!("{} exact round trip: {:?}", name, again.err()))
}

/// Header, a 32-bit integer type %1 and a value %2 of it.
pub(crate) const PRELUDE: [u32; 13] = [
    0x0723_0203,
    0x10600,
    0,
    1000,
    0,
    21 | 4 << 16,
    1,
    32,
    0,
    43 | 4 << 16,
    1,
    2,
    5,
];

/// One instruction of an opcode, with the enumerant of a number in each operand that has some.
pub(crate) fn instance(row: &tables::Row, choice: usize) -> Vec<u32> {
    static NEXT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(100);
    let mut words = vec![0];
    let mut open: Vec<u16> = row.operands.iter().rev().map(|r| r.kind).collect();
    while let Some(kind) = open.pop() {
        let Some(table) = grammar().kind(kind) else { continue };
        match &table.shape {
            tables::Shape::ResultType => words.push(1),
            tables::Shape::Result => words.push(NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed)),
            tables::Shape::String => words.extend([0x6f6c_6568, 0]),
            tables::Shape::Composite(parts) => open.extend(parts.iter().rev()),
            tables::Shape::Value | tables::Shape::Mask => {
                let row = &table.enumerants()[choice % table.enumerants().len()];
                words.push(row.value);
                open.extend(row.parameters().iter().rev().map(|p| p.kind));
            }
            // OpSpecConstantOp of OpIAdd, whose two operands follow.
            tables::Shape::SpecOp => words.extend([128, 2, 2]),
            _ => words.push(2),
        }
    }
    words[0] = row.opcode | (words.len() as u32) << 16;
    words
}
