//! The Debug Adapter Protocol for recordings: steps through their vertices and fragments.
//!
//! [`serve`] reads requests and writes responses and events; the caller's [`Launch`] provides what is launched. The
//! jobs run in a separate thread (`debuggee`) on the scalar engine with an observer (`stepper`) that stops at
//! breakpoints and steps; stepping back re-runs up to the moment before. The fragments of a quad are threads, and a
//! vertex is one thread.

mod breakpoints;
mod debuggee;
mod evaluate;
mod invocation;
mod names;
mod programs;
mod session;
mod stepper;
mod views;
mod wire;

use crate::error::Result;
use emulator::exec::observed::Stage;
use loader::mbs::Program;
use serde_json::Value;
use std::io::{Read, Write};
use utgard::debug::Debug;

/// A file that a program comes from: a source, assembly, or MBS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Its file.
    pub path: String,
    /// The processor that the program is for.
    pub stage: Stage,
    /// The source lines that each instruction implements, in code order; empty without a source.
    pub lines: Vec<Vec<u32>>,
    /// The program, whose symbols name its values.
    pub program: Program,
    /// Functions and local variables of the source.
    pub debug: Debug,
}

/// What is debugged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Launched {
    /// The recording.
    pub recording: Vec<u8>,
    /// Sources of its programs, if known.
    pub sources: Vec<Source>,
}

/// Loads what a `launch` request names.
pub trait Launch {
    /// The recording and sources named by the request's arguments.
    ///
    /// # Errors
    /// What is wrong with the arguments, as a message for the user.
    fn launch(&mut self, arguments: &Value) -> Result<Launched>;
}

/// Runs a session until the client disconnects.
///
/// # Errors
/// If the message framing is lost, or the output fails.
pub fn serve(input: impl Read + Send + 'static, output: impl Write, launch: &mut dyn Launch) -> Result<()> {
    session::serve(input, output, launch)
}
