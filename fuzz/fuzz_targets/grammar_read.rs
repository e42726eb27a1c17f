//! The property `grammar_read` of `tests/properties`.
#![no_main]

skrymir_fuzz::target!(grammar_read);
