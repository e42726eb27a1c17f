//! `skrymir pack`: a VBC from stages.

use crate::error::{Error, Within};
use crate::outcome::{Failure, Outcome, read, read_text, write};
use crate::pack;
use clap::Args;
use loader::vbc::pack::Names;
use loader::vbc::{self, Stage};
use std::path::{Path, PathBuf};
use translate::Source;

/// Arguments of `pack`.
#[derive(Args, Debug)]
pub struct PackArgs {
    /// Vertex stage: WGSL (.wgsl), GLSL, SPIR-V or an SkSL binary
    #[arg(long)]
    pub vert: PathBuf,
    /// Fragment stage
    #[arg(long)]
    pub frag: PathBuf,
    /// Tessellation control stage (SPIR-V)
    #[arg(long, requires = "tese")]
    pub tesc: Option<PathBuf>,
    /// Tessellation evaluation stage (SPIR-V)
    #[arg(long, requires = "tesc")]
    pub tese: Option<PathBuf>,
    /// Geometry stage (SPIR-V)
    #[arg(long)]
    pub geom: Option<PathBuf>,
    /// What the code cannot say: uniform member names, unused inputs, table sizes (TOML)
    #[arg(long)]
    pub names: Option<PathBuf>,
    /// Where to write
    #[arg(short, long)]
    pub output: PathBuf,
}

pub(super) fn run(args: &PackArgs) -> Outcome {
    let names = match &args.names {
        Some(path) => pack::names(&read_text(path)?).within(|| path.display())?,
        None => Names::default(),
    };
    let paths = [
        (Stage::Vert, Some(&args.vert)),
        (Stage::Tesc, args.tesc.as_ref()),
        (Stage::Tese, args.tese.as_ref()),
        (Stage::Geom, args.geom.as_ref()),
        (Stage::Frag, Some(&args.frag)),
    ];
    let mut stages = Vec::new();
    for (stage, path) in paths {
        let Some(path) = path else { continue };
        stages.push((stage, compile(path, stage)?));
    }
    let model = vbc::pack::pack(&stages, &names)?;
    let bytes = vbc::write(&model)?;
    let report = vbc::check(&bytes);
    if let Some(error) = report
        .diagnostics
        .iter()
        .find(|d| d.severity == loader::Severity::Error)
    {
        return Err(Failure::bad(format_args!("what was packed breaks the format: {error}")));
    }
    write(&args.output, bytes)
}

/// The words of one stage; GLSL is what no other language is.
fn compile(path: &Path, stage: Stage) -> Outcome<Vec<u32>> {
    let bytes = read(path)?;
    let name = path.to_string_lossy();
    let source = Source::new(&name, &bytes).or_else(|_| Source::new("stage.glsl", &bytes))?;
    translate::compile(&source, stage).map_err(|error| match error.line_column() {
        Some(_) => Failure::bad(error.render(&bytes, &name)),
        None => Failure::Bad(Error::from(error).within(&name)),
    })
}
