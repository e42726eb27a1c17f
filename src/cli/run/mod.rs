//! `skrymir run`: runs a file on a device or an engine.

mod compute;
mod scripts;
mod sl;
mod vbc;

use super::draw::{Drawing, fault};
use super::engine::{self, EngineName};
use super::flags::Given;
use crate::cli::args::RunArgs;
use crate::cli::formats::{self, Format, Verb};
use crate::cli::outcome::{Failure, Outcome, apart, print_json, read};
use crate::cli::uniforms::at;
use clap::ValueEnum;
use runner::mali::Pair;
use runner::{lifted, mali};
use scene::Scene;
use serde_json::json;
use std::path::Path;

/// The emulator among the devices.
pub(super) const EMULATOR: &str = "mali400";

/// Its flags.
const EMULATOR_FLAGS: &[&str] = &[
    "output",
    "size",
    "vertices",
    "scene",
    "set",
    "time",
    "frames",
    "rate",
    "view",
    "device",
    "expect",
    "tolerance",
    "allow",
    "diff",
    "watch",
    "json",
    "define",
    "include",
    "constant",
];

/// The engine of the emulator that `--device` names; none if it names another device.
fn emulator(device: &str) -> Outcome<Option<EngineName>> {
    let Some(rest) = device.strip_prefix(EMULATOR) else {
        return Ok(None);
    };
    let engines = || {
        EngineName::value_variants()
            .iter()
            .filter(|name| **name != EngineName::Vulkan)
    };
    let label = |name: &EngineName| name.to_possible_value().map(|value| value.get_name().to_owned());
    match rest.strip_prefix('/') {
        None if rest.is_empty() => Ok(Some(EngineName::default())),
        Some(wanted) if engines().any(|name| label(name).as_deref() == Some(wanted)) => {
            Ok(engines().find(|name| label(name).as_deref() == Some(wanted)).copied())
        }
        _ => {
            let names: Vec<String> = engines()
                .filter_map(label)
                .map(|name| format!("{EMULATOR}/{name}"))
                .collect();
            Err(Failure::usage(format_args!(
                "there is no device {device}; there is {EMULATOR}, {}",
                names.join(", ")
            )))
        }
    }
}

/// Whether a file contains Mali-400 programs, which other devices run only when lifted.
fn is_program(bytes: &[u8]) -> bool {
    bytes.starts_with(&loader::mbs::MAGIC) || std::str::from_utf8(bytes).is_ok_and(utgard::shader::recognises)
}

/// Draws a pair on an engine of the emulator, or lifted on a Vulkan device.
fn draw(args: &RunArgs, engine: Option<EngineName>) -> Outcome {
    let files = [Some(&args.file), args.fragment.as_ref(), args.scene.as_ref()];
    let drawing = Drawing {
        vertex: &args.file,
        fragment: args.fragment.as_deref(),
        scene: args.scene.as_deref(),
        uniforms: &args.uniforms,
        preprocess: &args.preprocess,
        size: args.size,
        vertices: args.vertices,
        output: args.output.as_deref(),
        expected: &args.expected,
    };
    apart(args.json, args.output.as_deref())?;
    if args.output.is_none() && !args.expected.is_given() && !args.json && !args.uniforms.view {
        return Err(Failure::usage(
            "shaders give a picture: name it with -o out.png, show it with --view, or say what it must be with --expect",
        ));
    }
    let context = engine.is_none().then(|| vbc::open(args)).transpose()?;
    let picture = |pair: &Pair, scene: &Scene| match (&context, engine.and_then(EngineName::engine)) {
        (Some(context), _) => lifted::draw(context, pair, scene, true).map_err(|error| fault(error.into())),
        (None, engine) => {
            let engine = engine.unwrap_or_else(engine::plain);
            drawing.draw(pair, scene, engine, engine::default_threads())
        }
    };
    let paths: Vec<&Path> = files.into_iter().flatten().map(|path| path.as_path()).collect();
    if args.uniforms.view {
        return drawing.view(&paths, picture);
    }
    let once = || {
        let (pair, scene) = drawing.load()?;
        let interface = mali::interface(&pair)?;
        for (seconds, file) in args.uniforms.pictures(args.output.as_deref())? {
            let picture = picture(&pair, &at(&interface, &scene, seconds)?)?;
            if args.json {
                print_json(&json!({ "pictures": [drawing.to_json(Some(&picture))] }))?;
            }
            drawing.finish(&picture, file.as_deref())?;
        }
        Ok(())
    };
    match args.watch {
        true => crate::cli::watch::run_on_change(&paths, once),
        false => once(),
    }
}

pub(super) fn run(args: &RunArgs, given: &Given) -> Outcome {
    if args.file.is_dir() {
        given.fits(&formats::Script)?;
        return scripts::run(args);
    }
    let bytes = read(&args.file)?;
    let is_program = is_program(&bytes) && args.format.name().is_none_or(|name| name == "mbs" || name == "source");
    // A file of no known format is a shader's source.
    let by_name = scripts::is_script(&args.file).then_some("script");
    let format = formats::find(args.format.name().or(by_name), &bytes).unwrap_or(&formats::SOURCE);
    let emulator = match &args.device {
        // Scripts select the emulator themselves.
        Some(device) if format.name() != "script" => emulator(device)?,
        _ => (args.device.is_none() && is_program).then(EngineName::default),
    };
    if let Some(engine) = emulator {
        given.fits_device(EMULATOR, EMULATOR_FLAGS)?;
        return draw(args, Some(engine)).map_err(|failure| in_file(failure, args));
    }
    if is_program {
        given.fits_device("of programs that are lifted", EMULATOR_FLAGS)?;
        return draw(args, None);
    }
    given.fits(format)?;
    if args.fragment.is_some() && !format.takes_stages() {
        return Err(Failure::usage(format_args!(
            "a second file is a fragment stage beside a vertex stage's source; {} is {}",
            args.file.display(),
            format.name()
        )));
    }
    if !args.script.more.is_empty() && format.name() != "script" {
        return Err(Failure::usage("more than two files are test scripts, and this is none").in_file(&args.file));
    }
    run_format(format, &bytes, args).map_err(|failure| in_file(failure, args))
}

/// The failure with the file at fault: the scene's, or the one that is run.
fn in_file(failure: Failure, args: &RunArgs) -> Failure {
    failure.in_scene(args.scene.as_deref()).in_file(&args.file)
}

/// Runs a file of a format.
fn run_format(format: &dyn Format, bytes: &[u8], args: &RunArgs) -> Outcome {
    match format.name() {
        "vbc" => vbc::run(bytes, args),
        "sksl" => vbc::sksl(bytes, args),
        "spirv" | "source" => compute::sources(bytes, args),
        "sl" => sl::run(bytes, args),
        "script" => scripts::run(args),
        _ => Err(format.lacks(Verb::Run)),
    }
}
