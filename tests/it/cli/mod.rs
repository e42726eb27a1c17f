//! The command line.

mod board;
mod commands;
mod dap;
mod depth;
mod ending;
mod every_engine;
mod exit_codes;
mod flags;
mod inside;
pub(crate) mod json;
mod languages;
pub(crate) mod pairs;
mod recordings;
mod shadow;
mod sources;
mod stencil;
mod uniforms;
mod verbs;
mod view;
mod vscode;
