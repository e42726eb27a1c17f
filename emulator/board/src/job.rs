//! Jobs: built from a unit's registers when it is started; and their outcomes.

use crate::bus::Bus;
use crate::layout::Unit;
use crate::mmu::{Gate, Mapped, Paged, Tables};
use crate::record::Recording;
use emulator::exec::Engine;
use emulator::fault::{Fault, FaultKind};
use emulator::gpu::Gpu;
use emulator::memory::{Memory, PAGE};
use emulator::thread_pool::lock;
use std::collections::BTreeSet;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use utgard::frame::{GpFrame, LISTS, Lists450, PP_FRAME_WORDS, PP_REGISTERS, PROCESSORS, STACKS};
use utgard::stream::TileCommand;

/// Maximum number of cached address spaces.
const MAX_SPACES: usize = 64;

/// Bytes of an address space.
const ADDRESS_SPACE: u64 = 1 << 32;

/// Cancels a job, when its unit is reset.
#[derive(Debug, Default)]
pub(crate) struct Cancel {
    is_cancelled: AtomicBool,
    gate: Mutex<Option<Arc<Gate>>>,
}

impl Cancel {
    /// Discards all further writes of the job.
    pub(crate) fn cancel(&self) {
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

    /// The job is over, so the gate can be reused.
    fn end(&self) {
        *lock(&self.gate) = None;
    }
}

/// A processor's share of a tile list that a Mali-450 generates in hardware.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Share {
    /// The address at which the processor reads it.
    pub address: u32,
    /// The four registers that describe it.
    pub registers: [u32; 4],
    /// Index of the processor among those that share it.
    pub number: u32,
    /// Number of processors that share it.
    pub of: u32,
}

/// A job.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    /// The geometry processor or a pixel processor.
    pub unit: Unit,
    /// Its frame: six words for the geometry processor, registers and write-back units for a pixel processor.
    pub frame: Vec<u32>,
    /// The page directory; `None` if addresses are physical.
    pub directory: Option<u32>,
    /// The tile list, if the hardware generates it.
    pub share: Option<Share>,
    /// The job's cancellation.
    pub cancel: Arc<Cancel>,
}

/// The outcome of a job.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Outcome {
    /// The end of its streams or lists was reached.
    Done,
    /// The unit was reset.
    Cancelled,
    /// An address without a translation, or a write without permission.
    PageFault {
        /// The address.
        address: u32,
        /// Whether the access was a write.
        is_write: bool,
    },
    /// Page tables, or the pages that they map, outside memory.
    BusError(Fault),
    /// An invalid command.
    Invalid {
        /// Address of the command.
        address: u32,
        /// The reason.
        fault: Fault,
    },
    /// Hardware would run forever, or its behaviour is unknown.
    Hang(Fault),
}

/// A page directory (if addresses are translated) and its space.
type Kept = (Option<u32>, Arc<Mutex<Space>>);

/// The cached address spaces, most recently used last.
pub(crate) struct Spaces {
    bus: Arc<dyn Bus>,
    engine: Box<dyn Fn() -> Box<dyn Engine> + Send + Sync>,
    threads: usize,
    budget: u64,
    record: Option<Box<crate::record::Open>>,
    spaces: Mutex<Vec<Kept>>,
}

impl Spaces {
    /// An empty cache.
    pub(crate) fn new(
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

    /// The bus.
    pub(crate) fn bus(&self) -> &dyn Bus {
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

    /// Runs a job to its end; returns address and length of its writes if `keep_writes`.
    pub(crate) fn run(&self, job: &Job, keep_writes: bool) -> (Outcome, Vec<(u32, u32)>) {
        let none = Vec::new();
        let tables = match job.directory.map(|directory| Tables::read(&*self.bus, directory)) {
            Some(Ok(tables)) => tables,
            Some(Err(error)) => {
                let message = format!("a page table at {:#x} is outside memory", error.physical);
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

/// An address space with the emulator's caches for it.
struct Space {
    gpu: Gpu,
    mapped: Vec<Mapped>,
    gate: Arc<Gate>,
    recording: Option<Recording>,
}

impl Space {
    /// Maps the current page tables. Unchanged mappings keep their caches, which are compared with memory before use.
    fn update(&mut self, bus: &Arc<dyn Bus>, mapped: Vec<Mapped>) {
        if self.mapped == mapped {
            return;
        }
        for old in self.mapped.iter().filter(|old| !mapped.contains(old)) {
            // It is known to be mapped.
            let _ = self.gpu.memory.unmap(old.address);
            if let Some(recording) = &mut self.recording {
                recording.freed(old.address);
            }
        }
        for new in mapped.iter().filter(|new| !self.mapped.contains(new)) {
            let backing = Paged::new(bus.clone(), new.clone(), self.gate.clone());
            // Ranges of one set of tables are disjoint, and within the limit.
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
        // A panic is a bug of the emulator; it ends the job, not the machine.
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

/// The hardware's view of a fault.
fn ended(fault: Fault, missing: &BTreeSet<u32>) -> Outcome {
    match (fault.kind, fault.address) {
        (FaultKind::Unmapped, Some(address)) if missing.contains(&(address / PAGE * PAGE)) => {
            Outcome::BusError(fault.within("a page outside memory"))
        }
        (FaultKind::Unmapped, Some(address)) => Outcome::PageFault {
            address,
            is_write: fault.is_write,
        },
        (FaultKind::Command, Some(address)) => Outcome::Invalid { address, fault },
        _ => Outcome::Hang(fault),
    }
}

/// A pixel processor's registers in the layout of the kernel interface's frame for one processor.
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

/// Whether a command's address is in the vertex stream.
pub(crate) fn is_in_vertex_stream(frame: &[u32], address: u32) -> bool {
    let frame = GpFrame::from_words(frame);
    (frame.vertex_start..frame.vertex_end).contains(&address)
}
