//! The PP job: for every tile of the frame, the fragments of the primitives in its list, and the write-back
//! (docs/spec/mali/frame.md; docs/spec/mali/tile-lists.md).

use super::batch;
use super::frame::Frame;
use super::kept::Kept;
use super::notes::Notes;
use super::plbu::{Entry, List};
use super::raster::{self, Coverage};
use super::scene::{self, Ready, Scene, Shader};
use super::spots::Batch;
use super::state::State;
use super::tile::{Incoming, SIDE, Tile, in_tile, reloaded, steps};
use super::watch::{self, Fate, Painted, Place, Watch};
use super::write_back::{self, Runs};
use crate::exec::{Engine, FragmentContext, Fragments, MAX_QUADS, TileReader};
use crate::fault::{Fault, FaultKind, Result};
use crate::memory::{Memory, Put};
use rayon::ThreadPool;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use utgard::frame::WriteBackSource;
use utgard::state::Compare;
use utgard::stream::TileCommand;

/// Tiles of a frame at most: 4096 pixels each way.
const MAX_TILES: usize = 1 << 16;

/// Commands of a tile list at most.
const MAX_COMMANDS: u32 = 1 << 20;

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
    fn add(&mut self, other: Self) {
        self.tiles += other.tiles;
        self.quads += other.quads;
        self.fragments += other.fragments;
        self.instructions += other.instructions;
    }
}

/// The tiles of a job and the polygon lists of each.
#[derive(Default)]
struct Tiles {
    /// Row and column of each tile in that order, and which of the lists are its own.
    tiles: Vec<((u32, u32), Range<usize>)>,
    /// Addresses of polygon lists.
    lists: Vec<u32>,
}

impl Tiles {
    /// Tiles from mentions of them, with a list or without, in the order of the job.
    fn of(mut mentions: Vec<((u32, u32), Option<u32>)>) -> Self {
        let mut all = Self::default();
        mentions.sort_by_key(|(tile, _)| *tile);
        for of_tile in mentions.chunk_by(|a, b| a.0 == b.0) {
            let start = all.lists.len();
            all.lists.extend(of_tile.iter().filter_map(|(_, list)| *list));
            all.tiles.push((of_tile[0].0, start..all.lists.len()));
        }
        all
    }
}

/// Reads every PP's list of tiles.
fn tiles(memory: &Memory, frame: &Frame, notes: &mut Notes) -> Result<Tiles> {
    let mut mentions = Vec::new();
    for start in &frame.lists {
        let (mut at, mut tile) = (*start, None);
        for command in 0.. {
            if command == MAX_COMMANDS {
                return Err(Fault::new(FaultKind::Budget, "a list of tiles does not end").at(*start));
            }
            match TileCommand::decode([memory.word(at)?, memory.word(at.wrapping_add(4))?]) {
                TileCommand::EndOfTiles(_) => break,
                TileCommand::BeginTile(begin) => {
                    tile = Some((begin.row.into(), begin.column.into()));
                    mentions.extend(tile.map(|tile| (tile, None)));
                }
                TileCommand::RunBlock(run) => match tile {
                    Some(tile) => mentions.push((tile, Some(run.block.0))),
                    None => return Err(Fault::new(FaultKind::Command, "a polygon list before any tile").at(at)),
                },
                TileCommand::Undocumented([low, high]) => {
                    notes.add(format!("tile list command {high:#010x} {low:#010x} is unknown"));
                }
            }
            at = at.wrapping_add(8);
        }
    }
    let tiles = Tiles::of(mentions);
    if tiles.tiles.len() > MAX_TILES {
        return Err(Fault::new(FaultKind::Limit, "too many tiles"));
    }
    Ok(tiles)
}

/// Tiles a worker takes at a time.
const CLAIM: usize = 8;

/// What a PP job may take, and who watches it.
#[derive(Clone, Copy)]
pub struct Limits<'a> {
    /// What earlier jobs left.
    pub kept: &'a Kept,
    /// Threads that paint, beside the caller's.
    pub pool: Option<&'a ThreadPool>,
    /// Instructions that all fragments may run together.
    pub instructions: u64,
    /// Who is told what becomes of primitives and fragments.
    pub watch: Option<&'a dyn Watch>,
}

