//! Machine code with what it needs, and what it is called with.

use crate::exec::MAX_FRAGMENTS;
use crate::exec::inputs::Inputs;
use crate::exec::lanes::{LANES, Mask, Row};
use crate::exec::wide::fragment_code::row;

/// Textures that one piece of code can look into.
pub(super) const MAX_TEXTURES: usize = 8;

/// The number, behind those of textures, of what has uniforms in the place of texels.
pub(crate) const UNIFORMS: u8 = MAX_TEXTURES as u8;

/// Rows of fragments' places. Where whole tiles are drawn these are all the rows there are, each as long as [`TILE_ROWS`],
/// and one for alphas behind them.
pub(crate) const PLACES: [u16; 4] = [row::X, row::Y, row::COLUMN, row::ROW];

/// Rows of what fragments are tested with behind their program.
pub(crate) const SAMPLES: [u16; 4] = [row::DEPTH, row::TILE_DEPTH, row::TILE_STENCIL, row::ARRIVED];

/// Tiles beside each other that are drawn in one call.
pub(crate) const TILES: usize = 8;

/// Rows that have a lane for each of their fragments.
pub(crate) const TILE_ROWS: usize = TILES * MAX_FRAGMENTS / LANES;

/// What code is called with.
#[repr(C)]
pub(crate) struct Args {
    /// The first row's first lane.
    pub rows: *mut f32,
    /// The uniforms.
    pub uniforms: *const f32,
    /// The primitive's inputs.
    pub inputs: *const u8,
    /// Constants.
    pub pool: *const u8,
    /// Lanes that are written: a bit each, or a word.
    pub masks: *const u8,
    /// Where words of colours go.
    pub words: *mut u32,
    /// Texels of each texture, and the uniforms.
    pub textures: [*const u32; MAX_TEXTURES + 1],
    /// Number of the last one of each.
    pub last: [u32; MAX_TEXTURES + 1],
    /// The largest level that is among them.
    pub largest: [f32; MAX_TEXTURES],
    /// How often the code goes round.
    pub steps: u32,
    /// Lanes that bailed out, wherever they are, and [`ROUNDINGS`].
    pub left: u32,
}

/// What lanes code is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Which {
    /// Those of rows.
    All,
    /// Those of rows of which a mask says so; the others keep what they have.
    Masked,
    /// Those of whole tiles, which have nothing but [`PLACES`], words and alphas.
    Tile,
}

/// How values become halves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rounding {
    /// As they have to.
    Exact,
    /// As if values were normal halves less than 4, or zero, where nothing else is known of them: the processor's flags tell
    /// where that was wrong, and the whole call is rounded exactly then. Where [`Isa::speculates`] says so.
    Speculative,
}

/// What code works on.
#[cfg_attr(
    not(any(all(target_arch = "x86_64", unix), all(target_arch = "aarch64", target_os = "linux"))),
    expect(dead_code, reason = "only machine code reads it")
)]
pub(crate) struct Call<'a> {
    /// The rows.
    pub rows: &'a mut [Row],
    /// Lanes that are there, a multiple of what the code takes at a time.
    pub lanes: usize,
    /// The uniforms.
    pub uniforms: &'a [f32],
    /// The primitive.
    pub inputs: &'a Inputs,
    /// Lanes that are written; all without one.
    pub mask: Option<&'a Mask>,
    /// Texels of the textures the code looks into, and the largest level that is among them.
    pub textures: &'a [(f32, &'a [u32])],
    /// Where colours go that leave as words.
    pub words: &'a mut [u32],
}

/// Bits of [`Args::left`] from this one on say that roundings have to be done again.
pub(crate) const ROUNDINGS: u32 = 16;

/// What code leaves to others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    not(any(all(target_arch = "x86_64", unix), all(target_arch = "aarch64", target_os = "linux"))),
    expect(dead_code, reason = "only machine code leaves anything")
)]
pub(crate) enum Bailout {
    Nothing,
    /// Lanes where something came up. What was written is of no use.
    Lanes,
    /// Everything, for there were speculative roundings that may be wrong. What was written is of no use.
    Roundings,
}

/// What code works on at most.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Needs {
    pub rows: usize,
    pub uniforms: usize,
    /// Uniforms of any number are looked at: the last one is what those have that are not there.
    pub any_uniform: bool,
    /// Textures that are looked into.
    pub textures: Vec<bool>,
    pub words: bool,
}

/// Machine code and what has to be known of it. Only [`emit`](crate::exec::native::codegen::emit::emit) makes it, so its bytes keep to what it needs.
#[derive(Clone, Debug)]
#[cfg_attr(
    not(any(all(target_arch = "x86_64", unix), all(target_arch = "aarch64", target_os = "linux"))),
    expect(dead_code, reason = "only machine code reads it")
)]
pub(super) struct Emitted {
    /// Instructions, then constants.
    pub(crate) bytes: Vec<u8>,
    /// Where constants begin.
    pub(crate) pool: usize,
    /// Lanes of one round.
    pub(crate) lanes: usize,
    /// Lanes of a call at most.
    pub(crate) most: usize,
    /// Masks are words, not bits.
    pub(crate) mask_lanes: bool,
    pub(crate) needs: Needs,
}
