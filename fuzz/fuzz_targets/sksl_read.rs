//! The property `sksl_read` of `tests/properties`.
#![no_main]

skrymir_fuzz::target!(sksl_read);
