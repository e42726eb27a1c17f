//! The property `sl_read` of `tests/properties`.
#![no_main]

skrymir_fuzz::target!(sl_read);
