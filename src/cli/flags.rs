//! Flags that a format does not take are mistakes, never ignored.

use crate::cli::formats::{self, Format, Verb};
use crate::cli::outcome::{Failure, Outcome};
use clap::ArgMatches;
use clap::parser::ValueSource;

/// The flags of a verb that stand on the command line, as typed behind `--`.
pub(crate) fn typed(cli: &clap::Command, matches: &ArgMatches, verb: &str) -> Vec<String> {
    let (Some(command), Some(matches)) = (cli.find_subcommand(verb), matches.subcommand_matches(verb)) else {
        return Vec::new();
    };
    let typed = command.get_arguments().filter(|argument| {
        let id = argument.get_id().as_str();
        matches.value_source(id) == Some(ValueSource::CommandLine)
    });
    let names = typed.filter_map(|argument| argument.get_long());
    names.map(str::to_owned).collect()
}

/// The flags a command line has that some formats take and others do not.
#[derive(Clone, Debug, Default)]
pub(crate) struct Given {
    verb: Verb,
    /// Their names, as typed behind `--`.
    flags: Vec<String>,
}

impl Given {
    /// The flags of a verb that stand on the command line. A flag that no format claims belongs to the verb itself.
    pub(crate) fn new(cli: &clap::Command, matches: &ArgMatches, verb: Verb) -> Self {
        let of_formats = |name: &String| {
            formats::ALL
                .iter()
                .any(|format| format.flags(verb).contains(&name.as_str()))
        };
        let flags = typed(cli, matches, verb.name())
            .into_iter()
            .filter(of_formats)
            .collect();
        Self { verb, flags }
    }

    /// Whether a format takes all of them.
    ///
    /// # Errors
    /// Trouble, naming the flag and the formats that take it.
    pub(crate) fn fits(&self, format: &dyn Format) -> Outcome {
        self.fits_any(&[format])
    }

    /// Whether each is taken by one of these formats.
    ///
    /// # Errors
    /// As [`Given::fits`].
    pub(crate) fn fits_any(&self, files: &[&dyn Format]) -> Outcome {
        let takes = |format: &dyn Format, flag: &str| format.flags(self.verb).contains(&flag);
        let stray = |flag: &&String| !files.iter().any(|format| takes(*format, flag));
        match self.flags.iter().find(stray) {
            None => Ok(()),
            Some(flag) => Err(self.refuse(flag, files.first().map_or("this file", |format| format.name()))),
        }
    }

    /// Whether all of them are among those that a device takes.
    ///
    /// # Errors
    /// Trouble, naming the flag.
    pub(crate) fn fits_device(&self, device: &str, taken: &[&str]) -> Outcome {
        match self.flags.iter().find(|flag| !taken.contains(&flag.as_str())) {
            None => Ok(()),
            Some(flag) => Err(Failure::usage(format_args!(
                "--{flag} means nothing on the device {device}"
            ))),
        }
    }

    fn refuse(&self, flag: &str, what: &str) -> Failure {
        let all = formats::ALL
            .iter()
            .filter(|format| format.flags(self.verb).contains(&flag));
        let names: Vec<&str> = all.map(|format| format.name()).collect();
        let verb = self.verb.name();
        Failure::usage(format!(
            "{verb} --{flag} means nothing for {what}; it is for {}",
            names.join(", ")
        ))
    }
}
