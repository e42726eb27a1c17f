//! Whether what a script expects is what there is.

use crate::amber::Comparator;
use crate::layout::{DataLayout, decode, load, store};
use crate::types::{Channel, Format, Scalar, Tolerance, Value};
use std::fmt::Write;

/// What texels may be off where a script says nothing: less than a 255th.
const TEXEL_TOLERANCE: f64 = 0.002;

/// A number as a type holds it.
fn rounded(value: Value, scalar: Scalar) -> Value {
    let mut bytes = [0; 8];
    let place = &mut bytes[..scalar.bytes()];
    store(place, scalar, value);
    load(place, scalar)
}

fn within(found: f64, wanted: f64, tolerance: &Tolerance) -> bool {
    let most = match tolerance.percent {
        true => tolerance.value / 100.0 * wanted.abs(),
        false => tolerance.value,
    };
    found == wanted || (found.is_nan() && wanted.is_nan()) || (found - wanted).abs() <= most
}

fn holds(found: Value, comparator: Comparator, wanted: Value, scalar: Scalar, tolerance: Option<&Tolerance>) -> bool {
    let wanted = rounded(wanted, scalar);
    if let Some(tolerance) = tolerance {
        return within(found.as_f64(), wanted.as_f64(), tolerance);
    }
    let order = match (found, wanted) {
        (Value::Int(found), Value::Int(wanted)) => Some(found.cmp(&wanted)),
        (Value::Float(found), Value::Float(wanted)) if found.is_nan() && wanted.is_nan() => {
            Some(std::cmp::Ordering::Equal)
        }
        (found, wanted) => found.as_f64().partial_cmp(&wanted.as_f64()),
    };
    match comparator {
        Comparator::Eq => order.is_some_and(|order| order.is_eq()),
        Comparator::Ne => order.is_none_or(|order| order.is_ne()),
        Comparator::Lt => order.is_some_and(|order| order.is_lt()),
        Comparator::Le => order.is_some_and(|order| order.is_le()),
        Comparator::Gt => order.is_some_and(|order| order.is_gt()),
        Comparator::Ge => order.is_some_and(|order| order.is_ge()),
    }
}

/// Numbers that are wanted, from a byte on.
pub(super) struct Values<'a> {
    pub offset: u64,
    pub comparator: Comparator,
    pub tolerances: &'a [Tolerance],
    pub values: &'a [Value],
}

/// Whether the numbers of a buffer are as wanted; otherwise where they are not, in words.
pub(super) fn values(bytes: &[u8], layout: &DataLayout, wanted: &Values<'_>) -> Result<(), String> {
    let start = usize::try_from(wanted.offset).unwrap_or(usize::MAX);
    if layout.stride == 0 || start >= bytes.len() {
        return Err(format!("byte {start} is past the end: there are {} bytes", bytes.len()));
    }
    let first = layout.find(start);
    for (at, ((byte, scalar), value)) in layout.from(first).zip(wanted.values).enumerate() {
        let Some(place) = bytes.get(byte..byte + scalar.bytes()) else {
            return Err(format!(
                "number {at} at byte {byte} is past the end: there are {} bytes",
                bytes.len()
            ));
        };
        let lane = (first.1 + at) % layout.lanes.len();
        let tolerance = match wanted.tolerances {
            [] => None,
            [one] => Some(one),
            several => several.get(lane),
        };
        let found = load(place, scalar);
        if !holds(found, wanted.comparator, *value, scalar, tolerance) {
            let element = byte / layout.stride;
            let within = tolerance.map_or(String::new(), |tolerance| format!(" within {tolerance}"));
            return Err(format!(
                "byte {byte} (element {element}, number {at} of those named): wanted {} {value}{within}, found {found}",
                wanted.comparator
            ));
        }
    }
    Ok(())
}

/// A picture to be looked at.
pub(super) struct Pixels<'a> {
    pub format: &'a Format,
    pub size: [u32; 2],
    pub bytes: &'a [u8],
}

/// A rectangle and the colour that is wanted in it.
pub(super) struct Wanted<'a> {
    pub position: [u32; 2],
    pub size: [u32; 2],
    pub color: &'a [f64],
    pub tolerances: &'a [Tolerance],
}

