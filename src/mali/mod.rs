//! Pairs of Mali-400 programs and scenes: file in, picture out, without a GPU.
//!
//! Scenes are those of [`scene`](crate::scene), with names where shaders for Vulkan have numbers: `[inputs]` are
//! attributes, `[slots]` are textures by their sampler, `[uniform]` are uniforms of both programs. What is not said is
//! filled: `position` (or the first attribute) is the vertices of a triangle, the others are its corners' colours,
//! uniforms are 1 and matrices the identity. A VBC whose two stages are drawn has the scenes it has on Vulkan ([`vbc`]).

mod vbc;

use crate::args::PreprocessArgs;
use crate::compile::{Wanted, compile};
use crate::error::{Error, Result, Within};
use crate::outcome::read_bytes;
use crate::packed::{self, File};
use crate::picture::Picture;
use crate::scene::defaults::uniform_number;
use crate::scene::nearest;
use crate::scene::{Blend, Compare, Cull, Filter, Scene, Slot, Topology, Wrap};
use emulator::driver::{self, Depth, Draw, Image, Prepared, PrimitiveMode};
use emulator::exec::Engine;
use emulator::gpu::Gpu;
use emulator::memory::Memory;
use loader::mbs::{Mbs, Program, Stage, Symbol, SymbolType};
use loader::trace::{Pipe, Record, Trace};
use std::path::Path;
use translate::frontend::Settings;
use utgard::shader;

/// A vertex and a fragment program.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    /// Vertex program.
    pub vertex: Program,
    /// Fragment program.
    pub fragment: Program,
    /// The VBC both come from, if they do: its scenes are those it has on Vulkan.
    pub vbc: Option<Vec<u8>>,
}

/// A program of a file's bytes: MBS, the assembler's text, or a shader's source, which is compiled.
fn program(path: &Path, bytes: &[u8], stage: Stage, settings: &Settings) -> Result<Program> {
    let mbs = match std::str::from_utf8(bytes) {
        Ok(text) if shader::recognises(text) => shader::assemble(text).map_err(|error| {
            Error::input(format_args!(
                "mbs: {error}\n{}",
                error.render(text, &path.display().to_string()).trim_end()
            ))
        })?,
        // What is no source of any kind is judged as what it should be.
        _ if translate::Source::new(&path.to_string_lossy(), bytes).is_err() => {
            Mbs::read(bytes).within(|| path.display().to_string())?
        }
        _ => {
            let wanted = Wanted {
                stage: Some(match stage {
                    Stage::Vertex => compiler::Stage::Vertex,
                    Stage::Fragment => compiler::Stage::Fragment,
                }),
                settings,
                ..Wanted::default()
            };
            return Ok(compile(path, bytes, wanted)?.program);
        }
    };
    let found = mbs.program(stage)?;
    found.ok_or_else(|| Error::input(format_args!("{} has no {stage:?} program", path.display())))
}

impl Pair {
    /// Reads both programs.
    ///
    /// # Errors
    /// When a file cannot be read, or lacks the program.
    pub fn load(vertex: &Path, fragment: &Path, preprocess: &PreprocessArgs) -> Result<Self> {
        let bytes = read_bytes(vertex)?;
        if vertex == fragment {
            let settings = preprocess.settings([(vertex, bytes.as_slice())])?;
            return Self::of_stages(vertex, &bytes, &settings);
        }
        let more = read_bytes(fragment)?;
        let settings = &preprocess.settings([(vertex, bytes.as_slice()), (fragment, &more)])?;
        let pair = Self {
            vertex: program(vertex, &bytes, Stage::Vertex, settings)?,
            fragment: program(fragment, &more, Stage::Fragment, settings)?,
            vbc: None,
        };
        let file = |path, bytes| File {
            path,
            bytes,
            entries: &[],
            settings,
        };
        packed::linked(&file(vertex, &bytes), &file(fragment, &more))?;
        Ok(pair)
    }

