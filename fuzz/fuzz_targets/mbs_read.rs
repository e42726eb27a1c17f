//! The property `mbs_read` of `tests/properties`.
#![no_main]

skrymir_fuzz::target!(mbs_read);
