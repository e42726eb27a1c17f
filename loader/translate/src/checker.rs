//! Checks generated texts with the checker of their language.

use crate::cross::Dialect;
use crate::front::is_word;
use crate::frontend::{self, Settings, Stage, Text};
use crate::{Error, ErrorKind, Result, Target};
use std::borrow::Cow;
use std::fmt;
use std::path::Path;

/// The result of checking a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Check {
    /// This checker accepts the text.
    Passed(&'static str),
    /// There is no checker for the language, or for a part of the text.
    Unchecked,
    /// Metal has no such stage: the text is for reading.
    NoStage,
    /// The check was disabled.
    LeftOut,
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Passed(who) => write!(f, "checked by {who}"),
            Self::Unchecked => f.write_str("not checked: no checker reads this text"),
            Self::NoStage => f.write_str("not checked: Metal has no such stage, the text is for reading"),
            Self::LeftOut => f.write_str("not checked"),
        }
    }
}

/// Checks a generated text of an entry point with the language's checker.
///
/// # Errors
/// [`ErrorKind::Write`] if it rejects the text.
pub(crate) fn checked_text(dialect: Dialect, text: &str, stage: Option<Stage>, entry: &str) -> Result<Check> {
    let target = dialect.target();
    let Some(stage) = stage.filter(|_| target != Target::Msl && frontend::is_available()) else {
        return Ok(Check::Unchecked);
    };
    let is_hlsl = target == Target::Hlsl;
    if is_hlsl && UNREADABLE.iter().any(|part| text.contains(part)) {
        return Ok(Check::Unchecked);
    }
    let (language, plain) = match is_hlsl {
        true => (frontend::Dialect::Hlsl, without_unreadable(text)),
        false => (frontend::Dialect::Glsl, Cow::Borrowed(text)),
    };
    let settings = match is_hlsl {
        true => stand_ins(text),
        false => Settings::default(),
    };
    let written = Text {
        entry: Some(entry).filter(|_| is_hlsl),
        ..Text::new(&plain, Path::new("written"), language, stage, &settings)
    };
    let read = match dialect {
        Dialect::VulkanGlsl => frontend::spirv(&written).map(drop),
        _ => frontend::judge(&[written]).map(drop),
    };
    read.map_err(|error| refused(target, &error, text))?;
    let is_whole = plain == text && settings.defines.is_empty();
    Ok(Check::Passed(match is_whole {
        true => "glslang",
        false => "glslang, what it lacks aside",
    }))
}

/// Parts of HLSL for which glslang has no syntax: templates, ray tracing, meshes.
const UNREADABLE: [&str; 6] = [
    ".Load<",
    ".Store<",
    "RayQuery<",
    "RaytracingAccelerationStructure",
    "SetMeshOutputCounts(",
    "DispatchMesh(",
];

/// Types and functions of shader models 5.1 and later that glslang lacks, each with one of the same shape.
const STANDS_FOR: [(&str, &str); 49] = [
    ("NonUniformResourceIndex(x)", "(x)"),
    ("RasterizerOrderedByteAddressBuffer", "RWByteAddressBuffer"),
    ("RasterizerOrderedStructuredBuffer", "RWStructuredBuffer"),
    ("RasterizerOrderedBuffer", "RWBuffer"),
    ("RasterizerOrderedTexture1D", "RWTexture1D"),
    ("RasterizerOrderedTexture2D", "RWTexture2D"),
    ("RasterizerOrderedTexture2DArray", "RWTexture2DArray"),
    ("RasterizerOrderedTexture3D", "RWTexture3D"),
    ("WaveIsFirstLane()", "true"),
    ("WaveGetLaneCount()", "32u"),
    ("WaveGetLaneIndex()", "0u"),
    ("WaveActiveAnyTrue(x)", "(x)"),
    ("WaveActiveAllTrue(x)", "(x)"),
    ("WaveActiveAllEqual(x)", "((x) == (x))"),
    (
        "WaveActiveBallot(x)",
        "((x) ? uint4(1u, 0u, 0u, 0u) : uint4(0u, 0u, 0u, 0u))",
    ),
    ("WaveActiveCountBits(x)", "((x) ? 1u : 0u)"),
    ("WavePrefixCountBits(x)", "((x) ? 1u : 0u)"),
    ("WaveReadLaneFirst(x)", "(x)"),
    ("WaveReadLaneAt(x, lane)", "(x)"),
    ("WaveActiveSum(x)", "(x)"),
    ("WaveActiveProduct(x)", "(x)"),
    ("WaveActiveBitAnd(x)", "(x)"),
    ("WaveActiveBitOr(x)", "(x)"),
    ("WaveActiveBitXor(x)", "(x)"),
    ("WaveActiveMin(x)", "(x)"),
    ("WaveActiveMax(x)", "(x)"),
    ("WavePrefixSum(x)", "(x)"),
    ("WavePrefixProduct(x)", "(x)"),
    ("QuadReadAcrossX(x)", "(x)"),
    ("QuadReadAcrossY(x)", "(x)"),
    ("QuadReadAcrossDiagonal(x)", "(x)"),
    ("QuadReadLaneAt(x, lane)", "(x)"),
    ("IsHelperLane()", "false"),
    ("int16_t", "int"),
    ("int16_t2", "int2"),
    ("int16_t3", "int3"),
    ("int16_t4", "int4"),
    ("uint16_t", "uint"),
    ("uint16_t2", "uint2"),
    ("uint16_t3", "uint3"),
    ("uint16_t4", "uint4"),
    ("int64_t", "int"),
    ("int64_t2", "int2"),
    ("int64_t3", "int3"),
    ("int64_t4", "int4"),
    ("uint64_t", "uint"),
    ("uint64_t2", "uint2"),
    ("uint64_t3", "uint3"),
    ("uint64_t4", "uint4"),
];

