//! Skrymir loads compiled shaders and runs them, with or without the GPU they were compiled for.
//!
//! This crate is the facade: [`loader`] reads and writes the formats, [`vulkan`] runs VBC on a Vulkan device and [`scene`]
//! makes pictures of it. The feature `mali` adds the Mali-400's compiler and emulator, `translate` the other shader
//! languages, and `cli`, the default, all of them, [`runner`] and the command line. For VBC alone use
//! `default-features = false`.
//!
//! ```
//! use skrymir::loader::{reflect::reflect, vbc};
//!
//! # fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
//! // A triangle with a colour at each corner, as VBC.
//! let bytes = skrymir::sample::triangle()?;
//! let file = vbc::read(&bytes)?;
//! assert!(vbc::validate(&file).diagnostics.is_empty());
//! let vertex = reflect(&file).vertex;
//! assert_eq!((vertex.stride, vertex.attributes.len()), (20, 2));
//!
//! // On a Vulkan device, without a scene: as `skrymir run` draws it.
//! let context = skrymir::vulkan::Context::new(&skrymir::vulkan::Options::default())?;
//! let drawn = skrymir::harness::draw(&context, &bytes, &skrymir::scene::Scene::default())?;
//! assert_eq!(drawn.frame.targets.len(), 1);
//! # Ok(())
//! # }
//! ```

#[cfg(feature = "cli")]
mod cli;
#[cfg(feature = "cli")]
pub mod command;

#[cfg(feature = "mali")]
pub use compiler;
#[cfg(feature = "mali")]
pub use emulator;
#[cfg(all(feature = "cli", target_os = "linux"))]
pub use gles;
pub use loader;
#[cfg(feature = "cli")]
pub use runner;
#[cfg(feature = "cli")]
pub use s0;
pub use scene::{self, harness, picture, sample, watch};
#[cfg(all(feature = "mali", target_os = "linux"))]
pub use shim;
#[cfg(feature = "translate")]
pub use translate;
pub use vulkan;
