//! Render states, texture descriptors and frames in words (docs/spec/mali/state.md, textures.md, frame.md).

use crate::blend::Factor;
use crate::fault::Result;
use crate::gpu::frame::{Frame, WriteBack};
use crate::gpu::state::{State, Stencil};
use crate::memory::Memory;
use crate::texture::{Descriptor, Layout};
use std::fmt::Write;
use utgard::frame::TargetLayout;
use utgard::pp;
use utgard::state::{Compare, Equation, FactorSource, StencilOp};
use utgard::texture::{Dimension, MAX_BYTES};

fn factor(factor: Factor) -> String {
    let alpha = if factor.alpha { ".a" } else { "" };
    let value = match factor.source {
        FactorSource::Zero => return if factor.complement { "1" } else { "0" }.to_owned(),
        FactorSource::Saturate | FactorSource::OldSaturate => "saturated source.a".to_owned(),
        FactorSource::Source
        | FactorSource::Destination
        | FactorSource::Constant
        | FactorSource::Second
        | FactorSource::Undocumented(_) => {
            format!("{}{alpha}", factor.source.label())
        }
    };
    if factor.complement {
        format!("(1 - {value})")
    } else {
        value
    }
}

fn equation(equation: Equation, [source, destination]: [Factor; 2]) -> String {
    let (s, d) = (factor(source), factor(destination));
    match equation {
        Equation::Subtract => format!("source * {s} - destination * {d}"),
        Equation::ReverseSubtract => format!("destination * {d} - source * {s}"),
        Equation::Min => format!("min(source * {s} + destination * {d}, destination)"),
        Equation::Max => format!("max(source * {s} + destination * {d}, destination)"),
        Equation::Add | Equation::Undocumented(_) => format!("source * {s} + destination * {d}"),
    }
}

/// How a state's colours and alphas meet what is there.
pub fn blending(state: &State) -> String {
    let [color, alpha] = state.blending.equations;
    format!(
        "colour = {}; alpha = {}",
        equation(color, state.blending.color),
        equation(alpha, state.blending.alpha)
    )
}

fn stencil(face: &Stencil) -> String {
    let [fail, depth_fail, pass] = face.operations.map(|operation| operation.name());
    format!(
        "{} to {} (mask {:#04x}); on failure {fail}, on depth failure {depth_fail}, else {pass}; writes {:#04x}",
        face.compare.name(),
        face.reference,
        face.mask,
        face.write_mask
    )
}

fn floats(values: &[f32]) -> String {
    values.iter().map(f32::to_string).collect::<Vec<_>>().join(" ")
}

pub(super) fn words_at(memory: &Memory, address: u32, bytes: u32) -> Vec<u32> {
    let bytes = memory.bytes_up_to(address, bytes);
    let words = bytes.chunks_exact(4);
    words.map(|w| u32::from_le_bytes([w[0], w[1], w[2], w[3]])).collect()
}

/// A line of a render state in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// The words.
    pub text: String,
    /// It differs from a driver's default state.
    pub unusual: bool,
}

/// Tests, blending and varyings of a render state in words, and its undocumented bits.
pub fn render_state_words(state: &State) -> Vec<Said> {
    let mut said = pixels(state);
    said.extend(state.unknown.iter().map(|(word, bits)| Said {
        text: format!("word {word}: bits {bits:#x} are not known"),
        unusual: true,
    }));
    said
}

/// A texture descriptor in words.
///
/// # Errors
/// When there is no room for the text.
pub fn texture(of: &Descriptor) -> Result<String> {
    let mut out = String::new();
    descriptor(of, &mut out)?;
    Ok(out)
}

/// The uniforms of a render state's program, a line each.
///
/// # Errors
/// When their list is in no buffer object.
pub fn fragment_uniforms(memory: &Memory, state: &State) -> Result<String> {
    let mut out = String::new();
    uniforms(memory, state, &mut out)?;
    Ok(out)
}

/// A render state with what it points to: uniforms, textures, code.
pub(super) fn render_state(memory: &Memory, address: u32, out: &mut String) -> Result<()> {
    let state = State::read(memory, address)?;
    for said in render_state_words(&state) {
        writeln!(out, "{}", said.text)?;
    }
    uniforms(memory, &state, out)?;
    for number in 0..state.texture_count.min(16) {
        let at = memory.word(state.textures.wrapping_add(4 * number))?;
        writeln!(out, "texture {number} at {at:#x}:")?;
        descriptor(&Descriptor::parse(&words_at(memory, at, MAX_BYTES)), out)?;
    }
    let code = words_at(memory, state.program, 1 << 14);
    writeln!(
        out,
        "program at {:#x}, colour in register {}",
        state.program, state.color_register
    )?;
    out.push_str(&pp::disassemble(program(&code), pp::Options { words: false }));
    Ok(())
}

