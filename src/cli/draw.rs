//! `skrymir draw`: `run --device mali400` with observation of the emulator.

use super::observe::EngineArgs;
use crate::cli::args::PreprocessArgs;
use crate::cli::error::{Error, ErrorKind};
use crate::cli::expect::ExpectArgs;
use crate::cli::log::Waiting;
use crate::cli::outcome::{Failure, Outcome, apart, print_json, read, read_text, write};
use crate::cli::picture::{save, to_json};
use crate::cli::uniforms::{UniformArgs, at};
use crate::cli::view::Shown;
use crate::cli::watch::run_on_change;
use clap::Args;
use emulator::exec::Engine;
use emulator::exec::observed::{Stage, Text};
use loader::mbs;
use runner::lifted;
use runner::link::File;
use runner::mali::{self, Pair};
use scene::picture::Picture;
use scene::{Scene, apply};
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};
use utgard::shader;

/// Arguments of `draw`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  skrymir draw triangle.vert.s triangle.frag.s -o out.png
  skrymir draw lit.vert lit.frag --scene scene.toml -o out.png --watch
  skrymir draw a.wgsl --expect good.png --tolerance 4 --allow 1")]
pub(crate) struct DrawArgs {
    /// Vertex program: MBS, its text, or a shader's source; a file with both stages needs no second
    pub vertex: PathBuf,
    /// Fragment program: MBS, its text, or a shader's source [default: of the first file]
    pub fragment: Option<PathBuf>,
    /// Attributes, uniforms, textures and state by name (TOML or JSON)
    #[arg(long, value_name = "FILE")]
    pub scene: Option<PathBuf>,
    /// Uniforms by name, the time, and a sequence of pictures
    #[command(flatten)]
    pub uniforms: UniformArgs,
    /// Settings of front ends
    #[command(flatten)]
    pub preprocess: PreprocessArgs,
    /// Output file for the picture
    #[arg(short, long, value_parser = crate::cli::picture::name(), required_unless_present_any = ["expect", "record", "trace", "watch_pixel", "profile", "lcov", "json", "view"])]
    pub output: Option<PathBuf>,
    /// Write the jobs as a recording for `skrymir replay`
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// Size of the picture in pixels [default: 256x256]
    #[arg(long, value_name = "WxH", value_parser = crate::cli::args::parse_size)]
    pub size: Option<[u32; 2]>,
    /// Vertices per draw [default: 3]
    #[arg(long, value_name = "N")]
    pub vertices: Option<u32>,
    /// The expected picture
    #[command(flatten)]
    pub expected: ExpectArgs,
    /// Draw again whenever a program or the scene changes
    #[arg(long, requires = "output", conflicts_with_all = ["expect", "json"])]
    pub watch: bool,
    /// How programs run, and what is printed about them
    #[command(flatten)]
    pub running: EngineArgs,
}

/// Runs the command.
pub(crate) fn run(args: &DrawArgs) -> Outcome {
    let files = [Some(&args.vertex), args.fragment.as_ref(), args.scene.as_ref()];
    let files: Vec<&Path> = files.into_iter().flatten().map(PathBuf::as_path).collect();
    let done = match args {
        DrawArgs { watch: true, .. } => run_on_change(&files, || draw(args)),
        _ if args.uniforms.view => view(args, &files),
        _ => draw(args),
    };
    done.map_err(|failure| failure.in_scene(args.scene.as_deref()))
}

/// A pair, a scene and the picture's destination, for `draw` and `run` on the emulator.
pub(super) struct Drawing<'a> {
    pub vertex: &'a Path,
    pub fragment: Option<&'a Path>,
    pub scene: Option<&'a Path>,
    pub uniforms: &'a UniformArgs,
    pub preprocess: &'a PreprocessArgs,
    pub size: Option<[u32; 2]>,
    pub vertices: Option<u32>,
    pub output: Option<&'a Path>,
    pub expected: &'a ExpectArgs,
}

