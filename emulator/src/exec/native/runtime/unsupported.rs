//! Machines that no code is made for: there is never any.

use crate::exec::native::call::{Bailout, Call, Emitted};

/// Whether there is machine code.
pub(crate) const IS_THERE: bool = false;

/// Machine code: none.
#[derive(Debug)]
pub(crate) enum Code {}

impl Code {
    /// Nothing.
    pub(crate) fn new(_: Emitted) -> Option<Self> {
        None
    }

    /// Unreachable: there is no code.
    pub(crate) fn run(&self, _: Call<'_>) -> bool {
        match *self {}
    }

    /// The same.
    pub(crate) fn attempt(&self, _: Call<'_>) -> Bailout {
        match *self {}
    }

    /// Unreachable: there is no code.
    pub(crate) fn uniforms(&self) -> (usize, bool) {
        match *self {}
    }

    /// Unreachable: there is no code.
    pub(crate) fn lanes(&self) -> usize {
        match *self {}
    }

    /// Unreachable: there is no code.
    pub(crate) fn size(&self) -> usize {
        match *self {}
    }
}
