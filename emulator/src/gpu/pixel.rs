//! The PP job: for every tile of the frame, the fragments of the primitives in its list, and the write-back
//! (docs/spec/mali/frame.md; docs/spec/mali/tile-lists.md).

use super::frame::Frame;
use super::geometry::Primitive;
use super::notes::Notes;
use super::plbu::{Geometry, List};
use super::raster::{self, Coverage, Shape};
use super::state::State;
use super::tile::{Incoming, SIDE, Tile, in_tile, steps};
use super::watch::{self, Fate, Painted, Place, Watch};
use super::write_back::{self, Runs};
use crate::exec::inputs::{Inputs, SLOTS};
use crate::exec::{Engine, FragmentContext, FragmentProgram, Fragments};
use crate::fault::{Fault, FaultKind, Result};
use crate::memory::Memory;
use crate::texture::{Descriptor, Texture};
use num::half;
use rayon::ThreadPool;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use utgard::frame::WriteBackSource;
use utgard::pp::ops::Origin;
use utgard::state::VaryingFormat;
use utgard::stream::TileCommand;
use utgard::texture::MAX_BYTES;

/// Tiles of a frame at most: 4096 pixels each way.
const MAX_TILES: usize = 1 << 16;

/// Commands of a tile list at most.
const MAX_COMMANDS: u32 = 1 << 20;

/// Bytes of a fragment program at most.
const MAX_PROGRAM: u32 = 1 << 16;

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

/// What the fragments of draws with one render state share.
struct Shader<'a> {
    state: State,
    program: FragmentProgram,
    uniforms: Vec<f32>,
    textures: Vec<Texture<'a>>,
    /// Slots and components of varyings that the program reads.
    used: Vec<(usize, usize)>,
    /// Nothing but the fragments' colours counts.
    plain: bool,
    /// Nothing but the primitive's depth and one colour's blending counts.
    simple: bool,
}

/// A primitive made ready for its tiles.
#[derive(Clone, Default)]
struct Ready {
    shader: usize,
    shape: Shape,
    inputs: Inputs,
    /// Polygon offset, in the depth buffer's steps.
    offset: f64,
}

/// The primitives of a geometry job. Small ones are made ready where they are painted, once or twice, and never kept;
/// large ones when the first tile wants them.
struct Prepared<'a> {
    geometry: &'a Geometry,
    /// The shader of each draw; of those that cover nothing there is none.
    shaders: Vec<Option<usize>>,
    large: Vec<OnceLock<Option<Box<Ready>>>>,
}

/// A job's primitives and shaders by their polygon lists.
#[derive(Default)]
struct Scene<'a> {
    shaders: Vec<Shader<'a>>,
    by_state: HashMap<u32, usize>,
    /// Each geometry's primitives.
    geometries: Vec<Prepared<'a>>,
    /// For every mention of a list its geometry's number, and which of its primitives are in the list.
    lists: Vec<Option<(usize, &'a [u32])>>,
    multisample: bool,
    /// Depth or stencil are tested, kept or read.
    depth: bool,
}

/// Tiles a worker takes at a time.
const CLAIM: usize = 8;

