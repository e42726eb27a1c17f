//! The rules of the format, each with a name.

use super::Mbs;
use super::chunk::{Body, Chunk};
use super::layout::StorageClass;
use super::program::{CoreVersion, NO_PARENT, Program, Stage, Symbol, SymbolType};
use crate::{Report, Severity};

/// Every rule: its name and meaning.
pub const RULES: &[(&str, &str)] = &[
    ("file", "the MBS1 chunk is the whole file"),
    ("chunk-size", "a chunk's size is a multiple of four"),
    ("chunk-end", "chunks fill the chunk they are in"),
    ("chunk-known", "every chunk is known"),
    ("program", "there is a program, and one of a stage at most"),
    ("chunk-missing", "a program has the chunks of its stage, once each"),
    ("core-version", "a program is for a processor of its stage"),
    ("code-size", "the code has the declared length and is not empty"),
    ("prefetch", "the last attribute is read inside the program"),
    ("count", "a table has the declared number of symbols"),
    ("name", "a name ends with a zero byte, and is padded with zeros"),
    ("symbol", "a symbol has all of its fields"),
    ("type", "the type is known, with components it can have"),
    ("alignment", "an offset is a multiple of the type's alignment"),
    (
        "stride",
        "the stride is that of the type, or a multiple of its alignment with room for an element",
    ),
    ("space", "a uniform fits in the space of its table"),
    ("parent", "a parent is a structure of the same table"),
    (
        "initial",
        "the number of initial values is the declared one and the symbol's number of components",
    ),
];

/// Checks a file's bytes against every rule of the container.
pub fn check(bytes: &[u8]) -> Report {
    match Mbs::read(bytes) {
        Ok(mbs) => validate(&mbs),
        Err(error) => (&error).into(),
    }
}

/// Checks a file against every rule of the container.
pub fn validate(mbs: &Mbs) -> Report {
    let mut report = Report::default();
    if !mbs.tail.is_empty() {
        let message = format!("{} bytes behind the MBS1 chunk", mbs.tail.len());
        report.push(Severity::Error, "file", "", message, Some(8 + mbs.root.size() as u64));
    }
    chunks(&mbs.root, "", &mut report);
    let programs: Vec<&Chunk> = mbs
        .root
        .children()
        .iter()
        .filter(|chunk| Stage::of(chunk).is_some())
        .collect();
    if programs.is_empty() {
        report.push(Severity::Error, "program", "", "there is no program", None);
    }
    for (number, chunk) in programs.iter().enumerate() {
        if programs[..number].iter().any(|before| before.ident == chunk.ident) {
            let message = format!("a second {}", chunk.name());
            report.push(Severity::Error, "program", chunk.name(), message, Some(chunk.offset));
        }
        program(chunk, &mut report);
    }
    report
}

/// Rules of every chunk.
fn chunks(chunk: &Chunk, path: &str, report: &mut Report) {
    const KNOWN: [&[u8; 4]; 21] = [
        b"MBS1", b"CFRA", b"CVER", b"FSTA", b"FDIS", b"FBUU", b"FINS", b"SUNI", b"SVAR", b"SATT", b"VUNI", b"VVAR",
        b"VATT", b"STRI", b"VIDX", b"ITDR", b"IYUV", b"IGRD", b"VINI", b"DBIN", b"MBS1",
    ];
    let path = if path.is_empty() {
        chunk.name()
    } else {
        format!("{path}/{}", chunk.name())
    };
    let at = Some(chunk.offset);
    if !chunk.size().is_multiple_of(4) {
        report.push(
            Severity::Error,
            "chunk-size",
            &path,
            format!("a size of {}", chunk.size()),
            at,
        );
    }
    if !KNOWN.contains(&&chunk.ident) {
        report.push(Severity::Warning, "chunk-known", &path, "unknown, kept unchanged", at);
    }
    if let Body::Node { tail, .. } = &chunk.body
        && !tail.is_empty()
    {
        let message = format!("the last {} bytes do not form a chunk within this one", tail.len());
        report.push(Severity::Error, "chunk-end", &path, message, at);
    }
    if chunk.ident == *b"STRI" {
        let bytes = chunk.bytes();
        let end = bytes.iter().position(|byte| *byte == 0);
        if end.is_none_or(|end| bytes[end..].iter().any(|byte| *byte != 0)) {
            report.push(
                Severity::Error,
                "name",
                &path,
                "no zero byte, or something behind it",
                at,
            );
        }
    }
    chunk.children().iter().for_each(|child| chunks(child, &path, report));
}

