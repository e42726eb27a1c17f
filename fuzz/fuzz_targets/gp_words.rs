//! The property `gp_words` of `tests/properties`.
#![no_main]

skrymir_fuzz::target!(gp_words);