/// What a PP job may take, and who watches it.
#[derive(Clone, Copy)]
pub struct Limits<'a> {
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
    memory: &Memory,
    frame: &Frame,
    lists: &HashMap<u32, List>,
    engine: &dyn Engine,
    limits: Limits<'_>,
    spare: &mut Vec<Runs>,
    notes: &mut Notes,
) -> Result<(Vec<Runs>, PixelStats)> {
    let tiles = tiles(memory, frame, notes)?;
    let mut scene = scene(memory, &tiles, lists, notes)?;
    scene.depth |= frame
        .write_backs
        .iter()
        .any(|unit| unit.source == WriteBackSource::DepthStencil);
    // Whoever watches is told depth and stencil, whoever else asks for them.
    scene.depth |= limits.watch.is_some();
    let scene = scene;
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
        let mut worker = TileWorker::new(memory, frame, &scene, engine, (&ran, limits.instructions));
        worker.watch = limits.watch;
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

fn scene<'a>(memory: &'a Memory, tiles: &Tiles, lists: &'a HashMap<u32, List>, notes: &mut Notes) -> Result<Scene<'a>> {
    let mut scene = Scene::default();
    let mut geometries: Vec<*const Geometry> = Vec::new();
    for address in &tiles.lists {
        let Some(list) = lists.get(address) else {
            notes.add(format!("no polygon list was built at {address:#x}"));
            scene.lists.push(None);
            continue;
        };
        let key = Arc::as_ptr(&list.geometry);
        let number = match geometries.iter().position(|have| *have == key) {
            Some(number) => number,
            None => {
                let ready = prepare(memory, &list.geometry, &mut scene, notes)?;
                scene.geometries.push(ready);
                geometries.push(key);
                geometries.len() - 1
            }
        };
        scene.lists.push(Some((number, &list.primitives)));
    }
    Ok(scene)
}

/// Finds the shaders of a geometry's draws, those of which a primitive covers something.
fn prepare<'a>(
    memory: &'a Memory,
    geometry: &'a Geometry,
    scene: &mut Scene<'a>,
    notes: &mut Notes,
) -> Result<Prepared<'a>> {
    let mut shaders = vec![None; geometry.draws.len()];
    for of_draw in geometry.primitives.chunk_by(|a, b| a.draw == b.draw) {
        let number = of_draw[0].draw as usize;
        let draw = &geometry.draws[number];
        if of_draw
            .iter()
            .any(|primitive| Shape::new(primitive, draw.bounds).is_some())
        {
            shaders[number] = Some(scene.shader(memory, draw.state, notes)?);
        }
    }
    let mut large = Vec::new();
    large.resize_with(geometry.primitives.len(), OnceLock::new);
    Ok(Prepared {
        geometry,
        shaders,
        large,
    })
}

impl<'a> Scene<'a> {
    /// The number of the shader of a render state.
    fn shader(&mut self, memory: &'a Memory, state: u32, notes: &mut Notes) -> Result<usize> {
        if let Some(number) = self.by_state.get(&state) {
            return Ok(*number);
        }
        let shader = shader(memory, state, notes).map_err(|fault| fault.at(state))?;
        self.multisample |= shader.state.multisample || shader.state.sample_mask != 15;
        self.depth |= !shader.simple || shader.state.uses_depth() || shader.program.reads_tile;
        self.shaders.push(shader);
        self.by_state.insert(state, self.shaders.len() - 1);
        Ok(self.shaders.len() - 1)
    }
}

impl Scene<'_> {
    /// Tells of wanted pixels that primitives cover outside of what their draws may touch.
    fn tell_outside(&self, watch: &dyn Watch) {
        for prepared in &self.geometries {
            let geometry = prepared.geometry;
            for (primitive, shape) in geometry.primitives.iter().enumerate() {
                let (draw, shader) = (
                    &geometry.draws[shape.draw as usize],
                    prepared.shaders[shape.draw as usize],
                );
                let multisample = shader.is_some_and(|number| self.shaders[number].state.multisample);
                for [x, y] in watch::outside(shape, draw, multisample, watch.pixels()) {
                    watch.fragment(Place { geometry, primitive }, [x, y], &Fate::Outside);
                }
            }
        }
    }
}

