//! Texel formats and where texels lie in memory (docs/spec/mali/textures.md, section 3; docs/spec/mali/frame.md, section 4).

use num::half;
use utgard::texture::TexelFormat;

/// A texel format that is known, with the bytes of a texel (of a 4x4 block for ETC1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// The descriptor's.
    pub code: TexelFormat,
    /// Name.
    pub name: &'static str,
    /// Bytes.
    pub bytes: u32,
}

/// Compressed blocks of 4x4 pixels.
pub const ETC1: TexelFormat = TexelFormat::Etc1;

/// A format, if it is known.
pub fn by_code(code: TexelFormat) -> Option<Format> {
    let name = code.name();
    code.bytes().map(|bytes| Format { code, name, bytes })
}

/// Number of a pixel within its 16x16 tile, in u-order: bits y3, x3^y3, y2, x2^y2, y1, x1^y1, y0, x0^y0.
#[inline]
pub const fn u_order(x: u32, y: u32) -> u32 {
    spread((x ^ y) & 15) | spread(y & 15) << 1
}

/// Four bits with gaps between them.
const fn spread(v: u32) -> u32 {
    v & 1 | (v & 2) << 1 | (v & 4) << 2 | (v & 8) << 3
}

fn unorm(value: u32, bits: u32) -> f32 {
    value as f32 / ((1u32 << bits) - 1) as f32
}

/// A texel whose channels are whole numbers in a byte each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Whole {
    /// Red, green, blue, alpha.
    pub channels: [u8; 4],
    /// The number that 1.0 is, of each; the same for all texels of a format.
    pub ones: [u8; 4],
}

/// One texel of a format whose channels are whole numbers of at most eight bits; `None` for all others and when bytes are
/// missing.
#[inline]
pub fn decode_whole(code: TexelFormat, swap: bool, bytes: &[u8]) -> Option<Whole> {
    let byte = |at: usize| bytes.get(at).copied();
    let word = || Some(u16::from_le_bytes([byte(0)?, byte(1)?]));
    // `bits` bits of a word from bit `from` on.
    let part = |word: u16, from: u32, bits: u32| (word >> from & ((1 << bits) - 1)) as u8;
    let full = [255; 4];
    let ([red, green, blue, alpha], ones) = match code {
        TexelFormat::L8 => ([byte(0)?, byte(0)?, byte(0)?, 255], full),
        TexelFormat::A8 => ([0, 0, 0, byte(0)?], full),
        TexelFormat::I8 => ([byte(0)?; 4], full),
        TexelFormat::L8A8 => ([byte(0)?, byte(0)?, byte(0)?, byte(1)?], full),
        TexelFormat::Rgb888 => ([byte(2)?, byte(1)?, byte(0)?, 255], full),
        // Depth and stencil for reloading: a byte a channel, our own choice (docs/spec/mali/frame.md, section 3).
        TexelFormat::Rgba8888 | TexelFormat::Z24S8 => ([byte(2)?, byte(1)?, byte(0)?, byte(3)?], full),
        TexelFormat::Rgbx8888 => ([byte(2)?, byte(1)?, byte(0).filter(|_| bytes.len() > 3)?, 255], full),
        TexelFormat::Bgr565 => {
            let v = word()?;
            ([part(v, 11, 5), part(v, 5, 6), part(v, 0, 5), 1], [31, 63, 31, 1])
        }
        TexelFormat::Bgra5551 => {
            let v = word()?;
            (
                [part(v, 10, 5), part(v, 5, 5), part(v, 0, 5), part(v, 15, 1)],
                [31, 31, 31, 1],
            )
        }
        TexelFormat::Bgra4444 => {
            let v = word()?;
            ([part(v, 8, 4), part(v, 4, 4), part(v, 0, 4), part(v, 12, 4)], [15; 4])
        }
        TexelFormat::Missing
        | TexelFormat::L16
        | TexelFormat::A16
        | TexelFormat::I16
        | TexelFormat::Etc1
        | TexelFormat::L16F
        | TexelFormat::A16F
        | TexelFormat::I16F
        | TexelFormat::L16A16F
        | TexelFormat::Rgba16F
        | TexelFormat::Z24X8
        | TexelFormat::Rgb16F
        | TexelFormat::Undocumented(_) => return None,
    };
    // Where red and blue change places, so do their ones, which are the same.
    let channels = if swap {
        [blue, green, red, alpha]
    } else {
        [red, green, blue, alpha]
    };
    Some(Whole { channels, ones })
}

/// One texel as red, green, blue, alpha; `None` for compressed and unknown formats and when bytes are missing.
pub fn decode(code: TexelFormat, swap: bool, bytes: &[u8]) -> Option<[f32; 4]> {
    if let Some(Whole { channels, ones }) = decode_whole(code, swap, bytes) {
        let part = |channel: usize| f32::from(channels[channel]) / f32::from(ones[channel]);
        return Some([0, 1, 2, 3].map(part));
    }
    if bytes.len() < code.bytes()? as usize {
        return None;
    }
    let word = |at: usize| Some(u32::from(*bytes.get(at)?) | u32::from(*bytes.get(at + 1)?) << 8);
    let half = |at: usize| word(at).map(|bits| half::to_f32(bits as u16));
    // What is luminance, alpha or intensity.
    let luminance = |l: f32| [l, l, l, 1.0];
    let alpha = |a: f32| [0.0, 0.0, 0.0, a];
    let [red, green, blue, a] = match code {
        TexelFormat::L16 => luminance(unorm(word(0)?, 16)),
        TexelFormat::A16 => alpha(unorm(word(0)?, 16)),
        TexelFormat::I16 => [unorm(word(0)?, 16); 4],
        TexelFormat::L16F => luminance(half(0)?),
        TexelFormat::A16F => alpha(half(0)?),
        TexelFormat::I16F => [half(0)?; 4],
        TexelFormat::L16A16F => {
            let l = half(0)?;
            [l, l, l, half(2)?]
        }
        TexelFormat::Rgba16F => [half(4)?, half(2)?, half(0)?, half(6)?],
        TexelFormat::Rgb16F => [half(4)?, half(2)?, half(0)?, 1.0],
        // Depth as luminance ([I]).
        TexelFormat::Z24X8 => luminance((word(0)? | u32::from(*bytes.get(2)?) << 16) as f32 / 16_777_215.0),
        TexelFormat::Missing
        | TexelFormat::Etc1
        | TexelFormat::Bgr565
        | TexelFormat::Bgra5551
        | TexelFormat::Bgra4444
        | TexelFormat::A8
        | TexelFormat::I8
        | TexelFormat::L8
        | TexelFormat::L8A8
        | TexelFormat::Rgb888
        | TexelFormat::Rgba8888
        | TexelFormat::Rgbx8888
        | TexelFormat::Z24S8
        | TexelFormat::Undocumented(_) => return None,
    };
    Some(if swap {
        [blue, green, red, a]
    } else {
        [red, green, blue, a]
    })
}

