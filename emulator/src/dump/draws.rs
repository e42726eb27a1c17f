//! The programs of a geometry job's draws, cut from the memory it runs in.

use super::state::program;
use crate::fault::Result;
use crate::gpu::state::{STATE_WORDS, State};
use crate::gpu::vertex::Commands;
use crate::memory::Memory;
use std::collections::BTreeMap;
use utgard::frame::GpFrame;
use utgard::gp;
use utgard::stream::{ListCommand, OutputKind, VertexCommand, VertexSpec};

/// What one draw runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DrawPrograms {
    /// Words of the vertex program; none where the positions were made by no program of this job, as in a driver's own
    /// rectangles.
    pub vertex: Option<Vec<u32>>,
    /// Words of the fragment program.
    pub fragment: Vec<u32>,
}

/// Bytes of a fragment program at most.
const MAX_FRAGMENT_BYTES: u32 = 1 << 14;

/// The draws of a geometry job's frame, in order.
///
/// # Errors
/// When a stream, a render state or a program is in no buffer object.
pub fn draws(memory: &Memory, frame: &[u32]) -> Result<Vec<DrawPrograms>> {
    let frame = GpFrame::from_words(frame);
    let vertices = vertex_programs(memory, frame.vertex_start, frame.vertex_end)?;
    let mut commands = Commands::new(memory, frame.list_start, frame.list_end);
    let (mut draws, mut bound) = (Vec::new(), None);
    while let Some((_, words)) = commands.step()? {
        match ListCommand::decode(words) {
            ListCommand::BindState(bind) => bound = Some((bind.state, bind.positions.0)),
            ListCommand::DrawPrimitives(_) => {
                let Some((state, positions)) = bound else { continue };
                draws.push(DrawPrograms {
                    vertex: vertices.get(&positions).cloned(),
                    fragment: fragment_program(memory, state)?,
                });
            }
            _ => {}
        }
    }
    Ok(draws)
}

/// The vertex programs by where they put positions.
fn vertex_programs(memory: &Memory, start: u32, end: u32) -> Result<BTreeMap<u32, Vec<u32>>> {
    let mut commands = Commands::new(memory, start, end);
    let (mut found, mut code, mut positions) = (BTreeMap::new(), None, None);
    while let Some((_, words)) = commands.step()? {
        match VertexCommand::decode(words) {
            VertexCommand::Program(at) => code = Some((at.address, u32::from(at.instructions) * gp::WORDS as u32)),
            VertexCommand::Outputs(at) => {
                let words = memory.words(at.address, u32::from(at.words & !1))?;
                let mut specs = words.chunks_exact(2).map(VertexSpec::from_words);
                positions = specs
                    .find(|spec| spec.output() == OutputKind::Position)
                    .map(|spec| spec.address);
            }
            VertexCommand::RunVertices(_) => {
                if let (Some((address, count)), Some(positions)) = (code, positions) {
                    found.insert(positions, memory.words(address, count)?);
                }
            }
            _ => {}
        }
    }
    Ok(found)
}

fn fragment_program(memory: &Memory, address: u32) -> Result<Vec<u32>> {
    let words = memory.words(address, STATE_WORDS)?;
    let Ok(words) = <&[u32; STATE_WORDS as usize]>::try_from(words.as_slice()) else {
        return Ok(Vec::new());
    };
    let state = State::parse(words);
    Ok(program(&super::state::words_at(memory, state.program, MAX_FRAGMENT_BYTES)).to_vec())
}
