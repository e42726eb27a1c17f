//! Applies a scene to default data.

use crate::defaults;
use crate::error::{Error, ErrorKind, Result};
use crate::interface::Interface;
use crate::model::{Format, Numbers, Scene, Slot, Topology};
use crate::nearest;
use crate::picture::Picture;
use crate::pipeline;
use loader::vbc::{BaseType, Binding, Primitive, Shape, Variable};
use std::path::Path;
use std::sync::Arc;
use vulkan::{Dim, Draw, SlotData, TexelFormat, Texels};

fn wrong<T>(text: impl std::fmt::Display) -> Result<T> {
    Err(Error::scene(text))
}

/// Adds the place in the scene to an error.
fn at(place: impl std::fmt::Display) -> impl FnOnce(Error) -> Error {
    move |error| match error.kind() {
        ErrorKind::Scene(text) => Error::scene(format_args!("{place}: {text}")),
        _ => error.within(place),
    }
}

/// A draw of this shader: default data, overridden by the scene.
///
/// # Errors
/// The scene's key that does not match the shader.
pub fn draw(interface: &Interface, scene: &Scene) -> Result<Draw> {
    let size = scene.size.unwrap_or([256, 256]);
    if size[0].max(size[1]) > 1 << 15 {
        return wrong(format!("size {}x{} is beyond any device", size[0], size[1]));
    }
    let vertices = scene.vertices.or(scene.patch_points);
    let vertices = vertices.or_else(|| given_vertices(interface, scene)).unwrap_or(3);
    if vertices > 1 << 24 {
        return wrong(format!("{vertices} vertices; up to 16777216 can be filled"));
    }
    let mut draw = defaults::draw(interface, size, vertices)?;
    state(&mut draw, interface, scene);
    pipeline::apply(&mut draw, &interface.outputs, scene)?;
    for (key, numbers) in &scene.inputs {
        input(&mut draw, interface, key, numbers)?;
    }
    target_height(&mut draw, interface);
    for (name, numbers) in &scene.uniform {
        uniform(&mut draw, interface, name, numbers)?;
    }
    for (key, slot) in &scene.slots {
        let Some(found) = interface.slot(key) else {
            if interface.declared.contains(key) {
                continue;
            }
            let known = interface.slots.iter().map(|slot| known(slot.binding.slot, &slot.name));
            let hint = nearest::hint(key, known);
            return wrong(format!("the shader has no slot {key}{hint}"));
        };
        let data = draw.slots.remove(&found.binding.slot);
        let data = fill_slot(found.binding, data, slot, scene).map_err(at(format_args!("slot {key}")))?;
        draw.slots.insert(found.binding.slot, data);
    }
    for (index, slot) in scene.subpass.iter().enumerate() {
        let Some(texels) = draw.subpass.get_mut(index) else {
            return wrong(format!("the shader has no subpass input {index}"));
        };
        fill_image(texels, slot, scene).map_err(at(format_args!("subpass input {index}")))?;
    }
    Ok(draw)
}

/// The number of vertices given by all inputs; numbers for one vertex fit any count.
fn given_vertices(interface: &Interface, scene: &Scene) -> Option<u32> {
    let counts = scene.inputs.iter().filter_map(|(key, numbers)| {
        let input = interface.input(key)?.variable;
        let count = numbers.flat().len().checked_div(per_vertex(&input))?;
        u32::try_from(count).ok().filter(|count| *count > 1)
    });
    counts.min()
}

/// Number of components of an input per vertex.
fn per_vertex(input: &Variable) -> usize {
    usize::from(input.dims[0]) * usize::from(input.dims[1]) * usize::from(input.array)
}

/// Names in the scene that the sources declare but the programs do not use.
pub fn unused(interface: &Interface, scene: &Scene) -> Vec<String> {
    let inputs = scene.inputs.keys().filter(|key| interface.input(key).is_none());
    let uniforms = scene.uniform.keys().filter(|key| interface.parts(key).is_empty());
    let slots = scene.slots.keys().filter(|key| interface.slot(key).is_none());
    let kinds = [
        ("input", inputs.collect()),
        ("uniform", uniforms.collect()),
        ("slot", slots.collect::<Vec<_>>()),
    ];
    let of_kind = |(kind, keys): (&'static str, Vec<&String>)| {
        let declared = keys.into_iter().filter(|key| interface.declared.contains(*key));
        declared
            .map(|key| format!("{kind} {key}: declared, and not used by the shader"))
            .collect::<Vec<_>>()
    };
    kinds.into_iter().flat_map(of_kind).collect()
}

/// A number with its name.
fn known(number: u8, name: &Option<String>) -> String {
    name.clone().unwrap_or_else(|| number.to_string())
}

