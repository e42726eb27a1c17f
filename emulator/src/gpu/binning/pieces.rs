//! The primitives of draws, built in pieces by all threads.

use super::assembly::{self, BLOCK, Block};
use super::bins::{self, Grid, Run};
use super::entries::{Entries, Entry};
use super::geometry::{self, Rules, Vertex};
use super::slots::Slots;
use crate::fault::{Fault, FaultKind, Result};
use crate::gpu::primitives::Bounds;
use crate::gpu::primitives::{PIECE, Piece, Primitive};
use crate::gpu::raster::triangle::Shape;
use crate::gpu::vectors::of_bytes;
use crate::memory::Memory;
use std::borrow::Cow;
use std::cell::Cell;
use std::ops::Range;
use utgard::stream::PrimitiveMode;

/// Draws that wait at most, points, lines and triangles of all but the last of them, and bytes that were copied for them.
const MOST_DRAWS: usize = 1 << 10;
const MOST_PRIMITIVES: u32 = 1 << 20;
const MOST_BYTES: usize = 1 << 25;

/// Points, lines or triangles from which on another thread is worth while.
const WORTH: u32 = 1 << 9;

/// Where a draw's primitives come from.
pub(crate) struct Source<'a> {
    pub memory: &'a Memory,
    pub positions: u32,
    /// All positions, if they are in one object.
    pub all: Option<Cow<'a, [u8]>>,
    pub slots: Slots<'a>,
    /// Sizes of points.
    pub sizes: Option<u32>,
    /// The size of all points without one of their own.
    pub size: f32,
    /// Vertices.
    pub count: u32,
    pub mode: PrimitiveMode,
    pub rules: Rules,
    pub bounds: Bounds,
    pub grid: Grid,
    /// Address of the draw's command.
    pub command: u32,
}

impl Source<'_> {
    /// How many points, lines or triangles there are.
    fn primitives(&self) -> u32 {
        geometry::count(self.mode, self.count)
    }

    /// Bytes that were copied out of memory.
    fn held(&self) -> usize {
        let positions = match &self.all {
            Some(Cow::Owned(all)) => all.len(),
            _ => 0,
        };
        positions + self.slots.held()
    }

    /// Builds the primitives of some points, lines or triangles, and entries of those that may touch something, by their number
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
            // The most common mode, as a constant.
            Triangles if self.slots.is_in_order() => self.fill_of(Triangles, numbers, block, |number| number),
            Triangles => self.fill_of(Triangles, numbers, block, |number| self.slots.slot(number)),
            mode => self.fill_of(mode, numbers, block, |number| self.slots.slot(number)),
        }
    }

    /// Triangles of a mode into a block; `slot` is that of a vertex.
    #[inline(always)]
    fn fill_of(
        &self,
        mode: PrimitiveMode,
        numbers: Range<u32>,
        block: &mut Block,
        slot: impl Fn(u32) -> u32,
    ) -> Option<()> {
        let all = self.all.as_deref()?.as_chunks::<16>().0;
        block.clear();
        for number in numbers {
            let ([a, b, c], _) = geometry::corners(mode, self.count, number);
            let slots = [slot(a), slot(b), slot(c)];
            let [a, b, c] = slots;
            let positions = [all.get(a as usize)?, all.get(b as usize)?, all.get(c as usize)?];
            block.push(
                slots,
                [of_bytes(positions[0]), of_bytes(positions[1]), of_bytes(positions[2])],
            );
        }
        Some(())
    }

    /// Builds the primitives of some points, lines or triangles, one after the other.
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

    /// Whether a primitive may cover a pixel.
    fn covers(&self, primitive: &Primitive) -> bool {
        Shape::new(primitive, self.bounds).is_some()
    }
}

/// Draws whose primitives are still to be built.
#[derive(Default)]
pub(crate) struct PendingDraws<'a> {
    pub draws: Vec<Source<'a>>,
    primitives: u32,
    held: usize,
}

/// Some points, lines or triangles of a draw that waits.
struct Part {
    draw: usize,
    numbers: Range<u32>,
}

/// How draws are cut into pieces: the parts of draws, and the range of parts of each piece.
pub(crate) struct Plan {
    parts: Vec<Part>,
    pieces: Vec<Range<usize>>,
}

