//! Draws tiles: the fragments of each primitive in a tile's lists, and what finished tiles leave.

use super::observe::{self, Fate, Painted, Place, Watch};
use super::quad_batch::QuadBatch;
use super::scene::{self, Ready, Scene, Shader};
use super::setup::Block;
use super::tile_op::{TileOp, TileOps};
use super::variant::{FragmentVariant, KernelInfo, context};
use crate::cancellation::Budget;
use crate::exec::{Engine, FragmentContext, Fragments, MAX_QUADS, Quads, TileReader};
use crate::fault::{Fault, Result};
use crate::fragment_ops::reloaded;
use crate::gpu::binning::tile_list::ListedTile;
use crate::gpu::frame::Frame;
use crate::gpu::raster::edge;
use crate::gpu::raster::triangle::Coverage;
use crate::gpu::state::State;
use crate::gpu::tile::access::Live;
use crate::gpu::tile::batch::{Batch, DepthPlane, Passed};
use crate::gpu::tile::tiled_target::TiledTarget;
use crate::gpu::tile::write_back::{self, Runs};
use crate::gpu::tile::{Incoming, PIXELS, SIDE, Tile, in_tile, steps};
use crate::memory::{Memory, Sink};
use num::lanes::One;
use std::ops::Range;
use std::sync::atomic::AtomicU64;

/// Tiles that are drawn together, at most.
pub(crate) const TOGETHER: usize = 8;

/// What a PP job did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PixelStats {
    /// Tiles.
    pub tiles: u64,
    /// Quads that were run.
    pub quads: u64,
    /// Fragments that were wanted of them.
    pub fragments: u64,
    /// Instructions they ran, those that only helped included.
    pub instructions: u64,
}

impl PixelStats {
    pub(crate) fn add(&mut self, other: Self) {
        self.tiles += other.tiles;
        self.quads += other.quads;
        self.fragments += other.fragments;
        self.instructions += other.instructions;
    }
}

/// What a worker's tiles have in common.
#[derive(Clone, Copy)]
pub(crate) struct JobContext<'a> {
    pub memory: &'a Memory,
    pub frame: &'a Frame,
    pub scene: &'a Scene<'a>,
    pub engine: &'a dyn Engine,
    /// By the shaders' numbers.
    pub variants: &'a [FragmentVariant<'a>],
    /// Who observes the tiles.
    pub watch: Option<&'a dyn Watch>,
    /// The frame's picture where whole tiles go there as they are.
    tiled_target: Option<TiledTarget>,
    /// The engine observes a pixel.
    engine_observes: bool,
}

impl<'a> JobContext<'a> {
    pub(super) fn new(
        memory: &'a Memory,
        frame: &'a Frame,
        scene: &'a Scene<'a>,
        engine: &'a dyn Engine,
        variants: &'a [FragmentVariant<'a>],
        watch: Option<&'a dyn Watch>,
    ) -> Self {
        Self {
            memory,
            frame,
            scene,
            engine,
            variants,
            watch,
            tiled_target: TiledTarget::of(frame),
            engine_observes: engine.observed_pixel().is_some(),
        }
    }

    /// The frame's picture where whole tiles go there as they are.
    pub(super) fn tiled_target(&self) -> Option<TiledTarget> {
        self.tiled_target
    }
}

/// Instructions that fragments may still run, counted by all workers together.
pub(crate) struct InstructionBudget<'a> {
    ran: &'a AtomicU64,
    budget: Budget<'a>,
    /// Instructions that are not in that sum yet.
    unsettled: u64,
}

impl<'a> InstructionBudget<'a> {
    /// A worker's part of the sum.
    pub(super) fn new(ran: &'a AtomicU64, budget: Budget<'a>) -> Self {
        Self {
            ran,
            budget,
            unsettled: 0,
        }
    }

    /// Counts instructions.
    fn count(&mut self, more: u64) -> Result<()> {
        self.unsettled += more;
        // The sum is one cache line for all workers.
        if self.unsettled < 1 << 20 {
            Ok(())
        } else {
            self.settle()
        }
    }

    /// Adds what was counted to the sum of all workers, which has to be done in the end, too.
    pub(super) fn settle(&mut self) -> Result<()> {
        let more = std::mem::take(&mut self.unsettled);
        self.budget.spend(self.ran, more, "fragments")
    }
}

