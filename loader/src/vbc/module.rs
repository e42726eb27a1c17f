//! What a stage's SPIR-V declares before its first function: all that reflection can be checked against.

use super::image::Image;
use super::types::{BaseType, TexelType};
use super::view::Code;
pub(super) use crate::spirv::{class, decoration, op};
use crate::{Error, Result, spirv};
use std::fmt;

/// Opcodes of type declarations.
const IS_TYPE: std::ops::RangeInclusive<u16> = 19..=39;

/// Opcodes of constants.
const IS_CONSTANT: std::ops::RangeInclusive<u16> = 41..=52;

/// An instruction by opcode and operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Declared<'a> {
    pub opcode: u16,
    pub operands: &'a [u32],
    /// Position of its first word in the module.
    pub position: usize,
}

/// A type as the reflection can say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
    /// Components, rows and columns, elements (1 when it is no array).
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

/// A decoration of an id, or of a struct's member.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Decoration {
    target: u32,
    /// Member, or [`WHOLE`].
    member: u32,
    kind: u32,
    value: u32,
}

/// The member of a decoration that means the id itself.
const WHOLE: u32 = u32::MAX;

/// The declarations of one module.
#[derive(Debug)]
pub(super) struct Module {
    words: Vec<u32>,
    /// Result id and position of types, constants and variables, sorted by id.
    ids: Vec<(u32, u32)>,
    /// Sorted.
    decorations: Vec<Decoration>,
    /// Positions of the variables and entry points, in module order.
    variables: Vec<u32>,
    entry_points: Vec<u32>,
}

impl Module {
    /// Reads the declarations; of the functions only the instructions' lengths are looked at.
    ///
    /// # Errors
    /// Invalid where an instruction's length is wrong; the offset counts from the start of the code.
    pub fn read(code: Code) -> Result<Self> {
        let mut module = Self {
            words: declarations(code)?,
            ids: Vec::with_capacity(128),
            decorations: Vec::with_capacity(64),
            variables: Vec::with_capacity(16),
            entry_points: Vec::with_capacity(1),
        };
        let words = std::mem::take(&mut module.words);
        for instruction in spirv::instructions(&words) {
            let instruction = instruction?;
            let (operands, position) = (instruction.operands(), instruction.position as u32);
            let id = match instruction.opcode {
                op::ENTRY_POINT => {
                    module.entry_points.push(position);
                    continue;
                }
                op::DECORATE | op::MEMBER_DECORATE => {
                    module.decorate(instruction.opcode, operands);
                    continue;
                }
                op::VARIABLE => {
                    module.variables.push(position);
                    operands.get(1)
                }
                opcode if IS_TYPE.contains(&opcode) => operands.first(),
                opcode if IS_CONSTANT.contains(&opcode) => operands.get(1),
                _ => continue,
            };
            let Some(&id) = id else {
                let message = format!("instruction with opcode {} has no result", instruction.opcode);
                return Err(Error::invalid("spirv", message, u64::from(position) * 4));
            };
            module.ids.push((id, position));
        }
        module.words = words;
        module.ids.sort_unstable();
        module.decorations.sort_unstable();
        Ok(module)
    }

    fn decorate(&mut self, opcode: u16, operands: &[u32]) {
        let decoration = match (opcode, operands) {
            (op::DECORATE, &[target, kind, ref value @ ..]) => (target, WHOLE, kind, value),
            (op::MEMBER_DECORATE, &[target, member, kind, ref value @ ..]) => (target, member, kind, value),
            _ => return,
        };
        let (target, member, kind, value) = decoration;
        let value = value.first().copied().unwrap_or(0);
        self.decorations.push(Decoration {
            target,
            member,
            kind,
            value,
        });
    }

