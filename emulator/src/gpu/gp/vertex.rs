//! The GP's vertex command stream: loads a program, its uniforms and attributes, runs vertices and stores their outputs
//! (docs/spec/mali/streams.md, section 1).

use super::outputs::{Borrowed, MAX_NEAR, lend, plain, store, store_apart};
use crate::cancellation::Budget;
use crate::exec::{Engine, MAX_VERTICES as BATCH, MISSING, Row, VERTEX_MEMORY, VertexBatch, VertexProgram, VertexRows};
use crate::fault::{Fault, FaultKind, Result};
use crate::gpu::cache::Cache;
use crate::gpu::commands::{Commands, MAX_COMMANDS};
use crate::gpu::notes::Notes;
use crate::memory::{Memory, Sink, Sinks};
use crate::simd::{self, FetchFor, Found, dispatch};
use crate::thread_pool::{ThreadPool, lock};
use crate::work_queue::WorkQueue;
use num::half;
use num::lanes::QuadLanes;
use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, RwLock, RwLockReadGuard, RwLockWriteGuard};
use utgard::gp;
use utgard::stream::{ComponentType, OutputKind, VertexCommand, VertexSpec};

/// Vertices of a draw that are worth waking other threads for.
const MANY: u32 = 2048;

/// Batches that a worker takes at a time at most: what the next one needs comes while one runs.
const CLAIM: u32 = 32;

/// Vertices of a job at most.
const MAX_VERTICES: u64 = 1 << 24;

/// The engine that runs vertices, and the worker threads.
pub type Workers<'a> = (&'a dyn Engine, Option<&'a ThreadPool>);

/// The vertex stream's state.
pub struct VertexShader<'a> {
    cache: &'a Cache,
    /// The program's words.
    program: Vec<u32>,
    uniforms: Vec<[f32; 4]>,
    instructions: u32,
    attributes: Vec<VertexSpec>,
    outputs: Vec<VertexSpec>,
    attribute_count: usize,
    output_count: usize,
    /// For each position array the array of point sizes that was stored with it.
    pub point_sizes: HashMap<u32, u32>,
    /// Vertices that were run.
    pub vertices: u64,
    /// Instructions they ran.
    pub ran: u64,
    budget: Budget<'a>,
}

impl<'a> VertexShader<'a> {
    /// A shader without a program, that may run `budget` instructions.
    pub(in crate::gpu) fn new(budget: Budget<'a>, cache: &'a Cache) -> Self {
        Self {
            cache,
            ran: 0,
            budget,
            program: Vec::new(),
            uniforms: vec![[0.0; 4]; VERTEX_MEMORY],
            instructions: 0,
            attributes: Vec::new(),
            outputs: Vec::new(),
            attribute_count: 0,
            output_count: 0,
            point_sizes: HashMap::new(),
            vertices: 0,
        }
    }

    /// Runs a stream.
    ///
    /// # Errors
    /// A fault with the command's address.
    pub fn run(
        &mut self,
        memory: &mut Memory,
        start: u32,
        end: u32,
        workers: Workers<'_>,
        notes: &mut Notes,
    ) -> Result<()> {
        let mut at = (start, MAX_COMMANDS);
        loop {
            let mut commands = Commands::resume(memory, at, end);
            let Some((address, words)) = commands.step()? else {
                return Ok(());
            };
            at = commands.position();
            self.command(memory, VertexCommand::decode(words), workers, notes)
                .map_err(|fault| fault.at(address))?;
        }
    }

    fn command(
        &mut self,
        memory: &mut Memory,
        command: VertexCommand,
        workers: Workers<'_>,
        notes: &mut Notes,
    ) -> Result<()> {
        match command {
            VertexCommand::RunVertices(run) => return self.draw(memory, run.count, workers, notes),
            VertexCommand::ProgramInfo(info) => self.instructions = u32::from(info.last) + 1,
            VertexCommand::Counts(counts) => {
                self.attribute_count = usize::from(counts.attributes) + 1;
                self.output_count = usize::from(counts.outputs) + 1;
            }
            VertexCommand::Attributes(at) => self.attributes = specs(memory, at.address, at.words, notes, "attribute"),
            VertexCommand::Outputs(at) => self.outputs = specs(memory, at.address, at.words, notes, "output"),
            VertexCommand::Uniforms(at) => self.load_uniforms(memory, at.address, at.vec4s.into())?,
            VertexCommand::Program(at) => {
                self.program = memory.words(at.address, u32::from(at.instructions) * gp::WORDS as u32)?;
            }
            // Hardware synchronisation, which has no effect here.
            VertexCommand::Register41(_)
            | VertexCommand::VertexSemaphore(_)
            | VertexCommand::Flush(_)
            | VertexCommand::VertexJump(_) => {}
            VertexCommand::Undocumented([value, op]) => {
                notes.add(format!("vertex command {op:#010x} with {value:#x} is unknown"));
            }
        }
        Ok(())
    }

