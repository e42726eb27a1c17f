//! Applies the pipeline state of a scene.

use crate::error::{Error, Result};
use crate::model::{Scene, Slot};
use crate::state::{BlendFactor, Border, Filter, StencilFace, Target, Wrap};
use vulkan::{ColorBlend, Draw, Multisample, SamplerDesc, TexelFormat, vk};

impl Scene {
    /// The first key that only Vulkan's pipelines have, for those who draw without them, except those that they have too;
    /// blend mode, culling and depth test are everywhere.
    pub fn pipeline_key(&self, had: &[&str]) -> Option<&'static str> {
        let keys = [
            ("stencil", self.stencil.is_some()),
            ("polygon-mode", self.polygon_mode.is_some()),
            ("front-face", self.front_face.is_some()),
            ("line-width", self.line_width.is_some()),
            ("depth-clamp", self.depth_clamp.is_some()),
            ("depth-bias", self.depth_bias.is_some()),
            ("samples", self.samples.is_some()),
            ("sample-shading", self.sample_shading.is_some()),
            ("sample-mask", self.sample_mask.is_some()),
            ("alpha-to-coverage", self.alpha_to_coverage.is_some()),
            ("alpha-to-one", self.alpha_to_one.is_some()),
            ("blend-constants", self.blend_constants.is_some()),
            ("logic-op", self.logic_op.is_some()),
            ("targets", !self.targets.is_empty()),
        ];
        given(&keys, had)
    }
}

impl Slot {
    /// The first key of a sampler beyond one filter, and repeating or clamping, except those that the caller has too.
    pub fn sampler_key(&self, had: &[&str]) -> Option<&'static str> {
        let wrap = self
            .wrap
            .is_some_and(|wrap| wrap != Wrap::Repeat && wrap != Wrap::Clamp);
        let keys = [
            ("mag-filter", self.mag_filter.is_some()),
            ("min-filter", self.min_filter.is_some()),
            ("mipmap-filter", self.mipmap_filter.is_some()),
            ("wrap", wrap),
            ("wrap-x", self.wrap_x.is_some()),
            ("wrap-y", self.wrap_y.is_some()),
            ("wrap-z", self.wrap_z.is_some()),
            ("border", self.border.is_some()),
            ("lod-bias", self.lod_bias.is_some()),
            ("min-lod", self.min_lod.is_some()),
            ("max-lod", self.max_lod.is_some()),
            ("anisotropy", self.anisotropy.is_some()),
            ("compare", self.compare.is_some()),
        ];
        given(&keys, had)
    }
}

