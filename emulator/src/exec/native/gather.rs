//! Programs that are one piece of machine code, for fragments of many primitives at once: planes are computed when quads are
//! gathered, and the code finds what they come to in rows.

use super::paint::{Call, STEP, Straight, pair};
use super::plan::{NO_INPUTS, Program};
use super::wide::alu::plane_at;
use super::wide::fragment_code::{Input, row};
use crate::exec::inputs::{Inputs, Plane};
use crate::exec::lanes::Row;
use crate::exec::{FragmentContext, Fragments, GatheredRows, Gatherer, MAX_GATHERED, Quad, places};
use crate::simd::dispatch;
use num::lanes::QuadLanes;

/// A program of one piece that was made for gathered fragments.
pub(super) struct Gathering(pub Straight);

impl Gathering {
    /// The rows of planes, and which planes they are of.
    fn rows<'a>(&self, rows: &'a mut GatheredRows) -> (&'a mut [Row], &[Input]) {
        let Program {
            rows: count, gathered, ..
        } = &*self.0.program;
        if rows.0.len() < *count {
            rows.0.resize(*count, Row::splat(0.0));
        }
        (&mut rows.0[count - gathered.len()..*count], gathered)
    }
}

impl Gatherer for Gathering {
    fn steps(&self) -> u32 {
        self.0.program.straight().map_or(0, |plan| plan.steps)
    }

    fn gather(&self, inputs: &Inputs, quads: &[Quad], from: usize, rows: &mut GatheredRows) {
        let found = self.0.found;
        let (rows, planes) = self.rows(rows);
        for (quads, from) in quads.chunks(SOME / 4).zip((from..MAX_GATHERED).step_by(SOME / 4)) {
            let mut places = [[0.0; SOME]; 2];
            let [columns, lines] = &mut places;
            places::of_quads(quads, inputs, [columns, lines]);
            let places = &places;
            dispatch!(
                gather_some(
                    inputs: &Inputs,
                    planes: &[Input],
                    places: &[[f32; SOME]; 2],
                    from: usize,
                    rows: &mut [Row],
                ) -> (),
                found
            );
        }
    }

    fn paint(
        &self,
        context: &FragmentContext<'_>,
        quads: &[Quad],
        rows: &mut GatheredRows,
        out: &mut Fragments,
    ) -> bool {
        let quads = &quads[..quads.len().min(MAX_GATHERED)];
        let lanes = (4 * quads.len()).next_multiple_of(STEP);
        let (planes, _) = self.rows(rows);
        for row in planes {
            // Lanes nobody wants must not ask for more than those that are wanted.
            let fours = row[..lanes].as_chunks_mut::<4>().0;
            if let Some(last) = quads.len().checked_sub(1).map(|last| fours[last]) {
                fours[quads.len()..].fill(last);
            }
        }
        if self.0.program.reads_pixels {
            places::pixels(quads, pair(&mut rows.0, row::COLUMN, lanes));
        }
        let mut call = Call {
            context,
            inputs: &NO_INPUTS,
            rows: &mut rows.0,
        };
        self.0.run(&mut call, 0, lanes, out)
    }
}

/// Lanes that are gathered at a time: four quads, of which most small primitives have no more.
const SOME: usize = 16;

/// What planes come to at the places of some quads, those from `from` on. What is beyond the rows' end is left out.
#[inline(always)]
fn gather_some<L: QuadLanes>(
    inputs: &Inputs,
    planes: &[Input],
    [columns, lines]: &[[f32; SOME]; 2],
    from: usize,
    rows: &mut [Row],
) {
    for (row, what) in rows.iter_mut().zip(planes) {
        let Plane { base, dx, dy } = *plane(inputs, *what);
        let plane = [L::splat(base), L::splat(dx), L::splat(dy)];
        let into = &mut row[4 * from..];
        let mut short = [0.0; SOME];
        let is_short = into.len() < SOME;
        let some = if is_short { &mut short[..] } else { &mut into[..SOME] };
        let mut at = 0;
        while at < SOME {
            let value = plane_at::<L>(plane, L::load(&columns[at..]), L::load(&lines[at..]));
            L::store(&mut some[at..], value);
            at += L::COUNT;
        }
        if is_short {
            let count = into.len();
            into.copy_from_slice(&short[..count]);
        }
    }
}

/// A plane of a primitive's inputs.
#[inline(always)]
fn plane(inputs: &Inputs, what: Input) -> &Plane {
    match what {
        Input::Varying(at) => &inputs.varyings[usize::from(at) / 4][usize::from(at) % 4],
        Input::Z => &inputs.z,
        Input::Point(axis) => &inputs.point[usize::from(axis & 1)],
        Input::W | Input::Front => &inputs.inverse_w,
    }
}