/// Counts, topology, blend, depth, clear colour.
fn state(draw: &mut Draw, interface: &Interface, scene: &Scene) {
    draw.instances = scene.instances.unwrap_or(draw.instances);
    draw.draws = scene.draws.unwrap_or(draw.draws);
    draw.clear = scene.clear.unwrap_or(draw.clear);
    if let Some(format) = scene.target {
        draw.target = format.texel();
    }
    draw.topology = topology(scene.topology, interface.primitive, scene.patch_points.unwrap_or(3));
    draw.cull = scene.cull.unwrap_or_default();
    draw.blend = scene.blend.unwrap_or_default();
    draw.depth = scene.depth.map(|depth| vulkan::Depth {
        clear: depth.clear.clamp(0.0, 1.0),
        ..depth
    });
}

/// The scene's topology, else the one that the shader's stages require.
fn topology(wanted: Option<Topology>, taken: Option<Primitive>, patch_points: u32) -> vulkan::Topology {
    match (wanted, taken) {
        (Some(Topology::Points), _) | (None, Some(Primitive::Points)) => vulkan::Topology::Points,
        (Some(Topology::Lines), _) | (None, Some(Primitive::Lines)) => vulkan::Topology::Lines,
        (Some(Topology::LineStrip), _) => vulkan::Topology::LineStrip,
        (Some(Topology::LinesAdjacency), _) | (None, Some(Primitive::LinesAdjacency)) => {
            vulkan::Topology::LinesAdjacency
        }
        (Some(Topology::TrianglesAdjacency), _) | (None, Some(Primitive::TrianglesAdjacency)) => {
            vulkan::Topology::TrianglesAdjacency
        }
        (Some(Topology::TriangleStrip), _) => vulkan::Topology::TriangleStrip,
        (Some(Topology::TriangleFan), _) => vulkan::Topology::TriangleFan,
        (Some(Topology::Patches), _) | (None, Some(Primitive::Patches)) => vulkan::Topology::Patches(patch_points),
        (Some(Topology::Triangles), _) | (None, _) => vulkan::Topology::Triangles,
    }
}

impl Format {
    /// The texel format.
    pub fn texel(self) -> TexelFormat {
        match self {
            Self::Rgba8 => TexelFormat::RGBA8,
            Self::Rgba32f => TexelFormat::RGBA32F,
        }
    }
}

fn input(draw: &mut Draw, interface: &Interface, key: &str, numbers: &Numbers) -> Result<()> {
    let Some(found) = interface.input(key) else {
        if interface.declared.contains(key) {
            return Ok(());
        }
        let inputs = interface.inputs.iter();
        let hint = nearest::hint(key, inputs.map(|input| known(input.variable.location, &input.name)));
        return wrong(match key.parse::<u8>() {
            Ok(_) => format!("the shader has no vertex input at location {key}{hint}"),
            Err(_) => format!("the shader has no vertex input {key}{hint}"),
        });
    };
    let input = found.variable;
    let numbers = numbers.flat();
    let per_vertex = per_vertex(&input);
    if per_vertex == 0 || numbers.is_empty() || !numbers.len().is_multiple_of(per_vertex) {
        let count = numbers.len();
        return wrong(format!(
            "input {key}: {count} numbers are not whole vertices of {per_vertex}"
        ));
    }
    let wanted = draw.vertices as usize * per_vertex;
    if numbers.len() < wanted && numbers.len() != per_vertex {
        let have = numbers.len() / per_vertex;
        return wrong(format!(
            "input {key}: {have} vertices are given, {} are drawn",
            draw.vertices
        ));
    }
    // Numbers for one vertex are used for all.
    let all = numbers.iter().cycle().take(wanted.max(numbers.len()));
    let bytes = all.flat_map(|number| defaults::encode(input.base, *number)).collect();
    draw.vertex_data.insert(input.location, bytes);
    Ok(())
}

/// Names of uniforms that hold the time in seconds.
pub const TIMES: [&str; 6] = ["time", "u_time", "uTime", "iTime", "iGlobalTime", "Time"];

/// The uniforms that hold the time: floats with a name of [`TIMES`].
fn times(interface: &Interface) -> impl Iterator<Item = &str> {
    interface.uniform.iter().filter_map(|member| {
        let name = std::str::from_utf8(&member.name).ok()?;
        let is_float = member.base == BaseType::FLOAT && member.components() * member.elements == 1;
        (is_float && TIMES.contains(&name)).then_some(name)
    })
}

/// Whether the shader has a uniform that holds the time, which [`set_time`] sets.
pub fn has_time(interface: &Interface) -> bool {
    times(interface).next().is_some()
}

