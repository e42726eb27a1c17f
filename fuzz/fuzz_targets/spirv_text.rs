//! The property `spirv_text` of `tests/properties`.
#![no_main]

skrymir_fuzz::target!(spirv_text);
