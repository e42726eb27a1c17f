//! Default data for a shader: deterministic, and chosen to produce a visible picture.
//!
//! | what | default |
//! |---|---|
//! | picture | 256x256, cleared to opaque black, one draw of three vertices |
//! | vertex position: the first float vector input of 2 to 4 components with `pos` in its name, else the first such input | a triangle pointing up, inside the picture; z = 0, w = 1; each further triangle is half the size of the previous one |
//! | other float vectors of 2 | texture coordinates: (0.5, 0), (1, 1), (0, 1) |
//! | other float vectors of 3 and 4 | red, green, blue; alpha 1 |
//! | float scalars | 0.5 |
//! | matrices | identity |
//! | integers | the vertex index |
//! | uniform members | matrices identity; numbers 1; true; 0 if the name suggests a position: offset, shift, translat, bias, time, pos, index |
//! | sampled images | a checkerboard of 8x8 squares, white and (0.25, 0.25, 0.25), alpha 1, 64 texels per side (16 in a volume, 4 layers in an array); RGBA8, or 255 and 64 in 32-bit integers; nearest, repeating |
//! | storage images | the same checkerboard, of the picture's size (depth and layers 4) |
//! | buffers | 64 elements; members declared float are 1, matrices identity, integers 0 |
//! | texel buffers | 256 texels: i/255 in every component, integers i |
//! | subpass inputs | the checkerboard, of the picture's size |

use crate::error::{Error, Result};
use crate::interface::{Interface, Uniform};
use loader::spirv::block::{Class, Field};
use loader::vbc::{BaseType, Binding, Shape, SubpassInput, TexelType, Variable};
use vulkan::{Dim, Draw, SamplerDesc, SlotData, TexelFormat, Texels};

/// Number of elements in a default buffer.
const BUFFER_ELEMENTS: usize = 64;

/// Number of texels in a default texel buffer.
const BUFFER_TEXELS: u32 = 256;

/// The triangle's corners, and matching attributes.
const CORNERS: [[f64; 2]; 3] = [[0.0, -0.8], [0.8, 0.8], [-0.8, 0.8]];
const TEXCOORDS: [[f64; 2]; 3] = [[0.5, 0.0], [1.0, 1.0], [0.0, 1.0]];

/// A draw of this shader with default data for all its declarations.
///
/// # Errors
/// Only if the reflection has types that cannot hold data.
pub fn draw(interface: &Interface, size: [u32; 2], vertices: u32) -> Result<Draw> {
    let mut draw = Draw {
        size,
        vertices,
        ..Draw::default()
    };
    let position = position(interface);
    for input in &interface.inputs {
        let location = input.variable.location;
        let corners = (position == Some(location)).then(|| corners(interface.y_up));
        let bytes = vertex_input(input.variable, corners, vertices);
        draw.vertex_data.insert(location, bytes);
    }
    draw.uniform = vec![0; interface.uniform_size];
    for member in &interface.uniform {
        write_at(&mut draw.uniform, member.offset, &uniform_member(member));
    }
    for slot in &interface.slots {
        let binding = slot.binding;
        let fields = interface.fields.get(&binding.slot).map_or(&[][..], Vec::as_slice);
        draw.slots.insert(binding.slot, self::slot(binding, size, fields)?);
    }
    let subpass = interface.subpass.iter();
    draw.subpass = subpass.map(|input| self::subpass(*input, size)).collect();
    Ok(draw)
}

/// The location of the vertex position.
fn position(interface: &Interface) -> Option<u8> {
    let vectors = || interface.inputs.iter().filter(|input| is_vector(&input.variable));
    let named = vectors().find(|input| {
        let name = input.name.as_deref().unwrap_or_default();
        name.to_lowercase().contains("pos")
    });
    Some(named.or_else(|| vectors().next())?.variable.location)
}

fn is_vector(input: &Variable) -> bool {
    input.base == BaseType::FLOAT && input.dims[0] >= 2 && input.dims[1] == 1 && input.array == 1
}