/// Sets the uniforms that hold the time: floats with a name of [`TIMES`].
///
/// # Errors
/// When the shader has none.
pub fn set_time(interface: &Interface, scene: &mut Scene, seconds: f64) -> Result<()> {
    let times: Vec<String> = times(interface).map(str::to_owned).collect();
    if times.is_empty() {
        return wrong(format!(
            "the shader has no uniform for the time: a float named {}",
            TIMES.join(", ")
        ));
    }
    let time = |name| (name, Numbers::One(seconds));
    scene.uniform.extend(times.into_iter().map(time));
    Ok(())
}

/// Names used by shaders whose rows count from the bottom.
const TARGET_HEIGHT: &[u8] = b"skrymir_TargetHeight";

fn target_height(draw: &mut Draw, interface: &Interface) {
    let height = (draw.size[1] as f32).to_le_bytes();
    for member in interface.uniform.iter().filter(|member| member.name == TARGET_HEIGHT) {
        if let Some(place) = draw.uniform.get_mut(member.offset..member.offset + height.len()) {
            place.copy_from_slice(&height);
        }
    }
}

fn uniform(draw: &mut Draw, interface: &Interface, name: &str, numbers: &Numbers) -> Result<()> {
    let parts = interface.parts(name);
    let Some(first) = parts.first() else {
        if interface.declared.contains(name) {
            return Ok(());
        }
        let names = interface.uniform.iter().filter(|member| member.name != TARGET_HEIGHT);
        let known = names.map(|member| String::from_utf8_lossy(&member.name).into_owned());
        let hint = nearest::hint(name, known);
        return wrong(format!("the shader has no uniform member \"{name}\"{hint}"));
    };
    let numbers = numbers.flat();
    let one = first.member.components().max(1);
    let elements = parts
        .iter()
        .map(|part| part.from + part.elements.len())
        .max()
        .unwrap_or(0);
    // The last elements of an array of structures may be unused.
    let is_spread = parts.len() > 1 || first.from > 0;
    let fits = numbers.len() <= one * elements || is_spread;
    if numbers.is_empty() || !numbers.len().is_multiple_of(one) || !fits {
        return wrong(format!(
            "uniform member \"{name}\" takes {} numbers, {} are given",
            one * elements,
            numbers.len()
        ));
    }
    for part in parts {
        let from = (one * part.from).min(numbers.len());
        let to = (from + one * part.elements.len()).min(numbers.len());
        let bytes: Vec<u8> = numbers[from..to]
            .iter()
            .flat_map(|number| defaults::encode(part.member.base, *number))
            .collect();
        let start = part.member.offset + 4 * one * part.elements.start;
        match draw.uniform.get_mut(start..start + bytes.len()) {
            Some(place) => place.copy_from_slice(&bytes),
            None => return wrong(format!("uniform member \"{name}\" lies outside the uniform")),
        }
    }
    Ok(())
}

fn fill_slot(binding: Binding, default: Option<SlotData>, slot: &Slot, scene: &Scene) -> Result<SlotData> {
    let words = [
        (BaseType::FLOAT, &slot.floats),
        (BaseType::INT, &slot.ints),
        (BaseType::UINT, &slot.uints),
    ];
    let mut words = words
        .into_iter()
        .filter_map(|(base, numbers)| Some((base, numbers.as_ref()?.flat())));
    match default {
        Some(SlotData::Buffer(mut bytes)) => {
            let Some((base, numbers)) = words.next() else {
                return wrong("a buffer needs floats, ints or uints");
            };
            let given: Vec<u8> = numbers
                .iter()
                .flat_map(|number| defaults::encode(base, *number))
                .collect();
            let end = slot.at + given.len();
            if end > bytes.len() {
                bytes.resize(end, 0);
            }
            bytes[slot.at..end].copy_from_slice(&given);
            Ok(SlotData::Buffer(bytes))
        }
        Some(SlotData::Texels { format, .. }) => {
            let numbers = slot
                .texels
                .as_ref()
                .map(Numbers::flat)
                .or_else(|| words.next().map(|(_, numbers)| numbers));
            let Some(numbers) = numbers else {
                return wrong("a texel buffer needs texels");
            };
            let bytes = encode_texels(format, &numbers)?;
            Ok(SlotData::Texels { format, bytes })
        }
        Some(SlotData::Image(..)) if slot.at != 0 || words.next().is_some() => {
            wrong("an image needs an image, texels or a fill; at, floats, ints and uints are for buffers")
        }
        Some(SlotData::Image(mut texels, sampler)) => {
            if let Shape::Texel { .. } = binding.shape
                && let (BaseType::SAMPLER, Some(format), false) =
                    (binding.base, slot.format, texels.format.is_integer())
            {
                texels = recode(texels, format.texel());
            }
            if slot.compare.is_some() {
                let is_sampled = binding.base == BaseType::SAMPLER && !texels.format.is_integer();
                if !is_sampled || slot.format.is_some() {
                    return wrong("compare is for sampled images of floats, which are then depths and have no format");
                }
                texels = recode(texels, TexelFormat::R32F);
            }
            fill_image(&mut texels, slot, scene)?;
            let sampler = pipeline::sampler(sampler, slot, texels.format);
            Ok(SlotData::Image(texels, sampler))
        }
        None => wrong("unknown slot"),
    }
}

