//! The borrowed view of a file that [`read`](super::read()) returns.

use super::types::{
    BaseType, Binding, Dialect, Shape, Stage, Stages, SubpassInput, Tables, TexelRank, TexelType, Variable,
};
use crate::spirv::{Bytes, ModuleIndex};
use crate::{Diagnostic, Result};
use std::sync::OnceLock;

/// Bytes of an input, output or binding record.
pub(super) const RECORD_BYTES: usize = 8;

/// A run of fixed-size records and its file offset.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Records<'a> {
    pub offset: u64,
    pub bytes: &'a [u8],
}

impl<'a> Records<'a> {
    /// The records of `N` bytes, each with its offset in the file.
    pub(crate) fn iter<const N: usize>(self) -> impl ExactSizeIterator<Item = (u64, [u8; N])> + Clone + use<'a, N> {
        let chunks = self.bytes.as_chunks::<N>().0;
        chunks
            .iter()
            .enumerate()
            .map(move |(i, record)| (self.offset + (i * N) as u64, *record))
    }
}

/// The subpass inputs as stored in the file.
#[derive(Clone, Copy, Debug)]
pub(super) enum Subpass<'a> {
    /// Records of 4 bytes, as in the wiki.
    Records(Records<'a>),
    /// Records of 48 bytes (the compiler's in-memory object), with the inputs recovered from the fragment code.
    Raw(Records<'a>, [SubpassInput; MAX_RAW_SUBPASS]),
}

/// The compiler's limit on subpass inputs, and so on salvaged 48-byte records.
pub(super) const MAX_RAW_SUBPASS: usize = 4;

/// Bytes of a salvaged subpass record: the compiler's C++ object on x86-64.
pub(super) const RAW_SUBPASS_BYTES: usize = 48;

/// A borrowed file. Values are as stored; those of the legacy dialect are converted to the current dialect's
/// enumerations.
#[derive(Clone, Debug)]
pub struct Vbc<'a> {
    pub(super) dialect: Dialect,
    pub(super) tables: Tables,
    pub(super) inputs: Records<'a>,
    pub(super) outputs: Records<'a>,
    pub(super) bindings: Records<'a>,
    pub(super) uniform: Option<Uniform<'a>>,
    pub(super) subpass: Subpass<'a>,
    pub(super) code: [Option<Code<'a>>; 5],
    /// The index of each stage's code, computed on first use.
    pub(super) modules: [OnceLock<Result<ModuleIndex<'a>>>; 5],
    /// Bytes after the last stage.
    pub(super) trailing: Records<'a>,
    pub(super) diagnostics: Vec<Diagnostic>,
}

impl<'a> Vbc<'a> {
    /// The dialect of the file.
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Sizes of the five binding tables.
    pub fn tables(&self) -> Tables {
        self.tables
    }

    /// Vertex inputs in file order.
    pub fn inputs(&self) -> impl ExactSizeIterator<Item = Variable> + '_ {
        self.inputs.iter().map(|(_, record)| variable(record))
    }

    /// Fragment outputs in file order; the engine pairs them with attachments by this order.
    pub fn outputs(&self) -> impl ExactSizeIterator<Item = Variable> + '_ {
        self.outputs.iter().map(|(_, record)| variable(record))
    }

    /// Bindings in file order; slots are in no particular order. Fields that the legacy dialect omits or encodes
    /// differently (the texel size of samplers, normalised types) are converted to the current dialect.
    pub fn bindings(&self) -> impl ExactSizeIterator<Item = Binding> + '_ {
        self.bindings_as_stored().map(|binding| match self.dialect {
            Dialect::Current => binding,
            Dialect::Legacy => complete_legacy(binding),
        })
    }

    /// Bindings with sizes and components as stored: the legacy dialect writes 0 and 0 for samplers and read-only texel
    /// buffers, and float with a size of 1 for normalised texels.
    pub fn bindings_as_stored(&self) -> impl ExactSizeIterator<Item = Binding> + '_ {
        self.bindings.iter().map(|(_, record)| binding(record, self.dialect))
    }

    /// The uniform, if there is one (its size is not zero).
    pub fn uniform(&self) -> Option<Uniform<'a>> {
        self.uniform
    }

    /// Subpass inputs; the index is the attachment index.
    pub fn subpass_inputs(&self) -> impl ExactSizeIterator<Item = SubpassInput> + '_ {
        let (count, raw) = match &self.subpass {
            Subpass::Records(records) => (records.bytes.len() / 4, None),
            Subpass::Raw(records, raw) => (records.bytes.len() / RAW_SUBPASS_BYTES, Some(raw)),
        };
        (0..count).map(move |i| match (raw, &self.subpass) {
            (Some(raw), _) => raw[i],
            (None, Subpass::Records(records) | Subpass::Raw(records, _)) => {
                subpass_input(records.bytes[i * 4], records.bytes[i * 4 + 1], self.dialect)
            }
        })
    }

    /// Size of each subpass record: 4, or 48 for the compiler's in-memory object; 0 without subpass inputs.
    pub fn subpass_record_bytes(&self) -> usize {
        match self.subpass {
            Subpass::Records(records) if records.bytes.is_empty() => 0,
            Subpass::Records(_) => 4,
            Subpass::Raw(..) => RAW_SUBPASS_BYTES,
        }
    }

    /// Source name of a subpass input; known only if a 48-byte record contains it inline.
    pub fn subpass_name(&self, index: usize) -> Option<&'a [u8]> {
        let Subpass::Raw(records, _) = self.subpass else {
            return None;
        };
        let (_, record) = records.iter::<RAW_SUBPASS_BYTES>().nth(index)?;
        // libstdc++'s string layout: pointer, length, then up to 15 bytes inline with a terminating NUL.
        let length = usize::try_from(u64::from_le_bytes(record[8..16].try_into().ok()?)).ok()?;
        let start = index * RAW_SUBPASS_BYTES + 16;
        (length <= 15).then(|| &records.bytes[start..start + length])
    }

    /// The SPIR-V of a stage, if present.
    pub fn code(&self, stage: Stage) -> Option<Code<'a>> {
        self.code[stage.index()]
    }

    /// The index of a stage's code, if present; computed once.
    ///
    /// The index is an error where an instruction's length is wrong; its offset counts from the start of the code.
    pub fn module(&self, stage: Stage) -> Option<&Result<ModuleIndex<'a>>> {
        let code = self.code(stage)?;
        Some(self.modules[stage.index()].get_or_init(|| code.index()))
    }

    /// The stages in the file.
    pub fn stages(&self) -> Stages {
        Stage::ALL
            .into_iter()
            .filter(|stage| self.code[stage.index()].is_some())
            .collect()
    }

    /// Bytes after the last stage; empty in a valid file.
    pub fn trailing(&self) -> &'a [u8] {
        self.trailing.bytes
    }

    /// The reader's findings: recovered compiler bugs, or the legacy dialect.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }
}

