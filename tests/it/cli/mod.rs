//! The command line as a user types it.

mod ending;
mod exit_codes;
mod verbs;
