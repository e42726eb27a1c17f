//! Trims a recording to the data needed to replay some of its jobs with the same picture.
//!
//! A tracker on every buffer object records the bytes that a job reads before it writes them. Before a kept job, the
//! trimmed recording gets those of them that it does not have yet, so that results of earlier jobs become memory
//! contents. Jobs also pass on polygon lists: a pixel job keeps the geometry jobs that built its lists.

mod tracked;

use crate::error::{Error, Result};
use crate::recorded::{self, Done};
use emulator::exec::Engine;
use emulator::fault::Fault;
use emulator::gpu::Gpu;
use emulator::gpu::commands::Commands;
use emulator::memory::Memory;
use loader::trace::{Pipe, Record, Trace};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use tracked::{Object, Shared};
use utgard::frame::{GpFrame, PpFrame};
use utgard::state::RenderState;
use utgard::stream::{ListCommand, TileCommand};

/// Limit on scanned commands of tile lists.
const MAX_COMMANDS: usize = 1 << 20;

/// A trimmed recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trimmed {
    /// The recording.
    pub bytes: Vec<u8>,
    /// Indices of the kept jobs, including earlier ones that built their polygon lists.
    pub jobs: Vec<usize>,
    /// Bytes of memory in it.
    pub memory: usize,
}

/// Treatment of objects that no kept job reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Untouched {
    /// Remove them.
    Drop,
    /// Keep them, empty: a texture that is bound but never sampled must be mapped.
    Keep,
}

/// Keeps some jobs of a recording and the memory that they read. `engine` creates the engine, twice.
///
/// # Errors
/// If the jobs do not exist, or one of the recording's jobs faults.
pub fn trim(
    trace: &Trace<'_>,
    jobs: &RangeInclusive<usize>,
    untouched: Untouched,
    engine: impl Fn() -> Box<dyn Engine>,
) -> Result<Trimmed> {
    let all = recorded::jobs(trace);
    if jobs.is_empty() || *jobs.end() >= all {
        let (first, last) = (jobs.start(), jobs.end());
        let message = format!(
            "jobs {first}..{last} were requested, but the recording has 0..{}",
            all.max(1) - 1
        );
        return Err(Error::request(match all {
            0 => "the recording has no jobs".to_owned(),
            _ => message,
        }));
    }
    let kept = needed(trace, jobs, engine())?;
    Keeper::new(trace, kept, engine()).run(untouched)
}

/// Runs the records up to a job; `before` receives memory and frame before each.
fn walk(
    trace: &Trace<'_>,
    last: usize,
    gpu: &mut Gpu,
    mut before: impl FnMut(usize, &Memory, Pipe, &[u32]) -> Result<(), Fault>,
) -> Result<()> {
    let mut job = 0;
    for (offset, record) in &trace.records {
        let at = |fault| Error::fault(job, *offset, fault);
        if let Record::Submit { pipe, frame, .. } = record {
            before(job, &gpu.memory, *pipe, frame).map_err(at)?;
        }
        if recorded::step(gpu, record).map_err(at)?.is_some() {
            job += 1;
        }
        if job > last {
            break;
        }
    }
    Ok(())
}

/// The requested jobs, and the earlier geometry jobs that built their polygon lists.
fn needed(trace: &Trace<'_>, jobs: &RangeInclusive<usize>, engine: Box<dyn Engine>) -> Result<BTreeSet<usize>> {
    let mut kept: BTreeSet<usize> = jobs.clone().collect();
    // The last job that built the list at an address.
    let mut builders: BTreeMap<u32, usize> = BTreeMap::new();
    walk(trace, *jobs.end(), &mut Gpu::new(engine), |job, memory, pipe, frame| {
        match pipe {
            Pipe::Gp => {
                let lists = built(memory, frame)?;
                builders.extend(lists.into_iter().map(|list| (list, job)));
            }
            Pipe::Pp if jobs.contains(&job) => {
                let painted = painted(memory, frame);
                kept.extend(painted.iter().filter_map(|list| builders.get(list)));
            }
            Pipe::Pp => {}
        }
        Ok(())
    })?;
    Ok(kept)
}

