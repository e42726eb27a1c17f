//! Pictures as RGBA8 rows, and their comparison.

use crate::error::{Error, Result};
use png::{BitDepth, ColorType, Decoder, Encoder, Limits, Transformations};
use std::io::{BufRead, BufReader, Seek};
use std::path::Path;

/// Memory limit of the decoder, including texels.
const MOST_BYTES: usize = 512 << 20;

/// A picture: rows from the top, four bytes per pixel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// `width * height * 4` bytes.
    pub rgba: Vec<u8>,
}

impl Picture {
    /// A render target as a picture.
    pub fn of(pixels: &vulkan::Pixels) -> Self {
        Self {
            width: pixels.size[0],
            height: pixels.size[1],
            rgba: pixels.to_rgba8(),
        }
    }

    /// Reads a PNG file of any colour type.
    ///
    /// # Errors
    /// The system's or the decoder's error, with the file's name.
    pub fn load(path: &Path) -> Result<Self> {
        let file = std::fs::File::open(path).map_err(png::DecodingError::IoError);
        file.map_err(Error::from)
            .and_then(|file| Self::from_png(BufReader::new(file)))
            .map_err(Error::reading(path))
    }

    /// Decodes PNG of any colour type: grey is expanded to three channels, 16 bits are rounded to 8, missing alpha is
    /// 255.
    ///
    /// # Errors
    /// The decoder's error; pictures of more than half a gigabyte are rejected.
    pub fn from_png(reader: impl BufRead + Seek) -> Result<Self> {
        let mut decoder = Decoder::new_with_limits(reader, Limits { bytes: MOST_BYTES });
        decoder.set_transformations(Transformations::EXPAND | Transformations::ALPHA);
        let mut reader = decoder.read_info()?;
        let size = reader.output_buffer_size().filter(|size| *size <= MOST_BYTES);
        let mut bytes = vec![0; size.ok_or(png::DecodingError::LimitsExceeded)?];
        let info = reader.next_frame(&mut bytes)?;
        bytes.truncate(info.buffer_size());
        if info.bit_depth == BitDepth::Sixteen {
            let eight = |two: &[u8; 2]| ((u32::from(u16::from_be_bytes(*two)) + 128) / 257) as u8;
            bytes = bytes.as_chunks().0.iter().map(eight).collect();
        }
        if info.color_type == ColorType::GrayscaleAlpha {
            let four = |[grey, alpha]: &[u8; 2]| [*grey, *grey, *grey, *alpha];
            bytes = bytes.as_chunks().0.iter().flat_map(four).collect();
        }
        Ok(Self {
            width: info.width,
            height: info.height,
            rgba: bytes,
        })
    }

    /// Encodes as PNG.
    ///
    /// # Errors
    /// The encoder's error: PNG does not allow empty pictures.
    pub fn to_png(&self) -> Result<Vec<u8>> {
        let mut png = Vec::new();
        let mut encoder = Encoder::new(&mut png, self.width, self.height);
        encoder.set_color(ColorType::Rgba);
        encoder.set_depth(BitDepth::Eight);
        encoder.set_compression(png::Compression::Fast);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(&self.rgba)?;
        writer.finish()?;
        Ok(png)
    }

    /// One pixel.
    ///
    /// # Panics
    /// If it is outside the picture.
    pub fn at(&self, x: u32, y: u32) -> [u8; 4] {
        assert!(x < self.width && y < self.height, "pixel outside the picture");
        let index = (y as usize * self.width as usize + x as usize) * 4;
        self.rgba[index..index + 4].try_into().expect("four bytes")
    }
}

/// The difference of two pictures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// Largest difference in any channel.
    pub worst: u8,
    /// Its position.
    pub worst_at: [u32; 2],
    /// Number of pixels with a channel beyond the tolerance.
    pub differing: u64,
    /// Number of all pixels.
    pub total: u64,
    /// A dim grey copy of the first picture where they agree, red by the size of the difference elsewhere.
    pub diff: Picture,
}

impl Comparison {
    /// Whether no pixel is beyond the tolerance.
    pub fn same(&self) -> bool {
        self.differing == 0
    }

    /// Percentage of pixels beyond the tolerance.
    pub fn share(&self) -> f64 {
        self.differing as f64 * 100.0 / self.total.max(1) as f64
    }
}

/// Compares two pictures channel by channel.
///
/// # Errors
/// If their sizes differ.
pub fn compare(a: &Picture, b: &Picture, tolerance: u8) -> Result<Comparison> {
    if (a.width, a.height) != (b.width, b.height) {
        return Err(Error::input(format_args!(
            "the pictures are of different sizes: {}x{} and {}x{}",
            a.width, a.height, b.width, b.height
        )));
    }
    let (mut worst, mut worst_at, mut differing) = (0, [0, 0], 0);
    let mut rgba = Vec::with_capacity(a.rgba.len());
    for (index, (p, q)) in a.rgba.chunks_exact(4).zip(b.rgba.chunks_exact(4)).enumerate() {
        let off = p.iter().zip(q).map(|(p, q)| p.abs_diff(*q)).max().unwrap_or(0);
        if off > worst {
            (worst, worst_at) = (off, [index as u32 % a.width, index as u32 / a.width]);
        }
        if off > tolerance {
            differing += 1;
            rgba.extend([128 + off / 2, 0, 0, 255]);
        } else {
            let grey = ((u32::from(p[0]) + u32::from(p[1]) + u32::from(p[2])) / 6) as u8;
            rgba.extend([grey, grey, grey, 255]);
        }
    }
    let diff = Picture {
        width: a.width,
        height: a.height,
        rgba,
    };
    let total = u64::from(a.width) * u64::from(a.height);
    Ok(Comparison {
        worst,
        worst_at,
        differing,
        total,
        diff,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_a_single_pixel() {
        let a = Picture {
            width: 2,
            height: 2,
            rgba: vec![10; 16],
        };
        let mut b = a.clone();
        b.rgba[13] = 15;
        let found = compare(&a, &b, 4).unwrap();
        assert_eq!(
            (found.worst, found.worst_at, found.differing, found.total),
            (5, [1, 1], 1, 4)
        );
        assert!(!found.same() && compare(&a, &b, 5).unwrap().same());
        assert_eq!(found.diff.at(1, 1), [130, 0, 0, 255]);
        assert!(
            compare(
                &a,
                &Picture {
                    width: 1,
                    height: 4,
                    ..a.clone()
                },
                0
            )
            .is_err()
        );
    }
}