    /// Both programs of one file's bytes; errors speak of `path`.
    ///
    /// # Errors
    /// When it lacks one of them.
    pub fn of_file(path: &Path, bytes: &[u8]) -> Result<Self> {
        Self::of_stages(path, bytes, Settings::NONE)
    }

    fn of_stages(path: &Path, bytes: &[u8], settings: &Settings) -> Result<Self> {
        Ok(Self {
            vertex: program(path, bytes, Stage::Vertex, settings)?,
            fragment: program(path, bytes, Stage::Fragment, settings)?,
            vbc: bytes.starts_with(&loader::vbc::MAGIC).then(|| bytes.to_vec()),
        })
    }
}

/// The draw a scene describes.
///
/// # Errors
/// What the scene says that does not fit.
pub fn prepare<'a>(pair: &'a Pair, scene: &Scene) -> Result<Draw<'a>> {
    if let Some(bytes) = &pair.vbc {
        return vbc::prepare(pair, bytes, scene);
    }
    foreign(scene)?;
    let mut draw = Draw::new(&pair.vertex, &pair.fragment, scene.size.unwrap_or([256, 256]));
    draw.mode = match scene.topology.unwrap_or(Topology::Triangles) {
        Topology::Points => PrimitiveMode::Points,
        Topology::Lines => PrimitiveMode::Lines,
        Topology::LineStrip => PrimitiveMode::LineStrip,
        Topology::Triangles => PrimitiveMode::Triangles,
        Topology::TriangleStrip => PrimitiveMode::TriangleStrip,
        Topology::TriangleFan => PrimitiveMode::TriangleFan,
        other => return Err(Error::scene(format_args!("a Mali-400 has no {other:?}"))),
    };
    draw.clear = scene.clear.unwrap_or(draw.clear);
    draw.cull = match scene.cull.unwrap_or(Cull::None) {
        Cull::None => driver::Cull::None,
        Cull::Front => driver::Cull::Front,
        Cull::Back => driver::Cull::Back,
    };
    draw.blend = match scene.blend.unwrap_or(Blend::None) {
        Blend::None => driver::Blend::None,
        Blend::Alpha => driver::Blend::Alpha,
        Blend::Premultiplied => driver::Blend::Premultiplied,
        Blend::Additive => driver::Blend::Additive,
        Blend::Multiply => driver::Blend::Multiply,
    };
    if let Some(depth) = &scene.depth {
        draw.depth = Some(Depth {
            compare: compare(depth.compare),
            write: depth.write,
        });
        draw.clear_depth = depth.clear;
    }
    attributes(pair, scene, &mut draw)?;
    for (name, numbers) in &scene.uniform {
        let programs = [&pair.vertex, &pair.fragment].into_iter();
        let mut symbols = programs.flat_map(|program| program.tables()[0].1);
        let Some(symbol) = symbols.find(|symbol| symbol.name == name.as_bytes()) else {
            let programs = [&pair.vertex, &pair.fragment].into_iter();
            let known = programs.flat_map(|program| program.tables()[0].1).map(Symbol::name);
            let hint = nearest::hint(name, known);
            return Err(Error::scene(format_args!("no program has the uniform {name}{hint}")));
        };
        let numbers: Vec<f32> = numbers.flat().into_iter().map(|number| number as f32).collect();
        fits(symbol, numbers.len())?;
        draw.uniforms.push((name.clone(), numbers));
    }
    unsaid_uniforms(pair, &mut draw);
    textures(pair, scene, &mut draw)?;
    Ok(draw)
}

/// Refuses numbers that are not whole values of a uniform: one, or as many as an array has at most.
fn fits(symbol: &Symbol, given: usize) -> Result<()> {
    let components = usize::from(symbol.components).max(1);
    let one = match symbol.kind {
        SymbolType::FLOAT | SymbolType::INT | SymbolType::BOOL => components,
        SymbolType::MATRIX => components * components,
        _ => return Ok(()),
    };
    let most = one * usize::from(symbol.entries).max(1);
    if given > 0 && given.is_multiple_of(one) && given <= most {
        return Ok(());
    }
    Err(Error::scene(format_args!(
        "the uniform {}, a {}, takes {most} numbers; {given} are given",
        symbol.name(),
        symbol.type_name()
    )))
}

