//! The tests of alpha, stencil and depth for all of a tile of one sample at once: sixteen fragments at a time from the tile and
//! back, with nothing in between. What [`fragment_tests`](super::fragment_tests) does step by step for any fragments.

use super::buffer::alpha_reaches;
use crate::exec::MAX_FRAGMENTS;
use crate::gpu::state::Stencil;
use crate::simd::{Found, dispatch};
use num::lanes::QuadLanes;
use utgard::state::{Compare, StencilOp};

/// Fragments at a time.
const STEP: usize = 16;

/// A number for each of them; of yes and no all bits or none.
type Sixteen = [u32; STEP];

/// A number for each fragment of a tile.
type Row = [f32; MAX_FRAGMENTS];

/// A byte for each fragment of a tile: 1 for those that something is about.
type Lanes = [u8; MAX_FRAGMENTS];

/// What is tested.
pub(crate) struct Tests<'a> {
    /// The stencil of the side that is seen, unless it does not matter.
    pub stencil: Option<&'a Stencil>,
    /// How depths are compared, and whether they are written, if they matter.
    pub depth: Option<(Compare, bool)>,
}

/// The fragments of a tile.
pub(crate) struct Whole<'a> {
    /// Those that are tested.
    pub arrived: &'a Lanes,
    /// Their depths.
    pub depths: &'a [u32; MAX_FRAGMENTS],
    /// What the tile has.
    pub depth: &'a mut [u32; MAX_FRAGMENTS],
    pub stencil: &'a mut Lanes,
    /// Where those go that pass.
    pub passed: &'a mut Lanes,
}

/// Colours of a tile's fragments.
pub(crate) struct Words<'a> {
    /// How alphas are compared, with what; and the alphas.
    pub alpha: (Compare, u8),
    pub alphas: &'a Row,
    /// Depths.
    pub depths: &'a [u32; MAX_FRAGMENTS],
    /// The colours.
    pub words: &'a [u32; MAX_FRAGMENTS],
    /// What the tile has.
    pub color: &'a mut [u32; MAX_FRAGMENTS],
    pub depth: &'a mut [u32; MAX_FRAGMENTS],
    pub stencil: &'a mut Lanes,
}

impl Tests<'_> {
    /// Tests a tile's fragments, alphas included, and puts the colours of those that pass.
    pub fn put(&self, put: Words<'_>) {
        let tests = self;
        dispatch!(put_all(tests: &Tests<'_>, put: Words<'_>) -> (), Found::best());
    }

    /// Tests a tile's fragments, and stores what it has then.
    pub fn run(&self, whole: Whole<'_>) {
        let tests = self;
        dispatch!(all(tests: &Tests<'_>, whole: Whole<'_>) -> (), Found::best());
    }
}

#[inline(always)]
#[expect(clippy::extra_unused_type_parameters, reason = "it says what this is compiled for")]
fn all<L: QuadLanes>(tests: &Tests<'_>, whole: Whole<'_>) {
    let Whole {
        arrived,
        depths,
        depth,
        stencil,
        passed: into,
    } = whole;
    let arrived = arrived.as_chunks::<STEP>().0.iter();
    let depths = depths.as_chunks::<STEP>().0.iter();
    let tile = depth.as_chunks_mut::<STEP>().0.iter_mut();
    let stencil = stencil.as_chunks_mut::<STEP>().0.iter_mut();
    let into = into.as_chunks_mut::<STEP>().0.iter_mut();
    for ((((arrived, depths), tile), stencil), into) in arrived.zip(depths).zip(tile).zip(stencil).zip(into) {
        let passed = step(tests, yes(arrived), depths, tile, stencil);
        for lane in 0..STEP {
            into[lane] = (passed[lane] & 1) as u8;
        }
    }
}

#[inline(always)]
#[expect(clippy::extra_unused_type_parameters, reason = "it says what this is compiled for")]
fn put_all<L: QuadLanes>(tests: &Tests<'_>, put: Words<'_>) {
    let (compare, reference) = put.alpha;
    let reference = f32::from(reference);
    let alphas = put.alphas.as_chunks::<STEP>().0.iter();
    let depths = put.depths.as_chunks::<STEP>().0.iter();
    let words = put.words.as_chunks::<STEP>().0.iter();
    let color = put.color.as_chunks_mut::<STEP>().0.iter_mut();
    let tile = put.depth.as_chunks_mut::<STEP>().0.iter_mut();
    let stencil = put.stencil.as_chunks_mut::<STEP>().0.iter_mut();
    let fragments = alphas.zip(depths).zip(words);
    for (((alphas, depths), words), ((color, tile), stencil)) in fragments.zip(color.zip(tile).zip(stencil)) {
        let arrived = opaque(compare, reference, alphas);
        let passed = step(tests, arrived, depths, tile, stencil);
        *color = chosen(&passed, words, color);
    }
}

/// Whether alphas pass their test.
#[inline(always)]
fn opaque(compare: Compare, reference: f32, alphas: &[f32; STEP]) -> Sixteen {
    macro_rules! each {
        (|$reached:ident, $beyond:ident| $passes:expr) => {{
            let mut all = [0u32; STEP];
            for lane in 0..STEP {
                let [$reached, $beyond] = alpha_reaches(alphas[lane], reference);
                all[lane] = u32::from($passes).wrapping_neg();
            }
            all
        }};
    }
    match compare {
        Compare::Never => [0; STEP],
        Compare::Less => each!(|reached, _beyond| !reached),
        Compare::Equal => each!(|reached, beyond| reached & !beyond),
        Compare::LessEqual => each!(|_reached, beyond| !beyond),
        Compare::Greater => each!(|_reached, beyond| beyond),
        Compare::NotEqual => each!(|reached, beyond| !reached | beyond),
        Compare::GreaterEqual => each!(|reached, _beyond| reached),
        Compare::Always => [u32::MAX; STEP],
    }
}

