//! Functions of entry points that reconverge maximally: where control flow may join.

use super::Checked;
use super::graph::{Block, BlockMap};
use crate::spirv::{mode, op};
use std::collections::{HashMap, HashSet};

/// The functions that entry points with the mode `MaximallyReconvergesKHR` reach.
pub(super) fn functions(module: &Checked<'_>) -> HashSet<u32> {
    let maximal =
        |item: &&super::Item| item.opcode() == op::EXECUTION_MODE && item.word(2) == mode::MAXIMALLY_RECONVERGES;
    let mut open: Vec<u32> = module.items.iter().filter(maximal).map(|item| item.word(1)).collect();
    let mut reached = HashSet::new();
    if open.is_empty() {
        return reached;
    }
    let mut calls: HashMap<u32, Vec<u32>> = HashMap::new();
    let mut function = 0;
    for item in &module.items {
        match item.opcode() {
            op::FUNCTION => function = item.result,
            op::FUNCTION_CALL => calls.entry(function).or_default().push(item.word(3)),
            _ => {}
        }
    }
    while let Some(function) = open.pop() {
        if reached.insert(function) {
            open.extend(calls.remove(&function).into_iter().flatten());
        }
    }
    reached
}

/// Checks one of these functions: the targets of a branch differ, and only headers of loops, targets of merge
/// instructions and cases of switches have several predecessors.
pub(super) fn check(module: &mut Checked<'_>, blocks: &[Block], map: &BlockMap) {
    // The only predecessor so far, and whether there are more.
    let mut before: Vec<(Option<usize>, bool)> = vec![(None, false); blocks.len()];
    let mut joins = vec![false; blocks.len()];
    for (n, block) in blocks.iter().enumerate() {
        let last = module.items[block.end];
        if last.opcode() == op::BRANCH_CONDITIONAL && last.word(2) == last.word(3) {
            module.fail("reconvergence", &last, "both ways of a branch lead to the same block");
        }
        for next in &block.next {
            let (only, more) = &mut before[*next];
            *more |= only.is_some_and(|only| only != n);
            *only = Some(n);
            joins[*next] |= last.opcode() == op::SWITCH;
        }
        let merge = module.items[block.end.saturating_sub(1)];
        let targets = match merge.opcode() {
            op::SELECTION_MERGE => &merge.words[1..2],
            op::LOOP_MERGE => {
                joins[n] = true;
                &merge.words[1..3]
            }
            _ => &[],
        };
        for target in targets.iter().filter_map(|id| map.labelled(module, *id)) {
            joins[target] = true;
        }
    }
    for (n, (_, more)) in before.iter().enumerate() {
        if *more && !joins[n] {
            let item = module.items[blocks[n].label];
            module.fail(
                "reconvergence",
                &item,
                "several blocks branch here, where nothing merges",
            );
        }
    }
}