fn variable([location, base, rows, columns, array, ..]: [u8; RECORD_BYTES]) -> Variable {
    let (base, dims) = (BaseType(base), [rows, columns]);
    Variable {
        location,
        base,
        dims,
        array,
    }
}

fn binding([slot, base, s0, s1, a, b, c, d]: [u8; RECORD_BYTES], dialect: Dialect) -> Binding {
    let base = base_type(base, dialect);
    let shape = if base.is_buffer() {
        let size = u16::from_le_bytes([a, b]);
        Shape::Buffer { size }
    } else {
        Shape::Texel {
            rank: texel_rank(a, dialect),
            texel: texel_type(b, dialect),
            size: c,
            components: d,
        }
    };
    let stages = Stages(u16::from_le_bytes([s0, s1]));
    Binding {
        slot,
        base,
        stages,
        shape,
    }
}

/// Fills in fields that the legacy dialect omits.
fn complete_legacy(mut binding: Binding) -> Binding {
    if let Shape::Texel {
        texel,
        size,
        components,
        ..
    } = &mut binding.shape
    {
        if matches!(binding.base, BaseType::SAMPLER | BaseType::RO_TEXELS) && (*size, *components) == (0, 0) {
            (*size, *components) = (4, 4);
        } else if *texel == TexelType::FLOAT && *size == 1 {
            *texel = TexelType::UNORM;
        }
    }
    binding
}

/// Converts a base type to the current enumeration.
pub(super) fn base_type(value: u8, dialect: Dialect) -> BaseType {
    match (dialect, value) {
        (Dialect::Legacy, 7) => BaseType::UNIFORM,
        (Dialect::Legacy, 8..=12) => BaseType(value - 1),
        _ => BaseType(value),
    }
}

/// Converts a texel rank to the current enumeration; the legacy "none" becomes 255.
fn texel_rank(value: u8, dialect: Dialect) -> TexelRank {
    match dialect {
        Dialect::Current => TexelRank(value),
        Dialect::Legacy => TexelRank(value.wrapping_sub(1)),
    }
}

/// Converts a texel type to the current enumeration. The legacy dialect stores a base type; a non-numeric one has no
/// texel type and keeps its value with the high bit set.
fn texel_type(value: u8, dialect: Dialect) -> TexelType {
    match (dialect, BaseType(value)) {
        (Dialect::Current, _) => TexelType(value),
        (_, BaseType::INT) => TexelType::INT,
        (_, BaseType::UINT) => TexelType::UINT,
        (_, BaseType::FLOAT) => TexelType::FLOAT,
        _ => TexelType(value | 0x80),
    }
}

