//! Putting two programs together: which output of the vertices is which input of the fragments, where uniforms,
//! attributes and textures go (docs/spec/mbs.md, section 4).
//!
//! Vendor drivers patch the stores of the vertex program; here the code stays as it is, and the output descriptors put
//! each output where the fragment program looks for it.

use super::draw::{Draw, ErrorKind, Image, Result};
use loader::mbs::{Program, Stage, Symbol, SymbolType};
use num::half;

/// An output of the vertex program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// `gl_Position`.
    Position,
    /// `gl_PointSize`.
    PointSize,
    /// A varying: float number of the fragment program's, and components.
    Varying(u32, u32),
    /// Nothing the fragments want.
    Unused,
}

/// How programs, and what they are given, fit together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Linked {
    /// What each output of the vertex program is, by number.
    pub outputs: Vec<Output>,
    /// Floats of the fragments' varyings.
    pub varying_floats: u32,
    /// Attributes by number: four floats a vertex, or nothing.
    pub attributes: Vec<Option<Vec<[f32; 4]>>>,
    /// The vertex program's uniforms and constants.
    pub vertex_uniforms: Vec<f32>,
    /// The fragment program's uniforms, as fp16.
    pub fragment_uniforms: Vec<u16>,
    /// Textures by sampler number.
    pub textures: Vec<Image>,
    /// Address of the positions, once there is one.
    pub positions: u32,
}

/// The kinds of textures.
const SAMPLERS: [SymbolType; 3] = [
    SymbolType::SAMPLER_2D,
    SymbolType::SAMPLER_CUBE,
    SymbolType::SAMPLER_EXTERNAL,
];

fn fail<T>(message: String) -> Result<T> {
    Err(ErrorKind::Link(message).into())
}

/// Columns or elements of a symbol: how many, floats of each, and from one to the next.
pub fn elements(symbol: &Symbol) -> (u32, u32, u32) {
    let (components, entries) = (u32::from(symbol.components), u32::from(symbol.entries.max(1)));
    match symbol.kind {
        SymbolType::MATRIX => (
            components * entries,
            components,
            u32::from(symbol.stride) / components.max(1),
        ),
        _ => (entries, components, u32::from(symbol.stride)),
    }
}

/// Links a draw.
///
/// # Errors
/// When a varying of the fragments is not an output of the vertices, an attribute or texture is not given, or something
/// has a size that does not fit.
pub fn link(draw: &Draw<'_>) -> Result<Linked> {
    if draw.vertex.stage != Stage::Vertex || draw.fragment.stage != Stage::Fragment {
        return fail("a vertex program and a fragment program are needed, in this order".to_owned());
    }
    let [width, height] = draw.size;
    if !(1..=4096).contains(&width) || !(1..=4096).contains(&height) {
        return fail(format!(
            "a picture of {width}x{height}: the hardware draws 1x1 to 4096x4096"
        ));
    }
    if let Some(before) = &draw.before {
        let pixels = (width * height) as usize;
        let depths = before.depth_stencil.len();
        if before.rgba.len() != 4 * pixels || depths != 0 && depths != pixels {
            return fail(format!("contents of other than {width}x{height} pixels"));
        }
    }
    let mut linked = Linked::default();
    varyings(draw, &mut linked)?;
    attributes(draw, &mut linked)?;
    uniforms(draw, &mut linked)?;
    textures(draw, &mut linked)?;
    Ok(linked)
}

fn set(outputs: &mut Vec<Output>, number: u32, output: Output) -> Result<()> {
    let number = number as usize;
    if number >= 16 {
        return fail(format!("output {number} of the vertex program"));
    }
    if outputs.len() <= number {
        outputs.resize(number + 1, Output::Unused);
    }
    outputs[number] = output;
    Ok(())
}

fn varyings(draw: &Draw<'_>, linked: &mut Linked) -> Result<()> {
    let [_, _, (_, outputs)] = draw.vertex.tables();
    let [_, _, (_, inputs)] = draw.fragment.tables();
    let output = |name: &[u8]| outputs.iter().find(|symbol| symbol.name == name && symbol.is_used());
    let Some(position) = output(b"gl_Position") else {
        return fail("the vertex program has no gl_Position".to_owned());
    };
    set(&mut linked.outputs, u32::from(position.offset) / 4, Output::Position)?;
    if let Some(size) = output(b"gl_PointSize") {
        set(&mut linked.outputs, u32::from(size.offset) / 4, Output::PointSize)?;
    }
    for input in inputs.iter().filter(|symbol| symbol.is_used()) {
        let Some(from) = output(&input.name) else {
            return fail(format!(
                "the fragment program's varying {} is not an output of the vertex program",
                input.name()
            ));
        };
        let ((count, floats, step), (have, have_floats, _)) = (elements(input), elements(from));
        if count > have || floats > have_floats {
            return fail(format!(
                "{} is {} behind, {} in front",
                input.name(),
                input.type_name(),
                from.type_name()
            ));
        }
        for element in 0..count {
            let at = u32::from(input.offset) + element * step;
            // The vertex program's outputs are vec4s, whatever their size.
            set(
                &mut linked.outputs,
                u32::from(from.offset) / 4 + element,
                Output::Varying(at, floats),
            )?;
            linked.varying_floats = linked.varying_floats.max(at + floats);
        }
    }
    Ok(())
}

