//! The polygon list builder: its command stream, primitives, and the lists of blocks of tiles
//! (docs/spec/mali/streams.md; docs/spec/mali/tile-lists.md).
//!
//! What hardware writes into the lists is not public, and nothing but the pixel processors reads it: ours are kept
//! beside memory, by the address of the block they belong to.

use super::assembly::{self, BLOCK, Block};
use super::entries::{Entries, Entry};
use super::geometry::{self, Bounds, Draw, Drops, Rules, Vertex};
use super::lists::{Built, Geometry};
use super::notes::Notes;
use super::primitives::{PIECE, Piece, Primitive};
use super::raster::Shape;
use super::vectors::of_bytes;
use super::vertex::Commands;
use crate::crew::{Crew, lock};
use crate::fault::{Fault, FaultKind, Result};
use crate::memory::Memory;
use crate::silicon::Silicon;
use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use utgard::stream::{DrawPrimitives, ListCommand, PrimitiveMode, PrimitiveSetup};

/// Primitives of a job at most.
const MAX_PRIMITIVES: usize = 1 << 22;

/// Entries of all lists of a job at most.
const MAX_ENTRIES: usize = 1 << 24;

/// Tiles of a row and of a column at most.
const MAX_TILES: u32 = 256;

/// A piece, entries of those of its primitives that may touch something, and whether one covers something.
type Made = (Piece, Vec<Entry>, bool);

/// The polygon list builder's registers.
pub struct Plbu<'a> {
    memory: &'a Memory,
    /// Threads that help.
    crew: Option<&'a Crew>,
    point_sizes: &'a HashMap<u32, u32>,
    positions: u32,
    indices: u32,
    sizes: Option<u32>,
    viewport: [f32; 4],
    scissor: Bounds,
    tiles: [u32; 2],
    shift: [u32; 2],
    blocks: Option<(u32, u32)>,
    block_width: u32,
    setup: PrimitiveSetup,
    size: f32,
    depth: [f32; 2],
    state: u32,
    geometry: Geometry,
    /// Room for primitives.
    spare: Vec<Piece>,
    /// Room for lists.
    spare_lists: Vec<Entries>,
    /// Draw commands so far.
    commands: u32,
    binned: Vec<Entries>,
    entries: usize,
    silicon: Silicon,
}

/// Indices of vertices in memory, of the size the set-up says.
///
/// # Errors
/// When they are in no buffer object.
pub(crate) fn indices(memory: &Memory, setup: &PrimitiveSetup, address: u32, count: u32) -> Result<Vec<u32>> {
    let bytes = match (setup.indices_32, setup.indices_16) {
        (true, _) => 4,
        (false, true) => 2,
        (false, false) => 1,
    };
    let data = memory.bytes(address, count.saturating_mul(bytes))?;
    let index = |bytes: &[u8]| {
        let bytes = bytes.iter().rev();
        bytes.fold(0u32, |index, byte| index << 8 | u32::from(*byte))
    };
    Ok(data.chunks_exact(bytes as usize).map(index).collect())
}

impl<'a> Plbu<'a> {
    /// A builder; `point_sizes` says for each position array where its point sizes are.
    pub fn new(memory: &'a Memory, point_sizes: &'a HashMap<u32, u32>, crew: Option<&'a Crew>) -> Self {
        Self {
            memory,
            crew,
            point_sizes,
            positions: 0,
            indices: 0,
            sizes: None,
            viewport: [0.0, 4096.0, 0.0, 4096.0],
            scissor: Bounds {
                min: [0; 2],
                max: [4095; 2],
            },
            tiles: [MAX_TILES; 2],
            shift: [0; 2],
            blocks: None,
            block_width: 1,
            setup: PrimitiveSetup::default(),
            size: 1.0,
            depth: [0.0, 1.0],
            state: 0,
            geometry: Geometry::default(),
            spare: Vec::new(),
            spare_lists: Vec::new(),
            commands: 0,
            binned: Vec::new(),
            entries: 0,
            silicon: Silicon::default(),
        }
    }

    /// With room for primitives and lists that earlier jobs' have left.
    #[must_use]
    pub fn with_room_of(mut self, earlier: Option<Geometry>, lists: Vec<Entries>) -> Self {
        self.spare = earlier.map_or_else(Vec::new, |earlier| earlier.primitives.into_spare());
        self.spare_lists = lists;
        self
    }

