//! Skrymir for JavaScript: shaders to Mali-400 programs and pictures, and files of every format in the words of the command
//! line.
//!
//! The door itself, in `door.rs`, is there in WebAssembly alone; `types.d.ts` has its types. What it hands on is plain Rust:
//!
//! ```
//! use skrymir_wasm::{Scene, Shaders};
//!
//! # fn main() -> Result<(), skrymir_wasm::Refusal> {
//! let vertex = ("a.vert", "attribute vec4 position; void main() { gl_Position = position; }");
//! let fragment = ("a.frag", "precision mediump float; uniform float red; void main() { gl_FragColor = vec4(red, 0.0, 0.0, 1.0); }");
//! let shaders = Shaders::new(vertex, Some(fragment));
//! let program = shaders.fragment.as_ref().map_err(Clone::clone)?;
//! assert_eq!(program.rows.len(), program.instructions as usize);
//!
//! let mut scene = Scene::new("size = [16, 16]")?;
//! scene.set_uniform("red", &[0.5]);
//! let picture = shaders.draw(&scene)?;
//! assert_eq!(picture.at(8, 8), [128, 0, 0, 255]);
//! let trace = shaders.trace(&scene, (8, 8))?;
//! assert_eq!(trace["pixel"]["fragments"][0]["painted"]["after"][0], 128.0 / 255.0 as f32);
//!
//! // Errors have their place.
//! let wrong = Shaders::new(vertex, Some(("a.frag", "void main() {\n  oops;\n}")));
//! assert_eq!(wrong.fragment.unwrap_err().line, Some(2));
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]

#[cfg(target_family = "wasm")]
mod door;
pub mod files;
mod program;
mod recording;
mod refusal;
mod scene;
mod shaders;
mod watched;

pub use program::{Limit, Listed, Program};
pub use recording::Recording;
pub use refusal::Refusal;
pub use scene::Scene;
pub use shaders::{Inputs, Sampler, Shaders, Uniform, Values};
