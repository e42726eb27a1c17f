//! The property `vbc_use` of `tests/properties`.
#![no_main]

skrymir_fuzz::target!(vbc_use);
