//! The PP job: for every tile of the frame, the fragments of the primitives in its list, and the write-back
//! (docs/spec/mali/frame.md; docs/spec/mali/tile-lists.md).

use super::observe::Watch;
use super::scene::{self, BinnedScene, Scene};
use super::tile_op::TileOps;
use super::variant::{FragmentVariant, context};
use super::worker::{InstructionBudget, JobContext, TileWorker};
use crate::cancellation::Budget;
use crate::exec::{Engine, MAX_QUADS};
use crate::fault::{Fault, Result};
use crate::gpu::binning::lists::Lists;
use crate::gpu::binning::tile_list::Tiles;
use crate::gpu::cache::Cache;
use crate::gpu::frame::Frame;
use crate::gpu::notes::Notes;
use crate::gpu::tile::write_back::{self, Extent, Runs};
use crate::memory::{Memory, Sinks};
use crate::silicon::Silicon;
use crate::thread_pool::ThreadPool;
use crate::work_queue::WorkQueue;
use std::sync::Mutex;
use std::sync::atomic::AtomicU64;
use utgard::frame::WriteBackSource;

pub(crate) use super::worker::PixelStats;

/// Tiles a worker takes at a time.
const CHUNK: usize = 8;

/// Pixels of a frame that are shaded before other threads are awake.
pub(crate) const FEW_PIXELS: u64 = (2 * CHUNK * 256) as u64;

/// A PP job's limits and observer.
#[derive(Clone, Copy)]
pub(crate) struct Limits<'a> {
    /// What earlier jobs left.
    pub cache: &'a Cache,
    /// The threads that paint, where there are several.
    pub pool: Option<&'a ThreadPool>,
    /// What ends it early.
    pub budget: Budget<'a>,
    /// The hardware that is supposed.
    pub silicon: Silicon,
    /// Fast paths may be taken.
    pub fast_paths: bool,
    /// Who is observed what becomes of primitives and fragments.
    pub watch: Option<&'a dyn Watch>,
}

/// Runs a PP job; returns what goes to memory, in room from `spare` as far as that goes.
///
/// # Errors
/// A fault of anything the job reads.
pub(crate) fn run(
    memory: &mut Memory,
    frame: &Frame,
    lists: &Lists,
    engine: &dyn Engine,
    limits: Limits<'_>,
    spare: &mut Vec<Runs>,
    notes: &mut Notes,
) -> Result<Drawn> {
    if frame.pixels() > FEW_PIXELS {
        limits.pool.into_iter().for_each(ThreadPool::prewake);
    }
    let tiles = &*limits.cache.tiles.read(memory, &frame.lists, limits.pool, notes)?;
    let listed = BinnedScene::new(tiles, lists, notes);
    let scene = self::scene(memory, frame, &listed, limits, notes)?;
    let Some(extent) = at_once(memory, frame, &listed, &scene, engine, limits) else {
        let job = Job {
            memory,
            frame,
            tiles,
            scene: &scene,
            engine,
            limits,
        };
        return job.draw(None, spare, notes);
    };
    drop(scene);
    let mut lent = memory.lend(extent.address, extent.length);
    let scene = self::scene(memory, frame, &listed, limits, notes);
    let queue = frame
        .write_backs
        .first()
        .map(|unit| write_back::chunks(unit, &tiles.tiles, CHUNK));
    let sinks = lent
        .as_mut()
        .map(|lent| lent.sinks(&queue.unwrap_or_default(), extent.part));
    let painted = scene.and_then(|scene| {
        let job = Job {
            memory,
            frame,
            tiles,
            scene: &scene,
            engine,
            limits,
        };
        job.draw(sinks.as_ref(), spare, notes)
    });
    drop(sinks);
    lent.into_iter().for_each(|lent| memory.take_back(lent));
    painted
}

/// What the tiles' lists paint.
fn scene<'a>(
    memory: &'a Memory,
    frame: &Frame,
    listed: &'a BinnedScene<'a>,
    limits: Limits<'a>,
    notes: &mut Notes,
) -> Result<Scene<'a>> {
    let source = scene::Source {
        memory,
        cache: limits.cache,
        silicon: limits.silicon,
        fast_paths: limits.fast_paths,
    };
    let mut scene = Scene::new(source, listed, notes)?;
    scene.depth |= frame
        .write_backs
        .iter()
        .any(|unit| unit.source == WriteBackSource::DepthStencil);
    // Observers get depth and stencil in any case.
    scene.depth |= limits.watch.is_some();
    let pool = limits.pool.filter(|_| frame.pixels() > FEW_PIXELS);
    pool.into_iter().for_each(|pool| scene.prepare_textures(frame, pool));
    Ok(scene)
}

/// Tiles from which on it is worth while to ask whether they may go to memory at once.
const MANY_TILES: usize = 64;

