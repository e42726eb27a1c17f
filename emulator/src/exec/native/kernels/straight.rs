//! Programs that are one piece of machine code from their first instruction to the picture's words: fragments go through
//! them with nothing around.

use crate::exec::inputs::Inputs;
use crate::exec::lanes::{LANES, Row};
use crate::exec::native::key::{PLACES, SAMPLES};
use crate::exec::native::lower::fragment::Program;
use crate::exec::places::SIDE;
use crate::exec::wide::alu::Machine;
use crate::exec::wide::fragment_code::row;
use crate::exec::wide::region::{Piece, RegionCode, Work};
use crate::exec::{FragmentContext, FragmentKernel, Fragments, MAX_FRAGMENTS, MAX_QUADS, Quad, Quads, places};
use crate::simd::{Found, dispatch};
use jit::{TILE_ROWS, TILES};
use num::lanes::QuadLanes;
use std::cell::RefCell;
use std::sync::{Arc, OnceLock};

thread_local! {
    /// Rows of the thread's last call: what they hold does not matter.
    static ROWS: RefCell<Vec<Row>> = const { RefCell::new(Vec::new()) };
    /// The same of whole tiles.
    static WHOLE: RefCell<TileRows> = const { RefCell::new(TileRows::NEW) };
}

const _: () = assert!(MAX_FRAGMENTS == jit::TILE_LANES);

/// Lanes that machine code takes at a time in any of its forms.
pub(crate) const STEP: usize = 16;

/// Rows of places of tiles beside each other, and of their alphas.
struct TileRows {
    rows: [Row; TILE_ROWS * (PLACES.len() + 1)],
    /// Where columns and rows of places begin, from where they are seen, as bits, and of how many tiles: code leaves them as
    /// they are, and tiles that follow each other have one or the other in common.
    known: [Option<(u32, u32, usize)>; 2],
}

impl TileRows {
    const NEW: Self = Self {
        rows: [Row::splat(0.0); TILE_ROWS * (PLACES.len() + 1)],
        known: [None; 2],
    };
}

/// A program of one piece.
#[derive(Debug)]
pub(crate) struct Straight {
    pub program: Arc<Program>,
    pub found: Found,
    /// The one piece there is.
    code: Arc<dyn RegionCode>,
    steps: u32,
    is_infallible: bool,
    takes_tiles: OnceLock<bool>,
}

impl FragmentKernel for Straight {
    fn instruction_count(&self) -> u32 {
        self.steps
    }

    fn has_turns(&self) -> bool {
        false
    }

    fn may_discard(&self) -> bool {
        false
    }

    fn is_infallible(&self) -> bool {
        self.is_infallible
    }

    fn paint(
        &self,
        context: &FragmentContext<'_>,
        inputs: &Inputs,
        quads: Quads<'_>,
        out: &mut Fragments,
    ) -> Option<u32> {
        if let Quads::Tile(first) = quads
            && self.takes_tiles()
        {
            let done = WHOLE.with_borrow_mut(|rows| self.tile_beside(context, inputs, rows, first, out));
            return done.then_some(self.steps);
        }
        let done = self.on_rows(|rows| {
            let mut call = Call { context, inputs, rows };
            match quads {
                Quads::Tile(first) => (0..MAX_FRAGMENTS).step_by(LANES).all(|from| {
                    self.half_a_tile(&mut call, first, from);
                    self.run(&mut call, from, LANES, out)
                }),
                Quads::Some(quads) => self.quads(call, quads, out),
            }
        });
        done.then_some(self.steps)
    }

    fn shade_in_place(
        &self,
        context: &FragmentContext<'_>,
        inputs: &Inputs,
        [left, top]: [u32; 2],
        tiles: &mut [[u32; MAX_FRAGMENTS]],
    ) -> Option<u32> {
        if self.takes_tiles() {
            let done = WHOLE.with_borrow_mut(|rows| {
                let mut some = (left..).step_by(TILES * SIDE as usize).zip(tiles.chunks_mut(TILES));
                some.all(|(left, tiles)| self.tiles(context, inputs, rows, [left, top], tiles.as_flattened_mut()))
            });
            return done.then_some(self.steps);
        }
        let done = self.on_rows(|rows| {
            let mut call = Call { context, inputs, rows };
            let mut halves = tiles.as_flattened_mut().chunks_exact_mut(LANES).enumerate();
            halves.all(|(number, words)| {
                let (tile, from) = (number * LANES / MAX_FRAGMENTS, number * LANES % MAX_FRAGMENTS);
                self.half_a_tile(&mut call, [left + tile as u32 * SIDE, top], from);
                self.run_code(&mut call, LANES, words)
            })
        });
        done.then_some(self.steps)
    }
}

