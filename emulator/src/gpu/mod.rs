//! The GPU around the programs: the two kinds of jobs a driver submits.
//!
//! Our own driver, recorded jobs and Mesa's driver all come in by [`Gpu::run_gp`] and [`Gpu::run_pp`].

pub mod binning;
mod cache;
pub mod commands;
pub mod frame;
pub mod gp;
pub mod notes;
pub mod pp;
pub mod primitives;
pub mod raster;
pub mod state;
pub mod tile;
mod vectors;

pub use pp::{PixelStats, TileOp, TileOps};

use crate::cancellation::{Budget, Cancellation};
use crate::exec::Engine;
use crate::fault::{Fault, FaultKind, Job, Result};
use crate::memory::Memory;
use crate::silicon::Silicon;
use crate::thread_pool::ThreadPool;
use binning::entries::Entries;
use binning::lists::{Geometry, Lists};
use binning::plbu;
use cache::Cache;
use frame::Frame;
use gp::vertex;
use notes::Notes;
use pp::job;
use pp::observe::Watch;
use std::sync::Arc;
use tile::write_back::{self, Runs};
use utgard::frame::GpFrame;

/// Threads of a GPU at most.
const MAX_THREADS: usize = 64;

/// Words of a GP job's frame.
pub const GP_FRAME_WORDS: usize = GpFrame::WORDS;

/// A Mali-400.
pub struct Gpu {
    /// Its address space.
    pub memory: Memory,
    /// Undocumented values that jobs met.
    pub notes: Notes,
    lists: Lists,
    geometry: Option<Arc<Geometry>>,
    /// The geometry before the last, whose allocations the next job reuses.
    earlier: Option<Geometry>,
    /// Allocations for the next job's lists.
    spare_lists: Vec<Entries>,
    engine: Box<dyn Engine>,
    /// The worker threads; none if there is one thread only.
    pool: Option<ThreadPool>,
    /// Whether the last PP job had work for all of them.
    is_large: bool,
    budget: u64,
    cancellation: Cancellation,
    /// Allocations for the next job's pictures.
    spare: Vec<Runs>,
    cache: Cache,
    silicon: Silicon,
    tile_ops: TileOps,
}

/// The default limit of a job's instructions: about half a minute of the fast engine.
const BUDGET: u64 = 1 << 36;

/// Statistics of a GP job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GeometryStats {
    /// Vertices.
    pub vertices: u64,
    /// Instructions they ran.
    pub instructions: u64,
    /// Triangles after clipping and culling.
    pub primitives: u64,
}

impl Gpu {
    /// A GPU with empty memory and the engine's silicon switches.
    pub fn new(engine: Box<dyn Engine>) -> Self {
        let silicon = engine.silicon();
        Self {
            memory: Memory::default(),
            notes: Notes::default(),
            lists: Lists::default(),
            geometry: None,
            earlier: None,
            spare_lists: Vec::new(),
            engine,
            pool: None,
            is_large: false,
            budget: BUDGET,
            cancellation: Cancellation::default(),
            spare: Vec::new(),
            cache: Cache::default(),
            silicon,
            tile_ops: TileOps::default(),
        }
    }

    /// The engine.
    pub fn engine(&self) -> &dyn Engine {
        &*self.engine
    }

    /// How the primitives of all pixel jobs were drawn so far.
    pub fn tile_ops(&self) -> TileOps {
        self.tile_ops
    }

    /// Sets the number of threads; pictures are the same with any.
    #[must_use]
    pub fn with_threads(mut self, threads: usize) -> Self {
        self.pool = ThreadPool::new(threads.min(MAX_THREADS));
        self
    }

    /// How many instructions the vertices or the fragments of one job may run, all together; more is a fault.
    #[must_use]
    pub fn with_budget(mut self, instructions: u64) -> Self {
        self.budget = instructions;
        self
    }

    /// Sets the flag that ends jobs.
    #[must_use]
    pub fn with_cancellation(mut self, cancellation: Cancellation) -> Self {
        self.cancellation = cancellation;
        self
    }

