//! Blocks: targets, predecessors, dominance, merges.

use super::dominance::{Tree, immediate_dominators};
use super::graph::{Block, BlockMap, Edges};
use super::layout::is_terminator;
use super::{Checked, Item, reconvergence, structure};
use crate::spirv::{capability, op};
use std::ops::Range;

pub(super) fn check(module: &mut Checked<'_>) {
    let maximal = reconvergence::functions(module);
    let mut at = 0;
    while at < module.items.len() {
        if module.items[at].opcode() == op::FUNCTION {
            let end = (at..module.items.len())
                .find(|i| module.items[*i].opcode() == op::FUNCTION_END)
                .unwrap_or(module.items.len());
            function(module, at, end, maximal.contains(&module.items[at].result));
            at = end;
        }
        at += 1;
    }
}

/// Labels of a block's possible successors.
fn targets(item: &Item<'_>, words: &[u32], module: &Checked<'_>) -> Vec<u32> {
    match item.opcode() {
        op::BRANCH => vec![words[1]],
        op::BRANCH_CONDITIONAL => words[2..4].to_vec(),
        op::SWITCH => {
            let ty = module.def(module.type_of(words[1]));
            let step = ty.map_or(1, |t| t.word(2).div_ceil(32).max(1) as usize);
            let cases = words[3..].chunks_exact(step + 1).map(|pair| pair[step]);
            std::iter::once(words[2]).chain(cases).collect()
        }
        _ => Vec::new(),
    }
}

fn function(module: &mut Checked<'_>, start: usize, end: usize, maximal: bool) {
    let mut blocks: Vec<Block> = Vec::new();
    for at in start..end {
        let item = module.items[at];
        if item.opcode() == op::LABEL {
            blocks.push(Block {
                label: at,
                end: at,
                next: Vec::new(),
            });
        } else if is_terminator(item.opcode())
            && let Some(block) = blocks.last_mut()
        {
            block.end = at;
        }
    }
    let map = BlockMap::new(start..end, &blocks);
    let mut is_merge = vec![false; blocks.len()];
    let mut n = 0;
    while n < blocks.len() {
        let last = module.items[blocks[n].end];
        for target in targets(&last, last.words, module) {
            match map.labelled(module, target) {
                Some(0) => module.fail("branch-target", &last, "branches to the function's first block"),
                Some(next) => blocks[n].next.push(next),
                None => module.fail(
                    "branch-target",
                    &last,
                    format!("%{target} is not a block of this function"),
                ),
            }
        }
        let merge = module.items[blocks[n].end.saturating_sub(1)];
        let ids: &[u32] = match merge.opcode() {
            op::SELECTION_MERGE => &merge.words[1..2],
            op::LOOP_MERGE => &merge.words[1..3],
            _ => &[],
        };
        for (at, id) in ids.iter().enumerate() {
            match map.labelled(module, *id) {
                None => module.fail("merge-target", &merge, format!("%{id} is not a block of this function")),
                Some(block) if at == 0 && std::mem::replace(&mut is_merge[block], true) => {
                    let message = format!("%{id} is the merge block of another construct");
                    module.fail("merge-target", &merge, message);
                }
                Some(_) => {}
            }
        }
        if ids.len() == 2 && ids[0] == ids[1] || ids.first() == Some(&module.items[blocks[n].label].result) {
            module.fail("merge-target", &merge, "merge and continue blocks must differ");
        }
        let (late, targets) = (module.words[1] >= 0x10600, &blocks[n].next);
        if late && last.opcode() == op::BRANCH_CONDITIONAL && targets.len() == 2 && targets[0] == targets[1] {
            module.fail(
                "branch-target",
                &last,
                "the two targets must differ from version 1.6 on",
            );
        }
        if last.opcode() == op::SWITCH && ids.is_empty() && module.shader {
            module.fail("merge-missing", &last, "a switch needs a merge instruction");
        }
        n += 1;
    }
    if !module.report.is_valid() || blocks.is_empty() {
        return;
    }
    let dominators = immediate_dominators(blocks.len(), |n| &blocks[n].next);
    order(module, &blocks, &dominators);
    if module.shader {
        structure::check(module, &blocks, &map);
    }
    if maximal {
        reconvergence::check(module, &blocks, &map);
    }
    uses(module, &blocks, &dominators, &map, start..end);
}