/// Whether all pixels of a rectangle have a colour; otherwise the first that has not, in words.
pub(super) fn pixels(picture: &Pixels<'_>, wanted: &Wanted<'_>) -> Result<(), String> {
    let ([x, y], [width, height]) = (wanted.position, wanted.size);
    let [all_x, all_y] = picture.size;
    let fits =
        x.checked_add(width).is_some_and(|end| end <= all_x) && y.checked_add(height).is_some_and(|end| end <= all_y);
    if !fits || width == 0 || height == 0 {
        return Err(format!(
            "a rectangle of {width}x{height} at {x}, {y} is not within the picture of {all_x}x{all_y}"
        ));
    }
    let mut colors = picture.format.components().iter();
    if !colors.any(|one| matches!(one.channel, Channel::R | Channel::G | Channel::B | Channel::A)) {
        return Err(format!("{} has no colours", picture.format));
    }
    let texel = picture.format.bytes();
    let default = Tolerance {
        value: TEXEL_TOLERANCE,
        percent: false,
    };
    let tolerance = |at: usize| match wanted.tolerances {
        [] => default,
        [one] => *one,
        several => several.get(at).copied().unwrap_or(default),
    };
    let (mut wrong, mut first) = (0u64, None);
    for row in y..y + height {
        for column in x..x + width {
            let start = (row as usize * all_x as usize + column as usize) * texel;
            let Some(bytes) = picture.bytes.get(start..start + texel) else {
                return Err("the picture has no such pixel".to_owned());
            };
            let found = decode(picture.format, bytes);
            let holds = [Channel::R, Channel::G, Channel::B, Channel::A]
                .into_iter()
                .zip(wanted.color)
                .enumerate()
                .all(|(at, (channel, wanted))| {
                    let component = found.iter().find(|(one, _)| *one == channel);
                    component.is_none_or(|(_, found)| within(*found, *wanted, &tolerance(at)))
                });
            if !holds {
                wrong += 1;
                first.get_or_insert((column, row, found));
            }
        }
    }
    let Some((column, row, found)) = first else {
        return Ok(());
    };
    let mut text = format!("pixel {column}, {row}: wanted {}, found", color(wanted.color));
    for (channel, value) in found {
        let _ = write!(text, " {channel:?} {value:.4}");
    }
    let all = u64::from(width) * u64::from(height);
    let _ = write!(text, "; {wrong} of {all} pixels are wrong");
    Err(text)
}

fn color(values: &[f64]) -> String {
    let words: Vec<String> = ["R", "G", "B", "A"]
        .iter()
        .zip(values)
        .map(|(name, value)| format!("{name} {value:.4}"))
        .collect();
    words.join(" ")
}

/// Whether two buffers hold the same.
pub(super) fn equal(one: &[u8], other: &[u8]) -> Result<(), String> {
    if one.len() != other.len() {
        return Err(format!("{} bytes and {} bytes", one.len(), other.len()));
    }
    let mut differ = one
        .iter()
        .zip(other)
        .enumerate()
        .filter(|(_, (one, other))| one != other);
    let Some((at, (one_byte, other_byte))) = differ.next() else {
        return Ok(());
    };
    let more = differ.count() + 1;
    Err(format!(
        "byte {at}: {one_byte} and {other_byte}; {more} of {} bytes differ",
        one.len()
    ))
}

/// The numbers of two buffers side by side.
fn pairs(one: &[u8], other: &[u8], layout: &DataLayout) -> Result<Vec<(f64, f64)>, String> {
    if one.len() != other.len() || one.is_empty() || layout.stride == 0 {
        return Err(format!("{} bytes and {} bytes", one.len(), other.len()));
    }
    let count = one.len() / layout.stride * layout.lanes.len();
    let read =
        |bytes: &[u8], (byte, scalar): (usize, Scalar)| load(&bytes[byte..byte + scalar.bytes()], scalar).as_f64();
    Ok(layout
        .from((0, 0))
        .take(count)
        .map(|place| (read(one, place), read(other, place)))
        .collect())
}

/// Whether the root of the mean square difference of all numbers is small enough.
pub(super) fn rmse(one: &[u8], other: &[u8], layout: &DataLayout, most: f64) -> Result<(), String> {
    let pairs = pairs(one, other, layout)?;
    let sum: f64 = pairs.iter().map(|(one, other)| (one - other) * (one - other)).sum();
    let found = (sum / pairs.len() as f64).sqrt();
    if found <= most {
        Ok(())
    } else {
        Err(format!("the root mean square error is {found}, more than {most}"))
    }
}

/// How many values a histogram tells apart.
const BINS: usize = 256;

/// Whether the histograms of each channel are near each other: by how far how much of one has to be moved to be the
/// other, as a part of the whole range.
pub(super) fn histogram(one: &[u8], other: &[u8], layout: &DataLayout, most: f64) -> Result<(), String> {
    if layout.lanes.iter().any(|lane| lane.scalar != Scalar::Uint8) {
        return Err("histograms are of channels of eight bits".to_owned());
    }
    let lanes = layout.lanes.len();
    let elements = pairs(one, other, layout)?.len() / lanes;
    let mut worst = 0.0f64;
    for lane in &layout.lanes {
        let mut bins = [[0i64; BINS]; 2];
        for (bins, bytes) in bins.iter_mut().zip([one, other]) {
            for element in 0..elements {
                bins[usize::from(bytes[element * layout.stride + lane.offset])] += 1;
            }
        }
        let (mut carried, mut moved) = (0i64, 0i64);
        for (one, other) in bins[0].iter().zip(&bins[1]) {
            carried += one - other;
            moved += carried.abs();
        }
        worst = worst.max(moved as f64 / elements as f64 / BINS as f64);
    }
    if worst <= most {
        Ok(())
    } else {
        Err(format!("the histograms are {worst:.6} apart, more than {most}"))
    }
}
