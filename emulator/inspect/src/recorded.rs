//! A recording, run record by record.

use emulator::exec::FragmentProgram;
use emulator::fault::Result;
use emulator::gpu::PixelStats;
use emulator::gpu::frame::Frame;
use emulator::gpu::tile::write_back;
use emulator::gpu::{GeometryStats, Gpu};
use emulator::memory::Memory;
use loader::trace::{Pipe, Record, Trace};
use utgard::frame::WriteBackSource;

/// What a job did.
#[derive(Clone, Debug)]
pub enum Done {
    /// A geometry job.
    Gp(GeometryStats),
    /// A pixel job, and its frame.
    Pp(PixelStats, Box<Frame>),
}

/// The GPU that a recording is of, with its processors.
pub fn device(trace: &Trace<'_>) -> String {
    let name = match trace.gpu {
        1 => "Mali-400",
        2 => "Mali-450",
        _ => "a GPU nobody knows",
    };
    let plural = if trace.pps == 1 { "" } else { "s" };
    format!("{name}, {} pixel processor{plural}", trace.pps)
}

/// Jobs of a recording.
pub fn jobs(trace: &Trace<'_>) -> usize {
    let jobs = trace.records.iter();
    jobs.filter(|(_, record)| matches!(record, Record::Submit { .. }))
        .count()
}

/// A recording up to one of its jobs, or all of it.
pub fn up_to<'a>(trace: &Trace<'a>, last: Option<usize>) -> Trace<'a> {
    let mut left = last.map_or(usize::MAX, |last| last + 1);
    let records = trace.records.iter().take_while(|(_, record)| {
        let goes_on = left > 0;
        left -= usize::from(goes_on && matches!(record, Record::Submit { .. }));
        goes_on
    });
    Trace {
        gpu: trace.gpu,
        pps: trace.pps,
        records: records.cloned().collect(),
    }
}

/// Does to the GPU's memory what a record says; nothing for jobs.
///
/// # Errors
/// What is wrong with the buffer object.
pub fn lay(memory: &mut Memory, record: &Record<'_>) -> Result<()> {
    match record {
        Record::Buffer { address, size, .. } => memory.map(*address, *size),
        Record::Free { address } => memory.unmap(*address),
        Record::Page { address, bytes } => memory.write(*address, bytes),
        Record::Submit { .. } => Ok(()),
    }
}

/// Does what a record says; what its job did, if it is one.
///
/// # Errors
/// The job's fault, or what is wrong with a buffer object.
pub fn step(gpu: &mut Gpu, record: &Record<'_>) -> Result<Option<Done>> {
    let Record::Submit { pipe, frame, .. } = record else {
        lay(&mut gpu.memory, record)?;
        return Ok(None);
    };
    Ok(Some(match pipe {
        Pipe::Gp => Done::Gp(gpu.run_gp(frame)?),
        Pipe::Pp => {
            let stats = gpu.run_pp(frame)?;
            Done::Pp(stats, Box::new(Frame::parse(frame)?))
        }
    }))
}

/// Most bytes of a fragment program.
const MAX_PROGRAM: u32 = 1 << 16;

/// The words of the fragment program at an address, as far as it goes; nothing where there is none.
pub fn fragment_program(memory: &Memory, address: u32) -> Option<Vec<u32>> {
    let code = memory.bytes_up_to(address, MAX_PROGRAM);
    let words = code
        .chunks_exact(4)
        .map(|w| u32::from_le_bytes([w[0], w[1], w[2], w[3]]));
    let mut words: Vec<u32> = words.collect();
    let program = FragmentProgram::read(&words).ok()?;
    let ends = program.instructions.iter().map(|(at, one)| at + one.words());
    words.truncate(ends.max()? as usize);
    Some(words)
}

/// Rows of pixels from the top, four bytes each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pixels {
    /// Columns.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Red, green, blue, alpha of each.
    pub rgba: Vec<u8>,
}

impl Pixels {
    /// A pixel, where there is one.
    pub fn at(&self, x: u32, y: u32) -> Option<[u8; 4]> {
        if x >= self.width || y >= self.height {
            return None;
        }
        let at = (y as usize * self.width as usize + x as usize) * 4;
        self.rgba.get(at..at + 4)?.try_into().ok()
    }
}

/// The picture that a pixel job of a frame wrote; nothing where it writes no colour.
///
/// # Errors
/// When the picture is in no buffer object, or of a kind that cannot be read.
pub fn picture(memory: &Memory, frame: &Frame) -> Result<Option<Pixels>> {
    let mut units = frame.write_backs.iter();
    let Some(unit) = units.find(|unit| unit.source == WriteBackSource::Color) else {
        return Ok(None);
    };
    let (width, height, rgba) = write_back::read(memory, frame, unit)?;
    Ok(Some(Pixels { width, height, rgba }))
}
