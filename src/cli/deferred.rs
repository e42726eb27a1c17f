//! Arguments that clap builds when their verb is given: building those of all verbs takes most of clap's time.

use clap::builder::Resettable;
use clap::error::Error;
use clap::{ArgMatches, Args, Command, FromArgMatches};
use std::ops::Deref;

/// Arguments of a verb; [`Command::build`] builds those of all verbs.
#[derive(Debug)]
pub(crate) struct Deferred<T>(pub T);

impl<T> Deref for Deferred<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: FromArgMatches> FromArgMatches for Deferred<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        T::from_arg_matches(matches).map(Self)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        self.0.update_from_arg_matches(matches)
    }
}

impl<T: Args> Args for Deferred<T> {
    fn augment_args(command: Command) -> Command {
        command.defer(|command| {
            // The description of the verb, not that of its arguments' type.
            let (about, long_about) = (command.get_about().cloned(), command.get_long_about().cloned());
            T::augment_args(command)
                .about(Resettable::from(about))
                .long_about(Resettable::from(long_about))
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        T::augment_args_for_update(command)
    }
}
