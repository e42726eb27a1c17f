//! `skrymir dap`: the Debug Adapter Protocol on standard input and output.

use super::draw;
use crate::cli::error::Error;
use crate::cli::outcome::{Outcome, read};
use clap::Args;
use emulator::exec::observed;
use inspect::dap::{Launch, Launched, Source};
use loader::mbs::Stage;
use loader::trace::{MAGIC, Trace};
use runner::mali;
use serde_json::Value;
use std::path::{Path, PathBuf};
use translate::ShaderStage;
use translate::frontend::Settings;

/// Arguments of `dap`.
#[derive(Args, Debug)]
#[command(after_help = "\
The editor starts this command and talks to it; a launch request has one of
  {\"program\": \"job.trace\"}                       a recording; with \"symbols\": [\"a.frag\", \"b.mbs\"], its programs'
                                                sources, or MBS with their symbols
  {\"vertex\": \"a.vert\", \"fragment\": \"a.frag\"}     a pair as for `draw`: sources, assembly or MBS
  {\"program\": \"both.wgsl\"}                       a file with both stages
and may have scene, size ([w, h]), stopOnEntry, job (those before run fast), pixel ([x, y]) or vertex_number
(nothing else stops), budget (instructions of a job) and cwd. Function breakpoints are `pixel X,Y`, `vertex N`, `job N`.

Example: skrymir dap < messages")]
pub(crate) struct DapArgs {}

pub(super) fn run(_: &DapArgs) -> Outcome {
    Ok(inspect::dap::serve(std::io::stdin(), std::io::stdout(), &mut Files).map_err(Error::from)?)
}

/// Launches recordings and pairs of files.
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
                checked.map_err(|error| crate::cli::outcome::Failure::from(error).in_file(program))?;
                return Ok(Launched {
                    recording: bytes,
                    sources: symbols(arguments)?,
                });
            }
            (program.clone(), program.clone())
        }
        _ => return Err(Error::usage("launch has a program, or a vertex and a fragment").into()),
    };
    let pair = draw::load_pair(&vertex, &fragment, &Default::default())?;
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

/// A file's program of a stage, with the source lines of its instructions if it is compiled; none if it has no such program.
fn source(path: &Path, stage: Stage) -> Option<Source> {
    let bytes = std::fs::read(path).ok()?;
    let (program, report) = mali::program_with_report(path, &bytes, stage, Settings::NONE).ok()?;
    let text: Vec<&str> = std::str::from_utf8(&bytes).unwrap_or_default().lines().collect();
    let (places, debug) = report.map(|report| (report.places, report.debug)).unwrap_or_default();
    Some(Source {
        debug,
        path: path.display().to_string(),
        stage: match stage {
            Stage::Vertex => observed::Stage::Vertex,
            Stage::Fragment => observed::Stage::Fragment,
        },
        lines: places.into_iter().map(|lines| statements(lines, &text)).collect(),
        program,
    })
}

/// Source files for a recording's programs; both stages of a file unless its name determines one.
fn symbols(arguments: &Value) -> Outcome<Vec<Source>> {
    let Some(files) = arguments.get("symbols").filter(|files| !files.is_null()) else {
        return Ok(Vec::new());
    };
    let wrong = || Error::usage("symbols are files: [\"a.frag\", \"b.mbs\"]");
    let folder = Path::new(arguments["cwd"].as_str().unwrap_or_default());
    let mut sources = Vec::new();
    for file in files.as_array().ok_or_else(wrong)? {
        let path = folder.join(file.as_str().ok_or_else(wrong)?);
        let bytes = read(&path)?;
        let named = translate::Source::new(&path.to_string_lossy(), &bytes)
            .ok()
            .and_then(|source| source.stage);
        let found = [Stage::Vertex, Stage::Fragment]
            .into_iter()
            .filter(|stage| match named {
                Some(ShaderStage::Vertex) => *stage == Stage::Vertex,
                Some(ShaderStage::Fragment) => *stage == Stage::Fragment,
                _ => true,
            });
        let before = sources.len();
        sources.extend(found.filter_map(|stage| source(&path, stage)));
        if sources.len() == before {
            return Err(Error::input(format_args!("{} has no program", path.display())).into());
        }
    }
    Ok(sources)
}

/// First words of declarations.
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

/// The lines of an instruction without declarations, unless there are no others.
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
