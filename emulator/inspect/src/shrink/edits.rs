//! The polygon list streams of a recording, written again with fewer draws and fewer of their primitives: each draw
//! that is cut goes by indices of its own.

use crate::error::{Error, Result};
use crate::recorded;
use emulator::fault::Fault;
use emulator::gpu::binning::geometry;
use emulator::gpu::commands::Commands;
use emulator::memory::{Memory, PAGE};
use loader::trace::{Pipe, Record, Trace};
use std::collections::{BTreeMap, BTreeSet};
use utgard::frame::GpFrame;
use utgard::stream::{DrawPrimitives, Indices, ListCommand, PrimitiveMode, PrimitiveSetup};

/// Vertices of a draw that is taken apart.
const MAX_VERTICES: u32 = 1 << 20;

/// Which primitives of draws are left, by job and draw; draws that are not here are left as they are.
pub type Cuts = BTreeMap<(usize, usize), BTreeSet<usize>>;

/// A draw of a geometry job.
#[derive(Clone, Debug)]
pub struct Draw {
    /// Its job.
    pub job: usize,
    /// Its number in it.
    pub number: usize,
    command: DrawPrimitives,
    setup: PrimitiveSetup,
    /// Address of the indices that hold for it and later draws.
    indices: Option<u32>,
    /// Vertices of each primitive.
    primitives: Vec<Vec<u32>>,
}

impl Draw {
    /// Its job and number.
    pub fn key(&self) -> (usize, usize) {
        (self.job, self.number)
    }

    /// Primitives it has.
    pub fn primitives(&self) -> usize {
        self.primitives.len()
    }

    /// The mode in which single primitives are drawn.
    fn mode(&self) -> PrimitiveMode {
        match self.command.mode {
            PrimitiveMode::LineLoop | PrimitiveMode::LineStrip => PrimitiveMode::Lines,
            PrimitiveMode::TriangleStrip | PrimitiveMode::TriangleFan => PrimitiveMode::Triangles,
            mode => mode,
        }
    }
}

/// A geometry job's polygon list stream.
#[derive(Clone, Debug, Default)]
struct Stream {
    commands: Vec<ListCommand>,
    draws: Vec<Draw>,
}

/// All streams of a recording, by their jobs.
#[derive(Clone, Debug, Default)]
pub struct Streams {
    jobs: BTreeMap<usize, Stream>,
    /// Where objects ever are: first addresses and ends.
    used: Vec<(u64, u64)>,
}

impl Streams {
    /// Those of a recording; jobs are not run.
    ///
    /// # Errors
    /// When a stream or indices are in no buffer object.
    pub fn of(trace: &Trace<'_>) -> Result<Self> {
        let (mut memory, mut job, mut all) = (Memory::default(), 0, Self::default());
        for (offset, record) in &trace.records {
            if let Record::Buffer { address, size, .. } = record {
                let start = u64::from(*address);
                all.used.push((start, start + u64::from(*size)));
            }
            let done = match record {
                Record::Submit {
                    pipe: Pipe::Gp, frame, ..
                } => stream(&memory, &GpFrame::from_words(frame), job).map(|stream| drop(all.jobs.insert(job, stream))),
                _ => recorded::lay(&mut memory, record),
            };
            done.map_err(|fault| Error::fault(job, *offset, fault))?;
            job += usize::from(matches!(record, Record::Submit { .. }));
        }
        all.used.sort_unstable();
        Ok(all)
    }

    /// An address at which no object ever is, for so many bytes.
    fn free(&self, size: u32) -> Option<u32> {
        let mut at = u64::from(PAGE);
        for (start, end) in &self.used {
            if at + u64::from(size) <= *start {
                break;
            }
            at = at.max(end.next_multiple_of(PAGE.into()));
        }
        u32::try_from(at).ok().filter(|at| at.checked_add(size).is_some())
    }

    /// All draws in order.
    pub fn draws(&self) -> impl Iterator<Item = &Draw> {
        self.jobs.values().flat_map(|stream| &stream.draws)
    }

    /// Writes a recording without some jobs and primitives.
    pub fn write(&self, trace: &Trace<'_>, jobs: &BTreeSet<usize>, cuts: &Cuts) -> Vec<u8> {
        let header = Trace {
            gpu: trace.gpu,
            pps: trace.pps,
            records: Vec::new(),
        };
        let (mut bytes, mut job) = (header.write(), 0);
        for (_, record) in &trace.records {
            let is_job = matches!(record, Record::Submit { .. });
            if !is_job {
                record.write(&mut bytes);
            } else if !jobs.contains(&job) {
                let cut = cuts.range((job, 0)..(job + 1, 0)).next().is_some();
                let stream = self.jobs.get(&job).filter(|_| cut);
                // Where there is no room for another stream the job stays as it is.
                if stream
                    .and_then(|stream| self.cut(stream, record, cuts, &mut bytes))
                    .is_none()
                {
                    record.write(&mut bytes);
                }
            }
            job += usize::from(is_job);
        }
        bytes
    }