fn attributes(draw: &Draw<'_>, linked: &mut Linked) -> Result<()> {
    let [_, (_, symbols), _] = draw.vertex.tables();
    let highest = draw.indices.as_ref().map_or(draw.count.checked_sub(1), |all| {
        all.iter().max().map(|at| u32::from(*at))
    });
    for symbol in symbols.iter().filter(|symbol| symbol.is_used()) {
        let number = usize::from(symbol.offset / 4);
        if number >= 16 {
            return fail(format!("attribute {number}"));
        }
        let Some((_, data)) = draw.attributes.iter().find(|(name, _)| name.as_bytes() == symbol.name) else {
            return fail(format!("the attribute {} is not given", symbol.name()));
        };
        if highest.is_some_and(|highest| highest as usize >= data.len()) {
            return fail(format!(
                "{} vertices of the attribute {}, more are drawn",
                data.len(),
                symbol.name()
            ));
        }
        if linked.attributes.len() <= number {
            linked.attributes.resize(number + 1, None);
        }
        linked.attributes[number] = Some(data.clone());
    }
    Ok(())
}

/// Window scale and offset of clip coordinates; y points down in the picture's rows.
fn viewport([width, height]: [u32; 2]) -> [f32; 8] {
    let (x, y) = (width as f32 / 2.0, height as f32 / 2.0);
    [x, -y, 0.5, 0.0, x, y, 0.5, 0.0]
}

/// What the runtime gives programs that ask for it (docs/spec/mbs.md, section 4).
fn runtime(name: &[u8], size: [u32; 2]) -> Option<Vec<f32>> {
    Some(match name {
        b"gl_mali_ViewportTransform" => viewport(size).to_vec(),
        b"gl_mali_PointSizeParameters" => vec![1.0, 100.0, 1.0, 0.0],
        b"gl_mali_FragCoordScale" => vec![1.0, 1.0, 1.0, 1.0],
        b"gl_mali_PointCoordScaleBias" => vec![1.0, 1.0, 0.0, 0.0],
        b"gl_mali_DerivativeScale" => vec![1.0, 1.0],
        // Programs of the project's own compiler.
        b"skrymir_TargetHeight" => vec![size[1] as f32],
        _ => return None,
    })
}

fn uniforms(draw: &Draw<'_>, linked: &mut Linked) -> Result<()> {
    for (name, _) in &draw.uniforms {
        let known = [draw.vertex, draw.fragment].iter().any(|program| {
            program.tables()[0]
                .1
                .iter()
                .any(|symbol| symbol.name == name.as_bytes())
        });
        if !known {
            return fail(format!("no program has the uniform {name}"));
        }
    }
    linked.vertex_uniforms = block(draw, draw.vertex)?;
    let floats = block(draw, draw.fragment)?;
    linked.fragment_uniforms = floats.into_iter().map(half::from_f32).collect();
    Ok(())
}

/// Whether a symbol is a texture's, which has no numbers.
pub fn is_sampler(symbol: &Symbol) -> bool {
    SAMPLERS.contains(&symbol.kind)
}

/// A program's uniforms as floats: initial values, what the runtime gives, what the draw gives.
fn block(draw: &Draw<'_>, program: &Program) -> Result<Vec<f32>> {
    let [(_, symbols), ..] = program.tables();
    let mut floats = Vec::new();
    for symbol in symbols.iter().filter(|symbol| symbol.is_used() && !is_sampler(symbol)) {
        let given = draw
            .uniforms
            .iter()
            .find(|(name, _)| name.as_bytes() == symbol.name)
            .map(|(_, values)| values.clone());
        let initial = || {
            symbol
                .initial
                .as_ref()
                .map(|words| words.iter().map(|word| f32::from_bits(*word)).collect())
        };
        let Some(values) = given.or_else(|| runtime(&symbol.name, draw.size)).or_else(initial) else {
            continue;
        };
        place(symbol, &values, &mut floats)?;
    }
    Ok(floats)
}

/// Puts a symbol's values where its elements lie: no more than its own components, for others share the vec4.
fn place(symbol: &Symbol, values: &[f32], floats: &mut Vec<f32>) -> Result<()> {
    let (count, components, step) = elements(symbol);
    if values.len() as u32 > count * components {
        return fail(format!(
            "{} numbers for {}, a {}",
            values.len(),
            symbol.name(),
            symbol.type_name()
        ));
    }
    for (element, values) in values.chunks(components.max(1) as usize).enumerate() {
        let start = usize::from(symbol.offset) + element * step as usize;
        if floats.len() < start + values.len() {
            floats.resize(start + values.len(), 0.0);
        }
        floats[start..start + values.len()].copy_from_slice(values);
    }
    Ok(())
}

/// Samplers in the order they lie; the code counts them in that order (\[?\]: seen with one only).
fn textures(draw: &Draw<'_>, linked: &mut Linked) -> Result<()> {
    let [(_, symbols), ..] = draw.fragment.tables();
    let mut samplers: Vec<&Symbol> = symbols
        .iter()
        .filter(|symbol| symbol.is_used() && is_sampler(symbol))
        .collect();
    samplers.sort_by_key(|symbol| symbol.offset);
    for sampler in samplers {
        let Some((_, image)) = draw.textures.iter().find(|(name, _)| name.as_bytes() == sampler.name) else {
            return fail(format!("the texture {} is not given", sampler.name()));
        };
        let faces = if sampler.kind == SymbolType::SAMPLER_CUBE { 6 } else { 1 };
        let wanted = u64::from(image.width) * u64::from(image.height) * 4 * faces;
        let sized = (1..=4096).contains(&image.width) && (1..=4096).contains(&image.height);
        if !sized || image.rgba.len() as u64 != wanted {
            return fail(format!(
                "{} bytes for the texture {} of {}x{}",
                image.rgba.len(),
                sampler.name(),
                image.width,
                image.height
            ));
        }
        linked.textures.push(image.clone());
    }
    Ok(())
}
