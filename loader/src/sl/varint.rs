//! The integers of SL: as many leading zero bits as bytes follow, a one bit, then the value, big-endian (seed).

use super::FORMAT;
use crate::cursor::Cursor;
use crate::{Error, Result};

/// Largest value a varint holds: seven bits in each of eight bytes.
pub const MAX_VARINT: u64 = (1 << 56) - 1;

/// Reads a varint, and returns whether it had the shortest form.
///
/// A first byte of zero has no one bit, so it is not a valid prefix.
pub fn varint(cursor: &mut Cursor<'_>, what: &str) -> Result<(u64, bool)> {
    let at = cursor.offset();
    let first = cursor.u8(what)?;
    let more = first.leading_zeros() as usize;
    if more == 8 {
        return Err(Error::invalid(
            FORMAT,
            format!("{what}: a varint cannot begin with 00"),
            at,
        ));
    }
    let mut value = u64::from(first) & (0x7f >> more);
    for &byte in cursor.take(more, what)? {
        value = value << 8 | u64::from(byte);
    }
    Ok((value, more == 0 || value >> (7 * more) != 0))
}

/// Appends the shortest varint of a value; values above [`MAX_VARINT`] are an error.
pub fn put_varint(out: &mut Vec<u8>, value: u64) -> Result<()> {
    if value > MAX_VARINT {
        return Err(Error::unsupported(
            FORMAT,
            format!("{value} does not fit a varint of 56 bits"),
        ));
    }
    let bits = 64 - value.leading_zeros() as usize;
    let bytes = bits.div_ceil(7).max(1);
    let marked = value | 1 << (7 * bytes);
    out.extend_from_slice(&marked.to_be_bytes()[8 - bytes..]);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(value: u64) -> Vec<u8> {
        let mut out = Vec::new();
        put_varint(&mut out, value).expect("fits");
        out
    }

    #[test]
    fn examples_of_the_description() {
        for (value, expected) in [
            (0, &[0x80][..]),
            (127, &[0xff]),
            (128, &[0x40, 0x80]),
            (50_000, &[0x20, 0xc3, 0x50]),
        ] {
            assert_eq!(bytes(value), expected);
        }
    }

    #[test]
    fn every_boundary_round_trips() {
        for length in 1..=8 {
            let top = (1u64 << (7 * length)) - 1;
            for (value, size) in [(top, length), (top + 1, length + 1)] {
                if value > MAX_VARINT {
                    assert!(put_varint(&mut Vec::new(), value).is_err());
                    continue;
                }
                let coded = bytes(value);
                assert_eq!(coded.len(), size);
                let read = varint(&mut Cursor::new(FORMAT, &coded), "it").expect("whole");
                assert_eq!(read, (value, true));
                for cut in 0..size {
                    assert!(varint(&mut Cursor::new(FORMAT, &coded[..cut]), "it").is_err());
                }
            }
        }
        assert!(varint(&mut Cursor::new(FORMAT, &[0; 9]), "it").is_err());
        let long = varint(&mut Cursor::new(FORMAT, &[0x40, 0]), "it").expect("long form");
        assert_eq!(long, (0, false));
    }
}