/// What a call is about.
pub(crate) struct Call<'a> {
    pub context: &'a FragmentContext<'a>,
    pub inputs: &'a Inputs,
    pub rows: &'a mut [Row],
}

/// The first lanes of two rows, one behind the other.
pub(crate) fn pair(rows: &mut [Row], first: u16, lanes: usize) -> [&mut [f32]; 2] {
    match &mut rows[usize::from(first)..] {
        [columns, rows, ..] => [&mut columns[..lanes], &mut rows[..lanes]],
        _ => [&mut [], &mut []],
    }
}

impl Straight {
    /// A program, if it is of one piece.
    pub(crate) fn new(program: Arc<Program>, found: Found) -> Option<Self> {
        let region = program.straight()?;
        let [Piece::Code(code)] = &region.pieces[..] else {
            return None;
        };
        Some(Self {
            code: code.clone(),
            steps: region.steps,
            is_infallible: code.is_infallible(),
            takes_tiles: OnceLock::new(),
            program,
            found,
        })
    }

    /// Calls something with the thread's rows.
    pub(crate) fn on_rows(&self, f: impl FnOnce(&mut [Row]) -> bool) -> bool {
        ROWS.with_borrow_mut(|rows| {
            if rows.len() < self.program.rows {
                rows.resize(self.program.rows, Row::splat(0.0));
            }
            f(rows)
        })
    }

    fn takes_tiles(&self) -> bool {
        *self.takes_tiles.get_or_init(|| self.code.takes_tiles())
    }

    /// Words of a whole tile's fragments, and alphas if they are wanted.
    fn tile_beside(
        &self,
        context: &FragmentContext<'_>,
        inputs: &Inputs,
        rows: &mut TileRows,
        first: [u32; 2],
        out: &mut Fragments,
    ) -> bool {
        let done = self.tiles(context, inputs, rows, first, &mut out.words);
        if context.wants_alpha
            && let Some([low, high, ..]) = rows.rows.get(TILE_ROWS * PLACES.len()..)
        {
            let (before, behind) = out.color[3].split_at_mut(LANES);
            before.copy_from_slice(&low[..]);
            behind.copy_from_slice(&high[..]);
        }
        done
    }

    /// Words of the fragments of whole tiles beside each other, [`TILES`] at most.
    fn tiles(
        &self,
        context: &FragmentContext<'_>,
        inputs: &Inputs,
        TileRows { rows, known }: &mut TileRows,
        first: [u32; 2],
        words: &mut [u32],
    ) -> bool {
        let tiles = words.len() / MAX_FRAGMENTS;
        for (axis, known) in known.iter_mut().enumerate() {
            let (first, origin) = (first[axis], inputs.origin[axis]);
            let about = (first, origin.to_bits());
            let is_known = known.is_some_and(|(first, origin, have)| (first, origin) == about && have >= tiles);
            if !is_known || self.program.reads_pixels {
                *known = Some((about.0, about.1, tiles));
                self.places(axis, tiles, first, origin, rows);
            }
        }
        self.run_code(&mut Call { context, inputs, rows }, words.len(), words)
    }

    /// Places of half a tile's fragments, the `from`th and those behind it.
    fn half_a_tile(&self, call: &mut Call<'_>, first: [u32; 2], from: usize) {
        let (origin, pixels, rows) = (call.inputs.origin, self.program.reads_pixels, &mut *call.rows);
        dispatch!(
            tile_places(
                first: [u32; 2],
                from: usize,
                origin: [f32; 2],
                pixels: bool,
                rows: &mut [Row],
            ) -> (),
            self.found
        );
    }