/// Refuses what a scene can say and a Mali-400 has no place for.
fn foreign(scene: &Scene) -> Result<()> {
    let keys = [
        ("instances", scene.instances.is_some()),
        ("draws", scene.draws.is_some()),
        ("patch-points", scene.patch_points.is_some()),
        ("target", scene.target.is_some()),
        ("subpass", !scene.subpass.is_empty()),
    ];
    if let Some((key, _)) = keys.iter().find(|(_, said)| *said) {
        return Err(Error::scene(format_args!("{key} means nothing to a Mali-400")));
    }
    for (name, slot) in &scene.slots {
        let keys = [
            ("layers", slot.layers.is_some()),
            ("levels", slot.levels.is_some()),
            ("format", slot.format.is_some()),
            ("floats", slot.floats.is_some()),
            ("ints", slot.ints.is_some()),
            ("uints", slot.uints.is_some()),
            ("at", slot.at != 0),
            (
                "size",
                slot.size.is_some() && slot.texels.is_none() && slot.fill.is_none(),
            ),
        ];
        if let Some((key, _)) = keys.iter().find(|(_, said)| *said) {
            return Err(Error::scene(format_args!(
                "slot {name}: {key} means nothing for a texture of a Mali-400"
            )));
        }
    }
    Ok(())
}

fn compare(compare: Compare) -> driver::Compare {
    match compare {
        Compare::Never => driver::Compare::Never,
        Compare::Less => driver::Compare::Less,
        Compare::Equal => driver::Compare::Equal,
        Compare::LessOrEqual => driver::Compare::LessEqual,
        Compare::Greater => driver::Compare::Greater,
        Compare::NotEqual => driver::Compare::NotEqual,
        Compare::GreaterOrEqual => driver::Compare::GreaterEqual,
        Compare::Always => driver::Compare::Always,
    }
}

/// What the compiler calls the attribute that counts the vertices.
const VERTEX_INDEX: &[u8] = b"gl_VertexIndex";

pub(crate) fn vertex_indices(count: u32) -> Vec<[f32; 4]> {
    (0..count).map(|at| [at as f32, 0.0, 0.0, 1.0]).collect()
}

/// Corners of the triangle that is drawn when nothing is said, and their colours.
const TRIANGLE: [[f32; 4]; 3] = [[0.0, 0.8, 0.0, 1.0], [-0.8, -0.8, 0.0, 1.0], [0.8, -0.8, 0.0, 1.0]];
const COLORS: [[f32; 4]; 3] = [[1.0, 0.0, 0.0, 1.0], [0.0, 1.0, 0.0, 1.0], [0.0, 0.0, 1.0, 1.0]];

fn attributes(pair: &Pair, scene: &Scene, draw: &mut Draw<'_>) -> Result<()> {
    let [_, (_, symbols), _] = pair.vertex.tables();
    let used: Vec<&Symbol> = symbols.iter().filter(|symbol| symbol.is_used()).collect();
    if let Some(name) = scene
        .inputs
        .keys()
        .find(|name| !used.iter().any(|symbol| symbol.name == name.as_bytes()))
    {
        let hint = nearest::hint(name, used.iter().map(|symbol| symbol.name()));
        return Err(Error::scene(format_args!(
            "the vertex program has no attribute {name}{hint}"
        )));
    }
    let mut counts = Vec::new();
    for symbol in &used {
        let Some(numbers) = scene.inputs.get(&symbol.name()) else {
            continue;
        };
        let flat = numbers.flat();
        let components = usize::from(symbol.components).clamp(1, 4);
        if flat.len() % components != 0 {
            return Err(Error::scene(format_args!(
                "{} numbers for {}, a {}",
                flat.len(),
                symbol.name(),
                symbol.type_name()
            )));
        }
        let vertex = |numbers: &[f64]| {
            let mut value = [0.0, 0.0, 0.0, 1.0];
            value
                .iter_mut()
                .zip(numbers)
                .for_each(|(value, number)| *value = *number as f32);
            value
        };
        let data: Vec<[f32; 4]> = flat.chunks_exact(components).map(vertex).collect();
        counts.push(data.len());
        draw.attributes.push((symbol.name(), data));
    }
    let count = scene
        .vertices
        .or(counts.iter().min().map(|count| *count as u32))
        .unwrap_or(3);
    draw.count = count;
    let position = used
        .iter()
        .find(|symbol| symbol.name().to_lowercase().contains("pos"))
        .or(used.first())
        .map(|s| s.name());
    for symbol in used.iter().filter(|symbol| !scene.inputs.contains_key(&symbol.name())) {
        if symbol.name == VERTEX_INDEX {
            draw.attributes.push((symbol.name(), vertex_indices(count)));
            continue;
        }
        let corners = if Some(symbol.name()) == position {
            TRIANGLE
        } else {
            COLORS
        };
        let data = (0..count as usize).map(|at| corners[at % 3]).collect();
        draw.attributes.push((symbol.name(), data));
    }
    Ok(())
}