/// Addresses of the polygon lists that a geometry job builds.
fn built(memory: &Memory, frame: &[u32]) -> Result<Vec<u32>, Fault> {
    let mut table = None;
    list_commands(memory, frame, |command| {
        if let ListCommand::BlockTable(at) = command {
            table = Some((at.address, u32::from(at.last) + 1));
        }
    })?;
    table.map_or(Ok(Vec::new()), |(address, count)| memory.words(address, count))
}

/// The commands of a geometry job's polygon list stream, up to its end.
fn list_commands(memory: &Memory, frame: &[u32], mut see: impl FnMut(&ListCommand)) -> Result<(), Fault> {
    let frame = GpFrame::from_words(frame);
    let mut commands = Commands::new(memory, frame.list_start, frame.list_end);
    while let Some((_, words)) = commands.step()? {
        match ListCommand::decode(words) {
            ListCommand::End(_) => break,
            command => see(&command),
        }
    }
    Ok(())
}

/// Addresses of the polygon lists in a pixel job's tile lists.
fn painted(memory: &Memory, frame: &[u32]) -> BTreeSet<u32> {
    let mut lists = BTreeSet::new();
    for start in PpFrame::from_words(frame).lists {
        let words = (0..MAX_COMMANDS as u32).map_while(|at| {
            let at = start.wrapping_add(8 * at);
            Some([memory.word(at).ok()?, memory.word(at.wrapping_add(4)).ok()?])
        });
        for command in words.map(TileCommand::decode) {
            match command {
                TileCommand::EndOfTiles(_) => break,
                TileCommand::RunBlock(run) => drop(lists.insert(run.block.0)),
                _ => {}
            }
        }
    }
    lists
}

/// Runs a recording with trackers.
struct Keeper<'a> {
    trace: &'a Trace<'a>,
    kept: BTreeSet<usize>,
    gpu: Gpu,
    /// All objects in order of creation; freed ones keep their marks.
    objects: Vec<Shared>,
    /// The current ones, by address.
    living: BTreeMap<u32, usize>,
    /// Addresses of the fragment programs of kept geometry jobs.
    programs: BTreeSet<u32>,
    /// The records of the trimmed recording, each with its object.
    out: Vec<Kept<'a>>,
}

/// A record of the trimmed recording.
enum Kept<'a> {
    /// Creates the object.
    Buffer { object: usize, flags: u32 },
    /// Frees it.
    Free { object: usize },
    /// Bytes of it.
    Page { address: u32, bytes: Vec<u8> },
    /// A job.
    Job(&'a Record<'a>),
}

impl<'a> Keeper<'a> {
    fn new(trace: &'a Trace<'a>, kept: BTreeSet<usize>, engine: Box<dyn Engine>) -> Self {
        Self {
            trace,
            kept,
            gpu: Gpu::new(engine),
            objects: Vec::new(),
            living: BTreeMap::new(),
            programs: BTreeSet::new(),
            out: Vec::new(),
        }
    }

    fn run(mut self, untouched: Untouched) -> Result<Trimmed> {
        let (mut job, last) = (0, self.kept.last().copied().unwrap_or_default());
        for (offset, record) in &self.trace.records {
            let is_job = matches!(record, Record::Submit { .. });
            let done = match is_job && self.kept.contains(&job) {
                true => self.keep(record),
                false => self.pass(record),
            };
            done.map_err(|fault| Error::fault(job, *offset, fault))?;
            job += usize::from(is_job);
            if job > last {
                break;
            }
        }
        Ok(self.write(untouched))
    }

