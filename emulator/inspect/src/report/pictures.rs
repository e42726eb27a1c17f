//! Pictures of a report as PNG, deduplicated, within a size limit.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

/// Limit on the total PNG size of a report.
const MAX_BYTES: usize = 24 << 20;

/// Limit on the pixels of a picture; larger ones are reduced to every second row and column, or fewer.
const MAX_PIXELS: u64 = 1 << 20;

/// Index of a picture in the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PictureId(pub usize);

/// A picture as PNG.
#[derive(Clone, Debug)]
pub struct Png {
    /// Width and height of the original in pixels.
    pub size: [u32; 2],
    /// Reduction: every n-th column and row is kept.
    pub step: u32,
    /// The file.
    pub bytes: Vec<u8>,
}

/// The pictures.
#[derive(Debug, Default)]
pub struct Pictures {
    all: Vec<Png>,
    /// Pictures by a hash of their contents.
    taken: HashMap<u64, PictureId>,
    hasher: RandomState,
    used: usize,
    /// Whether one exceeded the limit.
    full: bool,
    /// Number of omitted pictures.
    pub left_out: u64,
}

impl Pictures {
    /// Adds a picture of four bytes per pixel, with or without its alpha; `None` if it exceeds the limit or is empty.
    pub fn add(&mut self, [width, height]: [u32; 2], rgba: &[u8], alpha: bool) -> Option<PictureId> {
        if width == 0 || height == 0 || rgba.len() as u64 != u64::from(width) * u64::from(height) * 4 {
            return None;
        }
        let made_of = self.hasher.hash_one((width, height, alpha, rgba));
        if let Some(id) = self.taken.get(&made_of) {
            return Some(*id);
        }
        if self.full {
            self.left_out += 1;
            return None;
        }
        let mut step = 1;
        while u64::from(width.div_ceil(step)) * u64::from(height.div_ceil(step)) > MAX_PIXELS {
            step *= 2;
        }
        let bytes = encode([width, height], rgba, alpha, step)?;
        if self.used + bytes.len() > MAX_BYTES {
            (self.full, self.left_out) = (true, self.left_out + 1);
            return None;
        }
        self.used += bytes.len();
        let size = [width, height];
        let id = PictureId(self.all.len());
        self.all.push(Png { size, step, bytes });
        self.taken.insert(made_of, id);
        Some(id)
    }

    /// A picture.
    pub fn get(&self, id: PictureId) -> &Png {
        &self.all[id.0]
    }
}

fn encode([width, height]: [u32; 2], rgba: &[u8], alpha: bool, step: u32) -> Option<Vec<u8>> {
    let channels = if alpha { 4 } else { 3 };
    let mut data = Vec::new();
    let (pixels, _) = rgba.as_chunks::<4>();
    for row in pixels.chunks_exact(width as usize).step_by(step as usize) {
        for pixel in row.iter().step_by(step as usize) {
            data.extend_from_slice(&pixel[..channels]);
        }
    }
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width.div_ceil(step), height.div_ceil(step));
    encoder.set_color(if alpha {
        png::ColorType::Rgba
    } else {
        png::ColorType::Rgb
    });
    encoder.set_depth(png::BitDepth::Eight);
    // Writing to memory does not fail; a picture that the encoder rejects is omitted.
    let mut writer = encoder.write_header().ok()?;
    writer.write_image_data(&data).ok()?;
    writer.finish().ok()?;
    Some(bytes)
}

/// A colour of a heat map, from 0 to 1: dark blue, green, yellow.
fn heat(value: f64) -> [u8; 3] {
    const STOPS: [[f64; 3]; 5] = [
        [38.0, 20.0, 72.0],
        [49.0, 90.0, 140.0],
        [33.0, 145.0, 140.0],
        [122.0, 209.0, 81.0],
        [253.0, 231.0, 37.0],
    ];
    let at = value.clamp(0.0, 1.0) * (STOPS.len() - 1) as f64;
    let first = (at as usize).min(STOPS.len() - 2);
    let part = at - first as f64;
    std::array::from_fn(|channel| {
        let (a, b) = (STOPS[first][channel], STOPS[first + 1][channel]);
        (a + (b - a) * part).round() as u8
    })
}

/// Numbers as a heat map; zero is black.
pub(super) fn heat_map(values: &[u64]) -> Vec<u8> {
    let most = values.iter().copied().max().unwrap_or(0).max(1) as f64;
    let pixel = |value: &u64| {
        let [r, g, b] = match value {
            0 => [0; 3],
            value => heat(*value as f64 / most),
        };
        [r, g, b, 255]
    };
    values.iter().flat_map(pixel).collect()
}

/// Numbers as greys, from black for the minimum to white for the maximum; and these two.
pub(super) fn greys(values: &[u32]) -> (Vec<u8>, [u32; 2]) {
    let low = values.iter().copied().min().unwrap_or(0);
    let high = values.iter().copied().max().unwrap_or(0);
    let range = f64::from((high - low).max(1));
    let grey = |value: &u32| {
        let grey = (f64::from(value - low) / range * 255.0).round() as u8;
        [grey, grey, grey, 255]
    };
    (values.iter().flat_map(grey).collect(), [low, high])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_are_kept_once_and_within_bounds() {
        let mut pictures = Pictures::default();
        let red = [255, 0, 0, 255].repeat(6);
        let first = pictures.add([3, 2], &red, false);
        assert!(first.is_some() && first == pictures.add([3, 2], &red, false));
        assert_ne!(
            first,
            pictures.add([2, 3], &red, false),
            "another size is another picture"
        );
        assert_eq!(pictures.add([3, 3], &red, false), None, "too few bytes");
        assert_eq!(pictures.add([0, 0], &[], true), None);
        let large = vec![7; 4096 * 1024 * 4];
        let id = pictures.add([4096, 1024], &large, true).unwrap();
        assert_eq!((pictures.get(id).size, pictures.get(id).step), ([4096, 1024], 2));
        pictures.used = MAX_BYTES;
        assert_eq!(pictures.add([1, 1], &[1, 2, 3, 4], true), None);
        assert_eq!(pictures.left_out, 1);
    }

    #[test]
    fn heat_goes_from_dark_to_bright() {
        let map = heat_map(&[0, 1, 5, 10]);
        assert_eq!(map[..4], [0, 0, 0, 255]);
        assert_eq!(map[12..], [253, 231, 37, 255]);
        assert_eq!(greys(&[5, 7, 6]).1, [5, 7]);
        assert_eq!(greys(&[5, 5]).0, [0, 0, 0, 255, 0, 0, 0, 255]);
    }
}