/// Tests some fragments; those that pass.
#[inline(always)]
fn step(
    tests: &Tests<'_>,
    arrived: Sixteen,
    depths: &Sixteen,
    tile: &mut Sixteen,
    stencil: &mut [u8; STEP],
) -> Sixteen {
    let have = widened(stencil);
    let fits = match tests.stencil {
        Some(face) => {
            let reference = [u32::from(face.reference & face.mask); STEP];
            both(&arrived, &holds(face.compare, &reference, &masked(&have, face.mask)))
        }
        None => arrived,
    };
    let passed = match tests.depth {
        Some((compare, _)) => both(&fits, &holds(compare, depths, tile)),
        None => fits,
    };
    if let Some((_, true)) = tests.depth {
        *tile = chosen(&passed, depths, tile);
    }
    if let Some(face) = tests.stencil {
        let outcomes = [without(&arrived, &fits), without(&fits, &passed), passed];
        let mut now = have;
        for (outcome, operation) in outcomes.iter().zip(face.operations) {
            if operation != StencilOp::Keep {
                now = chosen(outcome, &updated(face, operation, &have), &now);
            }
        }
        for lane in 0..STEP {
            stencil[lane] = now[lane] as u8;
        }
    }
    passed
}

/// Puts words of live fragments where those of the others stay.
pub(crate) fn choose(row: &mut [u32; MAX_FRAGMENTS], live: &Lanes, words: &[u32; MAX_FRAGMENTS]) {
    dispatch!(
        choose_all(row: &mut [u32; MAX_FRAGMENTS], live: &Lanes, words: &[u32; MAX_FRAGMENTS]) -> (),
        Found::best()
    );
}

#[inline(always)]
#[expect(clippy::extra_unused_type_parameters, reason = "it says what this is compiled for")]
fn choose_all<L: QuadLanes>(row: &mut [u32; MAX_FRAGMENTS], live: &Lanes, words: &[u32; MAX_FRAGMENTS]) {
    for at in 0..MAX_FRAGMENTS {
        let yes = u32::from(live[at]).wrapping_neg();
        row[at] = words[at] & yes | row[at] & !yes;
    }
}

#[inline(always)]
fn widened(bytes: &[u8; STEP]) -> Sixteen {
    let mut all = [0; STEP];
    for lane in 0..STEP {
        all[lane] = u32::from(bytes[lane]);
    }
    all
}

/// Ones as yes.
#[inline(always)]
fn yes(bytes: &[u8; STEP]) -> Sixteen {
    let mut all = widened(bytes);
    for one in &mut all {
        *one = one.wrapping_neg();
    }
    all
}

#[inline(always)]
fn masked(have: &Sixteen, mask: u8) -> Sixteen {
    let mut all = *have;
    for one in &mut all {
        *one &= u32::from(mask);
    }
    all
}

#[inline(always)]
fn both(a: &Sixteen, b: &Sixteen) -> Sixteen {
    let mut all = *a;
    for lane in 0..STEP {
        all[lane] &= b[lane];
    }
    all
}

#[inline(always)]
fn without(a: &Sixteen, b: &Sixteen) -> Sixteen {
    let mut all = *a;
    for lane in 0..STEP {
        all[lane] &= !b[lane];
    }
    all
}

/// `a` where it says yes, `b` elsewhere.
#[inline(always)]
fn chosen(yes: &Sixteen, a: &Sixteen, b: &Sixteen) -> Sixteen {
    let mut all = *b;
    for lane in 0..STEP {
        all[lane] = a[lane] & yes[lane] | b[lane] & !yes[lane];
    }
    all
}

/// Whether a comparison holds.
#[inline(always)]
fn holds(compare: Compare, a: &Sixteen, b: &Sixteen) -> Sixteen {
    // A loop for each, with nothing to choose inside.
    macro_rules! each {
        ($relation:tt) => {{
            let mut all = [0u32; STEP];
            for lane in 0..STEP {
                all[lane] = u32::from(a[lane] $relation b[lane]).wrapping_neg();
            }
            all
        }};
    }
    match compare {
        Compare::Never => [0; STEP],
        Compare::Less => each!(<),
        Compare::Equal => each!(==),
        Compare::LessEqual => each!(<=),
        Compare::Greater => each!(>),
        Compare::NotEqual => each!(!=),
        Compare::GreaterEqual => each!(>=),
        Compare::Always => [u32::MAX; STEP],
    }
}

/// What stencils become by an operation, [`updated`](super::buffer::updated).
#[inline(always)]
fn updated(face: &Stencil, operation: StencilOp, have: &Sixteen) -> Sixteen {
    macro_rules! each {
        (|$have:ident| $new:expr) => {{
            let mut all = [0u32; STEP];
            for lane in 0..STEP {
                let $have = have[lane];
                all[lane] = $new;
            }
            all
        }};
    }
    let new = match operation {
        StencilOp::Keep => *have,
        StencilOp::Replace => [u32::from(face.reference); STEP],
        StencilOp::Zero => [0; STEP],
        StencilOp::Invert => each!(|have| !have),
        StencilOp::IncrementWrap => each!(|have| have.wrapping_add(1)),
        StencilOp::DecrementWrap => each!(|have| have.wrapping_sub(1)),
        StencilOp::Increment => each!(|have| (have + 1).min(255)),
        StencilOp::Decrement => each!(|have| have.max(1) - 1),
    };
    let written = [u32::from(face.write_mask); STEP];
    chosen(&written, &new, have)
}
