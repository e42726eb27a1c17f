//! Which samples of a tile a triangle covers, and the planes of what is interpolated over it: eight bits below the
//! pixel, top-left rule with rows counted downwards (docs/spec/mali/streams.md, section 3).

use super::geometry::{Bounds, Corner, Primitive};
use super::tile::SIDE;
use crate::exec::inputs::{Inputs, Plane};
use crate::exec::{MAX_QUADS, Quad};

/// Parts of a pixel.
const ONE: i64 = 256;

/// Largest coordinate of a corner, in parts of a pixel, so that a pixel's 20 bits times a side's 39 stay in 64.
const FAR_CORNER: u64 = 1 << 38;

/// A side this far from a pixel is as good as one further away.
const FAR_SIDE: i128 = 1 << 61;

/// Places of the four samples, in parts of a pixel: a rotated grid ([?]: what the hardware has is not public).
const SAMPLES: [[i64; 2]; 4] = [[96, 32], [224, 96], [32, 160], [160, 224]];

/// Where planes of depth are read: the sample's distance from the pixel's centre, in pixels.
pub fn sample_offset(sample: usize) -> [f32; 2] {
    SAMPLES[sample].map(|at| (at - ONE / 2) as f32 / ONE as f32)
}

/// A side of a triangle: positive inside, zero on it.
#[derive(Clone, Copy, Debug, Default)]
struct Edge {
    dx: i64,
    dy: i64,
    base: i64,
}

impl Edge {
    /// The side from `a` to `b` of a triangle that turns clockwise in the picture's rows.
    fn new(a: [i64; 2], b: [i64; 2]) -> Self {
        let (run, rise) = (b[0] - a[0], b[1] - a[1]);
        // Pixels on a top or a left side belong to the triangle, others do not.
        let owned = rise == 0 && run > 0 || rise < 0;
        let wide = |a: i64, b: i64| i128::from(a) * i128::from(b);
        let base = wide(rise, a[0]) - wide(run, a[1]) - i128::from(!owned);
        Self {
            dx: -rise,
            dy: run,
            // Steps over the picture sum up to less than this, so a side that is cut off here passes none of its pixels.
            base: base.clamp(-FAR_SIDE, FAR_SIDE) as i64,
        }
    }

    fn at(&self, x: i64, y: i64) -> i64 {
        self.dx * x + self.dy * y + self.base
    }

    /// Largest and smallest value in the square of a tile.
    fn range(&self, x: i64, y: i64, side: i64) -> (i64, i64) {
        let corner = self.at(x, y);
        let (dx, dy) = (self.dx * side, self.dy * side);
        (corner + dx.min(0) + dy.min(0), corner + dx.max(0) + dy.max(0))
    }
}

/// A triangle made ready for its tiles.
#[derive(Clone, Debug, Default)]
pub struct Shape {
    edges: [Edge; 3],
    /// What of the picture it can cover at all.
    bounds: Bounds,
}

/// What of a tile is covered.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    /// Quads with anything in them, at most [`MAX_QUADS`].
    pub quads: Vec<Quad>,
    /// Samples of each pixel of each quad.
    pub samples: Vec<[u8; 4]>,
}

impl Coverage {
    /// All of the tile whose first pixel is `origin`.
    fn fill(&mut self, [left, top]: [u32; 2]) {
        let quads = (0..MAX_QUADS as u32).map(|number| Quad {
            x: left + number % (SIDE / 2) * 2,
            y: top + number / (SIDE / 2) * 2,
            live: 15,
        });
        self.quads.extend(quads);
        self.samples.resize(MAX_QUADS, [15; 4]);
    }

    /// How many pixels.
    pub fn fragments(&self) -> u64 {
        if self.quads.len() == MAX_QUADS && self.quads.iter().all(|quad| quad.live == 15) {
            return 4 * MAX_QUADS as u64;
        }
        self.quads.iter().map(|quad| u64::from(quad.live.count_ones())).sum()
    }
}

fn snap(corner: [f32; 2]) -> [i64; 2] {
    // The guard band keeps corners inside what this holds; a corner that is no number is 0.
    corner.map(|at| (f64::from(at) * ONE as f64).round() as i64)
}

impl Shape {
    /// The shape of a primitive, if it covers anything at all.
    pub fn new(primitive: &Primitive, bounds: Bounds) -> Option<Self> {
        let [a, mut b, mut c] = primitive.shape.map(snap);
        if [a, b, c].iter().flatten().any(|at| at.unsigned_abs() > FAR_CORNER) {
            return None;
        }
        let across = |b: [i64; 2], c: [i64; 2]| i128::from(b[0] - a[0]) * i128::from(c[1] - a[1]);
        let area = across(b, c) - across(c, b);
        if area == 0 {
            return None;
        }
        if area < 0 {
            std::mem::swap(&mut b, &mut c);
        }
        // Pixels whose square the corners' box touches.
        let extent = |axis: usize| {
            let (low, high) = (a[axis].min(b[axis]).min(c[axis]), a[axis].max(b[axis]).max(c[axis]));
            (low.div_euclid(ONE).max(0) as u32, high.div_euclid(ONE).max(0) as u32)
        };
        let ([left, right], [top, bottom]) = ([extent(0).0, extent(0).1], [extent(1).0, extent(1).1]);
        let bounds = Bounds {
            min: [bounds.min[0].max(left), bounds.min[1].max(top)],
            max: [bounds.max[0].min(right), bounds.max[1].min(bottom)],
        };
        Some(Self {
            edges: [Edge::new(a, b), Edge::new(b, c), Edge::new(c, a)],
            bounds,
        })
    }

