//! What happens to one fragment, once more, in a text that has nothing in common with [`fragment_ops`](crate::fragment_ops): what
//! that is compared with.

use super::{Incoming, MAX_DEPTH, Tile};
use crate::gpu::state::{State, Stencil};
use num::lanes::One;
use utgard::state::StencilOp;

/// Tests a fragment and blends it.
pub(crate) fn put(tile: &mut Tile, state: &State, fragment: &Incoming) {
    let mut color = fragment.color;
    let alpha = color[3];
    if !state
        .alpha_compare
        .holds(stored(alpha, 255.0) as u8, state.alpha_reference)
    {
        return;
    }
    let mut coverage = fragment.coverage & state.sample_mask;
    if state.alpha_to_coverage {
        coverage &= match (alpha.clamp(0.0, 1.0) * 4.0 + 0.5) as u32 {
            0 => 0b0000,
            1 => 0b0001,
            2 => 0b1001,
            3 => 0b1011,
            _ => 0b1111,
        };
    }
    if state.alpha_to_one {
        color[3] = 1.0;
    }
    for sample in (0..tile.samples).filter(|sample| coverage >> sample & 1 == 1) {
        put_sample(tile, state, fragment, sample, color);
    }
}

fn put_sample(tile: &mut Tile, state: &State, fragment: &Incoming, sample: usize, color: [f32; 4]) {
    let at = fragment.pixel * tile.samples + sample;
    let face = &state.stencil[usize::from(!fragment.front)];
    let [near, far] = state.depth_range.map(|end| f64::from(end) * f64::from(MAX_DEPTH));
    let depth = fragment.depth[sample];
    let depth = if depth.is_nan() { near } else { depth.max(near).min(far) }.round() as u32;
    let have = tile.stencil[at];
    let outcome = if !face.compare.holds(face.reference & face.mask, have & face.mask) {
        0
    } else if !state.depth_compare.holds(depth, tile.depth[at]) {
        1
    } else {
        2
    };
    tile.stencil[at] = updated(face, outcome, have, fragment.stencil);
    if outcome < 2 {
        return;
    }
    if state.depth_write {
        tile.depth[at] = depth;
    }
    let mut channels = tile.color.get(at);
    let destination = channels.map(|channel| f32::from(channel) / tile.one);
    let blended = state.blending.blend::<One>(color, fragment.second, destination);
    for (channel, value) in blended.into_iter().enumerate() {
        if state.blending.writes(channel) {
            channels[channel] = stored(value, tile.one);
        }
    }
    tile.color.set(at, channels);
}

/// A channel as it is stored.
fn stored(value: f32, one: f32) -> u16 {
    let value = if value.is_nan() { 0.0 } else { value.clamp(0.0, 1.0) };
    (value * one + 0.5) as u16
}

/// Depth and stencil that a colour loads back.
pub(crate) fn reloaded(color: [f32; 4]) -> (u32, u8) {
    let [high, middle, low, stencil] = color.map(|channel| u32::from(stored(channel, 255.0)));
    (high << 16 | middle << 8 | low, stencil as u8)
}

/// The stencil after an outcome: 0 stencil failed, 1 depth failed, 2 passed.
fn updated(face: &Stencil, outcome: usize, have: u8, replacement: Option<u8>) -> u8 {
    let above = face.write_mask | face.write_mask.wrapping_neg();
    let past = if face.counts_past_mask { above } else { face.write_mask };
    let (new, mask) = match face.operations[outcome] {
        StencilOp::Keep => (have, face.write_mask),
        StencilOp::Replace => (replacement.unwrap_or(face.reference), face.write_mask),
        StencilOp::Zero => (0, face.write_mask),
        StencilOp::Invert => (!have, face.write_mask),
        StencilOp::IncrementWrap if have == 255 => (0, face.write_mask),
        StencilOp::DecrementWrap if have == 0 => (255, face.write_mask),
        StencilOp::IncrementWrap => (have + 1, past),
        StencilOp::DecrementWrap => (have - 1, past),
        StencilOp::Increment => (have.saturating_add(1), past),
        StencilOp::Decrement => (have.saturating_sub(1), past),
    };
    have & !mask | new & mask
}