/// Tests, blending and varyings.
fn pixels(state: &State) -> Vec<Said> {
    let mut said = Vec::new();
    let mut say = |text: String, unusual: bool| said.push(Said { text, unusual });
    let [color, alpha] = state.blending.equations;
    let [replaces_color, replaces_alpha] = state.blending.replaces();
    say(
        format!("colour = {}", equation(color, state.blending.color)),
        !replaces_color,
    );
    say(
        format!("alpha = {}", equation(alpha, state.blending.alpha)),
        !replaces_alpha,
    );
    say(writes(state), state.blending.write_mask != 15);
    say(depth(state), state.uses_depth() || state.depth_register.is_some());
    for (name, face) in ["front", "back"].iter().zip(&state.stencil) {
        let keeps = face.operations == [StencilOp::Keep; 3];
        say(
            format!("stencil {name}: {}", stencil(face)),
            face.compare != Compare::Always || !keeps,
        );
    }
    let front = match state.front_ccw {
        true => "counter-clockwise",
        false => "clockwise",
    };
    let (compare, reference) = (state.alpha_compare.name(), state.alpha_reference);
    say(
        format!("alpha {compare} {reference}; front is {front}"),
        state.alpha_compare != Compare::Always,
    );
    if state.multisample {
        let extra = match (state.alpha_to_coverage, state.alpha_to_one) {
            (false, false) => "",
            (true, false) => ", alpha to coverage",
            (false, true) => ", alpha to one",
            (true, true) => ", alpha to coverage, alpha to one",
        };
        say(format!("four samples, mask {:#x}{extra}", state.sample_mask), true);
    }
    say(varyings(state), false);
    said
}

/// Letters of a mask's channels.
pub fn channels(mask: u32) -> String {
    let all = "rgba".chars().enumerate();
    all.filter(|(bit, _)| mask >> bit & 1 == 1)
        .map(|(_, channel)| channel)
        .collect()
}

fn writes(state: &State) -> String {
    let channels = channels(state.blending.write_mask);
    format!(
        "writes {}; blend constant {}",
        if channels.is_empty() { "no channel" } else { &channels },
        floats(&state.blending.constant)
    )
}

fn depth(state: &State) -> String {
    let written = if state.depth_write {
        ", written"
    } else {
        ", not written"
    };
    let register = state.depth_register;
    let from = register.map_or(String::new(), |register| format!(", from register {register}"));
    let [near, far] = state.depth_range;
    let [slope, units] = state.polygon_offset;
    let compare = state.depth_compare.name();
    format!("depth {compare}{written}{from}, range {near} to {far}, offset {slope} x slope + {units} units")
}

fn varyings(state: &State) -> String {
    if state.varying_stride == 0 {
        return "no varyings".to_owned();
    }
    let mut names = Vec::new();
    let mut bytes = 0;
    for format in state.varying_formats {
        let size = format.bytes();
        if bytes + size > state.varying_stride {
            break;
        }
        bytes += size;
        names.push(format.label());
    }
    format!(
        "varyings at {:#x}, {} bytes a vertex: {}",
        state.varyings,
        state.varying_stride,
        names.join(" ")
    )
}

fn uniforms(memory: &Memory, state: &State, out: &mut String) -> Result<()> {
    if !state.has_uniforms {
        return Ok(());
    }
    let block = memory.word(state.uniforms)?;
    writeln!(out, "uniforms at {block:#x} (half floats):")?;
    for (number, vec4) in words_at(memory, block, state.uniform_bytes).chunks_exact(2).enumerate() {
        let half = |bits: u32| num::half::to_f32(bits as u16);
        let [a, b] = [vec4[0], vec4[1]];
        let values = [half(a), half(a >> 16), half(b), half(b >> 16)];
        writeln!(out, "  u{number} = {}", floats(&values))?;
    }
    Ok(())
}

