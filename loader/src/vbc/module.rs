//! What a stage's SPIR-V declares before its first function: all that reflection can be checked against.

use super::types::TexelType;
use super::view::Code;
use crate::{Error, Result, spirv};

/// The few opcodes, decorations and storage classes of the declarations that matter here.
#[allow(missing_docs)]
pub(super) mod op {
    pub const TYPE_INT: u16 = 21;
    pub const TYPE_FLOAT: u16 = 22;
    pub const TYPE_IMAGE: u16 = 25;
    pub const TYPE_POINTER: u16 = 32;
    pub const FUNCTION: u16 = 54;
    pub const VARIABLE: u16 = 59;
    pub const DECORATE: u16 = 71;
    pub const MEMBER_DECORATE: u16 = 72;

    pub const IS_TYPE: std::ops::RangeInclusive<u16> = 19..=39;
    pub const IS_CONSTANT: std::ops::RangeInclusive<u16> = 41..=52;
}

/// An instruction by opcode and operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Declared<'a> {
    pub opcode: u16,
    pub operands: &'a [u32],
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
    /// Positions of the variables, in module order.
    variables: Vec<u32>,
}

impl Module {
    /// Reads the declarations; function bodies are not looked at.
    ///
    /// # Errors
    /// Invalid where an instruction's length is wrong; the offset counts from the start of the code.
    pub fn read(code: Code) -> Result<Self> {
        let mut module = Self {
            words: declarations(code),
            ids: Vec::with_capacity(128),
            decorations: Vec::with_capacity(64),
            variables: Vec::with_capacity(16),
        };
        let words = std::mem::take(&mut module.words);
        for instruction in spirv::instructions(&words) {
            let instruction = instruction?;
            let (operands, position) = (instruction.operands(), instruction.position as u32);
            let id = match instruction.opcode {
                op::DECORATE | op::MEMBER_DECORATE => {
                    module.decorate(instruction.opcode, operands);
                    continue;
                }
                op::VARIABLE => {
                    module.variables.push(position);
                    operands.get(1)
                }
                opcode if op::IS_TYPE.contains(&opcode) => operands.first(),
                opcode if op::IS_CONSTANT.contains(&opcode) => operands.get(1),
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
        Declared { opcode, operands }
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

    /// Texel type of an image by its sampled type; none for other ids.
    pub fn sampled_texel(&self, image: u32) -> Option<TexelType> {
        let &[_, sampled] = self.operands(image, op::TYPE_IMAGE)?;
        let sampled = self.id(sampled)?;
        match (sampled.opcode, sampled.operands) {
            (op::TYPE_FLOAT, _) => Some(TexelType::FLOAT),
            (op::TYPE_INT, [_, _, 0]) => Some(TexelType::UINT),
            (op::TYPE_INT, _) => Some(TexelType::INT),
            _ => None,
        }
    }

    /// The type that a variable's pointer points to.
    pub fn pointee(&self, variable: Declared) -> Option<u32> {
        let &[_, _, pointee] = self.operands(*variable.operands.first()?, op::TYPE_POINTER)?;
        Some(pointee)
    }

    /// Texel types of the subpass inputs in set 2, by binding; the code of a stage need not use each of them.
    pub fn subpass_texels(&self) -> [Option<TexelType>; 4] {
        let mut texels = [None; 4];
        for variable in self.variables() {
            let &[_, id, ..] = variable.operands else { continue };
            if self.decoration(id, spirv_decoration::DESCRIPTOR_SET) == Some(2)
                && let Some(binding) = self.decoration(id, spirv_decoration::BINDING)
                && let Some(texel) = texels.get_mut(binding as usize)
            {
                *texel = self.pointee(variable).and_then(|image| self.sampled_texel(image));
            }
        }
        texels
    }
}

/// Decoration numbers.
pub(super) mod spirv_decoration {
    pub const BINDING: u32 = 33;
    pub const DESCRIPTOR_SET: u32 = 34;
}

/// The words before the first function, copied: the code may lie at any alignment.
fn declarations(code: Code) -> Vec<u32> {
    let mut end = spirv::HEADER_WORDS;
    while let Some(first) = code.word(end)
        && first as u16 != op::FUNCTION
        && first >> 16 != 0
    {
        end += (first >> 16) as usize;
    }
    // A bad length ends the walk here and is reported by the walk over the copied words, so that word must be among
    // them: a length of zero is, a length beyond the end takes everything.
    let end = match code.word(end) {
        Some(first) if first as u16 != op::FUNCTION => end + 1,
        _ => end,
    };
    code.iter().take(end).collect()
}
