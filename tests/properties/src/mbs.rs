//! Programs in MBS files and as text.

use emulator::driver::{self, Draw};
use emulator::exec::scalar::Scalar;
use emulator::exec::wide::Wide;
use emulator::gpu::Gpu;
use loader::mbs::{self, Mbs, RULES, Stage};
use utgard::shader;

/// Reading: a readable file is written as the same bytes, and every finding has a rule and an offset in the file.
pub fn read(bytes: &[u8]) {
    let Ok(file) = Mbs::read(bytes) else { return };
    assert!(file.write() == bytes, "other bytes come back");
    for finding in &mbs::validate(&file).diagnostics {
        assert!(
            RULES.iter().any(|rule| rule.0 == finding.rule),
            "{finding}: no such rule"
        );
        assert!(
            finding.offset.is_none_or(|offset| offset <= bytes.len() as u64),
            "{finding}: outside the file"
        );
    }
    let _ = file.programs();
}

/// Text: a file that can be printed is assembled to the same bytes.
pub fn text(bytes: &[u8]) {
    let Ok(file) = Mbs::read(bytes) else { return };
    let Ok(text) = shader::disassemble(&file) else { return };
    let again = shader::assemble(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert!(again.write() == bytes, "other bytes come back from the text\n{text}");
}

/// Any text is a file or an error with a place; an assembled file can be read.
pub fn assemble(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let _ = shader::recognises(text);
    match shader::assemble(text) {
        Ok(file) => {
            let bytes = file.write();
            let again = Mbs::read(&bytes).expect("what was assembled can be read");
            assert!(again.write() == bytes, "other bytes come back");
        }
        Err(error) => drop(error.render(text, "fuzz.s")),
    }
}

/// Maximum number of instructions of a job.
const BUDGET: u64 = 1 << 18;

/// Use: a program is drawn together with a sound one, to the same picture by both engines, or rejected.
pub fn used(bytes: &[u8]) {
    let Ok(file) = Mbs::read(bytes) else { return };
    if !mbs::validate(&file).is_valid() {
        return;
    }
    let sound = shader::assemble(crate::job::vertex()).expect("a sound program");
    let plain = shader::assemble(".fragment\n.varying vec4 tint\n load.v $0 0, stop\n").expect("a sound program");
    let program = |file: &Mbs, stage| file.program(stage).ok().flatten();
    let (vertex, fragment) = match (program(&file, Stage::Vertex), program(&file, Stage::Fragment)) {
        (Some(vertex), Some(fragment)) => (vertex, fragment),
        (Some(vertex), None) => (vertex, program(&plain, Stage::Fragment).expect("a program")),
        (None, Some(fragment)) => (program(&sound, Stage::Vertex).expect("a program"), fragment),
        (None, None) => return,
    };
    let mut draw = Draw::new(&vertex, &fragment, [16, 16]);
    for symbol in vertex.attributes.iter().flatten() {
        draw.attributes.push((
            symbol.name(),
            vec![[0.0, 0.9, 0.1, 1.0], [-0.9, -0.9, 0.5, 1.0], [0.9, -0.9, 0.9, 1.5]],
        ));
    }
    let pictures = [Gpu::new(Box::new(Scalar)), Gpu::new(Box::<Wide>::default())]
        .map(|gpu| driver::draw(&mut gpu.with_budget(BUDGET), &draw).map(|picture| picture.rgba));
    match &pictures {
        [Ok(a), Ok(b)] => assert!(a == b, "the engines' pictures differ"),
        [Err(a), Err(b)] => assert_eq!(a.fault().map(|fault| fault.kind), b.fault().map(|fault| fault.kind)),
        [a, b] => panic!("one engine draws, the other does not: {:?} {:?}", a.is_ok(), b.is_ok()),
    }
}

/// Initial files.
pub fn seeds() -> Vec<Vec<u8>> {
    let fragment = ".fragment\n.uniform vec4 tint\n.uniform sampler2D s\n.varying vec2 at\n load.v ^discard.xy 0.xy, texld 0, \
        mov.v1 $0 ^texture, sync\n load.u 0, mul.v0 $0 $0 ^uniform, stop\n";
    [crate::job::vertex(), fragment]
        .map(|text| shader::assemble(text).expect("a sound program").write())
        .into()
}