/// Uniforms nobody gives are as in scenes for Vulkan: matrices the identity, numbers 1, or 0 where the name speaks of a
/// place. Arrays, and what the file has a value for or the runtime gives, stay as they are.
fn unsaid_uniforms(pair: &Pair, draw: &mut Draw<'_>) {
    let symbols = [&pair.vertex, &pair.fragment]
        .into_iter()
        .flat_map(|program| program.tables()[0].1);
    for symbol in symbols.filter(|symbol| symbol.entries == 0 && symbol.initial.is_none()) {
        let is_said = draw.uniforms.iter().any(|(name, _)| name.as_bytes() == symbol.name);
        let size = usize::from(symbol.components);
        let values = match symbol.kind {
            _ if is_said || symbol.name.starts_with(b"gl_") => continue,
            SymbolType::MATRIX => (0..size * size)
                .map(|at| f32::from(u8::from(at % (size + 1) == 0)))
                .collect(),
            SymbolType::FLOAT | SymbolType::INT | SymbolType::BOOL => vec![uniform_number(&symbol.name) as f32; size],
            _ => continue,
        };
        draw.uniforms.push((symbol.name(), values));
    }
}

fn textures(pair: &Pair, scene: &Scene, draw: &mut Draw<'_>) -> Result<()> {
    let [(_, symbols), ..] = pair.fragment.tables();
    let samplers = symbols.iter().filter(|symbol| {
        matches!(
            symbol.kind,
            SymbolType::SAMPLER_2D | SymbolType::SAMPLER_CUBE | SymbolType::SAMPLER_EXTERNAL
        )
    });
    let samplers: Vec<&Symbol> = samplers.collect();
    let known = |name: &&String| samplers.iter().any(|sampler| sampler.name() == **name);
    if let Some(name) = scene.slots.keys().find(|name| !known(name)) {
        let hint = nearest::hint(name, samplers.iter().map(|sampler| sampler.name()));
        return Err(Error::scene(format_args!(
            "the fragment program has no texture {name}{hint}"
        )));
    }
    for sampler in samplers {
        let slot = scene.slots.get(&sampler.name()).cloned().unwrap_or_default();
        let mut image = image(&slot, &scene.folder).within(|| format!("texture {}", sampler.name()))?;
        if sampler.kind == SymbolType::SAMPLER_CUBE && image.rgba.len() == (image.width * image.height * 4) as usize {
            image.rgba = image.rgba.repeat(6);
        }
        draw.textures.push((sampler.name(), image));
    }
    Ok(())
}

