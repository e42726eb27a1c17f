//! `skrymir draw`: a pair of Mali-400 programs on the emulator.

use super::observe::EngineArgs;
use super::{Failure, Outcome};
use crate::mali::{self, Pair};
use crate::scene::Scene;
use anyhow::Context;
use clap::Args;
use std::path::PathBuf;

/// Arguments of `draw`.
#[derive(Args, Debug)]
pub struct DrawArgs {
    /// Vertex program: MBS, its text, or a shader's source; a file with both stages stands alone
    pub vertex: PathBuf,
    /// Fragment program: MBS, its text, or a shader's source [default: of the first file]
    pub fragment: Option<PathBuf>,
    /// Attributes, uniforms, textures and state by name (TOML or JSON)
    #[arg(long, value_name = "FILE")]
    pub scene: Option<PathBuf>,
    /// Where to write the picture
    #[arg(short, long, required_unless_present_any = ["record", "trace", "watch_pixel", "profile", "lcov"])]
    pub output: Option<PathBuf>,
    /// Write the jobs as a recording for `skrymir replay`
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// Size of the picture in pixels [default: 256x256]
    #[arg(long, value_name = "WxH", value_parser = super::draw::parse_size)]
    pub size: Option<[u32; 2]>,
    /// How programs are run and what is told of it
    #[command(flatten)]
    pub running: EngineArgs,
}

/// Runs the command.
pub fn run(args: &DrawArgs) -> Outcome {
    let pair = Pair::load(&args.vertex, args.fragment.as_ref().unwrap_or(&args.vertex))?;
    let mut scene = match &args.scene {
        Some(path) => {
            let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
            let folder = path.parent().unwrap_or(std::path::Path::new(""));
            Scene::parse(&text, folder).map_err(|error| Failure::Bad(error.into()))?
        }
        None => Scene::default(),
    };
    scene.size = args.size.or(scene.size);
    if let Some(path) = &args.record {
        let trace = mali::record(&pair, &scene).map_err(Failure::Bad)?;
        std::fs::write(path, trace).with_context(|| format!("cannot write {}", path.display()))?;
    }
    if args.output.is_none() && !args.running.tells() {
        return Ok(());
    }
    let (engine, threads, watching) = args.running.start()?.take();
    let picture = mali::draw(&pair, &scene, engine, threads);
    args.running.finish(watching.as_ref())?;
    let picture = picture.map_err(Failure::Bad)?;
    if let Some(path) = &args.output {
        picture.save(path)?;
    }
    Ok(())
}
