//! The property `pp_assemble` of `tests/properties`.
#![no_main]

skrymir_fuzz::target!(pp_assemble);