    /// A job with a stream of its own, in a buffer object that comes and goes with it; nothing where there is no room.
    fn cut(&self, stream: &Stream, record: &Record<'_>, cuts: &Cuts, bytes: &mut Vec<u8>) -> Option<()> {
        let Record::Submit { pipe, frame, objects } = record else {
            return None;
        };
        // The indices lie behind the commands, of which each draw takes up to four more.
        let room = 8 * (stream.commands.len() + 4 * stream.draws.len());
        let vertices: usize = stream
            .draws
            .iter()
            .flat_map(|draw| &draw.primitives)
            .map(Vec::len)
            .sum();
        let address = self.free(u32::try_from(room + 4 * vertices).ok()?)?;
        let (mut commands, mut indices) = (Vec::new(), Vec::new());
        let mut draws = stream.draws.iter();
        for command in &stream.commands {
            let draw = match command {
                ListCommand::DrawPrimitives(_) => draws.next(),
                _ => None,
            };
            match draw.map(|draw| (draw, cuts.get(&draw.key()))) {
                Some((draw, Some(kept))) => {
                    let at = address + (room + 4 * indices.len()) as u32;
                    commands.extend(few(draw, kept, at, &mut indices));
                }
                _ => commands.push(*command),
            }
        }
        let mut page: Vec<u32> = commands.into_iter().flat_map(ListCommand::encode).collect();
        let end = address + 4 * page.len() as u32;
        page.resize(room / 4, 0);
        page.extend(indices);
        let page: Vec<u8> = page.into_iter().flat_map(u32::to_le_bytes).collect();
        let size = page.len() as u32;
        Record::Buffer {
            address,
            size,
            flags: 0,
        }
        .write(bytes);
        Record::Page { address, bytes: &page }.write(bytes);
        let mut words = GpFrame::from_words(frame);
        (words.list_start, words.list_end) = (address, end);
        let mut objects = objects.clone();
        objects.push((address, 1));
        let mut frame = frame.clone();
        let own = words.to_words();
        let length = frame.len().min(own.len());
        frame[..length].copy_from_slice(&own[..length]);
        let pipe = *pipe;
        Record::Submit { pipe, frame, objects }.write(bytes);
        Record::Free { address }.write(bytes);
        Some(())
    }
}

/// The commands that draw some primitives of a draw, and leave everything as it was.
fn few(draw: &Draw, kept: &BTreeSet<usize>, at: u32, indices: &mut Vec<u32>) -> Vec<ListCommand> {
    let before = indices.len();
    let vertices = kept.iter().filter_map(|number| draw.primitives.get(*number)).flatten();
    indices.extend(vertices);
    let count = (indices.len() - before) as u32;
    if count == 0 {
        return Vec::new();
    }
    let mut setup = draw.setup;
    (setup.indices_16, setup.indices_32) = (false, true);
    let mut command = draw.command;
    (command.count, command.mode, command.indexed) = (count, draw.mode(), true);
    if !draw.command.indexed {
        // Vertices are numbered from the first one of their arrays.
        command.start = 0;
    }
    let mut commands = vec![
        setup.into(),
        Indices { address: at }.into(),
        command.into(),
        draw.setup.into(),
    ];
    commands.extend(draw.indices.map(|address| ListCommand::from(Indices { address })));
    commands
}

fn stream(memory: &Memory, frame: &GpFrame, job: usize) -> Result<Stream, Fault> {
    let mut stream = Stream::default();
    let mut commands = Commands::new(memory, frame.list_start, frame.list_end);
    let (mut setup, mut indices) = (PrimitiveSetup::default(), None);
    while let Some((_, words)) = commands.step()? {
        let command = ListCommand::decode(words);
        stream.commands.push(command);
        match command {
            ListCommand::End(_) => break,
            ListCommand::PrimitiveSetup(now) => setup = now,
            ListCommand::Indices(at) => indices = Some(at.address),
            ListCommand::DrawPrimitives(command) => {
                let number = stream.draws.len();
                stream.draws.push(Draw {
                    job,
                    number,
                    command,
                    setup,
                    indices,
                    primitives: primitives(memory, &command, &setup, indices)?,
                });
            }
            _ => {}
        }
    }
    Ok(stream)
}

/// The vertices of each primitive of a draw: indices as they are, or numbers from the first vertex on.
fn primitives(
    memory: &Memory,
    draw: &DrawPrimitives,
    setup: &PrimitiveSetup,
    indices: Option<u32>,
) -> Result<Vec<Vec<u32>>, Fault> {
    let count = draw.count.min(MAX_VERTICES);
    let size = match (setup.indices_32, setup.indices_16) {
        (true, _) => 4,
        (false, true) => 2,
        (false, false) => 1,
    };
    let numbers: Vec<u32> = match indices.filter(|_| draw.indexed) {
        Some(address) => {
            let bytes = memory.bytes(address, count * size)?;
            let number = |bytes: &[u8]| {
                bytes
                    .iter()
                    .rev()
                    .fold(0, |number, byte| number << 8 | u32::from(*byte))
            };
            bytes.chunks_exact(size as usize).map(number).collect()
        }
        None => (0..count).collect(),
    };
    let of = |at: u32| {
        let (corners, known) = geometry::corners(draw.mode, count, at);
        let number = |at: &u32| numbers.get(*at as usize).copied().unwrap_or_default();
        corners[..known].iter().map(number).collect()
    };
    Ok((0..geometry::count(draw.mode, count)).map(of).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_found_between_objects() {
        let streams = |used: &[(u64, u64)]| Streams {
            used: used.to_vec(),
            ..Streams::default()
        };
        assert_eq!(streams(&[]).free(10), Some(PAGE));
        assert_eq!(
            streams(&[(0x1000, 0x1010), (0x3000, 0x4000)]).free(0x1000),
            Some(0x2000)
        );
        assert_eq!(
            streams(&[(0x1000, 0x1010), (0x3000, 0x4000)]).free(0x1001),
            Some(0x4000)
        );
        assert_eq!(streams(&[(0, 1 << 32)]).free(1), None);
        assert_eq!(streams(&[(0x2000, 1 << 32)]).free(0x1000), Some(PAGE));
    }
}
