//! The GP's vertex command stream: loads a program, its uniforms and attributes, runs vertices and stores their outputs
//! (docs/spec/mali/streams.md, section 1).

use super::notes::Notes;
use crate::exec::{Engine, VERTEX_MEMORY, VertexBatch, VertexProgram};
use crate::fault::{Fault, FaultKind, Result};
use crate::memory::Memory;
use num::half;
use rayon::ThreadPool;
use rayon::prelude::*;
use std::collections::HashMap;
use utgard::gp::{self, Instruction};
use utgard::stream::{ComponentType, OutputKind, VertexCommand, VertexSpec};

/// Vertices that go through the engine together.
const BATCH: u32 = 256;

/// Batches of a thread that run before their outputs are stored.
const WAVE: usize = 8;

/// Vertices of a job at most.
const MAX_VERTICES: u64 = 1 << 24;

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
            let words = [self.memory.word(self.at)?, self.memory.word(self.at.wrapping_add(4))?];
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

/// What runs vertices, and the threads that help.
pub type Workers<'a> = (&'a dyn Engine, Option<&'a ThreadPool>);

/// The vertex stream's state.
pub struct VertexShader {
    program: Vec<Instruction>,
    uniforms: Vec<[f32; 4]>,
    instructions: u32,
    attributes: Vec<VertexSpec>,
    outputs: Vec<VertexSpec>,
    attribute_count: usize,
    output_count: usize,
    /// For each position array the array of point sizes that was filled with it.
    pub point_sizes: HashMap<u32, u32>,
    /// Vertices that were run.
    pub vertices: u64,
    /// Instructions they ran.
    pub ran: u64,
    /// How many they may run.
    budget: u64,
}

impl VertexShader {
    /// A shader without a program, that may run so many instructions.
    pub fn new(budget: u64) -> Self {
        Self {
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
            let mut commands = Commands {
                memory,
                at: at.0,
                end,
                left: at.1,
            };
            let Some((address, words)) = commands.step()? else {
                return Ok(());
            };
            at = (commands.at, commands.left);
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
                let words = memory.words(at.address, u32::from(at.instructions) * gp::WORDS as u32)?;
                let (instructions, _) = words.as_chunks::<{ gp::WORDS }>();
                self.program = instructions.iter().map(|words| Instruction::decode(*words)).collect();
            }
            // Steps of the hardware that nothing depends on here.
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
        let length = (self.instructions as usize).min(self.program.len());
        let program = VertexProgram::new(self.program[..length].to_vec());
        self.note_point_sizes();
        let attribute_count = self.attribute_count.clamp(1, 16);
        let work = Work {
            program: &program,
            uniforms: &self.uniforms,
            attributes: &self.attributes[..self.attributes.len().min(attribute_count)],
            attribute_count,
            output_count: self.output_count.clamp(1, 16),
            count,
        };
        for spec in work.attributes.iter().filter(|_| count > 0) {
            if component_bytes(spec).is_none() {
                notes.add(format!("attribute type {:#x} is unknown", spec.type_code()));
            }
        }
        // Batches that may read what others store come one after the other.
        let apart = pool.filter(|_| count > 2 * BATCH && !self.overlaps(count));
        let wave = apart.map_or(1, |pool| WAVE * pool.current_num_threads());
        let mut room: Vec<Batch> = Vec::new();
        room.resize_with(wave, Batch::default);
        for start in (0..count).step_by(wave * BATCH as usize) {
            let firsts = (0..wave as u32).map(|number| start + number * BATCH);
            let mut wave: Vec<(u32, &mut Batch)> = firsts.filter(|first| *first < count).zip(&mut room).collect();
            match apart {
                Some(pool) => pool.install(|| {
                    let run = |(first, batch): &mut (u32, &mut Batch)| work.run(memory, engine, *first, batch);
                    wave.par_iter_mut().for_each(run);
                }),
                None => wave
                    .iter_mut()
                    .for_each(|(first, batch)| work.run(memory, engine, *first, batch)),
            }
            for (first, batch) in wave {
                self.ran += batch.finish(notes)?;
                if self.ran > self.budget {
                    return Err(Fault::new(
                        FaultKind::Budget,
                        "the vertices run more instructions than a job may",
                    ));
                }
                for (number, spec) in self.outputs.iter().enumerate().take(work.output_count) {
                    let values = batch.outputs[number..].iter().step_by(work.output_count);
                    store(memory, *spec, first, values, notes)?;
                }
            }
        }
        self.vertices += u64::from(count);
        Ok(())
    }