/// Room that is used again from tile to tile.
pub(crate) struct Scratch {
    /// Words of tiles that are shaded together.
    pub words: Box<[[u32; PIXELS]; TOGETHER]>,
    pub out: Box<Fragments>,
    pub coverage: Coverage,
    /// Small primitives that are not shaded yet.
    pub quad_batch: Box<QuadBatch>,
    /// For small primitives that are set up together.
    pub block: Option<Box<Block>>,
    /// For primitives.
    pub primitives: Option<Box<scene::Room>>,
    /// Fragments that passed early tests.
    pub passed: Live,
}

impl Default for Scratch {
    fn default() -> Self {
        Self {
            words: Box::new([[0; PIXELS]; TOGETHER]),
            out: Box::default(),
            coverage: Coverage::default(),
            quad_batch: Box::default(),
            block: None,
            primitives: None,
            passed: [0; MAX_QUADS],
        }
    }
}

/// Where finished tiles go.
#[derive(Default)]
pub(crate) struct Output<'a, 'b> {
    /// Pieces for later.
    pub runs: Runs,
    /// Memory at once, if that may be.
    pub target: Option<Sink<'a, 'b>>,
}

/// Draws tiles.
pub(crate) struct TileWorker<'a, 'b> {
    pub job: JobContext<'a>,
    pub scratch: Scratch,
    pub tile: Tile,
    /// Colours of the tile are not cleared yet.
    is_uncleared: bool,
    pub instructions: InstructionBudget<'a>,
    pub output: Output<'a, 'b>,
    pub stats: PixelStats,
    /// How primitives were drawn.
    pub ops: TileOps,
}