fn subpass_input(texel: u8, components: u8, dialect: Dialect) -> SubpassInput {
    let texel = texel_type(texel, dialect);
    SubpassInput { texel, components }
}

/// The uniform: one read-only struct in set 1, binding 0.
#[derive(Clone, Copy, Debug)]
pub struct Uniform<'a> {
    /// Bytes of the struct.
    pub size: u32,
    /// Stages whose source uses it; may be empty.
    pub stages: Stages,
    pub(super) dialect: Dialect,
    pub(super) count: u32,
    /// The member records, already walked by the reader.
    pub(super) members: Records<'a>,
}

/// A member of the uniform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member<'a> {
    /// Source name without a terminator; may contain any bytes.
    pub name: &'a [u8],
    /// Byte offset in the struct.
    pub offset: u32,
    /// Component type: bool, int, uint or float.
    pub base: BaseType,
    /// Rows, then columns, as in [`Variable::dims`].
    pub dims: [u8; 2],
    /// Elements of an array; 1 if it is not an array.
    pub array: u8,
}

impl Member<'_> {
    /// Size in bytes under scalar layout: 4-byte components without padding.
    pub fn extent(&self) -> u32 {
        4 * u32::from(self.dims[0]) * u32::from(self.dims[1]) * u32::from(self.array)
    }
}

impl<'a> Uniform<'a> {
    /// Members in file order.
    pub fn members(&self) -> impl Iterator<Item = Member<'a>> + Clone + use<'a> {
        self.members_at().map(|(_, member)| member)
    }

    /// Number of members.
    pub fn member_count(&self) -> usize {
        self.count as usize
    }

    /// Members with the file offset of each record.
    pub(super) fn members_at(&self) -> impl Iterator<Item = (u64, Member<'a>)> + Clone + use<'a> {
        let (mut rest, mut offset, dialect) = (self.members.bytes, self.members.offset, self.dialect);
        std::iter::from_fn(move || {
            let (member, length) = member(rest, dialect)?;
            let at = offset;
            rest = &rest[length..];
            offset += length as u64;
            Some((at, member))
        })
    }
}

/// The member record at the start of `bytes` and its length; `None` if it is truncated.
pub(super) fn member(bytes: &[u8], dialect: Dialect) -> Option<(Member<'_>, usize)> {
    match dialect {
        Dialect::Current => {
            let length = usize::from(*bytes.first()?);
            let name = bytes.get(1..1 + length)?;
            let &[o0, o1, base, rows, columns, array] = bytes.get(1 + length..)?.first_chunk()?;
            let offset = u32::from(u16::from_le_bytes([o0, o1]));
            let (base, dims) = (BaseType(base), [rows, columns]);
            Some((
                Member {
                    name,
                    offset,
                    base,
                    dims,
                    array,
                },
                7 + length,
            ))
        }
        Dialect::Legacy => {
            let &[o0, o1, o2, o3, base, rows, columns, array, l0, l1, l2, l3] = bytes.first_chunk()?;
            let length = usize::try_from(u32::from_le_bytes([l0, l1, l2, l3])).ok()?;
            let name = bytes[12..].get(..length)?;
            let offset = u32::from_le_bytes([o0, o1, o2, o3]);
            let (base, dims) = (base_type(base, dialect), [rows, columns]);
            Some((
                Member {
                    name,
                    offset,
                    base,
                    dims,
                    array,
                },
                12 + length,
            ))
        }
    }
}

/// The SPIR-V of one stage; may be unaligned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Code<'a> {
    /// The bytes: four per word, little-endian unless the code itself has the other byte order.
    pub bytes: &'a [u8],
    pub(super) offset: u64,
}

impl<'a> Code<'a> {
    /// Byte offset from the start of the file.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// The index of the code.
    pub(super) fn index(&self) -> Result<ModuleIndex<'a>> {
        ModuleIndex::new(Bytes::little_endian(self.bytes))
    }

    /// Number of words.
    pub fn word_count(&self) -> usize {
        self.bytes.len() / 4
    }

    /// The words, copied.
    pub fn words(&self) -> Vec<u32> {
        self.iter().collect()
    }

    /// Iterates over the words without copying.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = u32> + Clone + use<'a> {
        self.bytes
            .as_chunks::<4>()
            .0
            .iter()
            .map(|word| u32::from_le_bytes(*word))
    }

    /// A word by position.
    pub fn word(&self, index: usize) -> Option<u32> {
        self.bytes
            .as_chunks::<4>()
            .0
            .get(index)
            .map(|word| u32::from_le_bytes(*word))
    }
}
