//! Where the numbers of a type lie in bytes.

use crate::amber::{Layout, Struct};
use crate::types::{Array, Channel, DataType, Format, Numeric, Scalar, TypeName, Value};
use std::collections::BTreeMap;

/// A number in an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lane {
    /// Its first byte.
    pub offset: usize,
    /// What it is.
    pub scalar: Scalar,
}

/// How elements of a type lie one behind the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataLayout {
    /// The numbers of an element, by their places.
    pub lanes: Vec<Lane>,
    /// Bytes from one element to the next.
    pub stride: usize,
}

/// More numbers than an element of a script ever has; a type with more is refused.
const MOST_LANES: usize = 1 << 16;

/// A type within another.
struct Part {
    lanes: Vec<Lane>,
    size: usize,
    align: usize,
}

/// Reads types in one way of laying them out.
struct Reader<'a> {
    layout: Layout,
    structs: &'a BTreeMap<String, &'a Struct>,
    /// Structures that are being read, so that none has itself within.
    depth: usize,
    /// Structures lay their columns out by rows.
    row_major: bool,
}

impl DataLayout {
    /// The layout of a type.
    ///
    /// # Errors
    /// A structure that there is not, or one that is too large, in words.
    pub fn new(kind: &DataType, layout: Layout, structs: &BTreeMap<String, &Struct>) -> Result<Self, LayoutError> {
        Self::of(kind, layout, structs, false)
    }

    /// As [`DataLayout::new`], with matrices by rows where that is wanted.
    ///
    /// # Errors
    /// As [`DataLayout::new`].
    pub fn of(
        kind: &DataType,
        layout: Layout,
        structs: &BTreeMap<String, &Struct>,
        row_major: bool,
    ) -> Result<Self, LayoutError> {
        let mut reader = Reader {
            layout,
            structs,
            depth: 0,
            row_major,
        };
        let part = reader.element(&kind.name, None)?;
        let format = matches!(kind.name, TypeName::Format(_));
        let align = match kind.array {
            Array::None => part.align,
            _ if format => part.align,
            _ => reader.array_align(part.align),
        };
        Ok(Self {
            stride: part.size.next_multiple_of(align),
            lanes: part.lanes,
        })
    }

    /// The layout of texels.
    pub fn texels(format: &Format) -> Self {
        let lanes = texel_lanes(format);
        let stride = lanes.last().map_or(0, |last| last.offset + last.scalar.bytes());
        Self { lanes, stride }
    }

    /// Bytes of `count` elements with these numbers in them, the rest nought.
    pub fn bytes(&self, values: impl IntoIterator<Item = Value>, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count * self.stride];
        let places = bytes
            .chunks_exact_mut(self.stride)
            .flat_map(|element| split(element, &self.lanes));
        for ((place, scalar), value) in places.zip(values) {
            store(place, scalar, value);
        }
        bytes
    }

    /// The first number at or behind a byte: its element and its place among the lanes.
    pub fn find(&self, byte: usize) -> (usize, usize) {
        let (element, within) = (byte / self.stride, byte % self.stride);
        match self.lanes.iter().position(|lane| lane.offset >= within) {
            Some(lane) => (element, lane),
            None => (element + 1, 0),
        }
    }

    /// The numbers from one on: each with its first byte and its type.
    pub fn from(&self, (element, lane): (usize, usize)) -> impl Iterator<Item = (usize, Scalar)> + '_ {
        let first = element * self.lanes.len() + lane;
        (first..).map(|at| {
            let lane = self.lanes[at % self.lanes.len()];
            (at / self.lanes.len() * self.stride + lane.offset, lane.scalar)
        })
    }
}

/// Why a type has no layout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayoutError(pub String);

/// The places of lanes in an element's bytes.
fn split<'a>(element: &'a mut [u8], lanes: &[Lane]) -> Vec<(&'a mut [u8], Scalar)> {
    let (mut places, mut rest, mut at) = (Vec::new(), element, 0);
    for lane in lanes {
        let (_, from) = rest.split_at_mut(lane.offset - at);
        let (place, after) = from.split_at_mut(lane.scalar.bytes());
        places.push((place, lane.scalar));
        (rest, at) = (after, lane.offset + lane.scalar.bytes());
    }
    places
}

