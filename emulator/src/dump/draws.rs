//! The programs of a geometry job's draws, cut from the memory it runs in.

use super::state::program;
use crate::fault::Result;
use crate::gpu::binning::geometry;
use crate::gpu::binning::slots::Slots;
use crate::gpu::commands::Commands;
use crate::gpu::state::State;
use crate::memory::Memory;
use std::collections::BTreeMap;
use utgard::frame::GpFrame;
use utgard::gp;
use utgard::stream::{DrawPrimitives, ListCommand, OutputKind, PrimitiveSetup, VertexCommand, VertexSpec};

/// What one draw runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DrawPrograms {
    /// Words of the vertex program; none where the positions were made by no program of this job, as in a driver's own
    /// rectangles.
    pub vertex: Option<Vec<u32>>,
    /// Words of the fragment program.
    pub fragment: Vec<u32>,
    /// Number of the float at which the vertex program's uniforms have the viewport's scale, and four on its offset.
    pub viewport: Option<u32>,
    /// Where it comes from.
    pub source: DrawSource,
}

/// Where a draw comes from, and what it names.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DrawSource {
    /// Number among the draw commands of the stream.
    pub number: u32,
    /// Address of its command.
    pub address: u32,
    /// The command.
    pub command: DrawPrimitives,
    /// How primitives were set up.
    pub setup: PrimitiveSetup,
    /// Address of the render state.
    pub state: u32,
    /// Address of the positions.
    pub positions: u32,
    /// Address of the indices, for draws that go by them.
    pub indices: u32,
    /// The run of vertices that made its positions.
    pub run: Option<VertexRun>,
}

/// A run of vertices.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VertexRun {
    /// Vertices.
    pub count: u32,
    /// Address of the program.
    pub program: u32,
    /// Address of the uniforms, and how many vec4s.
    pub uniforms: (u32, u32),
    /// Its attributes.
    pub attributes: Vec<VertexSpec>,
    /// Its outputs.
    pub outputs: Vec<VertexSpec>,
}

impl DrawSource {
    /// Slots of the vertices of its first primitives, at most `most`, and the number of all of them.
    ///
    /// # Errors
    /// When the indices are in no buffer object.
    pub fn primitives(&self, memory: &Memory, most: u32) -> Result<(Vec<Vec<u32>>, u32)> {
        let DrawPrimitives {
            start,
            count,
            mode,
            indexed,
        } = self.command;
        let slots = match indexed {
            true => Slots::indexed(memory, &self.setup, self.indices, count, start)?,
            false => Slots::in_order(),
        };
        let all = geometry::count(mode, count);
        let of = |number: u32| {
            let (corners, corner_count) = geometry::corners(mode, count, number);
            corners[..corner_count]
                .iter()
                .map(|corner| slots.slot(*corner))
                .collect()
        };
        Ok(((0..all.min(most)).map(of).collect(), all))
    }
}

/// Edges of the viewport: left, right, top, bottom.
type Edges = [f32; 4];

/// What a run of vertices had.
struct Run {
    code: Vec<u32>,
    uniforms: Vec<f32>,
    source: VertexRun,
}

/// Bytes of a fragment program at most.
const MAX_FRAGMENT_BYTES: u32 = 1 << 14;

