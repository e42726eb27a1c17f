//! The Debug Adapter Protocol over a recording: its vertices and fragments step by step.
//!
//! [`serve`] reads requests and writes responses and events; what is launched comes of the caller's [`Launch`]. The jobs run
//! in a thread of their own (`debuggee`) on the plain engine with a watcher (`stepper`) that stops where it is told
//! to; stepping back is running again up to the moment before. The fragments of a quad are the threads, and a vertex is
//! one.

mod breakpoints;
mod debuggee;
mod evaluate;
mod invocation;
mod programs;
mod session;
mod stepper;
mod views;
mod wire;

use crate::error::Result;
use emulator::exec::observed::Stage;
use serde_json::Value;
use std::io::{Read, Write};

/// A source that a program was compiled from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Its file.
    pub path: String,
    /// Which processor the program is for.
    pub stage: Stage,
    /// The lines each instruction does something for, in the order of the code.
    pub lines: Vec<Vec<u32>>,
}

/// What is debugged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Launched {
    /// The recording.
    pub recording: Vec<u8>,
    /// Sources of its programs, where they are known.
    pub sources: Vec<Source>,
}

/// Makes what a `launch` request asks for.
pub trait Launch {
    /// The recording and sources that the request's arguments name.
    ///
    /// # Errors
    /// What is wrong with them, for the person who wrote them.
    fn launch(&mut self, arguments: &Value) -> Result<Launched>;
}

/// Speaks the protocol until the client disconnects.
///
/// # Errors
/// When the client's messages cannot be told apart any more, or nothing can be written.
pub fn serve(input: impl Read + Send + 'static, output: impl Write, launch: &mut dyn Launch) -> Result<()> {
    session::serve(input, output, launch)
}
