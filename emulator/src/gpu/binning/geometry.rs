//! Primitives: assembly, clipping, culling (docs/spec/mali/streams.md,
//! section 2 and 3).

pub use super::culling::CornerCulling;
use crate::gpu::primitives::{Bounds, Corner, Odd, Piece, Primitive};
use utgard::stream::PrimitiveMode;

/// A draw of a polygon list: what its primitives share.
#[derive(Clone, Debug, PartialEq)]
pub struct Draw {
    /// Number of its command among the stream's draws: some cover nothing and are not here.
    pub number: u32,
    /// Address of the render state.
    pub state: u32,
    /// First and last column and row that may be touched.
    pub bounds: Bounds,
    /// Slots of its vertices in the varyings: how many there are up to the last.
    pub slots: u32,
    /// A primitive of it covers something.
    pub covers: bool,
}

/// A vertex as the polygon list builder reads it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Vertex {
    /// Window column and row, depth, 1/w.
    pub position: [f32; 4],
    /// Slot in the varyings.
    pub slot: u32,
    /// Size of a point.
    pub size: f32,
}

/// The rules for a draw's primitives, from the setup word and the draw command.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rules {
    /// Number of the draw.
    pub draw: u32,
    /// Cull triangles that turn clockwise, counter-clockwise.
    pub cull: [bool; 2],
    /// Depth of the near and the far plane.
    pub depth: [f32; 2],
    /// Width of lines.
    pub width: f32,
    /// Culling by positions of corners.
    pub drops: CornerCulling,
}

/// Smallest w that is in front of the eye, and largest coordinate that is rasterised, in pixels: beyond them
/// triangles are clipped. Conformance tests draw corners two million pixels away and find no seam on hardware, so the
/// guard band is as wide as sides can be exact ([I]: what hardware does is not public).
const NEAREST: f32 = 1e-6;
const GUARD: f32 = (1 << 29) as f32;

/// The number of points, lines or triangles that `vertices` make in a mode.
pub fn count(mode: PrimitiveMode, vertices: u32) -> u32 {
    match mode {
        PrimitiveMode::Points => vertices,
        PrimitiveMode::Lines => vertices / 2,
        PrimitiveMode::LineLoop if vertices > 2 => vertices,
        PrimitiveMode::LineLoop | PrimitiveMode::LineStrip => vertices.saturating_sub(1),
        PrimitiveMode::TriangleStrip | PrimitiveMode::TriangleFan | PrimitiveMode::Polygon => {
            vertices.saturating_sub(2)
        }
        PrimitiveMode::Quads => vertices / 4 * 2,
        PrimitiveMode::QuadStrip => vertices.saturating_sub(2) / 2 * 2,
        PrimitiveMode::Triangles | PrimitiveMode::Rectangle | PrimitiveMode::Undocumented(_) => vertices / 3,
    }
}

/// The vertices of primitive number `at` of those that `vertices` make, and how many of the three count.
#[inline]
pub fn corners(mode: PrimitiveMode, vertices: u32, at: u32) -> ([u32; 3], usize) {
    match mode {
        PrimitiveMode::Points => ([at; 3], 1),
        PrimitiveMode::Lines => ([2 * at, 2 * at + 1, 0], 2),
        PrimitiveMode::LineLoop if at + 1 == vertices => ([at, 0, 0], 2),
        PrimitiveMode::LineLoop | PrimitiveMode::LineStrip => ([at, at + 1, 0], 2),
        // Every second triangle of a strip turns the other way.
        PrimitiveMode::TriangleStrip | PrimitiveMode::QuadStrip if at % 2 == 1 => ([at + 1, at, at + 2], 3),
        PrimitiveMode::TriangleStrip | PrimitiveMode::QuadStrip => ([at, at + 1, at + 2], 3),
        PrimitiveMode::TriangleFan | PrimitiveMode::Polygon => ([0, at + 1, at + 2], 3),
        // A quadrilateral is a fan of two ([I]: which way hardware cuts it is not known).
        PrimitiveMode::Quads => {
            let (first, side) = (4 * (at / 2), at % 2);
            ([first, first + side + 1, first + side + 2], 3)
        }
        PrimitiveMode::Triangles | PrimitiveMode::Rectangle | PrimitiveMode::Undocumented(_) => {
            ([3 * at, 3 * at + 1, 3 * at + 2], 3)
        }
    }
}

