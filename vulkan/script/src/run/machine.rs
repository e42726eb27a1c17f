//! Buffers and images of a running script, and the engine that works on them.

use super::{Stop, Verdict, convert};
use crate::layout::{DataLayout, decode};
use crate::types::{Channel, Format};
use ash::vk;
use std::time::Duration;
use vulkan::ShaderProperties;
use vulkan::work::{ImageData, Resource, Work};

/// What carries out the work of scripts.
pub trait Engine {
    /// Whether it has a feature, by its name in Vulkan's structures; `None` for a name that it does not know.
    fn has_feature(&self, name: &str) -> Option<bool>;

    /// Whether it has an extension.
    fn has_extension(&self, name: &str) -> bool;

    /// Its version of Vulkan.
    fn version(&self) -> [u32; 3];

    /// What shaders can expect of it.
    fn properties(&self) -> ShaderProperties;

    /// Does it.
    ///
    /// # Errors
    /// What the engine lacks, and what went wrong.
    fn execute(&self, work: &Work<'_>, resources: &mut [Resource]) -> vulkan::Result<Option<Duration>>;
}

impl Engine for vulkan::Context {
    fn has_feature(&self, name: &str) -> Option<bool> {
        vulkan::Context::has_feature(self, name)
    }

    fn has_extension(&self, name: &str) -> bool {
        vulkan::Context::has_extension(self, name)
    }

    fn version(&self) -> [u32; 3] {
        self.info().api
    }

    fn properties(&self) -> ShaderProperties {
        self.shader_properties()
    }

