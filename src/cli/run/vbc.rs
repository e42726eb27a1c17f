//! `run` for a VBC: one picture on a Vulkan device.

use crate::cli::args::RunArgs;
use crate::cli::cleanup::Limit;
use crate::cli::draw::scene;
use crate::cli::error::Error;
use crate::cli::log::Waiting;
use crate::cli::outcome::{Failure, Outcome, apart, print, read, replace, write};
use crate::cli::picture::{save, to_json};
use crate::cli::uniforms::at;
use crate::cli::view::Shown;
use crate::cli::watch::run_on_change;
use runner::link::{self, File, LinkedVbc};
use scene::harness::{self, Drawn, Loaded, Settings};
use scene::picture::Picture;
use scene::watch::{Event, Watcher};
use scene::{Scene, apply};
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};
use vulkan::{Context, Options, PipelineCache, Validation};

/// Draws the source of a shader, or of a vertex and a fragment stage.
pub(crate) fn sources(bytes: &[u8], args: &RunArgs) -> Outcome {
    if args.uniforms.view {
        return view(args, |bytes| link(bytes, args));
    }
    if !args.watch {
        return draw(&link(bytes, args)?, args);
    }
    if args.output.is_none() {
        return Err(Failure::usage(
            "--watch draws again and again: name the picture with -o out.png",
        ));
    }
    run_on_change(&files(args), || draw(&link(&read(&args.file)?, args)?, args))
}

/// The files that a picture is made of.
fn files(args: &RunArgs) -> Vec<&Path> {
    let files = [Some(&args.file), args.fragment.as_ref(), args.scene.as_ref()];
    files.into_iter().flatten().map(PathBuf::as_path).collect()
}

fn link(bytes: &[u8], args: &RunArgs) -> Outcome<LinkedVbc> {
    let entries = &args.entry;
    let fragment = args.fragment.as_ref().map(|path| read(path)).transpose()?;
    let files = [
        Some((args.file.as_path(), bytes)),
        args.fragment.as_deref().zip(fragment.as_deref()),
    ];
    let settings = &args.preprocess.settings(files.into_iter().flatten())?;
    let first = File {
        path: &args.file,
        bytes,
        entries,
        settings,
    };
    let Some((path, bytes)) = args.fragment.as_ref().zip(fragment.as_deref()) else {
        return Ok(link::link(&first, None)?);
    };
    let second = File {
        path,
        bytes,
        entries,
        settings,
    };
    Ok(link::link(&first, Some(&second))?)
}

/// Draws a VBC, writes its picture and read-backs, and compares it with the expected one.
pub(crate) fn run(bytes: &[u8], args: &RunArgs) -> Outcome {
    if args.uniforms.view {
        return view(args, |bytes| Ok(LinkedVbc::of_vbc(bytes)));
    }
    if args.watch {
        return watch(bytes, args);
    }
    draw(&LinkedVbc::of_vbc(bytes), args)
}

/// Draws an SkSL program as [`run`] does a VBC.
pub(crate) fn sksl(bytes: &[u8], args: &RunArgs) -> Outcome {
    let to_vbc = |bytes: &[u8]| {
        let made = translate::sksl::to_vbc(&loader::sksl::read(bytes)?)?;
        Ok(LinkedVbc::of_vbc(&made))
    };
    match args.uniforms.view {
        true => view(args, to_vbc),
        false => draw(&to_vbc(bytes)?, args),
    }
}

/// Shows pictures of a file on a page.
fn view(args: &RunArgs, make: impl Fn(&[u8]) -> Outcome<LinkedVbc>) -> Outcome {
    let context = &open(args)?;
    crate::cli::view::show(&files(args), &args.uniforms, || {
        let limit = limit(args);
        let made = make(&read(&args.file)?)?;
        let scene = read_scene(args)?;
        let loaded = load(context, &made, &scene, args)?;
        drop(limit);
        Ok(Shown {
            is_animated: apply::has_time(loaded.interface()),
            draw: Box::new(move |seconds| {
                let _limit = self::limit(args);
                let drawn = loaded.draw(&at(loaded.interface(), &scene, seconds)?, &[], None)?;
                Ok(Picture::of(&drawn.frame.targets[0]))
            }),
        })
    })
}

