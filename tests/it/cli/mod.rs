//! The command line as a user types it.

mod exit_codes;
mod verbs;
