//! Symbols in operands: a declared name may be used where the code has a number.
//!
//! | in | is | for |
//! |---|---|---|
//! | `load.u color` | `load.u 0` | a uniform of the fragment processor; one smaller than a vec4 brings its components, `0.zw` |
//! | `load.v tint` | `load.v 1` | a varying of the fragment processor |
//! | `texld stone` | `texld 0` | a sampler |
//! | `transform[1].x` | `t[1].x` | a uniform of the vertex processor |
//! | `position.x` | `a0.x` | an attribute |
//! | `tint.x` | `v1.x` | a varying of the vertex processor |
//!
//! `[N]` is an array's element or a matrix's column.

use super::text::{COMPONENTS, Source, Statement, Word};
use loader::SourceError;
use loader::mbs::{Program, Stage, Symbol, SymbolType};
use std::collections::HashMap;
use std::ops::Range;

type Result<T, E = SourceError> = std::result::Result<T, E>;

/// Replacement text of words that contain symbols, by their start.
pub(super) type Texts = HashMap<usize, String>;

/// The words of a program's statements with symbols replaced by numbers.
///
/// # Errors
/// If an index is out of range, or if components of a partial vec4 are named.
pub(super) fn texts(source: Source<'_>, program: &Program, statements: &[Statement<'_>]) -> Result<Texts> {
    let mut texts = Texts::new();
    for part in statements.iter().flat_map(|statement| &statement.parts) {
        let Some((name, operands)) = part.split_first() else {
            continue;
        };
        let Some(kinds) = kinds(program.stage, name.text) else {
            continue;
        };
        for word in operands {
            if let Some(text) = text(source, program, kinds, word)? {
                texts.insert(word.span.start, text);
            }
        }
    }
    Ok(texts)
}

/// The statements with these replacements.
pub(super) fn with<'t>(texts: &'t Texts, statements: &[Statement<'t>]) -> Vec<Statement<'t>> {
    let mut statements = statements.to_vec();
    let parts = statements.iter_mut().flat_map(|statement| &mut statement.parts);
    for word in parts.flat_map(|part| part.iter_mut().skip(1)) {
        if let Some(text) = texts.get(&word.span.start) {
            word.text = text;
        }
    }
    statements
}

/// The table that an operand's symbol is looked up in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Uniform,
    Attribute,
    Varying,
}

fn kinds(stage: Stage, operation: &str) -> Option<&'static [Kind]> {
    match (stage, operation.split('.').next().unwrap_or_default(), operation) {
        (Stage::Fragment, "texld", _) | (Stage::Fragment, _, "load.u") => Some(&[Kind::Uniform]),
        (Stage::Fragment, _, "load.v") => Some(&[Kind::Varying]),
        (Stage::Fragment, ..) => None,
        // Address registers and labels have a separate namespace.
        (Stage::Vertex, "load" | "branch" | "set", _) => None,
        (Stage::Vertex, ..) => Some(&[Kind::Uniform, Kind::Attribute, Kind::Varying]),
    }
}

/// Whether a name is reserved by the assembler.
fn is_taken(stage: Stage, name: &str) -> bool {
    let numbered = |letter: char| {
        let rest = name.strip_prefix(letter);
        rest.is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()))
    };
    match stage {
        Stage::Vertex => matches!(name, "_" | "t" | "abs") || numbered('a') || numbered('v'),
        Stage::Fragment => {
            const WORDS: [&str; 8] = [
                "abs",
                "cube",
                "divide_z",
                "divide_w",
                "normalize",
                "gl_FragCoord",
                "gl_PointCoord",
                "gl_FrontFacing",
            ];
            WORDS.contains(&name)
        }
    }
}