/// Builds the primitives of a point, a line or a triangle.
pub fn build(mode: PrimitiveMode, vertices: &[Vertex], rules: &Rules, out: &mut Piece) {
    match (mode, vertices) {
        (_, [vertex]) => point(vertex, rules, out),
        (_, [a, b]) => line(a, b, rules, out),
        (PrimitiveMode::Rectangle, [a, b, c]) => rectangle([a, b, c], rules, out),
        (_, [a, b, c]) => triangle([a, b, c], rules, out),
        _ => {}
    }
}

fn in_depth(z: f32, rules: &Rules) -> bool {
    z >= rules.depth[0] && z <= rules.depth[1]
}

fn point(vertex: &Vertex, rules: &Rules, out: &mut Piece) {
    let [x, y, z, w] = vertex.position;
    let half = vertex.size / 2.0;
    if !(w > 0.0
        && w.is_finite()
        && in_depth(z, rules)
        && x.abs() < GUARD
        && y.abs() < GUARD
        && half > 0.0
        && half < GUARD)
    {
        return;
    }
    let corner = |dx: f32, dy: f32| Corner {
        position: [x + dx, y + dy, z, w],
        weights: [1.0, 0.0, 0.0],
    };
    let corners = [corner(-half, -half), corner(half, -half), corner(-half, half)];
    let point = Some([x - half, y - half, vertex.size]);
    let mut put = |shape: [[f32; 2]; 3]| {
        out.push_odd(
            Primitive::covering(shape, [vertex.slot; 3], rules.draw),
            Odd { corners, point },
        )
    };
    let (left, right, top, bottom) = (x - half, x + half, y - half, y + half);
    put([[left, top], [right, top], [left, bottom]]);
    put([[right, top], [right, bottom], [left, bottom]]);
}

/// A line is a parallelogram: its width lies along the axis it runs less in.
fn line(a: &Vertex, b: &Vertex, rules: &Rules, out: &mut Piece) {
    let mut ends = vec![full(a, 0), full(b, 1)];
    if needs_clipping(&ends, rules) {
        ends = clip(&ends, rules, false);
    }
    let [a_end, b_end] = ends[..] else { return };
    let ([ax, ay, ..], [bx, by, ..]) = (a_end.position, b_end.position);
    let half = rules.width / 2.0;
    let (dx, dy) = if (bx - ax).abs() >= (by - ay).abs() {
        (0.0, half)
    } else {
        (half, 0.0)
    };
    // A third corner beside the line, along which nothing changes.
    let mut beside = a_end;
    beside.position[0] += if dx > 0.0 { 1.0 } else { 0.0 };
    beside.position[1] += if dy > 0.0 { 1.0 } else { 0.0 };
    let odd = Odd {
        corners: [a_end, b_end, beside],
        point: None,
    };
    let mut put =
        |shape: [[f32; 2]; 3]| out.push_odd(Primitive::covering(shape, [a.slot, b.slot, a.slot], rules.draw), odd);
    put([[ax - dx, ay - dy], [bx - dx, by - dy], [ax + dx, ay + dy]]);
    put([[bx - dx, by - dy], [bx + dx, by + dy], [ax + dx, ay + dy]]);
}

/// Right top, left top, left bottom; the fourth corner follows.
fn rectangle(vertices: [&Vertex; 3], rules: &Rules, out: &mut Piece) {
    let corners = [full(vertices[0], 0), full(vertices[1], 1), full(vertices[2], 2)];
    if corners
        .iter()
        .any(|corner| !corner.position.iter().all(|v| v.is_finite() && v.abs() < GUARD))
    {
        return;
    }
    let [a, b, c] = corners.map(|corner| [corner.position[0], corner.position[1]]);
    let fourth = [a[0] + c[0] - b[0], a[1] + c[1] - b[1]];
    for shape in [[a, b, c], [a, fourth, c]] {
        let slots = vertices.map(|vertex| vertex.slot);
        out.push_odd(
            Primitive::covering(shape, slots, rules.draw),
            Odd { corners, point: None },
        );
    }
}

fn full(vertex: &Vertex, number: usize) -> Corner {
    let mut weights = [0.0; 3];
    weights[number] = 1.0;
    Corner {
        position: vertex.position,
        weights,
    }
}

fn needs_clipping(corners: &[Corner], rules: &Rules) -> bool {
    !corners.iter().all(|corner| is_inside(corner.position, rules.depth))
}

