//! The tests of alpha, stencil and depth, many fragments at a time: what [`Tile::put`] does one by one, which is the
//! specification.

use super::access::{Batch, Lanes, Row, Spots};
use super::buffer::{Colors, Tile, alpha_reaches, reloaded, steps, updated, within};
use super::tile_tests::{Tests, Whole, Words};
use crate::exec::inputs::{Inputs, Plane};
use crate::exec::{MAX_FRAGMENTS, Quad, Quads, places};
use crate::gpu::raster::edge::sample_offset;
use crate::gpu::state::{State, Stencil};
use crate::simd::{Found, dispatch};
use num::lanes::QuadLanes;
use utgard::state::{Compare, StencilOp};

/// Fragments on their way through the tests: a byte each, 1 for those that are still there.
#[derive(Clone, Debug)]
pub(crate) struct Tested {
    pub arrived: Lanes,
    /// The stencil test passed.
    fits: Lanes,
    /// And the depth test.
    pub passed: Lanes,
    /// What the fragments have.
    depths: [u32; MAX_FRAGMENTS],
    /// Depth and stencil that come back into the tile.
    reloaded: [u32; MAX_FRAGMENTS],
    /// What the tile has.
    have: [u32; MAX_FRAGMENTS],
    stencils: Lanes,
    /// What the stencils become after one of the outcomes.
    new: Lanes,
    /// Places of the fragments, from where their planes have their base.
    places: [Row; 2],
}

impl Default for Tested {
    fn default() -> Self {
        Self {
            arrived: [0; MAX_FRAGMENTS],
            fits: [0; MAX_FRAGMENTS],
            passed: [0; MAX_FRAGMENTS],
            depths: [0; MAX_FRAGMENTS],
            reloaded: [0; MAX_FRAGMENTS],
            have: [0; MAX_FRAGMENTS],
            stencils: [0; MAX_FRAGMENTS],
            new: [0; MAX_FRAGMENTS],
            places: [[0.0; MAX_FRAGMENTS]; 2],
        }
    }
}

/// Which fragments of a batch pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Passed {
    /// None of them.
    None,
    /// Some.
    Some,
    /// All of a tile's.
    All,
}

impl Passed {
    /// Those of so many that have a 1.
    pub fn of(passed: &Lanes, count: usize) -> Self {
        if *passed == [1; MAX_FRAGMENTS] {
            Self::All
        } else if passed[..count].contains(&1) {
            Self::Some
        } else {
            Self::None
        }
    }
}

/// Which outcomes of a comparison pass: less, equal, greater.
#[derive(Clone, Copy)]
struct Passes([bool; 3]);

impl Passes {
    fn of(compare: Compare) -> Self {
        Self([(0, 1), (1, 1), (2, 1)].map(|(a, b)| compare.holds(a, b)))
    }

    #[inline(always)]
    fn one<T: PartialOrd>(self, a: &T, b: &T) -> bool {
        let Self([less, equal, greater]) = self;
        less & (a < b) | equal & (a == b) | greater & (a > b)
    }
}