    fn load_uniforms(&mut self, memory: &Memory, address: u32, vec4s: u32) -> Result<()> {
        let count = (vec4s as usize).min(VERTEX_MEMORY);
        let words = memory.words(address, count as u32 * 4)?;
        for (uniform, words) in self.uniforms.iter_mut().zip(words.chunks_exact(4)) {
            *uniform = std::array::from_fn(|at| f32::from_bits(words[at]));
        }
        Ok(())
    }

    fn draw(&mut self, memory: &mut Memory, count: u32, (engine, pool): Workers<'_>, notes: &mut Notes) -> Result<()> {
        if self.vertices + u64::from(count) > MAX_VERTICES {
            return Err(Fault::new(
                FaultKind::Budget,
                format!("more than {MAX_VERTICES} vertices in a job"),
            ));
        }
        let length = (self.instructions as usize * gp::WORDS).min(self.program.len());
        let program = self.cache.vertex_program(&self.program[..length]);
        self.note_point_sizes();
        let attribute_count = self.attribute_count.clamp(1, 16);
        let threads = pool.map_or(1, ThreadPool::threads) as u32;
        let work = Work {
            program: &program,
            uniforms: &self.uniforms,
            attributes: &self.attributes[..self.attributes.len().min(attribute_count)],
            attribute_count,
            outputs: &self.outputs,
            output_count: self.output_count.clamp(1, 16),
            stores_alike: !program.instructions.iter().any(|instruction| instruction.branch),
            count,
            claim: (count / (BATCH as u32 * 4 * threads)).clamp(1, CLAIM),
        };
        for spec in work.attributes.iter().filter(|_| count > 0) {
            if component_bytes(spec).is_none() {
                notes.add(format!("attribute type {:#x} is unknown", spec.type_code()));
            }
        }
        let first = self.ran;
        let room = Shared {
            memory: RwLock::new(memory),
            claims: WorkQueue::new(work.batches().div_ceil(work.claim) as usize, threads as usize),
            ran: AtomicU64::new(first),
            budget: self.budget,
            faults: Mutex::default(),
            notes: Mutex::new(notes),
        };
        // Batches that may overwrite each other's data run in order.
        let pool = pool.filter(|_| count >= MANY && self.are_apart(count) && !room.keeps_writes());
        match pool {
            Some(pool) => {
                let run = |sinks: Option<&[Sinks<'_>]>| pool.all(|number| work.all(number, &room, engine, sinks));
                let part = work.claim as usize * BATCH;
                let mut lent = lend(&mut room.write(), work.attributes, work.stored(), count, part);
                let sinks = lent.as_mut().and_then(Borrowed::sinks);
                let is_done = sinks.is_some_and(|sinks| {
                    run(Some(&sinks));
                    true
                });
                lent.into_iter().for_each(|lent| lent.give_back(&mut room.write()));
                if !is_done {
                    run(None);
                }
            }
            None => work.all(0, &room, engine, None),
        }
        self.ran = room.ran.load(Ordering::Relaxed);
        let faults = std::mem::take(&mut *lock(&room.faults));
        drop(room);
        if let Some((_, fault)) = faults.into_iter().min_by_key(|(batch, _)| *batch) {
            return Err(fault);
        }
        self.vertices += u64::from(count);
        Ok(())
    }

    /// Whether no vertex reads or stores what another stores.
    fn are_apart(&self, count: u32) -> bool {
        // Exact to the byte: arrays are adjacent.
        let range = |spec: &VertexSpec| {
            let (start, bytes) = (u64::from(spec.address), u64::from(vector_bytes(spec)));
            start..start + u64::from(spec.stride) * u64::from(count.saturating_sub(1)) + bytes
        };
        let wraps = |range: &Range<u64>| range.end > 1 << 32;
        let touch = |a: &Range<u64>, b: &Range<u64>| a.start < b.end && b.start < a.end;
        let stored: Vec<VertexSpec> = self.outputs.iter().map(|spec| plain(*spec)).collect();
        // Two outputs are interleaved in one stride, or apart.
        let take_turns = |a: &VertexSpec, b: &VertexSpec| {
            let (first, last) = (a.address.min(b.address), a.address.max(b.address));
            a.stride == b.stride && last - first + 16 <= a.stride
        };
        let alone = |spec: &VertexSpec| spec.stride >= vector_bytes(spec) && !wraps(&range(spec));
        let pairs = stored
            .iter()
            .enumerate()
            .flat_map(|(at, a)| stored[..at].iter().map(move |b| (a, b)));
        stored.iter().all(alone)
            && pairs
                .into_iter()
                .all(|(a, b)| take_turns(a, b) || !touch(&range(a), &range(b)))
            && self
                .attributes
                .iter()
                .map(range)
                .all(|read| !wraps(&read) && !stored.iter().any(|stored| touch(&read, &range(stored))))
    }

    fn note_point_sizes(&mut self) {
        let find = |kind| self.outputs.iter().find(|spec| spec.output() == kind);
        if let (Some(positions), Some(sizes)) = (find(OutputKind::Position), find(OutputKind::PointSize)) {
            self.point_sizes.insert(positions.address, sizes.address);
        }
    }
}

/// What the batches of a draw share.
struct Work<'a> {
    program: &'a VertexProgram,
    uniforms: &'a [[f32; 4]],
    attributes: &'a [VertexSpec],
    attribute_count: usize,
    outputs: &'a [VertexSpec],
    output_count: usize,
    /// Every vertex stores the same outputs, so that those of the batch before need not be cleared.
    stores_alike: bool,
    count: u32,
    /// Batches that a worker takes at a time.
    claim: u32,
}

