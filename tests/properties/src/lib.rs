//! Properties that must hold for any input, one function per format and property: takes bytes, panics on a violation.
//!
//! `fuzz/` makes a coverage-guided fuzz target of each ([`ALL`] is the list), and the tests run them over the samples,
//! the kept findings and damaged inputs. A property takes only milliseconds for any input.
#![forbid(unsafe_code)]

use std::path::Path;

pub mod board;
pub mod compile;
pub mod engines;
pub mod glsl;
pub mod job;
pub mod lift;
pub mod mbs;
pub mod programs;
pub mod reach;
pub mod reach_gp;
pub mod scene;
pub mod script;
pub mod sksl;
pub mod sl;
pub mod source;
pub mod spirv;
pub mod trace;
pub mod vbc;
#[cfg(target_os = "linux")]
pub mod wire;
pub mod words;

/// A property: its name, its samples in `tests/data` (folder and extension), and its function.
#[derive(Clone, Copy, Debug)]
pub struct Property {
    /// The name of its fuzz target.
    pub name: &'static str,
    /// Folder below `tests/data`, and extension; `None` if the inputs are not files.
    pub samples: Option<(&'static str, &'static str)>,
    /// Panics if the input violates the property.
    pub check: fn(&[u8]),
}

macro_rules! properties {
    ($($(#[$only:meta])* $name:ident = $check:path, $samples:expr;)*) => {
        /// Every property.
        pub const ALL: &[Property] = &[$($(#[$only])* Property { name: stringify!($name), samples: $samples, check: $check }),*];

        /// The properties by name, for fuzz targets.
        pub mod by_name {
            $($(#[$only])* pub use $check as $name;)*
        }
    };
}

const VBC: Option<(&str, &str)> = Some(("", ".vbc"));
const SPIRV_TEXT: Option<(&str, &str)> = Some(("spirv", ".spvasm"));
const S0: Option<(&str, &str)> = Some(("sl", ".s0"));
const MALI_TEXT: Option<(&str, &str)> = Some(("mali", ".s"));

properties! {
    vbc_read = crate::vbc::read, VBC;
    vbc_write = crate::vbc::write, VBC;
    vbc_use = crate::vbc::used, VBC;
    mbs_read = crate::mbs::read, None;
    mbs_text = crate::mbs::text, None;
    mbs_assemble = crate::mbs::assemble, MALI_TEXT;
    mbs_use = crate::mbs::used, None;
    spirv_read = crate::spirv::read, None;
    spirv_text = crate::spirv::text, None;
    spirv_assemble = crate::spirv::assemble, SPIRV_TEXT;
    spirv_use = crate::spirv::used, None;
    spirv_translate = crate::spirv::translated, None;
    grammar_read = crate::spirv::grammar, None;
    sksl_read = crate::sksl::read, None;
    sksl_write = crate::sksl::write, None;
    sksl_use = crate::sksl::used, None;
    sl_read = crate::sl::read, None;
    sl_text = crate::sl::text, None;
    sl_parse = crate::sl::parse, S0;
    sl_run = crate::sl::run, S0;
    gp_words = crate::words::gp, None;
    pp_words = crate::words::pp, None;
    gp_assemble = crate::words::gp_text, None;
    pp_assemble = crate::words::pp_text, None;
    trace_read = crate::trace::read, None;
    engine_vertices = crate::engines::vertices, None;
    engine_fragments = crate::engines::fragments, None;
    lift = crate::lift::valid, None;
    job = crate::job::damaged, None;
    board_accesses = crate::board::accesses, None;
    board_trace = crate::board::text, None;
    #[cfg(target_os = "linux")]
    wire = crate::wire::talk, None;
    scene = crate::scene::parse, None;
    script = crate::script::parse, Some(("script", "syntax.amber"));
    compile_text = crate::compile::text, None;
    source_text = crate::source::text, None;
}

/// An unreadable file must be invalid for `check` too; an unsupported one may be valid.
fn refused_too(report: &loader::Report, error: &loader::Error) {
    let silent = report.diagnostics.is_empty();
    assert!(!silent, "check has no finding for an unreadable file: {error}");
    let invalid = error.kind() == loader::ErrorKind::Invalid;
    assert!(
        !(invalid && report.is_valid()),
        "check calls a file valid that cannot be read: {error}"
    );
}

/// Little-endian words of bytes, without an incomplete last word.
pub fn words_of(bytes: &[u8]) -> Vec<u32> {
    let words = bytes.chunks_exact(4);
    words
        .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
        .collect()
}

/// A sample of the repository as text.
///
/// # Panics
/// If it is missing.
pub fn sample(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// All initial inputs: those of [`seeds`], samples, the small corpora, and earlier violations.
///
/// # Errors
/// If a file cannot be read.
pub fn inputs(property: &Property) -> std::io::Result<Vec<Vec<u8>>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut inputs = seeds(property.name);
    let samples = property
        .samples
        .map(|(folder, ending)| (root.join("tests/data").join(folder), ending));
    let mut folders: Vec<_> = samples.into_iter().collect();
    folders.extend(["fuzz/corpus", "tests/data/findings"].map(|folder| (root.join(folder).join(property.name), "")));
    while let Some((folder, ending)) = folders.pop() {
        if !folder.is_dir() {
            continue;
        }
        let entries: Result<Vec<_>, _> = std::fs::read_dir(&folder)?.collect();
        let mut paths: Vec<_> = entries?.into_iter().map(|entry| entry.path()).collect();
        paths.sort();
        for path in paths {
            if path.is_dir() {
                folders.push((path, ending));
            } else if path.to_string_lossy().ends_with(ending) {
                inputs.push(std::fs::read(path)?);
            }
        }
    }
    Ok(inputs)
}

/// Initial inputs of a property without samples, generated here because formats need complete ones.
pub fn seeds(name: &str) -> Vec<Vec<u8>> {
    match name {
        "mbs_read" | "mbs_text" | "mbs_use" => mbs::seeds(),
        "spirv_read" | "spirv_text" | "spirv_use" | "spirv_translate" => spirv::seeds(),
        "grammar_read" => vec![spirv::GRAMMAR.as_bytes().to_vec()],
        "sksl_read" | "sksl_write" | "sksl_use" => sksl::seeds(),
        "sl_read" | "sl_text" => sl::seeds(),
        "gp_words" | "pp_words" | "gp_assemble" | "pp_assemble" => words::seeds(name),
        "trace_read" => trace::seeds(),
        "scene" => scene::seeds(),
        "script" => vec![sample("tests/data/script/syntax.vkscript").into_bytes()],
        "engine_vertices" | "engine_fragments" | "lift" => vec![vec![0; 16], vec![1; 40]],
        "job" => vec![vec![0; 14]],
        "board_accesses" => board::seeds(),
        "board_trace" => board::texts(),
        #[cfg(target_os = "linux")]
        "wire" => wire::seeds(),
        "compile_text" => compile::seeds(),
        "source_text" => source::seeds(),
        _ => Vec::new(),
    }
}
