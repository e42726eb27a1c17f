//! Recordings of a device's jobs, one per address space.

use emulator::memory::Memory;
use emulator::recorder::Recorder;
use loader::trace::Pipe;
use std::io::Write;

/// Opens the recording of the address space with this page directory; `None` to not record it.
pub type Open = dyn Fn(Option<u32>) -> Option<Recording> + Send + Sync;

/// A recording; it stops at the first write error.
pub struct Recording(Option<Recorder<Box<dyn Write + Send>>>);

impl Recording {
    /// A recording of a GPU: 1 for a Mali-400, 2 for a Mali-450, and its number of pixel processors.
    ///
    /// # Errors
    /// If its header cannot be written.
    pub fn new(out: Box<dyn Write + Send>, gpu: u32, pps: u32) -> std::io::Result<Self> {
        Recorder::new(out, gpu, pps).map(|recorder| Self(Some(recorder)))
    }

    pub(crate) fn created(&mut self, address: u32, size: u32) {
        if let Some(recorder) = &mut self.0 {
            recorder.created(address, size, 0, false);
        }
    }

    pub(crate) fn freed(&mut self, address: u32) {
        if let Some(recorder) = &mut self.0 {
            recorder.freed(address);
        }
    }

    pub(crate) fn submit(&mut self, memory: &Memory, is_gp: bool, frame: &[u32]) {
        let pipe = if is_gp { Pipe::Gp } else { Pipe::Pp };
        let written = self
            .0
            .as_mut()
            .map(|recorder| recorder.submitted(memory, pipe, frame.to_vec(), Vec::new()));
        if let Some(Err(_)) = written {
            self.0 = None;
        }
    }

    pub(crate) fn learn(&mut self, memory: &Memory) {
        if let Some(recorder) = &mut self.0 {
            recorder.done(memory);
        }
    }
}