/// Numbers of a texel: packed ones are one.
fn texel_lanes(format: &Format) -> Vec<Lane> {
    let unsigned = |bytes: usize| match bytes {
        1 => Scalar::Uint8,
        2 => Scalar::Uint16,
        4 => Scalar::Uint32,
        _ => Scalar::Uint64,
    };
    let one = |scalar| vec![Lane { offset: 0, scalar }];
    if let Some(depth) = format.components().iter().find(|one| one.channel == Channel::D) {
        // As copies of the depth aspect have it.
        return one(match (depth.bits, depth.numeric) {
            (16, _) => Scalar::Uint16,
            (_, Numeric::Sfloat) => Scalar::Float,
            _ => Scalar::Uint32,
        });
    }
    if format.is_packed() {
        return one(unsigned(format.bytes()));
    }
    let mut offset = 0;
    let lane = |component: &crate::types::Component| {
        let bytes = usize::from(component.bits).div_ceil(8);
        let scalar = match (component.numeric, bytes) {
            (Numeric::Sfloat | Numeric::Ufloat, 2) => Scalar::Float16,
            (Numeric::Sfloat | Numeric::Ufloat, 4) => Scalar::Float,
            (Numeric::Sfloat | Numeric::Ufloat, _) => Scalar::Double,
            (Numeric::Snorm | Numeric::Sint | Numeric::Sscaled, 1) => Scalar::Int8,
            (Numeric::Snorm | Numeric::Sint | Numeric::Sscaled, 2) => Scalar::Int16,
            (Numeric::Snorm | Numeric::Sint | Numeric::Sscaled, 4) => Scalar::Int32,
            (Numeric::Snorm | Numeric::Sint | Numeric::Sscaled, _) => Scalar::Int64,
            _ => unsigned(bytes),
        };
        let lane = Lane { offset, scalar };
        offset += scalar.bytes();
        lane
    };
    format.components().iter().map(lane).collect()
}

impl Reader<'_> {
    fn array_align(&self, align: usize) -> usize {
        match self.layout {
            Layout::Std140 => align.next_multiple_of(16),
            _ => align,
        }
    }

    fn vector(&self, scalar: Scalar, count: u8) -> Part {
        let bytes = scalar.bytes();
        let lane = |at: u8| Lane {
            offset: usize::from(at) * bytes,
            scalar,
        };
        let align = match (self.layout, count) {
            (Layout::Scalar, _) | (_, 1) => bytes,
            (_, 2) => 2 * bytes,
            _ => 4 * bytes,
        };
        Part {
            lanes: (0..count).map(lane).collect(),
            size: usize::from(count) * bytes,
            align,
        }
    }

    fn element(&mut self, name: &TypeName, matrix_stride: Option<u32>) -> Result<Part, LayoutError> {
        Ok(match name {
            TypeName::Scalar(scalar) => self.vector(*scalar, 1),
            TypeName::Vector(scalar, count) => self.vector(*scalar, *count),
            TypeName::Matrix { scalar, columns, rows } => self.matrix(*scalar, *columns, *rows, matrix_stride),
            TypeName::Format(format) => {
                let DataLayout { lanes, stride } = DataLayout::texels(format);
                Part {
                    align: 1,
                    size: stride,
                    lanes,
                }
            }
            TypeName::Struct(name) => self.structure(name)?,
        })
    }

    /// Numbers of a matrix stand in the script column by column, however they lie.
    fn matrix(&self, scalar: Scalar, columns: u8, rows: u8, stride: Option<u32>) -> Part {
        let (major, minor) = if self.row_major {
            (rows, columns)
        } else {
            (columns, rows)
        };
        let vector = self.vector(scalar, minor);
        let align = self.array_align(vector.align);
        let stride = stride.map_or(vector.size.next_multiple_of(align), |stride| stride as usize);
        let mut lanes = Vec::new();
        for column in 0..usize::from(columns) {
            for row in 0..usize::from(rows) {
                let (outer, inner) = if self.row_major { (row, column) } else { (column, row) };
                let offset = outer * stride + inner * scalar.bytes();
                lanes.push(Lane { offset, scalar });
            }
        }
        if self.row_major {
            lanes.sort_by_key(|lane| lane.offset);
        }
        Part {
            lanes,
            size: stride * usize::from(major),
            align,
        }
    }

    fn structure(&mut self, name: &str) -> Result<Part, LayoutError> {
        const MOST_DEPTH: usize = 16;
        let Some(found) = self.structs.get(name).copied() else {
            return Err(LayoutError(format!("no type {name}")));
        };
        if self.depth == MOST_DEPTH {
            return Err(LayoutError(format!("the structure {name} is nested too deeply")));
        }
        self.depth += 1;
        let (mut lanes, mut end, mut align) = (Vec::new(), 0usize, self.array_align(1));
        for member in &found.members {
            let part = self.element(&member.kind.name, member.matrix_stride)?;
            let count = match member.kind.array {
                Array::None => 1,
                Array::Sized(count) => count as usize,
                Array::Runtime => return Err(LayoutError(format!("the member {} has no size", member.name))),
            };
            let array = member.kind.array != Array::None;
            let part_align = if array {
                self.array_align(part.align)
            } else {
                part.align
            };
            let stride = match member.array_stride {
                Some(stride) if array => stride as usize,
                _ if array => part.size.next_multiple_of(part_align),
                _ => part.size,
            };
            let start = match member.offset {
                Some(offset) => offset as usize,
                None => end.next_multiple_of(part_align),
            };
            if lanes.len() + count.saturating_mul(part.lanes.len()) > MOST_LANES {
                return Err(LayoutError(format!("the structure {name} is too large")));
            }
            for element in 0..count {
                let moved = |lane: &Lane| Lane {
                    offset: start + element * stride + lane.offset,
                    ..*lane
                };
                lanes.extend(part.lanes.iter().map(moved));
            }
            end = start + stride * count;
            align = align.max(part_align);
        }
        self.depth -= 1;
        let ordered = lanes
            .windows(2)
            .all(|two| two[0].offset + two[0].scalar.bytes() <= two[1].offset);
        if !ordered {
            return Err(LayoutError(format!("members of {name} lie over each other")));
        }
        let size = match found.stride {
            Some(stride) if (stride as usize) < end => {
                return Err(LayoutError(format!(
                    "{name} has {end} bytes, which a stride of {stride} has no room for"
                )));
            }
            Some(stride) => stride as usize,
            None => end.next_multiple_of(align),
        };
        Ok(Part { lanes, size, align })
    }
}

