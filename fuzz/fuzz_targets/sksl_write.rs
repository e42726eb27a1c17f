//! The property `sksl_write` of `tests/properties`.
#![no_main]

skrymir_fuzz::target!(sksl_write);
