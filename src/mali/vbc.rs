//! The draw that a VBC has on Vulkan, for the Mali-400 programs its stages are compiled to.
//!
//! Scenes say inputs by location, uniforms by name and images by slot, and what is not said is filled as
//! [`defaults`](crate::scene::defaults) documents, so that one scene gives one picture everywhere.

use super::Pair;
use crate::error::{Error, Result, Within};
use crate::scene::defaults::BufferFields;
use crate::scene::{Scene, apply};
use emulator::driver::{self, Draw, Image, PrimitiveMode};
use loader::mbs::SymbolType;
use loader::vbc::{self, BaseType, Vbc};
use std::collections::BTreeMap;
use translate::{ShaderStage, Source};
use vulkan::{Dim, SlotData, Texels};

/// A compiled program's symbols by what they are in the file: what has no name in the code is called by its number.
struct Numbers {
    inputs: BTreeMap<String, u32>,
    slots: BTreeMap<String, u8>,
}

impl Numbers {
    fn new(file: &Vbc<'_>, bytes: &[u8]) -> Result<Self> {
        let stage = |stage| {
            translate::read(&Source {
                any_layout: true,
                ..Source::new("file.vbc", bytes)?.stage(stage)
            })
        };
        let (vertex, fragment) = (stage(ShaderStage::Vertex)?, stage(ShaderStage::Fragment)?);
        let locations = file.inputs().flat_map(|input| {
            let first = u32::from(input.location);
            first..first + u32::from(input.dims[1]) * u32::from(input.array)
        });
        let input = |location: u32| {
            let name = vertex.input_name(location).filter(|name| !name.is_empty());
            (
                name.map_or_else(|| format!("location{location}"), str::to_owned),
                location,
            )
        };
        let slot = |binding: vbc::Binding| {
            let number = binding.slot;
            let name = fragment.binding_name(0, number.into()).filter(|name| !name.is_empty());
            (name.map_or_else(|| format!("binding{number}"), str::to_owned), number)
        };
        Ok(Self {
            inputs: locations.map(input).collect(),
            slots: file.bindings().map(slot).collect(),
        })
    }
}

/// The draw a scene describes.
///
/// # Errors
/// What the scene says that does not fit the file, or that a Mali-400 has no place for.
pub fn prepare<'a>(pair: &'a Pair, bytes: &[u8], scene: &Scene) -> Result<Draw<'a>> {
    let file = vbc::read(bytes)?;
    // Buffers have fields, and the compiler takes none.
    let given = apply::draw(&file, scene, &BufferFields::new())?;
    let mut draw = Draw::new(&pair.vertex, &pair.fragment, given.size);
    state(&given, &mut draw)?;
    let numbers = Numbers::new(&file, bytes)?;
    attributes(&file, &numbers, &given, &mut draw)?;
    uniforms(&file, &given, &mut draw);
    textures(&numbers, &given, &mut draw)?;
    Ok(draw)
}

fn state(given: &vulkan::Draw, draw: &mut Draw<'_>) -> Result<()> {
    let keys = [
        ("instances", given.instances != 1),
        ("draws", given.draws != 1),
        ("target", given.target != vulkan::TexelFormat::RGBA8),
        ("a subpass input", !given.subpass.is_empty()),
    ];
    if let Some((key, _)) = keys.iter().find(|(_, said)| *said) {
        return Err(Error::scene(format_args!("{key} means nothing to a Mali-400")));
    }
    draw.count = given.vertices;
    draw.clear = given.clear;
    draw.mode = match given.topology {
        vulkan::Topology::Points => PrimitiveMode::Points,
        vulkan::Topology::Lines => PrimitiveMode::Lines,
        vulkan::Topology::LineStrip => PrimitiveMode::LineStrip,
        vulkan::Topology::Triangles => PrimitiveMode::Triangles,
        vulkan::Topology::TriangleStrip => PrimitiveMode::TriangleStrip,
        vulkan::Topology::TriangleFan => PrimitiveMode::TriangleFan,
        other => return Err(Error::scene(format_args!("a Mali-400 has no {other:?}"))),
    };
    draw.cull = match given.cull {
        vulkan::Cull::None => driver::Cull::None,
        vulkan::Cull::Front => driver::Cull::Front,
        vulkan::Cull::Back => driver::Cull::Back,
    };
    draw.blend = match given.blend {
        vulkan::Blend::None => driver::Blend::None,
        vulkan::Blend::Alpha => driver::Blend::Alpha,
        vulkan::Blend::Premultiplied => driver::Blend::Premultiplied,
        vulkan::Blend::Additive => driver::Blend::Additive,
        vulkan::Blend::Multiply => driver::Blend::Multiply,
    };
    if let Some(depth) = given.depth {
        draw.depth = Some(driver::Depth {
            compare: match depth.compare {
                vulkan::Compare::Never => driver::Compare::Never,
                vulkan::Compare::Less => driver::Compare::Less,
                vulkan::Compare::Equal => driver::Compare::Equal,
                vulkan::Compare::LessOrEqual => driver::Compare::LessEqual,
                vulkan::Compare::Greater => driver::Compare::Greater,
                vulkan::Compare::NotEqual => driver::Compare::NotEqual,
                vulkan::Compare::GreaterOrEqual => driver::Compare::GreaterEqual,
                vulkan::Compare::Always => driver::Compare::Always,
            },
            write: depth.write,
        });
        draw.clear_depth = depth.clear;
    }
    Ok(())
}