impl Prepared<'_> {
    /// A primitive's shape and shader; nothing where it covers nothing.
    fn ready(&self, memory: &Memory, shaders: &[Shader<'_>], number: usize, ready: &mut Ready) -> bool {
        let Some(primitive) = self.geometry.primitives.get(number) else {
            return false;
        };
        let draw = &self.geometry.draws[primitive.draw as usize];
        let (Some(shape), Some(number)) = (
            Shape::new(primitive, draw.bounds),
            self.shaders[primitive.draw as usize],
        ) else {
            return false;
        };
        let shader = &shaders[number];
        let front = primitive.ccw == shader.state.front_ccw;
        raster::inputs(
            primitive,
            front,
            shader.used.iter().copied(),
            |vertex, slot, component| varying(memory, &shader.state, vertex, slot, component),
            &mut ready.inputs,
        );
        (ready.shader, ready.shape) = (number, shape);
        ready.offset = offset(&shader.state, &ready.inputs, primitive);
        true
    }

    /// A primitive made ready: kept from another tile, or in `room`.
    fn get<'b>(
        &'b self,
        memory: &Memory,
        shaders: &[Shader<'_>],
        number: usize,
        room: &'b mut Ready,
    ) -> Option<&'b Ready> {
        let primitive = self.geometry.primitives.get(number)?;
        if is_small(&primitive.shape) {
            return self.ready(memory, shaders, number, room).then_some(room);
        }
        let make = || {
            let mut ready = Box::<Ready>::default();
            self.ready(memory, shaders, number, &mut ready).then_some(ready)
        };
        self.large[number].get_or_init(make).as_deref()
    }
}

/// Few tiles are touched: no more than two each way.
fn is_small(shape: &[[f32; 2]; 3]) -> bool {
    (0..2).all(|axis| {
        let [a, b, c] = [0, 1, 2].map(|corner: usize| shape[corner][axis]);
        a.max(b).max(c) - a.min(b).min(c) < SIDE as f32
    })
}

/// Polygon offset, in steps of the depth buffer: the steepest slope times the factor, and units, each of which is a step
/// wherever a depth lies between two of them.
fn offset(state: &State, inputs: &Inputs, primitive: &Primitive) -> f64 {
    let [factor, units] = state.polygon_offset.map(f64::from);
    if primitive.point.is_some() {
        return 0.0;
    }
    factor * steps(inputs.z.dx.abs().max(inputs.z.dy.abs())) + units
}

/// One component of a vertex's varying; what is in no buffer object is zero.
fn varying(memory: &Memory, state: &State, vertex: u32, slot: usize, component: usize) -> f32 {
    // Slots are 16 bytes apart in every layout that was seen (docs/spec/mali/state.md, section 1).
    let start = state
        .varyings
        .wrapping_add(vertex.wrapping_mul(state.varying_stride))
        .wrapping_add(16 * slot as u32);
    let component = component as u32;
    match state.varying_formats[slot] {
        VaryingFormat::Float4 | VaryingFormat::Float2 => memory.float(start.wrapping_add(4 * component)).unwrap_or(0.0),
        VaryingFormat::Half4 | VaryingFormat::Half2 | VaryingFormat::Undocumented(_) => {
            let bytes = memory.array(start.wrapping_add(2 * component));
            bytes.map_or(0.0, |bytes| half::to_f32(u16::from_le_bytes(bytes)))
        }
    }
}

fn shader<'a>(memory: &'a Memory, address: u32, notes: &mut Notes) -> Result<Shader<'a>> {
    let state = State::read(memory, address)?;
    for (word, bits) in &state.unknown {
        notes.add(format!("render state word {word} has the unknown bits {bits:#x}"));
    }
    let code = memory.bytes_up_to(state.program, MAX_PROGRAM);
    let code: Vec<u32> = code
        .chunks_exact(4)
        .map(|w| u32::from_le_bytes([w[0], w[1], w[2], w[3]]))
        .collect();
    if code.is_empty() {
        return Err(Fault::unmapped(state.program, 4).within("the fragment program"));
    }
    let program = FragmentProgram::read(&code).map_err(|fault| fault.at(state.program))?;
    let uniforms = uniforms(memory, &state, notes);
    let mut textures = Vec::new();
    for number in 0..state.texture_count.min(16) {
        let list = state.textures.wrapping_add(4 * number);
        let address = memory.word(list)?;
        let words = memory.bytes_up_to(address, MAX_BYTES);
        let words: Vec<u32> = words
            .chunks_exact(4)
            .map(|w| u32::from_le_bytes([w[0], w[1], w[2], w[3]]))
            .collect();
        let descriptor = Descriptor::parse(&words);
        for (word, bits) in &descriptor.unknown {
            notes.add(format!("texture descriptor word {word} has the unknown bits {bits:#x}"));
        }
        textures.push(Texture::new(memory, descriptor)?);
    }
    let used = used(&program);
    let (plain, simple) = (state.is_plain(), state.is_simple());
    Ok(Shader {
        state,
        program,
        uniforms,
        textures,
        used,
        plain,
        simple,
    })
}

