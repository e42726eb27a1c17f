//! `run` for compute shaders: the module, buffers and images of a scene, and read-back.

use super::vbc::{self, complain, limit, read_scene};
use crate::cli::args::RunArgs;
use crate::cli::error::{Cause, Error, ErrorKind, Result, Within};
use crate::cli::json::milliseconds;
use crate::cli::outcome::{Failure, Outcome, apart, print, print_json, write};
use crate::cli::picture::save;
use loader::spirv;
use runner::compute::{self, Contents, Data, Descriptor, Shader, difference, execute, with_local_size};
use runner::link::File;
use runner::script::{self, Engine, RoundTrip};
use scene::Scene;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use translate::frontend::Settings;
use translate::{Language, ShaderStage, Source};
use vulkan::work::Resource;
use vulkan::{Context, Options, Validation};

/// Runs a compute shader, or draws with other sources.
///
/// # Errors
/// As [`run`] and [`vbc::sources`].
pub(crate) fn sources(bytes: &[u8], args: &RunArgs) -> Outcome {
    match args.dispatch {
        Some(groups) if args.script.engines => on_engines(bytes, args, groups),
        Some(groups) => run(bytes, args, groups),
        None if is_compute(&args.file, bytes) => Err(Failure::usage(
            "a compute shader: say how many groups run with --dispatch X,Y,Z",
        )),
        None => {
            let script = &args.script;
            let given = [
                ("--keep", script.keep.is_some()),
                ("--through", script.through.is_some()),
                ("--engines", script.engines),
            ];
            match given.iter().find(|(_, given)| *given) {
                Some((flag, _)) => Err(Failure::usage(format_args!(
                    "{flag} is for compute shaders and scripts"
                ))),
                None => vbc::sources(bytes, args),
            }
        }
    }
}

/// Whether a source is a compute shader.
fn is_compute(path: &Path, bytes: &[u8]) -> bool {
    let Ok(source) = Source::new(&path.to_string_lossy(), bytes) else {
        return false;
    };
    match source.language {
        Language::Wgsl | Language::Spirv => {
            translate::stages(&source).is_ok_and(|stages| stages == [ShaderStage::Compute])
        }
        _ => source.stage == Some(ShaderStage::Compute),
    }
}

/// Runs a compute shader once.
///
/// # Errors
/// Errors of the source, the scene and the device.
fn run(bytes: &[u8], args: &RunArgs, groups: [u32; 3]) -> Outcome {
    reject_draw_arguments(args)?;
    let gives = !args.read.is_empty() || args.timing || args.script.keep.is_some() || args.json;
    if !gives {
        return Err(Failure::usage(
            "a compute shader gives buffers and images: name one with --read SLOT=FILE, a folder for all with --keep, \
             or print them with --json",
        ));
    }
    for (_, path) in &args.read {
        apart(args.json, Some(path))?;
    }
    let limit = limit(args);
    let settings = settings(args);
    let file = file(bytes, args, &settings);
    let (mut words, mut entry) = (sized(&file, args)?, entry(args).map(str::to_owned));
    if let Some(through) = args.script.through {
        let (made, name) = round_trip(&words, &file, args, through.into())?;
        (words, entry) = (made, Some(name));
    }
    let shader = Shader::new(&words, &file, entry.as_deref())?;
    let mut data = Data::new(&shader, &read_scene(args)?, args.size)?;
    let context = open(args, args.device.as_deref())?;
    let time = execute(&context, groups, &words, &shader, &mut data, args.timing)?;
    drop(limit);
    let mut written: BTreeMap<(u32, u32), Vec<PathBuf>> = BTreeMap::new();
    for (slot, path) in &args.read {
        let place = (0, u32::from(*slot));
        let Some((one, resource)) = data.resources(&shader).find(|(one, _)| one.place == place) else {
            return Err(Failure::usage(format_args!(
                "--read: the shader has no buffer or image {slot}"
            )));
        };
        read_back(one, resource, path)?;
        written.entry(place).or_default().push(path.clone());
    }
    if let Some(folder) = &args.script.keep {
        std::fs::create_dir_all(folder).within(|| format!("cannot make {}", folder.display()))?;
        for (one, resource) in data.resources(&shader) {
            let (set, binding) = one.place;
            let is_image = matches!(resource, Resource::Image(_));
            for ending in ["bin", "png"].into_iter().take(1 + usize::from(is_image)) {
                let path = folder.join(format!("{set}.{binding}.{ending}"));
                read_back(one, resource, &path)?;
                written.entry(one.place).or_default().push(path);
            }
        }
    }
    if args.json {
        let resources = data.resources(&shader).map(|(one, resource)| {
            let files = written.get(&one.place).map_or(&[][..], Vec::as_slice);
            to_json(one, resource, files)
        });
        let resources: Vec<Value> = resources.collect();
        print_json(&json!({ "resources": resources, "milliseconds": time.map(milliseconds) }))?;
    } else if let Some(time) = time {
        print(&format!("device {:.3} ms\n", milliseconds(time)))?;
    }
    complain(&context)
}

