//! Setup of many small triangles at a time: planes of interpolated values, and coverage of a
//! tile. The results are those of [`planes::inputs`] for one triangle.

use super::scene::{Shader, unsigned};
use crate::exec::inputs::{Inputs, MANY, ManyInputs, Plane, Planes, SLOTS};
use crate::gpu::primitives::Bounds;
use crate::gpu::primitives::Primitive;
use crate::gpu::raster::planes::{self, Sides};
use crate::gpu::raster::small_triangle_masks::{Corners, Each, MaskedQuads, SmallTriangleMasks};
use crate::gpu::vectors::turn;
use crate::memory::Memory;
use crate::simd::{Found, dispatch};
use num::lanes::QuadLanes;

/// A triangle's coverage of a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Covered {
    /// Nothing.
    Nothing,
    /// Some of its window.
    Window,
    /// Unknown: it is not small, or its corners are not its vertices. It has to be set up by itself.
    Unknown,
}

/// Triangles that are set up together.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    count: usize,
    numbers: Each<u32>,
    vertices: Each<[u32; 3]>,
    /// Corners are vertices.
    is_plain: Each<bool>,
    ccw: Each<bool>,
    /// Column, row, depth and 1/w of each corner.
    positions: [Each<[f32; 4]>; 3],
    corners: Corners,
    masks: SmallTriangleMasks,
    values: Box<[Values; MOST_VALUES]>,
    /// The same where they are whole vectors.
    vectors: Box<[[Each<[f32; 4]>; 3]; SLOTS]>,
    /// The planes of those that cover some of their window.
    pub inputs: ManyInputs,
    /// Some of them are a point's.
    has_points: bool,
}

/// Components of varyings.
const MOST_VALUES: usize = 4 * SLOTS;

/// One of them at the three corners.
type Values = [Each<f32>; 3];

/// The three corners of planes, relative to the first.
#[derive(Clone, Debug, Default)]
struct ManySides {
    b: [Each<f64>; 2],
    c: [Each<f64>; 2],
    area: Each<f64>,
    away: [Each<f64>; 2],
}

impl Default for Block {
    fn default() -> Self {
        Self {
            count: 0,
            numbers: [0; MANY],
            vertices: [[0; 3]; MANY],
            is_plain: [false; MANY],
            ccw: [false; MANY],
            positions: [[[0.0; 4]; MANY]; 3],
            corners: Corners::default(),
            masks: SmallTriangleMasks::default(),
            values: Box::new([[[0.0; MANY]; 3]; MOST_VALUES]),
            vectors: Box::new([[[[0.0; 4]; MANY]; 3]; SLOTS]),
            inputs: ManyInputs::default(),
            has_points: false,
        }
    }
}

impl Block {
    /// Removes the triangles; the next ones are clipped to `bounds`.
    pub(super) fn begin(&mut self, bounds: Bounds) {
        self.count = 0;
        let end = |end: u32| end.min(i32::MAX as u32) as i32;
        self.corners.bounds = [0, 1].map(|axis: usize| [bounds.min[axis], bounds.max[axis]].map(end));
        // Triangles have no coordinates of points.
        if std::mem::take(&mut self.has_points) {
            self.inputs.point = Default::default();
        }
    }

    /// How many triangles there are.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Adds a triangle by its number, while there is room.
    #[inline]
    pub(super) fn push(&mut self, number: u32, primitive: &Primitive) {
        let at = self.count;
        if at >= MANY {
            return;
        }
        self.count += 1;
        self.numbers[at] = number;
        self.vertices[at] = primitive.vertices;
        (self.is_plain[at], self.ccw[at]) = (primitive.is_plain(), primitive.ccw);
        let [a, b, c] = &mut self.positions;
        [a[at], b[at], c[at]] = primitive.positions();
    }

    /// Computes the coverage of all triangles in the tile whose first pixel is `origin`. Returns whether one covers some of its
    /// window.
    pub(super) fn cover(&mut self, origin: [u32; 2]) -> bool {
        let (positions, corners) = (&self.positions, &mut self.corners);
        dispatch!(
            turn_corners(positions: &[Each<[f32; 4]>; 3], corners: &mut Corners) -> (),
            Found::best()
        );
        self.masks.find(&self.corners, origin);
        // Entries beyond the count are stale.
        self.live().any(|live| live != 0)
    }

    /// Coverage of the triangles' windows: a bit for each fragment, quad by quad, row by row.
    fn live(&self) -> impl Iterator<Item = u64> {
        (0..self.count).map(|at| self.masks.live(at))
    }