    /// Places of the fragments of `tiles` tiles beside each other, on an axis.
    fn places(&self, axis: usize, tiles: usize, first: u32, origin: f32, rows: &mut [Row]) {
        let pixels = self.program.reads_pixels;
        let rows = &mut rows[TILE_ROWS * axis..];
        dispatch!(
            long_places(
                first: u32,
                origin: f32,
                axis: usize,
                tiles: usize,
                pixels: bool,
                rows: &mut [Row],
            ) -> (),
            self.found
        );
    }

    fn quads(&self, mut call: Call<'_>, quads: &[Quad], out: &mut Fragments) -> bool {
        let batches = quads.chunks(LANES / 4).take(MAX_QUADS / (LANES / 4));
        batches.enumerate().all(|(number, quads)| {
            let lanes = (4 * quads.len()).next_multiple_of(STEP);
            places::of_quads(quads, call.inputs, pair(call.rows, row::X, lanes));
            if self.program.reads_pixels {
                places::pixels(quads, pair(call.rows, row::COLUMN, lanes));
            }
            self.run(&mut call, number * LANES, lanes, out)
        })
    }

    /// Runs the code for `lanes` lanes; its words are those from `from` on.
    pub(crate) fn run(&self, call: &mut Call<'_>, from: usize, lanes: usize, out: &mut Fragments) -> bool {
        let (some, samples) = (from..from + lanes, &mut out.samples);
        let is_tested = call.context.tests.is_some();
        if is_tested {
            let [depth, stencil] = &samples.tile;
            for (row, values) in SAMPLES
                .into_iter()
                .zip([&samples.depth, depth, stencil, &samples.arrived])
            {
                call.rows[usize::from(row)][..lanes].copy_from_slice(&values[some.clone()]);
            }
        }
        let done = self.run_code(call, lanes, &mut out.words[from..]);
        if is_tested {
            for (row, values) in [row::TILE_DEPTH, row::TILE_STENCIL].into_iter().zip(&mut samples.after) {
                values[some.clone()].copy_from_slice(&call.rows[usize::from(row)][..lanes]);
            }
        }
        if let Some(register) =
            FragmentContext::output(call.context.color_register).filter(|_| call.context.wants_alpha)
        {
            out.color[3][some].copy_from_slice(&call.rows[4 * register + 3][..lanes]);
        }
        done
    }

    fn run_code(&self, call: &mut Call<'_>, lanes: usize, words: &mut [u32]) -> bool {
        let work = Work {
            machine: &mut Machine {
                rows: &mut *call.rows,
                uniforms: call.context.uniforms,
                lanes,
            },
            inputs: call.inputs,
            context: call.context,
            mask: None,
            words,
            destination: None,
        };
        self.code.run(work)
    }
}

/// Places of half a tile's fragments, and the pixels' own where they are wanted; compiled for each instruction set.
#[inline(always)]
fn tile_places<L: QuadLanes>(first: [u32; 2], from: usize, origin: [f32; 2], pixels: bool, rows: &mut [Row]) {
    places::of_tile::<L>(places::middle(first), from, origin, pair(rows, row::X, LANES));
    if pixels {
        let first = [first[0] as f32, first[1] as f32];
        places::of_tile::<L>(first, from, [0.0; 2], pair(rows, row::COLUMN, LANES));
    }
}

/// Places of the fragments of tiles beside each other on an axis in the first rows, and the pixels' own behind those of both
/// axes where they are wanted.
#[inline(always)]
fn long_places<L: QuadLanes>(first: u32, origin: f32, axis: usize, tiles: usize, pixels: bool, rows: &mut [Row]) {
    const OF_TILE: usize = MAX_FRAGMENTS / LANES;
    for tile in 0..tiles {
        let first = if axis == 0 { first + tile as u32 * SIDE } else { first };
        for half in 0..OF_TILE {
            let (into, from) = (OF_TILE * tile + half, half * LANES);
            places::of_axis::<L>(axis, first as f32 + 0.5, from, origin, &mut rows[into][..]);
            if pixels {
                places::of_axis::<L>(axis, first as f32, from, 0.0, &mut rows[2 * TILE_ROWS + into][..]);
            }
        }
    }
}
