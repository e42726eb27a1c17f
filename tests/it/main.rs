//! The integration tests: one program, a folder for each room. `cargo test --test it vbc::` runs a room's.
#![allow(missing_docs)]

mod cli;
mod common;
mod gles;
mod house;
mod mali;
mod mbs;
mod properties;
mod script;
mod sksl;
mod sl;
mod spirv;
mod vbc;