    /// Whether a vertex may read what another stores.
    fn overlaps(&self, count: u32) -> bool {
        let range = |spec: &VertexSpec| {
            let start = u64::from(spec.address);
            start..start + u64::from(spec.stride) * u64::from(count) + 16
        };
        let wraps = |range: &std::ops::Range<u64>| range.end > 1 << 32;
        let stored: Vec<_> = self.outputs.iter().map(|spec| range(&plain(*spec))).collect();
        stored.iter().any(wraps)
            || self.attributes.iter().map(range).any(|read| {
                wraps(&read)
                    || stored
                        .iter()
                        .any(|stored| read.start < stored.end && stored.start < read.end)
            })
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
    output_count: usize,
    count: u32,
}

/// A batch that has run, and room for the next.
struct Batch {
    attributes: Vec<[f32; 4]>,
    outputs: Vec<[f32; 4]>,
    /// Instructions it ran.
    ran: Result<u64>,
    /// Attributes that are not all in memory.
    outside: Vec<u32>,
}

impl Default for Batch {
    fn default() -> Self {
        Self {
            attributes: Vec::new(),
            outputs: Vec::new(),
            ran: Ok(0),
            outside: Vec::new(),
        }
    }
}

impl Batch {
    /// Takes what is to be told of it: notes, and its instructions.
    fn finish(&mut self, notes: &mut Notes) -> Result<u64> {
        for address in self.outside.drain(..) {
            notes.add(format!(
                "an attribute at {address:#x} is read outside all buffer objects"
            ));
        }
        std::mem::replace(&mut self.ran, Ok(0))
    }
}

impl Work<'_> {
    /// Fetches and runs a batch from vertex `first` on.
    fn run(&self, memory: &Memory, engine: &dyn Engine, first: u32, batch: &mut Batch) {
        let vertices = BATCH.min(self.count - first) as usize;
        batch.attributes.resize(vertices * self.attribute_count, [0.0; 4]);
        batch.outputs.clear();
        batch.outputs.resize(vertices * self.output_count, [0.0; 4]);
        for (number, spec) in self.attributes.iter().enumerate() {
            let values = batch.attributes[number..].iter_mut().step_by(self.attribute_count);
            if !fetch(memory, spec, first, values) {
                batch.outside.push(spec.address);
            }
        }
        let mut vertices = VertexBatch {
            program: self.program,
            uniforms: self.uniforms,
            attribute_count: self.attribute_count,
            attributes: &batch.attributes,
            output_count: self.output_count,
            outputs: &mut batch.outputs,
            instructions: 0,
        };
        batch.ran = engine.vertices(&mut vertices).map(|()| vertices.instructions);
    }
}

/// Specifications at an address; what is in no buffer object is nothing, for drivers announce attributes they do not
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

/// One attribute of vertices from `first` on; missing components are 0, 0, 0, 1 ([I]). False where some are outside
/// memory.
fn fetch<'a>(
    memory: &Memory,
    spec: &VertexSpec,
    first: u32,
    values: impl ExactSizeIterator<Item = &'a mut [f32; 4]>,
) -> bool {
    let Some(bytes) = component_bytes(spec) else {
        values.for_each(|value| *value = [0.0, 0.0, 0.0, 1.0]);
        return true;
    };
    let length = (u32::from(spec.components) + 1) * bytes;
    let is_float = spec.type_code() == 0;
    let take = |value: &mut [f32; 4], data: &[u8]| {
        *value = [0.0, 0.0, 0.0, 1.0];
        if is_float {
            for (value, data) in value.iter_mut().zip(data.as_chunks::<4>().0) {
                *value = f32::from_le_bytes(*data);
            }
        } else {
            for (value, data) in value.iter_mut().zip(data.chunks_exact(bytes as usize)) {
                *value = component(spec, data);
            }
        }
    };
    let start = spec.address.wrapping_add(spec.stride.wrapping_mul(first));
    // By far most arrays are all in one object, and not much wider than what is read of them.
    let all = u64::from(spec.stride) * (values.len() as u64).saturating_sub(1) + u64::from(length);
    let near = u32::try_from(all).ok().filter(|_| spec.stride <= MAX_NEAR);
    if let Some(data) = near.and_then(|all| memory.bytes(start, all).ok()) {
        if is_float && length == 16 && spec.stride >= length {
            for (slot, value) in data.chunks(spec.stride as usize).zip(values) {
                let (floats, _) = slot[..16].as_chunks::<4>();
                *value = [0, 1, 2, 3].map(|at| f32::from_le_bytes(floats[at]));
            }
            return true;
        }
        for (number, value) in values.enumerate() {
            take(value, &data[number * spec.stride as usize..][..length as usize]);
        }
        return true;
    }
    let (mut inside, mut data) = (true, [0; 16]);
    let data = &mut data[..length as usize];
    for (number, value) in (0..).zip(values) {
        match memory.read(start.wrapping_add(spec.stride.wrapping_mul(number)), data) {
            Ok(()) => take(value, data),
            Err(_) => (inside, *value) = (false, [0.0, 0.0, 0.0, 1.0]),
        }
    }
    inside
}

