//! Whole shader binaries as text: directives for everything in an MBS file besides the code.
//!
//! `.vertex` or `.fragment` begins a program. `.uniform`, `.attribute` and `.varying` declare symbols: a type as in
//! GLSL, a name, and fields as `FIELD=VALUE` where they differ from the type's layout (`offset`, `size`, `stride`,
//! `entries` by `[N]`, `flags`, `precision`, `invariant`, `parent`, `unknown`, `index=A/B/C`, `init=A/B/…`).
//! `.version`, `.space`, `.stack`, `.discard`, `.buffers` and `.instructions` set the remaining fields; omitted ones
//! are derived from the code. In operands a symbol's name means its number.

use super::text::{Source, Statement, Word, number};
use super::{gp, pp, symbols};
use loader::SourceError;
use loader::mbs::layout::{Declaration, StorageClass, Type, layout, symbol};
use loader::mbs::{CoreVersion, Mbs, NO_PARENT, Program, Stage, Symbol, SymbolType};
use std::fmt::Write;

type Result<T, E = SourceError> = std::result::Result<T, E>;

/// Prints a file; assembling the text gives the same bytes.
///
/// # Errors
/// If programs cannot be read, or the file contains anything that the text cannot express (chunks in an unusual order,
/// unknown chunks).
pub fn disassemble(mbs: &Mbs) -> loader::Result<String> {
    let programs = mbs.programs()?;
    if Mbs::of(&programs).write() != mbs.write() {
        let message = "a file with chunks the text form has no words for (see `info`)";
        return Err(loader::Error::unsupported("mbs", message));
    }
    let mut text = String::new();
    for program in &programs {
        print(program, &mut text);
    }
    // Symbol names that are not identifiers, incomplete instructions: the text is returned only if it assembles to the
    // same bytes.
    match assemble(&text) {
        Ok(again) if again.write() == mbs.write() => Ok(text),
        _ => Err(loader::Error::unsupported(
            "mbs",
            "a file that the text form cannot give back",
        )),
    }
}

fn print(program: &Program, out: &mut String) {
    let vertex = program.stage == Stage::Vertex;
    let _ = writeln!(out, "{}", if vertex { ".vertex" } else { ".fragment" });
    let _ = writeln!(out, ".version {}", program.version.0);
    let words = |words: &[u32]| words.iter().map(u32::to_string).collect::<Vec<_>>().join(" ");
    let mut directive = |name: &str, values: Option<String>| {
        let _ = writeln!(out, ".{name} {}", values.unwrap_or_else(|| "none".to_owned()));
    };
    if vertex {
        directive("instructions", program.instructions.map(|w| words(&w)));
    } else {
        directive("stack", program.stack.map(|w| words(&w)));
        directive("discard", program.discard.map(|w| w.to_string()));
        directive("buffers", program.buffers.map(|bytes| words(&bytes.map(u32::from))));
    }
    if program.uniforms.is_some() {
        directive("space", Some(program.uniform_space.to_string()));
    }
    let tables = [
        ("uniform", &program.uniforms),
        ("attribute", &program.attributes),
        ("varying", &program.varyings),
    ];
    for (name, symbols) in tables {
        let Some(symbols) = symbols else { continue };
        if symbols.is_empty() {
            let _ = writeln!(out, ".{name}s");
        }
        for symbol in symbols {
            let _ = writeln!(out, ".{name} {}", symbol_text(symbol, class(name, program.stage)));
        }
    }
    out.push('\n');
    out.push_str(&code_text(program));
}

/// The code of a program as text.
fn code_text(program: &Program) -> String {
    match program.stage {
        // Incomplete instructions cannot occur: the length is checked when a file is printed.
        Stage::Vertex => gp::disassemble(&instructions(&program.code), gp::Options { words: true }),
        Stage::Fragment => pp::disassemble(&program.code, pp::Options { words: true }),
    }
}

