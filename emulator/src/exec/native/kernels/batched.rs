//! Programs that are one piece of machine code, for fragments of many primitives at once: what planes come to is computed
//! first, and the code finds it in rows.

use crate::exec::batched::{BatchedQuads, QuadBatcher};
use crate::exec::inputs::{Inputs, ManyInputs, Planes};
use crate::exec::lanes::{LANES, Row};
use crate::exec::native::kernels::straight::{Call, STEP, Straight, pair};
use crate::exec::wide::alu::plane_at;
use crate::exec::wide::fragment_code::{Input, row};
use crate::exec::{FragmentContext, Fragments, places};
use crate::simd::dispatch;
use num::lanes::QuadLanes;
use std::sync::LazyLock;

/// Code whose planes are computed before reads no inputs.
static NO_INPUTS: LazyLock<Inputs> = LazyLock::new(Inputs::default);

/// A program of one piece that was made for batched fragments.
pub(crate) struct BatchKernel(pub Straight);

impl QuadBatcher for BatchKernel {
    fn instruction_count(&self) -> u32 {
        self.0.program.straight().map_or(0, |region| region.steps)
    }

    fn reads_depth(&self) -> bool {
        let mut planes = self.0.program.batched.iter();
        planes.any(|what| matches!(what, Input::Z | Input::W))
    }

    fn paint(
        &self,
        context: &FragmentContext<'_>,
        inputs: &ManyInputs,
        quads: &mut BatchedQuads,
        out: &mut Fragments,
    ) -> bool {
        let lanes = (4 * quads.count()).next_multiple_of(STEP);
        // Padding lanes must not sample other texels than the last quad does.
        quads.pad(lanes / 4);
        let program = &self.0.program;
        self.0.on_rows(|rows| {
            let planes = &program.batched;
            let into = &mut rows[program.rows - planes.len()..program.rows];
            dispatch!(
                planes_of_all(
                    inputs: &ManyInputs,
                    planes: &[Input],
                    quads: &mut BatchedQuads,
                    lanes: usize,
                    into: &mut [Row],
                ) -> (),
                self.0.found
            );
            if program.reads_pixels {
                places::pixels(quads.quads(), pair(rows, row::COLUMN, lanes));
            }
            let mut call = Call {
                context,
                inputs: &NO_INPUTS,
                rows,
            };
            self.0.run(&mut call, 0, lanes, out)
        })
    }
}

/// What planes come to at the places of some fragments.
#[inline(always)]
fn planes_of_all<L: QuadLanes>(
    inputs: &ManyInputs,
    planes: &[Input],
    quads: &mut BatchedQuads,
    lanes: usize,
    into: &mut [Row],
) {
    quads.place();
    let quads = &*quads;
    // Where fragments are, first: then what is looked up of a plane stays near.
    let [mut columns, mut lines, mut numbers] = [[0.0; LANES]; 3];
    let mut at = 0;
    while at < lanes.min(LANES) {
        let [column, line, of] = quads.at::<L>(at);
        L::store(&mut columns[at..], L::sub(column, L::lookup(&inputs.origin[0], of)));
        L::store(&mut lines[at..], L::sub(line, L::lookup(&inputs.origin[1], of)));
        L::store(&mut numbers[at..], of);
        at += L::COUNT;
    }
    for (row, what) in into.iter_mut().zip(planes) {
        let Planes { base, dx, dy } = planes_of(inputs, *what);
        let mut at = 0;
        while at < lanes.min(LANES) {
            let of = L::load(&numbers[at..]);
            let plane = [L::lookup(base, of), L::lookup(dx, of), L::lookup(dy, of)];
            let value = plane_at::<L>(plane, L::load(&columns[at..]), L::load(&lines[at..]));
            L::store(&mut row[at..], value);
            at += L::COUNT;
        }
    }
}

/// The planes of an input.
#[inline(always)]
fn planes_of(inputs: &ManyInputs, what: Input) -> &Planes {
    match what {
        Input::Varying(at) => &inputs.varyings[usize::from(at) / 4][usize::from(at) % 4],
        Input::Z => &inputs.z,
        Input::Point(axis) => &inputs.point[usize::from(axis & 1)],
        Input::W | Input::Front => &inputs.inverse_w,
    }
}
