//! Texel formats and where texels lie in memory (docs/spec/mali/textures.md, section 3; docs/spec/mali/frame.md, section 4).

use num::half;

/// A texel format: code, name, bytes of a texel (of a 4x4 block for ETC1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// Number in the descriptor.
    pub code: u8,
    /// Name.
    pub name: &'static str,
    /// Bytes.
    pub bytes: u32,
}

const fn format(code: u8, name: &'static str, bytes: u32) -> Format {
    Format { code, name, bytes }
}

/// Every format that is known.
pub const FORMATS: &[Format] = &[
    format(0x09, "L8", 1),
    format(0x0a, "A8", 1),
    format(0x0b, "I8", 1),
    format(0x0e, "BGR565", 2),
    format(0x0f, "BGRA5551", 2),
    format(0x10, "BGRA4444", 2),
    format(0x11, "L8A8", 2),
    format(0x12, "L16", 2),
    format(0x13, "A16", 2),
    format(0x14, "I16", 2),
    format(0x15, "RGB888", 3),
    format(0x16, "RGBA8888", 4),
    format(0x17, "RGBX8888", 4),
    format(0x20, "ETC1", 8),
    format(0x22, "L16F", 2),
    format(0x23, "A16F", 2),
    format(0x24, "I16F", 2),
    format(0x25, "L16A16F", 4),
    format(0x26, "RGBA16F", 8),
    format(0x2c, "Z24X8", 4),
    format(0x2f, "RGB16F", 6),
    format(0x32, "Z24S8", 4),
];

/// Compressed blocks of 4x4 pixels.
pub const ETC1: u8 = 0x20;

/// The format with a number.
pub fn by_code(code: u8) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.code == code)
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

/// One texel of a format whose channels are bytes, as red, green, blue, alpha; `None` for all others and when bytes are
/// missing.
#[inline]
pub fn decode_bytes(code: u8, swap: bool, bytes: &[u8]) -> Option<[u8; 4]> {
    let byte = |at: usize| bytes.get(at).copied();
    let [red, green, blue, alpha] = match code {
        0x09 => [byte(0)?, byte(0)?, byte(0)?, 255],
        0x0a => [0, 0, 0, byte(0)?],
        0x0b => [byte(0)?; 4],
        0x11 => [byte(0)?, byte(0)?, byte(0)?, byte(1)?],
        0x15 => [byte(2)?, byte(1)?, byte(0)?, 255],
        // Depth and stencil for reloading: a byte a channel, our own choice (docs/spec/mali/frame.md, section 3).
        0x16 | 0x32 => [byte(2)?, byte(1)?, byte(0)?, byte(3)?],
        0x17 => [byte(2)?, byte(1)?, byte(0).filter(|_| bytes.len() > 3)?, 255],
        _ => return None,
    };
    Some(if swap {
        [blue, green, red, alpha]
    } else {
        [red, green, blue, alpha]
    })
}

/// One texel as red, green, blue, alpha; `None` for compressed and unknown formats and when bytes are missing.
pub fn decode(code: u8, swap: bool, bytes: &[u8]) -> Option<[f32; 4]> {
    if let Some(bytes) = decode_bytes(code, swap, bytes) {
        return Some(bytes.map(|byte| f32::from(byte) / 255.0));
    }
    if bytes.len() < by_code(code)?.bytes as usize {
        return None;
    }
    let word = |at: usize| Some(u32::from(*bytes.get(at)?) | u32::from(*bytes.get(at + 1)?) << 8);
    let half = |at: usize| word(at).map(|bits| half::to_f32(bits as u16));
    // What is luminance, alpha or intensity.
    let luminance = |l: f32| [l, l, l, 1.0];
    let alpha = |a: f32| [0.0, 0.0, 0.0, a];
    let [red, green, blue, a] = match code {
        0x0e => {
            let v = word(0)?;
            [unorm(v >> 11, 5), unorm(v >> 5 & 63, 6), unorm(v & 31, 5), 1.0]
        }
        0x0f => {
            let v = word(0)?;
            [
                unorm(v >> 10 & 31, 5),
                unorm(v >> 5 & 31, 5),
                unorm(v & 31, 5),
                (v >> 15) as f32,
            ]
        }
        0x10 => {
            let v = word(0)?;
            [
                unorm(v >> 8 & 15, 4),
                unorm(v >> 4 & 15, 4),
                unorm(v & 15, 4),
                unorm(v >> 12, 4),
            ]
        }
        0x12 => luminance(unorm(word(0)?, 16)),
        0x13 => alpha(unorm(word(0)?, 16)),
        0x14 => [unorm(word(0)?, 16); 4],
        0x22 => luminance(half(0)?),
        0x23 => alpha(half(0)?),
        0x24 => [half(0)?; 4],
        0x25 => {
            let l = half(0)?;
            [l, l, l, half(2)?]
        }
        0x26 => [half(4)?, half(2)?, half(0)?, half(6)?],
        0x2f => [half(4)?, half(2)?, half(0)?, 1.0],
        // Depth as luminance ([I]).
        0x2c => luminance((word(0)? | u32::from(*bytes.get(2)?) << 16) as f32 / 16_777_215.0),
        _ => return None,
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
        assert_eq!(decode(0x16, false, &[0, 51, 255, 102]), Some([1.0, 0.2, 0.0, 0.4]));
        assert_eq!(decode(0x16, true, &[0, 51, 255, 102]), Some([0.0, 0.2, 1.0, 0.4]));
        assert_eq!(decode(0x0e, false, &[0x1f, 0xf8]), Some([1.0, 0.0, 1.0, 1.0]));
        assert_eq!(decode(0x0a, false, &[255]), Some([0.0, 0.0, 0.0, 1.0]));
        assert_eq!(decode(0x3f, false, &[0; 8]), None);
        for format in FORMATS.iter().filter(|format| format.code != ETC1) {
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
