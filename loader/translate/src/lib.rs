//! Translates shaders between languages, by way of [naga]'s intermediate representation and SPIR-V.
//!
//! All of Skrymir's code that uses naga, glslang and SPIRV-Cross is here:
//!
//! * [`read`] makes a [`Shader`] from WGSL, GLSL, SPIR-V, a stage of a VBC file or an SkSL program: a module that
//!   naga's validator accepts, with the requested entry point. A [`Source`] describes the input.
//! * [`translate`] translates any source to WGSL, GLSL, MSL, HLSL or SPIR-V, and checks the result. All text except
//!   WGSL is generated from SPIR-V by SPIRV-Cross.
//! * [`write()`] writes a [`Shader`] with naga's writers, unchecked.
//! * [`compile`] makes the SPIR-V of one stage of a VBC.
//! * [`sksl`] translates SkSL trees.
//! * [`validate`] runs third-party validators (naga, rspirv, spirv-val) on a SPIR-V module.
//!
//! A panic inside naga is caught and reported as [`ErrorKind::Panicked`]; on Linux also a crash of glslang, SPIRV-Cross or
//! naga, as [`ErrorKind::Crashed`]: the first call installs handlers for SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT, which
//! hand everything else on to those before them.
//!
//! WGSL to Metal and to a VBC's SPIR-V, and an error in a text:
//!
//! ```
//! # use loader as skrymir_loader;
//! use skrymir_translate::{self as translate, Options, Source, Target};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let text = "@fragment fn fs() -> @location(0) vec4<f32> { return vec4<f32>(1.0); }";
//! let shader = translate::read(&Source::new("white.wgsl", text.as_bytes())?)?;
//! assert_eq!(shader.entry_point().name, "fs");
//! let metal = String::from_utf8(translate::write(&shader, Target::Msl, &Options::default())?)?;
//! assert!(metal.contains("fragment fsOutput fs("), "{metal}");
//! let words = translate::compile(&Source::new("white.wgsl", text.as_bytes())?, skrymir_loader::vbc::Stage::Frag)?;
//! assert!(skrymir_loader::spirv::print(&words)?.contains("OpEntryPoint Fragment"));
//!
//! let wrong = translate::read(&Source::new("bad.wgsl", b"fn f() -> f32 {\n  return x;\n}")?).unwrap_err();
//! assert_eq!(wrong.line_column(), Some((2, 10)));
//! # Ok(())
//! # }
//! ```
//!
//! An SkSL effect (Skia's binary, version 11) as GLSL, and as a VBC that draws it over the whole picture:
//!
//! ```
//! # use loader as skrymir_loader;
//! use skrymir_loader::sksl::{self, Builder, Command, ProgramKind, Statement};
//! use skrymir_translate as translate;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let mut b = Builder::new(ProgramKind::RUNTIME_SHADER);
//! # let tint = b.uniform("half4", "tint");
//! # let at = b.parameter("float2", "p", 10009);
//! # let main = b.function("half4", "main", &[at]);
//! # let tint = b.read(tint);
//! # let value = b.statement(Statement::Return(Some(tint)));
//! # let bytes = sksl::write(&b.define(main, &[value]).finish())?;
//! // uniform half4 tint; half4 main(float2 p) { return tint; }
//! let tree = sksl::read(&bytes)?;
//! let shader = translate::read(&translate::Source::new("effect.sksl.bin", &bytes)?)?;
//! let glsl = translate::write(&shader, translate::Target::Glsl, &translate::Options::default())?;
//! assert!(String::from_utf8(glsl)?.contains("vec4 tint"));
//!
//! let vbc = translate::sksl::to_vbc(&tree)?;
//! let file = skrymir_loader::vbc::read(&vbc)?;
//! let uniform = skrymir_loader::reflect::reflect(&file).uniform.expect("a uniform");
//! assert_eq!(uniform.members[0].name, "tint");
//! # Ok(())
//! # }
//! ```
#![deny(unsafe_code)]

#[cfg(all(test, target_family = "wasm"))]
#[macro_use]
extern crate wasm_test;

mod adjust;
mod checker;
mod combined;
mod compile;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
#[allow(unsafe_code)]
mod crash;
mod cross;
mod error;
mod front;
pub mod frontend;
mod fullscreen;
mod guard;
mod language;
mod marks;
mod nesting;
mod place;
mod read;
pub mod sksl;
pub mod structs;
mod translation;
pub mod validate;
mod write;

pub use adjust::{Adjust, Depth};
pub use checker::Check;
pub use compile::compile;
pub use error::{Error, ErrorKind, File, Result};
pub use front::{Shader, validated};
pub use fullscreen::fullscreen;
pub use language::{Language, Target};
pub use naga;
pub use naga::ShaderStage;
pub use place::{At, Place, Way};
pub use read::{Places, Source, read, read_open, stages, words};
pub use translation::{Translation, translate, translate_shader};
pub use write::{Options, to_spirv, write};