fn descriptor(descriptor: &Descriptor, out: &mut String) -> Result<()> {
    let format = descriptor.format.label();
    let [width, height, depth] = descriptor.size;
    let kind = match (descriptor.cube, descriptor.dimension) {
        (true, _) => format!("cube of {width} x {height}"),
        (_, Dimension::One) => format!("{width}"),
        (_, Dimension::Two) => format!("{width} x {height}"),
        (_, Dimension::Three | Dimension::Four) => format!("{width} x {height} x {depth}"),
    };
    let layout = match descriptor.layout {
        Layout::Linear { stride } => format!("linear, {stride} bytes a row"),
        Layout::Tiled => "tiled".to_owned(),
    };
    let swapped = if descriptor.swap {
        ", red and blue exchanged"
    } else {
        ""
    };
    writeln!(out, "  {format}{swapped}, {kind}, {layout}")?;
    let filter = |nearest: bool| if nearest { "nearest" } else { "linear" };
    let wraps = descriptor.wrap.map(|wrap| wrap.name());
    let axes = match descriptor.dimension {
        Dimension::One => 1,
        Dimension::Two => 2,
        Dimension::Three | Dimension::Four => 3,
    };
    writeln!(
        out,
        "  made smaller {}, larger {}, {} levels; {}",
        filter(descriptor.nearest[0]),
        filter(descriptor.nearest[1]),
        if descriptor.mip_linear { "between" } else { "nearest of" },
        wraps[..axes].join(", ")
    )?;
    let [low, high] = descriptor.lod;
    let levels: Vec<String> = descriptor
        .levels
        .iter()
        .take(high as usize + 1)
        .map(|level| format!("{level:#x}"))
        .collect();
    writeln!(
        out,
        "  levels {low} to {high}, bias {}, at {}; border {}{}",
        descriptor.lod_bias,
        levels.join(" "),
        floats(&descriptor.border),
        if descriptor.unnormalised {
            "; coordinates in texels"
        } else {
            ""
        }
    )?;
    for (word, bits) in &descriptor.unknown {
        writeln!(out, "  word {word}: bits {bits:#x} are not known")?;
    }
    Ok(())
}

/// The words up to the first instruction that has nothing behind it.
pub(super) fn program(code: &[u32]) -> &[u32] {
    let mut at = 0;
    while let Ok(instruction) = pp::Instruction::decode(&code[at..]) {
        at += instruction.words() as usize;
        if !instruction.control.prefetch {
            break;
        }
    }
    &code[..at]
}

/// A pixel job's registers.
pub(super) fn frame(frame: &Frame, out: &mut String) -> Result<()> {
    writeln!(
        out,
        "frame of {} x {} pixels{}",
        frame.width,
        frame.height,
        if frame.half_float { ", half floats" } else { "" }
    )?;
    let colors = frame.clear_color.map(|color| format!("{color:#010x}")).join(" ");
    writeln!(
        out,
        "  cleared to colour {colors}, depth {:#x}, stencil {}",
        frame.clear_depth, frame.clear_stencil
    )?;
    let lists: Vec<String> = frame.lists.iter().map(|list| format!("{list:#x}")).collect();
    writeln!(out, "  tile lists at {}", lists.join(" "))?;
    for unit in &frame.write_backs {
        write_back(unit, out)?;
    }
    for (register, bits) in &frame.unknown {
        writeln!(out, "  register {register}: {bits:#x} is not known")?;
    }
    Ok(())
}

fn write_back(unit: &WriteBack, out: &mut String) -> Result<()> {
    let what = unit.source.label();
    let layout = match unit.layout {
        TargetLayout::Linear => format!("linear, {} bytes a row", unit.pitch.wrapping_mul(8)),
        TargetLayout::Tiled => format!("tiled, {} tiles a row", unit.pitch),
        TargetLayout::UOrder | TargetLayout::Undocumented(_) => unit.layout.label().into_owned(),
    };
    write!(
        out,
        "  write-back of {what} to {:#x} as {}, {layout}",
        unit.address,
        unit.format.label()
    )?;
    out.push_str(if unit.swap { ", red and blue exchanged" } else { "" });
    out.push_str(if unit.reverse { ", components reversed" } else { "" });
    if unit.downsample != [0, 0] {
        let [x, y] = unit.downsample.map(|log| 1u32 << (log & 31));
        write!(out, ", made smaller by {x} x {y}")?;
    }
    if unit.planes != 0 {
        write!(
            out,
            ", samples {:#x} apart by {:#x} bytes",
            unit.planes, unit.plane_pitch
        )?;
    }
    Ok(writeln!(out)?)
}