/// Runs a PP job; returns what goes to memory, in room from `spare` as far as that goes.
///
/// # Errors
/// A fault of anything the job reads.
pub fn run(
    memory: &mut Memory,
    frame: &Frame,
    lists: &HashMap<u32, List>,
    engine: &dyn Engine,
    limits: Limits<'_>,
    spare: &mut Vec<Runs>,
    notes: &mut Notes,
) -> Result<(Vec<Runs>, PixelStats)> {
    let tiles = tiles(memory, frame, notes)?;
    let scene = scene(memory, (frame, &tiles), lists, limits, notes)?;
    let extent = at_once(memory, (frame, &tiles), &scene, engine, limits);
    let Some((address, length, part)) = extent else {
        return paint((memory, None), (frame, &tiles), &scene, engine, limits, spare, notes);
    };
    drop(scene);
    let mut lent = memory.lend(address, length);
    let scene = self::scene(memory, (frame, &tiles), lists, limits, notes);
    let target = lent.as_mut().map(|lent| lent.target(part));
    let memory_and_put = (&*memory, target.as_ref().map(|target| target as &dyn Put));
    let painted = scene.and_then(|scene| {
        let job = (frame, &tiles);
        paint(memory_and_put, job, &scene, engine, limits, spare, notes)
    });
    drop(target);
    lent.into_iter().for_each(|lent| memory.take_back(lent));
    painted
}

/// What the tiles' lists paint.
fn scene<'a>(
    memory: &'a Memory,
    (frame, tiles): (&Frame, &Tiles),
    lists: &'a HashMap<u32, List>,
    limits: Limits<'a>,
    notes: &mut Notes,
) -> Result<Scene<'a>> {
    let mut scene = Scene::new((memory, limits.kept), &tiles.lists, lists, notes)?;
    scene.depth |= frame
        .write_backs
        .iter()
        .any(|unit| unit.source == WriteBackSource::DepthStencil);
    // Whoever watches is told depth and stencil, whoever else asks for them.
    scene.depth |= limits.watch.is_some();
    Ok(scene)
}

/// Tiles from which on it is worth while to ask whether they may go to memory at once, and primitives up to which it is.
const MANY_TILES: usize = 64;
const FEW_PRIMITIVES: usize = 1 << 14;

/// Where the picture goes, if finished tiles may go there at once: nothing can fail any more, so that all of it will be
/// written, and nobody reads there.
fn at_once(
    memory: &Memory,
    (frame, tiles): (&Frame, &Tiles),
    scene: &Scene<'_>,
    engine: &dyn Engine,
    limits: Limits<'_>,
) -> Option<(u32, u32, usize)> {
    let [unit] = frame.write_backs[..] else { return None };
    let told = limits.watch.is_some() || engine.watched_pixel().is_some() || memory.keeps_writes();
    if told || unit.planes != 0 || tiles.tiles.len() < MANY_TILES || scene.primitives() > FEW_PRIMITIVES {
        return None;
    }
    let extent = write_back::extent(frame, &unit)?;
    let (first, last) = (
        memory.object_at(extent.0)?,
        memory.object_at(extent.0 + (extent.1 - 1))?,
    );
    if first != last || scene.reads(memory, first) {
        return None;
    }
    // What paints in one go does not fail, and says how long it takes; every primitive may cover every tile it is listed in.
    let mut steps = 0;
    for shader in &scene.shaders {
        let context = context(shader, frame, None, shader.state.takes_words() && !frame.half_float);
        let painter = Some(context).filter(|context| context.wants_words);
        steps = shader.painter(engine, &painter?, true)?.steps().max(steps);
    }
    let most = scene
        .entries()
        .checked_mul(4 * MAX_QUADS as u64)?
        .checked_mul(u64::from(steps))?;
    (most <= limits.instructions).then_some(extent)
}