/// A block follows the block that dominates it.
fn order(module: &mut Checked<'_>, blocks: &[Block], idom: &[usize]) {
    for (n, parent) in idom.iter().enumerate().filter(|(_, p)| **p != usize::MAX) {
        if *parent > n {
            let item = module.items[blocks[n].label];
            module.fail("block-order", &item, "precedes the block that dominates it");
        }
    }
}

/// Why an instruction may not use a value: an OpSampledImage result is used only in its block and only for sampling,
/// small numbers are only stored and converted. `here` if both are in one block.
fn unfit(module: &Checked<'_>, item: &Item<'_>, id: u32, here: bool) -> Option<&'static str> {
    let (name, of) = (item.name(), item.opcode());
    let ty = module.type_of(id);
    if module.opcode(id) == op::SAMPLED_IMAGE {
        let samples = name.starts_with("ImageSample") || name.starts_with("ImageSparseSample");
        let bindless = of == op::STORE && module.capabilities.contains(&capability::BINDLESS_TEXTURE_NV);
        let takes = samples
            || bindless
            || name.contains("Gather")
            || name.starts_with("Image") && name.ends_with("QCOM")
            || matches!(
                of,
                op::SAMPLED_IMAGE | op::IMAGE | op::IMAGE_QUERY_LOD | op::COPY_OBJECT
            );
        return match (here, takes) {
            (false, _) => Some("is used outside the block of its OpSampledImage"),
            (_, false) => Some("is a sampled image, which this instruction does not take"),
            _ => None,
        };
    }
    let passes = matches!(
        of,
        op::COPY_OBJECT | op::STORE | op::F_CONVERT | op::U_CONVERT | op::S_CONVERT
    );
    (!passes && module.limited(ty) && module.opcode(ty) != op::TYPE_POINTER)
        .then_some("is of 8 or 16 bits, which are only stored and converted without a capability")
}

/// Definitions dominate uses; phis list their predecessors.
fn uses(module: &mut Checked<'_>, blocks: &[Block], idom: &[usize], map: &BlockMap, function: Range<usize>) {
    let tree = Tree::new(idom);
    let before = (0..blocks.len()).flat_map(|n| blocks[n].next.iter().map(move |to| (*to, n)));
    let before = Edges::new(blocks.len(), before);
    for at in function.clone() {
        let item = module.items[at];
        let Some(block) = map.of(at) else { continue };
        if item.opcode() == op::PHI {
            let mut named: Vec<usize> = item
                .args()
                .chunks_exact(2)
                .filter_map(|pair| map.labelled(module, pair[1]))
                .collect();
            named.sort_unstable();
            // Already sorted; a branch may name a block twice.
            let expected = before.of(block).chunk_by(|a, b| a == b).map(|same| same[0]);
            if !named.iter().copied().eq(expected) {
                module.fail("phi", &item, "does not name each predecessor once");
            }
            for pair in item.args().chunks_exact(2) {
                if let Some(why) = unfit(module, &item, pair[0], true) {
                    module.fail("use", &item, format!("%{} {why}", pair[0]));
                }
                let [home, parent] = [map.defining(module, pair[0]), map.labelled(module, pair[1])];
                if let (Some(home), Some(parent)) = (home, parent)
                    && tree.reached(parent)
                    && !tree.dominates(home, parent)
                {
                    module.fail(
                        "dominance",
                        &item,
                        format!("%{} does not reach this phi from %{}", pair[0], pair[1]),
                    );
                }
            }
            continue;
        }
        if matches!(item.opcode(), op::LOOP_MERGE | op::SELECTION_MERGE | op::BRANCH) {
            continue;
        }
        for place in item.places() {
            let Some(id) = module.used_at(&item, place) else {
                continue;
            };
            let def = module.defs.get(id) as usize;
            let of = module.opcode(id);
            if of == op::LABEL || of == op::FUNCTION || def == 0 {
                continue;
            }
            let home = map.defining(module, id);
            let here = of != op::SAMPLED_IMAGE || home == Some(block);
            if let Some(why) = unfit(module, &item, id, here) {
                module.fail("use", &item, format!("%{id} {why}"));
            }
            if !function.contains(&(def - 1)) {
                if def > module.first_function {
                    module.fail("dominance", &item, format!("%{id} belongs to another function"));
                }
            } else if let Some(home) = home
                && tree.reached(block)
                && (!tree.dominates(home, block) || home == block && def > at)
            {
                module.fail(
                    "dominance",
                    &item,
                    format!("the definition of %{id} does not dominate this use"),
                );
            }
        }
    }
}