fn given(keys: &[(&'static str, bool)], had: &[&str]) -> Option<&'static str> {
    let mut given = keys.iter().filter(|(key, given)| *given && !had.contains(key));
    given.next().map(|(key, _)| *key)
}

/// Applies all of it, except blend mode, culling and depth test.
pub(crate) fn apply(draw: &mut Draw, outputs: &[u8], scene: &Scene) -> Result<()> {
    let raster = &mut draw.rasterization;
    raster.polygon_mode = scene.polygon_mode.map_or(raster.polygon_mode, Into::into);
    raster.front_face = scene.front_face.map_or(raster.front_face, Into::into);
    raster.line_width = scene.line_width.unwrap_or(raster.line_width);
    raster.depth_clamp = scene.depth_clamp.unwrap_or(raster.depth_clamp);
    raster.depth_bias = scene.depth_bias.map(|bias| vulkan::DepthBias {
        constant_factor: bias.constant,
        clamp: bias.clamp,
        slope_factor: bias.slope,
    });
    draw.multisample = multisample(scene)?;
    draw.stencil = scene.stencil.map(|stencil| vulkan::Stencil {
        front: face(stencil.front),
        back: face(stencil.back.unwrap_or(stencil.front)),
        clear: stencil.clear.into(),
    });
    let mut blend = ColorBlend {
        constants: scene.blend_constants.unwrap_or_default(),
        logic_op: scene.logic_op.map(Into::into),
        ..ColorBlend::default()
    };
    for (key, target) in &scene.targets {
        let location = key.parse().ok().filter(|location| outputs.contains(location));
        let Some(location) = location else {
            let known: Vec<String> = outputs.iter().map(u8::to_string).collect();
            let known = known.join(", ");
            return Err(Error::scene(format_args!(
                "the shader has no output {key}; it has {known}"
            )));
        };
        if let Some(clear) = target.clear {
            draw.clears.insert(location, clear);
        }
        if let Some(state) = attachment(target, draw.blend).map_err(|error| at_target(key, error))? {
            blend.attachments.insert(location, state);
        }
    }
    draw.color_blend = blend;
    Ok(())
}

fn at_target(key: &str, error: Error) -> Error {
    match error.kind() {
        crate::error::ErrorKind::Scene(text) => Error::scene(format_args!("target {key}: {text}")),
        _ => error,
    }
}

fn multisample(scene: &Scene) -> Result<Multisample> {
    let given = Multisample::default();
    let samples = match scene.samples {
        None => given.samples,
        Some(samples @ (1 | 2 | 4 | 8 | 16 | 32 | 64)) => vk::SampleCountFlags::from_raw(samples),
        Some(other) => {
            return Err(Error::scene(format_args!(
                "samples: {other}; there are 1, 2, 4, 8, 16, 32 and 64"
            )));
        }
    };
    Ok(Multisample {
        samples,
        min_sample_shading: scene.sample_shading,
        sample_mask: scene.sample_mask.unwrap_or(given.sample_mask),
        alpha_to_coverage: scene.alpha_to_coverage.unwrap_or(given.alpha_to_coverage),
        alpha_to_one: scene.alpha_to_one.unwrap_or(given.alpha_to_one),
    })
}

fn face(face: StencilFace) -> vk::StencilOpState {
    vk::StencilOpState {
        fail_op: face.fail.into(),
        pass_op: face.pass.into(),
        depth_fail_op: face.depth_fail.into(),
        compare_op: face.compare.into(),
        compare_mask: face.compare_mask.into(),
        write_mask: face.write_mask.into(),
        reference: face.reference.into(),
    }
}

/// A target's blending: its mode, else the scene's, with the factors and operations that it has of its own; `None` if the
/// target says nothing of it.
fn attachment(target: &Target, mode: vulkan::Blend) -> Result<Option<vk::PipelineColorBlendAttachmentState>> {
    let factors = [
        target.src_color_factor,
        target.dst_color_factor,
        target.src_alpha_factor,
        target.dst_alpha_factor,
    ];
    let has_factors = factors.iter().any(Option::is_some) || target.color_op.or(target.alpha_op).is_some();
    if !has_factors && target.blend.is_none() && target.write_mask.is_none() {
        return Ok(None);
    }
    let mut state = vk::PipelineColorBlendAttachmentState::from(target.blend.map_or(mode, Into::into));
    let set = |place: &mut vk::BlendFactor, factor: Option<BlendFactor>| *place = factor.map_or(*place, Into::into);
    set(&mut state.src_color_blend_factor, target.src_color_factor);
    set(&mut state.dst_color_blend_factor, target.dst_color_factor);
    set(&mut state.src_alpha_blend_factor, target.src_alpha_factor);
    set(&mut state.dst_alpha_blend_factor, target.dst_alpha_factor);
    state.color_blend_op = target.color_op.map_or(state.color_blend_op, Into::into);
    state.alpha_blend_op = target.alpha_op.map_or(state.alpha_blend_op, Into::into);
    if has_factors {
        state.blend_enable = vk::TRUE;
    }
    if let Some(mask) = &target.write_mask {
        state.color_write_mask = write_mask(mask)?;
    }
    Ok(Some(state))
}

fn write_mask(letters: &str) -> Result<vk::ColorComponentFlags> {
    let component = |letter| match letter {
        'r' => Ok(vk::ColorComponentFlags::R),
        'g' => Ok(vk::ColorComponentFlags::G),
        'b' => Ok(vk::ColorComponentFlags::B),
        'a' => Ok(vk::ColorComponentFlags::A),
        other => Err(Error::scene(format_args!(
            "write-mask: \"{other}\"; it has letters of \"rgba\""
        ))),
    };
    letters
        .chars()
        .try_fold(vk::ColorComponentFlags::empty(), |all, letter| {
            Ok(all | component(letter)?)
        })
}

/// The sampler of an image slot: the default one, with what the slot has of its own.
pub(crate) fn sampler(default: SamplerDesc, slot: &Slot, format: TexelFormat) -> SamplerDesc {
    let mut sampler = default;
    if let Some(filter) = slot.filter {
        sampler.mag_filter = filter.into();
        sampler.min_filter = filter.into();
    }
    if let Some(filter) = slot.filter.or(slot.mipmap_filter) {
        sampler.mipmap_mode = mipmap_mode(slot.mipmap_filter.unwrap_or(filter));
    }
    sampler.mag_filter = slot.mag_filter.map_or(sampler.mag_filter, Into::into);
    sampler.min_filter = slot.min_filter.map_or(sampler.min_filter, Into::into);
    let axes = [slot.wrap_x, slot.wrap_y, slot.wrap_z];
    for (mode, axis) in sampler.address_modes.iter_mut().zip(axes) {
        *mode = axis.or(slot.wrap).map_or(*mode, Into::into);
    }
    sampler.border_color = match (slot.border.unwrap_or(Border::TransparentBlack), format.is_integer()) {
        (Border::TransparentBlack, false) => vk::BorderColor::FLOAT_TRANSPARENT_BLACK,
        (Border::TransparentBlack, true) => vk::BorderColor::INT_TRANSPARENT_BLACK,
        (Border::OpaqueBlack, false) => vk::BorderColor::FLOAT_OPAQUE_BLACK,
        (Border::OpaqueBlack, true) => vk::BorderColor::INT_OPAQUE_BLACK,
        (Border::OpaqueWhite, false) => vk::BorderColor::FLOAT_OPAQUE_WHITE,
        (Border::OpaqueWhite, true) => vk::BorderColor::INT_OPAQUE_WHITE,
    };
    sampler.mip_lod_bias = slot.lod_bias.unwrap_or(sampler.mip_lod_bias);
    sampler.min_lod = slot.min_lod.unwrap_or(sampler.min_lod);
    sampler.max_lod = slot.max_lod.unwrap_or(sampler.max_lod);
    sampler.max_anisotropy = slot.anisotropy;
    sampler.compare = slot.compare.map(Into::into);
    sampler
}

fn mipmap_mode(filter: Filter) -> vk::SamplerMipmapMode {
    match filter {
        Filter::Nearest => vk::SamplerMipmapMode::NEAREST,
        Filter::Linear => vk::SamplerMipmapMode::LINEAR,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn applied(text: &str) -> Result<Draw> {
        let mut draw = Draw::default();
        apply(&mut draw, &[0, 2], &Scene::parse(text, Path::new(""))?)?;
        Ok(draw)
    }

    #[test]
    fn factors_start_from_the_mode() {
        let draw = applied("[targets.2]\nblend = \"alpha\"\ndst-color-factor = \"one\"\nwrite-mask = \"rg\"").unwrap();
        let state = draw.color_blend.attachments[&2];
        assert_eq!(state.blend_enable, vk::TRUE);
        assert_eq!(state.src_color_blend_factor, vk::BlendFactor::SRC_ALPHA);
        assert_eq!(state.dst_color_blend_factor, vk::BlendFactor::ONE);
        assert_eq!(
            state.color_write_mask,
            vk::ColorComponentFlags::R | vk::ColorComponentFlags::G
        );
        // A clear colour alone is no blending.
        let draw = applied("[targets.0]\nclear = [1, 0, 0, 1]").unwrap();
        assert!(draw.color_blend.attachments.is_empty() && draw.clears[&0] == [1.0, 0.0, 0.0, 1.0]);
    }

    #[test]
    fn wrong_states_are_named() {
        for (text, words) in [
            (
                "[targets.1]\nblend = \"alpha\"",
                "the shader has no output 1; it has 0, 2",
            ),
            ("[targets.0]\nwrite-mask = \"rgbz\"", "target 0: write-mask: \"z\""),
            ("samples = 3", "samples: 3; there are 1, 2, 4"),
            ("stencil = { front = { pass = \"up\" } }", "`increment-and-wrap`"),
        ] {
            let error = applied(text).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
    }
}
