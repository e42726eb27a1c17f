//! The draw that a scene has, for Mali-400 programs.
//!
//! The scene is applied to the same [`Interface`] and default data as on Vulkan, then converted for this GPU: attributes and
//! uniforms become floats, images eight bits per channel.

use super::symbols::{self, Numbers};
use super::{Pair, state};
use crate::error::{Error, Result, Within};
use crate::link::LinkedVbc;
use emulator::driver::{self, Draw, Image, PrimitiveMode};
use loader::mbs::SymbolType;
use loader::vbc::{self, BaseType, Variable, Vbc};
use scene::interface::Interface;
use scene::{Scene, apply};
use std::collections::{BTreeMap, BTreeSet};
use translate::{ShaderStage, Source};
use vulkan::{Dim, SlotData, Texels, vk};

/// Where the symbols of compiled programs are in a VBC.
fn numbers_of(file: &Vbc<'_>, made: &LinkedVbc) -> Result<Numbers> {
    let stage = |stage| {
        translate::read(&Source {
            any_layout: true,
            ..Source::new("file.vbc", &made.bytes)?.stage(stage)
        })
    };
    let (vertex, fragment) = (stage(ShaderStage::Vertex)?, stage(ShaderStage::Fragment)?);
    let locations = file.inputs().flat_map(|input| {
        let first = u32::from(input.location);
        first..first + u32::from(input.dims[1]) * u32::from(input.array)
    });
    let input = |location: u32| {
        let name = vertex.input_name(location).filter(|name| !name.is_empty());
        let of_source = || {
            made.sources
                .inputs
                .get(&u8::try_from(location).ok()?)
                .map(String::as_str)
        };
        let name = name.or_else(of_source);
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
    let mut slots: BTreeMap<String, u8> = file.bindings().map(slot).collect();
    let named = made.sources.slots.iter();
    slots.extend(named.map(|(number, name)| (name.clone(), *number)));
    Ok(Numbers {
        inputs: locations.map(input).collect(),
        slots,
    })
}

/// A pair's interface, for scenes.
///
/// # Errors
/// When the file of the pair cannot be read.
pub fn interface(pair: &Pair) -> Result<Interface> {
    // The numbers of symbols are not needed here; they require reading the stages.
    match &pair.vbc {
        Some(made) => Ok(Interface::of_vbc(&vbc::read(&made.bytes)?, &made.sources)),
        None => Ok(symbols::interface(pair).0),
    }
}

/// The same, and where its symbols are in it.
fn numbered(pair: &Pair) -> Result<(Interface, Numbers)> {
    let Some(made) = &pair.vbc else {
        return Ok(symbols::interface(pair));
    };
    let file = vbc::read(&made.bytes)?;
    Ok((Interface::of_vbc(&file, &made.sources), numbers_of(&file, made)?))
}

/// The draw a scene describes.
///
/// # Errors
/// A scene that does not fit the programs, or that a Mali-400 does not support.
pub fn prepare<'a>(pair: &'a Pair, scene: &Scene) -> Result<Draw<'a>> {
    let (interface, numbers) = numbered(pair)?;
    let given = apply::draw(&interface, scene)?;
    let samplers = || scene.slots.values().find_map(|slot| slot.sampler_key(&[]));
    if let Some(key) = scene.pipeline_key(&["stencil"]).or_else(samplers) {
        return Err(Error::scene(format_args!(
            "{key} is not set up by the driver for scenes on a Mali-400; Vulkan has it"
        )));
    }
    let mut draw = Draw::new(&pair.vertex, &pair.fragment, given.size);
    pipeline(&given, &mut draw)?;
    attributes(&interface, &numbers, &given, &mut draw)?;
    uniforms(&interface, scene, &given, &mut draw)?;
    textures(&numbers, &given, &mut draw)?;
    Ok(draw)
}

/// Notes about parts of a scene that the sources declare and the programs do not use.
///
/// # Errors
/// When the file of the pair cannot be read.
pub fn unused(pair: &Pair, scene: &Scene) -> Result<Vec<String>> {
    Ok(apply::unused(&interface(pair)?, scene))
}