    fn at(&self, position: u32) -> Declared<'_> {
        let position = position as usize;
        let first = self.words[position];
        let (length, opcode) = ((first >> 16) as usize, first as u16);
        let operands = &self.words[position + 1..position + length];
        Declared {
            opcode,
            operands,
            position,
        }
    }

    /// The type, constant or variable with this id.
    pub fn id(&self, id: u32) -> Option<Declared<'_>> {
        let index = self.ids.binary_search_by_key(&id, |entry| entry.0).ok()?;
        Some(self.at(self.ids[index].1))
    }

    /// The operands of an id's declaration if it is of this opcode; `N` of them at least.
    pub fn operands<const N: usize>(&self, id: u32, opcode: u16) -> Option<&[u32; N]> {
        let declared = self.id(id)?;
        (declared.opcode == opcode).then(|| declared.operands.first_chunk())?
    }

    /// Global variables in module order.
    pub fn variables(&self) -> impl Iterator<Item = Declared<'_>> {
        self.variables.iter().map(|&position| self.at(position))
    }

    /// Entry points in module order.
    pub fn entry_points(&self) -> impl Iterator<Item = Declared<'_>> {
        self.entry_points.iter().map(|&position| self.at(position))
    }

    /// The first operand of an id's decoration (0 for one without), if it has that decoration.
    pub fn decoration(&self, id: u32, kind: u32) -> Option<u32> {
        self.member_decoration(id, WHOLE, kind)
    }

    /// As [`Module::decoration`] for a struct's member.
    pub fn member_decoration(&self, id: u32, member: u32, kind: u32) -> Option<u32> {
        let key = (id, member, kind);
        let index = self.decorations.partition_point(|d| (d.target, d.member, d.kind) < key);
        let found = self.decorations.get(index)?;
        ((found.target, found.member, found.kind) == key).then_some(found.value)
    }

    /// The type that a variable's pointer points to.
    pub fn pointee(&self, variable: Declared) -> Option<u32> {
        let &[_, _, pointee] = self.operands(*variable.operands.first()?, op::TYPE_POINTER)?;
        Some(pointee)
    }

    /// Value of a 32-bit constant.
    fn constant(&self, id: u32) -> Option<u32> {
        self.operands(id, op::CONSTANT).map(|&[_, _, value]| value)
    }

    /// Element type and length of an array of constant length.
    pub fn array(&self, id: u32) -> Option<(u32, u32)> {
        let &[_, element, length] = self.operands(id, op::TYPE_ARRAY)?;
        Some((element, self.constant(length)?))
    }

    /// A type by what it is made of.
    pub fn type_of(&self, id: u32) -> Type {
        let (element, array) = self.array(id).unwrap_or((id, 1));
        self.numeric(element)
            .map_or(Type::Other, |(base, dims)| Type::Numeric(base, dims, array))
    }

    /// Base type and dimensions of a scalar, vector or matrix of 32-bit components.
    fn numeric(&self, id: u32) -> Option<(BaseType, [u8; 2])> {
        let (column, columns) = match self.operands(id, op::TYPE_MATRIX) {
            Some(&[_, column, columns]) => (column, u8::try_from(columns).ok()?),
            None => (id, 1),
        };
        let (component, rows) = match self.operands(column, op::TYPE_VECTOR) {
            Some(&[_, component, rows]) => (component, u8::try_from(rows).ok()?),
            None => (column, 1),
        };
        let component = self.id(component)?;
        let base = match (component.opcode, component.operands) {
            (op::TYPE_FLOAT, [_, 32, ..]) => BaseType::FLOAT,
            (op::TYPE_INT, [_, 32, 0]) => BaseType::UINT,
            (op::TYPE_INT, [_, 32, 1]) => BaseType::INT,
            _ => return None,
        };
        Some((base, [rows, columns]))
    }

    /// An image type.
    pub fn image(&self, id: u32) -> Option<Image> {
        let &[_, sampled_type, dim, _, arrayed, multisampled, sampled, format] = self.operands(id, op::TYPE_IMAGE)?;
        let texel = match self.numeric(sampled_type)? {
            (BaseType::INT, _) => TexelType::INT,
            (BaseType::UINT, _) => TexelType::UINT,
            _ => TexelType::FLOAT,
        };
        Some(Image {
            texel,
            dim,
            arrayed,
            multisampled,
            sampled,
            format,
        })
    }

    /// Bytes of a block of numbers: where its last member ends.
    pub fn block_bytes(&self, block: u32) -> Option<u32> {
        let declared = self.id(block).filter(|declared| declared.opcode == op::TYPE_STRUCT)?;
        let members = declared.operands.get(1..)?;
        let mut ends = members.iter().enumerate().map(|(i, &member)| {
            let offset = self.member_decoration(block, i as u32, decoration::OFFSET)?;
            offset.checked_add(self.bytes(member)?)
        });
        ends.try_fold(0, |end, next| next.map(|next| end.max(next)))
    }

    /// Bytes of a number, vector, or array of them.
    fn bytes(&self, id: u32) -> Option<u32> {
        if let Some((_, length)) = self.array(id) {
            return self.decoration(id, decoration::ARRAY_STRIDE)?.checked_mul(length);
        }
        let (_, [rows, columns]) = self.numeric(id)?;
        (columns == 1).then_some(4 * u32::from(rows))
    }

    /// Of a storage buffer's block around a runtime array: the array's stride, and whether it is read only.
    pub fn runtime_array_block(&self, variable: u32, block: u32) -> Option<(u32, bool)> {
        let &[_, array] = self.operands(block, op::TYPE_STRUCT)?;
        let &[_, _] = self.operands(array, op::TYPE_RUNTIME_ARRAY)?;
        let stride = self.decoration(array, decoration::ARRAY_STRIDE)?;
        let read_only = self.decoration(variable, decoration::NON_WRITABLE).is_some()
            || self.member_decoration(block, 0, decoration::NON_WRITABLE).is_some();
        Some((stride, read_only))
    }

    /// Texel types of the subpass inputs in set 2, by binding; the code of a stage need not use each of them.
    pub fn subpass_texels(&self) -> [Option<TexelType>; 4] {
        let mut texels = [None; 4];
        for variable in self.variables() {
            let &[_, id, ..] = variable.operands else { continue };
            if self.decoration(id, decoration::DESCRIPTOR_SET) == Some(2)
                && let Some(binding) = self.decoration(id, decoration::BINDING)
                && let Some(texel) = texels.get_mut(binding as usize)
            {
                *texel = self
                    .pointee(variable)
                    .and_then(|id| self.image(id))
                    .map(|image| image.texel);
            }
        }
        texels
    }
}

/// The words before the first function, copied: the code may lie at any alignment. The functions are walked too, so
/// that a wrong length in them is found.
fn declarations(code: Code) -> Result<Vec<u32>> {
    let end = walk(code, spirv::HEADER_WORDS, Some(op::FUNCTION))?;
    walk(code, end, None)?;
    Ok(code.iter().take(end).collect())
}

/// Steps from instruction to instruction as far as one of opcode `stop`, or the end; gives the position there.
fn walk(code: Code, from: usize, stop: Option<u16>) -> Result<usize> {
    let words = code.bytes.as_chunks::<4>().0;
    let mut at = from.min(words.len());
    while let Some(&first) = words.get(at) {
        let first = u32::from_le_bytes(first);
        let (length, opcode) = ((first >> 16) as usize, first as u16);
        if length == 0 || length > words.len() - at {
            let left = words.len() - at;
            let message = format!("instruction with opcode {opcode} says {length} words, {left} are left");
            return Err(Error::invalid("spirv", message, at as u64 * 4));
        }
        if Some(opcode) == stop {
            break;
        }
        at += length;
    }
    Ok(at)
}