/// What all threads that run batches share.
struct Shared<'a> {
    memory: RwLock<&'a mut Memory>,
    /// Batches that are still to be run.
    claims: WorkQueue,
    /// Instructions that all vertices ran, and how many they may.
    ran: AtomicU64,
    budget: Budget<'a>,
    /// Faults, each with its batch.
    faults: Mutex<Vec<(u32, Fault)>>,
    notes: Mutex<&'a mut Notes>,
}

impl<'a> Shared<'a> {
    fn read(&self) -> RwLockReadGuard<'_, &'a mut Memory> {
        self.memory.read().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn write(&self) -> RwLockWriteGuard<'_, &'a mut Memory> {
        self.memory.write().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Counts instructions that ran.
    fn settle(&self, ran: &mut u64) -> Result<()> {
        self.budget.spend(&self.ran, std::mem::take(ran), "vertices")
    }

    /// Whether writes are logged, so that their order matters.
    fn keeps_writes(&self) -> bool {
        self.read().keeps_writes()
    }
}

/// While no thread writes to memory: memory itself, and a place to store each output of the batches that were claimed
/// together.
type Held<'a, 'c, 'd> = Option<(&'a Memory, &'a mut [Sink<'c, 'd>])>;

thread_local! {
    /// Rows of the thread's last batch.
    static ROWS: RefCell<VertexRows> = const { RefCell::new(VertexRows::EMPTY) };
}

impl Work<'_> {
    /// The outputs that are stored.
    fn stored(&self) -> &[VertexSpec] {
        &self.outputs[..self.outputs.len().min(self.output_count)]
    }

    /// How many batches there are.
    fn batches(&self) -> u32 {
        self.count.div_ceil(BATCH as u32)
    }

    /// Runs batches while there are any.
    fn all(&self, thread: usize, room: &Shared<'_>, engine: &dyn Engine, sinks: Option<&[Sinks<'_>]>) {
        ROWS.with_borrow_mut(|rows| {
            rows.clear(self.attribute_count, self.output_count);
            let mut notes = Notes::default();
            match sinks {
                // Memory is only read where outputs go elsewhere.
                Some(sinks) => self.all_in(rows, &mut notes, thread, room, engine, Some((&room.read(), sinks))),
                None => self.all_in(rows, &mut notes, thread, room, engine, None),
            }
            lock(&room.notes).merge(notes);
        });
    }

