//! Observes a pixel job's tiles: the result and the cost of every draw, and the outcomes at chosen pixels.

use crate::history::{MAX_ENTRIES, ObservedFragment, address};
use emulator::gpu::frame::Frame;
use emulator::gpu::pp::observe::{Fate, Painted, Place, Watch};
use emulator::gpu::tile::{PIXELS, SIDE, Tile, in_tile};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// Limit on kept tiles of a job: about 256 MiB.
const MAX_KEPT: usize = 100_000;

/// A tile after a draw, rows from the top.
#[derive(Clone)]
struct Kept {
    color: Vec<[u8; 4]>,
    depth: Vec<u32>,
    stencil: Vec<u8>,
}

/// Observations of a draw.
#[derive(Clone, Default)]
pub(crate) struct DrawSeen {
    /// Number of fragments.
    pub fragments: u64,
    /// Number of instructions.
    pub instructions: u64,
    /// Tiles that it drew to.
    tiles: BTreeMap<(u32, u32), Kept>,
    /// Whether some of its tiles were not kept.
    pub incomplete: bool,
}

/// A draw, by its geometry's address and its index.
pub(crate) type DrawKey = (usize, u32);

/// Observations of a job.
#[derive(Default)]
pub(crate) struct Seen {
    /// Every draw.
    pub draws: BTreeMap<DrawKey, DrawSeen>,
    /// Number of fragments at each pixel.
    pub overdraw: Vec<u64>,
    /// Number of instructions per tile, by column and row.
    pub cost: BTreeMap<(u32, u32), u64>,
    /// Outcomes of fragments at the chosen pixels.
    pub fragments: Vec<ObservedFragment>,
    /// Number of fragments at chosen pixels that are missing from the list.
    pub missing: u64,
    begun: BTreeMap<(u32, u32), Kept>,
    kept: usize,
}

/// Observes a job.
pub(crate) struct Painter {
    size: [u32; 2],
    pixels: Vec<[u32; 2]>,
    seen: Mutex<Seen>,
    /// Whether tiles are kept.
    pictures: bool,
}

/// Colour, depth and stencil of a picture.
pub(crate) struct Planes {
    size: [u32; 2],
    /// Four bytes per pixel.
    pub rgba: Vec<u8>,
    /// Depths.
    pub depth: Vec<u32>,
    /// Stencils.
    pub stencil: Vec<u32>,
}

impl Painter {
    /// An observer of a job with this frame and of these pixels; `pictures` keeps the tiles after draws.
    pub(crate) fn new(frame: &Frame, pixels: &[[u32; 2]], pictures: bool) -> Self {
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

    /// The observations.
    pub(crate) fn into_seen(self) -> Seen {
        self.seen.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn with(&self, change: impl FnOnce(&mut Seen)) {
        change(&mut self.seen.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

fn place(tile: &Tile) -> (u32, u32) {
    (tile.origin[0] / SIDE, tile.origin[1] / SIDE)
}

/// The visible tile: colours as bytes, averaged over samples; depth and stencil of the first sample.
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
            // Rounded as by write-back.
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
        self.with(|seen| match seen.fragments.len() < MAX_ENTRIES * self.pixels.len() {
            true => seen.fragments.push(ObservedFragment::new(place, pixel, fate)),
            false => seen.missing += 1,
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
    /// The initial tiles over the previous picture.
    pub(crate) fn begun(&self, [width, height]: [u32; 2], under: Option<Vec<u8>>) -> Planes {
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
    /// Number of tiles that it drew to.
    pub(crate) fn tiles(&self) -> usize {
        self.tiles.len()
    }

    /// Draws the result over a picture; returns whether it changed depth, and stencil.
    pub(crate) fn over(&self, planes: &mut Planes) -> [bool; 2] {
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
