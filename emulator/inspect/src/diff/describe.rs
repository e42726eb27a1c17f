//! Describes a job as named values, draw by draw, for comparison.

use crate::recorded;
use emulator::gpu::commands::Commands;
use emulator::memory::Memory;
use emulator::texture::{Descriptor, Texture};
use loader::trace::Pipe;
use utgard::frame::{GpFrame, PpRegisters, WRITE_BACKS, WriteBackSource, WriteBackUnit};
use utgard::state::RenderState;
use utgard::stream::{ListCommand, PrimitiveSetup, VertexCommand, VertexSpec};
use utgard::texture::MAX_BYTES;
use utgard::{gp, pp, shader, texture};

/// Fields that are addresses: followed but not compared.
const ADDRESSES: [&str; 11] = [
    "address",
    "state",
    "positions",
    "program",
    "uniforms",
    "textures",
    "varyings",
    "level_0_low",
    "tile_list",
    "clear_state",
    "stack",
];

/// Limit on compared bytes of one array.
const MAX_ARRAY: u32 = 1 << 24;

/// A value of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    /// Text.
    Text(String),
    /// An array: name of an element, its size in bytes, whether it consists of floats, the bytes.
    Array(&'static str, usize, bool, Vec<u8>),
}

/// A named value of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Item {
    /// Number of the draw.
    pub draw: Option<usize>,
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: Value,
}

impl Value {
    /// The first difference of two values: a suffix for the name, and both parts.
    pub(super) fn part(a: &Self, b: &Self) -> (String, [String; 2]) {
        match (a, b) {
            (Self::Array(what, size, floats, one), Self::Array(_, _, _, other)) => {
                let first = one.iter().zip(other).position(|(one, other)| one != other);
                let number = first.unwrap_or(one.len().min(other.len())) / size;
                let element = |bytes: &Vec<u8>| {
                    let bytes = bytes.get(number * size..).unwrap_or_default();
                    element(&bytes[..bytes.len().min(*size)], *floats)
                };
                (format!(", {what} {number}"), [element(one), element(other)])
            }
            (one, other) => (String::new(), [one.text(), other.text()]),
        }
    }

    fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Array(what, size, _, bytes) => format!("{} {what}s", bytes.len() / size),
        }
    }
}

/// An element of an array as text.
fn element(bytes: &[u8], floats: bool) -> String {
    match bytes {
        [] => "nothing".to_owned(),
        _ if floats => format!(
            "{:?}",
            bytes
                .as_chunks::<4>()
                .0
                .iter()
                .map(|word| f32::from_le_bytes(*word))
                .collect::<Vec<_>>()
        ),
        _ => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
    }
}

/// All comparable values of a job before it runs, as far as memory has them.
pub(super) fn describe(memory: &Memory, pipe: Pipe, frame: &[u32]) -> Vec<Item> {
    let mut all = Describer {
        memory,
        draw: None,
        items: Vec::new(),
    };
    match pipe {
        Pipe::Gp => {
            let frame = GpFrame::from_words(frame);
            all.draw = Some(0);
            all.lists(&frame);
            all.draw = Some(0);
            all.vertices(&frame);
            // Both streams are sorted by draw.
            all.items.sort_by_key(|item| item.draw);
        }
        Pipe::Pp => all.pixels(frame),
    }
    all.items
}

struct Describer<'a> {
    memory: &'a Memory,
    draw: Option<usize>,
    items: Vec<Item>,
}

