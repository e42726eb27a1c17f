//! Mali-400 programs as structured shaders: GP and PP code lifted to naga IR, from which come SPIR-V, WGSL, GLSL, MSL
//! and HLSL.
//!
//! Instructions become values in static single assignment form (through the pipeline's registers and forwarding), jumps
//! become loops and branches (flow that is not reducible a loop over a switch), symbols of MBS files the names of
//! uniforms, inputs and textures. With [`Options::exact`] every register write of a fragment is rounded as the hardware
//! does it; without, the result is for reading.
//!
//! ```
//! use loader::mbs::Stage;
//! use skrymir_lift::{Convention, Options, program};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let text = ".fragment
//! .varying vec4 tint
//!     load.v $1 0
//!     mul.v0 $0 $1 $1, stop
//! ";
//! let binary = utgard::shader::assemble(text)?.program(Stage::Fragment)?.expect("a fragment program");
//! let convention = Convention { rows_down: false, height: None };
//! let shader = program(&binary, &Options { exact: false, convention, viewport: None })?;
//! let glsl = translate::write(&shader, translate::Target::Glsl, &translate::Options::default())?;
//! let glsl = String::from_utf8(glsl)?;
//! assert!(glsl.contains("tint * tint"), "{glsl}");
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]

#[cfg(all(test, target_family = "wasm"))]
#[macro_use]
extern crate wasm_test;

mod emit;
mod error;
mod gp;
pub mod interface;
mod pp;
mod ssa;
mod structure;
mod tidy;

pub use emit::Convention;
pub use error::{Error, ErrorKind};
use interface::Interface;
use loader::mbs::{Program, Stage};
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
    let module = emit::emit(
        &function,
        &told(interface, options),
        stage,
        (options.convention, options.exact),
    );
    let info = translate::validated(&module).map_err(ErrorKind::Module)?;
    Ok(Shader { module, info, entry: 0 })
}