impl Batch<'_> {
    /// Takes fragments whose alpha fails its test out of those that arrived.
    pub(crate) fn test_alpha(&self, tested: &mut Tested) {
        let state = self.state;
        if self.alpha_test().0 != Compare::Always {
            let (alphas, arrived, count) = (&self.fragments.color[3], &mut tested.arrived, self.count());
            dispatch!(alphas_all(state: &State, alphas: &Row, count: usize, arrived: &mut Lanes) -> (), Found::best());
        }
    }

    /// How alphas are compared, and with what, if that is still to be done: what makes words may have done it.
    fn alpha_test(&self) -> (Compare, u8) {
        let is_done = self.fragments.has_words && self.state.blending.alpha_test.is_some();
        match is_done {
            true => (Compare::Always, 0),
            false => (self.state.alpha_compare, self.state.alpha_reference),
        }
    }

    /// Fragments meet a test of depth or stencil.
    pub(crate) fn is_tested(&self) -> bool {
        self.state.is_tested(self.inputs.front)
    }

    /// Stencil of the side that is seen.
    fn face(&self) -> &Stencil {
        &self.state.stencil[usize::from(!self.inputs.front)]
    }

    /// The tests there are beside that of alpha.
    fn tests(&self) -> Tests<'_> {
        let state = self.state;
        Tests {
            stencil: state.stencil_of(self.inputs.front),
            depth: state.uses_depth().then_some((state.depth_compare, state.depth_write)),
        }
    }

    /// Takes note of depth, and stencil in the lowest byte, that the fragments' colours bring back, if they do.
    pub(crate) fn reload(&self, tested: &mut Tested) {
        if !self.state.packed_depth {
            return;
        }
        let [red, green, blue, alpha] = &self.fragments.color;
        for (at, into) in tested.reloaded.iter_mut().enumerate().take(self.count()) {
            let [depth, stencil] = reloaded([red[at], green[at], blue[at], alpha[at]]);
            *into = depth << 8 | stencil;
        }
    }

    /// Depths of a sample of every fragment as the tile has them.
    fn depths(&self, spots: Spots<'_>, tested: &mut Tested) {
        let Tested {
            depths: into,
            reloaded,
            places,
            ..
        } = tested;
        let range = self.state.depth_range.map(steps);
        let count = self.count();
        if self.state.packed_depth {
            for (into, reloaded) in into.iter_mut().zip(&*reloaded).take(count) {
                *into = within(range, f64::from(reloaded >> 8));
            }
            return;
        }
        if self.state.depth_register.is_some() {
            for (into, depth) in into.iter_mut().zip(&self.fragments.depth).take(count) {
                *into = within(range, steps(*depth));
            }
            return;
        }
        if let Some(depths) = self.depths {
            into[..count].copy_from_slice(&depths[..count]);
            return;
        }
        let (quads, inputs, offset) = (spots.quads, self.inputs, self.offset);
        if (inputs.z.dx, inputs.z.dy) == (0.0, 0.0) {
            // One depth for all: what the sums below come to wherever a fragment is.
            into[..count].fill(within(range, steps(inputs.z.base) + offset));
            return;
        }
        let beside = match spots.samples {
            1 => [0.0; 2],
            _ => sample_offset(spots.sample),
        };
        let [columns, rows] = &mut *places;
        match quads {
            Quads::Some(quads) => places::of_quads(quads, inputs, [&mut columns[..count], &mut rows[..count]]),
            Quads::Tile(first) => {
                let origin = inputs.origin;
                dispatch!(tile_places(first: [u32; 2], origin: [f32; 2], places: &mut [Row; 2]) -> (), Found::best());
            }
        }
        let (places, plane) = (&*places, &inputs.z);
        dispatch!(
            depths_all(
                places: &[Row; 2],
                beside: [f32; 2],
                plane: &Plane,
                offset: f64,
                range: [f64; 2],
                count: usize,
                into: &mut [u32; MAX_FRAGMENTS],
            ) -> (),
            Found::best()
        );
    }
}

impl Tile {
    /// Tests all of a tile's fragments and puts the words of those that pass, in a tile of one sample and a byte a channel;
    /// false where that is not what there is.
    pub(crate) fn put_whole(&mut self, batch: &Batch<'_>, tested: &mut Tested) -> bool {
        let (Quads::Tile(_), 1, Colors::Bytes(color)) = (batch.quads, self.samples, &mut self.color) else {
            return false;
        };
        if batch.face().counts_past_mask {
            return false;
        }
        let (depth, stencil) = (self.depth.first_chunk_mut(), self.stencil.first_chunk_mut());
        let (Some(color), Some(depth), Some(stencil)) = (color.first_chunk_mut(), depth, stencil) else {
            return false;
        };
        if batch.state.uses_depth() {
            batch.depths(batch.spots(1, 0), tested);
        }
        batch.tests().put(Words {
            alpha: batch.alpha_test(),
            alphas: &batch.fragments.color[3],
            depths: &tested.depths,
            words: &batch.fragments.words,
            color,
            depth,
            stencil,
        });
        true
    }

