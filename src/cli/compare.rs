//! `skrymir compare`: two pictures, or one shader on every engine.

use super::draw::with_files;
use crate::cli::args::PreprocessArgs;
use crate::cli::cleanup::Limit;
use crate::cli::error::{Cause, Error};
use crate::cli::expect::parse_share;
use crate::cli::log::Waiting;
use crate::cli::outcome::{Failure, Outcome, print};
use crate::cli::picture::save;
use clap::Args;
use runner::engines::{Drawn, Row, Subject, Verdict, blame, judge};
use scene::picture::{Comparison, Picture, compare};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Time limit of all engines together.
const TIMEOUT: std::time::Duration = std::time::Duration::from_secs(900);

/// Arguments of `compare`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  skrymir compare a.png b.png --tolerance 2 --allow 0.5 -o diff.png
  skrymir compare --engines shader.vbc --tolerance 6 --allow 1")]
pub(crate) struct CompareArgs {
    /// One picture (PNG); with --engines a VBC, an SkSL program, WGSL, or a vertex shader or Mali-400 program
    pub a: PathBuf,
    /// The other; with --engines the fragment shader or program, if the first file has none
    #[arg(required_unless_present = "engines")]
    pub b: Option<PathBuf>,
    /// Draw one shader on every engine: the emulator's, and each Vulkan device in every form of the shader
    #[arg(long)]
    pub engines: bool,
    /// Attributes, uniforms, textures and state (TOML or JSON), as for `run` and `draw`
    #[arg(long, value_name = "FILE", requires = "engines")]
    pub scene: Option<PathBuf>,
    /// Size of the picture in pixels [default: 256x256]
    #[arg(long, value_name = "WxH", value_parser = crate::cli::args::parse_size, requires = "engines")]
    pub size: Option<[u32; 2]>,
    /// Settings of front ends
    #[command(flatten)]
    pub preprocess: PreprocessArgs,
    /// Only Vulkan devices whose name contains this text
    #[arg(long, requires = "engines")]
    pub device: Option<String>,
    /// Largest difference of a channel that counts as equal
    #[arg(long, default_value_t = 0)]
    pub tolerance: u8,
    /// Percent of the pixels that may differ by more
    #[arg(long, value_name = "PERCENT", default_value_t = 0.0, value_parser = parse_share)]
    pub allow: f64,
    /// Output file for a picture of the differences; with --engines of the largest one
    #[arg(short, long, value_parser = crate::cli::picture::name())]
    pub output: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

pub(super) fn run(args: &CompareArgs) -> Outcome {
    match &args.b {
        _ if args.engines => engines(args),
        _ if args.preprocess.is_said() => Err(Failure::usage("-D, -I and --constant are for --engines")),
        Some(b) => pictures(args, b),
        None => Err(Failure::usage("two pictures are compared")),
    }
}

fn pictures(args: &CompareArgs, b: &Path) -> Outcome {
    let (a, b) = (Picture::load(&args.a)?, Picture::load(b)?);
    let found = compare(&a, &b, args.tolerance).map_err(|error| Failure::Bad(error.into()))?;
    if let Some(path) = &args.output {
        save(&found.diff, path)?;
    }
    let same = found.share() <= args.allow;
    if args.json {
        let mut value = numbers(&found);
        value["same"] = same.into();
        value["tolerance"] = args.tolerance.into();
        print(&format!("{value:#}\n"))?;
    } else {
        let verdict = if same { "same" } else { "different" };
        print(&format!("{verdict}: {}\n", words(&found, args.tolerance)))?;
    }
    verdict(same)
}

fn verdict(same: bool) -> Outcome {
    same.then_some(()).ok_or(Failure::Reported(Cause::Bad))
}

/// The difference of two pictures as text.
fn words(found: &Comparison, tolerance: u8) -> String {
    let [x, y] = found.worst_at;
    format!(
        "worst channel difference {} at ({x}, {y}); {} of {} pixels ({:.3} %) differ by more than {tolerance}",
        found.worst,
        found.differing,
        found.total,
        found.share(),
    )
}

/// The difference as JSON.
fn numbers(found: &Comparison) -> Value {
    json!({
        "worst": found.worst, "worst_at": found.worst_at, "differing": found.differing, "total": found.total,
        "percent": found.share(),
    })
}

fn engines(args: &CompareArgs) -> Outcome {
    let subject = with_files(&args.a, args.b.as_deref(), &args.preprocess, |first, second| {
        Subject::new(first, second).map_err(|error| Failure::Bad(error.into()))
    })?;
    let mut scene = super::draw::scene(args.scene.as_deref())?;
    scene.size = args.size.or(scene.size);
    // A driver's compiler may take minutes.
    let limit = Limit::start(TIMEOUT, args.a.display().to_string());
    let drawing = Waiting::new("drawing on every engine");
    let rows = subject.draw(&scene, args.device.as_deref());
    drop((drawing, limit));
    let verdicts = judge(&rows, args.tolerance, args.allow);
    if let Some(path) = &args.output {
        save_worst(&verdicts, path)?;
    }
    let drawn = rows.iter().filter(|row| matches!(row.drawn, Drawn::Picture(_))).count();
    let same = drawn > 1 && !verdicts.iter().any(Verdict::is_bad);
    match args.json {
        true => print(&format!("{:#}\n", report(&rows, &verdicts, args, same)))?,
        false => {
            print(&table(&rows, &verdicts, args.tolerance))?;
            let blamed = blame(&rows, &verdicts, args.tolerance, args.allow);
            print(&blamed.into_iter().map(|line| line + "\n").collect::<String>())?;
        }
    }
    if drawn < 2 && !verdicts.iter().any(Verdict::is_bad) {
        let message = format!("{drawn} of {} engines drew it: there is nothing to compare", rows.len());
        return Err(Failure::Bad(Error::input(message)));
    }
    verdict(same)
}

/// Saves the difference picture of the row with the largest difference.
fn save_worst(verdicts: &[Verdict], path: &Path) -> Outcome {
    let found = verdicts.iter().filter_map(|verdict| match verdict {
        Verdict::Same(found) | Verdict::Within(found) | Verdict::Differs(found) | Verdict::Precision(found) => {
            Some(found)
        }
        _ => None,
    });
    match found.max_by_key(|found| (found.differing, found.worst)) {
        Some(found) => Ok(save(&found.diff, path)?),
        None => Err(Failure::usage("-o: there are no two pictures that could differ")),
    }
}

fn table(rows: &[Row], verdicts: &[Verdict], tolerance: u8) -> String {
    let width = rows.iter().map(|row| row.engine.chars().count()).max().unwrap_or(0);
    let lines = rows.iter().zip(verdicts).map(|(row, verdict)| {
        let text = match verdict {
            Verdict::Reference => "the reference".to_owned(),
            Verdict::Same(_) => "same".to_owned(),
            Verdict::Within(found) => format!("within: {}", words(found, tolerance)),
            Verdict::Differs(found) => format!("differs: {}", words(found, tolerance)),
            Verdict::Precision(found) => format!("half precision: {}", words(found, tolerance)),
            Verdict::Refused(why) => format!("refused: {}", first_line(why)),
            Verdict::Failed(why) => format!("failed: {}", first_line(why)),
        };
        let time = row.time.as_secs_f64() * 1e3;
        format!("{:width$}  {time:9.1} ms  {text}\n", row.engine)
    });
    lines.collect()
}

fn first_line(text: &str) -> &str {
    text.trim().lines().next().unwrap_or_default()
}

fn report(rows: &[Row], verdicts: &[Verdict], args: &CompareArgs, same: bool) -> Value {
    let blame = blame(rows, verdicts, args.tolerance, args.allow);
    let rows = rows.iter().zip(verdicts).map(|(row, verdict)| {
        let (name, more) = match verdict {
            Verdict::Reference => ("reference", json!({})),
            Verdict::Same(_) => ("same", json!({})),
            Verdict::Within(found) => ("within", numbers(found)),
            Verdict::Differs(found) => ("differs", numbers(found)),
            Verdict::Precision(found) => ("half-precision", numbers(found)),
            Verdict::Refused(why) => ("refused", json!({ "reason": why })),
            Verdict::Failed(why) => ("failed", json!({ "reason": why })),
        };
        let mut value = json!({
            "engine": row.engine, "verdict": name, "milliseconds": row.time.as_secs_f64() * 1e3, "exact": row.exact,
        });
        if let (Value::Object(value), Value::Object(more)) = (&mut value, more) {
            value.extend(more);
        }
        value
    });
    json!({
        "same": same, "tolerance": args.tolerance, "allowed_percent": args.allow, "engines": rows.collect::<Vec<_>>(),
        "blame": blame,
    })
}
