//! The property `board_trace` of `tests/properties`.
#![no_main]

skrymir_fuzz::target!(board_trace);