/// One pixel of an ETC1 block of eight bytes (the OES_compressed_ETC1_RGB8_texture specification).
pub fn decode_etc1(block: &[u8; 8], x: u32, y: u32) -> [f32; 4] {
    const TABLES: [[i32; 2]; 8] = [
        [2, 8],
        [5, 17],
        [9, 29],
        [13, 42],
        [18, 60],
        [24, 80],
        [33, 106],
        [47, 183],
    ];
    let high = u32::from_be_bytes([block[0], block[1], block[2], block[3]]);
    let low = u32::from_be_bytes([block[4], block[5], block[6], block[7]]);
    let (differential, flip) = (high & 2 != 0, high & 1 != 0);
    let second = if flip { y >= 2 } else { x >= 2 };
    let base = |channel: u32| -> i32 {
        let shift = 24 - 8 * channel;
        let byte = high >> shift & 0xff;
        if differential {
            let first = (byte >> 3) as i32;
            let delta = ((byte as i32 & 7) ^ 4) - 4;
            let five = (if second { first + delta } else { first }) & 31;
            five << 3 | five >> 2
        } else {
            let four = (if second { byte & 15 } else { byte >> 4 }) as i32;
            four << 4 | four
        }
    };
    let table = TABLES[(high >> if second { 2 } else { 5 } & 7) as usize];
    let at = x * 4 + y;
    let magnitude = table[(low >> at & 1) as usize];
    let offset = if low >> (at + 16) & 1 == 1 {
        -magnitude
    } else {
        magnitude
    };
    let channel = |channel: u32| (base(channel) + offset).clamp(0, 255) as f32 / 255.0;
    [channel(0), channel(1), channel(2), 1.0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn u_order_is_a_permutation() {
        let mut seen = [false; 256];
        for (x, y) in (0..16).flat_map(|y| (0..16).map(move |x| (x, y))) {
            assert!(!std::mem::replace(&mut seen[u_order(x, y) as usize], true));
        }
        assert_eq!(
            [
                u_order(0, 0),
                u_order(1, 0),
                u_order(1, 1),
                u_order(0, 1),
                u_order(2, 0)
            ],
            [0, 1, 2, 3, 4]
        );
        assert_eq!([u_order(15, 15), u_order(8, 0), u_order(0, 8)], [0xaa, 0x40, 0xc0]);
    }

    #[test]
    fn texels_decode() {
        assert_eq!(
            decode(TexelFormat::Rgba8888, false, &[0, 51, 255, 102]),
            Some([1.0, 0.2, 0.0, 0.4])
        );
        assert_eq!(
            decode(TexelFormat::Rgba8888, true, &[0, 51, 255, 102]),
            Some([0.0, 0.2, 1.0, 0.4])
        );
        assert_eq!(
            decode(TexelFormat::Bgr565, false, &[0x1f, 0xf8]),
            Some([1.0, 0.0, 1.0, 1.0])
        );
        assert_eq!(decode(TexelFormat::A8, false, &[255]), Some([0.0, 0.0, 0.0, 1.0]));
        assert_eq!(decode(TexelFormat::Undocumented(0x3f), false, &[0; 8]), None);
        for format in TexelFormat::ALL
            .iter()
            .filter_map(|code| by_code(*code))
            .filter(|f| f.code != ETC1)
        {
            let bytes = vec![0; format.bytes as usize];
            assert!(decode(format.code, false, &bytes).is_some(), "{}", format.name);
            assert!(decode(format.code, false, &bytes[1..]).is_none(), "{}", format.name);
        }
    }

    #[test]
    fn etc1_blocks_decode() {
        // Individual mode: left half red 0xff, right half blue 0x88, smallest table, all indices 0: +2.
        let block = [0xf0, 0x00, 0x08, 0x00, 0, 0, 0, 0];
        assert_eq!(decode_etc1(&block, 0, 0), [1.0, 2.0 / 255.0, 2.0 / 255.0, 1.0]);
        assert_eq!(
            decode_etc1(&block, 3, 0),
            [2.0 / 255.0, 2.0 / 255.0, 138.0 / 255.0, 1.0]
        );
        // Differential mode, flipped, green 16 (0x84) with delta -1 below.
        let block = [0, 0x87, 0, 0x03, 0, 0, 0, 0];
        assert_eq!(decode_etc1(&block, 0, 0)[1], f32::from(0x84u8 + 2) / 255.0);
        assert_eq!(decode_etc1(&block, 0, 3)[1], f32::from(0x7bu8 + 2) / 255.0);
    }
}
