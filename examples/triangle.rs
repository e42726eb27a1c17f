//! Draws a VBC file, or without one the triangle the project makes itself, and writes `triangle.png`.
//!
//! ```text
//! cargo run --example triangle [FILE.vbc] [--size WxH] [--vertices N] [-o OUT.png] [--device NAME]
//! ```

use anyhow::Context as _;
use clap::Parser;
use skrymir::args::parse_size;
use skrymir::picture::Picture;
use skrymir::scene::Scene;
use skrymir::{harness, sample};
use std::path::PathBuf;
use vulkan::{Context, Options};

#[derive(Parser)]
struct Args {
    /// A VBC file; without one the project's own triangle
    file: Option<PathBuf>,
    /// Where to write the picture
    #[arg(short, long, default_value = "triangle.png")]
    output: PathBuf,
    /// Size of the picture in pixels
    #[arg(long, value_name = "WxH", default_value = "256x256", value_parser = parse_size)]
    size: [u32; 2],
    /// Vertices to draw
    #[arg(long, value_name = "N", default_value_t = 3)]
    vertices: u32,
    /// Vulkan device: index, or part of its name
    #[arg(long)]
    device: Option<String>,
}

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let bytes = match &args.file {
        Some(path) => std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?,
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
    Picture::of(&drawn.frame.targets[0]).save(&args.output)?;
    println!("picture: {}", std::path::absolute(&args.output)?.display());
    Ok(())
}
