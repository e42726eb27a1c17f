//! Jobs: what a unit's registers say when it is started, and how it ends.

use crate::bus::Bus;
use crate::layout::Unit;
use crate::mmu::{Gate, Mapped, Paged, Tables};
use crate::record::Recording;
use emulator::thread_pool::lock;
use emulator::exec::Engine;
use emulator::fault::{Fault, FaultKind};
use emulator::gpu::Gpu;
use emulator::memory::{Memory, PAGE};
use std::collections::BTreeSet;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use utgard::frame::{GpFrame, LISTS, Lists450, PP_FRAME_WORDS, PP_REGISTERS, PROCESSORS, STACKS};
use utgard::stream::TileCommand;

/// Address spaces that are kept at most.
const MAX_SPACES: usize = 64;

/// Bytes of an address space.
const ADDRESS_SPACE: u64 = 1 << 32;

/// A job's end from outside: a reset.
#[derive(Debug, Default)]
pub struct Cancel {
    is_cancelled: AtomicBool,
    gate: Mutex<Option<Arc<Gate>>>,
}

impl Cancel {
    /// Nothing that the job writes from now on reaches memory.
    pub fn cancel(&self) {
        let gate = lock(&self.gate);
        self.is_cancelled.store(true, Ordering::Release);
        if let Some(gate) = &*gate {
            gate.is_closed.store(true, Ordering::Release);
        }
    }

    /// Whether the job may run; its writes go through the gate.
    fn begin(&self, gate: &Arc<Gate>) -> bool {
        let mut slot = lock(&self.gate);
        let may = !self.is_cancelled.load(Ordering::Acquire);
        gate.is_closed.store(!may, Ordering::Release);
        *slot = Some(gate.clone());
        may
    }

    /// The job is over: the gate is another job's.
    fn end(&self) {
        *lock(&self.gate) = None;
    }
}

/// A list of tiles that a Mali-450 makes for itself: the processor's share of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// Where the processor reads it.
    pub address: u32,
    /// The four registers that describe it.
    pub registers: [u32; 4],
    /// Which of the processors that share it.
    pub number: u32,
    /// How many do.
    pub of: u32,
}

/// A job.
#[derive(Clone, Debug)]
pub struct Job {
    /// The geometry processor or a pixel processor.
    pub unit: Unit,
    /// Its frame: of the geometry processor six words, of a pixel processor registers and write-back units.
    pub frame: Vec<u32>,
    /// The page directory; nothing where addresses are physical.
    pub directory: Option<u32>,
    /// The list of tiles, where the hardware makes it.
    pub share: Option<Share>,
    /// Its end from outside.
    pub cancel: Arc<Cancel>,
}

/// How a job ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// At the end of its streams or lists.
    Done,
    /// It was reset away.
    Cancelled,
    /// At an address without a translation, or by a write without the right to.
    PageFault {
        /// The address.
        address: u32,
        /// Whether it was to be written.
        is_write: bool,
    },
    /// The tables, or what they point to, are where there is no memory.
    BusError(Fault),
    /// At a command that does not exist.
    Invalid {
        /// Where the command is.
        address: u32,
        /// Why.
        fault: Fault,
    },
    /// Hardware would go on for ever, or do what nobody knows.
    Hang(Fault),
}

/// A page directory, if addresses are translated, and its space.
type Kept = (Option<u32>, Arc<Mutex<Space>>);

/// The address spaces that jobs have run in, the one used last at the end.
pub struct Spaces {
    bus: Arc<dyn Bus>,
    engine: Box<dyn Fn() -> Box<dyn Engine> + Send + Sync>,
    threads: usize,
    budget: u64,
    record: Option<Box<crate::record::Open>>,
    spaces: Mutex<Vec<Kept>>,
}

impl Spaces {
    /// No space yet.
    pub fn new(
        bus: Arc<dyn Bus>,
        engine: Box<dyn Fn() -> Box<dyn Engine> + Send + Sync>,
        threads: usize,
        budget: u64,
        record: Option<Box<crate::record::Open>>,
    ) -> Self {
        Self {
            bus,
            engine,
            threads,
            budget,
            record,
            spaces: Mutex::default(),
        }
    }

    /// What the GPU reads and writes.
    pub fn bus(&self) -> &dyn Bus {
        &*self.bus
    }

    fn space(&self, directory: Option<u32>) -> Arc<Mutex<Space>> {
        let mut spaces = lock(&self.spaces);
        let found = spaces.iter().position(|(have, _)| *have == directory);
        let space = match found {
            Some(at) => spaces.remove(at).1,
            None => {
                if spaces.len() >= MAX_SPACES {
                    spaces.remove(0);
                }
                let recording = self.record.as_ref().and_then(|open| open(directory));
                let mut gpu = Gpu::new((self.engine)())
                    .with_threads(self.threads)
                    .with_budget(self.budget);
                gpu.memory = Memory::with_limit(ADDRESS_SPACE);
                Arc::new(Mutex::new(Space {
                    gpu,
                    mapped: Vec::new(),
                    gate: Arc::new(Gate::new()),
                    recording,
                }))
            }
        };
        spaces.push((directory, space.clone()));
        space
    }

    /// Runs a job to its end; address and length of what it wrote, where that is to be kept.
    pub fn run(&self, job: &Job, keep_writes: bool) -> (Outcome, Vec<(u32, u32)>) {
        let none = Vec::new();
        let tables = match job.directory.map(|directory| Tables::read(&*self.bus, directory)) {
            Some(Ok(tables)) => tables,
            Some(Err(error)) => {
                let message = format!("a page table at {:#x}, where there is no memory", error.physical);
                return (Outcome::BusError(Fault::new(FaultKind::Unmapped, message)), none);
            }
            None => Tables::identity(&*self.bus),
        };
        let space = self.space(job.directory);
        let mut space = lock(&space);
        let missing = tables.missing;
        space.update(&self.bus, tables.mapped);
        if !job.cancel.begin(&space.gate) {
            return (Outcome::Cancelled, none);
        }
        if keep_writes {
            space.gpu.memory.keep_writes();
        }
        let outcome = space.run(job, &missing);
        job.cancel.end();
        let writes = match keep_writes {
            true => space.gpu.memory.writes().to_vec(),
            false => none,
        };
        (outcome, writes)
    }
}

