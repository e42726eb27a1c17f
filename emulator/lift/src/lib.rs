//! Lifts Mali-400 programs to structured shaders: GP and PP code to naga IR, and from there to SPIR-V, WGSL, GLSL, MSL
//! and HLSL.
//!
//! Instructions become values in static single assignment form (through the pipeline's registers and forwarding), jumps
//! become loops and branches (irreducible flow becomes a loop over a switch), and symbols of MBS files name uniforms,
//! inputs and textures. With [`Options::exact`] every register write of a fragment program is rounded as by the
//! hardware; without it the result is meant for reading.
//!
//! ```
//! # use loader as skrymir_loader;
//! # use translate as skrymir_translate;
//! # use utgard as skrymir_utgard;
//! use skrymir_loader::mbs::Stage;
//! use skrymir_lift::{Convention, Options, program};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let text = ".fragment
//! .varying vec4 tint
//!     load.v $1 0
//!     mul.v0 $0 $1 $1, stop
//! ";
//! let binary = skrymir_utgard::shader::assemble(text)?.program(Stage::Fragment)?.expect("a fragment program");
//! let convention = Convention { rows_down: false, height: None };
//! let shader = program(&binary, &Options { exact: false, convention, viewport: None })?;
//! let glsl = skrymir_translate::write(&shader, skrymir_translate::Target::Glsl, &skrymir_translate::Options::default())?;
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

/// Options of lifting.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// Round numbers as the hardware does.
    pub exact: bool,
    /// Row order.
    pub convention: Convention,
    /// Scale and offset of the viewport (x, y, z, w each), if the program does not name them.
    pub viewport: Option<[f32; 8]>,
}

/// Lifts an MBS program with its symbols, or as its words alone ([`lift`]) if it has none.
///
/// # Errors
/// See [`Error`].
pub fn program(program: &Program, options: &Options) -> Result<Shader, Error> {
    lift(program.stage, &program.code, &interface(program), options)
}

/// A program's interface: from its symbols, or from its code if it has none.
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

/// The interface with the viewport as constants of the program, if it is given.
fn with_viewport(interface: &Interface, options: &Options) -> Interface {
    let mut result = interface.clone();
    if let (Some(float), Some(viewport)) = (interface.viewport, options.viewport) {
        result.uniforms.retain(|uniform| uniform.float != float);
        result.constants.extend((float..).zip(viewport));
        result.viewport = None;
    }
    result
}

/// Lifts words with an interface.
///
/// # Errors
/// See [`Error`].
pub fn lift(stage: Stage, words: &[u32], interface: &Interface, options: &Options) -> Result<Shader, Error> {
    let (mut function, stage) = match stage {
        Stage::Vertex => (gp::lift(&vertex_code(words), interface, options)?, ShaderStage::Vertex),
        Stage::Fragment => (pp::lift(words, interface, options)?, ShaderStage::Fragment),
    };
    tidy::tidy(&mut function, interface, options.exact);
    let module = emit::emit(
        &function,
        &with_viewport(interface, options),
        stage,
        (options.convention, options.exact),
    );
    let info = translate::validated(&module).map_err(ErrorKind::Module)?;
    Ok(Shader { module, info, entry: 0 })
}
