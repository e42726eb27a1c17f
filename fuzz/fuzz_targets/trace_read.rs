//! The property `trace_read` of `tests/properties`.
#![no_main]

skrymir_fuzz::target!(trace_read);