/// Writes a number.
pub fn store(place: &mut [u8], scalar: Scalar, value: Value) {
    let int = value.as_int();
    match scalar {
        Scalar::Int8 | Scalar::Uint8 => place.copy_from_slice(&(int as u8).to_le_bytes()),
        Scalar::Int16 | Scalar::Uint16 => place.copy_from_slice(&(int as u16).to_le_bytes()),
        Scalar::Int32 | Scalar::Uint32 => place.copy_from_slice(&(int as u32).to_le_bytes()),
        Scalar::Int64 | Scalar::Uint64 => place.copy_from_slice(&(int as u64).to_le_bytes()),
        Scalar::Float16 => place.copy_from_slice(&half::f16::from_f64(value.as_f64()).to_le_bytes()),
        Scalar::Float => place.copy_from_slice(&(value.as_f64() as f32).to_le_bytes()),
        Scalar::Double => place.copy_from_slice(&value.as_f64().to_le_bytes()),
    }
}

/// Reads a number.
pub fn load(place: &[u8], scalar: Scalar) -> Value {
    let mut wide = [0; 8];
    wide[..place.len()].copy_from_slice(place);
    let bits = u64::from_le_bytes(wide);
    match scalar {
        Scalar::Int8 => Value::Int((bits as i8).into()),
        Scalar::Int16 => Value::Int((bits as i16).into()),
        Scalar::Int32 => Value::Int((bits as i32).into()),
        Scalar::Int64 => Value::Int((bits as i64).into()),
        Scalar::Uint8 | Scalar::Uint16 | Scalar::Uint32 | Scalar::Uint64 => Value::Int(bits.into()),
        Scalar::Float16 => Value::Float(half::f16::from_bits(bits as u16).to_f64()),
        Scalar::Float => Value::Float(f32::from_bits(bits as u32).into()),
        Scalar::Double => Value::Float(f64::from_bits(bits)),
    }
}

/// The format that a type is as a texel or a vertex attribute.
pub fn format_of(name: &TypeName) -> Option<Format> {
    let (scalar, count) = match name {
        TypeName::Scalar(scalar) => (*scalar, 1),
        TypeName::Vector(scalar, count) => (*scalar, usize::from(*count)),
        TypeName::Format(format) => return Some(format.clone()),
        TypeName::Matrix { .. } | TypeName::Struct(_) => return None,
    };
    let numeric = match scalar {
        Scalar::Int8 | Scalar::Int16 | Scalar::Int32 | Scalar::Int64 => "SINT",
        Scalar::Uint8 | Scalar::Uint16 | Scalar::Uint32 | Scalar::Uint64 => "UINT",
        Scalar::Float16 | Scalar::Float | Scalar::Double => "SFLOAT",
    };
    let bits = scalar.bytes() * 8;
    let letters: String = ["R", "G", "B", "A"]
        .iter()
        .take(count)
        .map(|letter| format!("{letter}{bits}"))
        .collect();
    Format::parse(&format!("{letters}_{numeric}"))
}

