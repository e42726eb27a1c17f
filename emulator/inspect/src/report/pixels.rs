//! Pixel jobs: the result of every draw, with its state, textures and program.

use super::model::{Painted, Pp, Shown, Texture};
use super::paint::{DrawSeen, Planes, Seen};
use super::pictures::{Pictures, greys, heat_map};
use super::programs::Programs;
use crate::history::{Entry, decisive, entry};
use emulator::dump;
use emulator::exec::observed::PixelFragment;
use emulator::fault::{Fault, Result};
use emulator::gpu::binning::lists::Geometry;
use emulator::gpu::frame::{Frame, WriteBack};
use emulator::gpu::pp::observe::Fate;
use emulator::gpu::state::State;
use emulator::gpu::tile::SIDE;
use emulator::gpu::tile::write_back;
use emulator::memory::Memory;
use emulator::texture::{Descriptor, Texture as Sampled};
use utgard::frame::WriteBackSource;
use utgard::texture::MAX_BYTES;

/// Limit on shown triangles of a draw.
const MAX_TRIANGLES: usize = 1000;

/// Limit on shown faces or slices of a texture's level.
const MAX_LAYERS: u32 = 8;

/// Number of most expensive tiles listed.
const COSTLIEST: usize = 8;

/// The pictures that a job wrote, from memory.
pub(super) fn targets(memory: &Memory, frame: &Frame, pictures: &mut Pictures) -> Vec<Shown> {
    let colors = frame
        .write_backs
        .iter()
        .filter(|unit| unit.source == WriteBackSource::Color);
    let shown = |unit: &WriteBack| Shown {
        title: format!("{} at {:#x}", unit.format.label(), unit.address),
        picture: write_back::read(memory, frame, unit)
            .ok()
            .and_then(|(width, height, rgba)| pictures.add([width, height], &rgba, false)),
    };
    colors.map(shown).collect()
}

/// Accumulates the draws' results and adds a picture after each.
pub(super) struct Scrubber {
    planes: Planes,
    size: [u32; 2],
}

impl Scrubber {
    /// The picture before the first draw.
    pub(super) fn new(
        seen: &Seen,
        frame: &Frame,
        under: Option<Vec<u8>>,
        pictures: &mut Pictures,
        job: &mut Pp,
    ) -> Self {
        let size = [frame.width, frame.height];
        let planes = seen.begun(size, under);
        job.before = pictures.add(size, &planes.rgba, false);
        Self { planes, size }
    }

    /// Advances by a draw.
    pub(super) fn draw(&mut self, seen: &DrawSeen, pictures: &mut Pictures, painted: &mut Painted) {
        let [depth, stencil] = seen.over(&mut self.planes);
        let now = &self.planes;
        painted.picture = pictures.add(self.size, &now.rgba, false);
        if depth {
            painted.buffers.push(numbers("depth", &now.depth, self.size, pictures));
        }
        if stencil {
            painted
                .buffers
                .push(numbers("stencil", &now.stencil, self.size, pictures));
        }
    }

    /// Depth and stencil after the last draw.
    pub(super) fn finish(self, pictures: &mut Pictures) -> Vec<Shown> {
        vec![
            numbers("depth", &self.planes.depth, self.size, pictures),
            numbers("stencil", &self.planes.stencil, self.size, pictures),
        ]
    }
}

/// Depths or stencils as greys.
fn numbers(what: &str, values: &[u32], size: [u32; 2], pictures: &mut Pictures) -> Shown {
    let (rgba, [low, high]) = greys(values);
    if low == high {
        return Shown {
            title: format!("{what}: {low:#x} everywhere"),
            picture: None,
        };
    }
    Shown {
        title: format!("{what}: black is {low:#x}, white is {high:#x}"),
        picture: pictures.add(size, &rgba, false),
    }
}

/// Overdraw and cost as heat maps.
pub(super) fn maps(seen: &Seen, [width, height]: [u32; 2], pictures: &mut Pictures) -> Vec<Shown> {
    let most = seen.overdraw.iter().copied().max().unwrap_or(0);
    let all: u64 = seen.overdraw.iter().sum();
    let mean = all as f64 / seen.overdraw.len().max(1) as f64;
    let cost: Vec<u64> = (0..height)
        .flat_map(|y| (0..width).map(move |x| (x / SIDE, y / SIDE)))
        .map(|tile| seen.cost.get(&tile).copied().unwrap_or(0))
        .collect();
    let dearest = seen.cost.values().copied().max().unwrap_or(0);
    let sum: u64 = seen.cost.values().sum();
    vec![
        Shown {
            title: format!("overdraw: yellow is {most} fragments a pixel, {mean:.2} in the mean"),
            picture: pictures.add([width, height], &heat_map(&seen.overdraw), false),
        },
        Shown {
            title: format!("cost of each tile: yellow is {dearest} instructions, {sum} in all"),
            picture: pictures.add([width, height], &heat_map(&cost), false),
        },
    ]
}

