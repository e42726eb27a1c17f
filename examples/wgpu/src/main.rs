//! Draws VBC shaders and SkSL effects in a wgpu application without a window, one over the other, and writes a picture.

use lexopt::{Arg, Parser, ValueExt};
use skrymir_wgpu_example::app::{App, Drawn, FORMAT, Result};
use skrymir_wgpu_example::{Effect, Options, Texture};
use std::path::PathBuf;
use std::process::ExitCode;

const HELP: &str = "\
Draws VBC shaders and SkSL effects (binaries of version 11) in a wgpu application, one over the other

Usage: skrymir-wgpu-example [OPTIONS] FILE [FILE OPTIONS] [FILE [FILE OPTIONS]]...

File options:
      --set <NAME=N,N,...>   Numbers of a uniform member
      --vertices <N,N,...>   Vertices, interleaved as the file declares its inputs [default: none, three are drawn]

Options:
      --size <WxH>           Size of the picture in pixels [default: 256x256]
  -o, --output <PNG>         Where to write the picture [default: wgpu.png]
  -h, --help                 Print help

Every slot has the same texture: a checker of two by two texels.
";

/// A file and its options.
struct File {
    path: PathBuf,
    set: Vec<(String, Vec<f32>)>,
    vertices: Vec<f32>,
}

struct Args {
    files: Vec<File>,
    size: [u32; 2],
    output: PathBuf,
}

impl Args {
    /// Parses the command line; `None` if only help is requested.
    fn parse() -> Result<Option<Self>, lexopt::Error> {
        let mut args = Self {
            files: Vec::new(),
            size: [256, 256],
            output: "wgpu.png".into(),
        };
        let mut parser = Parser::from_env();
        while let Some(arg) = parser.next()? {
            match (arg, args.files.last_mut()) {
                (Arg::Short('h') | Arg::Long("help"), _) => return Ok(None),
                (Arg::Short('o') | Arg::Long("output"), _) => args.output = parser.value()?.into(),
                (Arg::Long("size"), _) => args.size = parser.value()?.parse_with(size)?,
                (Arg::Long("set"), Some(file)) => file.set.push(parser.value()?.parse_with(member)?),
                (Arg::Long("vertices"), Some(file)) => file.vertices = parser.value()?.parse_with(numbers)?,
                (Arg::Value(path), _) => args.files.push(File {
                    path: path.into(),
                    set: Vec::new(),
                    vertices: Vec::new(),
                }),
                (other, _) => return Err(other.unexpected()),
            }
        }
        if args.files.is_empty() {
            return Err("no file is named".into());
        }
        Ok(Some(args))
    }
}

/// Width and height as `WxH`.
fn size(text: &str) -> Result<[u32; 2], &'static str> {
    let side = |text: &str| text.parse().ok().filter(|side| (1..=8192).contains(side));
    let size = text
        .split_once('x')
        .and_then(|(width, height)| Some([side(width)?, side(height)?]));
    size.ok_or("a size is WxH, such as 640x480")
}

/// A list of numbers.
fn numbers(text: &str) -> Result<Vec<f32>, std::num::ParseFloatError> {
    text.split(',').map(|number| number.trim().parse()).collect()
}

/// A name and its numbers.
fn member(text: &str) -> Result<(String, Vec<f32>), &'static str> {
    let (name, values) = text.split_once('=').ok_or("a uniform member is NAME=N,N,...")?;
    Ok((
        name.to_owned(),
        numbers(values).map_err(|_| "a uniform member is NAME=N,N,...")?,
    ))
}

fn main() -> ExitCode {
    let done = match Args::parse() {
        Ok(Some(args)) => draw(&args),
        Ok(None) => {
            print!("{HELP}");
            Ok(())
        }
        Err(error) => Err(error.into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("skrymir-wgpu-example: {error}");
            ExitCode::FAILURE
        }
    }
}

fn draw(args: &Args) -> Result<()> {
    let app = App::new()?;
    let checker = app.texture(
        [2, 2],
        &[[255; 4], [64, 64, 64, 255], [64, 64, 64, 255], [255; 4]].concat(),
    );
    let sampler = app.device.create_sampler(&Default::default());
    let textures: Vec<_> = (0..32)
        .map(|slot| Texture {
            slot,
            view: &checker,
            sampler: &sampler,
        })
        .collect();
    let mut loaded = Vec::new();
    for file in &args.files {
        let shown = file.path.display();
        let bytes = std::fs::read(&file.path).map_err(|error| format!("{shown}: {error}"))?;
        let effect = Effect::new(&app.device, &bytes, &Options::new(FORMAT), &textures);
        let mut effect = effect.map_err(|error| format!("{shown}: {error}"))?;
        for (name, values) in &file.set {
            let done = effect.set(&app.queue, name, values);
            done.map_err(|error| format!("{shown}: {error}"))?;
        }
        let (floats, stride) = (file.vertices.len() as u32, effect.vertex().stride);
        if stride == 0 && floats > 0 || stride > 0 && (floats == 0 || !(4 * floats).is_multiple_of(stride)) {
            return Err(format!("{shown}: a vertex has {} numbers, and {floats} are given", stride / 4).into());
        }
        let count = (4 * floats).checked_div(stride).unwrap_or(3);
        let vertices = (stride > 0).then(|| app.vertices(&file.vertices));
        loaded.push((effect, vertices, count));
    }
    let effects: Vec<_> = loaded
        .iter()
        .map(|(effect, vertices, count)| Drawn {
            effect,
            vertices: vertices.as_ref(),
            count: *count,
        })
        .collect();
    let rgba = app.frame(args.size, wgpu::Color::BLACK, &effects)?;
    save(args, &rgba)?;
    println!(
        "{}: {}x{} pixels, drawn by {}",
        args.output.display(),
        args.size[0],
        args.size[1],
        app.name
    );
    Ok(())
}

fn save(args: &Args, rgba: &[u8]) -> Result<()> {
    let file = std::fs::File::create(&args.output).map_err(|error| format!("{}: {error}", args.output.display()))?;
    let mut encoder = png::Encoder::new(file, args.size[0], args.size[1]);
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.write_header()?.write_image_data(rgba)?;
    Ok(())
}
