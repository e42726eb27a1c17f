//! Sampling where switches suppose other hardware than is assumed (docs/spec/open-questions.md). Such textures go the long way.

use super::{Place, Texture, cube_face, on_face};
use crate::silicon::{Part, Silicon, Switch};
use utgard::texture::Wrap;

impl Texture<'_> {
    /// As hardware samples it that switches suppose.
    #[must_use]
    pub fn supposing(mut self, silicon: Silicon) -> Self {
        self.silicon = silicon;
        self.simple = self.simple && !silicon.changes(Part::Textures);
        self
    }

    /// A coordinate in texels where it is not finite: the sampler sees the magnitude of an infinity, and what is no number is
    /// texel 0. The short ways leave all of these to this one.
    #[cold]
    pub(super) fn not_finite(&self, scaled: f32) -> f32 {
        let zero = scaled.is_nan() || self.silicon.has(Switch::InfinityIsTexelZero);
        if zero { 0.0 } else { 1e9 }
    }

    /// The part of the next level, of sixteen steps or fewer.
    pub(super) fn level_weight(&self, weight: f32) -> f32 {
        match self.silicon.has(Switch::EightLevelWeights) {
            true => (weight * 8.0).floor() / 8.0,
            false => weight,
        }
    }

    /// The part of the next texel on an axis, of a coordinate in texels of the largest level.
    pub(super) fn texel_weight(&self, weight: f32, axis: usize, place: &Place) -> f32 {
        let inside = (0.0..=self.descriptor.size[axis] as f32).contains(&place.texel[axis]);
        let coarse = !inside && self.descriptor.wrap[axis] != Wrap::Repeat;
        match coarse && self.silicon.has(Switch::SixteenTexelWeights) {
            true => (weight * 16.0).floor() / 16.0,
            false => weight,
        }
    }

    /// The face and the texel that are beside a face's, where faces join and this one is outside.
    pub(super) fn joined(&self, [width, height, _]: [u32; 3], at: [i64; 2], face: u32) -> Option<(u32, [u32; 2])> {
        let size = [width, height];
        let inside = at.iter().zip(size).all(|(at, size)| (0..i64::from(size)).contains(at));
        if inside || !self.descriptor.cube || !self.silicon.has(Switch::CubeFacesJoin) {
            return None;
        }
        let [s, t] = [0, 1].map(|axis: usize| (2.0 * at[axis] as f32 + 1.0) / size[axis] as f32 - 1.0);
        let direction = direction_of(face, [s, t]);
        let face = cube_face(direction);
        let place = on_face(direction, face);
        let texel = |axis: usize| ((place[axis] * size[axis] as f32).max(0.0) as u32).min(size[axis].saturating_sub(1));
        Some((face, [0, 1].map(texel)))
    }
}

/// The direction whose parts along a face are these, and that towards it is one: what [`face_axes`](super::face_axes) undoes.
fn direction_of(face: u32, [s, t]: [f32; 2]) -> [f32; 4] {
    let [x, y, z] = match face {
        0 => [1.0, -t, -s],
        1 => [-1.0, -t, s],
        2 => [s, 1.0, t],
        3 => [s, -1.0, -t],
        4 => [s, -t, 1.0],
        _ => [-s, -t, -1.0],
    };
    [x, y, z, 0.0]
}

#[cfg(test)]
mod tests {
    use super::super::face_axes;
    use super::*;

    #[test]
    fn directions_are_those_of_their_faces() {
        for face in 0..6 {
            let direction = direction_of(face, [0.25, -0.5]);
            assert_eq!(face_axes(direction, face), [0.25, -0.5, 1.0]);
            assert_eq!(cube_face(direction), face);
        }
    }
}