    /// Tests stencil and depth of a sample of the fragments that arrived: finds those that pass, and stores what the tile
    /// has then.
    pub(crate) fn test(&mut self, batch: &Batch<'_>, spots: Spots<'_>, tested: &mut Tested) {
        let (state, count) = (batch.state, batch.count());
        let (uses_depth, uses_stencil) = (state.uses_depth(), state.stencil_of(batch.inputs.front).is_some());
        let face = batch.face();
        let special = state.packed_depth || face.counts_past_mask;
        if let (Quads::Tile(_), 1, false) = (spots.quads, spots.samples, special)
            && let (Some(depth), Some(stencil)) = (self.depth.first_chunk_mut(), self.stencil.first_chunk_mut())
        {
            if uses_depth {
                batch.depths(spots, tested);
            }
            return batch.tests().run(Whole {
                arrived: &tested.arrived,
                depths: &tested.depths,
                depth,
                stencil,
                passed: &mut tested.passed,
            });
        }
        tested.fits = tested.arrived;
        if uses_stencil {
            spots.collect(&self.stencil, &mut tested.stencils);
            dispatch!(fit_all(face: &Stencil, count: usize, tested: &mut Tested) -> (), Found::best());
        }
        tested.passed = tested.fits;
        if uses_depth {
            batch.depths(spots, tested);
            spots.collect(&self.depth, &mut tested.have);
            let nearer = Passes::of(state.depth_compare);
            dispatch!(near_all(nearer: Passes, count: usize, tested: &mut Tested) -> (), Found::best());
            if state.depth_write {
                // Quads of several primitives may be the same one: each stores its own fragments.
                match batch.depths {
                    Some(_) => spots.scatter(&mut self.depth, &tested.passed, &tested.have),
                    None => spots.store(&mut self.depth, &tested.have),
                }
            }
        }
        if uses_stencil {
            let packed = state.packed_depth;
            dispatch!(
                update_all(face: &Stencil, packed: bool, tested: &mut Tested) -> (),
                Found::best()
            );
            match batch.depths {
                Some(_) => spots.scatter(&mut self.stencil, &tested.arrived, &tested.stencils),
                None => spots.store(&mut self.stencil, &tested.stencils),
            }
        }
    }
}

/// Depths of the fragments of quads as a tile of one sample has them, in a state that takes them from the primitive.
pub(crate) fn depths_of(state: &State, (inputs, offset): (&Inputs, f64), quads: &[Quad], into: &mut [u32]) {
    let range = state.depth_range.map(steps);
    for (quad, into) in quads.iter().zip(into.as_chunks_mut::<4>().0) {
        let [columns, rows] = places::of_quad(quad, inputs);
        *into = std::array::from_fn(|lane| {
            let depth = inputs.z.at(columns[lane], rows[lane]);
            within(range, steps(depth) + offset)
        });
    }
}

/// Places of a tile's fragments, compiled for what was found.
#[inline(always)]
fn tile_places<L: QuadLanes>(first: [u32; 2], origin: [f32; 2], [columns, rows]: &mut [Row; 2]) {
    places::of_tile::<L>(places::middle(first), 0, origin, [&mut columns[..], &mut rows[..]]);
}

/// Depths of a plane; a plain loop, which becomes as wide as what it is compiled for.
#[inline(always)]
fn depths_all<L: QuadLanes>(
    [columns, rows]: &[Row; 2],
    [right, below]: [f32; 2],
    plane: &Plane,
    offset: f64,
    range: [f64; 2],
    count: usize,
    into: &mut [u32; MAX_FRAGMENTS],
) {
    let mut at = 0;
    while at < count.min(MAX_FRAGMENTS) {
        for at in at..(at + L::COUNT).min(MAX_FRAGMENTS) {
            let depth = plane.at(columns[at] + right, rows[at] + below);
            into[at] = within(range, steps(depth) + offset);
        }
        at += L::COUNT;
    }
}

/// Takes out what does not pass the alpha test.
#[inline(always)]
fn alphas_all<L: QuadLanes>(state: &State, alphas: &Row, count: usize, arrived: &mut Lanes) {
    let Passes([less, equal, greater]) = Passes::of(state.alpha_compare);
    let reference = f32::from(state.alpha_reference);
    let mut at = 0;
    while at < count.min(MAX_FRAGMENTS) {
        for at in at..(at + L::COUNT).min(MAX_FRAGMENTS) {
            let [reached, beyond] = alpha_reaches(alphas[at], reference);
            arrived[at] &= u8::from(less & !reached | equal & reached & !beyond | greater & beyond);
        }
        at += L::COUNT;
    }
}

/// Finds what passes the stencil test; a plain loop, as all of these.
#[inline(always)]
fn fit_all<L: QuadLanes>(face: &Stencil, count: usize, tested: &mut Tested) {
    let (fits, reference) = (Passes::of(face.compare), face.reference & face.mask);
    let mut at = 0;
    while at < count.min(MAX_FRAGMENTS) {
        for at in at..(at + L::COUNT).min(MAX_FRAGMENTS) {
            let have = tested.stencils[at] & face.mask;
            tested.fits[at] = tested.arrived[at] & u8::from(fits.one(&reference, &have));
        }
        at += L::COUNT;
    }
}