/// The corners of the triangle that points up in the picture.
fn corners(y_up: bool) -> [[f64; 2]; 3] {
    match y_up {
        true => CORNERS.map(|[x, y]| [x, -y]),
        false => CORNERS,
    }
}

/// Bytes of a vertex input for all vertices.
fn vertex_input(input: Variable, corners: Option<[[f64; 2]; 3]>, vertices: u32) -> Vec<u8> {
    let elements = usize::from(input.array.max(1));
    (0..vertices)
        .flat_map(|vertex| std::iter::repeat_n(vertex_value(input, corners, vertex), elements).flatten())
        .flat_map(|number| encode(input.base, number))
        .collect()
}

/// Numbers of one element of an input for one vertex.
fn vertex_value(input: Variable, corners: Option<[[f64; 2]; 3]>, vertex: u32) -> Vec<f64> {
    let [rows, columns] = input.dims.map(usize::from);
    let corner = (vertex % 3) as usize;
    if input.base != BaseType::FLOAT {
        return vec![f64::from(vertex); rows * columns];
    }
    if columns > 1 {
        return identity(rows, columns);
    }
    let full = match (rows, corners) {
        (_, Some(corners)) => {
            let scale = 0.5f64.powi((vertex / 3).min(60) as i32);
            let [x, y] = corners[corner].map(|coordinate| coordinate * scale);
            vec![x, y, 0.0, 1.0]
        }
        (1, _) => vec![0.5],
        (2, _) => TEXCOORDS[corner].to_vec(),
        _ => {
            let mut color = vec![0.0, 0.0, 0.0, 1.0];
            color[corner] = 1.0;
            color
        }
    };
    full.into_iter().chain(std::iter::repeat(0.0)).take(rows).collect()
}

fn identity(rows: usize, columns: usize) -> Vec<f64> {
    (0..columns)
        .flat_map(|column| (0..rows).map(move |row| f64::from(u8::from(row == column))))
        .collect()
}

/// One number as a 32-bit component.
pub(super) fn encode(base: BaseType, number: f64) -> [u8; 4] {
    match base {
        BaseType::FLOAT => (number as f32).to_le_bytes(),
        BaseType::INT => (number as i32).to_le_bytes(),
        BaseType::BOOL => u32::from(number != 0.0).to_le_bytes(),
        _ => (number as u32).to_le_bytes(),
    }
}

/// Copies the bytes that fit; the validator reports members beyond the block.
fn write_at(block: &mut [u8], at: usize, bytes: &[u8]) {
    if let Some(place) = block.get_mut(at..) {
        let fits = bytes.len().min(place.len());
        place[..fits].copy_from_slice(&bytes[..fits]);
    }
}

/// The number for a uniform that is not a matrix: 1, or 0 if the name suggests a position.
fn uniform_number(name: &[u8]) -> f64 {
    const PLACES: [&str; 7] = ["offset", "shift", "translat", "bias", "time", "pos", "index"];
    let name = String::from_utf8_lossy(name).to_lowercase();
    match PLACES.iter().any(|place| name.contains(place)) {
        true => 0.0,
        false => 1.0,
    }
}

fn uniform_member(member: &Uniform) -> Vec<u8> {
    let number = uniform_number(&member.name);
    let [rows, columns] = member.dims.map(usize::from);
    let one = if columns > 1 {
        identity(rows, columns)
    } else {
        vec![number; rows]
    };
    let all = std::iter::repeat_n(one, member.elements).flatten();
    all.flat_map(|number| encode(member.base, number)).collect()
}