    /// On hardware as switches suppose it.
    #[must_use]
    pub fn supposing(mut self, silicon: Silicon) -> Self {
        self.silicon = silicon;
        self
    }

    /// Runs a stream: the lists it builds, if it has a table of blocks.
    ///
    /// # Errors
    /// A fault with the command's address.
    pub fn run(mut self, start: u32, end: u32, notes: &mut Notes) -> Result<Option<Built>> {
        let mut commands = Commands::new(self.memory, start, end);
        while let Some((address, words)) = commands.step()? {
            let command = ListCommand::decode(words);
            // Everything behind the end is another stream's.
            if let ListCommand::End(_) = command {
                break;
            }
            self.command(command, notes).map_err(|fault| fault.at(address))?;
        }
        self.lists()
    }

    fn lists(self) -> Result<Option<Built>> {
        let Some((table, count)) = self.blocks else {
            return Ok(None);
        };
        let addresses = self.memory.words(table, count)?;
        Ok(Some(Built::new(self.geometry, addresses, self.binned)))
    }

    fn command(&mut self, command: ListCommand, notes: &mut Notes) -> Result<()> {
        match command {
            ListCommand::DrawPrimitives(draw) => self.draw(&draw, notes)?,
            ListCommand::Positions(positions) => self.positions = positions.address,
            ListCommand::Indices(indices) => self.indices = indices.address,
            ListCommand::PointSizes(sizes) => self.sizes = Some(sizes.address),
            ListCommand::ViewportTop(top) => self.viewport[0] = top.edge,
            ListCommand::ViewportBottom(bottom) => self.viewport[1] = bottom.edge,
            ListCommand::ViewportLeft(left) => self.viewport[2] = left.edge,
            ListCommand::ViewportRight(right) => self.viewport[3] = right.edge,
            ListCommand::TileCounts(tiles) => {
                self.tiles = [tiles.columns, tiles.rows].map(|last| u32::from(last) + 1);
            }
            ListCommand::PrimitiveSetup(setup) => self.setup = setup,
            ListCommand::BlockShape(shape) => self.shift = [shape.shift_x, shape.shift_y].map(u32::from),
            ListCommand::PointSize(size) => self.size = size.size,
            ListCommand::Near(near) => self.depth[0] = near.depth,
            ListCommand::Far(far) => self.depth[1] = far.depth,
            ListCommand::BlockTable(table) => {
                let count = u32::from(table.last) + 1;
                self.blocks = Some((table.address, count));
                self.binned.append(&mut self.spare_lists);
                self.binned.iter_mut().for_each(Entries::clear);
                self.binned.resize_with(count as usize, Entries::default);
            }
            ListCommand::BlockWidth(width) => self.block_width = width.blocks.max(1),
            ListCommand::Scissor(scissor) => {
                self.scissor = Bounds {
                    min: [scissor.left, scissor.top].map(u32::from),
                    max: [scissor.right, scissor.bottom].map(u32::from),
                };
            }
            ListCommand::BindState(bind) => (self.state, self.positions) = (bind.state, bind.positions.0),
            // Steps of the hardware and registers that nothing depends on here.
            ListCommand::HeapStart(_)
            | ListCommand::HeapEnd(_)
            | ListCommand::Register10A(_)
            | ListCommand::End(_)
            | ListCommand::ListSemaphore(_)
            | ListCommand::StoreRegister(_)
            | ListCommand::LoadRegister(_)
            | ListCommand::Barrier(_)
            | ListCommand::ListJump(_) => {}
            ListCommand::Undocumented([value, op]) => {
                notes.add(format!("polygon list command {op:#010x} with {value:#x} is unknown"));
            }
        }
        Ok(())
    }

