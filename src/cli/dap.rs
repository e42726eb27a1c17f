//! `skrymir dap`: the Debug Adapter Protocol on standard input and output.

use super::draw;
use crate::compile::{Wanted, compile};
use crate::error::Error;
use crate::mali::{self, Pair};
use crate::outcome::{Outcome, read};
use clap::Args;
use compiler::Stage;
use inspect::dap::{Launch, Launched, Source};
use loader::trace::{MAGIC, Trace};
use serde_json::Value;
use std::path::{Path, PathBuf};
use utgard::shader;

/// Arguments of `dap`.
#[derive(Args, Debug)]
#[command(after_help = "\
The editor starts this command and talks to it; a launch request has one of
  {\"program\": \"job.trace\"}                       a recording
  {\"vertex\": \"a.vert\", \"fragment\": \"a.frag\"}     a pair as for `draw`: sources, assembly or MBS
  {\"program\": \"both.wgsl\"}                       a file with both stages
and may have scene, size ([w, h]), stopOnEntry, job (those before run fast), pixel ([x, y]) or vertex_number
(nothing else stops), budget (instructions of a job) and cwd. Function breakpoints are `pixel X,Y`, `vertex N`, `job N`.

Example: skrymir dap < messages")]
pub struct DapArgs {}

pub(super) fn run(_: &DapArgs) -> Outcome {
    Ok(inspect::dap::serve(std::io::stdin(), std::io::stdout(), &mut Files).map_err(Error::from)?)
}

/// Launches what lies in files.
struct Files;

impl Launch for Files {
    fn launch(&mut self, arguments: &Value) -> inspect::Result<Launched> {
        launched(arguments).map_err(inspect::Error::request)
    }
}

/// A file among the arguments.
fn file(arguments: &Value, name: &str) -> Option<PathBuf> {
    let path = arguments[name].as_str().filter(|path| !path.is_empty())?;
    let folder = arguments["cwd"].as_str().unwrap_or_default();
    Some(Path::new(folder).join(path))
}

fn launched(arguments: &Value) -> Outcome<Launched> {
    let program = file(arguments, "program");
    let (vertex, fragment) = match (file(arguments, "vertex"), file(arguments, "fragment"), &program) {
        (Some(vertex), Some(fragment), None) => (vertex, fragment),
        (None, None, Some(program)) => {
            let bytes = read(program)?;
            if bytes.starts_with(MAGIC) {
                let checked = Trace::read(&bytes).map(drop);
                checked.map_err(|error| crate::outcome::Failure::from(error).in_file(program))?;
                return Ok(Launched {
                    recording: bytes,
                    sources: Vec::new(),
                });
            }
            (program.clone(), program.clone())
        }
        _ => return Err(Error::usage("launch has a program, or a vertex and a fragment").into()),
    };
    let pair = Pair::load(&vertex, &fragment, &Default::default())?;
    let mut scene = draw::scene(file(arguments, "scene").as_deref())?;
    scene.size = size(&arguments["size"])?.or(scene.size);
    let sources = [(vertex, Stage::Vertex), (fragment, Stage::Fragment)];
    Ok(Launched {
        recording: mali::record(&pair, &scene)?,
        sources: sources
            .iter()
            .filter_map(|(path, stage)| source(path, *stage))
            .collect(),
    })
}

/// A size as [width, height].
fn size(value: &Value) -> Outcome<Option<[u32; 2]>> {
    if value.is_null() {
        return Ok(None);
    }
    let number = |at: usize| value[at].as_u64().and_then(|number| u32::try_from(number).ok());
    let size = number(0)
        .zip(number(1))
        .filter(|(width, height)| *width > 0 && *height > 0);
    let (width, height) = size.ok_or_else(|| Error::usage("size is [width, height]"))?;
    Ok(Some([width, height]))
}

/// Which lines the instructions of a compiled source come of; nothing for what is no text that is compiled.
fn source(path: &Path, stage: Stage) -> Option<Source> {
    let bytes = std::fs::read(path).ok()?;
    if shader::recognises(std::str::from_utf8(&bytes).ok()?) {
        return None;
    }
    let wanted = Wanted {
        stage: Some(stage),
        ..Wanted::default()
    };
    let compiled = compile(path, &bytes, wanted).ok()?;
    let stage = match stage {
        Stage::Vertex => emulator::exec::observed::Stage::Vertex,
        Stage::Fragment => emulator::exec::observed::Stage::Fragment,
    };
    let text: Vec<&str> = std::str::from_utf8(&bytes).ok()?.lines().collect();
    Some(Source {
        path: path.display().to_string(),
        stage,
        lines: compiled
            .report
            .places
            .into_iter()
            .map(|lines| statements(lines, &text))
            .collect(),
    })
}

/// What a line that only declares something begins with.
const DECLARATIONS: [&str; 10] = [
    "attribute",
    "varying",
    "uniform",
    "in",
    "out",
    "layout",
    "precision",
    "struct",
    "var<",
    "@",
];

/// The lines of an instruction that say what it does; those that declare what it reads only where there are no others.
fn statements(lines: Vec<u32>, text: &[&str]) -> Vec<u32> {
    let declares = |line: &u32| {
        let line = text.get(*line as usize - 1).map_or("", |line| line.trim_start());
        let begins = |word: &&str| {
            let rest = line.strip_prefix(*word);
            let is_word = word.ends_with(char::is_alphanumeric);
            rest.is_some_and(|rest| !is_word || !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
        };
        DECLARATIONS.iter().any(begins)
    };
    let own: Vec<u32> = lines.iter().filter(|line| !declares(line)).copied().collect();
    if own.is_empty() { lines } else { own }
}