pub(crate) fn triangle(vertices: [&Vertex; 3], rules: &Rules, out: &mut Piece) {
    let whole = [full(vertices[0], 0), full(vertices[1], 1), full(vertices[2], 2)];
    if rules.drops.drops(whole.map(|corner| corner.position), rules.depth) {
        return;
    }
    let slots = vertices.map(|vertex| vertex.slot);
    if !needs_clipping(&whole, rules) {
        let positions = vertices.map(|vertex| vertex.position);
        let area = area(positions.map(|[x, y, ..]| [x, y]));
        if is_seen(area, rules.cull) {
            out.push(Primitive::of_vertices(positions, slots, rules.draw, area < 0.0));
        }
        return;
    }
    let corners = clip(&whole, rules, true);
    for at in 2..corners.len() {
        let corners = [corners[0], corners[at - 1], corners[at]];
        let shape = corners.map(|corner| [corner.position[0], corner.position[1]]);
        let area = area(shape);
        if is_seen(area, rules.cull) {
            let mut primitive = Primitive::covering(shape, slots, rules.draw);
            primitive.ccw = area < 0.0;
            out.push_odd(primitive, Odd { corners, point: None });
        }
    }
}

/// Twice the area of a triangle, negative where it turns counter-clockwise in the picture's rows.
#[inline(always)]
pub(crate) fn area([a, b, c]: [[f32; 2]; 3]) -> f64 {
    let ([ax, ay], [bx, by], [cx, cy]) = (
        [f64::from(a[0]), f64::from(a[1])],
        [f64::from(b[0]), f64::from(b[1])],
        [f64::from(c[0]), f64::from(c[1])],
    );
    (bx - ax) * (cy - ay) - (cx - ax) * (by - ay)
}

/// Whether a triangle of an area has an inside and is not culled.
#[inline(always)]
pub(crate) fn is_seen(area: f64, cull: [bool; 2]) -> bool {
    // Neither holds for NaN.
    (area > 0.0) & !cull[0] | (area < 0.0) & !cull[1]
}

/// Whether nothing has to be clipped at a corner.
#[inline(always)]
pub(crate) fn is_inside([x, y, z, w]: [f32; 4], [near, far]: [f32; 2]) -> bool {
    (w > 0.0) & (w < 1.0 / NEAREST) & (x.abs() < GUARD) & (y.abs() < GUARD) & (z >= near) & (z <= far)
}

/// A corner with the division by w undone, so that lines through it are straight in front of and behind the eye.
#[derive(Clone, Copy)]
struct Clip {
    position: [f64; 4],
    weights: [f64; 3],
}

/// Clips against the eye, near and far, and the guard band. A corner exactly in the eye's plane has lost its place
/// (docs/spec/mali/streams.md, section 3): what it belongs to is left out.
fn clip(corners: &[Corner], rules: &Rules, closed: bool) -> Vec<Corner> {
    let undo = |corner: &Corner| {
        let [x, y, z, pw] = corner.position.map(f64::from);
        let w = 1.0 / pw;
        Clip {
            position: [x * w, y * w, z * w, w],
            weights: corner.weights.map(f64::from),
        }
    };
    let mut polygon: Vec<Clip> = corners.iter().map(undo).collect();
    if polygon
        .iter()
        .any(|corner| !corner.position.iter().all(|v| v.is_finite()))
    {
        return Vec::new();
    }
    let ([near, far], guard) = (rules.depth.map(f64::from), f64::from(GUARD));
    // Distances that are positive inside: a x + b y + c z + d w + e.
    let planes: [[f64; 5]; 7] = [
        [0.0, 0.0, 0.0, 1.0, -f64::from(NEAREST)],
        [0.0, 0.0, 1.0, -near, 0.0],
        [0.0, 0.0, -1.0, far, 0.0],
        [1.0, 0.0, 0.0, guard, 0.0],
        [-1.0, 0.0, 0.0, guard, 0.0],
        [0.0, 1.0, 0.0, guard, 0.0],
        [0.0, -1.0, 0.0, guard, 0.0],
    ];
    for plane in planes {
        polygon = clip_plane(&polygon, plane, closed);
    }
    let redo = |corner: &Clip| {
        let [x, y, z, w] = corner.position;
        let depth = (z / w).max(near).min(far);
        Corner {
            position: [x / w, y / w, depth, 1.0 / w].map(|value| value as f32),
            weights: corner.weights.map(|weight| weight as f32),
        }
    };
    polygon.iter().map(redo).collect()
}