    fn draw(&mut self, command: &DrawPrimitives, notes: &mut Notes) -> Result<()> {
        let DrawPrimitives {
            start,
            count,
            mode,
            indexed,
        } = *command;
        let number = self.commands;
        self.commands += 1;
        if let PrimitiveMode::Undocumented(mode) = mode {
            return Err(Fault::new(FaultKind::Command, format!("primitive mode {mode}")));
        }
        let rules = Rules {
            draw: self.geometry.draws.len() as u32,
            cull: [self.setup.cull_clockwise, self.setup.cull_counter_clockwise],
            depth: self.depth,
            width: self.size,
            drops: Drops::of(self.silicon, self.viewport),
        };
        let Some(bounds) = self.bounds(mode) else { return Ok(()) };
        let slots = self.slots(count, start, indexed)?;
        let most = slots.up_to_last(count);
        let source = Source {
            memory: self.memory,
            positions: self.positions,
            all: self.all_positions(most, count),
            slots,
            sizes: self.sizes(mode),
            size: self.size,
            count,
            mode,
            rules,
            bounds,
        };
        self.geometry.draws.push(Draw {
            number,
            state: self.state,
            bounds,
            slots: most,
            covers: false,
        });
        let covers = self.primitives(&source)?;
        if let Some(draw) = self.geometry.draws.last_mut() {
            draw.covers = covers;
        }
        if self.blocks.is_none() {
            notes.add("a draw without a table of blocks is drawn nowhere".to_owned());
        }
        Ok(())
    }

    /// Makes the primitives of a draw and puts them into lists; whether one of them covers something.
    fn primitives(&mut self, source: &Source<'_>) -> Result<bool> {
        let count = geometry::count(source.mode, source.count);
        let (mut covers, mut touching) = (false, Vec::new());
        if let Some(crew) = self.crew.filter(|_| count > PIECE) {
            return self.primitives_by_all(crew, source, count);
        }
        for first in (0..count).step_by(PIECE as usize) {
            let numbers = first..count.min(first + PIECE);
            let (number, room) = self.geometry.primitives.room(numbers.len() as u32, &mut self.spare);
            let before = room.len();
            touching.clear();
            source.build(numbers, room, &mut touching)?;
            covers = covers || room[before..].iter().any(|one| source.covers(one));
            self.bin(number - before as u32, &touching)?;
            self.few()?;
        }
        Ok(covers)
    }

    /// The same with threads that help: all make pieces, and one puts them into lists in their order, as they are done.
    fn primitives_by_all(&mut self, crew: &Crew, source: &Source<'_>, count: u32) -> Result<bool> {
        let spare = &Mutex::new(std::mem::take(&mut self.spare));
        let make = |first: u32| -> Result<Made> {
            let numbers = first..count.min(first + PIECE);
            let (mut piece, mut touching) = (lock(spare).pop().unwrap_or_default(), Vec::with_capacity(numbers.len()));
            source.build(numbers, &mut piece, &mut touching)?;
            let covers = piece.iter().any(|one| source.covers(one));
            Ok((piece, touching, covers))
        };
        let firsts = (0..count).step_by(PIECE as usize);
        let places: &Vec<_> = &firsts.map(|first| (first, Mutex::new(None))).collect();
        let (next, made) = (&AtomicUsize::new(0), &AtomicUsize::new(0));
        // Makes the next piece, if there is another.
        let make_one = &|| {
            let place = places.get(next.fetch_add(1, Ordering::Relaxed));
            place.is_some_and(|(first, place)| {
                let mut place = lock(place);
                let one = make(*first);
                made.fetch_add(one.as_ref().map_or(0, |(piece, ..)| piece.len()), Ordering::Relaxed);
                *place = Some(one);
                true
            })
        };
        // A draw that is too large is told before it takes all memory.
        let help = |_| while made.load(Ordering::Relaxed) < MAX_PRIMITIVES && make_one() {};
        crew.beside(help, || {
            let mut covers = false;
            let listed = places.iter().try_for_each(|(first, place)| {
                let (piece, touching, one_covers) = loop {
                    let one = place.try_lock().ok().and_then(|mut place| place.take());
                    // While others are not done with it another one is made.
                    if one.is_some() || !make_one() {
                        break one.or_else(|| lock(place).take()).unwrap_or_else(|| make(*first))?;
                    }
                };
                covers |= one_covers;
                let number = self.geometry.primitives.push(piece);
                self.bin(number, &touching)?;
                self.few()
            });
            // Of those that are still to be made none is wanted after a fault.
            next.store(places.len(), Ordering::Relaxed);
            listed.map(|()| covers)
        })
    }

    /// Whether there are no more primitives than a job may have.
    fn few(&self) -> Result<()> {
        if self.geometry.primitives.len() >= MAX_PRIMITIVES {
            return Err(Fault::new(FaultKind::Limit, "too many primitives for one job"));
        }
        Ok(())
    }