    /// Whether the shape covers anything of a pixel, its bounds aside.
    pub fn touches(&self, x: u32, y: u32, multisample: bool) -> bool {
        self.pixel(x, y, multisample) != 0
    }

    /// What the shape covers of the tile whose first pixel is `origin`.
    pub fn cover(&self, origin: [u32; 2], multisample: bool, coverage: &mut Coverage) {
        coverage.quads.clear();
        coverage.samples.clear();
        let [left, top] = origin.map(|at| i64::from(at) * ONE);
        let mut inside = true;
        for edge in &self.edges {
            let (low, high) = edge.range(left, top, i64::from(SIDE) * ONE);
            if high < 0 {
                return;
            }
            inside &= low >= 0;
        }
        let Bounds { min, max } = self.bounds;
        let last = [origin[0] + SIDE - 1, origin[1] + SIDE - 1];
        if (0..2).any(|axis| min[axis] > last[axis] || max[axis] < origin[axis]) {
            return;
        }
        if inside && (0..2).all(|axis| min[axis] <= origin[axis] && max[axis] >= last[axis]) {
            return coverage.fill(origin);
        }
        let first = [0, 1].map(|axis: usize| min[axis].max(origin[axis]) & !1);
        let last = [0, 1].map(|axis: usize| max[axis].min(last[axis]));
        for row in (first[1]..=last[1]).step_by(2) {
            for column in (first[0]..=last[0]).step_by(2) {
                let samples = std::array::from_fn(|lane| {
                    let (x, y) = (column + (lane as u32 & 1), row + (lane as u32 >> 1));
                    let out = x < min[0] || x > max[0] || y < min[1] || y > max[1];
                    if out { 0 } else { self.pixel(x, y, multisample) }
                });
                let live = (0..4).map(|lane| u8::from(samples[lane] != 0) << lane).sum();
                if live != 0 && coverage.quads.len() < MAX_QUADS {
                    coverage.quads.push(Quad {
                        x: column,
                        y: row,
                        live,
                    });
                    coverage.samples.push(samples);
                }
            }
        }
    }

    /// Samples of a pixel that are covered.
    fn pixel(&self, x: u32, y: u32, multisample: bool) -> u8 {
        let (x, y) = (i64::from(x) * ONE, i64::from(y) * ONE);
        let covers = |[dx, dy]: [i64; 2]| self.edges.iter().all(|edge| edge.at(x + dx, y + dy) >= 0);
        if !multisample {
            return if covers([ONE / 2; 2]) { 15 } else { 0 };
        }
        (0..4).map(|sample| u8::from(covers(SAMPLES[sample])) << sample).sum()
    }
}

/// The plane through three values at three corners, with its base at `origin`; level when the corners are in a line.
fn plane(corners: &[Corner; 3], origin: [f32; 2], values: [f64; 3]) -> Plane {
    let at =
        |corner: usize, axis: usize| f64::from(corners[corner].position[axis]) - f64::from(corners[0].position[axis]);
    let (bx, by, cx, cy) = (at(1, 0), at(1, 1), at(2, 0), at(2, 1));
    let area = bx * cy - cx * by;
    let (b, c) = (values[1] - values[0], values[2] - values[0]);
    let (dx, dy) = if area == 0.0 {
        (0.0, 0.0)
    } else {
        ((b * cy - c * by) / area, (c * bx - b * cx) / area)
    };
    let away = |axis: usize| f64::from(origin[axis]) - f64::from(corners[0].position[axis]);
    Plane {
        base: (values[0] + dx * away(0) + dy * away(1)) as f32,
        dx: dx as f32,
        dy: dy as f32,
    }
}

/// Where planes have their base: at the first corner, or near the picture when that is so far away that the pixels'
/// distances from it would be rounded.
fn origin(corners: &[Corner; 3]) -> [f32; 2] {
    [0, 1].map(|axis: usize| corners[0].position[axis].clamp(-4096.0, 8192.0))
}

