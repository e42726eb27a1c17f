//! Skrymir loads compiled shaders and runs them, with or without the GPU they were made for.
//!
//! This crate is the facade: [`loader`] reads and writes the formats, [`vulkan`] runs VBC on a Vulkan device and [`scene`]
//! makes pictures of it. With the feature `mali` there are the Mali-400's compiler and emulator, with `translate` the other
//! shader languages; `cli`, the default, has both, and the command line tool. For VBC
//! alone use `default-features = false`.
//!
//! ```
//! use skrymir::loader::{reflect::reflect, vbc};
//!
//! # fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
//! // A triangle with a colour at each corner, as VBC has it.
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
pub mod amber;
#[cfg(feature = "cli")]
pub mod args;
#[cfg(feature = "cli")]
pub mod cleanup;
#[cfg(feature = "cli")]
pub mod cli;
#[cfg(feature = "cli")]
pub mod compile;
#[cfg(feature = "cli")]
mod declarations;
#[cfg(feature = "cli")]
pub mod dispatch;
#[cfg(feature = "cli")]
pub mod engines;
#[cfg(feature = "cli")]
pub mod error;
#[cfg(feature = "cli")]
pub mod expect;
#[cfg(feature = "cli")]
pub mod external_compilers;
#[cfg(feature = "cli")]
pub mod formats;
#[cfg(all(feature = "cli", target_os = "linux"))]
pub mod gles;
#[cfg(feature = "cli")]
pub mod grammar;
#[cfg(feature = "cli")]
pub mod lifted;
#[cfg(feature = "cli")]
pub mod link;
#[cfg(feature = "cli")]
pub mod log;
#[cfg(feature = "cli")]
pub mod mali;
#[cfg(feature = "cli")]
pub mod on_change;
#[cfg(feature = "cli")]
pub mod outcome;
#[cfg(feature = "cli")]
pub mod pack;
#[cfg(feature = "cli")]
pub mod picture;
#[cfg(feature = "cli")]
pub mod recorded_draw;
#[cfg(feature = "cli")]
pub mod replay;
#[cfg(feature = "cli")]
pub mod run;
#[cfg(feature = "cli")]
pub mod s0;
#[cfg(feature = "cli")]
pub mod scripts;

#[cfg(feature = "mali")]
pub use compiler;
#[cfg(feature = "mali")]
pub use emulator;
#[cfg(feature = "cli")]
pub use error::{Error, ErrorKind, Result};
pub use loader;
pub use scene::{self, harness, sample, watch};
#[cfg(all(feature = "mali", target_os = "linux"))]
pub use shim;
#[cfg(feature = "translate")]
pub use translate;
pub use vulkan;