/// Where the picture goes, if finished tiles may go there at once: nothing can fail any more, so that all of it will be
/// written, and no part of the job reads there.
fn at_once(
    memory: &Memory,
    frame: &Frame,
    listed: &BinnedScene<'_>,
    scene: &Scene<'_>,
    engine: &dyn Engine,
    limits: Limits<'_>,
) -> Option<Extent> {
    let [unit] = frame.write_backs[..] else { return None };
    let observed =
        !limits.fast_paths || limits.watch.is_some() || engine.observed_pixel().is_some() || memory.keeps_writes();
    if observed || unit.planes != 0 || listed.tiles.tiles.len() < MANY_TILES {
        return None;
    }
    let extent = write_back::extent(frame, &unit)?;
    let (first, last) = (
        memory.object_at(extent.address)?,
        memory.object_at(extent.address + (extent.length - 1))?,
    );
    if first != last || scene.reads(memory, first) {
        return None;
    }
    // What draws in one go does not fail, and says how long it takes; every primitive may cover every tile it is listed in.
    let mut steps = 0;
    for shader in &scene.shaders {
        let context = context(shader, frame, None, shader.state.takes_words() && !frame.half_float);
        let kernel = Some(context).filter(|context| context.wants_words);
        steps = shader.kernel(engine, &kernel?, true)?.instruction_count().max(steps);
    }
    let most = listed
        .entries()
        .checked_mul(4 * MAX_QUADS as u64)?
        .checked_mul(u64::from(steps))?;
    (most <= limits.budget.instructions).then_some(extent)
}

/// A job whose scene is built.
struct Job<'a> {
    memory: &'a Memory,
    frame: &'a Frame,
    tiles: &'a Tiles,
    scene: &'a Scene<'a>,
    engine: &'a dyn Engine,
    limits: Limits<'a>,
}

impl Job<'_> {
    /// Draws the tiles, into `sinks` or into what is left for memory.
    fn draw(&self, sinks: Option<&Sinks<'_>>, spare: &mut Vec<Runs>, notes: &mut Notes) -> Result<Drawn> {
        let Self {
            memory,
            frame,
            tiles,
            scene,
            engine,
            limits,
        } = *self;
        limits.watch.into_iter().for_each(|watch| scene.tell_outside(watch));
        for (register, value) in &frame.unknown {
            notes.add(format!(
                "PP frame register {register} holds {value:#x}, whose meaning is unknown"
            ));
        }
        let work = &tiles.tiles;
        // Few tiles are shaded before other threads are awake.
        let pool = limits.pool.filter(|_| work.len() > 2 * CHUNK);
        let workers = pool.map_or(1, ThreadPool::threads);
        let (queue, ran) = (WorkQueue::new(work.len().div_ceil(CHUNK), workers), AtomicU64::new(0));
        let spare = Mutex::new(spare);
        let results = Mutex::new(Vec::new());
        let worker = |number: usize| {
            let variants = FragmentVariant::all(scene, frame);
            let job = JobContext::new(memory, frame, scene, engine, &variants, limits.watch);
            let mut worker = TileWorker::new(job, InstructionBudget::new(&ran, limits.budget));
            worker.output.runs = spare.lock().ok().and_then(|mut spare| spare.pop()).unwrap_or_default();
            let mut fault = None;
            while fault.is_none()
                && let Some(chunk) = queue.take(number)
            {
                let first = chunk * CHUNK;
                worker.output.target = sinks.and_then(|sinks| sinks.take(chunk));
                let taken = &work[first..(first + CHUNK).min(work.len())];
                fault = worker.tiles(first, taken).err();
                if fault.is_some() {
                    queue.stop(chunk);
                }
            }
            let fault = fault.or_else(|| worker.instructions.settle().err().map(|fault| (work.len(), fault)));
            if let Ok(mut results) = results.lock() {
                let drawn = Drawn {
                    runs: vec![worker.output.runs],
                    stats: worker.stats,
                    ops: worker.ops,
                };
                results.push((drawn, fault));
            }
        };
        match pool {
            Some(pool) => pool.all(worker),
            None => worker(0),
        }
        collect(results.into_inner().unwrap_or_default())
    }
}

/// What a job, or one worker of it, has drawn.
#[derive(Default)]
pub(crate) struct Drawn {
    /// What goes to memory.
    pub runs: Vec<Runs>,
    pub stats: PixelStats,
    pub ops: TileOps,
}

/// Puts together what the workers left, each perhaps a fault with its tile's number.
fn collect(results: Vec<(Drawn, Option<(usize, Fault)>)>) -> Result<Drawn> {
    let (mut all, mut faults) = (Drawn::default(), Vec::new());
    for (drawn, fault) in results {
        all.runs.extend(drawn.runs);
        all.stats.add(drawn.stats);
        all.ops.merge(drawn.ops);
        faults.extend(fault);
    }
    match faults.into_iter().min_by_key(|(at, _)| *at) {
        Some((_, fault)) => Err(fault),
        None => Ok(all),
    }
}