fn pipeline(given: &vulkan::Draw, draw: &mut Draw<'_>) -> Result<()> {
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
            compare: state::compare(depth.compare.into()).map_err(Error::scene)?,
            write: depth.write,
        });
        draw.clear_depth = depth.clear;
    }
    if let Some(stencil) = given.stencil {
        let face = |face: &vk::StencilOpState| state::stencil(face).map_err(Error::scene);
        draw.stencil = Some([face(&stencil.front)?, face(&stencil.back)?]);
        draw.clear_stencil = stencil.clear as u8;
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

/// The compiler's name of the attribute with the vertex index.
const VERTEX_INDEX: &[u8] = b"gl_VertexIndex";

/// The value of that attribute at each vertex.
pub(crate) fn vertex_indices(count: u32) -> Vec<[f32; 4]> {
    (0..count).map(|at| [at as f32, 0.0, 0.0, 1.0]).collect()
}

fn attributes(interface: &Interface, known: &Numbers, given: &vulkan::Draw, draw: &mut Draw<'_>) -> Result<()> {
    let [_, (_, symbols), _] = draw.vertex.tables();
    for symbol in symbols.iter().filter(|symbol| symbol.is_used()) {
        let name = symbol.name();
        if symbol.name == VERTEX_INDEX {
            draw.attributes.push((name, vertex_indices(given.vertices)));
            continue;
        }
        let location = known.inputs.get(&name);
        let data = location.and_then(|location| of_location(interface, given, *location));
        let Some(data) = data else {
            let message = format!("the vertex program's attribute {name} is no input of the file");
            return Err(Error::input(message));
        };
        draw.attributes.push((name, data));
    }
    Ok(())
}

/// The data of all vertices at a location: a column of a matrix, an element of an array, or a whole input.
fn of_location(interface: &Interface, given: &vulkan::Draw, location: u32) -> Option<Vec<[f32; 4]>> {
    let mut inputs = interface.inputs.iter().map(|input| input.variable);
    let input: Variable = inputs.find(|input| {
        let first = u32::from(input.location);
        (first..first + input.locations()).contains(&location)
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
    let size = 4 * rows * input.locations() as usize;
    Some(all.chunks_exact(size).map(vertex).collect())
}

/// The uniform's members in the programs. A program's own value stays unless the scene has one.
///
/// # Errors
/// When the programs call members of two blocks by one name, and these have different values.
fn uniforms(interface: &Interface, scene: &Scene, given: &vulkan::Draw, draw: &mut Draw<'_>) -> Result<()> {
    // The used symbols of each program, and all its names.
    let programs = [draw.vertex, draw.fragment].map(|program| {
        let symbols = program.tables()[0].1;
        let names: BTreeSet<String> = symbols.iter().map(|symbol| symbol.name()).collect();
        let used: Vec<_> = symbols.iter().filter(|symbol| symbol.is_used()).collect();
        (used, names)
    });
    let members: BTreeSet<&[u8]> = interface.uniform.iter().map(|member| &*member.name).collect();
    let mut values: BTreeMap<String, Vec<f32>> = BTreeMap::new();
    for member in &interface.uniform {
        let own = String::from_utf8_lossy(&member.name);
        let end = member.offset + 4 * member.components() * member.elements;
        let Some(bytes) = given.uniform.get(member.offset..end) else {
            continue;
        };
        let is_given = || {
            let mut given = scene.uniform.keys().flat_map(|name| interface.parts(name));
            given.any(|part| part.member == member)
        };
        // Code that was not stripped calls a member `block.member`, a file of several blocks does, and a program of one
        // block does not.
        let is_called = |name: &str, names: &BTreeSet<String>| {
            let of_block = |whole: &str, part: &str| whole.split_once('.').is_some_and(|(_, rest)| rest == part);
            let is_bare = || !names.contains(&*own) && !members.contains(name.as_bytes());
            name == own || of_block(name, &own) || (of_block(&own, name) && is_bare())
        };
        let mut called = BTreeSet::new();
        for (symbols, names) in &programs {
            let open = symbols.iter().filter(|symbol| symbol.initial.is_none() || is_given());
            called.extend(open.map(|symbol| symbol.name()).filter(|name| is_called(name, names)));
        }
        let numbers = numbers(member.base, bytes);
        for name in called {
            let other = values.insert(name.clone(), numbers.clone());
            if other.is_some_and(|other| other != numbers) {
                return Err(Error::scene(format_args!(
                    "the programs call members of two blocks {name}: give both one value, or the members two names"
                )));
            }
        }
    }
    draw.uniforms.extend(values);
    Ok(())
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
            linear: sampler.mag_filter == vk::Filter::LINEAR,
            repeat: sampler.address_modes[0] == vk::SamplerAddressMode::REPEAT,
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
