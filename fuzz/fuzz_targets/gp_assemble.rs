//! The property `gp_assemble` of `tests/properties`.
#![no_main]

skrymir_fuzz::target!(gp_assemble);
