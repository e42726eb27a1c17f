//! A program cut into regions that something quicker than this engine may run.

use super::alu::Machine;
use crate::exec::FragmentContext;
use crate::exec::inputs::Inputs;
use crate::exec::lanes::Mask;
use std::sync::Arc;

/// What runs the operations of a region, or some of them.
pub trait RegionCode: std::fmt::Debug + Send + Sync {
    /// Runs them; false where they are left to the wide engine.
    fn run(&self, work: Work<'_, '_>) -> bool;

    /// They are never left to the wide engine.
    fn is_infallible(&self) -> bool;

    /// They run for all of a tile at once: in [`Work`], rows are the two of each place, one place behind the other.
    fn takes_tiles(&self) -> bool;
}

/// A program's regions.
#[derive(Debug)]
pub struct Regions {
    /// For each instruction the region that begins there, if one does.
    pub regions: Vec<Option<Region>>,
    /// Colours come as words and as nothing else.
    pub words: bool,
}

impl Regions {
    /// The region that begins at an instruction, for all lanes or for some.
    #[inline(always)]
    pub fn region(&self, at: usize, all: bool) -> Option<&Region> {
        self.regions.get(at)?.as_ref().filter(|region| all || region.some)
    }
}

/// A region: no lane comes in behind its first instruction, none leaves before its last.
#[derive(Debug)]
pub struct Region {
    /// What is done.
    pub pieces: Vec<Piece>,
    /// The last instruction.
    pub last: usize,
    /// Instructions.
    pub steps: u32,
    /// It may run for some of the lanes only.
    pub some: bool,
}

/// What runs the operations of a region of a vertex program, or some of them.
pub trait VertexRegionCode: std::fmt::Debug + Send + Sync {
    /// Runs them for the lanes of `mask`, or all; false where they are left to the wide engine, with nothing changed.
    fn run(&self, machine: &mut Machine<'_>, mask: Option<Mask>) -> bool;
}

/// A region of a vertex program.
#[derive(Debug)]
pub struct VertexRegion {
    /// What is done, all of it machine code.
    pub code: Box<dyn VertexRegionCode>,
    /// The last instruction.
    pub last: usize,
    /// Instructions.
    pub steps: u32,
}

/// For each instruction of a vertex program the region that begins there, if one does.
pub(crate) type VertexRegions = Vec<Option<VertexRegion>>;

/// A part of a region.
#[derive(Debug)]
pub enum Piece {
    /// Machine code.
    Code(Arc<dyn RegionCode>),
    /// An operation of the wide engine: instruction and number.
    Op(usize, usize),
}

/// What a region works on.
pub struct Work<'a, 'b> {
    /// Rows, uniforms and lanes.
    pub machine: &'a mut Machine<'b>,
    /// The primitive.
    pub inputs: &'a Inputs,
    /// The draw.
    pub context: &'a FragmentContext<'a>,
    /// Lanes that are written, if not all.
    pub mask: Option<Mask>,
    /// Where words go.
    pub words: &'a mut [u32],
    /// What they are blended with, if not those that are there.
    pub destination: Option<&'a [u32]>,
}
