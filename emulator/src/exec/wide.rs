//! The fast engine: many vertices or fragments go through each operation together, a row of lanes for every component
//! of a register. Programs are taken apart once into operations on rows; where lanes part at a branch, those that are
//! furthest behind go first, as in the plain engine, so both give the same bits.

pub(super) mod alu;
pub(super) mod fragment;
mod fragment_build;
pub(super) mod fragment_code;
mod vertex;
mod vertex_code;

pub use fragment_code::FragmentCode;
pub(super) use fragment_code::row;
pub use vertex_code::VertexCode;

use super::inputs::Inputs;
use super::{Engine, FragmentContext, Fragments, Quad, VertexBatch};
use crate::gpu::fault::Result;
use crate::simd::{Found, Level};

/// Lanes of a row.
pub const LANES: usize = 128;

/// A number for every lane, where vector units like to find it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(64))]
pub struct Row([f32; LANES]);

impl Row {
    /// The same number for every lane.
    pub(super) const fn splat(value: f32) -> Self {
        Self([value; LANES])
    }
}

impl std::ops::Deref for Row {
    type Target = [f32; LANES];

    #[inline(always)]
    fn deref(&self) -> &[f32; LANES] {
        &self.0
    }
}

impl std::ops::DerefMut for Row {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [f32; LANES] {
        &mut self.0
    }
}

/// A bit for every lane.
pub type Mask = u128;

/// The fast engine.
#[derive(Clone, Copy, Debug)]
pub struct Wide {
    found: Found,
}

impl Default for Wide {
    /// With the best vector units of this processor.
    fn default() -> Self {
        Self { found: Found::best() }
    }
}

impl Wide {
    /// What the processor was found to have.
    pub(super) fn found(self) -> Found {
        self.found
    }

    /// With vector units that are not better than `limit`.
    pub fn at_most(limit: Level) -> Self {
        Self {
            found: Found::at_most(limit),
        }
    }
}

impl Engine for Wide {
    fn name(&self) -> &'static str {
        match self.found.level() {
            Level::Portable => "wide (portable)",
            Level::Avx2 => "wide (256 bits)",
            Level::Avx512 => "wide (512 bits)",
        }
    }

    fn vertices(&self, batch: &mut VertexBatch<'_>) -> Result<()> {
        vertex::run(self.found, batch)
    }

    fn fragments(
        &self,
        context: &FragmentContext<'_>,
        inputs: &Inputs,
        quads: &[Quad],
        out: &mut Fragments,
    ) -> Result<()> {
        let batches = quads.chunks(LANES / 4).take(super::MAX_QUADS / (LANES / 4));
        for (number, quads) in batches.enumerate() {
            fragment::run(self.found, context, inputs, (quads, number * LANES / 4), None, out)?;
        }
        Ok(())
    }
}

/// Lanes that are at the same instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Group {
    /// Number of the instruction.
    at: usize,
    /// The lanes.
    lanes: Mask,
}

/// Groups of lanes, each at its own instruction: the one that was put last, and the others.
struct Groups {
    last: Option<Group>,
    others: Vec<Group>,
}

impl Groups {
    fn new(lanes: Mask) -> Self {
        Self {
            last: Some(Group { at: 0, lanes }),
            others: Vec::new(),
        }
    }

    /// No lanes are left to be taken.
    #[inline(always)]
    fn is_empty(&self) -> bool {
        self.last.is_none() && self.others.is_empty()
    }

    /// Takes the group that is furthest behind; `order` gives an instruction's place in memory.
    #[inline(always)]
    fn take(&mut self, order: impl Fn(usize) -> u32) -> Option<Group> {
        // Where lanes never part there is only one group.
        if self.others.is_empty() {
            return self.last.take();
        }
        self.take_of_many(order)
    }

    fn take_of_many(&mut self, order: impl Fn(usize) -> u32) -> Option<Group> {
        self.others.extend(self.last.take());
        let first = (0..self.others.len()).min_by_key(|group| order(self.others[*group].at))?;
        Some(self.others.swap_remove(first))
    }

    /// Lanes go on at an instruction, together with those that are there.
    #[inline(always)]
    fn put(&mut self, at: usize, lanes: Mask) {
        if lanes == 0 {
            return;
        }
        if self.others.is_empty() && self.last.is_none() {
            self.last = Some(Group { at, lanes });
            return;
        }
        self.join(at, lanes);
    }

    fn join(&mut self, at: usize, lanes: Mask) {
        match self
            .others
            .iter_mut()
            .chain(&mut self.last)
            .find(|group| group.at == at)
        {
            Some(group) => group.lanes |= lanes,
            None => self.others.push(Group { at, lanes }),
        }
    }
}