    /// The same, in rows.
    fn all_in(
        &self,
        rows: &mut VertexRows,
        notes: &mut Notes,
        thread: usize,
        room: &Shared<'_>,
        engine: &dyn Engine,
        held: Option<(&Memory, &[Sinks<'_>])>,
    ) {
        let batches = self.batches();
        let vertices = |number: u32| number * BATCH as u32..((number + 1) * BATCH as u32).min(self.count);
        while let Some(claim) = room.claims.take(thread) {
            let first = claim as u32 * self.claim;
            let end = (first + self.claim).min(batches);
            // Taken once, not for each batch: taking waits until the stores before it have completed.
            let mut held = held.map(|(memory, sinks)| {
                let of_claim: Vec<_> = sinks.iter().filter_map(|sinks| sinks.take(claim)).collect();
                (memory, of_claim)
            });
            let mut ran = 0;
            for number in first..end {
                let is_last = number + 1 == end;
                // The next batches are another worker's.
                let two = [vertices(number), if is_last { 0..0 } else { vertices(number + 1) }];
                let held = held.as_mut().map(|(memory, sinks)| (*memory, &mut **sinks));
                let done = self.one(room, held, engine, two, rows, notes);
                let settled = done.and_then(|more| {
                    ran += more;
                    // Small budgets are checked after each batch.
                    match is_last || ran > room.budget.instructions >> 16 {
                        true => room.settle(&mut ran),
                        false => Ok(()),
                    }
                });
                if let Err(fault) = settled {
                    room.claims.stop(claim);
                    lock(&room.faults).push((number, fault));
                    return;
                }
            }
        }
    }

    /// The range of vertices in an array, if their stride is small, as it nearly always is.
    fn place(spec: &VertexSpec, vertices: &Range<u32>) -> Option<(u32, u32)> {
        let near = Some(spec.stride).filter(|stride| *stride <= MAX_NEAR && !vertices.is_empty());
        let all = near?.checked_mul(vertices.len() as u32)?;
        Some((spec.address.wrapping_add(spec.stride.wrapping_mul(vertices.start)), all))
    }

    /// Fetches the attributes of a batch, and prefetches the next one's: array by array, because the number of
    /// outstanding cache lines is limited.
    fn fetch(&self, memory: &Memory, [vertices, ahead]: &[Range<u32>; 2], rows: &mut VertexRows, notes: &mut Notes) {
        for (number, spec) in self.attributes.iter().enumerate() {
            let Some(rows) = rows.attribute_mut(number) else {
                break;
            };
            if !fetch(memory, spec, vertices.start, vertices.len(), rows) {
                let address = spec.address;
                notes.add(format!(
                    "an attribute at {address:#x} is read outside all buffer objects"
                ));
            }
            let ahead = Self::place(spec, ahead).and_then(|(start, all)| memory.borrow(start, all));
            ahead.into_iter().for_each(|bytes| simd::fetch(bytes, FetchFor::Read));
        }
    }

    /// Fetches and runs a batch, stores its outputs, and returns the number of instructions. The next batch's data is
    /// prefetched meanwhile.
    fn one(
        &self,
        room: &Shared<'_>,
        held: Held<'_, '_, '_>,
        engine: &dyn Engine,
        two: [Range<u32>; 2],
        rows: &mut VertexRows,
        notes: &mut Notes,
    ) -> Result<u64> {
        match &held {
            Some((memory, _)) => self.fetch(memory, &two, rows, notes),
            None => self.fetch(&room.read(), &two, rows, notes),
        }
        let [vertices, ahead] = two;
        if !self.stores_alike {
            rows.clear_outputs();
        }
        let mut running = VertexBatch {
            program: self.program,
            uniforms: self.uniforms,
            vertices: vertices.len(),
            rows,
            instructions: 0,
        };
        engine.vertices(&mut running)?;
        let ran = running.instructions;
        let outputs = self.stored().iter().enumerate();
        if let Some((_, sinks)) = held {
            for ((number, spec), sink) in outputs.zip(sinks) {
                store_apart(sink, *spec, vertices.clone(), rows.output(number));
                if let Some((start, all)) = Self::place(spec, &ahead) {
                    // An array ends with its last vertex, not a stride behind it.
                    sink.expect(start, (all - spec.stride) as usize + 1, FetchFor::Write);
                }
            }
            return Ok(ran);
        }
        let mut memory = room.write();
        for (number, spec) in outputs {
            store(&mut memory, *spec, vertices.clone(), rows.output(number), notes)?;
            let ahead = Self::place(spec, &ahead).and_then(|(start, all)| memory.borrow(start, all));
            ahead.into_iter().for_each(|bytes| simd::fetch(bytes, FetchFor::Write));
        }
        Ok(ran)
    }
}

/// Specifications at an address; those in no buffer object are missing: drivers announce attributes that they do not
/// have.
fn specs(memory: &Memory, address: u32, words: u16, notes: &mut Notes, what: &str) -> Vec<VertexSpec> {
    match memory.words(address, u32::from(words & !1).min(64)) {
        Ok(words) => words.chunks_exact(2).map(VertexSpec::from_words).collect(),
        Err(_) => {
            notes.add(format!("{what} descriptors at {address:#x} are in no buffer object"));
            Vec::new()
        }
    }
}

/// Bytes of a component, for the types of attributes and outputs. Fixed-point numbers are integers of 32 bits.
fn component_bytes(spec: &VertexSpec) -> Option<u32> {
    let known = !spec.fixed || spec.kind == ComponentType::I32;
    spec.kind.bytes().filter(|_| known)
}

/// Bytes of a vertex's components; none for unknown types, which are neither read nor stored.
fn vector_bytes(spec: &VertexSpec) -> u32 {
    component_bytes(spec).map_or(0, |bytes| (u32::from(spec.components) + 1) * bytes)
}

/// One attribute of `vertices` vertices from `first` on, a row for each component. False where some are outside memory:
/// those are as if they had no components.
fn fetch(memory: &Memory, spec: &VertexSpec, first: u32, vertices: usize, rows: &mut [Row; 4]) -> bool {
    let bytes = component_bytes(spec);
    let components = bytes.map_or(0, |_| usize::from(spec.components) + 1);
    for (row, missing) in rows.iter_mut().zip(MISSING).skip(components) {
        row.fill(missing);
    }
    let Some(bytes) = bytes else { return true };
    let length = components as u32 * bytes;
    let stride = spec.stride as usize;
    let start = spec.address.wrapping_add(spec.stride.wrapping_mul(first));
    // Nearly all arrays are in one object, and not much wider than the components that are read.
    let all = u64::from(spec.stride) * (vertices as u64).saturating_sub(1) + u64::from(length);
    let near = u32::try_from(all).ok().filter(|_| spec.stride <= MAX_NEAR);
    if let Some(data) = near.and_then(|all| memory.bytes(start, all).ok()) {
        if spec.type_code() == 0 {
            let data = &*data;
            dispatch!(
                floats(
                    components: usize,
                    data: &[u8],
                    stride: usize,
                    vertices: usize,
                    rows: &mut [Row; 4],
                ) -> (),
                Found::best()
            );
            return true;
        }
        for (number, row) in rows.iter_mut().enumerate().take(components) {
            for (vertex, value) in row.iter_mut().enumerate().take(vertices) {
                *value = component(
                    spec,
                    &data[vertex * stride + number * bytes as usize..][..bytes as usize],
                );
            }
        }
        return true;
    }
    let (mut inside, mut data) = (true, [0; 16]);
    let data = &mut data[..length as usize];
    for vertex in 0..vertices {
        let at = start.wrapping_add(spec.stride.wrapping_mul(vertex as u32));
        let there = memory.read(at, data).is_ok();
        inside &= there;
        let read = data.chunks_exact(bytes as usize);
        for ((row, data), missing) in rows.iter_mut().zip(read).zip(MISSING) {
            row[vertex] = if there { component(spec, data) } else { missing };
        }
    }
    inside
}

/// Vectors of floats a stride apart, a row for each component; compiled for each instruction set.
#[inline(always)]
#[expect(
    clippy::extra_unused_type_parameters,
    reason = "its loops become as wide as the lanes are"
)]
fn floats<L: QuadLanes>(components: usize, data: &[u8], stride: usize, vertices: usize, rows: &mut [Row; 4]) {
    match components {
        1 => vectors::<1>(data, stride, vertices, rows),
        2 => vectors::<2>(data, stride, vertices, rows),
        3 => vectors::<3>(data, stride, vertices, rows),
        _ => vectors::<4>(data, stride, vertices, rows),
    }
}

