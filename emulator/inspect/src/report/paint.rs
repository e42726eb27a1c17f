//! Watching a pixel job's tiles: what every draw left there, what it cost, and what became of chosen pixels.

use crate::history::{MAX_ENTRIES, Told, address};
use emulator::gpu::frame::Frame;
use emulator::gpu::pp::observe::{Fate, Painted, Place, Watch};
use emulator::gpu::tile::{PIXELS, SIDE, Tile, in_tile};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// Tiles that are kept of a job at most: some 256 MiB.
const MAX_KEPT: usize = 100_000;

/// A tile as a draw left it, rows from the top.
#[derive(Clone)]
struct Kept {
    color: Vec<[u8; 4]>,
    depth: Vec<u32>,
    stencil: Vec<u8>,
}

/// What a draw did.
#[derive(Clone, Default)]
pub struct DrawSeen {
    /// Fragments that were run.
    pub fragments: u64,
    /// Instructions they ran.
    pub instructions: u64,
    /// Tiles it painted into.
    tiles: BTreeMap<(u32, u32), Kept>,
    /// Some of its tiles were not kept.
    pub incomplete: bool,
}

/// A draw by its geometry's address and its number.
pub type DrawKey = (usize, u32);

/// What was seen of a job.
#[derive(Default)]
pub struct Seen {
    /// Every draw.
    pub draws: BTreeMap<DrawKey, DrawSeen>,
    /// Fragments that were run at each pixel.
    pub overdraw: Vec<u64>,
    /// Instructions each tile's fragments ran, by column and row.
    pub cost: BTreeMap<(u32, u32), u64>,
    /// What became of fragments at the chosen pixels.
    pub told: Vec<Told>,
    /// Fragments of chosen pixels that are not in it.
    pub untold: u64,
    begun: BTreeMap<(u32, u32), Kept>,
    kept: usize,
}

/// Watches a job.
pub struct Painter {
    size: [u32; 2],
    pixels: Vec<[u32; 2]>,
    seen: Mutex<Seen>,
    /// Tiles are kept.
    pictures: bool,
}

/// Colour, depth and stencil of a whole picture.
pub struct Planes {
    size: [u32; 2],
    /// Four bytes a pixel.
    pub rgba: Vec<u8>,
    /// Depths.
    pub depth: Vec<u32>,
    /// Stencils.
    pub stencil: Vec<u32>,
}

impl Painter {
    /// A watcher of a job with this frame, and of pixels in it; `pictures`: what draws leave is kept.
    pub fn new(frame: &Frame, pixels: &[[u32; 2]], pictures: bool) -> Self {
        let size = [frame.width, frame.height];
        let inside = |[x, y]: &[u32; 2]| *x < size[0] && *y < size[1];
        let seen = Seen {
            overdraw: match pictures {
                true => vec![0; size[0] as usize * size[1] as usize],
                false => Vec::new(),
            },
            ..Seen::default()
        };
        Self {
            size,
            pixels: pixels.iter().copied().filter(inside).collect(),
            seen: Mutex::new(seen),
            pictures,
        }
    }

