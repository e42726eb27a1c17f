//! Mali-400 programs as structured shaders: GP and PP code lifted to naga IR, from which come SPIR-V, WGSL, GLSL, MSL
//! and HLSL.
//!
//! Instructions become values in static single assignment form (through the pipeline's registers and forwarding), jumps
//! become loops and branches (flow that is not reducible a loop over a switch), symbols of MBS files the names of
//! uniforms, inputs and textures. With [`Options::exact`] every register write of a fragment is rounded as the hardware
//! does it; without, the result is for reading.
#![forbid(unsafe_code)]

mod emit;
mod gp;
pub mod interface;
mod pp;
mod ssa;
mod structure;
mod tidy;

pub use emit::Convention;
use interface::Interface;
use loader::mbs::{Program, Stage};
use std::fmt;
use translate::{Shader, ShaderStage};

/// What there is to decide.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// Numbers are rounded as the hardware rounds them.
    pub exact: bool,
    /// Where rows begin.
    pub convention: Convention,
    /// Scale and offset of the viewport (x, y, z, w each), where the program does not name them.
    pub viewport: Option<[f32; 8]>,
}

/// Why a program is not lifted.
#[derive(Clone, Debug, PartialEq)]
pub enum Error {
    /// The words are no program.
    Code {
        /// Instruction (GP) or word (PP).
        place: u32,
        /// What is wrong.
        message: String,
    },
    /// Something in it has no known meaning, or none in the languages lifted to.
    Unsupported {
        /// Instruction (GP) or word (PP).
        place: u32,
        /// What it is.
        message: String,
    },
    /// The symbols do not say enough.
    Interface(String),
    /// naga refuses the result: a mistake of this crate.
    Module(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code { place, message } => write!(f, "mbs: no program: {message} (at instruction {place})"),
            Self::Unsupported { place, message } => write!(f, "mbs: unsupported: {message} (at instruction {place})"),
            Self::Interface(message) => write!(f, "mbs: {message}"),
            Self::Module(message) => write!(f, "mbs: the lifted shader is not valid: {message}"),
        }
    }
}

impl std::error::Error for Error {}

/// Lifts an MBS program with its symbols; one without any as [`words`] does.
///
/// # Errors
/// What [`Error`] tells.
pub fn program(program: &Program, options: &Options) -> Result<Shader, Error> {
    lift(program.stage, &program.code, &interface(program), options)
}

/// A program's interface: by its symbols, or where it has none by its code.
pub fn interface(program: &Program) -> Interface {
    if program.tables().iter().any(|(_, symbols)| !symbols.is_empty()) {
        return Interface::of(program);
    }
    match program.stage {
        Stage::Vertex => Interface::of_vertex_code(&vertex_code(&program.code)),
        Stage::Fragment => Interface::of_fragment_code(&utgard::pp::flow::instructions(&program.code).0),
    }
}

fn vertex_code(words: &[u32]) -> Vec<utgard::gp::Instruction> {
    let instructions = utgard::shader::instructions(words).into_iter();
    instructions.map(utgard::gp::Instruction::decode).collect()
}

/// The interface with the viewport as numbers of the program, where they are given.
fn told(interface: &Interface, options: &Options) -> Interface {
    let mut told = interface.clone();
    if let (Some(float), Some(viewport)) = (interface.viewport, options.viewport) {
        told.uniforms.retain(|uniform| uniform.float != float);
        told.constants.extend((float..).zip(viewport));
        told.viewport = None;
    }
    told
}

/// Lifts words with an interface.
///
/// # Errors
/// What [`Error`] tells.
pub fn lift(stage: Stage, words: &[u32], interface: &Interface, options: &Options) -> Result<Shader, Error> {
    let (mut function, stage) = match stage {
        Stage::Vertex => (gp::lift(&vertex_code(words), interface, options)?, ShaderStage::Vertex),
        Stage::Fragment => (pp::lift(words, interface, options)?, ShaderStage::Fragment),
    };
    tidy::tidy(&mut function, interface, options.exact);
    let module = emit::emit(&function, &told(interface, options), stage, options.convention);
    let info = translate::validated(&module).map_err(|error| Error::Module(error.to_string()))?;
    Ok(Shader { module, info, entry: 0 })
}