/// Vectors of `N` floats.
#[inline(always)]
fn vectors<const N: usize>(data: &[u8], stride: usize, vertices: usize, rows: &mut [Row; 4]) {
    let vertices = vertices.min(BATCH);
    if stride == 4 * N {
        return turn_in::<N>(data, vertices, rows);
    }
    // Packed vectors first: others are transposed number by number.
    let mut packed = [[[0; 4]; N]; BATCH];
    for (vertex, vector) in packed.iter_mut().enumerate().take(vertices) {
        vector
            .as_flattened_mut()
            .copy_from_slice(&data[stride * vertex..][..4 * N]);
    }
    turn_in::<N>(packed.as_flattened().as_flattened(), vertices, rows);
}

/// Vectors of floats side by side, a row for each component.
#[inline(always)]
fn turn_in<const N: usize>(data: &[u8], vertices: usize, rows: &mut [Row; 4]) {
    let vectors = &data.as_chunks::<4>().0.as_chunks::<N>().0[..vertices.min(BATCH)];
    for vertex in 0..vectors.len() {
        for component in 0..N {
            rows[component][vertex] = f32::from_le_bytes(vectors[vertex][component]);
        }
    }
}

/// One attribute or output of one vertex as it lies in memory; nothing where that is in no buffer object, or of an
/// unknown type.
pub fn value(memory: &Memory, spec: &VertexSpec, vertex: u32) -> Option<[f32; 4]> {
    let (spec, mut rows) = (plain(*spec), [Row::splat(0.0); 4]);
    component_bytes(&spec)?;
    fetch(memory, &spec, vertex, 1, &mut rows).then_some(rows.map(|row| row[0]))
}

