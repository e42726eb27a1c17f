//! Draws pairs of Mali-400 programs with scenes, without a GPU.
//!
//! Scenes have the same defaults as on Vulkan, so that a scene draws the same picture on every device. Inputs and slots have
//! the numbers of the shaders' VBC, or the order of the symbols if there is none.

mod prepare;
pub(crate) mod state;
mod symbols;

pub(crate) use prepare::vertex_indices;
pub use prepare::{interface, prepare, unused};

use crate::compile::{Wanted, compile};
use crate::error::{Error, Result, Within};
use crate::link::{self, File, LinkedVbc, read};
use compiler::report::Report;
use emulator::driver::{self, Draw, Prepared};
use emulator::exec::Engine;
use emulator::gpu::Gpu;
use emulator::memory::Memory;
use loader::mbs::{Mbs, Program, Stage};
use loader::trace::{Pipe, Record, Trace};
use scene::Scene;
use scene::picture::Picture;
use std::path::Path;
use translate::frontend::Settings;
use utgard::shader;

/// A vertex and a fragment program.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    /// Vertex program.
    pub vertex: Program,
    /// Fragment program.
    pub fragment: Program,
    /// The VBC of the same sources, if VBC can express them.
    pub vbc: Option<LinkedVbc>,
}

/// A program of a file's bytes: MBS, the assembler's text, or a shader's source, which is compiled.
fn program(path: &Path, bytes: &[u8], stage: Stage, settings: &Settings) -> Result<Program> {
    Ok(program_with_report(path, bytes, stage, settings)?.0)
}

/// A program of a file's bytes, with the compiler's report if it was compiled.
///
/// # Errors
/// When the file has no such program.
pub fn program_with_report(
    path: &Path,
    bytes: &[u8],
    stage: Stage,
    settings: &Settings,
) -> Result<(Program, Option<Report>)> {
    let mbs = match std::str::from_utf8(bytes) {
        Ok(text) if shader::recognises(text) => {
            shader::assemble(text).map_err(|error| Error::input(error.in_file(path, "mbs", text)))?
        }
        // A file that is not a source is read as MBS, for its error.
        _ if translate::Source::new(&path.to_string_lossy(), bytes).is_err() => {
            Mbs::read(bytes).within(|| path.display().to_string())?
        }
        _ => {
            let wanted = Wanted {
                stage: Some(match stage {
                    Stage::Vertex => compiler::Stage::Vertex,
                    Stage::Fragment => compiler::Stage::Fragment,
                }),
                settings,
                ..Wanted::default()
            };
            let compiled = compile(path, bytes, wanted)?;
            return Ok((compiled.program, Some(compiled.report)));
        }
    };
    let found = mbs.program(stage)?;
    let found = found.ok_or_else(|| Error::input(format_args!("{} has no {stage:?} program", path.display())))?;
    Ok((found, None))
}

/// The VBC of sources with explicit locations and bindings, by which scenes number inputs and textures. GLSL ES 1.00 and old
/// GLSL have names only, and programs have no source.
fn made(first: &File<'_>, second: Option<&File<'_>>) -> Option<LinkedVbc> {
    let is_placed = |file: &File<'_>| {
        let source = translate::Source::new(&file.path.to_string_lossy(), file.bytes);
        source.is_ok_and(|source| !compiler::glsl_es::is_old(&source))
    };
    let files = [Some(first), second];
    if !files.into_iter().flatten().all(is_placed) {
        return None;
    }
    link::link(first, second).ok()
}

impl Pair {
    /// Compiles or reads a vertex and a fragment program, or both programs of one file.
    ///
    /// # Errors
    /// When a file lacks the program, or the sources do not fit each other.
    pub fn new(first: &File<'_>, second: Option<&File<'_>>) -> Result<Self> {
        let fragment = second.unwrap_or(first);
        let vertex = program(first.path, first.bytes, Stage::Vertex, first.settings)?;
        let fragment = program(fragment.path, fragment.bytes, Stage::Fragment, fragment.settings)?;
        Self::of_programs(vertex, fragment, first, second)
    }

    /// As [`Self::new`], of files on disk; both paths may be the same.
    ///
    /// # Errors
    /// As [`Self::new`], and when a file cannot be read.
    pub fn load(vertex: &Path, fragment: &Path) -> Result<Self> {
        let bytes = read(vertex)?;
        let first = File::new(vertex, &bytes);
        if vertex == fragment {
            return Self::new(&first, None);
        }
        let bytes = read(fragment)?;
        Self::new(&first, Some(&File::new(fragment, &bytes)))
    }

    /// A pair of programs from one or two files.
    ///
    /// # Errors
    /// When the sources do not fit each other.
    pub fn of_programs(
        vertex: Program,
        fragment: Program,
        first: &File<'_>,
        second: Option<&File<'_>>,
    ) -> Result<Self> {
        let pair = Self {
            vertex,
            fragment,
            vbc: match second.is_none() && first.bytes.starts_with(&loader::vbc::MAGIC) {
                true => Some(LinkedVbc::of_vbc(first.bytes)),
                false => made(first, second),
            },
        };
        if let Some(second) = second {
            link::check_interfaces(first, second)?;
        }
        Ok(pair)
    }
}

/// Draws a pair.
///
/// # Errors
/// A scene that does not fit, or a fault of a job.
pub fn draw(pair: &Pair, scene: &Scene, engine: Box<dyn Engine>, threads: usize) -> Result<Picture> {
    run(&prepare(pair, scene)?, engine, threads)
}

/// Runs a draw.
///
/// # Errors
/// The fault of a job.
pub fn run(draw: &Draw<'_>, engine: Box<dyn Engine>, threads: usize) -> Result<Picture> {
    let mut gpu = Gpu::new(engine).with_threads(threads);
    let picture = driver::draw(&mut gpu, draw)?;
    Ok(Picture {
        width: picture.width,
        height: picture.height,
        rgba: picture.rgba,
    })
}

/// A draw as a recording of its two jobs, which [`crate::replay`] runs.
///
/// # Errors
/// A scene that does not fit.
pub fn record(pair: &Pair, scene: &Scene) -> Result<Vec<u8>> {
    let draw = prepare(pair, scene)?;
    let mut gpu = Gpu::new(Box::new(emulator::exec::scalar::Scalar));
    let prepared = driver::prepare(&mut gpu, &draw)?;
    Ok(recording(&gpu.memory, &prepared))
}

/// A prepared draw as a recording: the memory it is in, and its two jobs.
pub fn recording(memory: &Memory, prepared: &Prepared) -> Vec<u8> {
    let objects: Vec<_> = memory.objects().collect();
    let mut records = Vec::new();
    for (address, bytes) in &objects {
        let (address, size, flags) = (*address, bytes.len() as u32, 0);
        records.push(Record::Buffer { address, size, flags });
        let used = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        if used > 0 {
            let bytes = &bytes[..used];
            records.push(Record::Page { address, bytes });
        }
    }
    let (gp, pp) = prepared.frames();
    for (pipe, frame) in [(Pipe::Gp, gp), (Pipe::Pp, pp)] {
        records.push(Record::Submit {
            pipe,
            frame: frame.to_vec(),
            objects: objects.iter().map(|(address, _)| (*address, 3)).collect(),
        });
    }
    let trace = Trace {
        gpu: 1,
        pps: 1,
        records: records.into_iter().map(|record| (0, record)).collect(),
    };
    trace.write()
}
