//! `skrymir pack`: a VBC from stages.

use crate::args::{Entry, PreprocessArgs};
use crate::error::Within;
use crate::link::{self, File};
use crate::on_change::run_on_change;
use crate::outcome::{Outcome, read, read_text, write};
use crate::pack;
use clap::Args;
use compiler::glsl_es::vulkan::Linked;
use loader::vbc::Stage;
use loader::vbc::pack::Names;
use std::path::PathBuf;

/// Arguments of `pack`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  skrymir pack --vert a.wgsl --frag a.wgsl -o a.vbc
  skrymir pack --vert lit.vert --frag lit.frag --names names.toml -o lit.vbc --watch")]
pub struct PackArgs {
    /// Vertex stage: WGSL (.wgsl), GLSL, GLSL ES, HLSL (.hlsl), SPIR-V or an SkSL binary
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
    /// What the code lacks: uniform member names, unused inputs, table sizes (TOML)
    #[arg(long)]
    pub names: Option<PathBuf>,
    /// The entry point, if a file has several of a stage; `vert=NAME` and so on for one stage
    #[arg(long, value_name = "[STAGE=]NAME", value_parser = Entry::parse)]
    pub entry: Vec<Entry>,
    /// What sources are compiled with
    #[command(flatten)]
    pub preprocess: PreprocessArgs,
    /// Output file
    #[arg(short, long)]
    pub output: PathBuf,
    /// Pack again whenever a stage or the names change
    #[arg(long)]
    pub watch: bool,
}

pub(super) fn run(args: &PackArgs) -> Outcome {
    if !args.watch {
        return packed(args);
    }
    let more = [&args.tesc, &args.tese, &args.geom, &args.names];
    let mut files = vec![args.vert.as_path(), &args.frag];
    files.extend(more.into_iter().flatten().map(PathBuf::as_path));
    run_on_change(&files, || packed(args))
}

fn packed(args: &PackArgs) -> Outcome {
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
    let mut files = Vec::new();
    for (stage, path) in paths {
        if let Some(path) = path {
            files.push((stage, path, read(path)?));
        }
    }
    let (mut stages, mut linked) = (Vec::new(), Linked::default());
    let entries = args.entry.as_slice();
    let texts = files.iter().map(|(_, path, bytes)| (path.as_path(), bytes.as_slice()));
    let settings = &args.preprocess.settings(texts)?;
    let sources = files.iter().map(|(stage, path, bytes)| {
        let file = File {
            path,
            bytes,
            entries,
            settings,
        };
        (*stage, file)
    });
    for (stage, file) in sources.clone() {
        link::note(&file, stage, &mut linked)?;
    }
    let of = |wanted| {
        sources
            .clone()
            .find(|(stage, _)| *stage == wanted)
            .map(|(_, file)| file)
    };
    if let (Some(vertex), Some(fragment)) = (of(Stage::Vert), of(Stage::Frag)) {
        link::linked(&vertex, &fragment)?;
    }
    for (stage, file) in sources.clone() {
        stages.push((stage, link::stage(&file, stage, &mut linked)?));
    }
    let sources: Vec<(Stage, File<'_>)> = sources.collect();
    let made = link::file(&stages, &names, &sources)?;
    made.notes
        .iter()
        .for_each(|note| crate::log::note(format_args!("{note}")));
    write(&args.output, link::checked(made.bytes)?)
}