/// The inputs of a primitive: `varying` gives one component of one of its vertices, `used` the components wanted; the
/// others stay as they are, for nobody looks at them.
pub fn inputs(
    primitive: &Primitive,
    front: bool,
    used: impl IntoIterator<Item = (usize, usize)>,
    mut varying: impl FnMut(u32, usize, usize) -> f32,
    inputs: &mut Inputs,
) {
    let corners = &primitive.corners;
    let origin = origin(corners);
    let of = |value: &dyn Fn(&Corner) -> f64| plane(corners, origin, corners.each_ref().map(value));
    let w = corners.map(|corner| corner.position[3]);
    let flat = w[0] == w[1] && w[0] == w[2];
    inputs.origin = origin;
    (inputs.flat, inputs.front) = (flat, front);
    inputs.inverse_w = of(&|corner| f64::from(corner.position[3]));
    inputs.z = of(&|corner| f64::from(corner.position[2]));
    inputs.point = [Plane::default(); 2];
    if let Some([left, top, size]) = primitive.point {
        let along = |axis: usize, edge: f32| Plane {
            base: (inputs.origin[axis] - edge) / size,
            dx: if axis == 0 { 1.0 / size } else { 0.0 },
            dy: if axis == 1 { 1.0 / size } else { 0.0 },
        };
        inputs.point = [along(0, left), along(1, top)];
    }
    for (slot, component) in used {
        let values = primitive
            .vertices
            .map(|vertex| f64::from(varying(vertex, slot, component)));
        inputs.varyings[slot][component] = of(&|corner| {
            let sum: f64 = corner
                .weights
                .iter()
                .zip(values)
                .map(|(weight, value)| weighted(*weight, value))
                .sum();
            if flat { sum } else { sum * f64::from(corner.position[3]) }
        });
    }
}

/// A vertex that has no part in a corner may hold anything.
fn weighted(weight: f32, value: f64) -> f64 {
    if weight == 0.0 { 0.0 } else { f64::from(weight) * value }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn primitive(shape: [[f32; 2]; 3]) -> Primitive {
        let corners = shape.map(|[x, y]| Corner {
            position: [x, y, 0.5, 1.0],
            weights: [1.0, 0.0, 0.0],
        });
        Primitive {
            draw: 0,
            shape,
            corners,
            vertices: [0; 3],
            ccw: false,
            point: None,
        }
    }

    const ALL: Bounds = Bounds {
        min: [0, 0],
        max: [4095, 4095],
    };

    fn pixels(shape: [[f32; 2]; 3]) -> Vec<[u32; 2]> {
        let mut coverage = Coverage::default();
        let Some(shape) = Shape::new(&primitive(shape), ALL) else {
            return Vec::new();
        };
        shape.cover([0, 0], false, &mut coverage);
        let lanes = |quad: &Quad| {
            let quad = *quad;
            (0..4)
                .filter(move |lane| quad.live >> lane & 1 == 1)
                .map(move |lane| [quad.x + (lane & 1), quad.y + (lane >> 1)])
        };
        coverage.quads.iter().flat_map(lanes).collect()
    }

    #[test]
    fn neighbours_share_no_pixel_and_leave_none() {
        // Triangles around a point, whose sides go through pixel centres.
        let middle = [8.5, 8.5];
        let around = [
            [0.5, 0.5],
            [8.5, 0.5],
            [15.5, 0.5],
            [15.5, 8.5],
            [15.5, 15.5],
            [8.5, 15.5],
            [0.5, 15.5],
            [0.5, 8.5],
        ];
        let mut counts = [[0; 16]; 16];
        for at in 0..8 {
            for [x, y] in pixels([middle, around[at], around[(at + 1) % 8]]) {
                counts[y as usize][x as usize] += 1;
            }
        }
        for (y, row) in counts.iter().enumerate() {
            for (x, count) in row.iter().enumerate() {
                let inside = x < 15 && y < 15;
                assert_eq!(*count, u32::from(inside), "{x} {y}");
            }
        }
    }

    /// The diagonal of a square that reaches millions of pixels beyond the picture is no seam.
    #[test]
    fn far_corners_keep_their_sides() {
        for far in [2e3f32, 2e6, 5e8] {
            let [a, b, c, d] = [
                [far, 1.1 * far],
                [-far, 0.9 * far],
                [-far, -1.1 * far],
                [far, -0.9 * far],
            ];
            let mut have = [pixels([a, b, c]), pixels([a, c, d])].concat();
            assert_eq!(have.len(), 256, "{far}");
            have.sort_unstable();
            have.dedup();
            assert_eq!(have.len(), 256, "{far}: pixels are drawn twice");
        }
        // What is beyond the largest corner is left out, not wrapped around.
        assert!(pixels([[2e9, 0.0], [0.0, 2e9], [-2e9, -2e9]]).is_empty());
    }

    #[test]
    fn planes_go_through_their_corners() {
        let corners = [[1.0, 2.0], [9.0, 3.0], [4.0, 12.0]].map(|[x, y]| Corner {
            position: [x, y, 0.0, 1.0],
            weights: [0.0; 3],
        });
        let plane = plane(&corners, [1.0, 2.0], [5.0, -3.0, 8.0]);
        for (corner, value) in corners.iter().zip([5.0, -3.0, 8.0]) {
            let [x, y, ..] = corner.position;
            assert!((plane.at(x - 1.0, y - 2.0) - value).abs() < 1e-5);
        }
    }
}