/// Paints the tiles, into a target or into what is left for memory.
fn paint(
    (memory, target): (&Memory, Option<&dyn Put>),
    (frame, tiles): (&Frame, &Tiles),
    scene: &Scene<'_>,
    engine: &dyn Engine,
    limits: Limits<'_>,
    spare: &mut Vec<Runs>,
    notes: &mut Notes,
) -> Result<(Vec<Runs>, PixelStats)> {
    limits.watch.into_iter().for_each(|watch| scene.tell_outside(watch));
    for (register, value) in &frame.unknown {
        notes.add(format!(
            "PP frame register {register} holds {value:#x}, whose meaning is unknown"
        ));
    }
    let work = &tiles.tiles;
    let (next, ran) = (AtomicUsize::new(0), AtomicU64::new(0));
    let spare = Mutex::new(spare);
    let results = Mutex::new(Vec::new());
    let worker = || {
        let mut worker = TileWorker::new(memory, frame, scene, engine, (&ran, limits.instructions));
        (worker.watch, worker.target) = (limits.watch, target);
        worker.runs = spare.lock().ok().and_then(|mut spare| spare.pop()).unwrap_or_default();
        let mut fault = None;
        while fault.is_none() {
            let first = next.fetch_add(CLAIM, Ordering::Relaxed);
            let Some(claimed) = work
                .get(first..(first + CLAIM).min(work.len()))
                .filter(|some| !some.is_empty())
            else {
                break;
            };
            fault = worker.tiles(first, claimed).err();
            if fault.is_some() {
                // Others may finish what they have; the first fault by tile is the job's.
                next.store(work.len(), Ordering::Relaxed);
            }
        }
        if let Ok(mut results) = results.lock() {
            results.push((worker.runs, worker.stats, fault));
        }
    };
    match limits.pool {
        // Few tiles are painted before anybody else is awake.
        Some(pool) if work.len() > 2 * CLAIM => pool.in_place_scope(|scope| {
            (1..pool.current_num_threads()).for_each(|_| scope.spawn(|_| worker()));
            worker();
        }),
        _ => worker(),
    }
    collect(results.into_inner().unwrap_or_default())
}

/// What a worker leaves: its pictures, what it did, and its fault with the tile's number.
type Done = (Runs, PixelStats, Option<(usize, Fault)>);

/// Puts together what the workers left.
fn collect(results: Vec<Done>) -> Result<(Vec<Runs>, PixelStats)> {
    let mut stats = PixelStats::default();
    let mut faults = Vec::new();
    let mut pictures = Vec::new();
    for (runs, part, fault) in results {
        stats.add(part);
        faults.extend(fault);
        pictures.push(runs);
    }
    match faults.into_iter().min_by_key(|(at, _)| *at) {
        Some((_, fault)) => Err(fault),
        None => Ok((pictures, stats)),
    }
}

/// Paints tiles.
struct TileWorker<'a> {
    memory: &'a Memory,
    frame: &'a Frame,
    scene: &'a Scene<'a>,
    engine: &'a dyn Engine,
    out: Box<Fragments>,
    coverage: Coverage,
    tile: Tile,
    /// Room for primitives, while nobody has it.
    primitives: Option<scene::Room>,
    /// Room for a batch.
    room: Box<batch::Room>,
    runs: Runs,
    stats: PixelStats,
    /// Instructions of all workers, and how many there may be.
    ran: &'a AtomicU64,
    budget: u64,
    /// Instructions that are not in that sum yet.
    unsettled: u64,
    watch: Option<&'a dyn Watch>,
    /// Where finished tiles go at once, if they do.
    target: Option<&'a dyn Put>,
}

