//! The property `pp_words` of `tests/properties`.
#![no_main]

skrymir_fuzz::target!(pp_words);