/// The uniforms of a render state's program.
pub(crate) fn uniforms(memory: &Memory, state: &State, notes: &mut Notes) -> Vec<f32> {
    if !state.has_uniforms {
        return Vec::new();
    }
    let Ok(block) = memory.word(state.uniforms) else {
        notes.add(format!(
            "the uniforms' list at {:#x} is in no buffer object",
            state.uniforms
        ));
        return Vec::new();
    };
    let bytes = memory.bytes_up_to(block, state.uniform_bytes);
    bytes
        .chunks_exact(2)
        .map(|half| half::to_f32(u16::from_le_bytes([half[0], half[1]])))
        .collect()
}

/// The varyings a program reads; all of them once it goes by an offset register.
fn used(program: &FragmentProgram) -> Vec<(usize, usize)> {
    let mut used = [[false; 4]; SLOTS];
    for unit in program
        .instructions
        .iter()
        .filter_map(|(_, instruction)| instruction.varying)
    {
        if unit.kind.row().origin != Origin::Memory {
            continue;
        }
        if unit.offset().is_some() {
            used = [[true; 4]; SLOTS];
        }
        let (first, count) = (
            (unit.index as usize) << unit.alignment.shift(),
            unit.alignment.components(),
        );
        for at in first..first + count {
            if let Some(slot) = used.get_mut(at / 4) {
                slot[at % 4] = true;
            }
        }
    }
    (0..SLOTS)
        .flat_map(|slot| (0..4).map(move |component| (slot, component)))
        .filter(|(s, c)| used[*s][*c])
        .collect()
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
    /// Room for a primitive that is not kept.
    ready: Ready,
    runs: Runs,
    stats: PixelStats,
    /// Instructions of all workers, and how many there may be.
    ran: &'a AtomicU64,
    budget: u64,
    /// Instructions that are not in that sum yet.
    unsettled: u64,
    watch: Option<&'a dyn Watch>,
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
            ready: Ready::default(),
            runs: Runs::default(),
            stats: PixelStats::default(),
            ran,
            budget,
            unsettled: 0,
            watch: None,
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
        let samples = if self.scene.multisample { 4 } else { 1 };
        self.tile.begin(self.frame, samples, self.scene.depth, column, row);
        self.stats.tiles += 1;
        self.watch.into_iter().for_each(|watch| watch.begun(&self.tile));
        // Out of the worker while it paints with it.
        let mut room = std::mem::take(&mut self.ready);
        let painted = self.lists(&scene.lists[lists], &mut room);
        self.ready = room;
        painted?;
        let mut units = self.frame.write_backs.iter();
        units.try_for_each(|unit| write_back::encode(self.frame, unit, &self.tile, number, &mut self.runs))
    }

    /// Paints the primitives of a tile's lists.
    fn lists(&mut self, lists: &[Option<(usize, &[u32])>], room: &mut Ready) -> Result<()> {
        let scene = self.scene;
        for (geometry, numbers) in lists.iter().flatten() {
            let prepared = &scene.geometries[*geometry];
            for number in numbers.iter() {
                let Some(ready) = prepared.get(self.memory, &scene.shaders, *number as usize, room) else {
                    continue;
                };
                let shader = &scene.shaders[ready.shader];
                ready
                    .shape
                    .cover(self.tile.origin, shader.state.multisample, &mut self.coverage);
                if self.coverage.quads.is_empty() {
                    continue;
                }
                match self.watch {
                    None => self.primitive(ready, shader)?,
                    Some(watch) => {
                        let (geometry, primitive) = (prepared.geometry, *number as usize);
                        self.primitive_watched(ready, shader, watch, Place { geometry, primitive })?;
                    }
                }
            }
        }
        Ok(())
    }

    fn primitive(&mut self, ready: &Ready, shader: &Shader<'_>) -> Result<()> {
        let watched = self.engine.watched_pixel().and_then(|pixel| self.watched(pixel));
        let before = watched.map(|(_, pixel)| self.tile.read(pixel).0);
        self.shade(ready, shader)?;
        self.put(ready, shader);
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
        let (state, coverage) = (&shader.state, &self.coverage);
        self.stats.quads += coverage.quads.len() as u64;
        self.stats.fragments += coverage.fragments();
        let tile = &self.tile;
        let read = |x: u32, y: u32| tile.read(in_tile(x, y));
        let context = FragmentContext {
            program: &shader.program,
            uniforms: &shader.uniforms,
            textures: &shader.textures,
            color_register: state.color_register,
            second_register: state.blends_second().then_some(state.second_register),
            depth_register: state.depth_register.or(state.packed_depth.then_some(0)),
            orientation: self.frame.orientation,
            tile: shader.program.reads_tile.then_some(&read),
            wants_words: shader.plain && self.tile.samples == 1 && self.tile.one == 255.0 && self.watch.is_none(),
        };
        self.out.has_words = false;
        let result = self
            .engine
            .fragments(&context, &ready.inputs, &coverage.quads, &mut self.out);
        result.map_err(|fault| fault.at(state.program))?;
        self.ran()
    }

    /// Brings what the program gave into the tile.
    fn put(&mut self, ready: &Ready, shader: &Shader<'_>) {
        let (state, coverage) = (&shader.state, &self.coverage);
        if shader.plain && self.tile.samples == 1 {
            return self.tile.put_plain(&coverage.quads, &self.out);
        }
        if shader.simple && self.tile.samples == 1 {
            let depth = |x, y| depths(ready, 1, x, y)[0];
            return self.tile.put_simple(state, &coverage.quads, &self.out, depth);
        }
        self.put_each(ready, shader, |tile, _, incoming| tile.put(state, incoming));
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
                    coverage: coverage.samples[number][lane],
                    color: self.out.color.each_ref().map(|row| row[at]),
                    second: self.out.second.each_ref().map(|row| row[at]),
                    depth: depths(ready, self.tile.samples, x, y),
                    front: ready.inputs.front,
                    stencil: None,
                };
                depth_from_program(state, self.out.depth[at], &mut incoming);
                put(&mut self.tile, [x, y], &incoming);
            }
        }
    }
}

/// Depth the program wrote, or depth and stencil that are being loaded back into the tile.
fn depth_from_program(state: &State, depth: f32, incoming: &mut Incoming) {
    if state.packed_depth {
        // Our own packing: a byte a channel, as the reload format gives it.
        let [high, middle, low, stencil] = incoming.color.map(|channel| (channel * 255.0).round() as u32);
        let depth = high << 16 | middle << 8 | low;
        incoming.depth = [f64::from(depth); 4];
        incoming.stencil = Some(stencil as u8);
    } else if state.depth_register.is_some() {
        incoming.depth = [steps(depth); 4];
    }
}

/// Depth of a pixel's samples, in steps of the depth buffer.
fn depths(ready: &Ready, samples: usize, x: u32, y: u32) -> [f64; 4] {
    let [dx, dy] = ready.inputs.offset(x, y);
    let at = |[sx, sy]: [f32; 2]| steps(ready.inputs.z.at(dx + sx, dy + sy)) + ready.offset;
    if samples == 1 {
        return [at([0.0; 2]); 4];
    }
    std::array::from_fn(|sample| at(raster::sample_offset(sample)))
}
