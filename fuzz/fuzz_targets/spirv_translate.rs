//! The property `spirv_translate` of `tests/properties`.
#![no_main]

skrymir_fuzz::target!(spirv_translate);