/// Loads a file; prints its notes, and one for each unused part of the scene.
fn load(context: &Context, made: &LinkedVbc, scene: &Scene, args: &RunArgs) -> Outcome<Loaded> {
    let loaded = harness::load_of(context, &made.bytes, &made.sources, settings(args))?;
    let unused = apply::unused(loaded.interface(), scene);
    let notes = made.notes.iter().chain(&loaded.notes).chain(&unused);
    notes.for_each(|note| crate::cli::log::note(format_args!("{note}")));
    Ok(loaded)
}

/// Draws a VBC once.
fn draw(made: &LinkedVbc, args: &RunArgs) -> Outcome {
    apart(args.json, args.output.as_deref())?;
    let limit = limit(args);
    let context = open(args)?;
    let cache = cache(&context, &made.bytes, args)?;
    if let Some(note) = cache.as_ref().and_then(PipelineCache::note) {
        crate::cli::log::note(format_args!("{note}"));
    }
    let scene = read_scene(args)?;
    let loaded = load(&context, made, &scene, args)?;
    let slots: Vec<u8> = args.read.iter().map(|(slot, _)| *slot).collect();
    let mut pictures = args.uniforms.pictures(args.output.as_deref())?;
    let (seconds, output) = pictures.pop().expect("a sequence has a picture");
    for (seconds, output) in pictures {
        let drawn = loaded.draw(&at(loaded.interface(), &scene, seconds)?, &[], cache.as_ref())?;
        write_pictures(&drawn, output.as_deref(), args)?;
    }
    let scene = at(loaded.interface(), &scene, seconds)?;
    let drawing = Waiting::new("drawing");
    let drawn = loaded.draw(&scene, &slots, cache.as_ref())?;
    drop((drawing, limit));
    if let Some((file, contents)) = cache.as_ref().and_then(PipelineCache::contents) {
        let folder = file.parent().map_or(Ok(()), std::fs::create_dir_all);
        if let Err(error) = folder.and_then(|()| replace(file, &contents)) {
            crate::cli::log::message(format_args!(
                "skrymir: the pipeline cache could not be written: {error}"
            ));
        }
        // A folder that was named may hold anything.
        let own = file.parent().filter(|_| args.cache.is_none());
        own.into_iter().for_each(forget_old);
    }
    for (slot, path) in &args.read {
        write(path, &drawn.frame.slots[slot])?;
    }
    if args.output.is_none() && !args.expected.is_given() && !args.json {
        return Err(Error::usage(
            "a VBC gives a picture: name it with -o out.png, show it with --view, or say what it must be with --expect",
        )
        .into());
    }
    let pictures = write_pictures(&drawn, output.as_deref(), args)?;
    if args.json {
        crate::cli::outcome::print_json(&json(&drawn, &pictures))?;
    } else if args.timing {
        print(&timing(&drawn))?;
    }
    complain(&context)?;
    args.expected
        .hold(&Picture::of(&drawn.frame.targets[0]), args.output.as_deref())
}

/// Starts the time limit of one draw, from opening the device to reading back.
pub(crate) fn limit(args: &RunArgs) -> Limit {
    Limit::start(args.timeout(), args.file.display().to_string())
}

/// Settings of the arguments.
fn settings(args: &RunArgs) -> Settings {
    Settings {
        mode: args.bind.into(),
        unchecked: args.unchecked,
    }
}