/// The module of a source with the requested workgroup size, validated unless `--unchecked`.
fn sized(file: &File<'_>, args: &RunArgs) -> Result<Vec<u32>> {
    let mut words = compute::compile(file, entry(args))?;
    if let Some(size) = args.local_size {
        words = with_local_size(&words, size)?;
    }
    if !args.unchecked {
        spirv::validate(&words).accept(spirv::FORMAT)?;
    }
    Ok(words)
}

/// The module through another compiler or language, and its entry point, if it can be translated.
fn round_trip(
    words: &[u32],
    file: &File<'_>,
    args: &RunArgs,
    through: RoundTrip,
) -> runner::Result<(Vec<u32>, String)> {
    let entry = Shader::new(words, file, entry(args))?.entry;
    script::round_trip(words, &entry, ShaderStage::Compute, through, std::convert::identity)
}

/// Runs a compute shader on every engine, and prints differences from the first that runs it.
fn on_engines(bytes: &[u8], args: &RunArgs, groups: [u32; 3]) -> Outcome {
    reject_draw_arguments(args)?;
    if !args.read.is_empty() || args.timing {
        return Err(Failure::usage(
            "--engines compares what is in all buffers: --read and --timing are for one device",
        ));
    }
    let settings = settings(args);
    let file = file(bytes, args, &settings);
    let words = sized(&file, args)?;
    let scene = read_scene(args)?;
    let engines = Engine::all(args.device.as_deref());
    if engines.is_empty() {
        return Err(Failure::usage("no engine has that name"));
    }
    let width = engines
        .iter()
        .map(|engine| engine.name.chars().count())
        .max()
        .unwrap_or(0);
    let (mut first, mut apart): (Option<Contents>, usize) = (None, 0);
    let mut rows = Vec::new();
    // A device is opened once for all engines that use it.
    let mut opened = BTreeMap::new();
    for engine in &engines {
        let ran = on_engine(&words, &file, args, groups, &scene, engine, &mut opened);
        if matches!(ran, Err(NoResult::Failed(_))) {
            // The device may be lost.
            opened.remove(&engine.device);
        }
        let (verdict, reason, text) = match ran {
            Ok(contents) => match &first {
                None => {
                    let count = contents.len();
                    first = Some(contents);
                    ("reference", None, format!("ran, {count} buffers and images"))
                }
                Some(first) => match difference(first, &contents) {
                    None => ("same", None, "the same".to_owned()),
                    Some(what) => ("differs", Some(what.clone()), what),
                },
            },
            Err(NoResult::Unsupported(why)) => ("unsupported", Some(why.clone()), format!("unsupported: {why}")),
            Err(NoResult::Failed(error)) => ("failed", Some(error.to_string()), error.to_string()),
        };
        apart += usize::from(["differs", "failed"].contains(&verdict));
        match args.json {
            true => rows.push(json!({ "engine": engine.name, "verdict": verdict, "reason": reason })),
            false => print(&format!("{:width$}  {text}\n", engine.name))?,
        }
    }
    if args.json {
        print_json(&json!({ "engines": rows, "same": apart == 0 && first.is_some() }))?;
    }
    match (apart, first) {
        (0, Some(_)) => Ok(()),
        (0, None) => Err(Failure::from(Error::input("unsupported: no engine runs it"))),
        _ => Err(Failure::Reported(Cause::Bad)),
    }
}

/// Why an engine has no result.
enum NoResult {
    Unsupported(String),
    Failed(Error),
}

impl<E> From<E> for NoResult
where
    Error: From<E>,
{
    fn from(error: E) -> Self {
        let error = Error::from(error);
        match error.root() {
            ErrorKind::Vulkan(found) if matches!(found.kind(), vulkan::ErrorKind::Unsupported(_)) => {
                Self::Unsupported(found.to_string())
            }
            _ => Self::Failed(error),
        }
    }
}

