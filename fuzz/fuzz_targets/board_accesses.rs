//! The property `board_accesses` of `tests/properties`.
#![no_main]

skrymir_fuzz::target!(board_accesses);
