//! Runs a recording record by record.

use emulator::exec::FragmentProgram;
use emulator::fault::Result;
use emulator::gpu::PixelStats;
use emulator::gpu::frame::Frame;
use emulator::gpu::tile::write_back;
use emulator::gpu::{GeometryStats, Gpu};
use emulator::memory::Memory;
use loader::trace::{Pipe, Record, Trace};
use utgard::frame::WriteBackSource;

/// The result of a job.
#[derive(Clone, Debug)]
pub enum Done {
    /// A geometry job.
    Gp(GeometryStats),
    /// A pixel job, and its frame.
    Pp(PixelStats, Box<Frame>),
}

/// The GPU of a recording, with its number of processors.
pub fn device(trace: &Trace<'_>) -> String {
    let name = match trace.gpu {
        1 => "Mali-400",
        2 => "Mali-450",
        _ => "an unknown GPU",
    };
    let plural = if trace.pps == 1 { "" } else { "s" };
    format!("{name}, {} pixel processor{plural}", trace.pps)
}

/// Number of jobs in a recording.
pub fn jobs(trace: &Trace<'_>) -> usize {
    let jobs = trace.records.iter();
    jobs.filter(|(_, record)| matches!(record, Record::Submit { .. }))
        .count()
}

/// A recording up to and including one of its jobs, or all of it.
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

/// Applies a memory record to the GPU's memory; ignores jobs.
///
/// # Errors
/// An invalid buffer object.
pub fn lay(memory: &mut Memory, record: &Record<'_>) -> Result<()> {
    match record {
        Record::Buffer { address, size, .. } => memory.map(*address, *size),
        Record::Free { address } => memory.unmap(*address),
        Record::Page { address, bytes } => memory.write(*address, bytes),
        Record::Submit { .. } => Ok(()),
    }
}

/// Applies a record; returns the job's result if it is one.
///
/// # Errors
/// The job's fault, or an invalid buffer object.
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

/// Limit on the bytes of a fragment program.
const MAX_PROGRAM: u32 = 1 << 16;

/// The words of the fragment program at an address, up to its end; `None` if there is none.
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

/// Rows of pixels from the top, four bytes per pixel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pixels {
    /// Columns.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Red, green, blue and alpha of each pixel.
    pub rgba: Vec<u8>,
}

impl Pixels {
    /// A pixel, if it is in the picture.
    pub fn at(&self, x: u32, y: u32) -> Option<[u8; 4]> {
        if x >= self.width || y >= self.height {
            return None;
        }
        let at = (y as usize * self.width as usize + x as usize) * 4;
        self.rgba.get(at..at + 4)?.try_into().ok()
    }
}

/// The picture that a pixel job wrote; `None` if it writes no colour.
///
/// # Errors
/// If the picture is not in a buffer object, or has an unsupported format.
pub fn picture(memory: &Memory, frame: &Frame) -> Result<Option<Pixels>> {
    let mut units = frame.write_backs.iter();
    let Some(unit) = units.find(|unit| unit.source == WriteBackSource::Color) else {
        return Ok(None);
    };
    let (width, height, rgba) = write_back::read(memory, frame, unit)?;
    Ok(Some(Pixels { width, height, rgba }))
}
