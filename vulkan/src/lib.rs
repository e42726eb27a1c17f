//! VBC shaders on Vulkan, headless.
//!
//! The way of a picture:
//!
//! 1. [`Context::new`] opens a device (lavapipe will do; no display is needed).
//! 2. [`Program::new`] makes a VBC shader fit that device: features and limits are checked first, then the SPIR-V is
//!    rewritten by [`loader::vbc::fit`], then layouts and modules are created. A shader the device cannot hold is an
//!    error that names the limit; the driver is not asked.
//! 3. [`Draw`] says everything the shader does not: vertex data, uniform bytes, what is in each table slot, topology,
//!    blend, depth, size.
//! 4. [`render`] uploads through staging, draws, reads back. It returns a [`Submission`], a future of the [`Frame`].
//!
//! `unsafe` in this crate is calls into Vulkan through `ash`; every block says why the call is sound.

mod binder;
mod cache;
mod context;
mod draw;
mod error;
mod features;
mod image;
mod instance;
mod layout;
mod memory;
mod pipeline;
mod program;
mod readback;
mod record;
mod render;
mod submit;
mod tables;
mod texture;
mod vertex;

pub use binder::Binder;
pub use cache::PipelineCache;
pub use context::{Adopted, Context, Options};
pub use draw::{
    Blend, Compare, Cull, Depth, Draw, Frame, FrameTiming, Pixels, SamplerDesc, SlotData, State, Texels, Topology,
    VertexBuffers,
};
pub use error::{Error, ErrorKind, Result};
pub use image::Texture;
pub use instance::{DeviceInfo, Validation, devices};
pub use pipeline::{GraphicsPipeline, Target};
pub use program::{BindMode, Output, Program, Validator};
pub use render::render;
pub use submit::Submission;
pub use tables::{Handle, TableResource, Tables};
pub use texture::{Dim, TexelFormat};
pub use vertex::{Input, VertexInput};