/// A component as a float. Signed normalised numbers are c / (2^(n-1) - 1), not below -1 ([?] in docs/spec/mali/streams.md,
/// section 1).
fn component(spec: &VertexSpec, data: &[u8]) -> f32 {
    let mut bytes = [0; 4];
    bytes[..data.len()].copy_from_slice(data);
    let unsigned = u32::from_le_bytes(bytes);
    let unused = 32 - 8 * data.len() as u32;
    let signed = (unsigned << unused) as i32 >> unused;
    let top = f64::from(u32::MAX >> unused);
    match spec.kind {
        ComponentType::F32 => f32::from_bits(unsigned),
        ComponentType::I32 if spec.fixed => (f64::from(signed) / 65536.0) as f32,
        ComponentType::I32 | ComponentType::I16 | ComponentType::I8 => signed as f32,
        ComponentType::U32 | ComponentType::U16 | ComponentType::U8 => unsigned as f32,
        ComponentType::F16 => half::to_f32(unsigned as u16),
        ComponentType::Snorm8 | ComponentType::Snorm16 | ComponentType::Snorm32 => {
            (f64::from(signed) / ((top - 1.0) / 2.0)).max(-1.0) as f32
        }
        ComponentType::Unorm8 | ComponentType::Unorm16 | ComponentType::Unorm32 => (f64::from(unsigned) / top) as f32,
        ComponentType::Undocumented(_) => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cancellation::Cancellation;

    /// Vertices whose attributes are other vertices' outputs run in the stream's order.
    #[test]
    fn vertices_that_read_what_others_store_are_found() {
        let cache = Cache::default();
        let budget = Budget {
            instructions: 0,
            cancellation: &Cancellation::default(),
        };
        let mut shader = VertexShader::new(budget, &cache);
        shader.attributes = vec![VertexSpec::floats(0x1000, 4, 16)];
        let mut are_apart = |output: VertexSpec, count: u32| {
            shader.outputs = vec![VertexSpec::floats(0x9000, 4, 16), output];
            shader.are_apart(count)
        };
        assert!(are_apart(VertexSpec::floats(0x4000, 4, 16), 0x200));
        assert!(!are_apart(VertexSpec::floats(0x4000, 4, 16), 0x400));
        assert!(!are_apart(VertexSpec::floats(0xff0, 4, 16), 10));
        // Adjacent, to the byte.
        assert!(are_apart(VertexSpec::floats(0x4000, 4, 16), 0x300));
        assert!(!are_apart(VertexSpec::floats(0x3fff, 4, 16), 0x300));
        assert!(are_apart(VertexSpec::floats(0x8000, 4, 16), 0x100));
        assert!(!are_apart(VertexSpec::floats(0x8001, 4, 16), 0x100));
        assert!(!are_apart(VertexSpec::position(0x1100), 0x200));
        assert!(!are_apart(VertexSpec::floats(0xffff_fff0, 4, 16), 2), "around the end");
    }
}
