//! A batch of vertices through a GP program.

use super::alu::{CONSTANT_ROWS, Machine, Operand};
use super::groups::Groups;
use super::lanes::{LANES, Mask, Row};
use super::vertex_code::{VertexCode, row};
use crate::exec::scalar::Scalar;
use crate::exec::{BUDGET, Engine, VertexBatch};
use crate::fault::{Fault, FaultKind, Result};
use crate::simd::{Found, dispatch};
use num::lanes::QuadLanes;
use std::cell::RefCell;
use utgard::pp::Condition;

thread_local! {
    /// Rows of the thread's last batch.
    static ROWS: RefCell<Vec<Row>> = const { RefCell::new(Vec::new()) };
}

/// Runs a batch, a row of lanes at a time. Programs whose lanes have addresses of their own go one by one.
pub(super) fn run(found: Found, batch: &mut VertexBatch<'_>) -> Result<()> {
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
                dispatch!(execute(machine: &mut Machine<'_>, code: &VertexCode, lanes: usize) -> Result<u64>, found)?;
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
        let four = four(rows, first);
        if attribute < count {
            apart(four, attributes[attribute..].iter().step_by(count).take(lanes));
        } else {
            apart(four, std::iter::repeat_n(&[0.0, 0.0, 0.0, 1.0], lanes));
        }
    }
}

/// Four rows.
fn four(rows: &mut [Row], first: usize) -> &mut [Row; 4] {
    (&mut rows[first..first + 4]).try_into().expect("four rows")
}

/// Vec4s, a lane each, into a row for every component.
#[inline]
fn apart<'a>([x, y, z, w]: &mut [Row; 4], values: impl Iterator<Item = &'a [f32; 4]>) {
    let lanes = x.iter_mut().zip(y.iter_mut()).zip(z.iter_mut().zip(w.iter_mut()));
    for (((x, y), (z, w)), value) in lanes.zip(values) {
        [*x, *y, *z, *w] = *value;
    }
}

fn outputs_in(rows: &mut [Row], outputs: &[[f32; 4]], count: usize, lanes: usize) {
    for output in 0..count.min(16) {
        let four = four(rows, usize::from(row::OUTPUTS) + 4 * output);
        apart(four, outputs[output..].iter().step_by(count).take(lanes));
    }
}

fn outputs_out(rows: &mut [Row], outputs: &mut [[f32; 4]], count: usize, lanes: usize) {
    for output in 0..count.min(16) {
        let [x, y, z, w] = four(rows, usize::from(row::OUTPUTS) + 4 * output);
        let rows = x.iter().zip(y.iter()).zip(z.iter().zip(w.iter()));
        let outputs = outputs[output..].iter_mut().step_by(count).take(lanes);
        for (((x, y), (z, w)), value) in rows.zip(outputs) {
            *value = [*x, *y, *z, *w];
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
                let zero = machine.compare::<L>(condition, &Operand::value(0.0), Condition::Eq);
                groups.put(*target, group.lanes & !zero);
                groups.put(group.at + 1, group.lanes & zero);
            }
            None => groups.put(group.at + 1, group.lanes),
        }
    }
    Ok(instructions)
}
