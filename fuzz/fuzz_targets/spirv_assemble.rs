//! The property `spirv_assemble` of `tests/properties`.
#![no_main]

skrymir_fuzz::target!(spirv_assemble);
