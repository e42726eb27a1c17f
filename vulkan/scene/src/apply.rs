//! A scene laid over default data.

use crate::defaults;
use crate::error::{Error, ErrorKind, Result};
use crate::model::{Blend, Compare, Cull, Filter, Format, Numbers, Scene, Slot, Topology, Wrap};
use crate::nearest;
use crate::picture::Picture;
use loader::vbc::{BaseType, Binding, Primitive, Shape, Vbc};
use vulkan::{Dim, Draw, SlotData, TexelFormat, Texels};

fn wrong<T>(text: impl std::fmt::Display) -> Result<T> {
    Err(Error::scene(text))
}

/// The error with the place in the scene that it is about.
fn at(place: impl std::fmt::Display) -> impl FnOnce(Error) -> Error {
    move |error| match error.kind() {
        ErrorKind::Scene(text) => Error::scene(format_args!("{place}: {text}")),
        _ => error.within(place),
    }
}

/// A draw of this shader: default data, then what the scene says.
///
/// # Errors
/// Names the key that does not fit the shader.
pub fn draw(vbc: &Vbc<'_>, scene: &Scene, fields: &defaults::BufferFields) -> Result<Draw> {
    let size = scene.size.unwrap_or([256, 256]);
    if size[0].max(size[1]) > 1 << 15 {
        return wrong(format!("size {}x{} is beyond any device", size[0], size[1]));
    }
    let vertices = scene.vertices.unwrap_or(scene.patch_points.unwrap_or(3));
    if vertices > 1 << 24 {
        return wrong(format!("{vertices} vertices; up to 16777216 can be filled"));
    }
    let mut draw = defaults::draw(vbc, size, vertices, fields)?;
    state(&mut draw, vbc, scene);
    for (location, numbers) in &scene.inputs {
        input(&mut draw, vbc, location, numbers)?;
    }
    target_height(&mut draw, vbc);
    for (name, numbers) in &scene.uniform {
        uniform(&mut draw, vbc, name, numbers)?;
    }
    for (number, slot) in &scene.slots {
        let found = number
            .parse()
            .ok()
            .and_then(|number: u8| vbc.bindings().find(|b| b.slot == number));
        let Some(binding) = found else {
            let known = vbc.bindings().map(|binding| binding.slot.to_string());
            let hint = nearest::hint(number, known);
            return wrong(format!("the shader has no slot {number}{hint}"));
        };
        let data = draw.slots.remove(&binding.slot);
        let data = fill_slot(binding, data, slot, scene).map_err(at(format_args!("slot {number}")))?;
        draw.slots.insert(binding.slot, data);
    }
    for (index, slot) in scene.subpass.iter().enumerate() {
        let Some(texels) = draw.subpass.get_mut(index) else {
            return wrong(format!("the shader has no subpass input {index}"));
        };
        fill_image(texels, slot, scene).map_err(at(format_args!("subpass input {index}")))?;
    }
    Ok(draw)
}

/// Counts, topology, blend, depth, clear colour.
fn state(draw: &mut Draw, vbc: &Vbc<'_>, scene: &Scene) {
    draw.instances = scene.instances.unwrap_or(draw.instances);
    draw.draws = scene.draws.unwrap_or(draw.draws);
    draw.clear = scene.clear.unwrap_or(draw.clear);
    if let Some(format) = scene.target {
        draw.target = format.texel();
    }
    draw.topology = topology(scene.topology, vbc, scene.patch_points.unwrap_or(3));
    draw.cull = match scene.cull {
        None | Some(Cull::None) => vulkan::Cull::None,
        Some(Cull::Front) => vulkan::Cull::Front,
        Some(Cull::Back) => vulkan::Cull::Back,
    };
    draw.blend = match scene.blend {
        None | Some(Blend::None) => vulkan::Blend::None,
        Some(Blend::Alpha) => vulkan::Blend::Alpha,
        Some(Blend::Premultiplied) => vulkan::Blend::Premultiplied,
        Some(Blend::Additive) => vulkan::Blend::Additive,
        Some(Blend::Multiply) => vulkan::Blend::Multiply,
    };
    draw.depth = scene.depth.map(|depth| vulkan::Depth {
        compare: depth.compare.into(),
        write: depth.write,
        clear: depth.clear.clamp(0.0, 1.0),
    });
}

