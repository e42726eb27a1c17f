//! Numbers and strings in assembly text.

use crate::spirv::operand::NumberType;

type Parsed<T> = Result<T, String>;

/// Parses an integer as C does: decimal, `0x` hexadecimal, or octal after a leading zero.
fn integer(text: &str) -> Option<(bool, u64, bool)> {
    let (negative, digits) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let hex = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X"));
    let value = match hex {
        Some(hex) => u64::from_str_radix(hex, 16),
        None if digits.len() > 1 && digits.starts_with('0') => u64::from_str_radix(digits, 8),
        None => digits.parse(),
    };
    let plain = digits.starts_with(|c: char| c.is_ascii_digit());
    value
        .ok()
        .filter(|_| plain)
        .map(|value| (negative, value, hex.is_some()))
}

/// A 32-bit unsigned integer.
pub(super) fn unsigned(text: &str) -> Option<u32> {
    integer(text).filter(|n| !n.0).and_then(|n| u32::try_from(n.1).ok())
}

/// A number of a given type, as words.
pub(super) fn number(text: &str, kind: NumberType) -> Parsed<Vec<u32>> {
    let width = u32::from(kind.width());
    match kind {
        NumberType::None => Err("a number of known type".to_owned()),
        NumberType::Float(16) => Ok(vec![float(text, 5, 10)? as u32]),
        NumberType::Float(32) => Ok(vec![float(text, 8, 23)? as u32]),
        NumberType::Float(64) => float(text, 11, 52).map(|bits| vec![bits as u32, (bits >> 32) as u32]),
        NumberType::Float(_) => Err(format!("a {width}-bit float, which cannot be written")),
        NumberType::Unsigned(_) | NumberType::Signed(_) if width == 0 || width > 64 => {
            Err(format!("a {width}-bit integer, which cannot be written"))
        }
        NumberType::Unsigned(_) => {
            let fits = |n: &(bool, u64, bool)| !n.0 && (width == 64 || n.1 >> width == 0);
            let value = integer(text)
                .filter(fits)
                .ok_or_else(|| format!("a {width}-bit unsigned integer"))?
                .1;
            Ok(words(value, width))
        }
        NumberType::Signed(_) => {
            let wanted = || format!("a {width}-bit signed integer");
            let (negative, value, hex) = integer(text).ok_or_else(wanted)?;
            let limit = 1u64 << (width - 1);
            let fits = match (negative, hex) {
                (true, _) => value <= limit,
                (false, true) => width == 64 || value >> width == 0,
                (false, false) => value < limit,
            };
            if !fits {
                return Err(wanted());
            }
            let value = if negative { value.wrapping_neg() } else { value };
            Ok(words(((value << (64 - width)) as i64 >> (64 - width)) as u64, width))
        }
    }
}

fn words(value: u64, width: u32) -> Vec<u32> {
    if width <= 32 {
        vec![value as u32]
    } else {
        vec![value as u32, (value >> 32) as u32]
    }
}

/// The bits of a float of the given format.
fn float(text: &str, exponent_bits: u32, fraction_bits: u32) -> Parsed<u64> {
    let wanted = || format!("a {}-bit float", 1 + exponent_bits + fraction_bits);
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (1u64, rest),
        None => (0, text.strip_prefix('+').unwrap_or(text)),
    };
    let sign = negative << (exponent_bits + fraction_bits);
    if let Some(hex) = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        return hex_float(hex, exponent_bits, fraction_bits)
            .map(|bits| sign | bits)
            .ok_or_else(wanted);
    }
    if !digits.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return Err(wanted());
    }
    let bits = match fraction_bits {
        52 => digits.parse::<f64>().ok().filter(|v| v.is_finite()).map(f64::to_bits),
        23 => digits
            .parse::<f32>()
            .ok()
            .filter(|v| v.is_finite())
            .map(|v| u64::from(v.to_bits())),
        _ => digits.parse::<f32>().ok().and_then(half),
    };
    bits.map(|bits| sign | bits).ok_or_else(wanted)
}

/// A positive float as half precision, rounded towards zero; `None` if it is too large.
fn half(value: f32) -> Option<u64> {
    if !value.is_finite() || value >= 65536.0 {
        return None;
    }
    let bits = value.to_bits();
    let (exponent, fraction) = ((bits >> 23) as i32 - 127, bits & 0x7f_ffff);
    Some(u64::from(match exponent {
        -14..=15 => ((exponent + 15) as u32) << 10 | fraction >> 13,
        -24..=-15 => (fraction | 0x80_0000) >> (-exponent - 1),
        _ => 0,
    }))
}

/// `h.hhhp±d`.
fn hex_float(text: &str, exponent_bits: u32, fraction_bits: u32) -> Option<u64> {
    let (mantissa, exponent) = text.split_once(['p', 'P'])?;
    let exponent: i64 = exponent.parse::<i32>().ok()?.into();
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let (mut value, mut scale) = (0u64, exponent);
    let mut seen = false;
    for (digit, after) in whole
        .chars()
        .map(|c| (c, false))
        .chain(fraction.chars().map(|c| (c, true)))
    {
        let digit = u64::from(digit.to_digit(16)?);
        seen = true;
        // Digits beyond 60 bits do not affect any of the widths.
        if value >> 56 == 0 {
            value = value << 4 | digit;
            scale -= if after { 4 } else { 0 };
        } else if !after {
            scale += 4;
        }
    }
    if !seen {
        return None;
    }
    if value == 0 {
        return Some(0);
    }
    let top = 63 - i64::from(value.leading_zeros());
    let exponent = scale + top;
    let bias = (1i64 << (exponent_bits - 1)) - 1;
    let fraction_of = |drop: i64| {
        if drop >= 64 {
            0
        } else if drop >= 0 {
            value >> drop
        } else {
            value << -drop
        }
    };
    let keep = i64::from(fraction_bits);
    // Infinity, like spirv-as. One above the largest exponent is how infinity and NaN are printed.
    if exponent > bias + 1 {
        return Some(((1 << exponent_bits) - 1) << fraction_bits);
    }
    if exponent < 1 - bias {
        return Some(fraction_of(top - keep + (1 - bias - exponent)));
    }
    let fraction = fraction_of(top - keep) & ((1 << fraction_bits) - 1);
    Some(((exponent + bias) as u64) << fraction_bits | fraction)
}

/// A quoted string as words; the quotation marks are required.
pub(super) fn string(text: &str) -> Option<Vec<u32>> {
    let inner = text.strip_prefix('"')?;
    let (mut bytes, mut escaped, mut closed) = (Vec::with_capacity(inner.len() + 4), false, false);
    for byte in inner.bytes() {
        match byte {
            _ if closed => return None,
            b'\\' if !escaped => escaped = true,
            b'"' if !escaped => closed = true,
            _ => {
                escaped = false;
                bytes.push(byte);
            }
        }
    }
    if !closed || bytes.contains(&0) {
        return None;
    }
    Some(super::super::operand::words_of_string(bytes))
}
