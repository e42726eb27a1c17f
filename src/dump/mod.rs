//! Recorded jobs in words: command streams, render states, texture descriptors, frames and code.

mod state;

use anyhow::Result;
use emulator::gpu::frame::Frame;
use emulator::gpu::geometry::MODES;
use emulator::gpu::memory::Memory;
use emulator::gpu::vertex::Commands;
use loader::trace::Pipe;
use std::fmt::Write;
use utgard::{gp, shader};

/// A job as text, from the memory it will run in.
///
/// # Errors
/// When a stream or state is in no buffer object.
pub fn job(memory: &Memory, pipe: Pipe, frame: &[u32]) -> Result<String> {
    let mut out = String::new();
    match pipe {
        Pipe::Gp => {
            let word = |at: usize| frame.get(at).copied().unwrap_or(0);
            writeln!(out, "vertex stream {:#x} to {:#x}", word(0), word(1))?;
            stream(memory, word(0), word(1), vertex_command, &mut out)?;
            writeln!(out, "polygon list stream {:#x} to {:#x}", word(2), word(3))?;
            stream(memory, word(2), word(3), list_command, &mut out)?;
        }
        Pipe::Pp => state::frame(&Frame::parse(frame)?, &mut out)?,
    }
    Ok(out)
}

type Explain = fn(&Memory, u32, u32, &mut String) -> Result<String>;

fn stream(memory: &Memory, start: u32, end: u32, explain: Explain, out: &mut String) -> Result<()> {
    let mut commands = Commands::new(memory, start, end);
    while let Some((address, value, op)) = commands.step()? {
        let mut more = String::new();
        let text = explain(memory, value, op, &mut more)?;
        writeln!(out, "  {address:#010x}  {op:08x} {value:08x}  {text}")?;
        for line in more.lines() {
            writeln!(out, "      {line}")?;
        }
    }
    Ok(())
}

/// A vertex command (docs/spec/mali/streams.md, section 1).
fn vertex_command(memory: &Memory, value: u32, op: u32, more: &mut String) -> Result<String> {
    let units = op >> 16 & 0xfff;
    Ok(match (op >> 28, op & 0xffff) {
        (0, _) => format!("run {} vertices", (op & 0xffff) << 8 | value >> 24),
        (1, 0x40) => format!(
            "{} instructions, attributes read up to {}",
            (value >> 10 & 0x3ff) + 1,
            value >> 20
        ),
        (1, 0x42) => format!("{} attributes, {} outputs", (value >> 24) + 1, (value >> 8 & 0xff) + 1),
        (2, kind) => {
            let what = if kind == 8 { "output" } else { "attribute" };
            for pair in memory.words(value, units & !1)?.chunks_exact(2) {
                let text = match pair[1] {
                    emulator::gpu::vertex::POSITION => "gl_Position".to_owned(),
                    emulator::gpu::vertex::POINT_SIZE => "gl_PointSize".to_owned(),
                    word => format!(
                        "stride {}, type {:#x}, {} components",
                        word >> 11,
                        word >> 2 & 0x1ff,
                        (word & 3) + 1
                    ),
                };
                writeln!(more, "{what} at {:#x}: {text}", pair[0])?;
            }
            format!("{what} descriptors at {value:#x}")
        }
        (3, _) => {
            for (number, vec4) in memory.words(value, units * 4)?.chunks_exact(4).enumerate() {
                let floats: Vec<String> = vec4.iter().map(|word| f32::from_bits(*word).to_string()).collect();
                writeln!(more, "t[{number}] = {}", floats.join(" "))?;
            }
            format!("{units} vec4s of uniforms at {value:#x}")
        }
        (4, _) => {
            let words = shader::instructions(&memory.words(value, units * 4)?);
            more.push_str(&gp::disassemble(&words, gp::Options { words: false }));
            format!("program at {value:#x}")
        }
        (5, _) => "semaphore".to_owned(),
        (6, _) => "flush".to_owned(),
        _ => "not known".to_owned(),
    })
}

/// A polygon list command (docs/spec/mali/streams.md, section 2).
fn list_command(memory: &Memory, value: u32, op: u32, more: &mut String) -> Result<String> {
    let float = f32::from_bits(value);
    Ok(match (op >> 28, op & 0x0fff_ffff) {
        (0, _) => {
            let (mode, indexed) = (op >> 16 & 31, op >> 21 & 1 == 1);
            let name = MODES
                .iter()
                .find(|row| row.0 == mode)
                .map_or("unknown mode", |row| row.1);
            let (count, start) = ((op & 0xffff) << 8 | value >> 24, value & 0x00ff_ffff);
            format!(
                "draw {count} vertices from {start} as {name}{}",
                if indexed { ", indexed" } else { "" }
            )
        }
        (1, register) => match register {
            0x100 => format!("positions of indexed vertices at {value:#x}"),
            0x101 => format!("indices at {value:#x}"),
            0x102 => format!("point sizes at {value:#x}"),
            0x105..=0x108 => {
                format!(
                    "viewport {} {float}",
                    ["top", "bottom", "left", "right"][register as usize - 0x105]
                )
            }
            0x109 => format!("{} x {} tiles", (value >> 24) + 1, (value >> 8 & 0xff) + 1),
            0x10b => {
                let culled =
                    ["", ", cull clockwise", ", cull counter-clockwise", ", cull all"][(value >> 17 & 3) as usize];
                format!("primitive setup{culled}")
            }
            0x10c => format!(
                "blocks of {} x {} tiles",
                1u32 << (value & 15),
                1u32 << (value >> 16 & 15)
            ),
            0x10d => format!("point size or line width {float}"),
            0x10e => format!("near {float}"),
            0x10f => format!("far {float}"),
            _ => "not known".to_owned(),
        },
        (2, _) => format!("table of {} blocks at {value:#x}", (op & 0xffff) + 1),
        (3, _) => format!("{value} blocks a row"),
        (5, _) => "end".to_owned(),
        (6, _) => "semaphore".to_owned(),
        (7, _) => {
            let (left, top) = (value >> 30 | (op & 0x1fff) << 2, value & 0x7fff);
            format!(
                "scissor from ({left}, {top}) to ({}, {})",
                op >> 13 & 0x7fff,
                value >> 15 & 0x7fff
            )
        }
        (8, _) => {
            state::render_state(memory, value, more)?;
            format!(
                "render state at {value:#x}, positions at {:#x}",
                (op & 0x0fff_ffff) << 4
            )
        }
        _ => "not known".to_owned(),
    })
}
