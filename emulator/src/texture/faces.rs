//! The faces of a cube: which one a direction looks at and where, and what lies beside each.

use std::ops::Neg;

/// Face of a direction, as OpenGL numbers them. Where two axes are as long, y comes before x before z (\[?\]: what
/// hardware does is not known; the recorded pictures agree with y before x).
pub(super) fn cube_face<T>([x, y, z, _]: [T; 4]) -> u32
where
    T: Copy + Default + PartialOrd + Neg<Output = T>,
{
    let zero = T::default();
    let [ax, ay, az] = [x, y, z].map(|part| if part < zero { -part } else { part });
    if ay >= ax && ay >= az {
        if y >= zero { 2 } else { 3 }
    } else if ax >= az {
        if x >= zero { 0 } else { 1 }
    } else if z >= zero {
        4
    } else {
        5
    }
}

/// A direction's parts along a face, and towards it.
fn face_axes<T: Copy + Neg<Output = T>>([x, y, z, _]: [T; 4], face: u32) -> [T; 3] {
    match face {
        0 => [-z, -y, x],
        1 => [z, -y, -x],
        2 => [x, z, y],
        3 => [x, -z, -y],
        4 => [x, -y, z],
        _ => [-x, -y, -z],
    }
}

/// The direction of these parts along a face, and towards it: what [`face_axes`] takes apart.
fn direction_of([s, t, major]: [i64; 3], face: u32) -> [i64; 4] {
    let [x, y, z] = match face {
        0 => [major, -t, -s],
        1 => [-major, -t, s],
        2 => [s, major, t],
        3 => [s, -major, -t],
        4 => [s, -t, major],
        _ => [-s, -t, -major],
    };
    [x, y, z, 0]
}

/// Where a direction meets the plane of a face; the face itself is from 0 to 1.
pub(super) fn on_face(direction: [f32; 4], face: u32) -> [f32; 2] {
    let [s, t, major] = face_axes(direction, face);
    [s, t].map(|v| (v / major + 1.0) * 0.5)
}

/// The face and the texel that the middle of a face's texel beside it looks at, one texel outside at most. Beside a corner
/// the rule for axes that are as long chooses one of the two other faces (\[?\]).
pub(super) fn beside(size: [u32; 2], at: [i64; 2], face: u32) -> (u32, [u32; 2]) {
    let [width, height] = size.map(|size| i64::from(size.max(1)));
    // In whole numbers, for the middles of large faces are too close to the next texel: halves of texels, by a face's width
    // and height if they differ.
    let [wide, high] = if width == height { [1, 1] } else { [height, width] };
    let middle = |at: i64, size: i64| 2 * at.clamp(-1, size) + 1 - size;
    let parts = [middle(at[0], width) * wide, middle(at[1], height) * high, width * wide];
    let direction = direction_of(parts, face);
    let face = cube_face(direction);
    let [s, t, major] = face_axes(direction, face);
    let texel = |part: i64, size: i64| ((part + major) * size / (2 * major)).clamp(0, size - 1) as u32;
    (face, [texel(s, width), texel(t, height)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directions_meet_their_faces() {
        let look = |direction| (cube_face(direction), on_face(direction, cube_face(direction)));
        assert_eq!(look([1.0, 0.0, 0.0, 0.0]), (0, [0.5, 0.5]));
        assert_eq!(look([0.0, -2.0, 1.0, 0.0]), (3, [0.5, 0.25]));
        assert_eq!(look([-2.0, 0.0, 1.0, 0.0]), (1, [0.75, 0.5]));
        assert_eq!(look([0.0, 0.0, -1.0, 0.0]), (5, [0.5, 0.5]));
        // A direction beside the requested face.
        assert_eq!(on_face([1.0, 0.0, -1.5, 0.0], 0), [1.25, 0.5]);
        for face in 0..6 {
            let direction = direction_of([1, -2, 4], face);
            assert_eq!((cube_face(direction), face_axes(direction, face)), (face, [1, -2, 4]));
        }
    }

    /// Middle of a texel on the cube, in halves of texels.
    fn middle(size: u32, [x, y]: [u32; 2], face: u32) -> [i64; 3] {
        let half = |at: u32| 2 * i64::from(at) + 1 - i64::from(size);
        let [x, y, z, _] = direction_of([half(x), half(y), i64::from(size)], face);
        [x, y, z]
    }

    fn squared_distance(a: [i64; 3], b: [i64; 3]) -> i64 {
        (0..3).map(|axis| (a[axis] - b[axis]).pow(2)).sum()
    }

    /// What is beside a border is as near to the texel inside as it can be around an edge, whatever the size.
    #[test]
    fn borders_are_the_nearest_texels_of_other_faces() {
        for size in [1u32, 2, 3, 5, 7, 64, 100, 1000, 4096, 8191] {
            let (last, end) = (size - 1, i64::from(size));
            let step = (size as usize / 50).max(1);
            for along in (0..size).step_by(step).chain([last]) {
                let a = i64::from(along);
                for (outside, inside) in [
                    ([-1, a], [0, along]),
                    ([end, a], [last, along]),
                    ([a, -1], [along, 0]),
                    ([a, end], [along, last]),
                ] {
                    for face in 0..6 {
                        let (other, texel) = beside([size; 2], outside, face);
                        assert_ne!(other, face);
                        let distance = squared_distance(middle(size, inside, face), middle(size, texel, other));
                        // A half of a texel on each side of the edge.
                        assert_eq!(distance, 2, "{size}: {outside:?} of {face} is {texel:?} of {other}");
                        // Further out there is nothing else.
                        let far = outside.map(|at| {
                            if (0..end).contains(&at) {
                                at
                            } else {
                                1_000_000 * at.signum()
                            }
                        });
                        assert_eq!(beside([size; 2], far, face), (other, texel));
                    }
                }
            }
            // Corners are beside one of the three texels that meet there.
            for (outside, inside) in [([-1, -1], [0, 0]), ([end, -1], [last, 0]), ([-1, end], [0, last])] {
                for face in 0..6 {
                    let (other, texel) = beside([size; 2], outside, face);
                    let distance = squared_distance(middle(size, inside, face), middle(size, texel, other));
                    assert!(other != face && distance == 2, "{size}: {outside:?} of {face}");
                }
            }
        }
    }

    /// Faces that are no squares have texels of their own beside them, too.
    #[test]
    fn borders_of_other_faces_are_texels() {
        for [width, height] in [[4, 1], [3, 16], [8191, 2]] {
            for (x, y) in [
                (-1, 0),
                (i64::from(width), 0),
                (0, -1),
                (0, i64::from(height)),
                (-1, -1),
            ] {
                for face in 0..6 {
                    let (other, [x, y]) = beside([width, height], [x, y], face);
                    assert!(other < 6 && x < width && y < height);
                }
            }
        }
        assert_eq!(beside([0, 0], [-1, 0], 0).1, [0, 0]);
    }
}
