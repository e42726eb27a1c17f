//! The property `mbs_assemble` of `tests/properties`.
#![no_main]

skrymir_fuzz::target!(mbs_assemble);
