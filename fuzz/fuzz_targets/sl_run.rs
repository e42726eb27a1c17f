//! The property `sl_run` of `tests/properties`.
#![no_main]

skrymir_fuzz::target!(sl_run);
