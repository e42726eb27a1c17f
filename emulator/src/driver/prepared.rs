//! A draw in the GPU's memory, and what came of it.

use super::draw::{Picture, Result};
use super::link::Linked;
use crate::gpu::PixelStats;
use crate::gpu::frame::Frame;
use crate::gpu::tile::write_back;
use crate::gpu::{GP_FRAME_WORDS, GeometryStats, Gpu};
use utgard::frame::{GpFrame, WriteBackSource};

/// A draw whose memory is written: it can be submitted, more than once.
pub struct Prepared {
    /// Words of the geometry job.
    pub(super) gp_frame: [u32; GP_FRAME_WORDS],
    /// Words of the pixel job.
    pub(super) pp_frame: Vec<u32>,
    /// Address of the vertices' outputs, and bytes from one vertex to the next.
    pub outputs: (u32, u32),
    /// How the programs were put together.
    pub linked: Linked,
}

impl Prepared {
    /// The frames of the geometry and of the pixel job, as the kernel interface has them.
    pub fn frames(&self) -> (&[u32], &[u32]) {
        (&self.gp_frame, &self.pp_frame)
    }

    /// Runs both jobs.
    ///
    /// # Errors
    /// The fault of one.
    pub fn submit(&self, gpu: &mut Gpu) -> Result<(GeometryStats, PixelStats)> {
        let geometry = gpu.run_gp(&self.gp_frame)?;
        let pixels = gpu.run_pp(&self.pp_frame)?;
        Ok((geometry, pixels))
    }

    /// Runs the vertices of the geometry job, without building lists.
    ///
    /// # Errors
    /// The fault of the job.
    pub fn run_vertices(&self, gpu: &mut Gpu) -> Result<GeometryStats> {
        let all = GpFrame::from_words(&self.gp_frame);
        let vertices = GpFrame {
            vertex_start: all.vertex_start,
            vertex_end: all.vertex_end,
            ..GpFrame::default()
        };
        Ok(gpu.run_gp(&vertices.to_words())?)
    }

    /// The picture of the last submission.
    ///
    /// # Errors
    /// When the target's memory is gone.
    pub fn picture(&self, gpu: &Gpu) -> Result<Picture> {
        let frame = Frame::parse(&self.pp_frame)?;
        let (width, height, rgba) = write_back::read(&gpu.memory, &frame, &frame.write_backs[0])?;
        Ok(Picture { width, height, rgba })
    }

    /// Depth (bits 23-0) and stencil (bits 31-24) of each pixel after the last submission, rows from the top; nothing if
    /// the draw does not keep them.
    ///
    /// # Errors
    /// When the target's memory is gone.
    pub fn depth_stencil(&self, gpu: &Gpu) -> Result<Option<Vec<u32>>> {
        let frame = Frame::parse(&self.pp_frame)?;
        let mut units = frame.write_backs.iter();
        let Some(unit) = units.find(|unit| unit.source == WriteBackSource::DepthStencil) else {
            return Ok(None);
        };
        Ok(Some(write_back::read_depth_stencil(&gpu.memory, &frame, unit)?))
    }

    /// A vertex's output of the last submission: the position as the program stored it (window, 1/w).
    ///
    /// # Errors
    /// When there is no such vertex.
    pub fn position(&self, gpu: &Gpu, vertex: u32) -> Result<[f32; 4]> {
        let words = gpu.memory.words(self.linked.positions.wrapping_add(16 * vertex), 4)?;
        Ok([words[0], words[1], words[2], words[3]].map(f32::from_bits))
    }

    /// Floats of a vertex's varyings of the last submission, from float number `first` of the fragment program on.
    ///
    /// # Errors
    /// When there is no such vertex.
    pub fn varying(&self, gpu: &Gpu, vertex: u32, first: u32, count: u32) -> Result<Vec<f32>> {
        let (base, stride) = self.outputs;
        let words = gpu
            .memory
            .words(base.wrapping_add(stride * vertex + 4 * first), count)?;
        Ok(words.into_iter().map(f32::from_bits).collect())
    }
}
