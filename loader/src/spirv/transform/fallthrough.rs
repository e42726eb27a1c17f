//! Switches whose cases fall through into others, as switches whose cases do not: each has a copy of the case that it
//! falls into. For languages without fall-through (WGSL).

use super::demote;
use super::editor::{Editor, context, opcode, rename, result, seal};
use super::flow::Flow;
use crate::Result;
use crate::spirv::operand::Context;
use crate::spirv::{ModuleIndex, op};
use std::collections::{BTreeSet, HashMap, HashSet};

/// Limit on copied words, over all copies; chains of cases grow with the square of their length.
const MAX_WORDS: usize = 1 << 20;

/// Limit on words that are looked at; each copy looks at the whole module.
const MAX_WORK: usize = 1 << 22;

/// The module without cases that fall through. It is unchanged if there is none, if the copies are too long, or if a
/// pointer or a texture of such a case is used outside of it.
///
/// # Errors
/// Invalid for a broken module.
pub fn without_fallthrough(words: &[u32]) -> Result<Vec<u32>> {
    let index = ModuleIndex::new(words)?;
    if !index.bodies().any(|node| node.opcode == op::SWITCH) {
        return Ok(words.to_vec());
    }
    let context = context(&index);
    let mut module = Editor::new(&index)?;
    let (mut room, mut stored) = (MAX_WORDS, false);
    for _ in 0..(MAX_WORK / words.len()).max(1) {
        let flow = Flow::of(&module, &context);
        let Some(fall) = flow.fall() else {
            return Ok(module.words());
        };
        let into = fall.into.labels(&flow);
        let values = demote::escaping(&module, &flow, &context, &into);
        if !values.is_empty() {
            if stored || !demote::through_memory(&index, &mut module, &flow, &context, &values, &into) {
                return Ok(words.to_vec());
            }
            stored = true;
            continue;
        }
        stored = false;
        let taken = fall.into.blocks.iter().map(|at| flow.size(&module, *at)).sum();
        match room.checked_sub(taken) {
            Some(left) if flow.copy(&mut module, &fall, &context) => room = left,
            _ => return Ok(words.to_vec()),
        }
    }
    Ok(words.to_vec())
}

/// A case of a switch: its blocks in order, and the case that it falls into.
struct Case {
    first: u32,
    blocks: BTreeSet<usize>,
    falls: Option<u32>,
}

impl Case {
    fn labels(&self, flow: &Flow) -> HashSet<u32> {
        self.blocks.iter().map(|at| flow.blocks[*at].label).collect()
    }
}

/// A case that falls into another, which does not fall into any.
struct Fall {
    switch: u32,
    from: Case,
    into: Case,
}

impl Flow {
    /// The first case that falls into one that does not fall into any.
    fn fall(&self) -> Option<Fall> {
        self.blocks.iter().filter(|block| block.is_switch).find_map(|block| {
            let merge = block.merge?;
            let targets: HashSet<u32> = block.successors.iter().copied().filter(|to| *to != merge).collect();
            let cases = targets.iter().filter_map(|first| self.case(*first, merge, &targets));
            let cases: HashMap<u32, Case> = cases.map(|case| (case.first, case)).collect();
            // In the order of the switch, so that the output is deterministic.
            let falls = |first: &u32| cases.get(cases.get(first)?.falls.as_ref()?);
            let first = block
                .successors
                .iter()
                .find(|first| falls(first).is_some_and(|into| into.falls.is_none()))?;
            let mut cases = cases;
            let from = cases.remove(first)?;
            let into = cases.remove(from.falls.as_ref()?)?;
            Some(Fall {
                switch: block.label,
                from,
                into,
            })
        })
    }

    /// The blocks of a case; `None` if it leaves the constructs around the switch at once, or falls into two others.
    fn case(&self, first: u32, merge: u32, targets: &HashSet<u32>) -> Option<Case> {
        let mut inside = HashSet::from([first]);
        let leaves = |to: u32, inside: &HashSet<u32>| {
            let mut heads = self.ends.get(&to).into_iter().flatten();
            heads.any(|head| !inside.contains(head))
        };
        if leaves(first, &HashSet::new()) {
            return None;
        }
        let (mut open, mut falls) = (vec![first], None);
        let mut blocks = BTreeSet::new();
        while let Some(label) = open.pop() {
            let at = *self.at.get(&label)?;
            blocks.insert(at);
            for to in self.blocks[at].successors.iter().copied() {
                if to == merge || leaves(to, &inside) {
                    continue;
                }
                if to != first && targets.contains(&to) {
                    if falls.replace(to).is_some_and(|other| other != to) {
                        return None;
                    }
                } else if inside.insert(to) {
                    open.push(to);
                }
            }
        }
        Some(Case { first, blocks, falls })
    }

    /// Gives a case a copy of the one that it falls into, whose values no other block uses.
    fn copy(&self, module: &mut Editor, fall: &Fall, context: &Context) -> bool {
        let (from, into) = (fall.from.labels(self), fall.into.labels(self));
        let range = |at: &usize| self.blocks[*at].range.clone();
        let originals: BTreeSet<usize> = fall.into.blocks.iter().flat_map(range).collect();
        let defined: Vec<u32> = originals.iter().filter_map(|at| result(&module.body[*at])).collect();
        let ids: HashMap<u32, u32> = defined.into_iter().map(|id| (id, module.fresh())).collect();
        let mut copies = Vec::new();
        for at in fall.into.blocks.iter().flat_map(range) {
            let mut words = module.body[at].clone();
            if opcode(&words) == op::PHI && self.block(at).is_some_and(|block| block.label == fall.into.first) {
                words = phi_of(&words, |parent| parent != fall.switch);
            }
            rename(&mut words, &ids, context);
            copies.push(words);
        }
        let led: HashMap<u32, u32> = HashMap::from([(fall.into.first, ids[&fall.into.first])]);
        let falls = |at: &&usize| self.blocks[**at].successors.contains(&fall.into.first);
        let Some(behind) = fall.from.blocks.iter().rev().find(falls).map(|at| range(at).end) else {
            return false;
        };
        let old = std::mem::take(&mut module.body);
        let inside: HashSet<usize> = fall.from.blocks.iter().flat_map(range).collect();
        let mut body = Vec::with_capacity(old.len() + copies.len());
        for (at, mut words) in old.into_iter().enumerate() {
            if at == behind {
                body.append(&mut copies);
            }
            if inside.contains(&at) {
                rename(&mut words, &led, context);
            } else if opcode(&words) == op::PHI && originals.contains(&at) {
                if self.block(at).is_some_and(|block| block.label == fall.into.first) {
                    words = phi_of(&words, |parent| !from.contains(&parent));
                }
            } else if opcode(&words) == op::PHI {
                let more: Vec<u32> = words[3..]
                    .chunks_exact(2)
                    .filter(|pair| into.contains(&pair[1]))
                    .flat_map(|pair| [*ids.get(&pair[0]).unwrap_or(&pair[0]), ids[&pair[1]]])
                    .collect();
                words.extend(more);
                words = seal(words);
            }
            body.push(words);
        }
        module.body = body;
        let mut pairs: Vec<(u32, u32)> = ids.into_iter().collect();
        pairs.sort_unstable();
        module.describe_copies(&pairs);
        true
    }
}

/// A phi with the values of some of its parents.
fn phi_of(words: &[u32], is_kept: impl Fn(u32) -> bool) -> Vec<u32> {
    let mut kept = words[..3].to_vec();
    kept.extend(words[3..].chunks_exact(2).filter(|pair| is_kept(pair[1])).flatten());
    seal(kept)
}