fn program(chunk: &Chunk, report: &mut Report) {
    let path = chunk.name();
    let program = match Program::from_chunk(chunk) {
        Ok(program) => program,
        Err(error) => {
            report.push(
                Severity::Error,
                "symbol",
                &path,
                error.message().to_owned(),
                error.offset(),
            );
            return;
        }
    };
    let vertex = program.stage == Stage::Vertex;
    let needed: &[&[u8; 4]] = if vertex {
        &[b"FINS", b"DBIN"]
    } else {
        &[b"FSTA", b"FDIS", b"FBUU", b"DBIN"]
    };
    let once: [&[u8; 4]; 8] = [b"FINS", b"FSTA", b"FDIS", b"FBUU", b"SUNI", b"SATT", b"SVAR", b"DBIN"];
    for ident in once {
        let count = chunk.children().iter().filter(|child| child.ident == *ident).count();
        if count > 1 || count == 0 && needed.contains(&ident) {
            let message = format!("{count} chunks {}", ident.escape_ascii());
            report.push(Severity::Error, "chunk-missing", &path, message, Some(chunk.offset));
        }
    }
    let fits = match program.version {
        CoreVersion::MALI_GP2 | CoreVersion::MALI_400_GP => vertex,
        CoreVersion::MALI_200 | CoreVersion::MALI_400_PP => !vertex,
        _ => false,
    };
    if !fits {
        let message = format!("core version {} ({})", program.version.0, program.version);
        report.push(Severity::Error, "core-version", &path, message, Some(chunk.offset + 8));
    }
    code(chunk, &program, report);
    for (ident, symbol, class) in [
        (
            b"SUNI",
            b"VUNI",
            if vertex {
                StorageClass::GpUniform
            } else {
                StorageClass::PpUniform
            },
        ),
        (b"SATT", b"VATT", StorageClass::Attribute),
        (b"SVAR", b"VVAR", StorageClass::Varying),
    ] {
        if let Some(table) = chunk.child(ident) {
            self::table(table, symbol, class, &program, report);
        }
    }
}

fn code(chunk: &Chunk, program: &Program, report: &mut Report) {
    let path = chunk.name();
    let at = chunk.child(b"DBIN").map(|code| code.offset);
    let bytes = chunk.child(b"DBIN").map_or(0, Chunk::size);
    if bytes == 0 {
        report.push(Severity::Error, "code-size", &path, "there is no code", at);
    }
    let Some([_, count, prefetch]) = program.instructions else {
        return;
    };
    if bytes as u64 != u64::from(count) * 16 {
        let message = format!("{bytes} bytes of code for {count} instructions of 16");
        report.push(Severity::Error, "code-size", &path, message, at);
    }
    if prefetch > count {
        let message = format!("the last attribute is read before instruction {prefetch} of {count}");
        report.push(
            Severity::Error,
            "prefetch",
            &path,
            message,
            chunk.child(b"FINS").map(|fins| fins.offset),
        );
    }
}

fn table(chunk: &Chunk, ident: &[u8; 4], class: StorageClass, program: &Program, report: &mut Report) {
    let path = chunk.name();
    let symbols: Vec<&Chunk> = chunk.children().iter().filter(|child| child.ident == *ident).collect();
    if chunk.word(0) != Some(symbols.len() as u32) {
        let message = format!(
            "{} symbols, the table declares {}",
            symbols.len(),
            chunk.word(0).unwrap_or(0)
        );
        report.push(Severity::Error, "count", &path, message, Some(chunk.offset));
    }
    let tables = program.tables();
    let values = match class {
        StorageClass::Attribute => tables[1].1,
        StorageClass::Varying => tables[2].1,
        _ => tables[0].1,
    };
    for (chunk, symbol) in symbols.iter().zip(values) {
        let path = format!("{path}/{}", symbol.name());
        let mut say = |rule: &'static str, message: String| {
            report.push(Severity::Error, rule, &path, message, Some(chunk.offset));
        };
        self::symbol(symbol, class, program, values, &mut say);
        initial(chunk, symbol, &mut say);
    }
}