fn on_engine(
    words: &[u32],
    file: &File<'_>,
    args: &RunArgs,
    groups: [u32; 3],
    scene: &Scene,
    engine: &Engine,
    opened: &mut BTreeMap<Option<String>, Context>,
) -> std::result::Result<Contents, NoResult> {
    if engine.is_emulated() {
        return Err(NoResult::Unsupported("a Mali-400 has no compute shaders".to_owned()));
    }
    let (words, entry) = match engine.through {
        None => (words.to_vec(), entry(args).map(str::to_owned)),
        Some(through) => {
            let through = round_trip(words, file, args, through).map_err(|error| match error.kind() {
                runner::ErrorKind::Unsupported(why) => NoResult::Unsupported(why.clone()),
                _ => error.into(),
            });
            let (words, entry) = through?;
            (words, Some(entry))
        }
    };
    let shader = Shader::new(&words, file, entry.as_deref())?;
    let mut data = Data::new(&shader, scene, args.size)?;
    let context = match opened.entry(engine.device.clone()) {
        Entry::Occupied(entry) => entry.into_mut(),
        Entry::Vacant(entry) => entry.insert(open(args, engine.device.as_deref())?),
    };
    execute(context, groups, &words, &shader, &mut data, false)?;
    Ok(data.contents(&shader))
}

/// Rejects arguments of draws.
fn reject_draw_arguments(args: &RunArgs) -> Outcome {
    let given = [
        ("-o", args.output.is_some()),
        ("--expect", args.expected.is_given()),
        ("--vertices", args.vertices.is_some()),
        ("--time", args.uniforms.time.is_some()),
        ("--frames", args.uniforms.frames.is_some()),
        ("--view", args.uniforms.view),
        ("--watch", args.watch),
        ("--cache", args.cache.is_some()),
        ("--no-cache", args.no_cache),
        ("--bind", args.bind != crate::cli::args::Bind::Auto),
        ("a second file", args.fragment.is_some()),
    ];
    match given.iter().find(|(_, given)| *given) {
        Some((flag, _)) => Err(Failure::usage(format_args!("{flag} means nothing to a compute shader"))),
        None => Ok(()),
    }
}

/// Opens the device with all its features.
fn open(args: &RunArgs, device: Option<&str>) -> Result<Context> {
    let options = Options {
        device: device.map(str::to_owned),
        validation: match args.validation {
            true => Validation::Core,
            false => Validation::Off,
        },
        timeout: args.timeout(),
        everything: Some(Vec::new()),
    };
    Ok(Context::new(&options)?)
}

/// The settings of the arguments.
fn settings(args: &RunArgs) -> Settings {
    Settings {
        defines: args.preprocess.defines.clone(),
        folders: args.preprocess.folders.clone(),
        constants: args.preprocess.constants.clone(),
        by_naga: false,
    }
}

/// The file of the arguments.
fn file<'a>(bytes: &'a [u8], args: &'a RunArgs, settings: &'a Settings) -> File<'a> {
    File {
        path: &args.file,
        bytes,
        entries: &args.entry,
        settings,
    }
}

/// The entry point of the arguments.
fn entry(args: &RunArgs) -> Option<&str> {
    args.entry.first().map(|entry| entry.name.as_str())
}

/// The most bytes of a resource that are printed.
const PRINTED: usize = 1 << 16;

/// A resource after the run, and the files that it is written to, as JSON.
fn to_json(one: &Descriptor, resource: &Resource, files: &[PathBuf]) -> Value {
    let bytes = compute::bytes(resource);
    let contents = (bytes.len() <= PRINTED).then(|| {
        bytes.iter().fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
    });
    let (kind, size) = match resource {
        Resource::Buffer(_) => ("buffer", None),
        Resource::Image(image) => ("image", Some(image.size)),
    };
    let (set, binding) = one.place;
    json!({
        "set": set, "binding": binding, "kind": kind, "bytes": bytes.len(), "size": size, "contents": contents,
        "files": files.iter().map(|file| file.to_string_lossy()).collect::<Vec<_>>(),
    })
}

/// Writes the contents of a resource: as PNG if the file has that extension, otherwise as bytes.
fn read_back(one: &Descriptor, resource: &Resource, path: &Path) -> Outcome {
    let as_picture = path.extension().is_some_and(|extension| extension == "png");
    match one.picture(resource).filter(|_| as_picture) {
        Some(picture) => Ok(save(&picture, path)?),
        None => write(path, compute::bytes(resource)),
    }
}
