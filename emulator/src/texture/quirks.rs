//! Sampling where switches suppose other hardware than is assumed (docs/spec/open-questions.md). Such textures go the long way.

use super::{Place, Texture};
use crate::silicon::{Part, Silicon, Switch};
use utgard::texture::Wrap;

impl Texture<'_> {
    /// As hardware samples it that switches suppose.
    #[must_use]
    pub fn with_quirks(mut self, silicon: Silicon) -> Self {
        self.silicon = silicon;
        self.simple = self.simple && !silicon.changes(Part::Textures);
        self
    }

    /// A coordinate in texels where it is not finite: the sampler uses the magnitude of an infinity, and NaN is
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
        let steps = if coarse && self.silicon.has(Switch::SixteenTexelWeights) {
            16.0
        } else if self.silicon.has(Switch::EightBitTexelWeights) {
            256.0
        } else {
            return weight;
        };
        (weight * steps).floor() / steps
    }

    /// What is blended of a cube is beside each other on the cube.
    pub(super) fn joins(&self) -> bool {
        self.descriptor.cube && !self.silicon.has(Switch::CubeFacesApart)
    }
}