impl<'a> TileWorker<'a, '_> {
    pub(super) fn new(job: JobContext<'a>, instructions: InstructionBudget<'a>) -> Self {
        Self {
            job,
            scratch: Scratch::default(),
            tile: Tile::default(),
            is_uncleared: false,
            instructions,
            output: Output::default(),
            stats: PixelStats::default(),
            ops: TileOps::default(),
        }
    }

    /// Draws tiles from the `first` of the job on; a fault comes with its tile's number.
    pub(super) fn tiles(&mut self, first: usize, tiles: &[ListedTile]) -> Result<(), (usize, Fault)> {
        let mut next = 0;
        while next < tiles.len() {
            let opaque = self.draw_opaque_tiles(&tiles[next..]);
            let (count, is_painted) = opaque.map_err(|fault| (first + next, fault))?;
            let looked_at = next..next + count;
            next = looked_at.end;
            for number in looked_at.filter(|_| !is_painted) {
                let ((row, column), bin_references) = &tiles[number];
                let done = self.tile(first + number, *column, *row, bin_references.clone());
                done.map_err(|fault| (first + number, fault))?;
            }
        }
        // Small budgets are looked after at once.
        match self.instructions.unsettled > self.instructions.budget.instructions >> 16 {
            true => self.instructions.settle().map_err(|fault| (first, fault)),
            false => Ok(()),
        }
    }

    /// Draws a tile, the `number`th of the job.
    fn tile(&mut self, number: usize, column: u32, row: u32, bin_references: Range<usize>) -> Result<()> {
        self.stats.tiles += 1;
        let tiled = self.job.tiled_target.zip(self.output.target.as_ref());
        let at = tiled.and_then(|(tiled, target)| Some((tiled, tiled.expect([column, row], target)?)));
        // Samples are kept apart from the first primitive on that needs it, or at once if the job is observed.
        let alike = self.job.frame.begins_alike() && self.job.watch.is_none();
        let samples = if self.job.scene.multisample && !alike { 4 } else { 1 };
        self.is_uncleared = true;
        if !self
            .tile
            .begin(self.job.frame, samples, self.job.scene.depth, column, row)
            || self.job.watch.is_some()
        {
            self.clear();
        }
        if let (Some(target), [unit], None) = (&self.output.target, &self.job.frame.write_backs[..], at) {
            write_back::expect(self.job.frame, unit, self.tile.origin, target);
        }
        self.job.watch.into_iter().for_each(|watch| watch.begun(&self.tile));
        // Out of the worker while it draws with it.
        let mut room = self.scratch.primitives.take().unwrap_or_default();
        let painted = self.lists(bin_references, &mut room);
        self.scratch.primitives = Some(room);
        painted?;
        self.clear();
        if let (Some((tiled, address)), Some(target)) = (at, &mut self.output.target)
            && tiled.put(&self.tile, address, target)
        {
            return Ok(());
        }
        let mut units = self.job.frame.write_backs.iter();
        units.try_for_each(|unit| {
            write_back::encode(
                self.job.frame,
                unit,
                &self.tile,
                number,
                &mut self.output.runs,
                self.output.target.as_mut(),
            )
        })?;
        self.output
            .target
            .iter_mut()
            .for_each(|target| self.output.runs.hand_over(target));
        Ok(())
    }

    /// Clears the tile's colours, unless that is done.
    pub(crate) fn clear(&mut self) {
        if std::mem::take(&mut self.is_uncleared) {
            self.tile.clear(self.job.frame);
        }
    }

    /// Draws the primitives of a tile's lists.
    fn lists(&mut self, bin_references: Range<usize>, room: &mut scene::Room) -> Result<()> {
        let tile = self.tile.origin.map(|at| (at / SIDE) as u8);
        let mut batches = self.batches();
        for (geometry, entries) in self.job.scene.referenced(bin_references) {
            // A list is of several tiles.
            let mut numbers = entries.touching(tile);
            match batches {
                true => batches = self.mesh(geometry, numbers, room)?,
                false => numbers.try_for_each(|number| self.one(geometry, number, room))?,
            }
        }
        Ok(())
    }

    /// Draws a primitive, by its geometry's number and its own.
    pub(crate) fn one(&mut self, geometry: usize, primitive: u32, room: &mut scene::Room) -> Result<()> {
        let scene = self.job.scene;
        let prepared = &scene.geometries[geometry];
        let (origin, coverage) = (self.tile.origin, &mut self.scratch.coverage);
        let Some((ready, shader)) = prepared.cover(self.job.memory, &scene.shaders, primitive, origin, coverage, room)
        else {
            return Ok(());
        };
        let shader = &scene.shaders[shader];
        match self.job.watch {
            None => self.primitive(ready, shader),
            Some(watch) => {
                let geometry = prepared.geometry;
                self.draw_observed(ready, shader, watch, Place { geometry, primitive })
            }
        }
    }

    /// Draws a primitive into the tile.
    pub(crate) fn primitive(&mut self, ready: &Ready, shader: &Shader<'_>) -> Result<()> {
        if self.job.scene.multisample
            && self.tile.samples == 1
            && (shader.state.tells_samples_apart() || self.scratch.coverage.tells_samples_apart())
        {
            self.clear();
            self.tile.split();
        }
        let (op, kernel) = self.tile_op(ready, shader);
        self.ops.add(op, 1);
        match (op, kernel) {
            (TileOp::ShadeTile | TileOp::ShadeQuads, Some(kernel)) => self.run_kernel(op, kernel, ready, shader),
            (TileOp::Observed, _) => self.draw_engine_observed(ready, shader),
            _ => self.quads(ready, shader, false),
        }
    }

    /// How a primitive is drawn, and the kernel that shades it where there is one.
    fn tile_op(&self, ready: &Ready, shader: &Shader<'_>) -> (TileOp, Option<Kernel<'a>>) {
        if self.job.engine_observes {
            return (TileOp::Observed, None);
        }
        let variant = self
            .job
            .variants
            .get(shader.number)
            .filter(|_| self.wants_words(shader));
        let kernel = variant.and_then(|variant| {
            let (engine, flat) = (self.job.engine, ready.inputs.flat);
            let (info, context) = (variant.kernel(engine, flat)?, &variant.context);
            // What the program decides on is tested behind it.
            let is_late = shader.state.is_tested(ready.inputs.front) && (context.wants_alpha || info.may_discard);
            let late = is_late.then(|| variant.late_kernel(engine, flat).zip(variant.late.as_ref()));
            let (info, context) = late.flatten().unwrap_or((info, context));
            Some(Kernel { info, context })
        });
        let op = match kernel {
            Some(kernel) if kernel.takes_tile(self.scratch.coverage.covered()) => TileOp::ShadeTile,
            Some(_) => TileOp::ShadeQuads,
            None if self.tile.samples > 1 => TileOp::Multisample,
            None => TileOp::Quads,
        };
        (op, kernel)
    }

    /// Has the engine shade the quads of a primitive, and puts them; `tested`: those that passed early tests.
    fn quads(&mut self, ready: &Ready, shader: &Shader<'_>, tested: bool) -> Result<()> {
        self.clear();
        self.shade(ready, shader)?;
        self.put(ready, shader, tested);
        Ok(())
    }

    /// Has a kernel shade a primitive, in the tile where all of that passes, beside it else. Fragments are tested first where
    /// that may be; hidden ones are not shaded.
    fn run_kernel(&mut self, op: TileOp, kernel: Kernel<'_>, ready: &Ready, shader: &Shader<'_>) -> Result<()> {
        let Kernel { info, context } = kernel;
        let quads = self.scratch.coverage.covered();
        let is_late = context.wants_alpha || context.tests.is_some() || info.may_discard;
        let tested = shader.state.is_tested(ready.inputs.front) && !is_late;
        let passed = match tested {
            true => {
                let batch = batch(&self.scratch.coverage, ready, shader, &self.scratch.out);
                self.tile.test_early(&batch, &mut self.scratch.passed)
            }
            false => Passed::All,
        };
        let steps = match (op, passed) {
            // How many instructions they would have run is known where all run the same.
            (_, Passed::None) if info.has_turns => {
                info.code.paint(context, &ready.inputs, quads, &mut self.scratch.out)
            }
            (_, Passed::None) => Some(info.steps),
            (TileOp::ShadeTile, Passed::All) => self.shade_tile_in_place(kernel, ready),
            _ if context.tests.is_some() => self.shade_tested(kernel, ready, shader),
            _ => self.shade_beside(kernel, ready, shader, tested),
        };
        let Some(steps) = steps else {
            return self.quads(ready, shader, tested);
        };
        self.painted(
            self.scratch.coverage.covered().count(),
            self.scratch.coverage.fragments(),
            steps,
        );
        self.ran()
    }

    /// Counts quads and fragments that were shaded in one call, each by `steps` instructions.
    pub(crate) fn painted(&mut self, quads: usize, fragments: u64, steps: u32) {
        // Hidden fragments count as if they ran: the count must not depend on the way they are shaded.
        let quads = quads as u64;
        self.stats.quads += quads;
        self.stats.fragments += fragments;
        self.scratch.out.instructions += 4 * quads * u64::from(steps);
    }

    /// Shades all of a tile in the tile itself: how many instructions each fragment ran; nothing where others have to.
    fn shade_tile_in_place(&mut self, Kernel { info, context }: Kernel<'_>, ready: &Ready) -> Option<u32> {
        if context.blending.is_none() && info.is_infallible {
            self.is_uncleared = false;
        }
        self.clear();
        let first = self.tile.origin;
        let words = std::slice::from_mut(self.tile.bytes()?);
        info.code.shade_in_place(context, &ready.inputs, first, words)
    }

    /// Shades beside the tile, then brings what passes into it; as [`TileWorker::shade_tile_in_place`].
    fn shade_beside(&mut self, kernel: Kernel<'_>, ready: &Ready, shader: &Shader<'_>, tested: bool) -> Option<u32> {
        let Kernel { info, context } = kernel;
        self.clear();
        let quads = self.scratch.coverage.covered();
        if context.blending.is_some() {
            self.tile.words(quads, &mut self.scratch.out.words);
        }
        let steps = info.code.paint(context, &ready.inputs, quads, &mut self.scratch.out)?;
        if tested || context.wants_alpha || info.may_discard {
            (self.scratch.out.has_words, self.scratch.out.live) = (true, quads.live());
            self.put(ready, shader, tested);
        } else if shader.state.blending.write_mask != 0 {
            self.tile.put_words(quads, &self.scratch.out.words);
        }
        Some(steps)
    }

    /// Shades beside the tile with the tests in the kernel, then brings what it has of colour, depth and stencil into it; as
    /// [`TileWorker::shade_tile_in_place`].
    fn shade_tested(
        &mut self,
        Kernel { info, context }: Kernel<'_>,
        ready: &Ready,
        shader: &Shader<'_>,
    ) -> Option<u32> {
        self.clear();
        let (quads, out) = (self.scratch.coverage.covered(), &mut *self.scratch.out);
        self.tile.words(quads, &mut out.words);
        let plane = DepthPlane {
            inputs: &ready.inputs,
            offset: ready.offset,
        };
        self.tile.samples(&shader.state, plane, quads, &mut out.samples);
        let steps = info.code.paint(context, &ready.inputs, quads, out)?;
        self.tile.put_samples(quads, &out.samples.after);
        if shader.state.blending.write_mask != 0 {
            self.tile.put_words(quads, &out.words);
        }
        Some(steps)
    }

    /// Shades and puts a primitive, and reports the observed pixel to the engine.
    fn draw_engine_observed(&mut self, ready: &Ready, shader: &Shader<'_>) -> Result<()> {
        self.clear();
        self.scratch.coverage.list();
        let observed = self.job.engine.observed_pixel().and_then(|pixel| self.observed(pixel));
        let before = observed.map(|(_, pixel)| self.tile.read(pixel).0);
        self.shade(ready, shader)?;
        self.put(ready, shader, false);
        if let (Some((fragment, pixel)), Some(before)) = (observed, before) {
            let color = self
                .is_live(fragment)
                .then(|| std::array::from_fn(|channel| self.scratch.out.color[channel][fragment]));
            self.job.engine.painted(before, color, self.tile.read(pixel).0);
        }
        Ok(())
    }

    /// Shades and puts a primitive as [`TileWorker::primitive`] does, every fragment for itself, and reports it.
    fn draw_observed(&mut self, ready: &Ready, shader: &Shader<'_>, watch: &dyn Watch, place: Place<'_>) -> Result<()> {
        self.ops.add(TileOp::Observed, 1);
        let ran = self.stats.instructions;
        self.shade(ready, shader)?;
        let wanted = observe::wanted(watch.pixels(), &self.scratch.coverage.quads);
        self.put_each(ready, shader, |tile, at, incoming| {
            if wanted.contains(&at) {
                watch.fragment(place, at, &observe::put(tile, &shader.state, incoming));
            } else {
                tile.put_one(&shader.state, incoming, |_, _| {});
            }
        });
        for at in wanted {
            if self
                .observed((at[0], at[1]))
                .is_some_and(|(number, _)| !self.is_live(number))
            {
                watch.fragment(place, at, &Fate::Discarded);
            }
        }
        watch.painted(&Painted {
            place,
            quads: &self.scratch.coverage.quads,
            instructions: self.stats.instructions - ran,
            tile: &self.tile,
        });
        Ok(())
    }

    /// Whether a fragment of the batch is still there.
    fn is_live(&self, fragment: usize) -> bool {
        self.scratch.out.live[fragment / 4] >> (fragment % 4) & 1 == 1
    }

    /// an observed pixel that the present primitive covers: the fragment's number, and the pixel's in the tile.
    fn observed(&self, (x, y): (u32, u32)) -> Option<(usize, usize)> {
        let quads = &self.scratch.coverage.quads;
        let number = quads.iter().position(|quad| (quad.x, quad.y) == (x & !1, y & !1))?;
        let lane = (x & 1 | (y & 1) << 1) as usize;
        let covered = quads[number].live >> lane & 1 == 1;
        covered.then_some((4 * number + lane, in_tile(x, y)))
    }

    /// Counts what the engine did.
    pub(crate) fn ran(&mut self) -> Result<()> {
        let more = std::mem::take(&mut self.scratch.out.instructions);
        self.stats.instructions += more;
        self.instructions.count(more)
    }

    /// Runs the program for what is covered.
    fn shade(&mut self, ready: &Ready, shader: &Shader<'_>) -> Result<()> {
        self.scratch.coverage.list();
        let coverage = &self.scratch.coverage;
        self.stats.quads += coverage.quads.len() as u64;
        self.stats.fragments += coverage.fragments();
        let tile = &self.tile;
        let read = |x: u32, y: u32| tile.read(in_tile(x, y));
        let context = self.context(shader, Some(&read));
        if context.blending.is_some() {
            tile.words(coverage.covered(), &mut self.scratch.out.destination);
        }
        self.scratch.out.has_words = false;
        let result = self
            .job
            .engine
            .fragments(&context, &ready.inputs, &coverage.quads, &mut self.scratch.out);
        result.map_err(|fault| fault.at(shader.state.program))?;
        self.ran()
    }

    /// Colours of a draw may come as words.
    pub(crate) fn wants_words(&self, shader: &Shader<'_>) -> bool {
        let tile = &self.tile;
        self.job.scene.fast_paths
            && shader.takes_words
            && tile.samples == 1
            && tile.one == 255.0
            && self.job.watch.is_none()
    }

    /// What the fragments of a draw share; `tile` reads the tile.
    fn context<'b>(&self, shader: &'b Shader<'_>, tile: Option<&'b TileReader<'b>>) -> FragmentContext<'b> {
        context(shader, self.job.frame, tile, self.wants_words(shader))
    }

    /// Brings what the program gave into the tile; `tested`: of those that [`Tile::test_early`] found.
    fn put(&mut self, ready: &Ready, shader: &Shader<'_>, tested: bool) {
        let batch = batch(&self.scratch.coverage, ready, shader, &self.scratch.out);
        match tested {
            true => self.tile.put_tested(&batch, &self.scratch.passed),
            false => self.tile.put_batch(&batch),
        }
    }

    /// Hands every live fragment to `put`, with its pixel.
    fn put_each(&mut self, ready: &Ready, shader: &Shader<'_>, mut put: impl FnMut(&mut Tile, [u32; 2], &Incoming)) {
        let (state, coverage) = (&shader.state, &self.scratch.coverage);
        for (number, quad) in coverage.quads.iter().enumerate() {
            for lane in (0..4usize).filter(|lane| self.scratch.out.live[number] >> lane & 1 == 1) {
                let (x, y) = (quad.x + (lane as u32 & 1), quad.y + (lane as u32 >> 1));
                let at = 4 * number + lane;
                let mut incoming = Incoming {
                    pixel: in_tile(x, y),
                    coverage: coverage.samples.get(number).map_or(15, |samples| samples[lane]),
                    color: self.scratch.out.color.each_ref().map(|row| row[at]),
                    second: self.scratch.out.second.each_ref().map(|row| row[at]),
                    depth: [0, 1, 2, 3].map(|sample| depth(ready, self.tile.samples, sample, [x, y])),
                    front: ready.inputs.front,
                    stencil: None,
                };
                depth_from_program(state, self.scratch.out.depth[at], &mut incoming);
                put(&mut self.tile, [x, y], &incoming);
            }
        }
    }
}