/// A component of vertex data or of the uniform, which a Mali-400 has as a float.
fn number(base: BaseType, bytes: [u8; 4]) -> f32 {
    match base {
        BaseType::FLOAT => f32::from_le_bytes(bytes),
        BaseType::INT => i32::from_le_bytes(bytes) as f32,
        BaseType::BOOL => f32::from(u8::from(u32::from_le_bytes(bytes) != 0)),
        _ => u32::from_le_bytes(bytes) as f32,
    }
}

fn numbers(base: BaseType, bytes: &[u8]) -> Vec<f32> {
    let words = bytes.chunks_exact(4);
    words
        .map(|word| number(base, [word[0], word[1], word[2], word[3]]))
        .collect()
}

fn attributes(file: &Vbc<'_>, known: &Numbers, given: &vulkan::Draw, draw: &mut Draw<'_>) -> Result<()> {
    let [_, (_, symbols), _] = draw.vertex.tables();
    for symbol in symbols.iter().filter(|symbol| symbol.is_used()) {
        let name = symbol.name();
        if symbol.name == super::VERTEX_INDEX {
            draw.attributes.push((name, super::vertex_indices(given.vertices)));
            continue;
        }
        let location = known.inputs.get(&name);
        let data = location.and_then(|location| of_location(file, given, *location));
        let Some(data) = data else {
            let message = format!("the vertex program's attribute {name} is no input of the file");
            return Err(Error::input(message));
        };
        draw.attributes.push((name, data));
    }
    Ok(())
}

/// What all vertices have at a location: a column of a matrix, an element of an array, or all of an input.
fn of_location(file: &Vbc<'_>, given: &vulkan::Draw, location: u32) -> Option<Vec<[f32; 4]>> {
    let locations = |input: &vbc::Variable| u32::from(input.dims[1]) * u32::from(input.array);
    let input = file.inputs().find(|input| {
        let first = u32::from(input.location);
        (first..first + locations(input)).contains(&location)
    })?;
    let all = given.vertex_data.get(&input.location)?;
    let (rows, at) = (
        usize::from(input.dims[0]).max(1),
        (location - u32::from(input.location)) as usize,
    );
    let vertex = |bytes: &[u8]| {
        let mut value = [0.0, 0.0, 0.0, 1.0];
        let numbers = numbers(input.base, &bytes[4 * rows * at..4 * rows * (at + 1)]);
        value
            .iter_mut()
            .zip(numbers)
            .for_each(|(value, number)| *value = number);
        value
    };
    let size = 4 * rows * locations(&input) as usize;
    Some(all.chunks_exact(size).map(vertex).collect())
}

/// The members of the uniform that one of the programs has; code that was not stripped calls them `block.member`.
fn uniforms(file: &Vbc<'_>, given: &vulkan::Draw, draw: &mut Draw<'_>) {
    let programs = [draw.vertex, draw.fragment].into_iter();
    let mut names: Vec<String> = programs
        .flat_map(|program| program.tables()[0].1)
        .map(|symbol| symbol.name())
        .collect();
    names.sort();
    names.dedup();
    for member in file.uniform().iter().flat_map(|uniform| uniform.members()) {
        let own = String::from_utf8_lossy(member.name);
        let start = member.offset as usize;
        let Some(bytes) = given.uniform.get(start..start + member.extent() as usize) else {
            continue;
        };
        for name in names.iter().filter(|name| name.rsplit('.').next() == Some(&*own)) {
            draw.uniforms.push((name.clone(), numbers(member.base, bytes)));
        }
    }
}

fn textures(known: &Numbers, given: &vulkan::Draw, draw: &mut Draw<'_>) -> Result<()> {
    let [(_, symbols), ..] = draw.fragment.tables();
    for symbol in symbols {
        let is_cube = symbol.kind == SymbolType::SAMPLER_CUBE;
        if !is_cube && symbol.kind != SymbolType::SAMPLER_2D {
            continue;
        }
        let name = symbol.name();
        let slot = known.slots.get(&name);
        let Some(SlotData::Image(texels, sampler)) = slot.and_then(|slot| given.slots.get(slot)) else {
            return Err(Error::input(format_args!(
                "the fragment program's texture {name} is no image of the file"
            )));
        };
        let (width, height, rgba) = image(texels, is_cube).within(|| format!("texture {name}"))?;
        let image = Image {
            width,
            height,
            rgba,
            linear: sampler.linear,
            repeat: sampler.repeat,
        };
        draw.textures.push((name, image));
    }
    Ok(())
}

/// An image's size and texels in eight bits.
fn image(texels: &Texels, is_cube: bool) -> Result<(u32, u32, Vec<u8>)> {
    let fits = match texels.dim {
        Dim::D2 => !is_cube && texels.layers == 1,
        Dim::Cube => is_cube && texels.layers == 6,
        _ => false,
    };
    if !fits || texels.format.is_integer() {
        return Err(Error::scene(format_args!(
            "a Mali-400 samples 2D and cube images of numbers from 0 to 1, not {:?} of {:?}",
            texels.dim, texels.format
        )));
    }
    if texels.levels != 1 {
        return Err(Error::scene(
            "levels mean nothing to the pictures that the driver makes: Vulkan takes them",
        ));
    }
    let byte = |value: f64| (value.clamp(0.0, 1.0) * 255.0).round() as u8;
    let all = texels.bytes.chunks_exact(texels.format.size());
    let rgba = all.flat_map(|texel| texels.format.decode(texel).map(byte)).collect();
    let [width, height, _] = texels.extent;
    Ok((width, height, rgba))
}
