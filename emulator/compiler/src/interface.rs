//! What a program takes and gives: names, types, and where each begins among the scalars of its kind.

use crate::ir::Span;
use loader::mbs::SymbolType;

/// A pipeline stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    /// For the geometry processor.
    Vertex,
    /// For the pixel processors.
    Fragment,
}

impl Stage {
    /// The stage as naga has it.
    pub(crate) fn of_naga(self) -> naga::ShaderStage {
        match self {
            Self::Vertex => naga::ShaderStage::Vertex,
            Self::Fragment => naga::ShaderStage::Fragment,
        }
    }
}

/// A uniform, attribute or varying. Its scalars lie one behind the other: elements, columns, components.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// What its numbers are.
    pub kind: SymbolType,
    /// Components of a vector or column.
    pub rows: u32,
    /// Columns of a matrix, 1 for what is none.
    pub columns: u32,
    /// Elements of an array, 0 for none.
    pub entries: u32,
    /// Its first scalar.
    pub first: u32,
    /// Where the source declares it.
    pub span: Span,
}

impl Variable {
    /// Scalars it has.
    pub fn scalars(&self) -> u32 {
        self.rows * self.columns * self.entries.max(1)
    }
}

/// The scalar behind the last of variables that lie one behind the other.
pub fn end(variables: &[Variable]) -> u32 {
    variables.last().map_or(0, |last| last.first + last.scalars())
}

/// The uniform with the window's height, of fragment programs whose language counts rows from above. The driver
/// sets it.
pub const TARGET_HEIGHT: &str = "skrymir_TargetHeight";

/// A texture with its sampler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sampler {
    /// Its name.
    pub name: String,
    /// A cube map.
    pub cube: bool,
    /// Where the source declares it.
    pub span: Span,
}

/// Everything a program takes and gives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Interface {
    /// Uniforms.
    pub uniforms: Vec<Variable>,
    /// Attributes.
    pub attributes: Vec<Variable>,
    /// Varyings.
    pub varyings: Vec<Variable>,
    /// Textures by unit.
    pub samplers: Vec<Sampler>,
}
