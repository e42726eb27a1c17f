//! The polygon list builder: its command stream, primitives, and the lists of blocks of tiles
//! (docs/spec/mali/streams.md; docs/spec/mali/tile-lists.md).
//!
//! What hardware writes into the lists is not public, and nothing but the pixel processors reads it: ours are kept
//! beside memory, by the address of the block they belong to.

use super::bins::Grid;
use super::entries::Entries;
use super::geometry::{CornerCulling, Draw, Rules};
use super::lists::{Built, Geometry};
use super::pieces::{ChunkBuilder, PendingDraws, Plan, Source};
use super::slots::Slots;
use crate::fault::{Fault, FaultKind, Result};
use crate::gpu::commands::Commands;
use crate::gpu::notes::Notes;
use crate::gpu::primitives::Bounds;
use crate::gpu::primitives::Piece;
use crate::memory::Memory;
use crate::silicon::Silicon;
use crate::thread_pool::{ThreadPool, lock};
use crate::work_queue::WorkQueue;
use std::borrow::Cow;
use std::cell::Cell;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};
use utgard::stream::{DrawPrimitives, ListCommand, PrimitiveMode, PrimitiveSetup};

/// Primitives of a job at most.
const MAX_PRIMITIVES: usize = 1 << 22;

/// Entries of all lists of a job at most.
const MAX_ENTRIES: usize = 1 << 24;

/// Pieces of a job at most.
const MOST_PIECES: usize = 1 << 16;

/// Tiles of a row and of a column at most.
const MAX_TILES: u32 = 256;

/// The polygon list builder's registers.
pub struct Plbu<'a> {
    memory: &'a Memory,
    /// The worker threads.
    pool: Option<&'a ThreadPool>,
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
    /// Allocations for primitives.
    spare: Vec<Piece>,
    /// Allocations for lists.
    spare_lists: Vec<Entries>,
    /// Draw commands so far.
    drawn: u32,
    waiting: PendingDraws<'a>,
    /// Primitives, lists, and entries of these so far.
    primitives: usize,
    binned: Vec<Entries>,
    entries: usize,
    silicon: Silicon,
}

impl<'a> Plbu<'a> {
    /// A builder; `point_sizes` says for each position array where its point sizes are.
    pub fn new(memory: &'a Memory, point_sizes: &'a HashMap<u32, u32>, pool: Option<&'a ThreadPool>) -> Self {
        Self {
            memory,
            pool,
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
            drawn: 0,
            waiting: PendingDraws::default(),
            primitives: 0,
            binned: Vec::new(),
            entries: 0,
            silicon: Silicon::default(),
        }
    }

    /// With the allocations of earlier jobs' primitives and lists.
    #[must_use]
    pub fn with_room_of(mut self, earlier: Option<Geometry>, lists: Vec<Entries>) -> Self {
        self.spare = earlier.map_or_else(Vec::new, |earlier| earlier.primitives.into_spare());
        self.spare_lists = lists;
        self
    }

    /// With silicon switches.
    #[must_use]
    pub fn with_quirks(mut self, silicon: Silicon) -> Self {
        self.silicon = silicon;
        self
    }

    /// Runs a stream, and returns the lists it builds if it has a table of blocks.
    ///
    /// # Errors
    /// A fault with the command's address.
    pub fn run(mut self, start: u32, end: u32, notes: &mut Notes) -> Result<Option<Built>> {
        let ran = self.commands(start, end, notes);
        // Draws that came before a fault have theirs before it.
        self.make().and(ran)?;
        self.lists()
    }

    fn commands(&mut self, start: u32, end: u32, notes: &mut Notes) -> Result<()> {
        let mut commands = Commands::new(self.memory, start, end);
        while let Some((address, words)) = commands.step()? {
            let command = ListCommand::decode(words);
            // Everything behind the end is another stream's.
            if let ListCommand::End(_) = command {
                break;
            }
            let done = self.command(address, command, notes);
            done.map_err(|fault| fault.at(address))?;
        }
        Ok(())
    }

    fn lists(self) -> Result<Option<Built>> {
        let Some((table, count)) = self.blocks else {
            return Ok(None);
        };
        let addresses = self.memory.words(table, count)?;
        Ok(Some(Built::new(self.geometry, addresses, self.binned)))
    }

