//! VBC shaders and SkSL effects in an application that draws with wgpu: a plugin to take along, [`Effect`].
//!
//! A file's stages become WGSL by [`translate`], so that it does not matter which version of naga the application's wgpu
//! has; what there is to fill in (vertices, textures by slot, uniforms by name) is what [`loader::reflect`] tells. The
//! application keeps its device, its passes and its textures:
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
//! SPIR-V is not handed through: wgpu has no combined image samplers, which is what VBC's textures are, and its clip space
//! has y upwards.

pub mod app;
mod effect;
mod error;
mod stage;
mod uniforms;

pub use effect::{Effect, Options, Texture};
pub use error::{Error, Result};
pub use uniforms::Uniforms;
