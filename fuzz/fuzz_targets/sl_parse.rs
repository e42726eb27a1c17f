//! The property `sl_parse` of `tests/properties`.
#![no_main]

skrymir_fuzz::target!(sl_parse);