/// One attribute or output of one vertex as it lies in memory; nothing where that is in no buffer object, or of a type
/// nobody knows.
pub fn value(memory: &Memory, spec: &VertexSpec, vertex: u32) -> Option<[f32; 4]> {
    let (spec, mut value) = (plain(*spec), [[0.0; 4]]);
    component_bytes(&spec)?;
    fetch(memory, &spec, vertex, value.iter_mut()).then_some(value[0])
}

/// Bytes from one vertex to the next up to which a batch's attributes are read in one piece.
const MAX_NEAR: u32 = 256;

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

/// An output's specification with position and point size as the floats they are.
fn plain(spec: VertexSpec) -> VertexSpec {
    match spec.output() {
        OutputKind::Position => VertexSpec::floats(spec.address, 4, spec.stride),
        OutputKind::PointSize => VertexSpec::floats(spec.address, 1, spec.stride),
        OutputKind::Varying => spec,
    }
}

/// Stores one output of vertices from `first` on.
fn store<'a>(
    memory: &mut Memory,
    spec: VertexSpec,
    first: u32,
    values: impl ExactSizeIterator<Item = &'a [f32; 4]>,
    notes: &mut Notes,
) -> Result<()> {
    let spec = plain(spec);
    let components = usize::from(spec.components) + 1;
    let bytes = match (spec.kind, spec.fixed) {
        (ComponentType::F32, false) => 4 * components,
        (ComponentType::F16, false) => 2 * components,
        _ => {
            notes.add(format!("output type {:#x} is unknown", spec.type_code()));
            return Ok(());
        }
    };
    let put = |slot: &mut [u8], value: &[f32; 4]| {
        if spec.kind == ComponentType::F32 {
            for (slot, value) in slot.as_chunks_mut::<4>().0.iter_mut().zip(value) {
                *slot = value.to_le_bytes();
            }
        } else {
            for (slot, value) in slot.as_chunks_mut::<2>().0.iter_mut().zip(value) {
                *slot = half::from_f32(*value).to_le_bytes();
            }
        }
    };
    let start = spec.address.wrapping_add(spec.stride.wrapping_mul(first));
    let stride = spec.stride as usize;
    let all = stride * values.len().saturating_sub(1) + bytes;
    // By far most arrays are all in one object.
    if (bytes..=MAX_NEAR as usize).contains(&stride)
        && values.len() > 0
        && let Some(all) = memory.borrow_mut(start, all, stride == bytes)
    {
        let slots = all.chunks_mut(stride).zip(values);
        match (spec.kind, components) {
            (ComponentType::F32, 4) => slots.for_each(|(slot, value)| put_floats::<4>(slot, value)),
            (ComponentType::F32, 3) => slots.for_each(|(slot, value)| put_floats::<3>(slot, value)),
            (ComponentType::F32, 2) => slots.for_each(|(slot, value)| put_floats::<2>(slot, value)),
            _ => slots.for_each(|(slot, value)| put(&mut slot[..bytes], value)),
        }
        return Ok(());
    }
    let mut data = [0; 16];
    let slot = &mut data[..bytes];
    for (number, value) in (0..).zip(values) {
        put(slot, value);
        memory.write(start.wrapping_add(spec.stride.wrapping_mul(number)), slot)?;
    }
    Ok(())
}

/// The first floats of a value, in as many bytes as is known here.
#[inline(always)]
fn put_floats<const N: usize>(slot: &mut [u8], value: &[f32; 4]) {
    let floats: [[u8; 4]; N] = std::array::from_fn(|at| value[at].to_le_bytes());
    slot[..4 * N].copy_from_slice(floats.as_flattened());
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Vertices whose attributes are what others store run in the stream's order.
    #[test]
    fn vertices_that_read_what_others_store_are_found() {
        let mut shader = VertexShader::new(0);
        shader.attributes = vec![VertexSpec::floats(0x1000, 4, 16)];
        let mut overlaps = |output: VertexSpec, count: u32| {
            shader.outputs = vec![VertexSpec::floats(0x9000, 4, 16), output];
            shader.overlaps(count)
        };
        assert!(!overlaps(VertexSpec::floats(0x4000, 4, 16), 0x200));
        assert!(overlaps(VertexSpec::floats(0x4000, 4, 16), 0x400));
        assert!(overlaps(VertexSpec::floats(0xff0, 4, 16), 10));
        assert!(overlaps(VertexSpec::position(0x1100), 0x200));
        assert!(overlaps(VertexSpec::floats(0xffff_fff0, 4, 16), 2), "around the end");
    }
}