/// An address space and what was made of the jobs in it.
struct Space {
    gpu: Gpu,
    mapped: Vec<Mapped>,
    gate: Arc<Gate>,
    recording: Option<Recording>,
}

impl Space {
    /// Maps what the tables say now. What stays keeps what was made of it, which is compared with its bytes before it is
    /// used again.
    fn update(&mut self, bus: &Arc<dyn Bus>, mapped: Vec<Mapped>) {
        if self.mapped == mapped {
            return;
        }
        for old in self.mapped.iter().filter(|old| !mapped.contains(old)) {
            // It was mapped here.
            let _ = self.gpu.memory.unmap(old.address);
            if let Some(recording) = &mut self.recording {
                recording.freed(old.address);
            }
        }
        for new in mapped.iter().filter(|new| !self.mapped.contains(new)) {
            let backing = Paged::new(bus.clone(), new.clone(), self.gate.clone());
            // Ranges of one set of tables are apart, and all fit the limit.
            let _ = self.gpu.memory.map_backed(new.address, Box::new(backing));
            if let Some(recording) = &mut self.recording {
                recording.created(new.address, new.size);
            }
        }
        self.mapped = mapped;
    }

    fn run(&mut self, job: &Job, missing: &BTreeSet<u32>) -> Outcome {
        let (frame, tiles) = match (job.unit, &job.share) {
            (Unit::Gp, _) => (job.frame.clone(), None),
            (_, None) => (pp_frame(&job.frame, job.frame[0]), None),
            (_, Some(share)) => {
                let bytes = tiles(share);
                let place = self
                    .gpu
                    .memory
                    .map(share.address, (bytes.len() as u32).next_multiple_of(PAGE));
                if place
                    .and_then(|()| self.gpu.memory.write(share.address, &bytes))
                    .is_err()
                {
                    return Outcome::PageFault {
                        address: share.address,
                        is_write: false,
                    };
                }
                (pp_frame(&job.frame, share.address), Some(share.address))
            }
        };
        if let Some(recording) = &mut self.recording {
            recording.submit(&self.gpu.memory, job.unit == Unit::Gp, &frame);
            self.gpu.memory.keep_writes();
        }
        let gpu = &mut self.gpu;
        // A panic would be an error of the emulator's; it ends the job, not the machine.
        let outcome = std::panic::catch_unwind(AssertUnwindSafe(|| match job.unit {
            Unit::Gp => gpu.run_gp(&frame).map(drop),
            _ => gpu.run_pp(&frame).map(drop),
        }));
        let outcome = outcome.unwrap_or_else(|_| Err(Fault::new(FaultKind::Limit, "the emulator failed")));
        if let Some(recording) = &mut self.recording {
            recording.learn(&self.gpu.memory);
        }
        if let Some(address) = tiles {
            let _ = self.gpu.memory.unmap(address);
        }
        match (outcome, self.gate.take_violation()) {
            (_, Some(address)) => Outcome::PageFault {
                address,
                is_write: true,
            },
            (Ok(()), None) => Outcome::Done,
            (Err(fault), None) => ended(fault, missing),
        }
    }
}

/// What hardware shows of a fault.
fn ended(fault: Fault, missing: &BTreeSet<u32>) -> Outcome {
    match (fault.kind, fault.address) {
        (FaultKind::Unmapped, Some(address)) if missing.contains(&(address / PAGE * PAGE)) => {
            Outcome::BusError(fault.within("a page where there is no memory"))
        }
        (FaultKind::Unmapped, Some(address)) => Outcome::PageFault {
            address,
            is_write: fault.is_write,
        },
        (FaultKind::Command, Some(address)) => Outcome::Invalid { address, fault },
        _ => Outcome::Hang(fault),
    }
}

/// A pixel processor's registers as the kernel interface's frame for one processor.
fn pp_frame(registers: &[u32], tile_list: u32) -> Vec<u32> {
    let mut frame = registers[..PP_REGISTERS].to_vec();
    frame.push(0);
    frame.extend_from_slice(&registers[PP_REGISTERS..]);
    frame.resize(PP_FRAME_WORDS, 0);
    (frame[0], frame[PROCESSORS.word]) = (tile_list, 1);
    (frame[LISTS], frame[STACKS]) = (tile_list, registers[12]);
    frame
}

/// A processor's share of the tiles.
fn tiles(share: &Share) -> Vec<u8> {
    let [blocks, size, block, _start] = share.registers;
    let lists = Lists450::from_words(&[1, 0, blocks, size, block]);
    let all = lists.tiles();
    let (tiles, end) = all.split_at(all.len().saturating_sub(1));
    let own = tiles.as_chunks::<2>().0.iter().enumerate();
    let own = own.filter(|(number, _)| *number as u32 % share.of.max(1) == share.number);
    let commands = own.flat_map(|(_, tile)| tile).chain(end);
    let words = commands.flat_map(|command| TileCommand::encode(*command));
    words.flat_map(u32::to_le_bytes).collect()
}

/// The stream a command's address lies in: that of vertices, or not.
pub fn is_in_vertex_stream(frame: &[u32], address: u32) -> bool {
    let frame = GpFrame::from_words(frame);
    (frame.vertex_start..frame.vertex_end).contains(&address)
}