/// The draws of a geometry job's frame, in order.
///
/// # Errors
/// When a stream, a render state or a program is in no buffer object.
pub fn draws(memory: &Memory, frame: &[u32]) -> Result<Vec<DrawPrograms>> {
    let frame = GpFrame::from_words(frame);
    let runs = runs(memory, frame.vertex_start, frame.vertex_end)?;
    let mut commands = Commands::new(memory, frame.list_start, frame.list_end);
    let (mut draws, mut bound, mut edges) = (Vec::new(), None, Edges::default());
    let mut source = DrawSource::default();
    while let Some((address, words)) = commands.step()? {
        match ListCommand::decode(words) {
            ListCommand::ViewportLeft(left) => edges[0] = left.edge,
            ListCommand::ViewportRight(right) => edges[1] = right.edge,
            ListCommand::ViewportTop(top) => edges[2] = top.edge,
            ListCommand::ViewportBottom(bottom) => edges[3] = bottom.edge,
            ListCommand::BindState(bind) => bound = Some((bind.state, bind.positions.0)),
            ListCommand::PrimitiveSetup(setup) => source.setup = setup,
            ListCommand::Indices(indices) => source.indices = indices.address,
            // Everything behind the end is another stream's.
            ListCommand::End(_) => break,
            ListCommand::DrawPrimitives(command) => {
                let number = source.number;
                source.number += 1;
                let Some((state, positions)) = bound else { continue };
                let run = runs.get(&positions);
                draws.push(DrawPrograms {
                    vertex: run.map(|run| run.code.clone()),
                    fragment: fragment_program(memory, state)?,
                    viewport: run.and_then(|run| viewport(&run.uniforms, edges)),
                    source: DrawSource {
                        number,
                        address,
                        command,
                        state,
                        positions,
                        run: run.map(|run| run.source.clone()),
                        ..source.clone()
                    },
                });
            }
            _ => {}
        }
    }
    Ok(draws)
}

/// The vec4 that holds half the viewport's size, with its middle in the next one; a picture may have its rows turned.
fn viewport(uniforms: &[f32], [left, right, top, bottom]: Edges) -> Option<u32> {
    let (width, height) = ((right - left) / 2.0, (bottom - top) / 2.0);
    let middle = [left + width, top + height];
    let found = uniforms.as_chunks::<4>().0.windows(2).position(|pair| {
        let [scale, offset] = [pair[0], pair[1]];
        scale[0] == width && scale[1].abs() == height.abs() && offset[..2] == middle
    });
    found.map(|vec4| 4 * vec4 as u32)
}

/// The runs of vertices by where they put positions.
fn runs(memory: &Memory, start: u32, end: u32) -> Result<BTreeMap<u32, Run>> {
    let mut commands = Commands::new(memory, start, end);
    let (mut found, mut code, mut positions, mut uniforms) = (BTreeMap::new(), None, None, Vec::new());
    let mut source = VertexRun::default();
    while let Some((_, words)) = commands.step()? {
        match VertexCommand::decode(words) {
            VertexCommand::Program(at) => {
                code = Some((at.address, u32::from(at.instructions) * gp::WORDS as u32));
                source.program = at.address;
            }
            VertexCommand::Uniforms(at) => {
                let words = memory.words(at.address, u32::from(at.vec4s) * 4)?;
                uniforms = words.into_iter().map(f32::from_bits).collect();
                source.uniforms = (at.address, at.vec4s.into());
            }
            // Drivers announce attributes they do not have.
            VertexCommand::Attributes(at) => {
                source.attributes = specs(memory, at.address, at.words).unwrap_or_default()
            }
            VertexCommand::Outputs(at) => {
                source.outputs = specs(memory, at.address, at.words)?;
                let position = source.outputs.iter().find(|spec| spec.output() == OutputKind::Position);
                positions = position.map(|spec| spec.address);
            }
            VertexCommand::RunVertices(vertices) => {
                source.count = vertices.count;
                if let (Some((address, count)), Some(positions)) = (code, positions) {
                    let run = Run {
                        code: memory.words(address, count)?,
                        uniforms: uniforms.clone(),
                        source: source.clone(),
                    };
                    found.insert(positions, run);
                }
            }
            _ => {}
        }
    }
    Ok(found)
}

fn specs(memory: &Memory, address: u32, words: u16) -> Result<Vec<VertexSpec>> {
    let words = memory.words(address, u32::from(words & !1))?;
    Ok(words.chunks_exact(2).map(VertexSpec::from_words).collect())
}

fn fragment_program(memory: &Memory, address: u32) -> Result<Vec<u32>> {
    let state = State::read(memory, address)?;
    Ok(program(&super::state::words_at(memory, state.program, MAX_FRAGMENT_BYTES)).to_vec())
}
