//! The summary of a file that `info` prints.

use super::{FORMAT, Mbs, Program, Stage, Symbol};
use crate::Result;
use serde::Serialize;

/// The programs of a file.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// Always `mbs`.
    pub format: &'static str,
    /// The programs, in the file's order.
    pub programs: Vec<ProgramSummary>,
}

/// A program without its code.
#[derive(Clone, Debug, Serialize)]
pub struct ProgramSummary {
    /// `vertex` or `fragment`.
    pub stage: &'static str,
    /// The processor's number.
    pub version: u32,
    /// The processor's name.
    pub core: String,
    /// Words of code.
    pub words: usize,
    /// Size and start of the stack.
    pub stack: Option<[u32; 2]>,
    /// Whether the program uses `discard`.
    pub discard: Option<u32>,
    /// Which of colour, depth and stencil are read and written.
    pub buffers: Option<[u8; 8]>,
    /// The instruction counts that the file declares.
    pub declared_instructions: Option<[u32; 3]>,
    /// Floats of uniforms.
    pub uniform_space: u32,
    /// Uniforms.
    pub uniforms: Vec<SymbolSummary>,
    /// Attributes.
    pub attributes: Vec<SymbolSummary>,
    /// Varyings.
    pub varyings: Vec<SymbolSummary>,
}

/// A symbol.
#[derive(Clone, Debug, Serialize)]
pub struct SymbolSummary {
    /// Its name.
    pub name: String,
    /// Its type as in GLSL.
    pub r#type: String,
    /// Number of the base type.
    pub kind: u8,
    /// Components of the base type.
    pub components: u16,
    /// Size in floats.
    pub size: u16,
    /// Elements of an array.
    pub entries: u16,
    /// Distance between array elements.
    pub stride: u16,
    /// Flags as stored.
    pub flags: u8,
    /// 1 low, 2 medium, 3 high.
    pub precision: u8,
    /// Declared `invariant`.
    pub invariant: u32,
    /// Offset.
    pub offset: u16,
    /// Whether the symbol has an offset.
    pub used: bool,
    /// Index of the enclosing structure.
    pub parent: u16,
    /// A byte of unknown meaning.
    pub unknown: u8,
    /// Words of unknown meaning.
    pub index: Option<[u32; 3]>,
    /// Initial value.
    pub initial: Option<Vec<f32>>,
}

/// Summarises a file.
///
/// # Errors
/// See [`Mbs::programs`].
pub fn summary(mbs: &Mbs) -> Result<Summary> {
    Ok(Summary {
        format: FORMAT,
        programs: mbs.programs()?.iter().map(ProgramSummary::from).collect(),
    })
}

impl From<&Program> for ProgramSummary {
    fn from(program: &Program) -> Self {
        let [uniforms, attributes, varyings] = program
            .tables()
            .map(|(_, symbols)| symbols.iter().map(SymbolSummary::from).collect());
        Self {
            stage: program.stage.name(),
            version: program.version.0,
            core: program.version.to_string(),
            words: program.code.len(),
            stack: program.stack,
            discard: program.discard,
            buffers: program.buffers,
            declared_instructions: program.instructions,
            uniform_space: program.uniform_space,
            uniforms,
            attributes,
            varyings,
        }
    }
}

impl From<&Symbol> for SymbolSummary {
    fn from(symbol: &Symbol) -> Self {
        let initial = symbol.initial.as_ref();
        Self {
            name: symbol.name(),
            r#type: symbol.type_name(),
            kind: symbol.kind.0,
            components: symbol.components,
            size: symbol.size,
            entries: symbol.entries,
            stride: symbol.stride,
            flags: symbol.flags,
            precision: symbol.precision,
            invariant: symbol.invariant,
            offset: symbol.offset,
            used: symbol.is_used(),
            parent: symbol.parent,
            unknown: symbol.unknown,
            index: symbol.index,
            initial: initial.map(|words| words.iter().map(|word| f32::from_bits(*word)).collect()),
        }
    }
}

impl Stage {
    /// `vertex` or `fragment`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Vertex => "vertex",
            Self::Fragment => "fragment",
        }
    }
}