/// A word with its symbol replaced by a number; `None` if it has no symbol.
fn text(source: Source<'_>, program: &Program, kinds: &[Kind], word: &Word<'_>) -> Result<Option<String>> {
    let mut at = 0;
    while let Some(range) = identifier(word.text, at) {
        at = range.end;
        let name = &word.text[range.clone()];
        if is_taken(program.stage, name) {
            continue;
        }
        let found = kinds.iter().find_map(|kind| Some((*kind, find(program, *kind, name)?)));
        let Some((kind, symbol)) = found else { continue };
        let behind = &word.text[range.end..];
        let (element, rest) = match behind.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((element, rest)) => (Some(element), rest),
            None => (None, behind),
        };
        let place = place(symbol, element).map_err(|message| source.error(word.span.clone(), message))?;
        let number = match is_sampler(symbol) {
            true => Ok(unit(program, symbol).to_string()),
            false => operand(program.stage, kind, symbol, place, rest),
        };
        let number = number.map_err(|message| source.error(word.span.clone(), message))?;
        return Ok(Some(format!("{}{number}{rest}", &word.text[..range.start])));
    }
    Ok(None)
}

/// The next identifier in a word that is not part of a register or a component.
fn identifier(text: &str, from: usize) -> Option<Range<usize>> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut start = from;
    loop {
        let rest = &text[start..];
        start += rest.find(|c: char| is_name(c))?;
        let length = text[start..].find(|c: char| !is_name(c)).unwrap_or(text.len() - start);
        let before = text[..start].chars().next_back();
        let begins = !text[start..].starts_with(|c: char| c.is_ascii_digit());
        if begins && !matches!(before, Some('$' | '^' | '.' | '@')) {
            return Some(start..start + length);
        }
        start += length;
    }
}

fn find<'p>(program: &'p Program, kind: Kind, name: &str) -> Option<&'p Symbol> {
    let table = match kind {
        Kind::Uniform => &program.uniforms,
        Kind::Attribute => &program.attributes,
        Kind::Varying => &program.varyings,
    };
    let mut symbols = table.iter().flatten();
    symbols.find(|symbol| symbol.is_used() && symbol.name == name.as_bytes())
}

fn is_sampler(symbol: &Symbol) -> bool {
    matches!(
        symbol.kind,
        SymbolType::SAMPLER_2D | SymbolType::SAMPLER_CUBE | SymbolType::SAMPLER_EXTERNAL
    )
}

/// A sampler's number: samplers are numbered by offset.
fn unit(program: &Program, sampler: &Symbol) -> usize {
    let all = program.uniforms.iter().flatten();
    let before = |symbol: &&Symbol| symbol.is_used() && is_sampler(symbol) && symbol.offset < sampler.offset;
    all.filter(before).count()
}

/// The first float of a symbol or of one of its elements.
fn place(symbol: &Symbol, element: Option<&str>) -> Result<u32, String> {
    let first = u32::from(symbol.offset);
    let Some(element) = element else { return Ok(first) };
    let name = String::from_utf8_lossy(&symbol.name);
    let (stride, count) = match symbol.entries {
        // A matrix has as many columns as components.
        0 => match (u32::from(symbol.stride), u32::from(symbol.components).max(1)) {
            (stride, columns) if stride > columns => (stride / columns, columns),
            _ => (0, 0),
        },
        entries => (u32::from(symbol.stride), u32::from(entries)),
    };
    let number = element.parse().ok().filter(|number| *number < count);
    let number: u32 = number.ok_or_else(|| format!("`{name}` has {count} elements, and no [{element}]"))?;
    Ok(first + number * stride)
}

/// The operand for a place; `rest` follows the symbol.
fn operand(stage: Stage, kind: Kind, symbol: &Symbol, place: u32, rest: &str) -> Result<String, String> {
    let (vector, component) = (place / 4, place as usize % 4);
    if stage == Stage::Vertex {
        return match (kind, component) {
            (Kind::Uniform, 0) => Ok(format!("t[{vector}]")),
            (Kind::Attribute, 0) => Ok(format!("a{vector}")),
            (Kind::Varying, 0) => Ok(format!("v{vector}")),
            _ => part(kind, vector, component, rest),
        };
    }
    let size = match symbol.components {
        1 => 1,
        2 => 2,
        _ => 4,
    };
    match size {
        4 if component == 0 => Ok(vector.to_string()),
        _ if rest.starts_with('.') => Err(format!(
            "components behind a symbol that is {size} of a vec4's: it brings its own"
        )),
        _ => {
            let letters: String = COMPONENTS.iter().skip(component).take(size).collect();
            Ok(format!("{vector}.{letters}"))
        }
    }
}