/// Definitions of what glslang lacks of a text. The rest of it is checked unchanged.
fn stand_ins(text: &str) -> Settings {
    let is_used = |(name, _): &&(&str, &str)| text.contains(name.split('(').next().unwrap_or(name));
    let owned = |(name, meant): &(&str, &str)| ((*name).to_owned(), (*meant).to_owned());
    Settings {
        defines: STANDS_FOR.iter().filter(is_used).map(owned).collect(),
        ..Settings::default()
    }
}

/// The text with the same lines, without what definitions cannot replace: 64-bit literals, which become 0, and arrays of
/// byte-address buffers, which become single ones.
fn without_unreadable(text: &str) -> Cow<'_, str> {
    let mut text = Cow::Borrowed(text);
    if text.contains("ll") {
        text = Cow::Owned(without_long_literals(&text));
    }
    let names: Vec<String> = text
        .lines()
        .filter_map(array_of_byte_buffers)
        .map(str::to_owned)
        .collect();
    for name in names {
        text = Cow::Owned(without_indices(&text, &name));
    }
    text
}

/// The text with 0 for each number that ends with `ll` or `ull`.
fn without_long_literals(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(is_word) {
        let (before, word) = rest.split_at(start);
        let (word, after) = word.split_at(word.find(|c| !is_word(c)).unwrap_or(word.len()));
        let is_long = word.starts_with(|c: char| c.is_ascii_digit()) && word.ends_with("ll");
        plain += before;
        plain += match is_long {
            true if word.ends_with("ull") => "0u",
            true => "0",
            false => word,
        };
        rest = after;
    }
    plain + rest
}

/// The name of the array that a line declares, if its elements are byte-address buffers.
fn array_of_byte_buffers(line: &str) -> Option<&str> {
    let (_, declared) = line.split_once("ByteAddressBuffer ")?;
    let (name, rest) = declared.split_at(declared.find(|c| !is_word(c))?);
    (rest.starts_with('[') && rest.contains(" : register(")).then_some(name)
}

/// The text without the indices behind a name.
fn without_indices(text: &str, name: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(name) {
        let (before, found) = rest.split_at(at);
        let (word, after) = found.split_at(name.len());
        plain += before;
        plain += word;
        let is_whole = !before.ends_with(is_word) && !after.starts_with(is_word);
        rest = if is_whole { behind_indices(after) } else { after };
    }
    plain + rest
}

/// The text behind the indices that it begins with.
fn behind_indices(mut text: &str) -> &str {
    while text.starts_with('[') {
        let mut depth = 0;
        let end = text.find(|c| {
            depth += i32::from(c == '[') - i32::from(c == ']');
            depth == 0
        });
        let Some(end) = end else { break };
        text = &text[end + 1..];
    }
    text
}

/// A checker's error about generated text.
fn refused(target: Target, error: &Error, text: &str) -> Error {
    let line = error.line_column().and_then(|(line, _)| text.lines().nth(line - 1));
    let line = line.map_or(String::new(), |line| format!(" ({})", line.trim()));
    let message = format!("the checker rejects the generated text: {error}{line}");
    ErrorKind::Write { target, message }.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_glslang_cannot_read_is_left_out_of_a_check() {
        let text = "RWByteAddressBuffer some[2][4] : register(u0);\nRWByteAddressBuffer one : register(u8);\n\
                    int64_t x = int64_t(0x8000000000000000ull) + 10ll; all(x);\n\
                    some[i[0]][NonUniformResourceIndex(j)].Store(0, awesome[3]); a.some[1]; one.Load(0);\n";
        let plain = "RWByteAddressBuffer some : register(u0);\nRWByteAddressBuffer one : register(u8);\n\
                     int64_t x = int64_t(0u) + 0; all(x);\n\
                     some.Store(0, awesome[3]); a.some; one.Load(0);\n";
        assert_eq!(without_unreadable(text), plain);
        assert!(matches!(without_unreadable(&plain.replace("ll", "")), Cow::Borrowed(_)));
        assert_eq!(behind_indices("[a[1]](b)"), "(b)");
        assert_eq!(behind_indices("[a"), "[a");
    }
}