/// Alignment and stride of a symbol's type; `None` for structures, which take them from their members.
fn type_rules(symbol: &Symbol, class: StorageClass) -> Option<(u16, u16)> {
    use super::layout::Type;
    let ty = match symbol.kind {
        SymbolType::STRUCT => return None,
        SymbolType::MATRIX => Type::Matrix(symbol.components),
        kind @ (SymbolType::SAMPLER_2D | SymbolType::SAMPLER_CUBE | SymbolType::SAMPLER_EXTERNAL) => {
            Type::Sampler(kind)
        }
        kind => Type::Vector(kind, symbol.components),
    };
    Some((ty.alignment(class), ty.stride(class)))
}

fn symbol(
    symbol: &Symbol,
    class: StorageClass,
    program: &Program,
    table: &[Symbol],
    say: &mut impl FnMut(&'static str, String),
) {
    let components = match symbol.kind {
        SymbolType::FLOAT | SymbolType::INT | SymbolType::BOOL => 1..=4,
        SymbolType::MATRIX => 2..=4,
        SymbolType::SAMPLER_2D | SymbolType::SAMPLER_CUBE | SymbolType::SAMPLER_EXTERNAL => 2..=3,
        SymbolType::STRUCT => 1..=u16::MAX,
        kind => return say("type", format!("type {}", kind.0)),
    };
    if !components.contains(&symbol.components) {
        return say("type", format!("a {} of {} components", symbol.kind, symbol.components));
    }
    let is_attribute = class == StorageClass::Attribute;
    if !is_attribute && symbol.parent != NO_PARENT {
        let parent = table.get(usize::from(symbol.parent));
        if parent.is_none_or(|parent| parent.kind != SymbolType::STRUCT) {
            say(
                "parent",
                format!("symbol {} is not a structure of this table", symbol.parent),
            );
        }
    }
    if !symbol.is_used() {
        return;
    }
    if let Some((alignment, stride)) = type_rules(symbol, class) {
        if !symbol.offset.is_multiple_of(alignment) {
            say(
                "alignment",
                format!(
                    "offset {} of a {}, which has alignment {alignment}",
                    symbol.offset,
                    symbol.type_name()
                ),
            );
        }
        // Vertex uniforms that are not arrays may be packed; everything else has its type's stride.
        let fits = symbol.stride >= stride && symbol.stride.is_multiple_of(alignment)
            || class == StorageClass::GpUniform && symbol.entries == 0;
        if !fits {
            say(
                "stride",
                format!(
                    "stride {} of a {}, which has stride {stride}",
                    symbol.stride,
                    symbol.type_name()
                ),
            );
        }
    }
    let size = u32::from(symbol.components).min(u32::from(symbol.size));
    let end = u32::from(symbol.offset) + u32::from(symbol.stride) * u32::from(symbol.entries.max(1) - 1) + size;
    let uniforms = matches!(class, StorageClass::GpUniform | StorageClass::PpUniform);
    if uniforms && symbol.parent == NO_PARENT && end > program.uniform_space {
        say(
            "space",
            format!("ends at {end}, the space is {} floats", program.uniform_space),
        );
    }
}

fn initial(chunk: &Chunk, symbol: &Symbol, say: &mut impl FnMut(&'static str, String)) {
    let (Some(values), Some(leaf)) = (&symbol.initial, chunk.child(b"VINI")) else {
        return;
    };
    let wanted = u32::from(symbol.components) * u32::from(symbol.entries.max(1));
    let columns = if symbol.kind == SymbolType::MATRIX {
        u32::from(symbol.components)
    } else {
        1
    };
    if leaf.word(0) != Some(values.len() as u32) || leaf.size() != 4 + 4 * values.len() {
        say(
            "initial",
            format!(
                "{} values, the chunk declares {}",
                values.len(),
                leaf.word(0).unwrap_or(0)
            ),
        );
    } else if values.len() as u32 != wanted * columns {
        say("initial", format!("{} values for {}", values.len(), symbol.type_name()));
    }
}
