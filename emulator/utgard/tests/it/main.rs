//! Programs as words, text and files, beside the driver's listings: one program, a module for each area.
#![allow(missing_docs)]

extern crate skrymir_utgard as utgard;

#[path = "../../../../tests/it/files.rs"]
#[allow(dead_code)] // other tests use the rest
mod common;
mod mbs;
mod meaning;
mod parse;
mod random;
mod text;
mod verify;
