//! `skrymir compare`: two pictures.

use crate::error::Cause;
use crate::outcome::{Failure, Outcome, print};
use crate::picture::{Picture, compare};
use clap::Args;
use std::path::PathBuf;

/// Arguments of `compare`.
#[derive(Args, Debug)]
pub struct CompareArgs {
    /// One picture (PNG)
    pub a: PathBuf,
    /// The other
    pub b: PathBuf,
    /// Largest difference of a channel that still counts as equal
    #[arg(long, default_value_t = 0)]
    pub tolerance: u8,
    /// Where to write a picture of the differences
    #[arg(short, long)]
    pub output: Option<PathBuf>,
}

pub(super) fn run(args: &CompareArgs) -> Outcome {
    let (a, b) = (Picture::load(&args.a)?, Picture::load(&args.b)?);
    let found = compare(&a, &b, args.tolerance).map_err(Failure::Bad)?;
    if let Some(path) = &args.output {
        found.diff.save(path)?;
    }
    let share = found.differing as f64 * 100.0 / found.total.max(1) as f64;
    let [x, y] = found.worst_at;
    print(&format!(
        "{}: worst channel difference {} at ({x}, {y}); {} of {} pixels ({share:.3} %) differ by more than {}\n",
        if found.same() { "same" } else { "different" },
        found.worst,
        found.differing,
        found.total,
        args.tolerance,
    ))?;
    if found.same() {
        Ok(())
    } else {
        Err(Failure::Reported(Cause::Bad))
    }
}
