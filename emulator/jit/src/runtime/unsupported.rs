//! Targets without machine code.

use crate::call::{Bailout, Call, Emitted};

/// Machine code: none.
#[derive(Debug)]
pub(crate) enum Code {}

impl Code {
    /// None.
    pub(crate) fn new(_: Emitted) -> Option<Self> {
        None
    }

    /// Unreachable: there is no code.
    pub(crate) fn run(&self, _: &mut Call<'_>) -> Bailout {
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