    /// Handles a record that is not kept, or is not a job.
    fn pass(&mut self, record: &'a Record<'a>) -> Result<(), Fault> {
        match record {
            Record::Buffer { address, size, flags } => {
                let object = Object::shared(*address, *size);
                self.gpu.memory.map_backed(*address, Box::new(object.clone()))?;
                self.living.insert(*address, self.objects.len());
                self.out.push(Kept::Buffer {
                    object: self.objects.len(),
                    flags: *flags,
                });
                self.objects.push(object);
            }
            Record::Free { address } => {
                self.gpu.memory.unmap(*address)?;
                self.out
                    .extend(self.living.remove(address).map(|object| Kept::Free { object }));
            }
            _ => drop(recorded::step(&mut self.gpu, record)?),
        }
        Ok(())
    }

    /// Keeps a job; the memory that it reads is inserted before it.
    fn keep(&mut self, record: &'a Record<'a>) -> Result<(), Fault> {
        if let Record::Submit {
            pipe: Pipe::Gp, frame, ..
        } = record
        {
            self.note_programs(frame)?;
        }
        let ends = self
            .programs
            .iter()
            .filter_map(|at| Some((*at, self.program_end(*at)?)));
        let ends: BTreeMap<u32, u32> = ends.collect();
        self.each_living(Object::begin);
        let done = recorded::step(&mut self.gpu, record);
        // Pixels that the job did not draw show the previous contents.
        if let Ok(Some(Done::Pp(_, frame))) = &done {
            let _ = recorded::picture(&self.gpu.memory, frame);
        }
        let mut pages = Vec::new();
        self.each_living(|object| pages.extend(object.end(&ends)));
        done?;
        let page = |(address, bytes)| Kept::Page { address, bytes };
        self.out.extend(pages.into_iter().map(page));
        self.out.push(Kept::Job(record));
        Ok(())
    }

    fn each_living(&self, mut what: impl FnMut(&mut Object)) {
        for object in self.living.values() {
            what(&mut tracked::lock(&self.objects[*object]));
        }
    }

    fn note_programs(&mut self, frame: &[u32]) -> Result<(), Fault> {
        let (memory, programs) = (&self.gpu.memory, &mut self.programs);
        list_commands(memory, frame, |command| {
            if let ListCommand::BindState(bind) = command
                && let Ok(words) = memory.words(bind.state, RenderState::WORDS as u32)
            {
                programs.insert(RenderState::from_words(&words).program.0);
            }
        })
    }

    /// The end of a fragment program; the GPU prefetches beyond it.
    fn program_end(&self, address: u32) -> Option<u32> {
        let words = recorded::fragment_program(&self.gpu.memory, address)?;
        address.checked_add(4 * words.len() as u32)
    }

    fn write(self, untouched: Untouched) -> Trimmed {
        let is_kept = |object: usize| untouched == Untouched::Keep || tracked::lock(&self.objects[object]).touched;
        let place = |object: usize| {
            let object = tracked::lock(&self.objects[object]);
            (object.address, object.size())
        };
        let last_job = self.out.iter().rposition(|one| matches!(one, Kept::Job(_)));
        let header = Trace {
            gpu: self.trace.gpu,
            pps: self.trace.pps,
            records: Vec::new(),
        };
        let (mut bytes, mut memory) = (header.write(), 0);
        for one in &self.out[..last_job.map_or(0, |at| at + 1)] {
            match one {
                Kept::Buffer { object, flags } if is_kept(*object) => {
                    let (address, size) = place(*object);
                    let flags = *flags;
                    Record::Buffer { address, size, flags }.write(&mut bytes);
                }
                Kept::Free { object } if is_kept(*object) => {
                    let (address, _) = place(*object);
                    Record::Free { address }.write(&mut bytes);
                }
                Kept::Buffer { .. } | Kept::Free { .. } => {}
                Kept::Page { address, bytes: page } => {
                    memory += page.len();
                    let (address, page) = (*address, page.as_slice());
                    Record::Page { address, bytes: page }.write(&mut bytes);
                }
                Kept::Job(record) => record.write(&mut bytes),
            }
        }
        Trimmed {
            bytes,
            jobs: self.kept.into_iter().collect(),
            memory,
        }
    }
}
