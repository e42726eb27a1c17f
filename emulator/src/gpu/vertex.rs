//! The GP's vertex command stream: loads a program, its uniforms and attributes, runs vertices and stores their outputs
//! (docs/spec/mali/streams.md, section 1).

use super::notes::Notes;
use crate::exec::{Engine, VERTEX_MEMORY, VertexBatch, VertexProgram};
use crate::fault::{Fault, FaultKind, Result};
use crate::memory::Memory;
use num::half;
use std::collections::HashMap;
use utgard::gp::{self, Instruction};
use utgard::stream::{ComponentType, OutputKind, VertexCommand, VertexSpec};

/// Vertices that go through the engine together.
const BATCH: u32 = 256;

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
        engine: &dyn Engine,
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
            self.command(memory, VertexCommand::decode(words), engine, notes)
                .map_err(|fault| fault.at(address))?;
        }
    }

    fn command(
        &mut self,
        memory: &mut Memory,
        command: VertexCommand,
        engine: &dyn Engine,
        notes: &mut Notes,
    ) -> Result<()> {
        match command {
            VertexCommand::RunVertices(run) => return self.draw(memory, run.count, engine, notes),
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

    fn draw(&mut self, memory: &mut Memory, count: u32, engine: &dyn Engine, notes: &mut Notes) -> Result<()> {
        if self.vertices + u64::from(count) > MAX_VERTICES {
            return Err(Fault::new(
                FaultKind::Budget,
                format!("more than {MAX_VERTICES} vertices in a job"),
            ));
        }
        let length = (self.instructions as usize).min(self.program.len());
        let program = VertexProgram::new(self.program[..length].to_vec());
        let attribute_count = self.attribute_count.clamp(1, 16);
        let output_count = self.output_count.clamp(1, 16);
        self.note_point_sizes();
        let mut attributes = vec![[0.0; 4]; BATCH as usize * attribute_count];
        let mut outputs = vec![[0.0; 4]; BATCH as usize * output_count];
        for first in (0..count).step_by(BATCH as usize) {
            let vertices = BATCH.min(count - first);
            let attributes = &mut attributes[..vertices as usize * attribute_count];
            for (number, spec) in self.attributes.iter().enumerate().take(attribute_count) {
                fetch(
                    memory,
                    *spec,
                    first,
                    attributes[number..].iter_mut().step_by(attribute_count),
                    notes,
                );
            }
            let outputs = &mut outputs[..vertices as usize * output_count];
            outputs.fill([0.0; 4]);
            let mut batch = VertexBatch {
                program: &program,
                uniforms: &self.uniforms,
                attribute_count,
                attributes,
                output_count,
                outputs,
                instructions: 0,
            };
            engine.vertices(&mut batch)?;
            self.ran += batch.instructions;
            if self.ran > self.budget {
                return Err(Fault::new(
                    FaultKind::Budget,
                    "the vertices run more instructions than a job may",
                ));
            }
            for (number, spec) in self.outputs.iter().enumerate().take(output_count) {
                store(
                    memory,
                    *spec,
                    first,
                    outputs[number..].iter().step_by(output_count),
                    notes,
                )?;
            }
        }
        self.vertices += u64::from(count);
        Ok(())
    }

    fn note_point_sizes(&mut self) {
        let find = |kind| self.outputs.iter().find(|spec| spec.output() == kind);
        if let (Some(positions), Some(sizes)) = (find(OutputKind::Position), find(OutputKind::PointSize)) {
            self.point_sizes.insert(positions.address, sizes.address);
        }
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

/// One attribute of vertices from `first` on; missing components are 0, 0, 0, 1 ([I]).
fn fetch<'a>(
    memory: &Memory,
    spec: VertexSpec,
    first: u32,
    values: impl Iterator<Item = &'a mut [f32; 4]>,
    notes: &mut Notes,
) {
    let (address, components) = (spec.address, u32::from(spec.components) + 1);
    let bytes = component_bytes(&spec);
    if bytes.is_none() {
        notes.add(format!("attribute type {:#x} is unknown", spec.type_code()));
    }
    let mut outside = false;
    let mut data = [0; 16];
    for (value, vertex) in values.zip(first..) {
        *value = [0.0, 0.0, 0.0, 1.0];
        let Some(bytes) = bytes else { continue };
        let start = address.wrapping_add(spec.stride.wrapping_mul(vertex));
        let data = &mut data[..(components * bytes) as usize];
        if memory.read(start, data).is_err() {
            outside = true;
            continue;
        }
        if spec.type_code() == 0 {
            for (value, data) in value.iter_mut().zip(data.chunks_exact(4)) {
                *value = f32::from_le_bytes([data[0], data[1], data[2], data[3]]);
            }
        } else {
            for (value, data) in value.iter_mut().zip(data.chunks_exact(bytes as usize)) {
                *value = component(&spec, data);
            }
        }
    }
    if outside {
        notes.add(format!(
            "an attribute at {address:#x} is read outside all buffer objects"
        ));
    }
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

/// Stores one output of vertices from `first` on.
fn store<'a>(
    memory: &mut Memory,
    spec: VertexSpec,
    first: u32,
    values: impl Iterator<Item = &'a [f32; 4]>,
    notes: &mut Notes,
) -> Result<()> {
    let spec = match spec.output() {
        OutputKind::Position => VertexSpec::floats(spec.address, 4, spec.stride),
        OutputKind::PointSize => VertexSpec::floats(spec.address, 1, spec.stride),
        OutputKind::Varying => spec,
    };
    let components = usize::from(spec.components) + 1;
    let bytes = match (spec.kind, spec.fixed) {
        (ComponentType::F32, false) => 4 * components,
        (ComponentType::F16, false) => 2 * components,
        _ => {
            notes.add(format!("output type {:#x} is unknown", spec.type_code()));
            return Ok(());
        }
    };
    let mut data = [0; 16];
    for (value, vertex) in values.zip(first..) {
        let start = spec.address.wrapping_add(spec.stride.wrapping_mul(vertex));
        let slot = &mut data[..bytes];
        if spec.kind == ComponentType::F32 {
            for (slot, value) in slot.chunks_exact_mut(4).zip(value) {
                slot.copy_from_slice(&value.to_le_bytes());
            }
        } else {
            for (slot, value) in slot.chunks_exact_mut(2).zip(value) {
                slot.copy_from_slice(&half::from_f32(*value).to_le_bytes());
            }
        }
        memory.write(start, slot)?;
    }
    Ok(())
}
