//! What the programs of a recorded draw are given: vertices, attributes and uniforms.

use super::DrawPrograms;
use crate::fault::Result;
use crate::gpu::binning::slots::Slots;
use crate::gpu::gp::vertex;
use crate::gpu::notes::Notes;
use crate::gpu::pp::scene;
use crate::gpu::state::State;
use crate::memory::Memory;
use utgard::stream::{OutputKind, PrimitiveMode, VertexSpec};

/// Most inputs of vertices that are kept, of all attributes together.
const MAX_VALUES: usize = 1 << 20;
/// Attributes, and outputs, of a vertex program.
const MAX_SPECS: usize = 16;

/// What the programs of a draw are given.
#[derive(Clone, Debug, PartialEq)]
pub struct Given {
    /// What the vertices are put together to.
    pub mode: PrimitiveMode,
    /// Numbers of the vertices, in order.
    pub vertices: Vec<u32>,
    /// The vertex program's inputs by number, for every vertex that ran.
    pub attributes: Vec<Vec<[f32; 4]>>,
    /// What each of the vertex program's outputs is, by number.
    pub outputs: Vec<OutputKind>,
    /// Floats of the vertex program's uniforms.
    pub vertex_uniforms: Vec<f32>,
    /// Floats of the fragment program's uniforms.
    pub fragment_uniforms: Vec<f32>,
}

/// What a draw's programs are given; none where its positions come of no program of the job.
///
/// # Errors
/// When indices, uniforms or the render state are in no buffer object.
pub fn given(memory: &Memory, draw: &DrawPrograms) -> Result<Option<Given>> {
    let source = &draw.source;
    let Some(run) = &source.run else { return Ok(None) };
    let (command, count) = (&source.command, source.command.count);
    let vertices = match command.indexed {
        true => {
            let slots = Slots::indexed(memory, &source.setup, source.indices, count, command.start)?;
            (0..slots.count()).map(|number| slots.slot(number)).collect()
        }
        false => (0..count.min(run.count)).collect(),
    };
    let attributes = &run.attributes[..run.attributes.len().min(MAX_SPECS)];
    let kept = (MAX_VALUES / attributes.len().max(1)).min(run.count as usize) as u32;
    let values = |spec: &VertexSpec| {
        let value = |number| vertex::value(memory, spec, number).unwrap_or([0.0, 0.0, 0.0, 1.0]);
        (0..kept).map(value).collect()
    };
    let (uniforms, vec4s) = run.uniforms;
    let words = memory.words(uniforms, 4 * vec4s)?;
    let state = State::read(memory, source.state)?;
    Ok(Some(Given {
        mode: command.mode,
        vertices,
        attributes: attributes.iter().map(values).collect(),
        outputs: run.outputs.iter().take(MAX_SPECS).map(VertexSpec::output).collect(),
        vertex_uniforms: words.into_iter().map(f32::from_bits).collect(),
        fragment_uniforms: scene::uniforms(memory, &state, &mut Notes::default()),
    }))
}
