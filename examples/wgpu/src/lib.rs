//! A reusable plugin, [`Effect`], for VBC shaders and SkSL effects in an application that draws with wgpu.
//!
//! [`translate`] turns a file's stages into WGSL, so they do not depend on the version of naga in the application's
//! wgpu;
//! [`loader::reflect`] lists the inputs (vertices, textures by slot, uniforms by name). The application keeps its
//! device, its passes and its textures:
//!
//! ```no_run
//! # fn frame(device: &wgpu::Device, queue: &wgpu::Queue, pass: &mut wgpu::RenderPass<'_>) -> skrymir_wgpu_example::Result<()> {
//! use skrymir_wgpu_example::{Effect, Options};
//!
//! let bytes = std::fs::read("effect.sksl.bin").unwrap();
//! let mut effect = Effect::new(device, &bytes, &Options::new(wgpu::TextureFormat::Rgba8Unorm), &[])?;
//! effect.set(queue, "tint", &[1.0, 0.5, 0.0, 1.0])?;
//! effect.draw(pass, None, 3);
//! # Ok(())
//! # }
//! ```
//!
//! SPIR-V is not passed to wgpu directly: wgpu has no combined image samplers, which VBC uses for textures, and y
//! points up in its clip space.

pub mod app;
mod effect;
mod error;
mod stage;
mod uniforms;

pub use effect::{Effect, Options, Texture};
pub use error::{Error, Result};
pub use uniforms::Uniforms;
