//! Comparison of a picture with the expected one.

use crate::cli::outcome::{Failure, Outcome};
use crate::cli::picture::save;
use clap::Args;
use scene::picture::{Picture, compare};
use std::path::{Path, PathBuf};

/// The expected picture, and the tolerance.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct ExpectArgs {
    /// Exit with 1 unless the picture is this one
    #[arg(long, value_name = "PNG")]
    pub expect: Option<PathBuf>,
    /// Largest difference of a channel that still counts as equal
    #[arg(long, value_name = "N", default_value_t = 0, requires = "expect")]
    pub tolerance: u8,
    /// Percent of the pixels that may differ by more
    #[arg(long, value_name = "PERCENT", default_value_t = 0.0, value_parser = parse_share, requires = "expect")]
    pub allow: f64,
    /// Where to write the differences from the expected picture [default: beside the output, or in this folder, .diff.png]
    #[arg(long, value_name = "PNG", requires = "expect", value_parser = crate::cli::picture::name())]
    pub diff: Option<PathBuf>,
}

/// A share of pixels in percent.
///
/// # Errors
/// When it is not a percentage.
pub(crate) fn parse_share(text: &str) -> Result<f64, String> {
    let share = text.trim_end_matches('%').parse().ok();
    let fits = share.filter(|share: &f64| (0.0..=100.0).contains(share));
    fits.ok_or_else(|| "a share is a number of percent from 0 to 100, such as 0.5".into())
}

impl ExpectArgs {
    /// Whether an expected picture is given.
    pub(crate) fn is_given(&self) -> bool {
        self.expect.is_some()
    }

    /// Compares a picture with the expected one. If they differ, a picture of the differences is written beside `output`, in the
    /// working folder, or to the file of the arguments.
    ///
    /// # Errors
    /// Bad when they differ or are of different sizes, trouble when a file cannot be read or written.
    pub(crate) fn hold(&self, have: &Picture, output: Option<&Path>) -> Outcome {
        let Some(path) = &self.expect else { return Ok(()) };
        let wanted = Picture::load(path)?;
        let found = compare(&wanted, have, self.tolerance).map_err(|error| Failure::Bad(error.into()).in_file(path))?;
        if found.share() <= self.allow {
            return Ok(());
        }
        // Without an output, in the working folder: the expected picture's may be anywhere.
        let here = Path::new(path.file_name().unwrap_or_default());
        let beside = output.filter(|output| *output != Path::new("-")).unwrap_or(here);
        let diff = self.diff.clone().unwrap_or_else(|| beside.with_extension("diff.png"));
        save(&found.diff, &diff)?;
        Err(Failure::bad(format_args!(
            "the picture is not {}: {} of {} pixels ({:.3} %) differ by more than {}, the worst by {}; see {}",
            path.display(),
            found.differing,
            found.total,
            found.share(),
            self.tolerance,
            found.worst,
            diff.display()
        )))
    }
}