/// A texture: a file, one texel, all texels, or a checkerboard where nothing is said.
fn image(slot: &Slot, folder: &Path) -> Result<Image> {
    let byte = |value: f64| (value.clamp(0.0, 1.0) * 255.0).round() as u8;
    let (width, height, rgba) = if let Some(path) = &slot.image {
        let picture = Picture::load(&folder.join(path))?;
        (picture.width, picture.height, picture.rgba)
    } else if let Some(texels) = slot.texels.as_ref().or(slot.fill.as_ref()) {
        let mut rgba: Vec<u8> = texels.flat().into_iter().map(byte).collect();
        let [width, height] = match slot.size.as_deref() {
            Some([width, height, ..]) => [*width, *height],
            _ => [rgba.len() as u32 / 4, 1],
        };
        if slot.texels.is_none() {
            rgba = filled(&rgba, width, height)?;
        }
        (width, height, rgba)
    } else {
        let texel = |at: u32| {
            if (at % 8 / 4 + at / 8 / 4).is_multiple_of(2) {
                [255; 4]
            } else {
                [64, 64, 64, 255]
            }
        };
        (8, 8, (0..64).flat_map(texel).collect())
    };
    let linear = slot.filter.unwrap_or(Filter::Linear) == Filter::Linear;
    let repeat = slot.wrap.unwrap_or(Wrap::Repeat) == Wrap::Repeat;
    Ok(Image {
        width,
        height,
        rgba,
        linear,
        repeat,
    })
}

/// The longest side of a texture.
const LONGEST: u32 = 4096;

/// One texel for all of a texture.
fn filled(texel: &[u8], width: u32, height: u32) -> Result<Vec<u8>> {
    if texel.len() != 4 {
        return Err(Error::scene(format_args!(
            "fill takes 4 numbers, {} are given",
            texel.len()
        )));
    }
    if width > LONGEST || height > LONGEST {
        return Err(Error::scene(format_args!(
            "a texture has {LONGEST} texels a side at most"
        )));
    }
    Ok(texel.repeat(width as usize * height as usize))
}

/// Draws a pair.
///
/// # Errors
/// What does not fit, or the fault of a job.
pub fn draw(pair: &Pair, scene: &Scene, engine: Box<dyn Engine>, threads: usize) -> Result<Picture> {
    run(&prepare(pair, scene)?, engine, threads)
}

/// Does what a draw says.
///
/// # Errors
/// The fault of a job.
pub fn run(draw: &Draw<'_>, engine: Box<dyn Engine>, threads: usize) -> Result<Picture> {
    let mut gpu = Gpu::new(engine).with_threads(threads);
    let picture = driver::draw(&mut gpu, draw)?;
    Ok(Picture {
        width: picture.width,
        height: picture.height,
        rgba: picture.rgba,
    })
}

/// A draw as a recording of its two jobs, which [`crate::replay`] runs.
///
/// # Errors
/// What does not fit.
pub fn record(pair: &Pair, scene: &Scene) -> Result<Vec<u8>> {
    let draw = prepare(pair, scene)?;
    let mut gpu = Gpu::new(Box::new(emulator::exec::scalar::Scalar));
    let prepared = driver::prepare(&mut gpu, &draw)?;
    Ok(recording(&gpu.memory, &prepared))
}

/// A prepared draw as a recording: the memory it is in, and its two jobs.
pub fn recording(memory: &Memory, prepared: &Prepared) -> Vec<u8> {
    let objects: Vec<_> = memory.objects().collect();
    let mut records = Vec::new();
    for (address, bytes) in &objects {
        let (address, size, flags) = (*address, bytes.len() as u32, 0);
        records.push(Record::Buffer { address, size, flags });
        let used = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        if used > 0 {
            let bytes = &bytes[..used];
            records.push(Record::Page { address, bytes });
        }
    }
    let (gp, pp) = prepared.frames();
    for (pipe, frame) in [(Pipe::Gp, gp), (Pipe::Pp, pp)] {
        records.push(Record::Submit {
            pipe,
            frame: frame.to_vec(),
            objects: objects.iter().map(|(address, _)| (*address, 3)).collect(),
        });
    }
    let trace = Trace {
        gpu: 1,
        pps: 1,
        records: records.into_iter().map(|record| (0, record)).collect(),
    };
    trace.write()
}
