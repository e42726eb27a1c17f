//! Recorded jobs in words: command streams, render states, texture descriptors, frames and code.

mod draws;
mod given;
mod state;

pub use draws::{DrawPrograms, DrawSource, VertexRun, draws};
pub use given::{Given, given};
pub use state::{Said, blending, channels, fragment_uniforms, render_state_words, texture};

use crate::fault::Result;
use crate::gpu::commands::Commands;
use crate::gpu::frame::Frame;
use crate::memory::Memory;
use loader::trace::Pipe;
use std::fmt::Write;
use utgard::frame::GpFrame;
use utgard::stream::{ListCommand, OutputKind, VertexCommand, VertexSpec};
use utgard::{gp, shader};

/// A command of a stream, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// Where it is.
    pub address: u32,
    /// Its value and its operation.
    pub words: [u32; 2],
    /// What it does.
    pub text: String,
    /// What it points to, line by line.
    pub details: Vec<String>,
}

/// A command stream of a geometry job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stream {
    /// What it is a stream of.
    pub name: &'static str,
    /// First address.
    pub start: u32,
    /// Address behind the last command.
    pub end: u32,
    /// The commands in the order they are done.
    pub commands: Vec<Command>,
}

/// The streams of a geometry job's frame: that of vertices, and that of polygon lists.
///
/// # Errors
/// When a stream or state is in no buffer object.
pub fn streams(memory: &Memory, frame: &[u32]) -> Result<[Stream; 2]> {
    let frame = GpFrame::from_words(frame);
    let vertices = (frame.vertex_start, frame.vertex_end);
    let lists = (frame.list_start, frame.list_end);
    Ok([
        stream(memory, "vertex", vertices, vertex_command)?,
        stream(memory, "polygon list", lists, list_command)?,
    ])
}

/// A job as text, from the memory it will run in.
///
/// # Errors
/// When a stream or state is in no buffer object.
pub fn job(memory: &Memory, pipe: Pipe, frame: &[u32]) -> Result<String> {
    let mut out = String::new();
    match pipe {
        Pipe::Gp => {
            for stream in streams(memory, frame)? {
                stream.print(&mut out)?;
            }
        }
        Pipe::Pp => state::frame(&Frame::parse(frame)?, &mut out)?,
    }
    Ok(out)
}

type Explain = fn(&Memory, [u32; 2], &mut String) -> Result<String>;

fn stream(memory: &Memory, name: &'static str, (start, end): (u32, u32), explain: Explain) -> Result<Stream> {
    let mut stream = Stream {
        name,
        start,
        end,
        commands: Vec::new(),
    };
    let mut commands = Commands::new(memory, start, end);
    while let Some((address, words)) = commands.step()? {
        let mut more = String::new();
        let text = explain(memory, words, &mut more)?;
        stream.commands.push(Command {
            address,
            words,
            text,
            details: more.lines().map(str::to_owned).collect(),
        });
    }
    Ok(stream)
}

impl Stream {
    fn print(&self, out: &mut String) -> Result<()> {
        writeln!(out, "{} stream {:#x} to {:#x}", self.name, self.start, self.end)?;
        for command in &self.commands {
            let [value, op] = command.words;
            writeln!(
                out,
                "  {:#010x}  {op:08x} {value:08x}  {}",
                command.address, command.text
            )?;
            for line in &command.details {
                writeln!(out, "      {line}")?;
            }
        }
        Ok(())
    }
}

/// Undocumented bits of a command, behind its text.
fn with_undocumented(text: String, bits: &[(usize, u32)]) -> String {
    let words = ["value", "operation"];
    bits.iter().fold(text, |text, (word, bits)| {
        format!("{text}; bits {bits:#x} of the {} are not known", words[word & 1])
    })
}

/// A vertex command.
fn vertex_command(memory: &Memory, words: [u32; 2], more: &mut String) -> Result<String> {
    let text = match VertexCommand::decode(words) {
        VertexCommand::RunVertices(run) => format!("run {} vertices", run.count),
        VertexCommand::ProgramInfo(info) => format!(
            "{} instructions, attributes read up to {}",
            u32::from(info.last) + 1,
            info.prefetch
        ),
        VertexCommand::Counts(counts) => format!(
            "{} attributes, {} outputs",
            u32::from(counts.attributes) + 1,
            u32::from(counts.outputs) + 1
        ),
        VertexCommand::Attributes(at) => specs(memory, "attribute", at.address, at.words, more)?,
        VertexCommand::Outputs(at) => specs(memory, "output", at.address, at.words, more)?,
        VertexCommand::Uniforms(at) => {
            let words = memory.words(at.address, u32::from(at.vec4s) * 4)?;
            for (number, vec4) in words.chunks_exact(4).enumerate() {
                let floats: Vec<String> = vec4.iter().map(|word| f32::from_bits(*word).to_string()).collect();
                writeln!(more, "t[{number}] = {}", floats.join(" "))?;
            }
            format!("{} vec4s of uniforms at {:#x}", at.vec4s, at.address)
        }
        VertexCommand::Program(at) => {
            let words = memory.words(at.address, u32::from(at.instructions) * gp::WORDS as u32)?;
            let words = shader::instructions(&words);
            more.push_str(&gp::disassemble(&words, gp::Options { words: false }));
            format!("program at {:#x}", at.address)
        }
        VertexCommand::VertexSemaphore(_) => "semaphore".to_owned(),
        VertexCommand::Flush(_) => "flush".to_owned(),
        VertexCommand::VertexJump(jump) => format!("goes on at {:#x}", jump.address),
        VertexCommand::Register41(_) | VertexCommand::Undocumented(_) => "not known".to_owned(),
    };
    Ok(with_undocumented(text, &VertexCommand::undocumented(words)))
}

