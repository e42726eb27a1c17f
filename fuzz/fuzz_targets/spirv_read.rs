//! The property `spirv_read` of `tests/properties`.
#![no_main]

skrymir_fuzz::target!(spirv_read);