/// The time of each part, in milliseconds.
fn times(drawn: &Drawn) -> [(&'static str, f64); 7] {
    let (t, f) = (&drawn.timing, &drawn.frame.timing);
    [
        ("load", t.load),
        ("layout", t.layout),
        ("scene", t.scene),
        ("resources", f.resources),
        ("pipeline", f.pipeline),
        ("draw", f.draw),
        ("read-back", f.read_back),
    ]
    .map(|(what, time)| (what, time.as_secs_f64() * 1e3))
}

/// The times in one line.
fn timing(drawn: &Drawn) -> String {
    let parts = times(drawn).map(|(what, time)| format!("{what} {time:.3} ms"));
    format!("{}\n", parts.join(", "))
}

/// The times and the written pictures as JSON.
fn json(drawn: &Drawn, pictures: &[Written]) -> Value {
    let file = |location| {
        let written = pictures.iter().find(|picture| picture.location == location);
        written.map(|picture| picture.file.as_path())
    };
    let targets = drawn.frame.targets.iter();
    let pictures = targets.map(|target| to_json(file(target.location), target.size, target.location));
    let times: Map<String, Value> = times(drawn)
        .into_iter()
        .map(|(what, time)| (what.replace('-', "_"), time.into()))
        .collect();
    json!({ "pictures": pictures.collect::<Vec<_>>(), "milliseconds": times })
}

/// A written picture.
struct Written {
    file: PathBuf,
    location: u8,
}

/// Draws again at each change until the process ends.
fn watch(bytes: &[u8], args: &RunArgs) -> Outcome {
    let context = open(args)?;
    let cache = cache(&context, bytes, args)?;
    if let Some(note) = cache.as_ref().and_then(PipelineCache::note) {
        crate::cli::log::note(format_args!("{note}"));
    }
    let adjust = |scene| adjust(args, scene);
    let mut watcher = Watcher::new(
        &context,
        &args.file,
        args.scene.as_deref(),
        settings(args),
        cache.as_ref(),
        adjust,
    );
    loop {
        let limit = limit(args);
        let event = watcher.look();
        drop(limit);
        match event {
            Event::Same => std::thread::sleep(crate::cli::watch::INTERVAL),
            Event::Drawn(drawn) => {
                write_pictures(&drawn, args.output.as_deref(), args)?;
                if args.timing {
                    print(&timing(&drawn))?;
                }
            }
            Event::Kept(why) => {
                crate::cli::log::message(format_args!("skrymir: {why}\nskrymir: the last good picture stays"))
            }
        }
    }
}

/// Opens the device of the arguments.
pub(crate) fn open(args: &RunArgs) -> Outcome<Context> {
    let validation = if args.validation {
        Validation::Core
    } else {
        Validation::Off
    };
    let options = Options {
        device: args.device.clone(),
        validation,
        timeout: args.timeout(),
        everything: None,
    };
    Context::new(&options).map_err(|error| Error::from(error).into())
}

/// The scene of the arguments, with their values.
pub(crate) fn read_scene(args: &RunArgs) -> Outcome<Scene> {
    Ok(adjust(args, scene(args.scene.as_deref())?))
}

/// The scene with the values of the arguments.
fn adjust(args: &RunArgs, scene: Scene) -> Scene {
    args.uniforms.values(Scene {
        size: args.size.or(scene.size),
        vertices: args.vertices.or(scene.vertices),
        ..scene
    })
}

fn cache(context: &Context, bytes: &[u8], args: &RunArgs) -> Outcome<Option<PipelineCache>> {
    let folder = args.cache.clone().or_else(PipelineCache::user_folder);
    let Some(folder) = folder.filter(|_| !args.no_cache) else {
        return Ok(None);
    };
    PipelineCache::open(context, &folder, bytes)
        .map(Some)
        .map_err(|error| Error::from(error).into())
}

/// The most pipeline caches that are kept.
const CACHES: usize = 256;

/// Removes the oldest pipeline caches of the user's folder beyond [`CACHES`]; what cannot be read or removed stays.
fn forget_old(folder: &Path) {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let is_cache = |path: &Path| path.extension().is_some_and(|extension| extension == "bin");
    let mut files: Vec<_> = entries
        .filter(|entry| is_cache(&entry.path()))
        .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
        .collect();
    files.sort();
    let old = files.len().saturating_sub(CACHES);
    for (_, path) in &files[..old] {
        let _ = std::fs::remove_file(path);
    }
}

/// Writes the first target to the output, the others beside it with their location in the name.
fn write_pictures(drawn: &Drawn, output: Option<&Path>, args: &RunArgs) -> Outcome<Vec<Written>> {
    let mut written = Vec::new();
    let Some(output) = output else {
        return Ok(written);
    };
    for (index, target) in drawn.frame.targets.iter().enumerate() {
        let path = if index == 0 {
            output.to_owned()
        } else {
            beside(output, target.location)
        };
        save(&Picture::of(target), &path)?;
        let ([width, height], location) = (target.size, target.location);
        if !args.json && path != Path::new("-") && !crate::cli::log::is_quiet() {
            print(&format!("{}: {width}x{height}, output {location}\n", path.display()))?;
        }
        written.push(Written { file: path, location });
    }
    Ok(written)
}

fn beside(path: &Path, location: u8) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let extension = path
        .extension()
        .map_or("png".into(), |extension| extension.to_string_lossy());
    path.with_file_name(format!("{stem}.{location}.{extension}"))
}

/// Any message of the validation layer is a failure.
pub(crate) fn complain(context: &Context) -> Outcome {
    let messages = context.messages();
    if messages.is_empty() {
        return Ok(());
    }
    Err(Error::machine(format_args!("the validation layer says:\n{}", messages.join("\n"))).into())
}
