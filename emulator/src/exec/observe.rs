//! Events that the scalar engine reports to an observer. Without one they cost nothing: the engine is instantiated with
//! [`Off`].

use super::{FragmentProgram, VertexProgram};
use utgard::{gp, pp};

/// An observer of running programs. Events of one vertex or quad come in order, between a beginning and the next.
pub trait Observer {
    /// Whether events are reported.
    const ON: bool;

    /// A quad begins at a pixel; `live` are its covered fragments.
    fn quad(&mut self, _program: &FragmentProgram, _x: u32, _y: u32, _live: u8) {}

    /// A fragment of the quad ran an instruction.
    fn fragment(&mut self, _step: &FragmentStep<'_>) {}

    /// The next step of a fragment writes components of a register, in the order its units do.
    fn write(&mut self, _lane: usize, _register: pp::Register, _mask: u32, _value: [f32; 4]) {}

    /// A vertex begins.
    fn vertex(&mut self, _program: &VertexProgram) {}

    /// The vertex ran an instruction.
    fn vertex_step(&mut self, _step: &VertexStep<'_>) {}

    /// A read or write of the next step is out of range.
    fn outside(&mut self, _lane: usize, _what: Outside, _index: i64) {}

    /// The next step of a fragment reads (or writes) a float of its temporaries.
    fn temporary(&mut self, _lane: usize, _index: i64, _write: bool) {}
}

/// The kind of an out-of-range access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outside {
    /// A float of the uniforms (a vec4 for vertices).
    Uniform,
    /// A float of the temporaries (a vec4 for vertices).
    Temporary,
    /// A component of the varyings.
    Varying,
    /// A texture.
    Texture,
    /// An attribute.
    Attribute,
    /// An output.
    Output,
}

impl Outside {
    /// Its name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Uniform => "uniform",
            Self::Temporary => "temporary",
            Self::Varying => "varying component",
            Self::Texture => "texture",
            Self::Attribute => "attribute",
            Self::Output => "output",
        }
    }
}

/// An instruction of one fragment.
pub struct FragmentStep<'a> {
    /// Which fragment of the quad: bit 0 right, bit 1 below.
    pub lane: usize,
    /// Number of the instruction among the program's.
    pub number: usize,
    /// The instruction.
    pub instruction: &'a pp::Instruction,
    /// Registers before it.
    pub before: &'a [[f32; 4]; 16],
    /// Registers behind it; those of the pipeline are this instruction's.
    pub after: &'a [[f32; 4]; 16],
    /// Results of the vec4 and the scalar multiplier.
    pub products: ([f32; 4], f32),
    /// The bias that its look-up read, where that was before the instruction in front had written it.
    pub early_bias: Option<f32>,
    /// The fragment's temporaries behind it, from the lowest the program names.
    pub temporaries: &'a [f32],
    /// Word of the next instruction; `None` when this was the last.
    pub next: Option<u32>,
    /// The fragment was discarded.
    pub discarded: bool,
}

/// An instruction of one vertex.
pub struct VertexStep<'a> {
    /// Number of the instruction.
    pub number: usize,
    /// The instruction.
    pub instruction: &'a gp::Instruction,
    /// The sources that were read, and their values.
    pub sources: &'a [(gp::Source, f32)],
    /// Results of the units, in the order of [`gp::UNITS`]; zero for idle ones.
    pub results: [f32; 6],
    /// Address registers before it.
    pub addresses: [i32; 4],
    /// Its branch is taken.
    pub taken: bool,
    /// Registers behind it.
    pub registers: &'a [[f32; 4]; 16],
    /// Uniforms, and what the vertex stored there, behind it.
    pub memory: &'a [[f32; 4]],
    /// The vertex' attributes.
    pub attributes: &'a [[f32; 4]],
    /// Its outputs behind it.
    pub outputs: &'a [[f32; 4]],
}

/// No observer: events are not reported.
#[derive(Clone, Copy, Debug, Default)]
pub struct Off;

impl Observer for Off {
    const ON: bool = false;
}
