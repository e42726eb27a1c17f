//! A batch of vertices through a GP program.

use super::alu::{CONSTANT_ROWS, Machine, Operand};
use super::vertex_code::{VertexCode, row};
use super::{Groups, LANES, Mask, Row};
use crate::exec::scalar::Scalar;
use crate::exec::{BUDGET, Engine, VertexBatch};
use crate::gpu::fault::{Fault, FaultKind, Result};
use crate::simd::{Level, dispatch};
use num::lanes::QuadLanes;
use std::cell::RefCell;

thread_local! {
    /// Rows of the thread's last batch.
    static ROWS: RefCell<Vec<Row>> = const { RefCell::new(Vec::new()) };
}

/// Runs a batch, a row of lanes at a time. Programs whose lanes have addresses of their own go one by one.
pub(super) fn run(level: Level, batch: &mut VertexBatch<'_>) -> Result<()> {
    let code = batch
        .program
        .wide
        .get_or_init(|| VertexCode::new(&batch.program.instructions));
    let Some(code) = code else {
        return Scalar.vertices(batch);
    };
    let attributes = batch.attributes.chunks(LANES * batch.attribute_count.max(1));
    let outputs = batch.outputs.chunks_mut(LANES * batch.output_count.max(1));
    ROWS.with_borrow_mut(|rows| {
        rows.resize(row::COUNT + CONSTANT_ROWS, Row::splat(0.0));
        for (attributes, outputs) in attributes.zip(outputs) {
            let lanes = attributes.len() / batch.attribute_count.max(1);
            gather(rows, code, attributes, batch.attribute_count.max(1), lanes);
            outputs_in(rows, outputs, batch.output_count.max(1), lanes);
            let machine = &mut Machine {
                rows,
                uniforms: batch.uniforms.as_flattened(),
                lanes: lanes.next_multiple_of(16),
            };
            let ran =
                dispatch!(execute(machine: &mut Machine<'_>, code: &VertexCode, lanes: usize) -> Result<u64>, level)?;
            batch.instructions += ran;
            outputs_out(rows, outputs, batch.output_count.max(1), lanes);
        }
        Ok(())
    })
}

/// Attributes into rows; what a vertex does not have is 0, 0, 0, 1.
fn gather(rows: &mut [Row], code: &VertexCode, attributes: &[[f32; 4]], count: usize, lanes: usize) {
    for row in &code.clear {
        rows[usize::from(*row)] = Row::splat(0.0);
    }
    for attribute in (0..16).filter(|attribute| code.attributes >> attribute & 1 == 1) {
        let first = usize::from(row::ATTRIBUTES) + 4 * attribute;
        for lane in 0..lanes {
            let value = if attribute < count {
                attributes[lane * count + attribute]
            } else {
                [0.0, 0.0, 0.0, 1.0]
            };
            for (component, value) in value.into_iter().enumerate() {
                rows[first + component][lane] = value;
            }
        }
    }
}

fn outputs_in(rows: &mut [Row], outputs: &[[f32; 4]], count: usize, lanes: usize) {
    for (output, component) in (0..count.min(16)).flat_map(|output| (0..4).map(move |component| (output, component))) {
        let row = &mut rows[usize::from(row::OUTPUTS) + 4 * output + component];
        for (lane, value) in row.iter_mut().enumerate().take(lanes) {
            *value = outputs[lane * count + output][component];
        }
    }
}

fn outputs_out(rows: &[Row], outputs: &mut [[f32; 4]], count: usize, lanes: usize) {
    for output in 0..count.min(16) {
        let first = usize::from(row::OUTPUTS) + 4 * output;
        for lane in 0..lanes {
            outputs[lane * count + output] = std::array::from_fn(|component| rows[first + component][lane]);
        }
    }
}

/// Runs the lanes; how many instructions they did, each for itself.
#[inline(always)]
fn execute<L: QuadLanes>(machine: &mut Machine<'_>, code: &VertexCode, lanes: usize) -> Result<u64> {
    let mut instructions = 0;
    let mut groups = Groups::new(Mask::MAX >> (LANES - lanes));
    let mut budget = BUDGET;
    while let Some(group) = groups.take(|at| at as u32) {
        let Some(step) = code.steps.get(group.at) else { continue };
        budget -= 1;
        if budget == 0 {
            return Err(Fault::new(FaultKind::Budget, "a vertex does not come to its end").pc(group.at as u32));
        }
        instructions += u64::from(group.lanes.count_ones());
        for alu in &step.ops {
            machine.run::<L>(alu, group.lanes);
        }
        if let Some(fault) = &step.fault {
            return Err(Fault::new(FaultKind::Program, fault.clone()).pc(group.at as u32));
        }
        match &step.branch {
            Some((condition, target)) => {
                let zero = machine.compare::<L>(condition, &Operand::value(0.0), 2);
                groups.put(*target, group.lanes & !zero);
                groups.put(group.at + 1, group.lanes & zero);
            }
            None => groups.put(group.at + 1, group.lanes),
        }
    }
    Ok(instructions)
}
