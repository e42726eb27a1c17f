//! The property `engine_fragments` of `tests/properties`.
#![no_main]

skrymir_fuzz::target!(engine_fragments);