    fn command(&mut self, address: u32, command: ListCommand, notes: &mut Notes) -> Result<()> {
        match command {
            ListCommand::DrawPrimitives(draw) => self.draw(address, &draw, notes)?,
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
                self.make()?;
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
            // Hardware synchronisation, and registers without an effect here.
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

    fn draw(&mut self, address: u32, command: &DrawPrimitives, notes: &mut Notes) -> Result<()> {
        let DrawPrimitives {
            start,
            count,
            mode,
            indexed,
        } = *command;
        let number = self.drawn;
        self.drawn += 1;
        if let PrimitiveMode::Undocumented(mode) = mode {
            return Err(Fault::new(FaultKind::Command, format!("primitive mode {mode}")));
        }
        let rules = Rules {
            draw: self.geometry.draws.len() as u32,
            cull: [self.setup.cull_clockwise, self.setup.cull_counter_clockwise],
            depth: self.depth,
            width: self.size,
            drops: CornerCulling::of(self.silicon, self.viewport),
        };
        let Some(bounds) = self.bounds(mode) else { return Ok(()) };
        let slots = match indexed {
            true => Slots::indexed(self.memory, &self.setup, self.indices, count, start)?,
            false => Slots::in_order(),
        };
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
            grid: Grid {
                shift: self.shift,
                width: self.block_width,
                blocks: self.binned.len() as u32,
            },
            command: address,
        };
        self.geometry.draws.push(Draw {
            number,
            state: self.state,
            bounds,
            slots: most,
            covers: false,
        });
        self.waiting.push(source);
        if self.blocks.is_none() {
            notes.add("a draw without a table of blocks is drawn nowhere".to_owned());
        }
        if self.waiting.is_much() { self.make() } else { Ok(()) }
    }

    /// Builds the primitives of the pending draws, and adds them to lists.
    fn make(&mut self) -> Result<()> {
        let waiting = std::mem::take(&mut self.waiting);
        if let Some(pool) = self.pool.filter(|_| waiting.is_worth_help()) {
            return self.make_by_all(pool, &waiting);
        }
        let (plan, mut made) = (waiting.plan(1), ChunkBuilder::default());
        for number in 0..plan.pieces() {
            made.piece = self.spare.pop().unwrap_or_default();
            let first = self.make_one(&waiting, &plan, number, &mut made, u32::MAX)?;
            made.list(&mut self.binned, 0, u32::MAX, first);
        }
        Ok(())
    }

    /// The same with all threads: they build pieces, and then each fills the lists of some blocks.
    fn make_by_all(&mut self, pool: &ThreadPool, waiting: &PendingDraws<'a>) -> Result<()> {
        let threads = pool.threads();
        let plan = waiting.plan(threads as u32);
        let share = (self.binned.len() / (4 * threads)).max(1) as u32;
        let (claims, spare) = (
            &WorkQueue::new(plan.pieces(), threads),
            &Mutex::new(std::mem::take(&mut self.spare)),
        );
        let pieces: Vec<OnceLock<ChunkBuilder>> = (0..plan.pieces()).map(|_| OnceLock::new()).collect();
        let (primitives, entries) = (AtomicUsize::new(self.primitives), AtomicUsize::new(self.entries));
        let more = |more| entries.fetch_add(more, Ordering::Relaxed) + more <= MAX_ENTRIES;
        pool.all(|thread| {
            // A job that is too large fails before it takes all memory.
            while primitives.load(Ordering::Relaxed) < MAX_PRIMITIVES
                && let Some(number) = claims.take(thread)
            {
                let mut made = ChunkBuilder::default();
                made.piece = lock(spare).pop().unwrap_or_default();
                match waiting.make(&plan, number, &mut made, share, &more) {
                    Ok(()) => {
                        primitives.fetch_add(made.piece.len(), Ordering::Relaxed);
                        pieces[number].get_or_init(|| made);
                    }
                    Err(_) => claims.stop(number),
                }
            }
        });
        self.spare.append(&mut lock(spare));
        let mut all = Vec::with_capacity(pieces.len());
        for (number, piece) in pieces.into_iter().enumerate() {
            // Limits and faults are found again, now in the draws' order.
            let made = piece
                .into_inner()
                .filter(|made| self.entries + made.listed <= MAX_ENTRIES);
            all.push(match made {
                Some(mut made) => (self.add(plan.command(waiting, number), waiting, &mut made)?, made),
                None => {
                    let mut made = ChunkBuilder::default();
                    (self.make_one(waiting, &plan, number, &mut made, share)?, made)
                }
            });
        }
        pool.each((0..).zip(self.binned.chunks_mut(share as usize)), |(number, lists)| {
            for (first, made) in &all {
                made.list(lists, number, share, *first);
            }
        });
        Ok(())
    }

    /// Builds a piece, and adds it; returns the number of its first primitive.
    fn make_one(
        &mut self,
        waiting: &PendingDraws<'a>,
        plan: &Plan,
        number: usize,
        made: &mut ChunkBuilder,
        share: u32,
    ) -> Result<u32> {
        let entries = Cell::new(self.entries);
        let more = |more| {
            entries.set(entries.get() + more);
            entries.get() <= MAX_ENTRIES
        };
        waiting.make(plan, number, made, share, &more)?;
        self.add(plan.command(waiting, number), waiting, made)
    }

    /// Adds a piece whose last draw has its command at an address; returns the number of its first primitive.
    fn add(&mut self, command: u32, waiting: &PendingDraws<'a>, made: &mut ChunkBuilder) -> Result<u32> {
        for draw in &made.covering {
            let draw = waiting.draws[*draw].rules.draw;
            self.geometry.draws[draw as usize].covers = true;
        }
        self.entries += made.listed;
        self.primitives += made.piece.len();
        let piece = std::mem::take(&mut made.piece);
        if piece.is_empty() {
            self.spare.push(piece);
            return Ok(0);
        }
        let is_few = self.primitives < MAX_PRIMITIVES && self.geometry.primitives.pieces().len() < MOST_PIECES;
        match is_few {
            true => Ok(self.geometry.primitives.push(piece)),
            false => Err(Fault::new(FaultKind::Limit, "too many primitives for one job").at(command)),
        }
    }

    /// The address of the points' sizes, if each has its own.
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
            // Pixels whose centre is inside; a viewport of NaN bounds nothing.
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastrand::Rng;

    const POSITIONS: u32 = 0x10_0000;
    const INDICES: u32 = 0x1000;
    const VERTICES: u32 = 4096;

    /// Positions of vertices here and there, and indices of them.
    fn memory() -> Memory {
        let mut random = Rng::with_seed(9);
        let mut memory = Memory::default();
        memory.map(POSITIONS, 16 * VERTICES).unwrap();
        memory.map(INDICES, 0x1_0000).unwrap();
        for vertex in 0..VERTICES {
            let [x, y] = [0; 2].map(|_| random.f32() * 600.0 - 40.0);
            let position = [x, y, 0.5, 1.0].map(f32::to_le_bytes);
            memory.write(POSITIONS + 16 * vertex, position.as_flattened()).unwrap();
        }
        for number in 0..0x8000u32 {
            let index = random.u16(..VERTICES as u16).to_le_bytes();
            memory.write(INDICES + 2 * number, &index).unwrap();
        }
        memory
    }

    /// A builder with a grid of eight by eight blocks of tiles.
    fn builder<'a>(memory: &'a Memory, sizes: &'a HashMap<u32, u32>, pool: Option<&'a ThreadPool>) -> Plbu<'a> {
        let mut plbu = Plbu::new(memory, sizes, pool);
        (plbu.positions, plbu.indices) = (POSITIONS, INDICES);
        (plbu.tiles, plbu.shift, plbu.block_width) = ([32; 2], [2; 2], 8);
        plbu.setup.indices_16 = true;
        plbu.blocks = Some((0, 64));
        plbu.binned.resize_with(64, Entries::default);
        plbu
    }

    fn draws(plbu: &mut Plbu<'_>) -> Result<()> {
        let mut random = Rng::with_seed(10);
        for number in 0..40 {
            let draw = DrawPrimitives {
                start: 0,
                count: match number {
                    7 => 0,
                    _ if number % 8 == 5 => VERTICES,
                    _ => random.u32(..60),
                },
                mode: [
                    PrimitiveMode::Triangles,
                    PrimitiveMode::TriangleStrip,
                    PrimitiveMode::Lines,
                ][number % 3],
                indexed: number % 4 == 1,
            };
            plbu.indices = INDICES + 2 * random.u32(..1000);
            plbu.draw(number as u32, &draw, &mut Notes::default())?;
        }
        plbu.make()
    }

    /// Lists, primitives and draws are the same, however many threads make them; only primitives' numbers are others.
    #[test]
    fn lists_are_the_same_with_any_number_of_threads() {
        let (memory, sizes) = (memory(), HashMap::new());
        let built = |threads: usize| {
            let pool = ThreadPool::new(threads);
            let mut plbu = builder(&memory, &sizes, pool.as_ref());
            draws(&mut plbu).unwrap();
            let all = &plbu.geometry.primitives;
            let touching = |(block, list): (u8, &Entries)| -> Vec<Vec<usize>> {
                let [left, top] = [block % 8 * 4, block / 8 * 4];
                let tiles = (0..16).map(|tile| [left + tile % 4, top + tile / 4]);
                let of_tile = |tile| list.touching(tile).map(|number| all.position(number)).collect();
                tiles.map(of_tile).collect()
            };
            let lists: Vec<_> = (0..).zip(&plbu.binned).map(touching).collect();
            // Where what is odd of a primitive lies is its piece's.
            let primitives: Vec<_> = all
                .iter()
                .map(|(_, one)| (one.draw, one.shape(), one.vertices, one.ccw, one.is_plain()))
                .collect();
            let counts = (plbu.entries, plbu.primitives, all.pieces().len());
            (lists, primitives, plbu.geometry.draws, counts)
        };
        let (lists, primitives, draws, (entries, count, pieces)) = built(1);
        assert!(
            entries > 20_000 && count == primitives.len() && pieces == 2,
            "{entries} {count} {pieces}"
        );
        assert!(draws.iter().any(|draw| draw.covers) && draws.iter().any(|draw| !draw.covers));
        for threads in [2, 3, 16] {
            let with_help = built(threads);
            assert!(
                with_help.0 == lists && with_help.1 == primitives && with_help.2 == draws,
                "{threads}"
            );
            assert_eq!((with_help.3.0, with_help.3.1), (entries, count));
            assert!(with_help.3.2 > pieces, "no thread helped");
        }
    }

    /// The first draw's fault is the job's, also where it is found after another's.
    #[test]
    fn faults_come_in_the_order_of_draws() {
        let (memory, sizes) = (memory(), HashMap::new());
        for threads in [1, 2, 3] {
            let pool = ThreadPool::new(threads);
            let mut plbu = builder(&memory, &sizes, pool.as_ref());
            draws(&mut plbu).unwrap();
            let mut draw = |address: u32, start: u32, count: u32, indexed: bool| {
                let mode = PrimitiveMode::Triangles;
                let draw = DrawPrimitives {
                    start,
                    count,
                    mode,
                    indexed,
                };
                plbu.draw(address, &draw, &mut Notes::default())
            };
            draw(0x100, 0, 3 * VERTICES / 4, false).unwrap();
            // Beyond the positions, which were not read yet.
            draw(0x200, 0, 2 * VERTICES, false).unwrap();
            draw(0x300, 5000, 3, true).unwrap();
            // And indices that are nowhere.
            assert!(draw(0x400, 0, 0x10_0000, true).is_err());
            let fault = plbu.make().unwrap_err();
            assert_eq!(
                (fault.kind, fault.address),
                (FaultKind::Unmapped, Some(POSITIONS + 16 * VERTICES)),
                "{threads}"
            );
        }
    }

    /// A job that is too large has the fault of the first draw that is too much, with any number of threads.
    #[test]
    fn lists_that_are_too_long_are_a_fault() {
        let (mut memory, sizes) = (Memory::default(), HashMap::new());
        memory.map(POSITIONS, 16 * VERTICES).unwrap();
        for vertex in 0..VERTICES {
            let [x, y] = [[0.0, 0.0], [4000.0, 0.0], [0.0, 4000.0]][vertex as usize % 3];
            let position = [x, y, 0.5, 1.0f32].map(f32::to_le_bytes);
            memory.write(POSITIONS + 16 * vertex, position.as_flattened()).unwrap();
        }
        for threads in [1, 2, 3] {
            let pool = ThreadPool::new(threads);
            let mut plbu = builder(&memory, &sizes, pool.as_ref());
            (plbu.tiles, plbu.shift, plbu.block_width) = ([256; 2], [0; 2], 256);
            plbu.binned.resize_with(256 * 256, Entries::default);
            for address in [1, 2, 3, 4] {
                let draw = DrawPrimitives {
                    start: 0,
                    count: 240,
                    mode: PrimitiveMode::Triangles,
                    indexed: false,
                };
                plbu.draw(address, &draw, &mut Notes::default()).unwrap();
            }
            // Enough for several threads.
            let draw = DrawPrimitives {
                start: 0,
                count: 3 * (VERTICES / 3),
                mode: PrimitiveMode::Points,
                indexed: false,
            };
            plbu.draw(5, &draw, &mut Notes::default()).unwrap();
            let fault = plbu.make().unwrap_err();
            assert_eq!((fault.kind, fault.address), (FaultKind::Limit, Some(4)), "{threads}");
        }
    }
}
