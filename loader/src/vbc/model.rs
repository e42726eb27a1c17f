//! An owned file, for authoring and editing.

use super::types::{BaseType, Binding, Stage, Stages, SubpassInput, Tables, Variable};
use super::view::{Member, Uniform, Vbc};

/// The contents of a file of the current dialect; [`write`](super::write()) writes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Model {
    /// Sizes of the binding tables.
    pub tables: Tables,
    /// Vertex inputs.
    pub inputs: Vec<Variable>,
    /// Fragment outputs.
    pub outputs: Vec<Variable>,
    /// Bindings.
    pub bindings: Vec<Binding>,
    /// The uniform, if there is one.
    pub uniform: Option<UniformModel>,
    /// Subpass inputs; the index is the attachment index.
    pub subpass_inputs: Vec<SubpassInput>,
    /// SPIR-V words of each stage in file order (see [`Stage::index`]); an empty list is an absent stage.
    pub code: [Vec<u32>; 5],
}

/// The uniform of a [`Model`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UniformModel {
    /// Size of the struct in bytes. Zero cannot be written: in a file it means "no uniform".
    pub size: u32,
    /// Stages that use it.
    pub stages: Stages,
    /// Members in order.
    pub members: Vec<UniformMember>,
}

/// A member of a [`UniformModel`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UniformMember {
    /// Source name; any bytes can be written, identifiers of 1 to 32 bytes are valid.
    pub name: Vec<u8>,
    /// Byte offset in the struct.
    pub offset: u32,
    /// Component type.
    pub base: BaseType,
    /// Rows, then columns.
    pub dims: [u8; 2],
    /// Elements; 1 when it is not an array.
    pub array: u8,
}

impl UniformMember {
    /// The member's type as a variable at location 0.
    pub fn typed(&self) -> Variable {
        Variable {
            location: 0,
            base: self.base,
            dims: self.dims,
            array: self.array,
        }
    }
}

impl Model {
    /// The words of a stage; empty if it is absent.
    pub fn code(&self, stage: Stage) -> &[u32] {
        &self.code[stage.index()]
    }

    /// The words of a stage, mutably.
    pub fn code_mut(&mut self, stage: Stage) -> &mut Vec<u32> {
        &mut self.code[stage.index()]
    }
}

impl From<Member<'_>> for UniformMember {
    fn from(member: Member<'_>) -> Self {
        Self {
            name: member.name.to_vec(),
            offset: member.offset,
            base: member.base,
            dims: member.dims,
            array: member.array,
        }
    }
}

impl From<Uniform<'_>> for UniformModel {
    fn from(uniform: Uniform<'_>) -> Self {
        let members = uniform.members().map(Into::into).collect();
        Self {
            size: uniform.size,
            stages: uniform.stages,
            members,
        }
    }
}

impl Vbc<'_> {
    /// Converts the file to an owned model, without padding and trailing bytes.
    pub fn to_model(&self) -> Model {
        Model {
            tables: self.tables(),
            inputs: self.inputs().collect(),
            outputs: self.outputs().collect(),
            bindings: self.bindings().collect(),
            uniform: self.uniform().map(Into::into),
            subpass_inputs: self.subpass_inputs().collect(),
            code: Stage::ALL.map(|stage| self.code(stage).map(|code| code.words()).unwrap_or_default()),
        }
    }
}