fn slot(binding: Binding, size: [u32; 2], fields: &[Field]) -> Result<SlotData> {
    match (binding.base, binding.shape) {
        (_, Shape::Buffer { size }) => Ok(SlotData::Buffer(
            element(usize::from(size), fields).repeat(BUFFER_ELEMENTS),
        )),
        (
            BaseType::RO_TEXELS | BaseType::RW_TEXELS,
            Shape::Texel {
                texel,
                size,
                components,
                ..
            },
        ) => {
            let format = TexelFormat {
                class: texel,
                bytes: size,
                components,
            };
            let texel = |i: u32| {
                let value = if format.is_integer() {
                    f64::from(i)
                } else {
                    f64::from(i) / 255.0
                };
                format.encode([value; 4])
            };
            Ok(SlotData::Texels {
                format,
                bytes: (0..BUFFER_TEXELS).flat_map(texel).collect(),
            })
        }
        (
            base,
            Shape::Texel {
                rank,
                texel,
                size: bytes,
                components,
            },
        ) => {
            let dim = Dim::of(rank).ok_or_else(|| Error::scene(format_args!("slot {}: rank {rank}", binding.slot)))?;
            let sampled = base == BaseType::SAMPLER;
            let format = match sampled {
                true => sampled_format(texel),
                false => TexelFormat {
                    class: texel,
                    bytes,
                    components,
                },
            };
            let (extent, layers) = extent(dim, (!sampled).then_some(size));
            Ok(SlotData::Image(
                checker(dim, format, extent, layers),
                SamplerDesc::default(),
            ))
        }
    }
}

/// Sampled images are declared with four 32-bit components whatever their format; floats are RGBA8.
pub(super) fn sampled_format(texel: TexelType) -> TexelFormat {
    if texel == TexelType::FLOAT {
        TexelFormat::RGBA8
    } else {
        TexelFormat::wide(texel)
    }
}

/// Extent and layers of a default image; storage images have the picture's size.
pub(super) fn extent(dim: Dim, picture: Option<[u32; 2]>) -> ([u32; 3], u32) {
    let [width, height] = picture.unwrap_or([64, 64]);
    match dim {
        Dim::D1 => ([width, 1, 1], 1),
        Dim::D1Array => ([width, 1, 1], 4),
        Dim::D2 => ([width, height, 1], 1),
        Dim::D2Array => ([width, height, 1], 4),
        Dim::D3 if picture.is_none() => ([16, 16, 16], 1),
        Dim::D3 => ([width, height, 4], 1),
        Dim::Cube => ([width.min(height), width.min(height), 1], 6),
    }
}

/// One buffer element: the declared fields, in scalar layout.
fn element(size: usize, fields: &[Field]) -> Vec<u8> {
    let mut bytes = vec![0; size];
    for field in fields {
        let (rows, columns) = (field.rows as usize, field.columns as usize);
        for item in 0..field.count.min(size as u32) {
            let start = field.offset as usize + (item * field.array_stride) as usize;
            for column in 0..columns {
                for row in 0..rows {
                    let value = if columns > 1 {
                        f32::from(u8::from(row == column))
                    } else {
                        1.0
                    };
                    let at = start + column * field.matrix_stride as usize + row * 4;
                    if field.class == Class::Float {
                        write_at(&mut bytes, at, &value.to_le_bytes());
                    }
                }
            }
        }
    }
    bytes
}

fn checker(dim: Dim, format: TexelFormat, extent: [u32; 3], layers: u32) -> Texels {
    let (light, dark) = if format.is_integer() {
        (255.0, 64.0)
    } else {
        (1.0, 0.25)
    };
    let opaque = if format.is_integer() { 255.0 } else { 1.0 };
    let texels = [
        format.encode([light, light, light, opaque]),
        format.encode([dark, dark, dark, opaque]),
    ];
    let [width, height, depth] = extent;
    let mut bytes = Vec::new();
    for layer in 0..layers {
        for z in 0..depth {
            for y in 0..height {
                for x in 0..width {
                    let square = x / 8 + y / 8 + z / 8 + layer;
                    bytes.extend_from_slice(&texels[(square % 2) as usize]);
                }
            }
        }
    }
    Texels {
        dim,
        format,
        extent,
        layers,
        levels: 1,
        bytes,
    }
}

fn subpass(input: SubpassInput, size: [u32; 2]) -> Texels {
    checker(Dim::D2, sampled_format(input.texel), [size[0], size[1], 1], 1)
}
