//! The property `vbc_read` of `tests/properties`.
#![no_main]

skrymir_fuzz::target!(vbc_read);