impl Drawing<'_> {
    /// Loads the programs and the scene; prints a note for each unused part of the scene.
    pub(super) fn load(&self) -> Outcome<(Pair, Scene)> {
        let fragment = self.fragment.unwrap_or(self.vertex);
        let pair = load_pair(self.vertex, fragment, self.preprocess)?;
        let mut scene = scene(self.scene)?;
        scene.size = self.size.or(scene.size);
        scene.vertices = self.vertices.or(scene.vertices);
        let scene = self.uniforms.values(scene);
        for note in mali::unused(&pair, &scene)? {
            crate::cli::log::note(format_args!("{note}"));
        }
        Ok((pair, scene))
    }

    /// The picture.
    pub(super) fn draw(&self, pair: &Pair, scene: &Scene, engine: Box<dyn Engine>, threads: usize) -> Outcome<Picture> {
        let _drawing = Waiting::new("drawing");
        mali::draw(pair, scene, engine, threads).map_err(|error| fault(error.into()))
    }

    /// Shows the pictures on a page.
    pub(super) fn view(&self, files: &[&Path], picture: impl Fn(&Pair, &Scene) -> Outcome<Picture>) -> Outcome {
        let picture = &picture;
        crate::cli::view::show(files, self.uniforms, || {
            let (pair, scene) = self.load()?;
            let interface = mali::interface(&pair)?;
            Ok(Shown {
                is_animated: apply::has_time(&interface),
                draw: Box::new(move |seconds| picture(&pair, &at(&interface, &scene, seconds)?)),
            })
        })
    }

    /// The picture, if there is one, as JSON.
    pub(super) fn to_json(&self, picture: Option<&Picture>) -> Value {
        picture.map_or(Value::Null, |picture| {
            to_json(self.output, [picture.width, picture.height], 0)
        })
    }

    /// Writes the picture and compares it with the expected one.
    pub(super) fn finish(&self, picture: &Picture, file: Option<&Path>) -> Outcome {
        if let Some(path) = file {
            save(picture, path)?;
        }
        self.expected.hold(picture, file)
    }
}

/// Reads and compiles a pair; both paths may be the same.
pub(super) fn load_pair(vertex: &Path, fragment: &Path, preprocess: &PreprocessArgs) -> Outcome<Pair> {
    with_files(
        vertex,
        (vertex != fragment).then_some(fragment),
        preprocess,
        |first, second| Pair::new(first, second).map_err(|error| Failure::Bad(error.into())),
    )
}

/// Reads one or two files, and calls `work` with them.
pub(super) fn with_files<T>(
    first: &Path,
    second: Option<&Path>,
    preprocess: &PreprocessArgs,
    work: impl FnOnce(&File<'_>, Option<&File<'_>>) -> Outcome<T>,
) -> Outcome<T> {
    let bytes = read(first)?;
    let more = second.map(read).transpose()?;
    let second = second.zip(more.as_deref());
    let settings = &preprocess.settings([(first, bytes.as_slice())].into_iter().chain(second))?;
    let file = |(path, bytes)| File {
        path,
        bytes,
        entries: &[],
        settings,
    };
    work(&file((first, &bytes)), second.map(file).as_ref())
}

fn drawing(args: &DrawArgs) -> Outcome<Drawing<'_>> {
    let flag = match args.uniforms.view {
        true => Some("--view"),
        false => args.uniforms.frames.map(|_| "--frames"),
    };
    if let Some(flag) = flag.filter(|_| args.record.is_some() || args.running.has_output()) {
        return Err(Failure::usage(format_args!(
            "{flag} draws several pictures: recordings and observations are of one"
        )));
    }
    Ok(Drawing {
        vertex: &args.vertex,
        fragment: args.fragment.as_deref(),
        scene: args.scene.as_deref(),
        uniforms: &args.uniforms,
        preprocess: &args.preprocess,
        size: args.size,
        vertices: args.vertices,
        output: args.output.as_deref(),
        expected: &args.expected,
    })
}