    /// Where the sizes of points are, where each has its own.
    fn sizes(&self, mode: PrimitiveMode) -> Option<u32> {
        if mode != PrimitiveMode::Points || self.setup.fixed_size {
            return None;
        }
        self.sizes.or_else(|| self.point_sizes.get(&self.positions).copied())
    }

    /// Pixels a draw may touch; points may stand out of the viewport, and only their middle may not.
    fn bounds(&self, mode: PrimitiveMode) -> Option<Bounds> {
        let [top, bottom, left, right] = self.viewport;
        let mut bounds = self.scissor;
        let last = [self.tiles[0] * 16 - 1, self.tiles[1] * 16 - 1];
        bounds.max = [bounds.max[0].min(last[0]), bounds.max[1].min(last[1])];
        if mode != PrimitiveMode::Points {
            // Pixels whose centre is inside; a viewport that is no number bounds nothing.
            let low = |edge: f32| (edge - 0.5).ceil().max(0.0) as u32;
            let high = |edge: f32| ((edge - 0.5).ceil() - 1.0).max(0.0) as u32;
            bounds.min = [bounds.min[0].max(low(left)), bounds.min[1].max(low(top))];
            if right > left && bottom > top {
                bounds.max = [bounds.max[0].min(high(right)), bounds.max[1].min(high(bottom))];
            }
        }
        (bounds.min[0] <= bounds.max[0] && bounds.min[1] <= bounds.max[1]).then_some(bounds)
    }

    /// The positions of all vertices, where they are all in one object, as by far most are, and not far more than a draw
    /// names.
    fn all_positions(&self, most: u32, count: u32) -> Option<Cow<'a, [u8]>> {
        let few = most <= count.saturating_mul(4).saturating_add(64);
        few.then(|| self.memory.bytes(self.positions, most.saturating_mul(16)).ok())?
    }

    fn slots(&self, count: u32, start: u32, indexed: bool) -> Result<Slots> {
        let indices = indexed.then(|| indices(self.memory, &self.setup, self.indices, count));
        // The arrays begin with the vertex numbered `start`.
        let slots = |all: Vec<u32>| all.into_iter().map(|index| index.wrapping_sub(start)).collect();
        Ok(Slots {
            indices: indices.transpose()?.map(slots),
        })
    }

    /// Puts primitives into the lists of the blocks that they touch; their entries count from a number on.
    fn bin(&mut self, first: u32, touching: &[Entry]) -> Result<()> {
        let mut rest = touching;
        while let Some(entry) = rest.first() {
            // Those that follow each other are near each other, most of them in one block.
            let ends = self.ends(entry);
            let same = rest.iter().take_while(|entry| self.ends(entry) == ends).count();
            let (all, others) = rest.split_at(same);
            rest = others;
            let [[left, top], [right, bottom]] = ends;
            for row in top..bottom + 1 {
                for column in left..right + 1 {
                    let block = u64::from(row) * u64::from(self.block_width) + u64::from(column);
                    if let Some(list) = self.binned.get_mut(block as usize) {
                        list.extend(first, all);
                        self.entries += same;
                    }
                }
                if self.entries > MAX_ENTRIES {
                    return Err(Fault::new(FaultKind::Limit, "the polygon lists are too long"));
                }
            }
        }
        Ok(())
    }

    /// Column and row of the first block that a primitive touches, and of the last.
    #[inline(always)]
    fn ends(&self, entry: &Entry) -> [[u32; 2]; 2] {
        let [x, y] = self.shift;
        let block = |[column, row]: [u8; 2]| [u32::from(column) >> x, u32::from(row) >> y];
        [block(entry.first), block(entry.last)]
    }
}

/// Where a draw's primitives come from.
struct Source<'a> {
    memory: &'a Memory,
    positions: u32,
    /// All positions, where they are there.
    all: Option<Cow<'a, [u8]>>,
    slots: Slots,
    /// Sizes of points.
    sizes: Option<u32>,
    /// The size of all, where points have none of their own.
    size: f32,
    /// Vertices.
    count: u32,
    mode: PrimitiveMode,
    rules: Rules,
    bounds: Bounds,
}

