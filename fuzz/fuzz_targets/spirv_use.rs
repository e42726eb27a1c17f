//! The property `spirv_use` of `tests/properties`.
#![no_main]

skrymir_fuzz::target!(spirv_use);