/// Specifications of attributes or outputs.
fn specs(memory: &Memory, what: &str, address: u32, words: u16, more: &mut String) -> Result<String> {
    for pair in memory.words(address, u32::from(words & !1))?.chunks_exact(2) {
        let spec = VertexSpec::from_words(pair);
        let text = match (what, spec.output()) {
            ("output", OutputKind::Position) => "gl_Position".to_owned(),
            ("output", OutputKind::PointSize) => "gl_PointSize".to_owned(),
            _ => format!(
                "stride {}, {} of {}{}",
                spec.stride,
                u32::from(spec.components) + 1,
                spec.kind.label(),
                if spec.fixed { ", fixed-point" } else { "" }
            ),
        };
        writeln!(more, "{what} at {:#x}: {text}", spec.address)?;
    }
    Ok(format!("{what} descriptors at {address:#x}"))
}

/// A polygon list command.
fn list_command(memory: &Memory, words: [u32; 2], more: &mut String) -> Result<String> {
    let text = match ListCommand::decode(words) {
        ListCommand::DrawPrimitives(draw) => format!(
            "draw {} vertices from {} as {}{}",
            draw.count,
            draw.start,
            draw.mode.label(),
            if draw.indexed { ", indexed" } else { "" }
        ),
        ListCommand::Positions(at) => format!("positions of indexed vertices at {:#x}", at.address),
        ListCommand::Indices(at) => format!("indices at {:#x}", at.address),
        ListCommand::PointSizes(at) => format!("point sizes at {:#x}", at.address),
        ListCommand::HeapStart(at) => format!("heap from {:#x}", at.address),
        ListCommand::HeapEnd(at) => format!("heap to {:#x}", at.address),
        ListCommand::ViewportTop(top) => format!("viewport top {}", top.edge),
        ListCommand::ViewportBottom(bottom) => format!("viewport bottom {}", bottom.edge),
        ListCommand::ViewportLeft(left) => format!("viewport left {}", left.edge),
        ListCommand::ViewportRight(right) => format!("viewport right {}", right.edge),
        ListCommand::TileCounts(tiles) => {
            let [columns, rows] = [tiles.columns, tiles.rows].map(|last| u32::from(last) + 1);
            format!("{columns} x {rows} tiles")
        }
        ListCommand::PrimitiveSetup(setup) => {
            let culled = match (setup.cull_clockwise, setup.cull_counter_clockwise) {
                (false, false) => "",
                (true, false) => ", cull clockwise",
                (false, true) => ", cull counter-clockwise",
                (true, true) => ", cull all",
            };
            let indices = match (setup.indices_16, setup.indices_32) {
                (_, true) => ", indices of 32 bits",
                (true, false) => ", indices of 16 bits",
                (false, false) => "",
            };
            let size = if setup.fixed_size { ", points of one size" } else { "" };
            format!("primitive setup{indices}{size}{culled}")
        }
        ListCommand::BlockShape(shape) => {
            format!("blocks of {} x {} tiles", 1u32 << shape.shift_x, 1u32 << shape.shift_y)
        }
        ListCommand::PointSize(size) => format!("point size or line width {}", size.size),
        ListCommand::Near(near) => format!("near {}", near.depth),
        ListCommand::Far(far) => format!("far {}", far.depth),
        ListCommand::BlockTable(table) => {
            format!("table of {} blocks at {:#x}", u32::from(table.last) + 1, table.address)
        }
        ListCommand::BlockWidth(width) => format!("{} blocks a row", width.blocks),
        ListCommand::End(_) => "end".to_owned(),
        ListCommand::ListSemaphore(_) => "semaphore".to_owned(),
        ListCommand::Scissor(s) => format!("scissor from ({}, {}) to ({}, {})", s.left, s.top, s.right, s.bottom),
        ListCommand::BindState(bind) => {
            state::render_state(memory, bind.state, more)?;
            format!(
                "render state at {:#x}, positions at {:#x}",
                bind.state, bind.positions.0
            )
        }
        ListCommand::StoreRegister(to) => format!("stores a register at {:#x}", to.address),
        ListCommand::LoadRegister(from) => format!("loads a register from {:#x}", from.address),
        ListCommand::Barrier(_) => "waits".to_owned(),
        ListCommand::ListJump(jump) => format!("goes on at {:#x}", jump.address),
        ListCommand::Register10A(_) | ListCommand::Undocumented(_) => "not known".to_owned(),
    };
    Ok(with_undocumented(text, &ListCommand::undocumented(words)))
}
