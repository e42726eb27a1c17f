//! What a stage's SPIR-V declares, in the terms of the reflection.

use super::image;
use super::types::{BaseType, TexelRank, TexelType};
use crate::spirv::{Image, ModuleIndex, decoration, op};
use std::fmt;

/// A type that the reflection can express.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
    /// Components, rows and columns, elements (1 when it is not an array).
    Numeric(BaseType, [u8; 2], u32),
    /// Anything else.
    Other,
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Numeric(base, [rows, columns], array) => {
                write!(f, "{base} of {rows} rows and {columns} columns")?;
                if array == 1 {
                    Ok(())
                } else {
                    write!(f, ", {array} of them")
                }
            }
            Self::Other => f.write_str("another type"),
        }
    }
}

/// A numeric member of a struct (scalar, vector, matrix or array of them), at any depth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Leaf {
    /// Names from the struct's member down: `light[0].colour`.
    pub path: String,
    /// Bytes from the start of the struct.
    pub offset: u32,
    /// Component type.
    pub base: BaseType,
    /// Rows and columns.
    pub dims: [u8; 2],
    /// Elements; 1 when it is not an array.
    pub count: u32,
}

impl Leaf {
    /// Size in bytes without padding.
    pub(crate) fn bytes(&self) -> u32 {
        let numbers = u32::from(self.dims[0]) * u32::from(self.dims[1]);
        (4 * numbers).saturating_mul(self.count)
    }
}

/// Limit on types visited for one struct.
const MAX_VISITS: u32 = 4096;

/// Limit on nesting of structs and arrays.
const MAX_DEPTH: u32 = 32;

/// The leaves of a struct in member order.
///
/// # Errors
/// The path of a member that is neither a leaf nor contains one, or that has no offset.
pub(super) fn leaves(index: &ModuleIndex, structure: u32) -> Result<Vec<Leaf>, String> {
    let mut walk = Leaves {
        index,
        found: Vec::new(),
        visits: 0,
    };
    walk.structure(structure, String::new(), 0, 0)?;
    Ok(walk.found)
}

struct Leaves<'i, 'a> {
    index: &'i ModuleIndex<'a>,
    found: Vec<Leaf>,
    visits: u32,
}

impl Leaves<'_, '_> {
    fn structure(&mut self, id: u32, path: String, from: u32, depth: u32) -> Result<(), String> {
        let members: Vec<u32> = self.index.members(id).into_iter().flatten().collect();
        for (at, member) in (0u32..).zip(&members) {
            let name = self.index.member_name(id, at).filter(|name| !name.is_empty());
            // Compilers wrap an unnamed struct around a type that is not a block.
            let is_wrapper = name.is_none() && members.len() == 1 && self.index.members(*member).is_some();
            let name = name.unwrap_or_else(|| format!("member{at}"));
            let path = match path.as_str() {
                path if is_wrapper => path.to_owned(),
                "" => name,
                path => format!("{path}.{name}"),
            };
            let offset = self.index.member_decoration(id, at, decoration::OFFSET);
            let Some(offset) = offset.and_then(|offset| offset.checked_add(from)) else {
                return Err(path);
            };
            self.value(*member, path, offset, depth)?;
        }
        Ok(())
    }

    fn value(&mut self, id: u32, path: String, offset: u32, depth: u32) -> Result<(), String> {
        self.visits += 1;
        if self.visits > MAX_VISITS || depth > MAX_DEPTH {
            return Err(path);
        }
        if let Type::Numeric(base, dims, count) = type_of(self.index, id) {
            self.found.push(Leaf {
                path,
                offset,
                base,
                dims,
                count,
            });
            return Ok(());
        }
        if self.index.members(id).is_some() {
            return self.structure(id, path, offset, depth + 1);
        }
        let stride = self.index.decoration(id, decoration::ARRAY_STRIDE);
        let (Some((element, length)), Some(stride)) = (self.index.array(id), stride) else {
            return Err(path);
        };
        for at in 0..length {
            let place = stride.checked_mul(at).and_then(|skip| skip.checked_add(offset));
            let place = place.ok_or_else(|| path.clone())?;
            self.value(element, format!("{path}[{at}]"), place, depth + 1)?;
        }
        Ok(())
    }
}

