//! The property `compile_text` of `tests/properties`.
#![no_main]

skrymir_fuzz::target!(compile_text);