/// What the components of a texel mean, by channel: normalised numbers from 0 to 1, colours of sRGB linear.
pub fn decode(format: &Format, texel: &[u8]) -> Vec<(Channel, f64)> {
    let mut bits = [0; 32];
    bits[..texel.len()].copy_from_slice(texel);
    let mut at = 0;
    let read = |component: crate::types::Component| {
        let size = u32::from(component.bits);
        let (byte, shift) = (at / 8, at % 8);
        at += usize::from(component.bits);
        let mut word = [0; 16];
        word.copy_from_slice(&bits[byte..byte + 16]);
        let raw = (u128::from_le_bytes(word) >> shift) as u64 & (u64::MAX >> (64 - size));
        let signed = ((raw << (64 - size)) as i64) >> (64 - size);
        let full = (u64::MAX >> (64 - size)) as f64;
        let value = match component.numeric {
            Numeric::Unorm => raw as f64 / full,
            Numeric::Snorm => (signed as f64 / ((full - 1.0) / 2.0)).max(-1.0),
            Numeric::Uint | Numeric::Uscaled => raw as f64,
            Numeric::Sint | Numeric::Sscaled => signed as f64,
            Numeric::Srgb if component.channel == Channel::A => raw as f64 / full,
            Numeric::Srgb => linear(raw as f64 / full),
            Numeric::Sfloat | Numeric::Ufloat => float(raw, size),
        };
        (component.channel, value)
    };
    format.in_memory().into_iter().map(read).collect()
}

/// A floating-point number of 64, 32, 16, 11 or 10 bits; 11 and 10 bits have no sign.
fn float(raw: u64, bits: u32) -> f64 {
    match bits {
        64 => f64::from_bits(raw),
        32 => f32::from_bits(raw as u32).into(),
        16 => half::f16::from_bits(raw as u16).to_f64(),
        // Six or five bits of mantissa where a half has ten.
        11 => half::f16::from_bits((raw as u16) << 4).to_f64(),
        _ => half::f16::from_bits((raw as u16) << 5).to_f64(),
    }
}

fn linear(value: f64) -> f64 {
    match value <= 0.04045 {
        true => value / 12.92,
        false => ((value + 0.055) / 1.055).powf(2.4),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(kind: &str, layout: Layout) -> (Vec<usize>, usize) {
        let kind = DataType::parse(kind).expect(kind);
        let layout = DataLayout::new(&kind, layout, &BTreeMap::new()).expect("a layout");
        (layout.lanes.iter().map(|lane| lane.offset).collect(), layout.stride)
    }

    #[test]
    fn types_lie_as_the_language_documents() {
        use Layout::{Scalar, Std140, Std430};
        assert_eq!(layout("float", Std140), (vec![0], 4));
        assert_eq!(layout("float[]", Std140), (vec![0], 16));
        assert_eq!(layout("float[]", Std430), (vec![0], 4));
        assert_eq!(layout("vec3<float>", Std430), (vec![0, 4, 8], 16));
        assert_eq!(layout("vec3<float>", Scalar), (vec![0, 4, 8], 12));
        assert_eq!(layout("vec3<int8>[]", Std140), (vec![0, 1, 2], 16));
        assert_eq!(layout("mat2x2<float>", Std140), (vec![0, 4, 16, 20], 32));
        assert_eq!(layout("mat2x2<float>", Std430), (vec![0, 4, 8, 12], 16));
        assert_eq!(layout("mat2x3<float>", Std430), (vec![0, 4, 8, 16, 20, 24], 32));
        assert_eq!(layout("R8G8B8_UNORM", Std430), (vec![0, 1, 2], 3));
    }

    #[test]
    fn texels_mean_what_their_formats_say() {
        let texel = |name: &str, bytes: &[u8]| decode(&Format::parse(name).expect(name), bytes);
        assert_eq!(texel("B8G8R8A8_UNORM", &[0, 0, 255, 255])[2], (Channel::R, 1.0));
        assert_eq!(
            texel("A2B10G10R10_UNORM_PACK32", &0xC000_03FFu32.to_le_bytes())[0],
            (Channel::R, 1.0)
        );
        assert_eq!(texel("R8_SNORM", &[0x81]), vec![(Channel::R, -1.0)]);
        assert_eq!(texel("R16_SFLOAT", &0x3C00u16.to_le_bytes()), vec![(Channel::R, 1.0)]);
        let packed = texel(
            "B10G11R11_UFLOAT_PACK32",
            &(0x3C0u32 | 0x3C0 << 11 | 0x1E0 << 22).to_le_bytes(),
        );
        assert_eq!(packed, vec![(Channel::R, 1.0), (Channel::G, 1.0), (Channel::B, 1.0)]);
    }
}
