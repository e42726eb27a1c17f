//! Shaders from one language into another, by way of [naga]'s intermediate representation.
//!
//! Everything in Skrymir that talks to naga is here:
//!
//! * [`read`] is the way in: WGSL, GLSL, SPIR-V, a stage of a VBC file or an SkSL program become a [`Shader`], a module
//!   that naga's validator has accepted, with the entry point that was asked for. A [`Source`] says what is read.
//! * [`write`] is the way out: WGSL, GLSL, MSL, HLSL or SPIR-V.
//! * [`compile`] makes the SPIR-V of one stage of a VBC.
//! * [`sksl`] translates SkSL trees.
//! * [`validate`] asks validators that are not ours (naga, rspirv, spirv-val) what they think of a SPIR-V module.
//!
//! naga is not ours, and a panic inside it is caught and reported as an [`ErrorKind::Panicked`].
//!
//! ```
//! use skrymir_translate::{self as translate, Source};
//!
//! let text = "@fragment fn fs() -> @location(0) vec4<f32> { return vec4<f32>(1.0); }";
//! let shader = translate::read(&Source::new("red.wgsl", text.as_bytes())?)?;
//! assert_eq!(shader.entry_point().name, "fs");
//!
//! let wrong = translate::read(&Source::new("bad.wgsl", b"fn f() -> f32 {\n  return x;\n}")?).unwrap_err();
//! assert_eq!(wrong.line_column(), Some((2, 10)));
//! # Ok::<(), translate::Error>(())
//! ```
#![forbid(unsafe_code)]

#[cfg(all(test, target_family = "wasm"))]
#[macro_use]
extern crate wasm_test;

mod combined;
mod compile;
mod error;
mod front;
mod fullscreen;
mod guard;
mod language;
mod marks;
mod read;
pub mod sksl;
pub mod validate;
mod write;

pub use compile::compile;
pub use error::{Error, ErrorKind, Result};
pub use front::{Shader, validated};
pub use fullscreen::fullscreen;
pub use language::{Language, Target};
pub use naga;
pub use naga::ShaderStage;
pub use read::{Source, read, stages, words};
pub use write::{Options, to_spirv, write};