/// What a primitive covers of the tile, on its way there.
fn batch<'a>(coverage: &'a Coverage, ready: &'a Ready, shader: &'a Shader<'_>, fragments: &'a Fragments) -> Batch<'a> {
    Batch {
        state: &shader.state,
        quads: coverage.covered(),
        samples: &coverage.samples,
        fragments,
        inputs: &ready.inputs,
        offset: ready.offset,
        depths: None,
    }
}

/// What shades the fragments of a primitive in one call.
#[derive(Clone, Copy)]
struct Kernel<'a> {
    info: KernelInfo<'a>,
    context: &'a FragmentContext<'a>,
}

impl Kernel<'_> {
    /// Whether it shades in the tile itself: all of a tile, and nothing that is lost then may be wanted, neither what is
    /// blended with nor what stays where there is no fragment.
    fn takes_tile(&self, quads: Quads<'_>) -> bool {
        let is_safe = self.context.blending.is_none() && !self.info.may_discard || self.info.is_infallible;
        matches!(quads, Quads::Tile(_)) && is_safe && !self.context.wants_alpha && self.context.tests.is_none()
    }
}

/// Depth the program wrote, or depth and stencil that are being loaded back into the tile.
fn depth_from_program(state: &State, depth: f32, incoming: &mut Incoming) {
    if state.packed_depth {
        let [depth, stencil] = reloaded::<One>(incoming.color);
        incoming.depth = [f64::from(depth); 4];
        incoming.stencil = Some(stencil as u8);
    } else if state.depth_register.is_some() {
        incoming.depth = [steps(depth); 4];
    }
}

/// Depth of a pixel's sample, in steps of the depth buffer.
#[inline]
fn depth(ready: &Ready, samples: usize, sample: usize, [x, y]: [u32; 2]) -> f64 {
    let [dx, dy] = ready.inputs.offset(x, y);
    let [sx, sy] = match samples {
        1 => [0.0; 2],
        _ => edge::sample_offset(sample),
    };
    steps(ready.inputs.z.at(dx + sx, dy + sy)) + ready.offset
}