    /// The coverage of a triangle.
    #[inline]
    pub(super) fn covered(&self, at: usize) -> Covered {
        let is_there = self.masks.live(at) != 0;
        if self.masks.is_unknown(at) || !self.is_plain[at] && is_there {
            Covered::Unknown
        } else if is_there {
            Covered::Window
        } else {
            Covered::Nothing
        }
    }

    /// The quads of the tile that a triangle covers, if that is some of its window.
    #[inline]
    pub(super) fn quads(&self, at: usize) -> MaskedQuads {
        self.masks.quads(at)
    }

    /// Sets the inputs of a triangle that was set up by itself: of its varyings the used ones.
    pub(super) fn set(&mut self, at: usize, inputs: &Inputs, used: &[(usize, usize)]) {
        self.has_points |= inputs.point != [Plane::default(); 2];
        self.inputs.set(at, inputs, used);
    }

    /// A triangle's number.
    pub(super) fn number(&self, at: usize) -> u32 {
        self.numbers[at]
    }

    /// Whether a triangle turns counter-clockwise.
    pub(super) fn ccw(&self, at: usize) -> bool {
        self.ccw[at]
    }

    /// Whether a triangle has one w.
    #[inline]
    pub(super) fn is_flat(&self, at: usize) -> bool {
        self.masks.is_flat(at)
    }

    /// Whether any triangle that covers some of its window has one w (`flat`), or several.
    pub(super) fn has_some(&self, flat: bool) -> bool {
        let mut all = self.live().zip(self.masks.flat());
        all.any(|(live, is_flat)| live != 0 && (*is_flat != 0) == flat)
    }

    /// Computes the planes of triangles that cover some of their window: of varyings, and on request of depth and 1/w.
    pub(super) fn find_planes(&mut self, memory: &Memory, shader: &Shader<'_>, wants_depth: bool) {
        if self.find_vectors(shader).is_none() {
            for at in (0..self.count).filter(|at| self.masks.live(*at) != 0) {
                for (corner, vertex) in self.vertices[at].into_iter().enumerate() {
                    let values = &mut self.values;
                    shader.varyings(memory, vertex, |number, value| values[number][corner][at] = value);
                }
            }
        }
        self.find_planes_of_values(shader.used(), wants_depth);
    }

    /// Computes the planes of varyings that are whole vectors of all vertices.
    fn find_vectors(&mut self, shader: &Shader<'_>) -> Option<()> {
        let of_vertices = shader.vectors()?;
        let slots = shader.used().len() / 4;
        for (slot, [a, b, c]) in self.vectors.iter_mut().enumerate().take(slots) {
            for at in (0..self.count).filter(|at| self.masks.live(*at) != 0) {
                let vertices = self.vertices[at];
                a[at] = of_vertices.of(vertices[0], slot)?;
                b[at] = of_vertices.of(vertices[1], slot)?;
                c[at] = of_vertices.of(vertices[2], slot)?;
            }
        }
        let (vectors, values) = (&self.vectors[..slots], &mut *self.values);
        dispatch!(
            turn_values(vectors: &[[Each<[f32; 4]>; 3]], values: &mut [Values; MOST_VALUES]) -> (),
            Found::best()
        );
        Some(())
    }

    fn find_planes_of_values(&mut self, used: &[(usize, usize)], wants_depth: bool) {
        let job = &Job {
            corners: &self.corners,
            flat: self.masks.flat(),
            used,
            wants_depth: wants_depth || self.has_some(false),
        };
        let (values, inputs) = (&*self.values, &mut self.inputs);
        dispatch!(
            planes_all(job: &Job<'_>, values: &[Values; MOST_VALUES], inputs: &mut ManyInputs) -> (),
            Found::best()
        );
    }
}

/// Transposes positions of corners to rows.
#[inline(always)]
#[expect(clippy::extra_unused_type_parameters, reason = "it says what this is compiled for")]
fn turn_corners<L: QuadLanes>(positions: &[Each<[f32; 4]>; 3], corners: &mut Corners) {
    let Corners { places, depths, .. } = corners;
    for corner in 0..3 {
        let ([x, y], [z, w]) = (&mut places[corner], &mut depths[corner]);
        turn(&positions[corner], [x, y, z, w]);
    }
}

/// Transposes varyings to rows.
#[inline(always)]
#[expect(clippy::extra_unused_type_parameters, reason = "it says what this is compiled for")]
fn turn_values<L: QuadLanes>(vectors: &[[Each<[f32; 4]>; 3]], values: &mut [Values; MOST_VALUES]) {
    for (vectors, values) in vectors.iter().zip(values.as_chunks_mut::<4>().0) {
        let [x, y, z, w] = values;
        for corner in 0..3 {
            turn(
                &vectors[corner],
                [&mut x[corner], &mut y[corner], &mut z[corner], &mut w[corner]],
            );
        }
    }
}

/// The values whose planes are computed.
struct Job<'a> {
    corners: &'a Corners,
    /// Which triangles have one w.
    flat: &'a Each<i32>,
    /// Slots and components of varyings.
    used: &'a [(usize, usize)],
    wants_depth: bool,
}