/// The most expensive tiles.
pub(super) fn costliest(seen: &Seen) -> Vec<(u32, u32, u64)> {
    let mut tiles: Vec<_> = seen
        .cost
        .iter()
        .map(|((column, row), cost)| (*column, *row, *cost))
        .collect();
    tiles.sort_by_key(|(column, row, cost)| (std::cmp::Reverse(*cost), *row, *column));
    tiles.truncate(COSTLIEST);
    tiles
}

/// Histories of the pixels, by the order of geometry jobs and primitives.
///
/// `ran` is what the engine kept of the fragments' programs.
pub(super) fn histories(
    seen: &Seen,
    pixels: &[[u32; 2]],
    ran: &[PixelFragment],
    job_of: impl Fn(usize) -> Option<usize>,
) -> Vec<([u32; 2], Vec<Entry>)> {
    let of = |pixel: &[u32; 2]| {
        let own = seen.fragments.iter().filter(|fragment| fragment.pixel == *pixel);
        // Every fragment inside of its draw's bounds runs its program, in the order of the tile's reports.
        let is_own = |ran: &&PixelFragment| ran.pixel == (pixel[0], pixel[1]) && !ran.helps;
        let mut programs = ran.iter().filter(is_own);
        let mut entries: Vec<Entry> = own
            .map(|fragment| Entry {
                instruction: match fragment.fate {
                    Fate::Outside => None,
                    _ => programs.next().and_then(|ran| decisive(&fragment.fate, ran)),
                },
                ..entry(fragment, job_of(fragment.geometry))
            })
            .collect();
        // Those outside the picture were reported first.
        entries.sort_by_key(|entry| (entry.job, entry.primitive));
        (*pixel, entries)
    };
    pixels.iter().map(of).collect()
}

/// The triangles of a draw, and the number beyond the limit.
pub(super) fn mesh(geometry: &Geometry, draw: u32) -> (Vec<[[f32; 2]; 3]>, usize) {
    let number = |draw: u32| geometry.draws.get(draw as usize).map(|draw| draw.number);
    let own = geometry.primitives.iter().map(|(_, one)| one);
    let own = own.filter(|one| number(one.draw) == Some(draw));
    let all: Vec<[[f32; 2]; 3]> = own.map(|one| one.shape()).collect();
    let more = all.len().saturating_sub(MAX_TRIANGLES);
    (all.into_iter().take(MAX_TRIANGLES).collect(), more)
}

/// State, uniforms, textures and program of a draw, as far as they can be read.
pub(super) fn state(
    memory: &Memory,
    address: u32,
    code: &[u32],
    pictures: &mut Pictures,
    programs: &mut Programs<'_>,
    painted: &mut Painted,
) {
    let state = match State::read(memory, address) {
        Ok(state) => state,
        Err(fault) => return painted.trouble.push(fault.to_string()),
    };
    painted.state_address = address;
    painted.state = dump::render_state_words(&state);
    match dump::fragment_uniforms(memory, &state) {
        Ok(text) => painted.uniforms = text,
        Err(fault) => painted.trouble.push(fault.to_string()),
    }
    painted.program = programs.fragment(state.program, code);
    for number in 0..state.texture_count.min(16) {
        match texture(memory, &state, number, pictures) {
            Ok(texture) => painted.textures.push(texture),
            Err(fault) => painted.trouble.push(format!("texture {number}: {fault}")),
        }
    }
}

fn texture(memory: &Memory, state: &State, number: u32, pictures: &mut Pictures) -> Result<Texture> {
    let at = memory.word(state.textures.wrapping_add(4 * number))?;
    let bytes = memory.bytes_up_to(at, MAX_BYTES);
    let (words, _) = bytes.as_chunks::<4>();
    let words: Vec<u32> = words.iter().map(|word| u32::from_le_bytes(*word)).collect();
    let descriptor = Descriptor::parse(&words);
    let words = format!("descriptor at {at:#x}:\n{}", dump::texture(&descriptor)?);
    let sampled = Sampled::new(memory, descriptor)?;
    let mut levels = Vec::new();
    for (level, place) in sampled.levels().into_iter().enumerate() {
        let [width, height, _] = place.size;
        let layers = sampled.layers(level);
        for layer in 0..layers.min(MAX_LAYERS) {
            let face = if layers > 1 {
                format!(", layer {layer}")
            } else {
                String::new()
            };
            let rgba = sampled.picture(level, layer);
            levels.push(Shown {
                title: format!("level {level}{face}: {width} x {height} at {:#x}", place.address),
                picture: rgba.and_then(|rgba| pictures.add([width, height], &rgba, true)),
            });
        }
    }
    if levels.is_empty() {
        return Err(Fault::new(
            emulator::fault::FaultKind::State,
            "an unknown format: it samples as black",
        ));
    }
    Ok(Texture { number, words, levels })
}
