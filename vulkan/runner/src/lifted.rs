//! Pairs of Mali-400 programs on Vulkan: lifted to SPIR-V, packed as a VBC, drawn with the scene they have on the
//! emulator.

use crate::error::{Error, Result};
use crate::mali::{Pair, prepare};
use emulator::driver::{self, Draw, Image, PrimitiveMode};
use lift::interface::{Interface, Shape, identifier};
use lift::{Convention, Options};
use loader::mbs::Program;
use loader::spirv::transform::{self, Editor};
use loader::spirv::{self, ModuleIndex, class, op};
use loader::vbc::pack::{Names, pack};
use loader::vbc::{self, Stage};
use scene::harness;
use scene::picture::Picture;
use scene::{self, Blend, Compare, Cull, Filter, Numbers, Scene, Slot, Topology, Wrap};
use translate::{Target, write};
use vulkan::Context;

/// A vertex and a fragment program as a VBC for a target of a size: `exact` keeps the hardware's rounding. Rows are
/// Vulkan's.
///
/// # Errors
/// A construct that SPIR-V cannot express; uniforms or varyings of the two programs that do not match.
pub fn to_vbc(programs: [&Program; 2], [width, height]: [u32; 2], exact: bool) -> Result<Vec<u8>> {
    let [mut vertex, mut fragment] = programs.map(lift::interface);
    Interface::link(&vertex, &mut fragment)?;
    Interface::share([&mut vertex, &mut fragment])?;
    let (x, y) = (width as f32 / 2.0, height as f32 / 2.0);
    let options = Options {
        exact,
        convention: Convention {
            rows_down: true,
            height: Some(height as f32),
        },
        viewport: Some([x, -y, 0.5, 0.0, x, y, 0.5, 0.0]),
    };
    let words = |program: &Program, interface| -> Result<Vec<u32>> {
        let shader = lift::lift(program.stage, &program.code, interface, &options)?;
        let bytes = write(&shader, Target::Spirv, &Default::default())?;
        without_cleared_memory(&spirv::to_words(&bytes)?)
    };
    let stages = [
        (Stage::Vert, words(programs[0], &vertex)?),
        (Stage::Frag, words(programs[1], &fragment)?),
    ];
    Ok(vbc::write(&pack(&stages, &Names::default())?)?)
}

/// Removes the initialisers of private arrays: the hardware does not clear them either, and a driver's compiler takes
/// minutes for thousands of zeros.
fn without_cleared_memory(words: &[u32]) -> Result<Vec<u32>> {
    let index = ModuleIndex::new(words)?;
    let mut module = Editor::new(&index)?;
    for instruction in &mut module.body {
        // Type, result, storage class, initial value.
        let &[_, ty, _, class::FUNCTION, _] = instruction.as_slice() else {
            continue;
        };
        let is_array = index.pointee(ty).is_some_and(|pointee| index.array(pointee).is_some());
        if transform::opcode(instruction) == op::VARIABLE && is_array {
            instruction.truncate(4);
            *instruction = transform::seal(std::mem::take(instruction));
        }
    }
    Ok(module.words())
}

/// Draws a pair on a Vulkan device with the scene it would have on the emulator.
///
/// # Errors
/// As [`to_vbc`], and errors of the scene and the device.
pub fn draw(context: &Context, pair: &Pair, scene: &Scene, exact: bool) -> Result<Picture> {
    run(context, &prepare(pair, scene)?, exact)
}

/// Runs a draw of the emulator on a Vulkan device.
///
/// # Errors
/// As [`draw`].
pub fn run(context: &Context, draw: &Draw<'_>, exact: bool) -> Result<Picture> {
    let bytes = to_vbc([draw.vertex, draw.fragment], draw.size, exact)?;
    let mut scene = vulkan_scene(draw)?;
    // The shader contains only what its programs read.
    let file = vbc::read(&bytes)?;
    let members = file.uniform().into_iter().flat_map(|uniform| uniform.members());
    let members: Vec<String> = members
        .map(|member| String::from_utf8_lossy(member.name).into_owned())
        .collect();
    scene.uniform.retain(|name, _| members.contains(name));
    let slots: Vec<String> = file.bindings().map(|binding| binding.slot.to_string()).collect();
    scene.slots.retain(|slot, _| slots.contains(slot));
    let inputs: Vec<String> = file.inputs().map(|input| input.location.to_string()).collect();
    scene.inputs.retain(|location, _| inputs.contains(location));
    let drawn = harness::draw(context, &bytes, &scene)?;
    let target = drawn.frame.targets.first();
    Ok(Picture::of(
        target.ok_or_else(|| Error::input("the pair wrote no picture"))?,
    ))
}

