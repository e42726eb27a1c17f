//! The property `vbc_write` of `tests/properties`.
#![no_main]

skrymir_fuzz::target!(vbc_write);