/// Shows the pictures on a page.
fn view(args: &DrawArgs, files: &[&Path]) -> Outcome {
    let drawing = drawing(args)?;
    if args.running.is_vulkan()? {
        let context = open()?;
        return drawing.view(files, |pair, scene| {
            lifted::draw(&context, pair, scene, true).map_err(|error| fault(error.into()))
        });
    }
    let (engine, threads) = args.running.unobserved()?;
    drawing.view(files, |pair, scene| drawing.draw(pair, scene, engine(), threads))
}

fn open() -> Outcome<vulkan::Context> {
    vulkan::Context::new(&vulkan::Options::default()).map_err(|error| Failure::Trouble(error.into()))
}

fn draw(args: &DrawArgs) -> Outcome {
    apart(args.running.is_json(), args.output.as_deref())?;
    let drawing = drawing(args)?;
    let (pair, scene) = drawing.load()?;
    let interface = mali::interface(&pair)?;
    for (seconds, file) in args.uniforms.pictures(args.output.as_deref())? {
        let scene = at(&interface, &scene, seconds)?;
        picture(args, &drawing, &pair, &scene, file.as_deref())?;
    }
    Ok(())
}

/// Draws one picture, with what is observed of it.
fn picture(args: &DrawArgs, drawing: &Drawing<'_>, pair: &Pair, scene: &Scene, file: Option<&Path>) -> Outcome {
    let json = args.running.is_json();
    if let Some(path) = &args.record {
        write(path, mali::record(pair, scene).map_err(|error| fault(error.into()))?)?;
    }
    if args.output.is_none() && !args.running.has_output() && !args.expected.is_given() && !json {
        return Ok(());
    }
    if args.running.is_vulkan()? {
        let picture = lifted::draw(&open()?, pair, scene, true).map_err(|error| fault(error.into()))?;
        if json {
            print_json(&document(Map::new(), drawing.to_json(Some(&picture))))?;
        }
        return drawing.finish(&picture, file);
    }
    let (engine, threads, watching) = args.running.start()?.take();
    let picture = drawing.draw(pair, scene, engine, threads);
    let observed = args.running.finish(watching.as_ref(), &texts(args))?;
    if json {
        print_json(&document(observed, drawing.to_json(picture.as_ref().ok())))?;
    }
    drawing.finish(&picture?, file)
}

/// The output as one JSON document.
fn document(mut observed: Map<String, Value>, picture: Value) -> Value {
    observed.insert("picture".into(), picture);
    observed.into()
}

/// The assembly sources of the programs, if they have any.
fn texts(args: &DrawArgs) -> Vec<(Stage, Text)> {
    let fragment = args.fragment.as_ref().unwrap_or(&args.vertex);
    let files = [
        (Stage::Vertex, &args.vertex, mbs::Stage::Vertex),
        (Stage::Fragment, fragment, mbs::Stage::Fragment),
    ];
    let text = |(stage, path, of): (Stage, &PathBuf, mbs::Stage)| {
        let text = std::fs::read_to_string(path)
            .ok()
            .filter(|text| shader::recognises(text))?;
        let lines = shader::lines(&text, of);
        let path = path.display().to_string();
        Some((stage, Text { path, lines }))
    };
    files.into_iter().filter_map(text).collect()
}

/// The scene of a file, or an empty one.
pub(super) fn scene(path: Option<&Path>) -> Outcome<Scene> {
    let Some(path) = path else {
        return Ok(Scene::default());
    };
    let scene = Scene::parse(&read_text(path)?, path.parent().unwrap_or(Path::new("")));
    scene.map_err(|error| Failure::Trouble(error.into()).in_file(path))
}

/// A fault of a job is the input's; a scene that does not fit is the caller's.
pub(super) fn fault(error: Error) -> Failure {
    match error.root() {
        ErrorKind::Scene(_) => Failure::Trouble(error),
        _ => Failure::Bad(error),
    }
}