/// A scene with all inputs and state of a draw on the emulator.
fn vulkan_scene(draw: &Draw<'_>) -> Result<Scene> {
    if draw.indices.is_some() {
        return Err(Error::input("indices have no place in a scene"));
    }
    let [vertex, fragment] = [draw.vertex, draw.fragment].map(lift::interface);
    let mut scene = Scene {
        size: Some(draw.size),
        vertices: Some(draw.count),
        topology: Some(topology(draw.mode)?),
        clear: Some(draw.clear),
        cull: Some(match draw.cull {
            driver::Cull::None => Cull::None,
            driver::Cull::Front => Cull::Front,
            driver::Cull::Back => Cull::Back,
        }),
        blend: Some(match draw.blend {
            driver::Blend::None => Blend::None,
            driver::Blend::Alpha => Blend::Alpha,
            driver::Blend::Premultiplied => Blend::Premultiplied,
            driver::Blend::Additive => Blend::Additive,
            driver::Blend::Multiply => Blend::Multiply,
        }),
        depth: draw.depth.map(|depth| scene::Depth {
            compare: compare(depth.compare),
            write: depth.write,
            clear: draw.clear_depth,
        }),
        ..Scene::default()
    };
    for input in &vertex.inputs {
        if let Some((_, data)) = draw.attributes.iter().find(|(name, _)| identifier(name) == input.name) {
            let vertices = data
                .iter()
                .map(|vertex| numbers(&vertex[..usize::from(input.components)]));
            scene
                .inputs
                .insert(input.location.to_string(), Numbers::Many(vertices.collect()));
        }
    }
    for (name, values) in &draw.uniforms {
        let mut members = [&vertex, &fragment]
            .into_iter()
            .flat_map(|interface| &interface.uniforms);
        let name = identifier(name);
        if let Some(member) = members.find(|member| member.name == name) {
            uniform(&mut scene, name, values, &member.shape);
        }
    }
    for sampler in &fragment.samplers {
        if let Some((_, image)) = draw.textures.iter().find(|(name, _)| identifier(name) == sampler.name) {
            scene
                .slots
                .insert((2 * sampler.number).to_string(), slot(image, sampler.cube));
        }
    }
    Ok(scene)
}

/// Sets a uniform's numbers; naga splits matrices of two rows into columns.
fn uniform(scene: &mut Scene, name: String, values: &[f32], shape: &Shape) {
    if (shape.rows, shape.elements) != (2, None) || shape.columns < 2 {
        scene.uniform.insert(name, elements(values, shape));
        return;
    }
    for (column, values) in values.chunks(2).enumerate() {
        scene.uniform.insert(format!("{name}_col{column}"), numbers(values));
    }
}

/// A uniform's numbers as the lifted one has them: elements of an array that are no matrices are vectors of four.
fn elements(values: &[f32], shape: &Shape) -> Numbers {
    if shape.elements.is_none() || shape.columns > 1 {
        return numbers(values);
    }
    let padded = values.chunks(usize::from(shape.rows)).flat_map(|element| {
        let mut vector = [0.0; 4];
        vector.iter_mut().zip(element).for_each(|(to, from)| *to = *from);
        vector
    });
    numbers(&padded.collect::<Vec<f32>>())
}

fn numbers(values: &[f32]) -> Numbers {
    Numbers::Many(values.iter().map(|value| Numbers::One(f64::from(*value))).collect())
}

fn slot(image: &Image, cube: bool) -> Slot {
    let texels = image.rgba.iter().map(|byte| Numbers::One(f64::from(*byte) / 255.0));
    Slot {
        texels: Some(Numbers::Many(texels.collect())),
        size: Some(vec![image.width, image.height]),
        layers: cube.then_some(6),
        filter: Some(if image.linear { Filter::Linear } else { Filter::Nearest }),
        wrap: Some(if image.repeat { Wrap::Repeat } else { Wrap::Clamp }),
        ..Slot::default()
    }
}

fn topology(mode: PrimitiveMode) -> Result<Topology> {
    Ok(match mode {
        PrimitiveMode::Points => Topology::Points,
        PrimitiveMode::Lines => Topology::Lines,
        PrimitiveMode::LineStrip => Topology::LineStrip,
        PrimitiveMode::Triangles => Topology::Triangles,
        PrimitiveMode::TriangleStrip => Topology::TriangleStrip,
        PrimitiveMode::TriangleFan => Topology::TriangleFan,
        other => {
            return Err(Error::input(format_args!(
                "{} have no topology in Vulkan",
                other.label()
            )));
        }
    })
}

fn compare(compare: driver::Compare) -> Compare {
    match compare {
        driver::Compare::Never => Compare::Never,
        driver::Compare::Less => Compare::Less,
        driver::Compare::Equal => Compare::Equal,
        driver::Compare::LessEqual => Compare::LessOrEqual,
        driver::Compare::Greater => Compare::Greater,
        driver::Compare::NotEqual => Compare::NotEqual,
        driver::Compare::GreaterEqual => Compare::GreaterOrEqual,
        driver::Compare::Always => Compare::Always,
    }
}