/// Computes all planes; compiled for each instruction set.
#[inline(always)]
#[expect(
    clippy::extra_unused_type_parameters,
    reason = "its loops become as wide as the lanes are"
)]
fn planes_all<L: QuadLanes>(job: &Job<'_>, values: &[Values; MOST_VALUES], inputs: &mut ManyInputs) {
    let sides = &mut ManySides::default();
    find_sides(job.corners, sides, &mut inputs.origin);
    let [a, b, c] = &job.corners.depths;
    if job.wants_depth {
        let as_is = |value: f32, _, _| f64::from(value);
        find_planes(sides, [&a[1], &b[1], &c[1]], as_is, &mut inputs.inverse_w);
        find_planes(sides, [&a[0], &b[0], &c[0]], as_is, &mut inputs.z);
    }
    let factors = &factors(job.flat, [&a[1], &b[1], &c[1]]);
    for ((slot, component), [first, second, third]) in job.used.iter().zip(values) {
        let divided = |value: f32, corner: usize, at: usize| unsigned(value) * factors[corner][at];
        let planes = &mut inputs.varyings[*slot][*component];
        find_planes(sides, [first, second, third], divided, planes);
    }
}

#[inline(always)]
fn find_sides(corners: &Corners, sides: &mut ManySides, origins: &mut [Each<f32>; 2]) {
    let [a, b, c] = &corners.places;
    for at in 0..MANY {
        let shape = [[a[0][at], a[1][at]], [b[0][at], b[1][at]], [c[0][at], c[1][at]]];
        let origin = planes::origin(shape[0]);
        let one = Sides::new(shape, origin);
        for axis in 0..2 {
            sides.b[axis][at] = one.b[axis];
            sides.c[axis][at] = one.c[axis];
            sides.away[axis][at] = one.away[axis];
            origins[axis][at] = origin[axis];
        }
        sides.area[at] = one.area;
    }
}

/// Factors of values at triangles' corners: 1/w, or 1 where there is one w.
#[inline(always)]
fn factors(flat: &Each<i32>, w: [&Each<f32>; 3]) -> [Each<f64>; 3] {
    let mut factors = [[0.0; MANY]; 3];
    for (factors, w) in factors.iter_mut().zip(w) {
        for at in 0..MANY {
            factors[at] = if flat[at] != 0 { 1.0 } else { f64::from(w[at]) };
        }
    }
    factors
}