impl<'a> TileWorker<'a> {
    fn new(
        memory: &'a Memory,
        frame: &'a Frame,
        scene: &'a Scene<'a>,
        engine: &'a dyn Engine,
        (ran, budget): (&'a AtomicU64, u64),
    ) -> Self {
        Self {
            memory,
            frame,
            scene,
            engine,
            out: Box::default(),
            coverage: Coverage::default(),
            tile: Tile::default(),
            primitives: None,
            room: Box::default(),
            runs: Runs::default(),
            stats: PixelStats::default(),
            ran,
            budget,
            unsettled: 0,
            watch: None,
            target: None,
        }
    }

    /// Paints tiles from the `first` of the job on; a fault comes with its tile's number.
    fn tiles(&mut self, first: usize, tiles: &[((u32, u32), Range<usize>)]) -> Result<(), (usize, Fault)> {
        for (number, ((row, column), lists)) in (first..).zip(tiles) {
            let done = self.tile(number, *column, *row, lists.clone());
            done.map_err(|fault| (number, fault))?;
        }
        self.settle().map_err(|fault| (first, fault))
    }

    /// Paints a tile, the `number`th of the job.
    fn tile(&mut self, number: usize, column: u32, row: u32, lists: Range<usize>) -> Result<()> {
        let scene = self.scene;
        // Samples are told apart once that is asked for, or at once for those who look at them.
        let alike = self.frame.begins_alike() && self.watch.is_none();
        let samples = if self.scene.multisample && !alike { 4 } else { 1 };
        self.tile.begin(self.frame, samples, self.scene.depth, column, row);
        self.stats.tiles += 1;
        if let (Some(target), [unit]) = (self.target, &self.frame.write_backs[..]) {
            write_back::expect(self.frame, unit, self.tile.origin, target);
        }
        self.watch.into_iter().for_each(|watch| watch.begun(&self.tile));
        // Out of the worker while it paints with it.
        let mut room = self.primitives.take().unwrap_or_default();
        let painted = self.lists(&scene.lists[lists], &mut room);
        self.primitives = Some(room);
        painted?;
        let mut units = self.frame.write_backs.iter();
        units.try_for_each(|unit| write_back::encode(self.frame, unit, &self.tile, number, &mut self.runs))?;
        self.target.into_iter().for_each(|target| self.runs.hand_over(target));
        Ok(())
    }

    /// Paints the primitives of a tile's lists.
    fn lists(&mut self, lists: &[Option<(usize, &[Entry])>], room: &mut scene::Room) -> Result<()> {
        let scene = self.scene;
        let tile = self.tile.origin.map(|at| (at / SIDE) as u8);
        for (geometry, entries) in lists.iter().flatten() {
            let prepared = &scene.geometries[*geometry];
            // A list is of several tiles.
            for entry in entries.iter().filter(|entry| entry.touches(tile)) {
                let number = entry.primitive;
                let tile = (self.tile.origin, &mut self.coverage);
                let Some((ready, shader)) = prepared.cover(self.memory, &scene.shaders, number, tile, room) else {
                    continue;
                };
                match self.watch {
                    None => self.primitive(ready, shader)?,
                    Some(watch) => {
                        let (geometry, primitive) = (prepared.geometry, number);
                        self.primitive_watched(ready, shader, watch, Place { geometry, primitive })?;
                    }
                }
            }
        }
        Ok(())
    }

    fn primitive(&mut self, ready: &Ready, shader: &Shader<'_>) -> Result<()> {
        if self.scene.multisample
            && self.tile.samples == 1
            && (shader.state.tells_samples_apart() || self.coverage.tells_samples_apart())
        {
            self.tile.split();
        }
        if self.engine.watched_pixel().is_some() {
            return self.primitive_told(ready, shader);
        }
        match self.paint(ready, shader) {
            Words::There => self.ran(),
            words => {
                self.shade(ready, shader)?;
                self.put(ready, shader, matches!(words, Words::Tested));
                Ok(())
            }
        }
    }

    /// Shades and puts a primitive in one go.
    fn paint(&mut self, ready: &Ready, shader: &Shader<'_>) -> Words {
        let Some(context) = self.wants_words(shader).then(|| self.context(shader, None)) else {
            return Words::None;
        };
        let Some(painter) = shader.painter(self.engine, &context, ready.inputs.flat) else {
            return Words::None;
        };
        let quads = self.coverage.covered();
        let covered = (&self.coverage, ready, shader);
        let batch = self::batch(covered, &self.out, false);
        // Where alphas are tested, that comes first.
        let tested = batch.is_tested() && !context.wants_alpha;
        let wanted = !tested || self.tile.test_early(&batch, &mut self.room);
        if wanted {
            if context.blending.is_some() {
                self.tile.words(quads, &mut self.out.destination);
            }
            if !painter.paint(&context, &ready.inputs, quads, &mut self.out) {
                return if tested { Words::Tested } else { Words::None };
            }
        }
        // Fragments nobody will see count as if they ran: how many there are is no matter of speed.
        let count = quads.count() as u64;
        self.stats.quads += count;
        self.stats.fragments += self.coverage.fragments();
        self.out.instructions += 4 * count * u64::from(painter.steps());
        if wanted && (tested || context.wants_alpha) {
            (self.out.has_words, self.out.live) = (true, quads.live());
            let batch = self::batch(covered, &self.out, tested);
            self.tile.put_batch(&batch, &mut self.room);
        } else if wanted && shader.state.blending.write_mask != 0 {
            self.tile.put_words(quads, &self.out.words);
        }
        Words::There
    }

    /// Shades and puts a primitive, and tells the engine what became of the pixel it watches.
    fn primitive_told(&mut self, ready: &Ready, shader: &Shader<'_>) -> Result<()> {
        self.coverage.list();
        let watched = self.engine.watched_pixel().and_then(|pixel| self.watched(pixel));
        let before = watched.map(|(_, pixel)| self.tile.read(pixel).0);
        self.shade(ready, shader)?;
        self.put(ready, shader, false);
        if let (Some((fragment, pixel)), Some(before)) = (watched, before) {
            let color = self
                .is_live(fragment)
                .then(|| std::array::from_fn(|channel| self.out.color[channel][fragment]));
            self.engine.painted(before, color, self.tile.read(pixel).0);
        }
        Ok(())
    }

    /// Shades and puts a primitive as [`TileWorker::primitive`] does, every fragment for itself, and tells of it.
    fn primitive_watched(
        &mut self,
        ready: &Ready,
        shader: &Shader<'_>,
        watch: &dyn Watch,
        place: Place<'_>,
    ) -> Result<()> {
        let ran = self.stats.instructions;
        self.shade(ready, shader)?;
        let wanted = watch::wanted(watch.pixels(), &self.coverage.quads);
        self.put_each(ready, shader, |tile, at, incoming| {
            if wanted.contains(&at) {
                watch.fragment(place, at, &watch::put(tile, &shader.state, incoming));
            } else {
                tile.put(&shader.state, incoming);
            }
        });
        for at in wanted {
            if self
                .watched((at[0], at[1]))
                .is_some_and(|(number, _)| !self.is_live(number))
            {
                watch.fragment(place, at, &Fate::Discarded);
            }
        }
        watch.painted(&Painted {
            place,
            quads: &self.coverage.quads,
            instructions: self.stats.instructions - ran,
            tile: &self.tile,
        });
        Ok(())
    }

    /// Whether a fragment of the batch is still there.
    fn is_live(&self, fragment: usize) -> bool {
        self.out.live[fragment / 4] >> (fragment % 4) & 1 == 1
    }

    /// A watched pixel that the present primitive covers: the fragment's number, and the pixel's in the tile.
    fn watched(&self, (x, y): (u32, u32)) -> Option<(usize, usize)> {
        let quads = &self.coverage.quads;
        let number = quads.iter().position(|quad| (quad.x, quad.y) == (x & !1, y & !1))?;
        let lane = (x & 1 | (y & 1) << 1) as usize;
        let covered = quads[number].live >> lane & 1 == 1;
        covered.then_some((4 * number + lane, in_tile(x, y)))
    }

    /// Counts what the engine did.
    fn ran(&mut self) -> Result<()> {
        let more = std::mem::take(&mut self.out.instructions);
        self.stats.instructions += more;
        self.unsettled += more;
        // Workers would get in each other's way if each looked at the sum each time.
        if self.unsettled < 1 << 20 {
            Ok(())
        } else {
            self.settle()
        }
    }

    /// Adds what was counted to the sum of all workers.
    fn settle(&mut self) -> Result<()> {
        let more = std::mem::take(&mut self.unsettled);
        let all = self.ran.fetch_add(more, Ordering::Relaxed) + more;
        if all > self.budget {
            let what = "the fragments run more instructions than a job may";
            return Err(Fault::new(FaultKind::Budget, what));
        }
        Ok(())
    }

    /// Runs the program for what is covered.
    fn shade(&mut self, ready: &Ready, shader: &Shader<'_>) -> Result<()> {
        self.coverage.list();
        let coverage = &self.coverage;
        self.stats.quads += coverage.quads.len() as u64;
        self.stats.fragments += coverage.fragments();
        let tile = &self.tile;
        let read = |x: u32, y: u32| tile.read(in_tile(x, y));
        let context = self.context(shader, Some(&read));
        if context.blending.is_some() {
            tile.words(coverage.covered(), &mut self.out.destination);
        }
        self.out.has_words = false;
        let result = self
            .engine
            .fragments(&context, &ready.inputs, &coverage.quads, &mut self.out);
        result.map_err(|fault| fault.at(shader.state.program))?;
        self.ran()
    }

    /// Colours of a draw may come as words.
    fn wants_words(&self, shader: &Shader<'_>) -> bool {
        let tile = &self.tile;
        shader.state.takes_words() && tile.samples == 1 && tile.one == 255.0 && self.watch.is_none()
    }

    /// What the fragments of a draw share; `tile` reads the tile.
    fn context<'b>(&self, shader: &'b Shader<'_>, tile: Option<&'b TileReader<'b>>) -> FragmentContext<'b> {
        context(shader, self.frame, tile, self.wants_words(shader))
    }

    /// Brings what the program gave into the tile; `tested`: of those that [`Tile::test_early`] found.
    fn put(&mut self, ready: &Ready, shader: &Shader<'_>, tested: bool) {
        let batch = batch((&self.coverage, ready, shader), &self.out, tested);
        self.tile.put_batch(&batch, &mut self.room);
    }

    /// Hands every live fragment to `put`, with its pixel.
    fn put_each(&mut self, ready: &Ready, shader: &Shader<'_>, mut put: impl FnMut(&mut Tile, [u32; 2], &Incoming)) {
        let (state, coverage) = (&shader.state, &self.coverage);
        for (number, quad) in coverage.quads.iter().enumerate() {
            for lane in (0..4usize).filter(|lane| self.out.live[number] >> lane & 1 == 1) {
                let (x, y) = (quad.x + (lane as u32 & 1), quad.y + (lane as u32 >> 1));
                let at = 4 * number + lane;
                let mut incoming = Incoming {
                    pixel: in_tile(x, y),
                    coverage: coverage.samples.get(number).map_or(15, |samples| samples[lane]),
                    color: self.out.color.each_ref().map(|row| row[at]),
                    second: self.out.second.each_ref().map(|row| row[at]),
                    depth: [0, 1, 2, 3].map(|sample| depth(ready, self.tile.samples, sample, [x, y])),
                    front: ready.inputs.front,
                    stencil: None,
                };
                depth_from_program(state, self.out.depth[at], &mut incoming);
                put(&mut self.tile, [x, y], &incoming);
            }
        }
    }
}

/// What the fragments of a draw share; `tile` reads the tile.
fn context<'b>(
    shader: &'b Shader<'_>,
    frame: &Frame,
    tile: Option<&'b TileReader<'b>>,
    wants_words: bool,
) -> FragmentContext<'b> {
    let state = &shader.state;
    FragmentContext {
        program: &shader.program,
        uniforms: &shader.uniforms,
        textures: &shader.textures,
        color_register: state.color_register,
        second_register: state.blending.uses_second().then_some(state.second_register),
        depth_register: state.depth_register.or(state.packed_depth.then_some(0)),
        orientation: frame.orientation,
        tile: tile.filter(|_| shader.program.reads_tile),
        wants_words,
        wants_alpha: wants_words && state.alpha_compare != Compare::Always,
        blending: Some(&state.blending).filter(|blending| wants_words && !blending.covers()),
    }
}

/// What a primitive covers of the tile, on its way there.
fn batch<'a>(
    (coverage, ready, shader): (&'a Coverage, &'a Ready, &'a Shader<'_>),
    fragments: &'a Fragments,
    tested: bool,
) -> Batch<'a> {
    Batch {
        state: &shader.state,
        quads: coverage.covered(),
        samples: &coverage.samples,
        fragments,
        tested,
        inputs: &ready.inputs,
        offset: ready.offset,
    }
}

/// What became of the wish for words in one go.
enum Words {
    /// They are in the tile.
    There,
    /// There are none, but the fragments were tested.
    Tested,
    /// There are none.
    None,
}

/// Depth the program wrote, or depth and stencil that are being loaded back into the tile.
fn depth_from_program(state: &State, depth: f32, incoming: &mut Incoming) {
    if state.packed_depth {
        let [depth, stencil] = reloaded(incoming.color);
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
        _ => raster::sample_offset(sample),
    };
    steps(ready.inputs.z.at(dx + sx, dy + sy)) + ready.offset
}