/// A vertex program's symbol that begins within a vec4: one component is shifted to its place.
fn part(kind: Kind, vector: u32, component: usize, rest: &str) -> Result<String, String> {
    let letter = match kind {
        Kind::Uniform => format!("t[{vector}]"),
        Kind::Attribute => format!("a{vector}"),
        Kind::Varying => format!("v{vector}"),
    };
    match rest.is_empty() {
        true => Ok(format!("{letter}.{}", COMPONENTS[component])),
        false => Err("components behind a symbol that begins within a vec4".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use crate::shader::{assemble, disassemble};

    /// Checks that both texts assemble to the same program.
    fn same(head: &str, named: &str, numbered: &str) {
        let [a, b] = [named, numbered].map(|code| assemble(&format!("{head}\n{code}\n")).map(|mbs| mbs.write()));
        assert_eq!(a.expect(named), b.expect(numbered), "{named}");
    }

    const FRAGMENT: &str = ".fragment\n.uniform vec4 color\n.uniform float level\n.uniform vec2 scale\n\
                            .uniform vec4[3] lights\n.uniform sampler2D stone\n.varying vec4 tint\n.varying vec2 uv";

    #[test]
    fn fragment_programs_use_symbol_names() {
        let end = "mov.v1 $0 ^uniform, stop";
        for (named, numbered) in [
            ("color", "0"),
            ("color.y", "0.y"),
            ("level", "1.x"),
            ("scale", "1.zw"),
            ("lights[2]", "4"),
            ("lights+$1.x", "2+$1.x"),
        ] {
            same(
                FRAGMENT,
                &format!("load.u {named}, {end}"),
                &format!("load.u {numbered}, {end}"),
            );
        }
        same(FRAGMENT, "load.v $0 tint, stop", "load.v $0 0, stop");
        let looks_up = |coord: &str, unit: &str| {
            format!("load.v ^discard.xy {coord}, texld {unit}, mov.v1 $0 ^texture, sync, stop")
        };
        same(FRAGMENT, &looks_up("uv", "stone"), &looks_up("1.xy", "0"));
    }

    #[test]
    fn vertex_programs_use_symbol_names() {
        let head = ".vertex\n.uniform mat4 m\n.uniform vec4 shift\n.attribute vec4 position\n.attribute vec4 color\n\
                    .varying vec4 gl_Position\n.varying vec4 tint";
        same(head, "mul.m0 $0.x position.x m[1].y", "mul.m0 $0.x a0.x t[1].y");
        same(head, "add.a0 tint.x color.w -shift.x", "add.a0 v1.x a1.w -t[4].x");
        // The printed text has numbers, and is the same program.
        let mbs = assemble(&format!("{head}\nmov.a0 tint.z color.z\n")).unwrap();
        assert!(disassemble(&mbs).unwrap().contains("v1.z a1.z"));
    }

    #[test]
    fn out_of_range_symbols_are_reported_with_their_place() {
        let error = assemble(&format!("{FRAGMENT}\nload.u lights[3], stop\n")).unwrap_err();
        assert_eq!((error.line, error.column), (9, 8));
        assert!(error.message.contains("has 3 elements"), "{}", error.message);
        let error = assemble(&format!("{FRAGMENT}\nload.u scale.x, stop\n")).unwrap_err();
        assert!(error.message.contains("brings its own"), "{}", error.message);
        assert!(assemble(&format!("{FRAGMENT}\nload.u colour, stop\n")).is_err());
    }
}