/// The scene's topology, else the one the shader's stages ask for.
fn topology(wanted: Option<Topology>, vbc: &Vbc<'_>, patch_points: u32) -> vulkan::Topology {
    match (wanted, loader::vbc::input_primitive(vbc)) {
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

impl From<Compare> for vulkan::Compare {
    fn from(compare: Compare) -> Self {
        match compare {
            Compare::Never => Self::Never,
            Compare::Less => Self::Less,
            Compare::Equal => Self::Equal,
            Compare::LessOrEqual => Self::LessOrEqual,
            Compare::Greater => Self::Greater,
            Compare::NotEqual => Self::NotEqual,
            Compare::GreaterOrEqual => Self::GreaterOrEqual,
            Compare::Always => Self::Always,
        }
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

fn input(draw: &mut Draw, vbc: &Vbc<'_>, location: &str, numbers: &Numbers) -> Result<()> {
    let found = location
        .parse()
        .ok()
        .and_then(|location: u8| vbc.inputs().find(|input| input.location == location));
    let Some(input) = found else {
        return wrong(format!("the shader has no vertex input at location {location}"));
    };
    let numbers = numbers.flat();
    let per_vertex = usize::from(input.dims[0]) * usize::from(input.dims[1]) * usize::from(input.array);
    if per_vertex == 0 || numbers.is_empty() || !numbers.len().is_multiple_of(per_vertex) {
        let count = numbers.len();
        return wrong(format!(
            "input {location}: {count} numbers are not whole vertices of {per_vertex}"
        ));
    }
    let wanted = draw.vertices as usize * per_vertex;
    if numbers.len() < wanted && numbers.len() != per_vertex {
        let have = numbers.len() / per_vertex;
        return wrong(format!(
            "input {location}: {have} vertices are given, {} are drawn",
            draw.vertices
        ));
    }
    // One vertex's numbers stand for all vertices.
    let all = numbers.iter().cycle().take(wanted.max(numbers.len()));
    let bytes = all.flat_map(|number| defaults::encode(input.base, *number)).collect();
    draw.vertex_data.insert(input.location, bytes);
    Ok(())
}

/// What shaders whose rows count from below ask for.
const TARGET_HEIGHT: &[u8] = b"skrymir_TargetHeight";

fn target_height(draw: &mut Draw, vbc: &Vbc<'_>) {
    let members = vbc.uniform().into_iter().flat_map(|uniform| uniform.members());
    let wanted: Vec<usize> = members
        .filter(|member| member.name == TARGET_HEIGHT)
        .map(|member| member.offset as usize)
        .collect();
    let height = (draw.size[1] as f32).to_le_bytes();
    for at in wanted {
        if let Some(place) = draw.uniform.get_mut(at..at + height.len()) {
            place.copy_from_slice(&height);
        }
    }
}

fn uniform(draw: &mut Draw, vbc: &Vbc<'_>, name: &str, numbers: &Numbers) -> Result<()> {
    let found = vbc
        .uniform()
        .and_then(|uniform| uniform.members().find(|member| member.name == name.as_bytes()));
    let Some(member) = found else {
        let members = vbc.uniform().into_iter().flat_map(|uniform| uniform.members());
        let known = members.map(|member| String::from_utf8_lossy(member.name).into_owned());
        let hint = nearest::hint(name, known);
        return wrong(format!("the shader has no uniform member \"{name}\"{hint}"));
    };
    let numbers = numbers.flat();
    let wanted = usize::from(member.dims[0]) * usize::from(member.dims[1]) * usize::from(member.array);
    if numbers.len() != wanted {
        return wrong(format!(
            "uniform member \"{name}\" takes {wanted} numbers, {} are given",
            numbers.len()
        ));
    }
    let bytes: Vec<u8> = numbers
        .iter()
        .flat_map(|number| defaults::encode(member.base, *number))
        .collect();
    let at = member.offset as usize;
    match draw.uniform.get_mut(at..at + bytes.len()) {
        Some(place) => place.copy_from_slice(&bytes),
        None => return wrong(format!("uniform member \"{name}\" lies outside the uniform")),
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
                return wrong("a buffer takes floats, ints or uints");
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
                return wrong("a texel buffer takes texels");
            };
            let bytes = encode_texels(format, &numbers)?;
            Ok(SlotData::Texels { format, bytes })
        }
        Some(SlotData::Image(mut texels, mut sampler)) => {
            if let Shape::Texel { .. } = binding.shape
                && let (BaseType::SAMPLER, Some(format), false) =
                    (binding.base, slot.format, texels.format.is_integer())
            {
                texels = recode(texels, format.texel());
            }
            fill_image(&mut texels, slot, scene)?;
            sampler.linear = slot.filter.map_or(sampler.linear, |filter| filter == Filter::Linear);
            sampler.repeat = slot.wrap.map_or(sampler.repeat, |wrap| wrap == Wrap::Repeat);
            Ok(SlotData::Image(texels, sampler))
        }
        None => wrong("no such slot"),
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

/// Replaces an image's texels, and its size where one is given.
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
        return image_file(texels, &scene.folder.join(path));
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

/// A PNG file into every layer of a two-dimensional image.
fn image_file(texels: &mut Texels, path: &std::path::Path) -> Result<()> {
    if !matches!(texels.dim, Dim::D2 | Dim::D2Array | Dim::Cube) {
        return wrong(format!("{} cannot fill a {:?} image", path.display(), texels.dim));
    }
    let picture = Picture::load(path).map_err(Error::scene)?;
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
