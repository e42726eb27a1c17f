//! The property `sl_text` of `tests/properties`.
#![no_main]

skrymir_fuzz::target!(sl_text);