/// Neighbours share a side, which one of them may have the other way round: both have to cut it at the same place. So
/// cutting goes from the end that is inside to the one that is outside.
fn clip_plane(polygon: &[Clip], [a, b, c, d, e]: [f64; 5], closed: bool) -> Vec<Clip> {
    let distance = |corner: &Clip| {
        let [x, y, z, w] = corner.position;
        a * x + b * y + c * z + d * w + e
    };
    let mut out = Vec::with_capacity(polygon.len() + 1);
    for at in 0..polygon.len() {
        let current = &polygon[at];
        let here = distance(current);
        if here >= 0.0 {
            out.push(*current);
        }
        let Some(next) = polygon
            .get(at + 1)
            .or(polygon.first().filter(|_| closed && polygon.len() > 1))
        else {
            continue;
        };
        let there = distance(next);
        if (here >= 0.0) != (there >= 0.0) {
            let (inner, outer) = if here >= 0.0 { (current, next) } else { (next, current) };
            let t = distance(inner) / (distance(inner) - distance(outer));
            let mix = |a: f64, b: f64| a + (b - a) * t;
            out.push(Clip {
                position: std::array::from_fn(|i| mix(inner.position[i], outer.position[i])),
                weights: std::array::from_fn(|i| mix(inner.weights[i], outer.weights[i])),
            });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(mode: PrimitiveMode, count: u32) -> Vec<Vec<u32>> {
        let of = |at| {
            let (vertices, count) = corners(mode, count, at);
            vertices[..count].to_vec()
        };
        (0..super::count(mode, count)).map(of).collect()
    }

    #[test]
    fn modes_assemble() {
        assert_eq!(all(PrimitiveMode::LineLoop, 3), [[0, 1], [1, 2], [2, 0]]);
        assert_eq!(all(PrimitiveMode::TriangleStrip, 5), [[0, 1, 2], [2, 1, 3], [2, 3, 4]]);
        assert_eq!(all(PrimitiveMode::TriangleFan, 4), [[0, 1, 2], [0, 2, 3]]);
        assert_eq!(all(PrimitiveMode::Triangles, 5), [[0, 1, 2]]);
        assert_eq!(
            all(PrimitiveMode::Quads, 9),
            [[0, 1, 2], [0, 2, 3], [4, 5, 6], [4, 6, 7]]
        );
        assert_eq!(all(PrimitiveMode::QuadStrip, 5), [[0, 1, 2], [2, 1, 3]]);
        assert_eq!(all(PrimitiveMode::Polygon, 4), [[0, 1, 2], [0, 2, 3]]);
        for mode in PrimitiveMode::ALL {
            for count in 0..3 {
                all(*mode, count);
            }
        }
    }

    fn vertex(x: f32, y: f32, z: f32, w: f32) -> Vertex {
        Vertex {
            position: [x, y, z, w],
            slot: 0,
            size: 1.0,
        }
    }

    #[test]
    fn triangles_through_the_eye_are_clipped() {
        let rules = Rules {
            depth: [0.0, 1.0],
            ..Default::default()
        };
        let mut out = Piece::default();
        // w of -1: behind the eye.
        build(
            PrimitiveMode::Triangles,
            &[
                vertex(10.0, 10.0, 0.5, 1.0),
                vertex(20.0, 10.0, 0.5, 1.0),
                vertex(0.0, 0.0, 0.5, -1.0),
            ],
            &rules,
            &mut out,
        );
        assert_eq!(out.len(), 2, "a corner behind the eye leaves four corners");
        let finite = |p: &Primitive| p.shape().iter().flatten().all(|v| v.abs() <= GUARD * 1.01);
        assert!(out.iter().all(finite), "{out:?}");
        out.clear();
        build(
            PrimitiveMode::Triangles,
            &[
                vertex(0.0, 0.0, 0.5, f32::INFINITY),
                vertex(1.0, 0.0, 0.5, 1.0),
                vertex(0.0, 1.0, 0.5, 1.0),
            ],
            &rules,
            &mut out,
        );
        assert!(out.is_empty());
        build(
            PrimitiveMode::Triangles,
            &[
                vertex(0.0, 0.0, f32::NAN, 1.0),
                vertex(1.0, 0.0, 0.5, 1.0),
                vertex(0.0, 1.0, 0.5, 1.0),
            ],
            &rules,
            &mut out,
        );
        assert!(out.is_empty());
    }

    #[test]
    fn culling_knows_the_turn() {
        let corners = [
            vertex(0.0, 0.0, 0.5, 1.0),
            vertex(10.0, 0.0, 0.5, 1.0),
            vertex(0.0, 10.0, 0.5, 1.0),
        ];
        for (cull, left) in [([false, false], 1), ([true, false], 0), ([false, true], 1)] {
            let mut out = Piece::default();
            build(
                PrimitiveMode::Triangles,
                &corners,
                &Rules {
                    cull,
                    depth: [0.0, 1.0],
                    ..Default::default()
                },
                &mut out,
            );
            assert_eq!(out.len(), left, "{cull:?}");
        }
    }
}