fn recode(texels: Texels, format: TexelFormat) -> Texels {
    let old = texels.format;
    let bytes = texels
        .bytes
        .chunks_exact(old.size())
        .flat_map(|texel| format.encode(old.decode(texel)))
        .collect();
    Texels {
        format,
        bytes,
        ..texels
    }
}

fn encode_texels(format: TexelFormat, numbers: &[f64]) -> Result<Vec<u8>> {
    let components = usize::from(format.components);
    if numbers.is_empty() || components == 0 || !numbers.len().is_multiple_of(components) {
        return wrong(format!(
            "{} numbers are not whole texels of {components} components",
            numbers.len()
        ));
    }
    let mut bytes = Vec::new();
    for texel in numbers.chunks_exact(components) {
        let mut all = [0.0; 4];
        all[..components.min(4)].copy_from_slice(&texel[..components.min(4)]);
        bytes.extend(format.encode(all));
    }
    Ok(bytes)
}

/// Replaces an image's texels, and its size if given.
fn fill_image(texels: &mut Texels, slot: &Slot, scene: &Scene) -> Result<()> {
    if let Some(size) = &slot.size {
        let mut extent = [1; 3];
        if size.is_empty() || size.len() > 3 || size.iter().any(|n| *n == 0 || *n > 1 << 15) {
            return wrong("a size is one to three numbers from 1 to 32768");
        }
        extent[..size.len()].copy_from_slice(size);
        texels.extent = extent;
    }
    texels.layers = slot.layers.unwrap_or(texels.layers).clamp(1, 2048);
    texels.levels = slot.levels.unwrap_or(1);
    if let Some(path) = &slot.image {
        if texels.levels != 1 {
            return wrong("levels need texels or a fill");
        }
        return match scene.pictures.get(path) {
            Some(picture) => image(texels, path, || Ok(picture.clone())),
            None => {
                let path = scene.folder.join(path);
                image(texels, &path, || {
                    Picture::load(&path).map(Arc::new).map_err(Error::scene)
                })
            }
        };
    }
    let count = texels.count().filter(|count| *count <= 1 << 26);
    let Some(count) = count else {
        return wrong("an image of more than 67108864 texels");
    };
    if let Some(numbers) = &slot.texels {
        texels.bytes = encode_texels(texels.format, &numbers.flat())?;
    } else if let Some(numbers) = &slot.fill {
        let one = encode_texels(texels.format, &numbers.flat())?;
        if one.len() != texels.format.size() {
            return wrong(format!("fill takes one texel of {} numbers", texels.format.components));
        }
        texels.bytes = one.repeat(count as usize);
    } else if slot.size.is_some() || slot.layers.is_some() || slot.levels.is_some() {
        return wrong("a size needs texels, a fill or an image");
    }
    if texels.bytes.len() as u64 != count * texels.format.size() as u64 {
        let have = texels.bytes.len() / texels.format.size();
        return wrong(format!("{have} texels are given, the image has {count}"));
    }
    Ok(())
}

/// Copies a picture to every layer of a two-dimensional image.
fn image(texels: &mut Texels, path: &Path, picture: impl FnOnce() -> Result<Arc<Picture>>) -> Result<()> {
    if !matches!(texels.dim, Dim::D2 | Dim::D2Array | Dim::Cube) {
        return wrong(format!("{} cannot fill a {:?} image", path.display(), texels.dim));
    }
    let picture = picture()?;
    texels.extent = [picture.width, picture.height, 1];
    let scale = if texels.format.is_integer() { 1.0 } else { 1.0 / 255.0 };
    let layer = picture
        .rgba
        .as_chunks()
        .0
        .iter()
        .flat_map(|pixel: &[u8; 4]| texels.format.encode(pixel.map(|v| f64::from(v) * scale)));
    let layer: Vec<u8> = layer.collect();
    texels.bytes = layer.repeat(texels.layers as usize);
    Ok(())
}