/// Computes planes through values at the corners; `number` is what is interpolated, from the value, the corner and the triangle.
#[inline(always)]
fn find_planes(
    sides: &ManySides,
    [first, second, third]: [&Each<f32>; 3],
    number: impl Fn(f32, usize, usize) -> f64,
    planes: &mut Planes,
) {
    for at in 0..MANY {
        let sides = Sides {
            b: [sides.b[0][at], sides.b[1][at]],
            c: [sides.c[0][at], sides.c[1][at]],
            area: sides.area[at],
            away: [sides.away[0][at], sides.away[1][at]],
        };
        let numbers = [
            number(first[at], 0, at),
            number(second[at], 1, at),
            number(third[at], 2, at),
        ];
        [planes.base[at], planes.dx[at], planes.dy[at]] = planes::plane(numbers, sides);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::primitives::Primitive;
    use crate::gpu::raster::small_triangle;
    use crate::gpu::raster::triangle::{Coverage, Shape};
    use crate::gpu::tile::in_tile;
    use fastrand::Rng;

    /// Coordinates on sides, through the middles of pixels and elsewhere, some of them far away or NaN.
    fn shape(random: &mut Rng, origin: [u32; 2]) -> [[f32; 2]; 3] {
        let coarse = [1.0, 2.0, 256.0, 1e9][random.usize(..4)];
        let size = [2.0, 5.0, 9.0, 15.9, 40.0][random.usize(..5)];
        let start = origin.map(|at| at as f32 - 12.0 + 32.0 * random.f32());
        let mut shape =
            [0; 3].map(|_| [0, 1].map(|axis: usize| ((start[axis] + size * random.f32()) * coarse).round() / coarse));
        if random.u32(..40) == 0 {
            let odd = [f32::NAN, f32::INFINITY, -1e30, 3e9, -20_000.0][random.usize(..5)];
            shape[random.usize(..3)][random.usize(..2)] = odd;
        }
        shape
    }

    /// Side by side, triangles cover what each covers by itself, and have the planes that it has by itself.
    #[test]
    fn blocks_are_triangles() {
        let mut random = Rng::with_seed(8);
        let used: Vec<(usize, usize)> = (0..SLOTS).map(|slot| (slot, random.usize(..4))).collect();
        let (mut block, mut setup) = (Block::default(), planes::Setup::default());
        let mut counts = [0; 3];
        for round in 0..3000 {
            let origin = [[0, 0], [16, 32], [4080, 4080]][random.usize(..3)];
            let bounds = Bounds {
                min: origin.map(|at| at + random.u32(..4)),
                max: origin.map(|at| at + random.u32(4..40)),
            };
            block.begin(bounds);
            let used = &used[..random.usize(..=SLOTS)];
            let wants_depth = random.bool();
            let vertex = |vertex: u32, number: usize| (vertex * 97 % 101) as f32 - number as f32 * 3.5;
            let mut all = Vec::new();
            for at in 0..random.usize(1..=MANY) {
                let w = if round % 2 == 0 {
                    [0.5; 3]
                } else {
                    [0, 1, 2].map(|_| 0.5 + random.f32())
                };
                let shape = shape(&mut random, origin);
                let corner = |corner: usize| [shape[corner][0], shape[corner][1], w[corner] * 0.3, w[corner]];
                let vertices = [0; 3].map(|_| random.u32(..1000));
                let primitive = Primitive::of_vertices([corner(0), corner(1), corner(2)], vertices, 0, false);
                block.push(at as u32, &primitive);
                all.push(primitive);
            }
            block.cover(origin);
            for (at, primitive) in all.iter().enumerate() {
                for (corner, of) in primitive.vertices.into_iter().enumerate() {
                    (0..used.len()).for_each(|number| block.values[number][corner][at] = vertex(of, number));
                }
            }
            block.find_planes_of_values(used, wants_depth);
            for (at, primitive) in all.iter().enumerate() {
                let (mut coverage, mut wanted) = (Coverage::default(), Inputs::default());
                let is_known = small_triangle::is_small(&primitive.shape())
                    && primitive
                        .shape()
                        .as_flattened()
                        .iter()
                        .all(|at| small_triangle::is_near(*at));
                if let Some(shape) = Shape::new(primitive, bounds) {
                    shape.cover(origin, false, &mut coverage);
                    coverage.list();
                }
                let covered = block.covered(at);
                counts[covered as usize] += 1;
                let mut quads: Vec<(u32, u32)> = block.quads(at).collect();
                match covered {
                    Covered::Unknown => {
                        // A window has room for this much, wherever it begins.
                        let [[ax, ay], [bx, by], [cx, cy]] = primitive.shape();
                        let extent = |a: f32, b: f32, c: f32| a.max(b).max(c) - a.min(b).min(c);
                        assert!(!is_known || extent(ax, bx, cx) > 6.0 || extent(ay, by, cy) > 6.0);
                        continue;
                    }
                    Covered::Nothing => assert!(is_known && coverage.is_empty(), "{primitive:?}"),
                    Covered::Window => assert!(is_known),
                }
                let wanted_quads = coverage.quads.iter();
                let wanted_quads = wanted_quads.map(|quad| (in_tile(quad.x, quad.y) as u32 / 4, quad.live.into()));
                let mut wanted_quads: Vec<(u32, u32)> = wanted_quads.collect();
                wanted_quads.sort_unstable();
                quads.sort_unstable();
                assert_eq!(quads, wanted_quads, "{primitive:?}");
                let mut of_windows: Vec<_> = MaskedQuads::of(&coverage.quads).into_iter().flatten().collect();
                of_windows.sort_unstable();
                assert_eq!(of_windows, wanted_quads, "{primitive:?}");
                if covered == Covered::Nothing {
                    continue;
                }
                let fetch = |of: u32, values: &mut [f64]| {
                    (0..)
                        .zip(values)
                        .for_each(|(number, value)| *value = unsigned(vertex(of, number)));
                };
                planes::inputs(primitive, None, true, used, fetch, &mut setup, &mut wanted);
                let have = &block.inputs;
                let flat = block.is_flat(at);
                assert_eq!((flat, have.origin.map(|axis| axis[at])), (wanted.flat, wanted.origin));
                if wants_depth || !flat {
                    assert_eq!((have.inverse_w.get(at), have.z.get(at)), (wanted.inverse_w, wanted.z));
                }
                for (slot, component) in used {
                    let have = have.varyings[*slot][*component].get(at);
                    assert_eq!(have, wanted.varyings[*slot][*component], "{primitive:?}");
                }
            }
        }
        assert!(counts.iter().all(|count| *count > 1000), "{counts:?}");
    }
}
