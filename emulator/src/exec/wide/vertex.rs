//! A batch of vertices through a GP program.

use super::alu::{CONSTANT_ROWS, Machine, Operand};
use super::groups::Groups;
use super::region::VertexRegions;
use super::vertex_code::{VertexCode, row};
use crate::exec::lanes::{LANES, Mask, Row};
use crate::exec::scalar::Scalar;
use crate::exec::{BUDGET, Engine, VertexBatch};
use crate::fault::{Fault, FaultKind, Result};
use crate::simd::{Found, dispatch};
use num::lanes::QuadLanes;
use utgard::pp::Condition;

/// Runs a batch, with what the native engine made of the program, where there is that. Programs whose lanes have
/// addresses of their own go one by one.
pub(in crate::exec) fn run(found: Found, batch: &mut VertexBatch<'_>, regions: Option<&VertexRegions>) -> Result<()> {
    let Some(code) = batch.program.wide() else {
        return Scalar.vertices(batch);
    };
    let lanes = batch.vertices.min(LANES);
    if lanes == 0 {
        return Ok(());
    }
    let rows = batch.rows.machine(row::COUNT + CONSTANT_ROWS, code.attributes);
    for row in &code.clear {
        rows[usize::from(*row)] = Row::splat(0.0);
    }
    let machine = &mut Machine {
        rows,
        uniforms: batch.uniforms.as_flattened(),
        lanes: lanes.next_multiple_of(if regions.is_some() { 32 } else { 16 }),
    };
    batch.instructions += dispatch!(
        execute(
            machine: &mut Machine<'_>,
            code: &VertexCode,
            regions: Option<&VertexRegions>,
            lanes: usize,
        ) -> Result<u64>,
        found,
        256
    )?;
    Ok(())
}

/// Runs the lanes; how many instructions they did, each for itself.
#[inline(always)]
fn execute<L: QuadLanes>(
    machine: &mut Machine<'_>,
    code: &VertexCode,
    regions: Option<&VertexRegions>,
    lanes: usize,
) -> Result<u64> {
    let mut instructions = 0;
    let all = Mask::MAX >> (LANES - lanes);
    let mut groups = Groups::new(all);
    let mut budget = BUDGET;
    while let Some(group) = groups.take(|at| at as u32) {
        let Some(step) = code.steps.get(group.at) else { continue };
        // Near the end of the budget instructions go one by one, so that the fault names the right one.
        let region = regions.and_then(|regions| regions.get(group.at)?.as_ref());
        let region = region.filter(|region| budget > region.steps);
        let mask = (group.lanes != all).then_some(group.lanes);
        let (last, steps) = match region.filter(|region| region.code.run(machine, mask)) {
            Some(region) => (region.last, region.steps),
            None => (group.at, 0),
        };
        budget -= steps.max(1);
        if budget == 0 {
            return Err(Fault::new(FaultKind::Budget, "a vertex does not come to its end").pc(group.at as u32));
        }
        instructions += u64::from(steps.max(1)) * u64::from(group.lanes.count_ones());
        if steps == 0 {
            for alu in &step.ops {
                machine.run::<L>(alu, group.lanes);
            }
        }
        let step = &code.steps[last];
        if let Some(fault) = &step.fault {
            return Err(Fault::new(FaultKind::Program, fault.clone()).pc(last as u32));
        }
        match &step.branch {
            Some((condition, target)) => {
                let zero = machine.compare::<L>(condition, &Operand::value(0.0), Condition::Eq);
                groups.put(*target, group.lanes & !zero);
                groups.put(last + 1, group.lanes & zero);
            }
            None => groups.put(last + 1, group.lanes),
        }
    }
    Ok(instructions)
}
