//! Engines by the names the command line has for them.

use crate::outcome::{Failure, Outcome};
use emulator::exec::Engine;
use emulator::exec::native::Native;
use emulator::exec::scalar::Scalar;
use emulator::exec::wide::Wide;

/// Which engine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum EngineName {
    /// One at a time, the specification
    Scalar,
    /// Many at a time
    Wide,
    /// Many at a time, in code made for this processor; wide where that cannot be
    #[default]
    Native,
    /// A Vulkan device, for pairs only: the programs are lifted to SPIR-V
    Vulkan,
}

impl EngineName {
    /// The engine; Vulkan is none of the emulator's.
    pub fn engine(self) -> Option<Box<dyn Engine>> {
        Some(match self {
            Self::Scalar => Box::new(Scalar),
            Self::Wide => Box::new(Wide::default()),
            Self::Native => Box::new(Native::default()),
            Self::Vulkan => return None,
        })
    }
}

impl EngineName {
    /// Whether it runs recorded jobs.
    ///
    /// # Errors
    /// Trouble for Vulkan, which draws pairs.
    pub fn of_jobs(self) -> Outcome {
        match self {
            Self::Vulkan => Err(Failure::usage(
                "--engine vulkan draws pairs; jobs run on scalar, wide or native",
            )),
            _ => Ok(()),
        }
    }
}

/// The plain engine.
pub fn plain() -> Box<dyn Engine> {
    Box::new(Scalar)
}

/// Threads when nobody says how many.
pub fn default_threads() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}
