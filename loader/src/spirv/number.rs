//! Literal numbers as text, as the reference disassembler writes them.

use super::operand::NumberType;

pub(super) fn push_u64(out: &mut Vec<u8>, mut value: u64) {
    let mut digits = [0u8; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (value % 10) as u8;
        value /= 10;
        if value == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

#[inline]
pub(super) fn push_u32(out: &mut Vec<u8>, value: u32) {
    if value < 10 {
        out.push(b'0' + value as u8);
    } else if value < 100 {
        out.extend_from_slice(&[b'0' + (value / 10) as u8, b'0' + (value % 10) as u8]);
    } else {
        push_u64(out, u64::from(value));
    }
}

fn push_i64(out: &mut Vec<u8>, value: i64) {
    if value < 0 {
        out.push(b'-');
    }
    push_u64(out, value.unsigned_abs());
}

/// A literal of one or two words (wider ones print as nothing, as in the reference).
pub(super) fn push_literal(out: &mut Vec<u8>, words: &[u32], number: NumberType) {
    match (words, number) {
        (&[word], NumberType::Signed(_)) => push_i64(out, i64::from(word as i32)),
        (&[word], NumberType::Float(16)) => push_hex_float(out, u64::from(word & 0xffff), 5, 10),
        (&[word], NumberType::Float(_)) => push_f32(out, word),
        (&[word], _) => push_u32(out, word),
        (&[low, high], _) => {
            let value = u64::from(low) | u64::from(high) << 32;
            match number {
                NumberType::Signed(_) => push_i64(out, value as i64),
                NumberType::Float(_) => push_f64(out, value),
                _ => push_u64(out, value),
            }
        }
        _ => {}
    }
}

fn push_f32(out: &mut Vec<u8>, bits: u32) {
    let value = f32::from_bits(bits);
    if value.is_normal() || value == 0.0 {
        push_general(out, &format!("{value:.8e}"), 9);
    } else {
        push_hex_float(out, u64::from(bits), 8, 23);
    }
}

fn push_f64(out: &mut Vec<u8>, bits: u64) {
    let value = f64::from_bits(bits);
    if value.is_normal() || value == 0.0 {
        push_general(out, &format!("{value:.16e}"), 17);
    } else {
        push_hex_float(out, bits, 11, 52);
    }
}

/// C's `%.{precision}g`, from the digits in scientific notation.
fn push_general(out: &mut Vec<u8>, scientific: &str, precision: i32) {
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let (sign, mantissa) = mantissa.strip_prefix('-').map_or(("", mantissa), |m| ("-", m));
    let digits: Vec<u8> = mantissa.bytes().filter(u8::is_ascii_digit).collect();
    let kept = digits.len() - digits.iter().rev().take_while(|d| **d == b'0').count();
    let digits = &digits[..kept.max(1)];
    out.extend_from_slice(sign.as_bytes());
    if exponent < -4 || exponent >= precision {
        out.push(digits[0]);
        if digits.len() > 1 {
            out.push(b'.');
            out.extend_from_slice(&digits[1..]);
        }
        out.extend_from_slice(if exponent < 0 { b"e-" } else { b"e+" });
        if exponent.abs() < 10 {
            out.push(b'0');
        }
        push_u64(out, u64::from(exponent.unsigned_abs()));
    } else if exponent < 0 {
        out.extend_from_slice(b"0.");
        out.extend(std::iter::repeat_n(b'0', (-exponent - 1) as usize));
        out.extend_from_slice(digits);
    } else {
        let whole = exponent as usize + 1;
        out.extend_from_slice(&digits[..whole.min(digits.len())]);
        out.extend(std::iter::repeat_n(b'0', whole.saturating_sub(digits.len())));
        if digits.len() > whole {
            out.push(b'.');
            out.extend_from_slice(&digits[whole..]);
        }
    }
}

/// Hexadecimal form of a float with `exponent_bits` and `fraction_bits`; infinities and NaNs have the exponent one
/// beyond the largest.
fn push_hex_float(out: &mut Vec<u8>, bits: u64, exponent_bits: u32, fraction_bits: u32) {
    let sign = bits >> (exponent_bits + fraction_bits) & 1;
    let biased = bits >> fraction_bits & ((1 << exponent_bits) - 1);
    let nibbles = fraction_bits.div_ceil(4);
    let room = nibbles * 4;
    let mut fraction = (bits & ((1 << fraction_bits) - 1)) << (room - fraction_bits);
    let bias = (1i64 << (exponent_bits - 1)) - 1;
    let zero = biased == 0 && fraction == 0;
    let mut exponent = if zero { 0 } else { biased as i64 - bias };
    if biased == 0 && !zero {
        while fraction >> (room - 1) & 1 == 0 {
            fraction <<= 1;
            exponent -= 1;
        }
        fraction = (fraction << 1) & ((1u64 << room) - 1);
    }
    let text = if fraction == 0 {
        String::new()
    } else {
        format!(".{fraction:0width$x}", width = nibbles as usize)
            .trim_end_matches('0')
            .to_owned()
    };
    let sign = if sign == 1 { "-" } else { "" };
    out.extend_from_slice(format!("{sign}0x{}{text}p{exponent:+}", u8::from(!zero)).as_bytes());
}