/// Finds what passes the depth test, and what the tile has then.
#[inline(always)]
fn near_all<L: QuadLanes>(nearer: Passes, count: usize, tested: &mut Tested) {
    let mut at = 0;
    while at < count.min(MAX_FRAGMENTS) {
        for at in at..(at + L::COUNT).min(MAX_FRAGMENTS) {
            let (depth, have) = (tested.depths[at], tested.have[at]);
            let passes = u32::from(tested.fits[at]) & u32::from(nearer.one(&depth, &have));
            tested.passed[at] = passes as u8;
            tested.have[at] = if passes == 1 { depth } else { have };
        }
        at += L::COUNT;
    }
}

/// Stencils after each of the outcomes, [`updated`](super::buffer::updated).
#[inline(always)]
#[expect(clippy::extra_unused_type_parameters, reason = "it says what this is compiled for")]
fn update_all<L: QuadLanes>(face: &Stencil, packed: bool, tested: &mut Tested) {
    let old = tested.stencils;
    for outcome in 0..3 {
        if face.operations[outcome] == StencilOp::Keep {
            continue;
        }
        new_all(face, outcome, packed.then_some(&tested.reloaded), &old, &mut tested.new);
        let (before, after) = match outcome {
            0 => (&tested.arrived, &tested.fits),
            1 => (&tested.fits, &tested.passed),
            _ => (&tested.passed, &[0; MAX_FRAGMENTS]),
        };
        for at in 0..MAX_FRAGMENTS {
            let mine = (before[at] & !after[at] & 1).wrapping_neg();
            tested.stencils[at] = tested.new[at] & mine | tested.stencils[at] & !mine;
        }
    }
}

/// What stencils become by an operation.
#[inline(always)]
fn new_all(face: &Stencil, outcome: usize, packed: Option<&[u32; MAX_FRAGMENTS]>, old: &Lanes, new: &mut Lanes) {
    if face.counts_past_mask {
        for at in 0..MAX_FRAGMENTS {
            new[at] = updated(face, outcome, old[at], packed.map(|packed| packed[at] as u8));
        }
        return;
    }
    // A loop for each operation, with nothing to choose inside.
    macro_rules! each {
        (|$have:ident, $at:ident| $new:expr) => {
            for $at in 0..MAX_FRAGMENTS {
                let $have = old[$at];
                new[$at] = $have & !face.write_mask | $new & face.write_mask;
            }
        };
    }
    match (face.operations[outcome], packed) {
        (StencilOp::Keep, _) => *new = *old,
        (StencilOp::Replace, Some(packed)) => each!(|have, at| packed[at] as u8),
        (StencilOp::Replace, None) => each!(|have, at| face.reference),
        (StencilOp::Zero, _) => each!(|have, at| 0),
        (StencilOp::Invert, _) => each!(|have, at| !have),
        (StencilOp::IncrementWrap, _) => each!(|have, at| have.wrapping_add(1)),
        (StencilOp::DecrementWrap, _) => each!(|have, at| have.wrapping_sub(1)),
        (StencilOp::Increment, _) => each!(|have, at| have.saturating_add(1)),
        (StencilOp::Decrement, _) => each!(|have, at| have.saturating_sub(1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a stencil becomes by an operation under a mask, by the rule for one and by that for many.
    fn counted(operation: StencilOp, write_mask: u8, past: bool) -> Lanes {
        let face = Stencil {
            operations: [operation; 3],
            write_mask,
            counts_past_mask: past,
            ..Stencil::default()
        };
        let old: Lanes = std::array::from_fn(|at| at as u8);
        let mut new = [0; MAX_FRAGMENTS];
        new_all(&face, 2, None, &old, &mut new);
        assert!((0..MAX_FRAGMENTS).all(|at| new[at] == updated(&face, 2, at as u8, None)));
        new
    }

    #[test]
    fn counting_goes_past_the_mask_where_it_is_supposed_to() {
        for (operation, mask, before, within, past) in [
            (StencilOp::Increment, 0x02, 3, 1, 5),
            (StencilOp::Increment, 0x04, 7, 3, 11),
            (StencilOp::Decrement, 0x02, 4, 6, 2),
            (StencilOp::Increment, 0x02, 255, 255, 255),
            (StencilOp::IncrementWrap, 0x02, 3, 1, 5),
            (StencilOp::IncrementWrap, 0x02, 255, 0xfd, 0xfd),
            (StencilOp::DecrementWrap, 0x02, 0, 2, 2),
            (StencilOp::Invert, 0x02, 3, 1, 1),
            (StencilOp::Increment, 0x00, 3, 3, 3),
            (StencilOp::Increment, 0xfe, 3, 5, 5),
        ] {
            let have = [false, true].map(|past| counted(operation, mask, past)[before]);
            assert_eq!(have, [within, past], "{operation:?} {before} under {mask:#x}");
        }
    }
}
