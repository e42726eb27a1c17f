//! What statements and pipelines are both read with.

use super::model::{Beyond, Foreign};
use crate::error::{Error, Result};
use crate::text::{Text, Token};

/// A word of an enumeration.
pub(super) fn word<T>(text: &mut Text<'_>, named: impl Fn(&str) -> Option<T>, expected: &str) -> Result<T> {
    let token = text.expect(expected)?;
    named(token.text).ok_or_else(|| token.wrong(expected))
}

pub(super) fn on_off(text: &mut Text<'_>) -> Result<bool> {
    let named = |word: &str| match word {
        "on" => Some(true),
        "off" => Some(false),
        _ => None,
    };
    word(text, named, "on or off")
}

pub(super) fn floats<const N: usize>(text: &mut Text<'_>, what: &str) -> Result<[f64; N]> {
    let mut all = [0.0; N];
    for one in &mut all {
        *one = text.float(what)?;
    }
    Ok(all)
}

pub(super) fn integers<const N: usize>(text: &mut Text<'_>, what: &str) -> Result<[u32; N]> {
    let mut all = [0; N];
    for one in &mut all {
        *one = text.unsigned(what)?;
    }
    Ok(all)
}

/// Words that begin a block with an END of its own, within a statement that is only kept.
const NESTED: [&str; 4] = ["GEOMETRY", "BOTTOM_LEVEL_INSTANCE", "TRANSFORM", "THREAD"];

/// A statement of ray tracing or the debugger, its words as they are.
pub(super) fn foreign(text: &mut Text<'_>, first: Token<'_>) -> Result<Foreign> {
    let beyond = match first.text {
        "DEBUG" => Beyond::Debugger,
        _ => Beyond::RayTracing,
    };
    let mut lines = vec![vec![first.text.to_owned()]];
    let mut rest = Vec::new();
    while let Some(token) = text.next() {
        rest.push(token.text.to_owned());
    }
    // A block, unless all of it stands on this line.
    let block = match first.text {
        "FLAGS" => rest.is_empty(),
        "ACCELERATION_STRUCTURE" | "SHADER_BINDING_TABLE" | "DEBUG" => rest.last().is_none_or(|last| last != "END"),
        _ => false,
    };
    lines[0].append(&mut rest);
    let mut depth = usize::from(block);
    while depth > 0 {
        let end = text.place();
        let Some(token) = text.next_across() else {
            return Err(Error::invalid(end, "expected END, found the end of the file"));
        };
        let mut line = vec![token.text.to_owned()];
        while let Some(token) = text.next() {
            line.push(token.text.to_owned());
        }
        let flags = line == ["FLAGS"];
        if flags || NESTED.contains(&line[0].as_str()) {
            depth += 1;
        }
        depth -= line.iter().filter(|word| *word == "END").count().min(depth);
        lines.push(line);
    }
    Ok(Foreign { beyond, lines })
}
