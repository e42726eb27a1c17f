//! `skrymir pack`: a VBC from stages.

use crate::cli::args::PreprocessArgs;
use crate::cli::error::{Error, Result, Within};
use crate::cli::outcome::{Outcome, apart, print_json, read, read_text, write};
use crate::cli::watch::run_on_change;
use clap::Args;
use compiler::glsl_es::vulkan::Linked;
use loader::vbc::pack::Names;
use loader::vbc::{BaseType, Stage, Tables, Variable};
use runner::link::{self, Entry, File};
use serde::Deserialize;
use serde_json::json;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Arguments of `pack`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  skrymir pack --vert a.wgsl --frag a.wgsl -o a.vbc
  skrymir pack --vert lit.vert --frag lit.frag --names names.toml -o lit.vbc --watch")]
pub(crate) struct PackArgs {
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
    /// Settings of front ends
    #[command(flatten)]
    pub preprocess: PreprocessArgs,
    /// Output file
    #[arg(short, long)]
    pub output: PathBuf,
    /// Pack again whenever a stage or the names change
    #[arg(long, conflicts_with = "json")]
    pub watch: bool,
    /// Print what was written as JSON (`skrymir schema pack`)
    #[arg(long)]
    pub json: bool,
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
    apart(args.json, Some(&args.output))?;
    let names = match &args.names {
        Some(path) => names(&read_text(path)?).within(|| path.display())?,
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
        link::note_interface(&file, stage, &mut linked)?;
    }
    let of = |wanted| {
        sources
            .clone()
            .find(|(stage, _)| *stage == wanted)
            .map(|(_, file)| file)
    };
    if let (Some(vertex), Some(fragment)) = (of(Stage::Vert), of(Stage::Frag)) {
        link::check_interfaces(&vertex, &fragment)?;
    }
    for (stage, file) in sources.clone() {
        stages.push((stage, link::stage(&file, stage, &mut linked)?));
    }
    let sources: Vec<(Stage, File<'_>)> = sources.collect();
    let made = link::link_stages(&stages, &names, &sources)?;
    made.notes
        .iter()
        .for_each(|note| crate::cli::log::note(format_args!("{note}")));
    let bytes = link::check(made.bytes)?;
    write(&args.output, &bytes)?;
    if !args.json {
        return Ok(());
    }
    let stages: Vec<String> = stages.iter().map(|(stage, _)| stage.to_string()).collect();
    print_json(&json!({
        "output": args.output.to_string_lossy(),
        "bytes": bytes.len(),
        "stages": stages,
        "notes": made.notes,
    }))
}

/// The keys of a names file (TOML):
///
/// ```toml
/// uniform = ["mvp", "tint"]                  # names of the uniform's members, in order
/// tables = { samplers = 16 }                 # table sizes
/// [unused-inputs]                            # inputs the code does not read: location = type, columns x rows
/// 3 = "float2"
/// 4 = "float4x4"
/// 8 = "int[3]"
/// ```
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
struct NamesFile {
    uniform: Vec<String>,
    tables: BTreeMap<String, u16>,
    unused_inputs: BTreeMap<String, String>,
}

/// Reads a names file.
///
/// # Errors
/// Syntax, unknown keys and types.
fn names(text: &str) -> Result<Names> {
    let file: NamesFile = toml::from_str(text)?;
    let mut sizes = Tables::default().sizes();
    for (name, size) in &file.tables {
        let table = Tables::NAMES.iter().position(|known| known == name);
        let table = table.ok_or_else(|| {
            Error::usage(format_args!(
                "no table \"{name}\"; there are {}",
                Tables::NAMES.join(", ")
            ))
        })?;
        sizes[table] = *size;
    }
    let unused = file.unused_inputs.iter().map(|(location, ty)| {
        let location = location
            .parse()
            .map_err(|_| Error::usage(format_args!("\"{location}\" is no location")))?;
        variable(location, ty).ok_or_else(|| Error::usage(format_args!("\"{ty}\" is no type of vertex inputs")))
    });
    let unused_inputs = unused.collect::<Result<_>>()?;
    Ok(Names {
        uniform: file.uniform,
        unused_inputs,
        tables: Tables::from_sizes(sizes),
    })
}

/// A vertex input by the name of its type in VSL.
fn variable(location: u8, ty: &str) -> Option<Variable> {
    let (ty, array) = match ty.split_once('[') {
        Some((ty, count)) => (ty, count.strip_suffix(']')?.parse().ok()?),
        None => (ty, 1),
    };
    let split = ty.find(|c: char| c.is_ascii_digit()).unwrap_or(ty.len());
    let base = BaseType::from_name(&ty[..split]).filter(|base| base.is_numeric())?;
    let dims = match ty[split..].split_once('x') {
        Some((columns, rows)) => [rows.parse().ok()?, columns.parse().ok()?],
        None if split == ty.len() => [1, 1],
        None => [ty[split..].parse().ok()?, 1],
    };
    Some(Variable {
        location,
        base,
        dims,
        array,
    })
}
