//! The planes of values that are interpolated over a primitive.

use crate::exec::inputs::{Inputs, Plane, SLOTS};
use crate::gpu::primitives::{Odd, Primitive};
use crate::simd::{Found, dispatch};
use num::lanes::QuadLanes;

/// The origin of planes: the first corner, or a point near the picture if that is so far away that the pixels'
/// distances from it would be rounded.
#[inline(always)]
pub(crate) fn origin([x, y]: [f32; 2]) -> [f32; 2] {
    [x.clamp(-4096.0, 8192.0), y.clamp(-4096.0, 8192.0)]
}

/// Interpolated values of a primitive at most: 1/w, depth, and components of varyings.
pub(crate) const MOST: usize = (2 + 4 * SLOTS).next_multiple_of(16);

/// Interpolated values at the three corners.
type Values = [[f64; MOST]; 3];

/// Base, and change per column and row, of interpolated values.
type Planes = [[f32; MOST]; 3];

/// Scratch memory for the values of a primitive; its contents are stale.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    of_vertices: Values,
    values: Values,
    found: Planes,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            of_vertices: [[0.0; MOST]; 3],
            values: [[0.0; MOST]; 3],
            found: [[0.0; MOST]; 3],
        }
    }
}

/// Three corners of planes, relative to the first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sides {
    pub b: [f64; 2],
    pub c: [f64; 2],
    /// Twice the area; zero where the corners are in a line.
    pub area: f64,
    /// From the first corner to the planes' origin.
    pub away: [f64; 2],
}

impl Sides {
    #[inline(always)]
    pub(crate) fn new([a, b, c]: [[f32; 2]; 3], origin: [f32; 2]) -> Self {
        let place = |[x, y]: [f32; 2]| [f64::from(x), f64::from(y)];
        let [[ax, ay], [bx, by], [cx, cy]] = [place(a), place(b), place(c)];
        let (b, c) = ([bx - ax, by - ay], [cx - ax, cy - ay]);
        Self {
            b,
            c,
            area: b[0] * c[1] - c[0] * b[1],
            away: [f64::from(origin[0]) - ax, f64::from(origin[1]) - ay],
        }
    }
}

/// The planes through values at three corners; level when the corners are in a line.
#[inline(always)]
#[expect(
    clippy::extra_unused_type_parameters,
    reason = "the same loop, compiled for each kind of processor"
)]
fn planes<L: QuadLanes>(sides: Sides, values: &Values, count: usize, planes: &mut Planes) {
    match count {
        0..=8 => first_planes::<8>(sides, values, planes),
        9..=16 => first_planes::<16>(sides, values, planes),
        _ => first_planes::<MOST>(sides, values, planes),
    }
}

/// The first of them: a plain loop of a known length, which is vectorised.
#[inline(always)]
fn first_planes<const COUNT: usize>(sides: Sides, values: &Values, planes: &mut Planes) {
    let [first, second, third] = values;
    let [base, dx, dy] = planes;
    for at in 0..COUNT {
        [base[at], dx[at], dy[at]] = plane([first[at], second[at], third[at]], sides);
    }
}

/// Base, and change per column and row, of the plane through values at three corners; level when the corners are in a line.
#[inline(always)]
pub(crate) fn plane([first, second, third]: [f64; 3], sides: Sides) -> [f32; 3] {
    let Sides { b, c, area, away } = sides;
    let (to_b, to_c) = (second - first, third - first);
    let (x, y) = if area == 0.0 {
        (0.0, 0.0)
    } else {
        ((to_b * c[1] - to_c * b[1]) / area, (to_c * b[0] - to_b * c[0]) / area)
    };
    [(first + x * away[0] + y * away[1]) as f32, x as f32, y as f32]
}

