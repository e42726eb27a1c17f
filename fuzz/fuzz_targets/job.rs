//! The property `job` of `tests/properties`.
#![no_main]

skrymir_fuzz::target!(job);
