//! Shaders inside other files: game archives, executables, caches, memory dumps.
//!
//! ```
//! use skrymir_loader::{embedded, spirv};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let module = spirv::write(&spirv::parse("OpCapability Shader\nOpMemoryModel Logical GLSL450")?)?;
//! let archive = [&b"an archive "[..], &module, b" and more"].concat();
//! let found = embedded::find(&archive, 0);
//! assert_eq!((found.files[0].format, found.files[0].offset), ("spirv", 11));
//! assert_eq!(found.files[0].bytes(&archive), module);
//! # Ok(())
//! # }
//! ```

use crate::{mbs, sksl, spirv, vbc};
use serde::Serialize;
use std::fmt;

/// A shader file inside other bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Embedded {
    /// Byte offset.
    pub offset: usize,
    /// Size in bytes.
    pub size: usize,
    /// Short name of the format: `vbc`, `mbs`, `spirv` or `sksl`.
    pub format: &'static str,
    /// What it holds: stages, entry points or the program's kind.
    pub holds: String,
}

impl Embedded {
    /// Its bytes, out of those that were searched.
    pub fn bytes<'a>(&self, all: &'a [u8]) -> &'a [u8] {
        all.get(self.offset..self.offset + self.size).unwrap_or_default()
    }

    /// The usual ending of its file's name.
    pub fn extension(&self) -> &'static str {
        match self.format {
            "spirv" => "spv",
            "sksl" => "bin",
            other => other,
        }
    }
}

impl fmt::Display for Embedded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#010x} {:>9} bytes  {:<5}", self.offset, self.size, self.format)?;
        match self.holds.as_str() {
            "" => Ok(()),
            holds => write!(f, "  {holds}"),
        }
    }
}

/// What a search found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Found {
    /// The files in order of their offsets; none lies inside another.
    pub files: Vec<Embedded>,
    /// The offset at which the search gave up, because too much of the bytes only looks like shaders.
    pub stopped: Option<usize>,
}

/// Bytes that candidates may make the search read, for each byte searched and beside that.
const WORK: [usize; 2] = [32, 1 << 24];

/// Finds VBC, MBS, SPIR-V (either byte order) and SkSL files (version 11) in `bytes` from the offset `first` on. A file
/// counts if it can be read; what is inside a found file is part of it.
pub fn find(bytes: &[u8], first: usize) -> Found {
    let mut found = Found::default();
    let (mut at, mut work) = (first, 0);
    let budget = bytes.len().saturating_mul(WORK[0]).saturating_add(WORK[1]);
    while let Some(rest) = bytes.get(at..).filter(|rest| rest.len() >= 8) {
        let candidate = candidate(rest);
        work += candidate.map_or(0, |(read, _)| read);
        match candidate.and_then(|(read, look)| look(&rest[..read])) {
            Some((size, format, holds)) if size > 0 => {
                let offset = at;
                found.files.push(Embedded {
                    offset,
                    size,
                    format,
                    holds,
                });
                at += size;
            }
            _ => at += 1,
        }
        if work > budget {
            found.stopped = Some(at);
            break;
        }
    }
    found
}

/// Size, format and contents of the file at the start of some bytes.
type Look = fn(&[u8]) -> Option<(usize, &'static str, String)>;

/// What could be at the start of some bytes, and how many of these have to be read to see it.
fn candidate(bytes: &[u8]) -> Option<(usize, Look)> {
    let word = |at: usize| Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?));
    if bytes.starts_with(b"MBS1") {
        let size = (word(4)? as usize).checked_add(8)?;
        return (size <= bytes.len()).then_some((size, mbs as Look));
    }
    if bytes.starts_with(&vbc::MAGIC) {
        return Some((bytes.len().min(MOST), vbc as Look));
    }
    if spirv::detect(bytes) {
        return Some((spirv_size(bytes)?, spirv as Look));
    }
    let version = u16::from_le_bytes([bytes[0], bytes[1]]);
    if version == sksl::VERSION {
        let strings = usize::from(u16::from_le_bytes([bytes[2], bytes[3]]));
        // A program is at most as large as its tables of 65,536 symbols and strings let it be.
        return (strings + 4 < bytes.len()).then_some((bytes.len().min(MOST), sksl as Look));
    }
    None
}

/// Limit on the size of a VBC or a program of Skia's, in bytes.
const MOST: usize = 1 << 20;

fn mbs(bytes: &[u8]) -> Option<(usize, &'static str, String)> {
    let programs = mbs::read(bytes).ok()?.programs().ok()?;
    let stages: Vec<&str> = programs.iter().map(|program| program.stage.name()).collect();
    (!stages.is_empty()).then(|| (bytes.len(), "mbs", stages.join(" ")))
}

fn vbc(bytes: &[u8]) -> Option<(usize, &'static str, String)> {
    let file = vbc::read(bytes).ok()?;
    let stages: Vec<&str> = file.stages().iter().map(vbc::Stage::name).collect();
    let size = bytes.len() - file.trailing().len();
    (!stages.is_empty()).then(|| (size, "vbc", stages.join(" ")))
}