/// The inputs of a primitive, or of the part of it that `odd` is. `fetch` gives the `used` components of one of its vertices, in
/// their order, -0 as 0, as mixing leaves it; other components stay as they are, because no program reads them.
pub(crate) fn inputs(
    primitive: &Primitive,
    odd: Option<&Odd>,
    front: bool,
    used: &[(usize, usize)],
    mut fetch: impl FnMut(u32, &mut [f64]),
    room: &mut Setup,
    inputs: &mut Inputs,
) {
    let positions = odd.map_or_else(
        || primitive.positions(),
        |odd| odd.corners.map(|corner| corner.position),
    );
    let [a, b, c] = positions;
    let w = [f64::from(a[3]), f64::from(b[3]), f64::from(c[3])];
    let flat = w[0] == w[1] && w[0] == w[2];
    let shape = positions.map(|[x, y, ..]| [x, y]);
    inputs.origin = origin(shape[0]);
    (inputs.flat, inputs.front) = (flat, front);
    inputs.point = [Plane::default(); 2];
    if let Some([left, top, size]) = odd.and_then(|odd| odd.point) {
        let along = |axis: usize, edge: f32| Plane {
            base: (inputs.origin[axis] - edge) / size,
            dx: if axis == 0 { 1.0 / size } else { 0.0 },
            dy: if axis == 1 { 1.0 / size } else { 0.0 },
        };
        inputs.point = [along(0, left), along(1, top)];
    }
    let used = &used[..used.len().min(4 * SLOTS)];
    let count = 2 + used.len();
    let Setup {
        of_vertices,
        values,
        found,
    } = room;
    let of_corners = if odd.is_some() { &mut *of_vertices } else { &mut *values };
    for (values, vertex) in of_corners.iter_mut().zip(primitive.vertices) {
        fetch(vertex, &mut values[2..count]);
    }
    if let Some(odd) = odd {
        for (values, corner) in values.iter_mut().zip(&odd.corners) {
            mix(corner.weights, of_vertices, count, values);
        }
    }
    for ((values, position), w) in values.iter_mut().zip(positions).zip(w) {
        if !flat {
            values[2..count].iter_mut().for_each(|value| *value *= w);
        }
        (values[0], values[1]) = (w, f64::from(position[2]));
    }
    let sides = Sides::new(shape, inputs.origin);
    let (values, into) = (&*values, &mut *found);
    dispatch!(planes(sides: Sides, values: &Values, count: usize, into: &mut Planes) -> (), Found::best());
    let [base, dx, dy] = found;
    let plane = |at: usize| Plane {
        base: base[at],
        dx: dx[at],
        dy: dy[at],
    };
    (inputs.inverse_w, inputs.z) = (plane(0), plane(1));
    for (at, (slot, component)) in (2..).zip(used) {
        inputs.varyings[*slot][*component] = plane(at);
    }
}

/// The value at a corner, a weighted sum of the vertices'. A vertex of weight 0 may have any value.
fn mix(weights: [f32; 3], of_vertices: &Values, count: usize, into: &mut [f64; MOST]) {
    into[2..count].fill(0.0);
    for (weight, values) in weights
        .into_iter()
        .zip(of_vertices)
        .filter(|(weight, _)| *weight != 0.0)
    {
        let weight = f64::from(weight);
        for (into, value) in into[2..count].iter_mut().zip(&values[2..count]) {
            *into += weight * value;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planes_go_through_their_corners() {
        let corners = [[1.0, 2.0], [9.0, 3.0], [4.0, 12.0]];
        let (values, mut found) = ([5.0, -3.0, 8.0].map(|value| [value; MOST]), [[0.0; MOST]; 3]);
        planes::<crate::simd::Portable>(Sides::new(corners, [1.0, 2.0]), &values, MOST, &mut found);
        let [base, dx, dy] = found.map(|row| row[MOST - 1]);
        let plane = Plane { base, dx, dy };
        for (corner, value) in corners.iter().zip([5.0, -3.0, 8.0]) {
            let [x, y] = corner;
            assert!((plane.at(x - 1.0, y - 2.0) - value).abs() < 1e-5);
        }
    }
}