impl Plan {
    /// How many pieces there will be.
    pub(super) fn pieces(&self) -> usize {
        self.pieces.len()
    }

    /// Address of the command of the last draw in a piece.
    pub(super) fn command(&self, waiting: &PendingDraws<'_>, number: usize) -> u32 {
        waiting.draws[self.parts[self.pieces[number].end - 1].draw].command
    }
}

impl<'a> PendingDraws<'a> {
    /// Adds a draw.
    pub(super) fn push(&mut self, draw: Source<'a>) {
        self.primitives = self.primitives.saturating_add(draw.primitives());
        self.held += draw.held();
        self.draws.push(draw);
    }

    /// Whether so much is pending that it should be built first.
    pub(super) fn is_much(&self) -> bool {
        self.draws.len() >= MOST_DRAWS || self.primitives >= MOST_PRIMITIVES || self.held >= MOST_BYTES
    }

    /// Whether there is work for more than one thread.
    pub(super) fn is_worth_help(&self) -> bool {
        self.primitives >= 4 * WORTH
    }

    /// Cuts the draws into pieces for `threads` threads.
    pub(super) fn plan(&self, threads: u32) -> Plan {
        let most = match threads {
            1 => PIECE,
            _ => (self.primitives / (4 * threads)).clamp(WORTH, PIECE),
        };
        let (mut parts, mut pieces, mut begun, mut room) = (Vec::new(), Vec::new(), 0, most);
        for (draw, source) in self.draws.iter().enumerate() {
            let (count, mut first) = (source.primitives(), 0);
            while first < count {
                let numbers = first..first + room.min(count - first);
                (first, room) = (numbers.end, room - (numbers.end - numbers.start));
                parts.push(Part { draw, numbers });
                if room == 0 {
                    pieces.push(begun..parts.len());
                    (begun, room) = (parts.len(), most);
                }
            }
        }
        if begun < parts.len() {
            pieces.push(begun..parts.len());
        }
        Plan { parts, pieces }
    }

    /// Makes a piece of a plan. Lists are shared out in runs of blocks; `more` gets the number of entries by which they grow,
    /// and returns whether they may.
    ///
    /// # Errors
    /// A fault with the address of the draw's command.
    pub(super) fn make(
        &self,
        plan: &Plan,
        number: usize,
        made: &mut ChunkBuilder,
        share: u32,
        more: &dyn Fn(usize) -> bool,
    ) -> Result<()> {
        made.clear();
        let parts = &plan.parts[plan.pieces[number].clone()];
        made.entries.reserve(parts.iter().map(|part| part.numbers.len()).sum());
        let listed = Cell::new(0);
        let more = |count| {
            listed.set(listed.get() + count);
            more(count)
        };
        for Part { draw, numbers } in parts {
            let source = &self.draws[*draw];
            let (before, entries) = (made.piece.len(), made.entries.len());
            let built = source.build(numbers.clone(), &mut made.piece, &mut made.entries);
            built.map_err(|fault| fault.at(source.command))?;
            if made.piece[before..].iter().any(|one| source.covers(one)) {
                made.covering.push(*draw);
            }
            if !source.grid.sort(&made.entries, entries, share, &mut made.runs, &more) {
                let what = "the polygon lists are too long";
                return Err(Fault::new(FaultKind::Limit, what).at(source.command));
            }
        }
        made.listed = listed.get();
        bins::by_share(&mut made.runs, share);
        Ok(())
    }
}

/// A piece, and the lists of its primitives.
#[derive(Debug, Default)]
pub(crate) struct ChunkBuilder {
    pub piece: Piece,
    /// Entries of the primitives that may touch something.
    entries: Vec<Entry>,
    runs: Vec<Run>,
    /// Entries of all lists together.
    pub listed: usize,
    /// Draws of which something is covered, by their numbers among those that waited.
    pub covering: Vec<usize>,
}

impl ChunkBuilder {
    fn clear(&mut self) {
        self.listed = 0;
        self.piece.clear();
        self.entries.clear();
        self.runs.clear();
        self.covering.clear();
    }

    /// Adds the primitives, whose numbers count from `first` on, to the lists of the `number`th share of `share` blocks.
    pub(super) fn list(&self, lists: &mut [Entries], number: u32, share: u32, first: u32) {
        bins::list(lists, number, share, first, &self.entries, &self.runs);
    }
}