/// A vertex program's words as instructions, without an incomplete one at the end.
pub fn instructions(words: &[u32]) -> Vec<[u32; gp::WORDS]> {
    words
        .chunks_exact(4)
        .map(|words| [words[0], words[1], words[2], words[3]])
        .collect()
}

fn class(table: &str, stage: Stage) -> StorageClass {
    match (table, stage) {
        ("attribute", _) => StorageClass::Attribute,
        ("varying", _) => StorageClass::Varying,
        (_, Stage::Vertex) => StorageClass::GpUniform,
        (_, Stage::Fragment) => StorageClass::PpUniform,
    }
}

/// Escapes characters that would end a word.
fn escape(name: &[u8]) -> String {
    let plain = |byte: &u8| byte.is_ascii_graphic() && !b"#;,\\=".contains(byte);
    name.iter()
        .map(|byte| {
            if plain(byte) {
                char::from(*byte).to_string()
            } else {
                format!("\\x{byte:02x}")
            }
        })
        .collect()
}

fn unescape(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find("\\x") {
        bytes.extend_from_slice(&rest.as_bytes()[..at]);
        bytes.push(u8::from_str_radix(rest.get(at + 2..at + 4)?, 16).ok()?);
        rest = &rest[at + 4..];
    }
    bytes.extend_from_slice(rest.as_bytes());
    Some(bytes)
}

fn symbol_text(have: &Symbol, class: StorageClass) -> String {
    let base = Symbol {
        entries: 0,
        ..have.clone()
    }
    .type_name();
    let ty = Type::by_name(&base);
    let mut text = if ty.is_some() { base } else { "raw".to_owned() };
    if have.entries > 0 {
        let _ = write!(text, "[{}]", have.entries);
    }
    let _ = write!(text, " {}", escape(&have.name));
    let usual = usual(ty, have.entries, class);
    let _ = write!(text, " offset={}", have.offset);
    for (name, get) in FIELDS {
        if get(have) != get(&usual) {
            let _ = write!(text, " {name}={}", get(have));
        }
    }
    let list = |words: &[u32]| {
        words
            .iter()
            .map(|word| format!("{word:#x}"))
            .collect::<Vec<_>>()
            .join("/")
    };
    if let Some(index) = &have.index {
        let _ = write!(text, " index={}", list(index));
    }
    if let Some(initial) = &have.initial {
        let _ = write!(text, " init={}", list(initial));
    }
    text
}

/// The default fields of a declaration.
fn usual(ty: Option<Type>, entries: u16, class: StorageClass) -> Symbol {
    let raw = ty.is_none();
    let ty = ty.unwrap_or(Type::Vector(SymbolType::FLOAT, 1));
    let mut symbol = symbol(
        &Declaration {
            name: String::new(),
            ty,
            entries,
        },
        class,
        0,
        NO_PARENT,
    );
    if raw {
        symbol.kind = SymbolType(0);
    }
    symbol
}

/// Reads a numeric field of a symbol.
type Getter = fn(&Symbol) -> u32;

/// The fields that text may set, except those with special syntax.
const FIELDS: [(&str, Getter); 9] = [
    ("type", |s| s.kind.0.into()),
    ("components", |s| s.components.into()),
    ("size", |s| s.size.into()),
    ("stride", |s| s.stride.into()),
    ("flags", |s| s.flags.into()),
    ("precision", |s| s.precision.into()),
    ("invariant", |s| s.invariant),
    ("parent", |s| s.parent.into()),
    ("unknown", |s| s.unknown.into()),
];

/// Whether a text is in this language.
pub fn recognises(text: &str) -> bool {
    text.lines().any(|line| matches!(line.trim(), ".vertex" | ".fragment"))
}