    fn execute(&self, work: &Work<'_>, resources: &mut [Resource]) -> vulkan::Result<Option<Duration>> {
        vulkan::work::execute(self, work, resources)
    }
}

/// A buffer's contents at the end of a script.
#[derive(Clone, Debug)]
pub struct Kept {
    /// Its name.
    pub name: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// As a picture of red, green, blue and alpha in bytes, where it is one: the size and the bytes.
    pub picture: Option<([u32; 2], Vec<u8>)>,
}

/// What a name stands for.
pub(super) struct Held {
    pub name: String,
    pub resource: usize,
    /// How its numbers lie.
    pub layout: DataLayout,
    /// Its texels' format, where it has one.
    pub format: Option<Format>,
}

/// Why the engine did not do something.
pub(super) fn stopped(error: vulkan::Error) -> Stop {
    use vulkan::ErrorKind as K;
    let text = error.to_string();
    let text = text
        .trim_start_matches("vulkan: ")
        .trim_start_matches("unsupported: ")
        .to_owned();
    Stop(match error.kind() {
        K::Unsupported(_) => Verdict::Unsupported(text),
        K::Data(_) | K::Load(_) => Verdict::Invalid(text),
        _ => Verdict::Device(text),
    })
}

/// Whether the engine has what a script asks for by a name.
pub(super) fn feature(engine: &dyn Engine, name: &str) -> Result<(), Stop> {
    let missing = || Stop::unsupported(format!("the device lacks the feature {name}"));
    let (group, field) = name.split_once('.').unwrap_or(("", name));
    let has = match group {
        "SubgroupSupportedOperations" => {
            subgroup_operation(field).map(|flag| engine.properties().operations.contains(flag))
        }
        "SubgroupSupportedStages" => subgroup_stage(field).map(|flag| engine.properties().stages.contains(flag)),
        "FloatControlsProperties" => float_control(&engine.properties().floats, field),
        "RayTracingPipelineFeaturesKHR" | "AccelerationStructureFeaturesKHR" => {
            return Err(Stop::unsupported("ray tracing"));
        }
        _ => engine.has_feature(field),
    };
    match has {
        Some(true) => Ok(()),
        Some(false) => Err(missing()),
        None => Err(Stop::unsupported(format!("no feature {name} is known"))),
    }
}

fn subgroup_operation(name: &str) -> Option<vk::SubgroupFeatureFlags> {
    use vk::SubgroupFeatureFlags as F;
    Some(match name {
        "basic" => F::BASIC,
        "vote" => F::VOTE,
        "arithmetic" => F::ARITHMETIC,
        "ballot" => F::BALLOT,
        "shuffle" => F::SHUFFLE,
        "shuffleRelative" => F::SHUFFLE_RELATIVE,
        "clustered" => F::CLUSTERED,
        "quad" => F::QUAD,
        _ => return None,
    })
}

fn subgroup_stage(name: &str) -> Option<vk::ShaderStageFlags> {
    use vk::ShaderStageFlags as F;
    Some(match name {
        "vertex" => F::VERTEX,
        "tessellationControl" => F::TESSELLATION_CONTROL,
        "tessellationEvaluation" => F::TESSELLATION_EVALUATION,
        "geometry" => F::GEOMETRY,
        "fragment" => F::FRAGMENT,
        "compute" => F::COMPUTE,
        _ => return None,
    })
}

fn float_control(floats: &vk::PhysicalDeviceFloatControlsProperties<'_>, name: &str) -> Option<bool> {
    let value = match name {
        "shaderSignedZeroInfNanPreserveFloat16" => floats.shader_signed_zero_inf_nan_preserve_float16,
        "shaderSignedZeroInfNanPreserveFloat32" => floats.shader_signed_zero_inf_nan_preserve_float32,
        "shaderSignedZeroInfNanPreserveFloat64" => floats.shader_signed_zero_inf_nan_preserve_float64,
        "shaderDenormPreserveFloat16" => floats.shader_denorm_preserve_float16,
        "shaderDenormPreserveFloat32" => floats.shader_denorm_preserve_float32,
        "shaderDenormPreserveFloat64" => floats.shader_denorm_preserve_float64,
        "shaderDenormFlushToZeroFloat16" => floats.shader_denorm_flush_to_zero_float16,
        "shaderDenormFlushToZeroFloat32" => floats.shader_denorm_flush_to_zero_float32,
        "shaderDenormFlushToZeroFloat64" => floats.shader_denorm_flush_to_zero_float64,
        "shaderRoundingModeRTEFloat16" => floats.shader_rounding_mode_rte_float16,
        "shaderRoundingModeRTEFloat32" => floats.shader_rounding_mode_rte_float32,
        "shaderRoundingModeRTEFloat64" => floats.shader_rounding_mode_rte_float64,
        "shaderRoundingModeRTZFloat16" => floats.shader_rounding_mode_rtz_float16,
        "shaderRoundingModeRTZFloat32" => floats.shader_rounding_mode_rtz_float32,
        "shaderRoundingModeRTZFloat64" => floats.shader_rounding_mode_rtz_float64,
        _ => return None,
    };
    Some(value != 0)
}

/// An image of noughts.
pub(super) fn image(
    format: &Format,
    dimension: vk::ImageType,
    size: [u32; 3],
    levels: u32,
    samples: u32,
) -> Result<ImageData, Stop> {
    const MOST: u64 = 1 << 30;
    let vulkan = convert::format(format).ok_or_else(|| Stop::unsupported(format!("Vulkan has no format {format}")))?;
    let bytes = size
        .iter()
        .fold(format.bytes() as u64, |all, size| all.saturating_mul(u64::from(*size)));
    if bytes > MOST {
        return Err(Stop::unsupported(format!("an image of {bytes} bytes")));
    }
    Ok(ImageData::new(vulkan, dimension, size, levels, samples, format.bytes()))
}

/// The bytes that a script sees of a resource: of an image, its first level.
pub(super) fn visible(resource: &Resource) -> &[u8] {
    match resource {
        Resource::Buffer(bytes) => bytes,
        Resource::Image(image) => image.planes.first().map_or(&[], |plane| {
            let length = image.texels(0) * plane.texel;
            &plane.bytes[..length.min(plane.bytes.len())]
        }),
    }
}

/// What is left of a resource.
pub(super) fn kept(held: &Held, resource: &Resource) -> Kept {
    let bytes = visible(resource).to_vec();
    let picture = match (resource, &held.format) {
        (Resource::Image(image), Some(format)) if image.size[2] == 1 && !bytes.is_empty() && !format.has_depth() => {
            let size = [image.size[0], image.size[1]];
            let texels = bytes.chunks_exact(format.bytes().max(1));
            Some((size, texels.flat_map(|texel| rgba(format, texel)).collect()))
        }
        _ => None,
    };
    Kept {
        name: held.name.clone(),
        bytes,
        picture,
    }
}

/// A texel in bytes: red, green, blue, alpha.
fn rgba(format: &Format, texel: &[u8]) -> [u8; 4] {
    let found = decode(format, texel);
    let scale = if format.is_integer() { 1.0 } else { 255.0 };
    [Channel::R, Channel::G, Channel::B, Channel::A].map(|channel| {
        let component = found.iter().find(|(one, _)| *one == channel);
        let other = if channel == Channel::A { 255.0 } else { 0.0 };
        component
            .map_or(other, |(_, value)| value * scale)
            .round()
            .clamp(0.0, 255.0) as u8
    })
}

/// Everything that a script has on the host.
#[derive(Default)]
pub(super) struct Machine {
    pub resources: Vec<Resource>,
    pub held: Vec<Held>,
    pub timed: Vec<(u32, Duration)>,
}

impl Machine {
    /// A resource without a name.
    pub(crate) fn add(&mut self, resource: Resource) -> usize {
        self.resources.push(resource);
        self.resources.len() - 1
    }

    /// A resource with a name.
    pub(crate) fn hold(&mut self, name: &str, resource: Resource, layout: DataLayout, format: Option<Format>) -> usize {
        let resource = self.add(resource);
        self.held.push(Held {
            name: name.to_owned(),
            resource,
            layout,
            format,
        });
        resource
    }

    /// What a name stands for.
    pub(crate) fn named(&self, name: &str) -> Option<&Held> {
        self.held.iter().find(|held| held.name == name)
    }

    /// The contents of everything that has a name.
    pub(crate) fn kept(&self) -> Vec<Kept> {
        self.held
            .iter()
            .map(|held| kept(held, &self.resources[held.resource]))
            .collect()
    }

    /// Corners of a rectangle of a strip, as a buffer: floats, two each.
    pub(crate) fn corners(&mut self, corners: &[[f64; 2]]) -> usize {
        let bytes = corners
            .iter()
            .flatten()
            .flat_map(|value| (*value as f32).to_le_bytes())
            .collect();
        self.add(Resource::Buffer(bytes))
    }
}
