//! The property `engine_vertices` of `tests/properties`.
#![no_main]

skrymir_fuzz::target!(engine_vertices);