    /// Runs a GP job: the vertex stream, then the polygon list builder's (docs/spec/mali/kernel.md, section 5).
    ///
    /// # Errors
    /// The fault that ends the job.
    pub fn run_gp(&mut self, frame: &[u32]) -> Result<GeometryStats> {
        self.gp(frame).map_err(|fault| fault.of(Job::Gp))
    }

    fn gp(&mut self, frame: &[u32]) -> Result<GeometryStats> {
        if frame.len() < 4 {
            let message = format!("a GP frame of {} words", frame.len());
            return Err(Fault::new(FaultKind::State, message));
        }
        let frame = GpFrame::from_words(frame);
        // The next job's geometry is as large, in most cases.
        self.pool.iter().filter(|_| self.is_large).for_each(ThreadPool::prewake);
        let budget = Budget {
            instructions: self.budget,
            cancellation: &self.cancellation,
        };
        let mut shader = vertex::VertexShader::new(budget, &self.cache);
        let (start, end) = (frame.vertex_start, frame.vertex_end);
        let workers = (&*self.engine, self.pool.as_ref());
        shader.run(&mut self.memory, start, end, workers, &mut self.notes)?;
        let plbu = plbu::Plbu::new(&self.memory, &shader.point_sizes, self.pool.as_ref());
        let spare = std::mem::take(&mut self.spare_lists);
        let plbu = plbu.with_room_of(self.earlier.take(), spare).with_quirks(self.silicon);
        let built = plbu.run(frame.list_start, frame.list_end, &mut self.notes)?;
        let geometry = built.as_ref().map(|built| built.geometry.clone());
        let earlier = std::mem::replace(&mut self.geometry, geometry);
        let primitives = self.geometry.as_ref().map_or(0, |all| all.primitives.len() as u64);
        self.spare_lists = built.map(|built| self.lists.put(built)).unwrap_or_default();
        // The last reference, once its lists are reused.
        self.earlier = earlier.and_then(Arc::into_inner);
        Ok(GeometryStats {
            vertices: shader.vertices,
            instructions: shader.ran,
            primitives,
        })
    }

    /// Runs a PP job, for as many PPs as its frame is for.
    ///
    /// # Errors
    /// The fault that ends the job; nothing is written back then.
    pub fn run_pp(&mut self, frame: &[u32]) -> Result<PixelStats> {
        self.pp(frame, None).map_err(|fault| fault.of(Job::Pp))
    }

    /// Runs a PP job with its tiles observed: they are drawn in the job's order, on one thread.
    ///
    /// # Errors
    /// As [`Gpu::run_pp`]; what was drawn before the fault has been reported.
    pub fn run_pp_observed(&mut self, frame: &[u32], watch: &dyn Watch) -> Result<PixelStats> {
        self.pp(frame, Some(watch)).map_err(|fault| fault.of(Job::Pp))
    }

    /// The last GP job's result, for observers of pixel jobs; nothing where it built no lists.
    pub fn geometry(&self) -> Option<&Arc<Geometry>> {
        self.geometry.as_ref()
    }

    fn pp(&mut self, frame: &[u32], watch: Option<&dyn Watch>) -> Result<PixelStats> {
        let frame = Frame::parse(frame)?;
        self.is_large = frame.pixels() > job::FEW_PIXELS;
        self.memory.begin_job();
        let painted = job::run(
            &mut self.memory,
            &frame,
            &self.lists,
            &*self.engine,
            job::Limits {
                cache: &self.cache,
                pool: self.pool.as_ref().filter(|_| watch.is_none()),
                budget: Budget {
                    instructions: self.budget,
                    cancellation: &self.cancellation,
                },
                silicon: self.silicon,
                fast_paths: self.engine.fast_paths(),
                watch,
            },
            &mut self.spare,
            &mut self.notes,
        );
        self.memory.end_job();
        let job::Drawn { runs, stats, ops } = painted?;
        self.tile_ops.merge(ops);
        write_back::write(&runs, &mut self.memory, self.pool.as_ref()).map_err(|fault| fault.within("write-back"))?;
        self.spare = runs;
        self.spare.iter_mut().for_each(Runs::clear);
        Ok(stats)
    }
}
