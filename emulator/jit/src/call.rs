//! What machine code works on: the arguments of a call, and what code needs of them.

use crate::isa::Isa;
use num::rows::{LANES, Mask, Row};
use std::marker::PhantomData;

/// Textures that one graph can read.
pub const MAX_TEXTURES: usize = 8;

/// The number, behind those of textures, by which [`Kind::Gather`](crate::graph::Kind::Gather) reads uniforms.
pub const UNIFORMS: u8 = MAX_TEXTURES as u8;

/// Lanes of a tile: 16x16, in quads of 2x2, quad beside quad, row by row.
pub const TILE_LANES: usize = 256;

/// Tiles beside each other that one call may work on.
pub const TILES: usize = 8;

/// Rows that together have a lane for each lane of [`TILES`] tiles.
pub const TILE_ROWS: usize = TILES * TILE_LANES / LANES;

/// What a call works on.
pub struct Call<'a> {
    /// The rows by number. For more than [`LANES`] lanes these are the [places](crate::graph::RowTypes::places), [`TILE_ROWS`]
    /// for each, and as many for the one row that is stored.
    pub rows: &'a mut [Row],
    /// Lanes, from the first on: a multiple of 16. More than [`LANES`] are those of whole tiles.
    pub lanes: usize,
    /// The uniforms; others read as 0.
    pub uniforms: &'a [f32],
    /// What [`Node::Input`](crate::graph::Node::Input) reads.
    pub inputs: Block<'a>,
    /// Lanes that are written; all without a mask.
    pub mask: Option<&'a Mask>,
    /// Textures by number; those that the code reads must have texels.
    pub textures: &'a [Texels<'a>],
    /// The words of the lanes: the destination of blending, and where [`Effect::Words`](crate::graph::Effect::Words) go.
    pub words: &'a mut [u32],
}

impl<'a> Call<'a> {
    /// A call of code that works on rows and nothing else.
    pub fn of_rows(rows: &'a mut [Row]) -> Self {
        Self {
            rows,
            lanes: LANES,
            uniforms: &[],
            inputs: Block::EMPTY,
            mask: None,
            textures: &[],
            words: &mut [],
        }
    }
}

/// A texture's words.
#[derive(Clone, Copy, Debug, Default)]
pub struct Texels<'a> {
    /// The texels of all levels.
    pub words: &'a [u32],
    /// The number of the largest level that is among them.
    pub largest: f32,
}

/// A value whose floats code reads by their byte offset.
#[derive(Clone, Copy, Debug)]
pub struct Block<'a> {
    start: *const u8,
    size: usize,
    of: PhantomData<&'a u8>,
}

impl<'a> Block<'a> {
    /// No bytes.
    pub const EMPTY: Self = Self {
        start: std::ptr::null(),
        size: 0,
        of: PhantomData,
    };

    /// The bytes of a value.
    pub fn of<T>(value: &'a T) -> Self {
        Self {
            start: std::ptr::from_ref(value).cast(),
            size: size_of::<T>(),
            of: PhantomData,
        }
    }
}

#[cfg_attr(
    not(any(all(target_arch = "x86_64", unix), all(target_arch = "aarch64", target_os = "linux"))),
    expect(dead_code, reason = "only machine code reads it")
)]
impl Block<'_> {
    /// The first byte.
    pub(crate) fn start(&self) -> *const u8 {
        self.start
    }

    /// Bytes.
    pub(crate) fn size(&self) -> usize {
        self.size
    }
}

/// The argument of the function that is generated.
#[repr(C)]
pub(crate) struct Args {
    /// The first row's first lane.
    pub rows: *mut f32,
    /// The uniforms.
    pub uniforms: *const f32,
    /// [`Call::inputs`].
    pub inputs: *const u8,
    /// Constants.
    pub pool: *const u8,
    /// Lanes that are written: a bit each, or a word.
    pub masks: *const u8,
    /// [`Call::words`].
    pub words: *mut u32,
    /// Texels of each texture, and the uniforms.
    pub textures: [*const u32; MAX_TEXTURES + 1],
    /// The last valid index of each.
    pub last: [u32; MAX_TEXTURES + 1],
    /// [`Texels::largest`] of each.
    pub largest: [f32; MAX_TEXTURES],
    /// Iterations of the code's loop.
    pub steps: u32,
    /// Written by the code: lanes that bailed out, and [`ROUNDINGS`].
    pub left: u32,
}

/// Lanes that code is compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Which {
    /// All lanes of rows.
    All,
    /// Lanes of rows that are in a mask; the others are not written.
    Masked,
    /// The lanes of whole tiles, with rows for the [places](crate::graph::RowTypes::places) and one result only.
    Tile,
}

/// How values are rounded to halves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rounding {
    /// Exactly.
    Exact,
    /// By a short sequence that is right for zero and normal halves less than 4, or for all values that the range analysis
    /// allows. The processor's flags report other values, and the call has to be run again with exact code. Only where
    /// [`Isa::speculates`].
    Speculative,
}

/// How a graph is compiled.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mode {
    pub isa: Isa,
    pub which: Which,
    pub rounding: Rounding,
}

impl Mode {
    /// With exact roundings.
    pub(crate) fn exact(isa: Isa, which: Which) -> Self {
        Self {
            isa,
            which,
            rounding: Rounding::Exact,
        }
    }

    /// With speculative roundings.
    pub(crate) fn speculative(isa: Isa, which: Which) -> Self {
        Self {
            rounding: Rounding::Speculative,
            ..Self::exact(isa, which)
        }
    }
}

/// Bits of [`Args::left`] from this one on report wrong speculative roundings.
pub(crate) const ROUNDINGS: u32 = 16;

/// What code leaves undone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    not(any(all(target_arch = "x86_64", unix), all(target_arch = "aarch64", target_os = "linux"))),
    expect(dead_code, reason = "only machine code leaves anything")
)]
pub(crate) enum Bailout {
    Nothing,
    /// A guard failed in some lanes. What was written is invalid.
    Lanes,
    /// Speculative roundings may be wrong. What was written is invalid.
    Roundings,
}

/// The least that code needs of a call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Needs {
    pub rows: usize,
    pub uniforms: usize,
    /// Uniforms are read by computed indices: those beyond the last one read that.
    pub any_uniform: bool,
    /// Bytes of [`Call::inputs`].
    pub inputs: usize,
    /// Textures that are read.
    pub textures: Vec<bool>,
    pub words: bool,
}

/// Machine code and what it needs. Only [`emit`](crate::codegen::emit::emit) makes it, so the instructions keep to that.
#[derive(Clone, Debug)]
#[cfg_attr(
    not(any(all(target_arch = "x86_64", unix), all(target_arch = "aarch64", target_os = "linux"))),
    expect(dead_code, reason = "only machine code reads it")
)]
pub(crate) struct Emitted {
    /// Instructions, then constants.
    pub(crate) bytes: Vec<u8>,
    /// The instruction set.
    pub(crate) isa: Isa,
    /// Where constants begin.
    pub(crate) pool: usize,
    /// Lanes of one iteration.
    pub(crate) lanes: usize,
    /// Lanes of a call at most.
    pub(crate) most: usize,
    /// Masks are words, not bits.
    pub(crate) mask_lanes: bool,
    pub(crate) needs: Needs,
}