/// Assembles a text with one or more programs.
///
/// # Errors
/// The first error in the text, with what was expected.
pub fn assemble(text: &str) -> Result<Mbs> {
    let source = Source(text);
    let statements = source.statements();
    let is_start = |statement: &Statement<'_>| matches!(first(statement), Some(".vertex" | ".fragment"));
    let mut programs = Vec::new();
    let mut rest = &statements[..];
    if let Some(statement) = rest.first().filter(|statement| !is_start(statement)) {
        return Err(source.error(statement.span(), "a program begins with `.vertex` or `.fragment`"));
    }
    while let Some(start) = rest.first() {
        let end = rest[1..].iter().position(is_start).map_or(rest.len(), |at| at + 1);
        let stage = if first(start) == Some(".vertex") {
            Stage::Vertex
        } else {
            Stage::Fragment
        };
        programs.push(Assembler::new(source, stage).run(&rest[1..end])?);
        rest = &rest[end..];
    }
    if programs.is_empty() {
        return Err(source.error(0..0, "no program: expected `.vertex` or `.fragment`"));
    }
    Ok(Mbs::of(&programs))
}

/// The source lines, from 1, of the instructions of a stage's program, in order.
pub fn lines(text: &str, stage: Stage) -> Vec<u32> {
    let mut lines = Vec::new();
    let (mut line, mut at, mut inside) = (1, 0, false);
    for statement in Source(text).statements() {
        let start = statement.span().start;
        line += text[at..start].matches('\n').count() as u32;
        at = start;
        match first(&statement) {
            Some(".vertex") => inside = stage == Stage::Vertex,
            Some(".fragment") => inside = stage == Stage::Fragment,
            Some(name) if name.starts_with('.') && name != ".word" => {}
            Some(_) if inside => lines.push(line),
            _ => {}
        }
    }
    lines
}

fn first<'a>(statement: &Statement<'a>) -> Option<&'a str> {
    Some(statement.parts.first()?.first()?.text)
}

/// A declared symbol.
struct Declared {
    declaration: Declaration,
    usual: Symbol,
    offset: Option<u16>,
}

