//! The property `sksl_use` of `tests/properties`.
#![no_main]

skrymir_fuzz::target!(sksl_use);