    /// What was seen.
    pub fn into_seen(self) -> Seen {
        self.seen.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn with(&self, change: impl FnOnce(&mut Seen)) {
        change(&mut self.seen.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

fn place(tile: &Tile) -> (u32, u32) {
    (tile.origin[0] / SIDE, tile.origin[1] / SIDE)
}

/// The tile as people see it: colours as bytes, the mean of all samples; depth and stencil of the first.
fn keep(tile: &Tile) -> Kept {
    let mut kept = Kept {
        color: Vec::with_capacity(PIXELS),
        depth: Vec::with_capacity(PIXELS),
        stencil: Vec::with_capacity(PIXELS),
    };
    for y in 0..SIDE {
        for x in 0..SIDE {
            let pixel = in_tile(x, y);
            let mut sums = [0u32; 4];
            for sample in 0..tile.samples {
                let stored = tile.stored(pixel, sample);
                sums = std::array::from_fn(|channel| sums[channel] + u32::from(stored.color[channel]));
            }
            // As write-back rounds it.
            let mean = |sum: u32| (f64::from(sum as f32 / tile.samples as f32 / tile.one) * 255.0).round() as u8;
            kept.color.push(sums.map(mean));
            let first = tile.stored(pixel, 0);
            kept.depth.push(first.depth);
            kept.stencil.push(first.stencil);
        }
    }
    kept
}

impl Watch for Painter {
    fn pixels(&self) -> &[[u32; 2]] {
        &self.pixels
    }

    fn fragment(&self, place: Place<'_>, pixel: [u32; 2], fate: &Fate) {
        self.with(|seen| match seen.told.len() < MAX_ENTRIES * self.pixels.len() {
            true => seen.told.push(Told::new(place, pixel, fate)),
            false => seen.untold += 1,
        });
    }

    fn begun(&self, tile: &Tile) {
        if self.pictures {
            self.with(|seen| {
                seen.kept += 1;
                if seen.kept <= MAX_KEPT {
                    seen.begun.insert(place(tile), keep(tile));
                }
            });
        }
    }

    fn painted(&self, painted: &Painted<'_>) {
        let Some(draw) = painted.place.draw().filter(|_| self.pictures) else {
            return;
        };
        let [width, height] = self.size;
        self.with(|seen| {
            let tile = place(painted.tile);
            *seen.cost.entry(tile).or_default() += painted.instructions;
            let of = seen.draws.entry((address(painted.place.geometry), draw)).or_default();
            of.instructions += painted.instructions;
            for quad in painted.quads {
                of.fragments += u64::from(quad.live.count_ones());
                for lane in (0..4).filter(|lane| quad.live >> lane & 1 == 1) {
                    let (x, y) = (quad.x + (lane & 1), quad.y + (lane >> 1));
                    if x < width && y < height {
                        seen.overdraw[(y * width + x) as usize] += 1;
                    }
                }
            }
            if !of.tiles.contains_key(&tile) {
                seen.kept += 1;
            }
            if seen.kept > MAX_KEPT {
                of.incomplete = true;
            } else {
                of.tiles.insert(tile, keep(painted.tile));
            }
        });
    }
}

impl Seen {
    /// The tiles as they began, over what was in the picture.
    pub fn begun(&self, [width, height]: [u32; 2], under: Option<Vec<u8>>) -> Planes {
        let pixels = width as usize * height as usize;
        let mut planes = Planes {
            size: [width, height],
            rgba: under
                .filter(|under| under.len() == 4 * pixels)
                .unwrap_or_else(|| vec![0; 4 * pixels]),
            depth: vec![0; pixels],
            stencil: vec![0; pixels],
        };
        planes.lay(&self.begun);
        planes
    }
}

impl DrawSeen {
    /// How many tiles it painted into.
    pub fn tiles(&self) -> usize {
        self.tiles.len()
    }

    /// Lays what the draw left over a picture; whether it changed depths, and stencils.
    pub fn over(&self, planes: &mut Planes) -> [bool; 2] {
        planes.lay(&self.tiles)
    }
}

impl Planes {
    fn lay(&mut self, tiles: &BTreeMap<(u32, u32), Kept>) -> [bool; 2] {
        let [width, height] = self.size;
        let mut changed = [false; 2];
        for ((column, row), kept) in tiles {
            for (at, color) in kept.color.iter().enumerate() {
                let (x, y) = (column * SIDE + at as u32 % SIDE, row * SIDE + at as u32 / SIDE);
                if x < width && y < height {
                    let to = y as usize * width as usize + x as usize;
                    self.rgba[4 * to..4 * to + 4].copy_from_slice(color);
                    let (depth, stencil) = (kept.depth[at], u32::from(kept.stencil[at]));
                    changed[0] |= depth != std::mem::replace(&mut self.depth[to], depth);
                    changed[1] |= stencil != std::mem::replace(&mut self.stencil[to], stencil);
                }
            }
        }
        changed
    }
}
