//! Triangles that are culled by the positions of their corners, under a silicon switch (docs/spec/open-questions.md).

use crate::silicon::{Silicon, Switch};

/// Left, right, top and bottom of a viewport two of whose opposite corners drop a triangle.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CornerCulling(Option<[f32; 4]>);

impl CornerCulling {
    /// Culling under the switches, for a viewport's top, bottom, left and right.
    pub(crate) fn of(silicon: Silicon, [top, bottom, left, right]: [f32; 4]) -> Self {
        let drops = silicon.has(Switch::OppositeCornersDrop);
        Self(drops.then_some([left, right, top, bottom]))
    }

    /// Whether any triangle may be culled.
    pub(crate) fn some(self) -> bool {
        self.0.is_some()
    }

    /// Whether a triangle is dropped, by its corners' positions: two of them are beyond opposite corners of the viewport and
    /// the depth range.
    pub(crate) fn drops(self, corners: [[f32; 4]; 3], [near, far]: [f32; 2]) -> bool {
        let Some([left, right, top, bottom]) = self.0 else {
            return false;
        };
        // On each axis below, above, or neither.
        let side = |value: f32, low: f32, high: f32| i8::from(value > high) - i8::from(value < low);
        let sides = corners.map(|[x, y, z, _]| [side(x, left, right), side(y, top, bottom), side(z, near, far)]);
        let opposite = |a: [i8; 3], b: [i8; 3]| a.iter().zip(b).all(|(a, b)| a * b == -1);
        let [a, b, c] = sides;
        opposite(a, b) || opposite(b, c) || opposite(a, c)
    }
}

#[cfg(test)]
mod tests {
    use super::super::geometry::{Rules, Vertex, build};
    use super::*;
    use crate::gpu::primitives::Piece;
    use utgard::stream::PrimitiveMode;

    /// Triangles that one becomes on a viewport of 100 x 100 pixels.
    fn clipped(corners: [[f32; 3]; 3], switches: &[Switch]) -> usize {
        let drops = CornerCulling::of(Silicon::from_switches(switches), [0.0, 100.0, 0.0, 100.0]);
        let rules = Rules {
            depth: [0.0, 1.0],
            drops,
            ..Rules::default()
        };
        let vertices = corners.map(|[x, y, z]| Vertex {
            position: [x, y, z, 1.0],
            ..Vertex::default()
        });
        let mut out = Piece::default();
        build(PrimitiveMode::Triangles, &vertices, &rules, &mut out);
        out.len()
    }

    #[test]
    fn opposite_corners_drop_a_triangle() {
        let middle = [50.0, 60.0, 0.5];
        let drops = |a, b| {
            let count = |switches: &[Switch]| clipped([middle, a, b], switches);
            assert!(count(&[]) > 0);
            count(&[Switch::OppositeCornersDrop]) == 0
        };
        assert!(drops([-40.0, -50.0, 1.4], [140.0, 130.0, -0.4]));
        assert!(!drops([-40.0, -50.0, 1.4], [140.0, -30.0, -0.4]), "the same side of y");
        assert!(
            !drops([-40.0, -50.0, 1.4], [140.0, 130.0, 0.6]),
            "one is within the depth"
        );
    }
}
