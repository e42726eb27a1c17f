//! Rewrites the polygon list streams of a recording with fewer draws and primitives: each reduced draw gets its own
//! indices.

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

/// Limit on the vertices of a draw that is reduced.
const MAX_VERTICES: u32 = 1 << 20;

/// Remaining primitives of draws, by job and draw; draws that are absent stay unchanged.
pub(super) type Cuts = BTreeMap<(usize, usize), BTreeSet<usize>>;

/// A draw of a geometry job.
#[derive(Clone, Debug)]
pub(super) struct Draw {
    /// Its job.
    pub job: usize,
    /// Its index in the job.
    pub number: usize,
    command: DrawPrimitives,
    setup: PrimitiveSetup,
    /// Address of the indices used by it and later draws.
    indices: Option<u32>,
    /// Vertices of each primitive.
    primitives: Vec<Vec<u32>>,
}

impl Draw {
    /// Its job and index.
    pub(super) fn key(&self) -> (usize, usize) {
        (self.job, self.number)
    }

    /// Number of primitives.
    pub(super) fn primitives(&self) -> usize {
        self.primitives.len()
    }

    /// The mode for drawing single primitives.
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

/// The streams of a recording, by job.
#[derive(Clone, Debug, Default)]
pub(super) struct Streams {
    jobs: BTreeMap<usize, Stream>,
    /// Ranges ever used by objects: start and end.
    used: Vec<(u64, u64)>,
}

impl Streams {
    /// The streams of a recording, without running jobs.
    ///
    /// # Errors
    /// If a stream or indices are outside all buffer objects.
    pub(super) fn of(trace: &Trace<'_>) -> Result<Self> {
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

    /// An address range of this size that no object ever uses.
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

    /// All draws, in order.
    pub(super) fn draws(&self) -> impl Iterator<Item = &Draw> {
        self.jobs.values().flat_map(|stream| &stream.draws)
    }

    /// Writes a recording without some jobs and primitives.
    pub(super) fn write(&self, trace: &Trace<'_>, jobs: &BTreeSet<usize>, cuts: &Cuts) -> Vec<u8> {
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
                // If there is no space for another stream, the job stays unchanged.
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

    /// Writes a job with its own stream, in a temporary buffer object; `None` if there is no space.
    fn cut(&self, stream: &Stream, record: &Record<'_>, cuts: &Cuts, bytes: &mut Vec<u8>) -> Option<()> {
        let Record::Submit { pipe, frame, objects } = record else {
            return None;
        };
        // The indices follow the commands, of which each draw needs up to four more.
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

/// Commands that draw some primitives of a draw and restore the state.
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
        // Vertices are numbered from the start of their arrays.
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

/// The vertices of each primitive of a draw: indices, or numbers from the first vertex on.
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
