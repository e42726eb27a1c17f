//! Engines by the names the command line has for them.

use crate::cli::outcome::{Failure, Outcome};
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use emulator::exec::Engine;
use emulator::exec::configured::with_quirks;
use emulator::exec::native::Native;
use emulator::exec::scalar::Scalar;
use emulator::exec::wide::Wide;
use emulator::silicon::{Silicon, Switch};

/// Which engine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum EngineName {
    /// One lane at a time; the specification
    Scalar,
    /// Many lanes at a time
    Wide,
    /// Many lanes at a time, in machine code for this processor; the wide engine if there is none
    #[default]
    Native,
    /// A Vulkan device, for pairs only: the programs are lifted to SPIR-V
    Vulkan,
}

impl EngineName {
    /// The engine; none for Vulkan, which the emulator does not run.
    pub(crate) fn engine(self) -> Option<Box<dyn Engine>> {
        Some(match self {
            Self::Scalar => Box::new(Scalar),
            Self::Wide => Box::new(Wide::default()),
            Self::Native => Box::new(Native::default()),
            Self::Vulkan => return None,
        })
    }

    /// The engine for short-lived programs: the native engine compiles later.
    #[cfg(target_os = "linux")]
    pub(crate) fn patient(self) -> Option<Box<dyn Engine>> {
        match self {
            Self::Native => Some(Box::new(Native::default().patient())),
            other => other.engine(),
        }
    }
}

impl EngineName {
    /// Whether it runs recorded jobs.
    ///
    /// # Errors
    /// Trouble for Vulkan, which draws pairs.
    pub(crate) fn of_jobs(self) -> Outcome {
        match self {
            Self::Vulkan => Err(Failure::usage(
                "--engine vulkan draws pairs; jobs run on scalar, wide or native",
            )),
            _ => Ok(()),
        }
    }
}

/// Hypotheses about hardware.
#[derive(Args, Clone, Debug)]
pub(crate) struct SiliconArgs {
    /// Use a hypothesis about unknown hardware behaviour (docs/spec/open-questions.md); several with commas. If it
    /// changes the results of programs, they run on the scalar engine
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = switches())]
    silicon: Vec<Switch>,
}

/// Names and descriptions of switches.
fn switches() -> impl TypedValueParser<Value = Switch> {
    let value = |switch: &Switch| PossibleValue::new(switch.name()).help(switch.what());
    PossibleValuesParser::new(Switch::ALL.iter().map(value)).try_map(|name| name.parse::<Switch>())
}

impl SiliconArgs {
    /// The hardware.
    pub(crate) fn silicon(&self) -> Silicon {
        Silicon::from_switches(&self.silicon)
    }

    /// An engine on it.
    pub(crate) fn around(&self, engine: Box<dyn Engine>) -> Box<dyn Engine> {
        with_quirks(engine, self.silicon())
    }
}

/// The scalar engine.
pub(crate) fn plain() -> Box<dyn Engine> {
    Box::new(Scalar)
}

/// Default number of threads: one per processor.
pub(crate) fn default_threads() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}