/// Classifies a type.
pub(super) fn type_of(index: &ModuleIndex, id: u32) -> Type {
    let (element, array) = index.array(id).unwrap_or((id, 1));
    numeric(index, element).map_or(Type::Other, |(base, dims)| Type::Numeric(base, dims, array))
}

/// Base type and dimensions of a scalar, vector or matrix of 32-bit components.
pub(super) fn numeric(index: &ModuleIndex, id: u32) -> Option<(BaseType, [u8; 2])> {
    let (column, columns) = match index.operands(id, op::TYPE_MATRIX) {
        Some([_, column, columns]) => (column, u8::try_from(columns).ok()?),
        None => (id, 1),
    };
    let (component, rows) = index.vector(column);
    let rows = u8::try_from(rows).ok()?;
    let component = index.declaration(component)?;
    let base = match (component.opcode, component.operand(1)?, component.operand(2)) {
        (op::TYPE_FLOAT, 32, _) => BaseType::FLOAT,
        (op::TYPE_INT, 32, Some(0)) => BaseType::UINT,
        (op::TYPE_INT, 32, Some(1)) => BaseType::INT,
        _ => return None,
    };
    Some((base, [rows, columns]))
}

/// An image type, and the type of its texels when read.
pub(super) fn image(index: &ModuleIndex, id: u32) -> Option<(Image, TexelType)> {
    let image = index.image(id)?;
    let texel = match numeric(index, image.sampled_type)? {
        (BaseType::INT, _) => TexelType::INT,
        (BaseType::UINT, _) => TexelType::UINT,
        _ => TexelType::FLOAT,
    };
    Some((image, texel))
}

/// Shape and numeric class of an image type, or of the image in a combined sampler; `None` for shapes that VBC lacks.
pub(super) fn texels(index: &ModuleIndex, element: u32) -> Option<(TexelRank, TexelType)> {
    let combined = index.operands(element, op::TYPE_SAMPLED_IMAGE);
    let (image, texel) = image(index, combined.map_or(element, |[_, image]| image))?;
    Some((image::rank(&image)?, texel))
}

/// Size of a block of numbers in bytes: the end of its last member.
pub(super) fn block_bytes(index: &ModuleIndex, block: u32) -> Option<u32> {
    let mut ends = (0u32..).zip(index.members(block)?).map(|(i, member)| {
        let offset = index.member_decoration(block, i, decoration::OFFSET)?;
        offset.checked_add(bytes(index, member)?)
    });
    ends.try_fold(0, |end, next| next.map(|next| end.max(next)))
}

/// Size in bytes of a number, vector, or array of them.
fn bytes(index: &ModuleIndex, id: u32) -> Option<u32> {
    if let Some((_, length)) = index.array(id) {
        return index.decoration(id, decoration::ARRAY_STRIDE)?.checked_mul(length);
    }
    let (_, [rows, columns]) = numeric(index, id)?;
    (columns == 1).then_some(4 * u32::from(rows))
}

/// For a storage buffer's block around a runtime array: the array's stride, and whether it is read-only.
pub(super) fn runtime_array_block(index: &ModuleIndex, variable: u32, block: u32) -> Option<(u32, bool)> {
    let mut members = index.members(block)?;
    let (array, 0) = (members.next()?, members.len()) else {
        return None;
    };
    index.operands::<2>(array, op::TYPE_RUNTIME_ARRAY)?;
    let stride = index.decoration(array, decoration::ARRAY_STRIDE)?;
    let read_only = index.decoration(variable, decoration::NON_WRITABLE).is_some()
        || index.member_decoration(block, 0, decoration::NON_WRITABLE).is_some();
    Some((stride, read_only))
}

/// Texel types of the subpass inputs in set 2, by binding; a stage's code may use a subset.
pub(super) fn subpass_texels(index: &ModuleIndex) -> [Option<TexelType>; 4] {
    let mut texels = [None; 4];
    for variable in index.globals() {
        if let Some((2, binding)) = index.place(variable.id)
            && let Some(texel) = texels.get_mut(binding as usize)
        {
            *texel = image(index, variable.pointee).map(|(_, texel)| texel);
        }
    }
    texels
}
