//! The fragment processor's back end: selection, packing, registers, machine words.

mod alloc;
mod encode;
mod encoder;
mod ends;
mod fetch;
mod group;
mod live;
mod node;
mod schedule;
mod select;
mod spill;
mod tidy;

use crate::edges;
use crate::error::{Error, Result};
use crate::interface::Interface;
use crate::ir::{Function, Span};
use crate::layout::Table;
use alloc::Outcome;
use schedule::Mode;
use utgard::debug::Assigned;
use utgard::pp::Instruction;

/// A fragment program.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// Machine words.
    pub words: Vec<u32>,
    /// The instructions they are.
    pub instructions: Vec<Instruction>,
    /// Places in the source of what each instruction does.
    pub spans: Vec<Vec<Span>>,
    /// The numbers that each instruction makes for local variables of the source.
    pub assigned: Vec<Vec<Assigned>>,
    /// Registers in use.
    pub registers: u32,
    /// Floats of temporaries.
    pub temporaries: u32,
    /// Stores and loads that spilling put in.
    pub spills: [u32; 2],
    /// Some fragments are discarded.
    pub discards: bool,
}

/// Rounds of spilling at most; each takes a cell out of registers.
const MAX_SPILLS: usize = 2000;

/// Operations that are packed at most, in all rounds together.
const MAX_WORK: usize = 200_000;

/// Compiles a program whose operations the units have.
///
/// # Errors
/// What has no place on the hardware, and budgets that are spent.
pub fn compile(
    function: &Function,
    interface: &Interface,
    uniforms: &Table,
    varyings: &Table,
    conservative: bool,
) -> Result<Program> {
    let mut function = function.clone();
    edges::split_critical(&mut function);
    let mut nodes = select::select(&function, interface, uniforms, varyings)?;
    tidy::dead(&mut nodes);
    tidy::widen(&mut nodes);
    tidy::coalesce(&mut nodes);
    tidy::attach(&mut nodes);
    tidy::move_biases(&mut nodes);
    let mut base = nodes;
    let mut done = node::CellSet::default();
    let mut work = 0;
    for round in 0..MAX_SPILLS {
        work += base.blocks.iter().map(|block| block.nodes.len()).sum::<usize>();
        if work > MAX_WORK {
            return Err(Error::limit(
                "a program that is too long for the number of values it keeps at once",
            ));
        }
        let mut nodes = base.clone();
        let classes = group::vectors(&mut nodes);
        // What scalars could not take along, vectors may.
        tidy::attach(&mut nodes);
        let graphs: Vec<_> = nodes.blocks.iter().map(|block| schedule::graph(&block.nodes)).collect();
        let out = live::live_out(&nodes);
        let mut full = Vec::new();
        for in_order in [false, true] {
            let mode = Mode { in_order, conservative };
            let blocks = nodes.blocks.iter().zip(&graphs);
            let schedule: Vec<_> = blocks
                .map(|(block, graph)| schedule::pack(block, graph, mode))
                .collect();
            let forwarded = alloc::forwarded(&nodes, &schedule, &out);
            match alloc::allocate(&nodes, &classes, &schedule, &out, &forwarded.cells) {
                Outcome::Done(places) => {
                    let registers = places.values().map(|(register, _)| u32::from(*register) + 1).max();
                    forwarded.swap(&mut nodes);
                    let encoded = encode::encode(&nodes, &schedule, &places, &forwarded.cells)?;
                    return Ok(Program {
                        words: encoded.words,
                        instructions: encoded.instructions,
                        spans: encoded.spans,
                        assigned: encoded.assigned,
                        registers: registers.unwrap_or(0),
                        temporaries: nodes.temporaries,
                        spills: nodes.spills,
                        discards: nodes.blocks.iter().any(|block| block.end == node::End::Discard),
                    });
                }
                Outcome::Full(cells) => full = cells,
            }
        }
        full.retain(|cell| *cell < base.cells);
        // More at once as it goes on: long programs need many.
        spill::spill(&mut base, &full, round / 4 + 1, &mut done);
        if full.is_empty() {
            break;
        }
    }
    Err(Error::limit("a program whose numbers find no registers"))
}
