//! The property `mbs_text` of `tests/properties`.
#![no_main]

skrymir_fuzz::target!(mbs_text);
