//! The GP's vertex command stream: loads a program, its uniforms and attributes, runs vertices and stores their outputs
//! (docs/spec/mali/streams.md, section 1).

use super::fault::{Fault, FaultKind, Result};
use super::memory::Memory;
use super::notes::Notes;
use crate::exec::{Engine, VERTEX_MEMORY, VertexBatch, VertexProgram};
use num::half;
use std::collections::HashMap;
use utgard::gp::Instruction;

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

    /// The next command: its address, value and operation.
    ///
    /// # Errors
    /// When it is in no buffer object, or there are too many.
    pub fn step(&mut self) -> Result<Option<(u32, u32, u32)>> {
        while self.at != self.end {
            if self.left == 0 {
                return Err(Fault::new(FaultKind::Budget, "a command stream does not end").at(self.at));
            }
            self.left -= 1;
            let (value, op) = (self.memory.word(self.at)?, self.memory.word(self.at.wrapping_add(4))?);
            if op >> 28 == 15 {
                self.at = value;
                continue;
            }
            let at = self.at;
            self.at = self.at.wrapping_add(8);
            return Ok(Some((at, value, op)));
        }
        Ok(None)
    }
}

/// The vertex stream's state.
pub struct VertexShader {
    program: Vec<Instruction>,
    uniforms: Vec<[f32; 4]>,
    instructions: u32,
    attributes: Vec<(u32, u32)>,
    outputs: Vec<(u32, u32)>,
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
            let Some((address, value, op)) = commands.step()? else {
                return Ok(());
            };
            at = (commands.at, commands.left);
            self.command(memory, value, op, engine, notes)
                .map_err(|fault| fault.at(address))?;
        }
    }

    fn command(
        &mut self,
        memory: &mut Memory,
        value: u32,
        op: u32,
        engine: &dyn Engine,
        notes: &mut Notes,
    ) -> Result<()> {
        let units = op >> 16 & 0xfff;
        match (op >> 28, op & 0xffff) {
            (0, _) => return self.draw(memory, (op & 0xffff) << 8 | value >> 24, engine, notes),
            (1, 0x40) => self.instructions = (value >> 10 & 0x3ff) + 1,
            (1, 0x41) => {}
            (1, 0x42) => {
                self.attribute_count = (value >> 24) as usize + 1;
                self.output_count = (value >> 8 & 0xff) as usize + 1;
            }
            (2, 0) => self.attributes = pairs(memory, value, units, notes, "attribute"),
            (2, 8) => self.outputs = pairs(memory, value, units, notes, "output"),
            (3, _) => self.load_uniforms(memory, value, units)?,
            (4, _) => {
                let words = memory.words(value, units * 4)?;
                let decode = |words: &[u32]| Instruction::decode([words[0], words[1], words[2], words[3]]);
                self.program = words.chunks_exact(4).map(decode).collect();
            }
            (5 | 6, _) => {}
            _ => notes.add(format!("vertex command {op:#010x} with {value:#x} is unknown")),
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
        let find = |word: u32| self.outputs.iter().find(|spec| spec.1 == word).map(|spec| spec.0);
        if let (Some(positions), Some(sizes)) = (find(POSITION), find(POINT_SIZE)) {
            self.point_sizes.insert(positions, sizes);
        }
    }
}

/// Output descriptor of the position: four floats.
pub const POSITION: u32 = 0x8020;
/// Output descriptor of the point size: one float.
pub const POINT_SIZE: u32 = 0x2021;

/// `words` words as pairs; what is in no buffer object is nothing, for drivers announce attributes they do not have.
fn pairs(memory: &Memory, address: u32, words: u32, notes: &mut Notes, what: &str) -> Vec<(u32, u32)> {
    match memory.words(address, (words & !1).min(64)) {
        Ok(words) => words.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect(),
        Err(_) => {
            notes.add(format!("{what} descriptors at {address:#x} are in no buffer object"));
            Vec::new()
        }
    }
}

/// Bytes of a component, for the types of attributes and outputs.
fn component_bytes(kind: u32) -> Option<u32> {
    Some(match kind {
        0 | 1 | 2 | 0xd | 0xe | 0x101 => 4,
        3 | 4 | 5 | 0xa | 0xb => 2,
        6..=9 => 1,
        _ => return None,
    })
}

/// One attribute of vertices from `first` on; missing components are 0, 0, 0, 1 ([I]).
fn fetch<'a>(
    memory: &Memory,
    (address, word): (u32, u32),
    first: u32,
    values: impl Iterator<Item = &'a mut [f32; 4]>,
    notes: &mut Notes,
) {
    let (stride, kind, components) = (word >> 11, word >> 2 & 0x1ff, (word & 3) + 1);
    let bytes = component_bytes(kind);
    if bytes.is_none() {
        notes.add(format!("attribute type {kind:#x} is unknown"));
    }
    let mut outside = false;
    let mut data = [0; 16];
    for (value, vertex) in values.zip(first..) {
        *value = [0.0, 0.0, 0.0, 1.0];
        let Some(bytes) = bytes else { continue };
        let start = address.wrapping_add(stride.wrapping_mul(vertex));
        let data = &mut data[..(components * bytes) as usize];
        if memory.read(start, data).is_err() {
            outside = true;
            continue;
        }
        if kind == 0 {
            for (value, data) in value.iter_mut().zip(data.chunks_exact(4)) {
                *value = f32::from_le_bytes([data[0], data[1], data[2], data[3]]);
            }
        } else {
            for (value, data) in value.iter_mut().zip(data.chunks_exact(bytes as usize)) {
                *value = component(kind, data);
            }
        }
    }
    if outside {
        notes.add(format!(
            "an attribute at {address:#x} is read outside all buffer objects"
        ));
    }
}

/// A component as a float. Signed normalised numbers are c / (2^(n-1) - 1), not below -1 ([?] in the facts).
fn component(kind: u32, data: &[u8]) -> f32 {
    let mut bytes = [0; 4];
    bytes[..data.len()].copy_from_slice(data);
    let unsigned = u32::from_le_bytes(bytes);
    let unused = 32 - 8 * data.len() as u32;
    let signed = (unsigned << unused) as i32 >> unused;
    let top = f64::from(u32::MAX >> unused);
    match kind {
        0 => f32::from_bits(unsigned),
        1 | 4 | 6 => signed as f32,
        2 | 5 | 7 => unsigned as f32,
        3 => half::to_f32(unsigned as u16),
        8 | 0xa | 0xd => (f64::from(signed) / ((top - 1.0) / 2.0)).max(-1.0) as f32,
        9 | 0xb | 0xe => (f64::from(unsigned) / top) as f32,
        _ => (f64::from(signed) / 65536.0) as f32,
    }
}

/// Stores one output of vertices from `first` on.
fn store<'a>(
    memory: &mut Memory,
    (address, word): (u32, u32),
    first: u32,
    values: impl Iterator<Item = &'a [f32; 4]>,
    notes: &mut Notes,
) -> Result<()> {
    let (stride, kind, components) = match word {
        POSITION => (16, 0, 4),
        POINT_SIZE => (4, 0, 1),
        word => (word >> 11, word >> 2 & 0x1ff, (word & 3) as usize + 1),
    };
    let bytes = match kind {
        0 => 4 * components,
        3 => 2 * components,
        kind => {
            notes.add(format!("output type {kind:#x} is unknown"));
            return Ok(());
        }
    };
    let mut data = [0; 16];
    for (value, vertex) in values.zip(first..) {
        let start = address.wrapping_add(stride.wrapping_mul(vertex));
        let slot = &mut data[..bytes];
        if kind == 0 {
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