/// Size of the module at the start of some bytes: instructions that the grammar knows, the first of which declares a
/// capability; no function is open at the end, and nothing but functions follows a function.
fn spirv_size(bytes: &[u8]) -> Option<usize> {
    const CAPABILITY: u32 = 17;
    const FUNCTION: u32 = 54;
    const FUNCTION_END: u32 = 56;
    /// Between functions: `OpLine`, `OpExtInst` without semantics, `OpNoLine`.
    const BETWEEN: [u32; 3] = [8, 12, 317];
    let whole = &bytes[..bytes.len() / 4 * 4];
    let is_big = bytes.starts_with(&spirv::MAGIC.to_be_bytes());
    let word = |at: usize| {
        let word = *whole.get(4 * at..)?.first_chunk()?;
        Some(if is_big {
            u32::from_be_bytes(word)
        } else {
            u32::from_le_bytes(word)
        })
    };
    let [version, bound, schema, first] = [word(1)?, word(3)?, word(4)?, word(5)?];
    let is_header = version >> 16 == 1 && version & 0xff == 0 && (version >> 8 & 0xff) < 32 && bound > 0 && schema == 0;
    if !is_header || first & 0xffff != CAPABILITY {
        return None;
    }
    let (mut at, mut is_open, mut has_functions) = (spirv::HEADER_WORDS, false, false);
    while let Some(first) = word(at) {
        let (length, opcode) = ((first >> 16) as usize, first & 0xffff);
        let is_known = spirv::Grammar::builtin().row(opcode as u16).is_some();
        let may_follow = is_open || !has_functions || opcode == FUNCTION || BETWEEN.contains(&opcode);
        if length == 0 || !is_known || !may_follow || 4 * (at + length) > whole.len() {
            break;
        }
        is_open = (is_open || opcode == FUNCTION) && opcode != FUNCTION_END;
        has_functions |= is_open;
        at += length;
    }
    (!is_open).then_some(4 * at)
}

fn spirv(bytes: &[u8]) -> Option<(usize, &'static str, String)> {
    let words = spirv::read(bytes).ok()?;
    let summary = spirv::summary(&words).ok()?;
    let entries: Vec<String> = summary
        .entry_points
        .iter()
        .map(|entry| format!("{} {}", entry.model, entry.name))
        .collect();
    Some((bytes.len(), "spirv", entries.join(", ")))
}

fn sksl(bytes: &[u8]) -> Option<(usize, &'static str, String)> {
    if !sksl::detect(bytes) {
        return None;
    }
    let (tree, size) = sksl::read_prefix(bytes).ok()?;
    Some((size, "sksl", sksl::summary(&tree).ok()?.kind))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sksl::{Builder, ProgramKind};

    fn module() -> Vec<u8> {
        let text = "OpCapability Shader\nOpMemoryModel Logical GLSL450\nOpEntryPoint GLCompute %main \"main\"\n\
                    OpExecutionMode %main LocalSize 1 1 1\n%void = OpTypeVoid\n%fn = OpTypeFunction %void\n\
                    %main = OpFunction %void None %fn\n%l = OpLabel\nOpReturn\nOpFunctionEnd";
        spirv::write(&spirv::parse(text).unwrap()).unwrap()
    }

    fn files() -> Vec<(&'static str, &'static str, Vec<u8>)> {
        let module = module();
        let big: Vec<u8> = module.chunks(4).flat_map(|word| word.iter().rev().copied()).collect();
        let code = spirv::read(&module).unwrap();
        let model = vbc::Model {
            code: [code, vec![], vec![], vec![], vec![]],
            ..vbc::Model::default()
        };
        let program = mbs::Program::new(mbs::Stage::Fragment, vec![0; 4]);
        let mut builder = Builder::new(ProgramKind::FRAGMENT);
        let main = builder.function("void", "main", &[]);
        let tree = builder.define(main, &[]).finish();
        vec![
            ("spirv", "GLCompute main", module),
            ("spirv", "GLCompute main", big),
            ("vbc", "vert", vbc::write(&model).unwrap()),
            ("mbs", "fragment", mbs::write(&mbs::Mbs::of(&[program])).unwrap()),
            ("sksl", "fragment", sksl::write(&tree).unwrap()),
        ]
    }

    #[test]
    fn files_are_found_at_any_offset_and_with_their_size() {
        for padding in [
            &b""[..],
            b"x",
            b"\x0b\x00\x05\x00",
            b"VBC",
            b"MBS1\x08",
            b"\x03\x02\x23\x07",
        ] {
            let (mut bytes, mut wanted) = (padding.to_vec(), Vec::new());
            for (format, holds, file) in files() {
                wanted.push((format, holds, bytes.len(), file.len()));
                bytes.extend(file);
                bytes.extend_from_slice(padding);
            }
            let found = find(&bytes, 0);
            let rows: Vec<_> = found
                .files
                .iter()
                .map(|file| (file.format, file.holds.as_str(), file.offset, file.size))
                .collect();
            assert_eq!(rows, wanted, "{padding:?}");
            for (file, (_, _, whole)) in found.files.iter().zip(files()) {
                assert_eq!(file.bytes(&bytes), whole);
            }
            assert_eq!(found.stopped, None);
        }
    }

    #[test]
    fn damaged_files_are_not_found() {
        for (format, _, mut file) in files() {
            file.truncate(file.len() - 1);
            let found = find(&file, 0);
            // The whole module of a damaged VBC is found.
            let rest = found
                .files
                .iter()
                .filter(|file| format != "vbc" || file.format != "spirv");
            assert_eq!(rest.count(), 0, "{format}: {found:?}");
        }
        let mut random = fastrand::Rng::with_seed(7);
        let noise: Vec<u8> = (0..1 << 20).map(|_| random.u8(..)).collect();
        assert_eq!(find(&noise, 0), Found::default());
    }

    #[test]
    fn what_only_looks_like_shaders_ends_the_search() {
        let bytes = b"VBC".repeat(1 << 20);
        let found = find(&bytes, 0);
        assert!(found.files.is_empty() && found.stopped.is_some(), "{found:?}");
    }
}
