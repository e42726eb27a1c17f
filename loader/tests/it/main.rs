//! The formats' tests that need nothing but this crate: one program, a module for each format.
#![allow(missing_docs)]

extern crate skrymir_loader as loader;

mod basics;
#[path = "../../../tests/it/files.rs"]
#[allow(dead_code)] // other tests use the rest
mod common;
mod mbs;
mod sksl;
mod sl;
mod spirv;
mod vbc;
