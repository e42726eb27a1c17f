//! Draws a VBC file, or the built-in sample triangle, and writes `triangle.png`.

use lexopt::{Arg, Parser, ValueExt};
use skrymir_scene::picture::Picture;
use skrymir_scene::{Scene, harness, sample};
use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;
use vulkan::{Context, Options};

const HELP: &str = "\
Draws a VBC file, or the project's own triangle

Usage: triangle [FILE.vbc] [OPTIONS]

Options:
      --size <WxH>       Size of the picture in pixels [default: 256x256]
      --vertices <N>     Vertices to draw [default: 3]
      --device <DEVICE>  Vulkan device: index, or part of its name
  -o, --output <PNG>     Where to write the picture [default: triangle.png]
  -h, --help             Print help
";

struct Args {
    file: Option<PathBuf>,
    output: PathBuf,
    size: [u32; 2],
    vertices: u32,
    device: Option<String>,
}

impl Args {
    /// The command line; `None` if only help was requested.
    fn parse() -> Result<Option<Self>, lexopt::Error> {
        let mut args = Self {
            file: None,
            output: "triangle.png".into(),
            size: [256, 256],
            vertices: 3,
            device: None,
        };
        let mut parser = Parser::from_env();
        while let Some(arg) = parser.next()? {
            match arg {
                Arg::Short('h') | Arg::Long("help") => return Ok(None),
                Arg::Short('o') | Arg::Long("output") => args.output = parser.value()?.into(),
                Arg::Long("size") => args.size = parser.value()?.parse_with(size)?,
                Arg::Long("vertices") => args.vertices = parser.value()?.parse()?,
                Arg::Long("device") => args.device = Some(parser.value()?.string()?),
                Arg::Value(file) if args.file.is_none() => args.file = Some(file.into()),
                other => return Err(other.unexpected()),
            }
        }
        Ok(Some(args))
    }
}

/// Width and height as `WxH`.
fn size(text: &str) -> Result<[u32; 2], &'static str> {
    let number = |text: &str| text.parse().ok().filter(|number| *number > 0);
    let size = text
        .split_once('x')
        .and_then(|(width, height)| Some([number(width)?, number(height)?]));
    size.ok_or("a size is WxH, such as 640x480")
}

fn main() -> ExitCode {
    let done = match Args::parse() {
        Ok(Some(args)) => draw(args),
        Ok(None) => {
            print!("{HELP}");
            Ok(())
        }
        Err(error) => Err(error.into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("triangle: {error}");
            ExitCode::from(2)
        }
    }
}

fn draw(args: Args) -> Result<(), Box<dyn Error>> {
    let bytes = match &args.file {
        Some(path) => std::fs::read(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?,
        None => sample::triangle()?,
    };
    let context = Context::new(&Options {
        device: args.device,
        ..Options::default()
    })?;
    println!("device: {}", context.info().name);
    let scene = Scene {
        size: Some(args.size),
        vertices: Some(args.vertices),
        ..Scene::default()
    };
    let drawn = harness::draw(&context, &bytes, &scene)?;
    let png = Picture::of(&drawn.frame.targets[0]).to_png()?;
    std::fs::write(&args.output, png).map_err(|error| format!("cannot write {}: {error}", args.output.display()))?;
    println!("picture: {}", std::path::absolute(&args.output)?.display());
    Ok(())
}
