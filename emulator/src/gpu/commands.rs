//! Command streams of the geometry processor: its vertex stream and that of the polygon list builder share their jumps.

use crate::fault::{Fault, FaultKind, Result};
use crate::memory::Memory;
use utgard::stream::VertexCommand;

/// Commands of a stream at most.
pub const MAX_COMMANDS: u32 = 1 << 20;

/// A stream's commands as pairs of words, following jumps.
pub struct Commands<'a> {
    memory: &'a Memory,
    at: u32,
    end: u32,
    left: u32,
}

impl<'a> Commands<'a> {
    /// The commands from `start` to `end`.
    pub fn new(memory: &'a Memory, start: u32, end: u32) -> Self {
        Self {
            memory,
            at: start,
            end,
            left: MAX_COMMANDS,
        }
    }

    /// The commands from where others stopped ([`Commands::position`]) to `end`.
    pub(super) fn resume(memory: &'a Memory, (at, left): (u32, u32), end: u32) -> Self {
        Self { memory, at, end, left }
    }

    /// Address of the next command, and how many may still follow.
    pub(super) fn position(&self) -> (u32, u32) {
        (self.at, self.left)
    }

    /// The next command: its address and words.
    ///
    /// # Errors
    /// When it is in no buffer object, or there are too many.
    pub fn step(&mut self) -> Result<Option<(u32, [u32; 2])>> {
        while self.at != self.end {
            if self.left == 0 {
                return Err(Fault::new(FaultKind::Budget, "a command stream does not end").at(self.at));
            }
            self.left -= 1;
            let words = self.memory.pair(self.at)?;
            // Jumps are the same in all streams.
            if let VertexCommand::VertexJump(jump) = VertexCommand::decode(words) {
                self.at = jump.address;
                continue;
            }
            let at = self.at;
            self.at = self.at.wrapping_add(8);
            return Ok(Some((at, words)));
        }
        Ok(None)
    }
}
