//! The property `mbs_use` of `tests/properties`.
#![no_main]

skrymir_fuzz::target!(mbs_use);