impl Describer<'_> {
    fn push(&mut self, name: String, value: Value) {
        let draw = self.draw;
        self.items.push(Item { draw, name, value });
    }

    /// Fields except addresses.
    fn fields(&mut self, of: &str, fields: Vec<(&'static str, String)>) {
        for (name, value) in fields {
            if !ADDRESSES.contains(&name) {
                self.push(format!("{of}.{name}"), Value::Text(value));
            }
        }
    }

    /// Undocumented bits.
    fn undocumented(&mut self, of: &str, bits: Vec<(usize, u32)>) {
        for (word, bits) in bits {
            self.push(
                format!("{of}, undocumented bits of word {word}"),
                Value::Text(format!("{bits:#x}")),
            );
        }
    }

    fn array(&mut self, name: String, what: &'static str, size: usize, floats: bool, place: (u32, u32)) {
        let (address, length) = place;
        let bytes = self.memory.bytes_up_to(address, length.min(MAX_ARRAY)).into_owned();
        self.push(name, Value::Array(what, size.max(1), floats, bytes));
    }

    fn code(&mut self, name: &str, text: &str) {
        for (number, line) in text.lines().enumerate() {
            self.push(
                format!("{name}, line {}", number + 1),
                Value::Text(line.trim().to_owned()),
            );
        }
    }

    fn pixels(&mut self, frame: &[u32]) {
        self.fields("PpRegisters", PpRegisters::from_words(frame).named());
        for unit in 0..WRITE_BACKS {
            let first = PpRegisters::WORDS + unit * WriteBackUnit::WORDS;
            let unit = WriteBackUnit::from_words(frame.get(first..).unwrap_or_default());
            if unit.source != WriteBackSource::Off {
                self.fields("WriteBackUnit", unit.named());
            }
        }
        self.undocumented("frame", utgard::frame::PpFrame::undocumented(frame));
    }

    fn lists(&mut self, frame: &GpFrame) {
        let mut commands = Commands::new(self.memory, frame.list_start, frame.list_end);
        let (mut indices, mut setup, mut draw) = (0, PrimitiveSetup::default(), 0);
        while let Ok(Some((_, words))) = commands.step() {
            let command = ListCommand::decode(words);
            let (name, _) = ListCommand::row(words);
            self.fields(name, command.named());
            self.undocumented(name, ListCommand::undocumented(words));
            match command {
                ListCommand::End(_) => break,
                ListCommand::BindState(bind) => self.state(bind.state),
                ListCommand::Indices(at) => indices = at.address,
                ListCommand::PrimitiveSetup(now) => setup = now,
                ListCommand::DrawPrimitives(draws) => {
                    if draws.indexed {
                        let size = if setup.indices_32 {
                            4
                        } else {
                            1 + u32::from(setup.indices_16)
                        };
                        let place = (indices, draws.count.saturating_mul(size));
                        self.array("indices".into(), "index", size as usize, false, place);
                    }
                    draw += 1;
                    self.draw = Some(draw);
                }
                _ => {}
            }
        }
    }

    fn state(&mut self, address: u32) {
        let Ok(words) = self.memory.words(address, RenderState::WORDS as u32) else {
            return self.push("RenderState".into(), Value::Text("in no buffer object".into()));
        };
        let state = RenderState::from_words(&words);
        self.fields("RenderState", state.named());
        self.undocumented("RenderState", RenderState::undocumented(&words));
        if let Ok(block) = self.memory.word(state.uniforms.0).map_err(drop)
            && state.has_uniforms
        {
            let bytes = 8u32 << state.uniform_size.min(20);
            self.array("fragment uniforms".into(), "half", 2, false, (block, bytes));
        }
        for number in 0..u32::from(state.texture_count).min(16) {
            if let Ok(address) = self.memory.word(state.textures.wrapping_add(4 * number)) {
                self.texture(number, address);
            }
        }
        if let Some(words) = recorded::fragment_program(self.memory, state.program.0) {
            self.code("fragment program", &pp::disassemble(&words, pp::Options::default()));
        }
    }

    fn texture(&mut self, number: u32, address: u32) {
        let bytes = self.memory.bytes_up_to(address, MAX_BYTES);
        let words: Vec<u32> = bytes
            .as_chunks::<4>()
            .0
            .iter()
            .map(|word| u32::from_le_bytes(*word))
            .collect();
        let name = format!("texture {number} Descriptor");
        self.fields(&name, texture::Descriptor::from_words(&words).named());
        let descriptor = Descriptor::parse(&words);
        self.undocumented(&name, descriptor.unknown.clone());
        let Ok(texture) = Texture::new(self.memory, descriptor) else {
            return;
        };
        for level in 0..texture.descriptor.level_count() {
            if let Some(bytes) = texture.level_bytes(level) {
                let value = Value::Array("byte", 1, false, bytes.to_vec());
                self.push(format!("texture {number} level {level}"), value);
            }
        }
    }

    fn vertices(&mut self, frame: &GpFrame) {
        let mut commands = Commands::new(self.memory, frame.vertex_start, frame.vertex_end);
        let (mut specs, mut run) = (Vec::new(), 0);
        while let Ok(Some((_, words))) = commands.step() {
            let command = VertexCommand::decode(words);
            let (name, _) = VertexCommand::row(words);
            self.fields(name, command.named());
            self.undocumented(name, VertexCommand::undocumented(words));
            match command {
                VertexCommand::Attributes(at) => specs = self.specs("attribute", at.address, at.words),
                VertexCommand::Outputs(at) => drop(self.specs("output", at.address, at.words)),
                VertexCommand::Uniforms(at) => {
                    let place = (at.address, u32::from(at.vec4s) * 16);
                    self.array("vertex uniforms".into(), "vec4", 16, true, place);
                }
                VertexCommand::Program(at) => {
                    let words = self
                        .memory
                        .words(at.address, u32::from(at.instructions) * gp::WORDS as u32);
                    let words = shader::instructions(&words.unwrap_or_default());
                    self.code("vertex program", &gp::disassemble(&words, gp::Options { words: false }));
                }
                VertexCommand::RunVertices(vertices) => {
                    for (number, spec) in specs.iter().enumerate() {
                        self.attribute(number, spec, vertices.count);
                    }
                    run += 1;
                    self.draw = Some(run);
                }
                _ => {}
            }
        }
    }

    fn specs(&mut self, what: &str, address: u32, words: u16) -> Vec<VertexSpec> {
        let words = self.memory.words(address, u32::from(words & !1)).unwrap_or_default();
        let specs: Vec<VertexSpec> = words.chunks_exact(2).map(VertexSpec::from_words).collect();
        for (number, spec) in specs.iter().enumerate() {
            self.fields(&format!("{what} {number} VertexSpec"), spec.named());
        }
        specs
    }

    /// An attribute of some vertices: the bytes that are read.
    fn attribute(&mut self, number: usize, spec: &VertexSpec, count: u32) {
        let bytes = spec.kind.bytes().unwrap_or(4) * (u32::from(spec.components) + 1);
        let one = |vertex: u32| {
            let at = spec.address.wrapping_add(spec.stride.wrapping_mul(vertex));
            self.memory.bytes(at, bytes).ok()
        };
        let all: Vec<u8> = (0..count.min(MAX_ARRAY / bytes))
            .map_while(one)
            .flat_map(std::borrow::Cow::into_owned)
            .collect();
        let floats = spec.kind == utgard::stream::ComponentType::F32;
        let value = Value::Array("vertex", bytes as usize, floats, all);
        self.push(format!("attribute {number}"), value);
    }
}