struct Assembler<'a> {
    source: Source<'a>,
    stage: Stage,
    program: Program,
    tables: [(&'static str, Option<Vec<Declared>>); 3],
    space: Option<u32>,
    set: Vec<&'static str>,
}

const DIRECTIVES: [&str; 6] = ["version", "instructions", "stack", "discard", "buffers", "space"];

impl<'a> Assembler<'a> {
    fn new(source: Source<'a>, stage: Stage) -> Self {
        let tables = [("uniform", None), ("attribute", None), ("varying", None)];
        Self {
            source,
            stage,
            program: Program::new(stage, Vec::new()),
            tables,
            space: None,
            set: Vec::new(),
        }
    }

    fn fail<T>(&self, word: &Word<'_>, message: impl Into<String>) -> Result<T> {
        Err(self.source.error(word.span.clone(), message))
    }

    fn run(mut self, statements: &[Statement<'a>]) -> Result<Program> {
        let mut code = Vec::new();
        for statement in statements {
            match first(statement) {
                Some(name) if name.starts_with('.') && name != ".word" => self.directive(statement)?,
                _ => code.push(statement.clone()),
            }
        }
        self.lay_out();
        let texts = symbols::texts(self.source, &self.program, &code)?;
        let code = symbols::with(&texts, &code);
        self.program.code = match self.stage {
            Stage::Vertex => gp::assemble_statements(self.source, &code)?
                .into_iter()
                .flatten()
                .collect(),
            Stage::Fragment => pp::assemble_statements(self.source, &code)?,
        };
        self.follow();
        Ok(self.program)
    }

    fn directive(&mut self, statement: &Statement<'a>) -> Result<()> {
        let part = &statement.parts[0];
        if let Some(more) = statement.parts.get(1) {
            return self.fail(&more[0], "directives have no commas");
        }
        let (name, operands) = (&part[0], &part[1..]);
        let directive = name.text.trim_start_matches('.');
        if let Some(at) = self
            .tables
            .iter()
            .position(|table| directive.trim_end_matches('s') == table.0)
        {
            let table = self.tables[at].1.get_or_insert_default();
            if !directive.ends_with('s') {
                let declared = Self::declaration(self.source, name, operands, class(self.tables[at].0, self.stage))?;
                if let Some(table) = &mut self.tables[at].1 {
                    table.push(declared);
                }
            } else if !table.is_empty() || !operands.is_empty() {
                return self.fail(name, format!("`{}` is for a table without symbols", name.text));
            }
            return Ok(());
        }
        let Some(known) = DIRECTIVES.iter().find(|known| **known == directive) else {
            return self.fail(name, format!("`{}` is not a directive", name.text));
        };
        self.set.push(known);
        self.values(known, name, operands)
    }

    fn values(&mut self, directive: &str, name: &Word<'_>, operands: &[Word<'_>]) -> Result<()> {
        let none = matches!(operands, [word] if word.text == "none");
        let words: Vec<u32> = match none {
            true => Vec::new(),
            false => operands
                .iter()
                .map(|word| self.source.number(word).map(|n| n as u32))
                .collect::<Result<_>>()?,
        };
        let program = &mut self.program;
        match (directive, &words[..]) {
            ("instructions", []) if none => program.instructions = None,
            ("stack", []) if none => program.stack = None,
            ("discard", []) if none => program.discard = None,
            ("buffers", []) if none => program.buffers = None,
            ("version", [version]) => program.version = CoreVersion(*version),
            ("instructions", [a, b, c]) => program.instructions = Some([*a, *b, *c]),
            ("stack", [size, start]) => program.stack = Some([*size, *start]),
            ("discard", [value]) => program.discard = Some(*value),
            ("space", [space]) => self.space = Some(*space),
            ("buffers", bytes) if bytes.len() == 8 && bytes.iter().all(|byte| *byte < 256) => {
                program.buffers = Some(std::array::from_fn(|at| bytes[at] as u8));
            }
            _ => return self.fail(name, format!("`{}` with {} numbers", name.text, operands.len())),
        }
        Ok(())
    }

    fn declaration(
        source: Source<'_>,
        name: &Word<'_>,
        operands: &[Word<'_>],
        class: StorageClass,
    ) -> Result<Declared> {
        let [ty, label, fields @ ..] = operands else {
            return Err(source.error(name.span.clone(), format!("`{}` takes a type and a name", name.text)));
        };
        let (base, entries) = match ty.text.strip_suffix(']').and_then(|text| text.split_once('[')) {
            Some((base, entries)) => (base, entries.parse().ok().filter(|n| *n > 0)),
            None => (ty.text, Some(0)),
        };
        let known = Type::by_name(base);
        let (Some(entries), true) = (entries, known.is_some() || base == "raw") else {
            return Err(source.error(ty.span.clone(), format!("`{}` is not a type", ty.text)));
        };
        let Some(bytes) = unescape(label.text) else {
            return Err(source.error(label.span.clone(), "an escape is \\x and two digits"));
        };
        let mut usual = usual(known.clone(), entries, class);
        usual.name = bytes;
        let mut offset = None;
        for word in fields {
            Self::field(source, word, &mut usual, &mut offset)?;
        }
        let ty = known.unwrap_or(Type::Vector(SymbolType::FLOAT, 1));
        Ok(Declared {
            declaration: Declaration {
                name: String::new(),
                ty,
                entries,
            },
            usual,
            offset,
        })
    }

    fn field(source: Source<'_>, word: &Word<'_>, symbol: &mut Symbol, offset: &mut Option<u16>) -> Result<()> {
        let fail = |message: String| Err(source.error(word.span.clone(), message));
        let Some((name, text)) = word.text.split_once('=') else {
            return fail(format!("`{}` where FIELD=VALUE is expected", word.text));
        };
        if name == "init" || name == "index" {
            let words: Option<Vec<u32>> = text.split('/').map(value).collect();
            match (name, words) {
                ("init", Some(words)) => symbol.initial = Some(words),
                (_, Some(words)) if words.len() == 3 => symbol.index = Some([words[0], words[1], words[2]]),
                _ => return fail(format!("`{text}` is not a list of numbers")),
            }
            return Ok(());
        }
        let most: u32 = match name {
            "invariant" => u32::MAX,
            "type" | "flags" | "precision" | "unknown" => 0xff,
            _ => 0xffff,
        };
        let Some(value) = number(text)
            .filter(|n| (0..=i64::from(most)).contains(n))
            .map(|n| n as u32)
        else {
            return fail(format!("`{text}` is not a number up to {most}"));
        };
        match name {
            "offset" => *offset = Some(value as u16),
            "type" => symbol.kind = SymbolType(value as u8),
            "components" => symbol.components = value as u16,
            "size" => symbol.size = value as u16,
            "stride" => symbol.stride = value as u16,
            "flags" => symbol.flags = value as u8,
            "precision" => symbol.precision = value as u8,
            "invariant" => symbol.invariant = value,
            "parent" => symbol.parent = value as u16,
            "unknown" => symbol.unknown = value as u8,
            _ => return fail(format!("`{name}` is not a field of a symbol")),
        }
        Ok(())
    }

    /// Assigns an offset to every symbol: the declared one, or the next in its table.
    fn lay_out(&mut self) {
        let stage = self.stage;
        let mut spaces = [0; 3];
        let tables = std::mem::take(&mut self.tables);
        for ((name, table), space) in tables.into_iter().zip(&mut spaces) {
            let Some(table) = table else { continue };
            let declarations: Vec<Declaration> = table.iter().map(|declared| declared.declaration.clone()).collect();
            let (places, end) = layout(&declarations, class(name, stage));
            *space = end;
            let place = |(declared, place): (Declared, Symbol)| {
                let offset = declared.offset.unwrap_or(place.offset);
                Symbol {
                    offset,
                    ..declared.usual
                }
            };
            let symbols: Vec<Symbol> = table.into_iter().zip(places).map(place).collect();
            for symbol in symbols.iter().filter(|symbol| symbol.is_used()) {
                let last = u32::from(symbol.stride) * u32::from(symbol.entries.max(1));
                *space = (*space).max((u32::from(symbol.offset) + last).next_multiple_of(4));
            }
            match name {
                "uniform" => self.program.uniforms = Some(symbols),
                "attribute" => self.program.attributes = Some(symbols),
                _ => self.program.varyings = Some(symbols),
            }
        }
        self.program.uniform_space = self.space.unwrap_or(spaces[0]);
    }

    /// Derives omitted fields from the code.
    fn follow(&mut self) {
        let said = |name| self.set.contains(&name);
        let program = &mut self.program;
        if self.stage == Stage::Vertex {
            if !said("instructions") {
                let code: Vec<gp::Instruction> = instructions(&program.code)
                    .into_iter()
                    .map(gp::Instruction::decode)
                    .collect();
                let port0 = |source: &gp::Source| matches!(source, gp::Source::Port0(_));
                let reads = |i: &gp::Instruction| i.register0_is_attribute && i.sources().iter().any(port0);
                let last = code.iter().rposition(reads).map_or(0, |at| at as u32 + 1);
                program.instructions = Some([0, code.len() as u32, last]);
            }
            return;
        }
        let (code, _) = pp::flow::instructions(&program.code);
        if !said("discard") {
            let discards = code
                .iter()
                .any(|(_, i)| i.branch.is_some_and(|branch| branch.is_discard()));
            program.discard = Some(u32::from(discards));
        }
        if !said("stack") {
            let place = |index: i32, alignment: pp::Alignment| (index >> (2 - alignment.shift())).unsigned_abs();
            let deepest = code
                .iter()
                .filter_map(|(_, i)| i.store)
                .filter(|store| store.read == pp::StoreMode::Store);
            let deepest = deepest
                .map(|store| place(store.signed_index(), store.alignment))
                .max()
                .unwrap_or(1);
            program.stack = Some([deepest, deepest]);
        }
    }
}

/// A word: a number, or a float with a point.
fn value(text: &str) -> Option<u32> {
    if text.contains('.') && !text.starts_with("0x") {
        return text.parse::<f32>().ok().map(f32::to_bits);
    }
    number(text).map(|value| value as u32)
}
