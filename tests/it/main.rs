//! The integration tests: one program, a module for each area. `cargo test --test it vbc::` runs one area's.
#![allow(missing_docs)]

mod cli;
mod common;
#[allow(dead_code)] // the tests of crates use the rest
mod files;
mod gles;
mod house;
mod mali;
mod page;
mod properties;
mod script;
mod sksl;
mod sl;
mod spirv;
mod vbc;