impl Source<'_> {
    /// Makes the primitives of some points, lines or triangles, and entries of those that may touch something, by their number
    /// in the piece.
    fn build(&self, numbers: Range<u32>, out: &mut Piece, touching: &mut Vec<Entry>) -> Result<()> {
        let mut block = Block::default();
        for first in numbers.clone().step_by(BLOCK) {
            let numbers = first..numbers.end.min(first + BLOCK as u32);
            if let Some(()) = self.fill(numbers.clone(), &mut block) {
                block.build(&self.rules, self.bounds, out, touching);
                continue;
            }
            let before = out.len();
            self.build_each(numbers, out)?;
            let made = (before as u32..).zip(&out[before..]);
            touching.extend(made.filter_map(|(number, made)| assembly::entry(number, &made.shape(), self.bounds)));
        }
        Ok(())
    }

    /// Triangles into a block; nothing where they are none, not all of their positions are at hand, or some may be dropped.
    fn fill(&self, numbers: Range<u32>, block: &mut Block) -> Option<()> {
        use PrimitiveMode::{LineLoop, LineStrip, Lines, Points, Rectangle, Triangles};
        if self.rules.drops.some() {
            return None;
        }
        match self.mode {
            Points | Lines | LineLoop | LineStrip | Rectangle => None,
            // By far the most, which have it known from the beginning.
            Triangles => self.fill_of(Triangles, numbers, block),
            mode => self.fill_of(mode, numbers, block),
        }
    }

    /// Triangles of a mode into a block.
    #[inline(always)]
    fn fill_of(&self, mode: PrimitiveMode, numbers: Range<u32>, block: &mut Block) -> Option<()> {
        let all = self.all.as_deref()?.as_chunks::<16>().0;
        block.clear();
        for number in numbers {
            let ([a, b, c], _) = geometry::corners(mode, self.count, number);
            let slots = [self.slots.slot(a), self.slots.slot(b), self.slots.slot(c)];
            let [a, b, c] = slots;
            let positions = [all.get(a as usize)?, all.get(b as usize)?, all.get(c as usize)?];
            block.push(
                slots,
                [of_bytes(positions[0]), of_bytes(positions[1]), of_bytes(positions[2])],
            );
        }
        Some(())
    }

    /// Makes the primitives of some points, lines or triangles, one after the other.
    fn build_each(&self, numbers: Range<u32>, out: &mut Piece) -> Result<()> {
        for number in numbers {
            let (corners, count) = geometry::corners(self.mode, self.count, number);
            let mut vertices = [Vertex::default(); 3];
            for (vertex, corner) in vertices.iter_mut().zip(corners).take(count) {
                *vertex = self.vertex(corner)?;
            }
            geometry::build(self.mode, &vertices[..count], &self.rules, out);
        }
        Ok(())
    }

    fn vertex(&self, corner: u32) -> Result<Vertex> {
        let slot = self.slots.slot(corner);
        let all = self.all.as_deref();
        let bytes: [u8; 16] = match all.and_then(|all| all.as_chunks::<16>().0.get(slot as usize)) {
            Some(bytes) => *bytes,
            None => self.memory.array(self.positions.wrapping_add(slot.wrapping_mul(16)))?,
        };
        let size = match self.sizes {
            Some(sizes) => self.memory.float(sizes.wrapping_add(slot.wrapping_mul(4)))?,
            None => self.size,
        };
        Ok(Vertex {
            position: of_bytes(&bytes),
            slot,
            size,
        })
    }

    /// Whether a primitive covers anything at all.
    fn covers(&self, primitive: &Primitive) -> bool {
        Shape::new(primitive, self.bounds).is_some()
    }
}

/// Which vertices a draw names.
struct Slots {
    indices: Option<Vec<u32>>,
}

impl Slots {
    /// How many there are up to the last that one of so many vertices has.
    fn up_to_last(&self, count: u32) -> u32 {
        let last = self.indices.as_ref().map(|indices| indices.iter().max());
        last.map_or(count, |last| last.map_or(0, |last| last.saturating_add(1)))
    }

    fn slot(&self, number: u32) -> u32 {
        // Arrays begin with the first vertex that is drawn.
        self.indices
            .as_ref()
            .map_or(number, |indices| indices.get(number as usize).copied().unwrap_or(0))
    }
}
