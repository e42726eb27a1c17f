//! Switches that a branch leaves for the end of the loop around them, as switches that end at their merge block, where
//! the loop is left. For languages whose `break` in a switch leaves the switch (WGSL, and naga's reader).

use super::declarations::Declarations;
use super::demote;
use super::editor::{Editor, build, context, opcode, seal};
use super::flow::{Flow, targets};
use crate::Result;
use crate::spirv::operand::Context;
use crate::spirv::{ModuleIndex, op};
use std::collections::{BTreeSet, HashMap, HashSet};

/// Limit on words that are looked at; each change looks at the whole module.
const MAX_WORK: usize = 1 << 22;

/// The module with every branch out of a switch to the merge block of a loop led through the switch's merge block. It
/// is unchanged if there is none, and keeps those where a pointer or a texture of a case is used outside of the switch.
///
/// # Errors
/// Invalid for a broken module.
pub fn leave_at_merges(words: &[u32]) -> Result<Vec<u32>> {
    let switches = ModuleIndex::new(words)?
        .bodies()
        .filter(|node| node.opcode == op::SWITCH)
        .count();
    if switches == 0 {
        return Ok(words.to_vec());
    }
    let mut current = words.to_vec();
    // A switch is changed twice at most: its values are stored, and its branches are led to the merge block.
    for _ in 0..(2 * switches).min(MAX_WORK / words.len() + 1) {
        match step(&current)? {
            Some(next) => current = next,
            None => break,
        }
    }
    Ok(current)
}

/// A switch with branches to the merge block of the loop around it.
struct Left {
    head: u32,
    merge: u32,
    /// The loop's merge block.
    loop_merge: u32,
    /// The blocks of its cases.
    inside: HashSet<u32>,
}

/// The next change of the module, if any.
fn step(words: &[u32]) -> Result<Option<Vec<u32>>> {
    let index = ModuleIndex::new(words)?;
    let context = context(&index);
    let mut module = Editor::new(&index)?;
    let flow = Flow::of(&module, &context);
    let Some(left) = flow
        .blocks
        .iter()
        .filter_map(|block| flow.left(block.label))
        .min_by_key(|left| left.inside.len())
    else {
        return Ok(None);
    };
    let values = demote::escaping(&module, &flow, &context, &left.inside);
    let done = match values.is_empty() {
        true => left.close(&index, &mut module, &flow, &context),
        false => demote::through_memory(&index, &mut module, &flow, &context, &values, &left.inside),
    };
    Ok(done.then(|| module.words()))
}

impl Flow {
    /// The switch that a block ends with, if branches of its cases leave the loop around it.
    fn left(&self, head: u32) -> Option<Left> {
        let block = &self.blocks[self.at[&head]];
        let merge = block.merge.filter(|_| block.is_switch)?;
        let (mut inside, mut open, mut loop_merge) = (HashSet::new(), vec![head], None);
        while let Some(label) = open.pop() {
            for to in &self.blocks[*self.at.get(&label)?].successors {
                let leaves = |ends: &HashMap<u32, u32>| ends.get(to).is_some_and(|of| !inside.contains(of));
                if *to == merge || *to == head || leaves(&self.loop_continues) {
                    continue;
                }
                if leaves(&self.loop_merges) {
                    if loop_merge.replace(*to).is_some_and(|other| other != *to) {
                        return None;
                    }
                } else if inside.insert(*to) {
                    open.push(*to);
                }
            }
        }
        Some(Left {
            head,
            merge,
            loop_merge: loop_merge?,
            inside,
        })
    }
}

impl Left {
    /// Leads all branches that leave the switch to a new merge block: one to the old one, or to the end of the loop.
    fn close(&self, index: &ModuleIndex, module: &mut Editor, flow: &Flow, context: &Context) -> bool {
        let leads = |to: u32| {
            let from = flow.blocks.iter().filter(move |block| block.successors.contains(&to));
            let from = from.filter(|block| block.label == self.head || self.inside.contains(&block.label));
            from.map(|block| block.label).collect::<BTreeSet<u32>>()
        };
        let (stay, mut leave) = (leads(self.merge), leads(self.loop_merge));
        // A switch has branches to both; a block of its own tells those to the loop's end apart.
        let step = leave.remove(&self.head).then(|| module.fresh());
        leave.extend(step);
        let is_both = |label: &u32| stay.contains(label) && leave.contains(label);
        let mut added = Declarations::of(index, module);
        let boolean = added.boolean(module);
        let [yes, no] = [true, false].map(|value| added.truth(module, value));
        let (new, condition) = (module.fresh(), module.fresh());
        let mut is_leaving: HashMap<u32, u32> = HashMap::new();
        let mut phis = Vec::new();
        let old = std::mem::take(&mut module.body);
        let mut body: Vec<Vec<u32>> = Vec::with_capacity(old.len() + 16);
        for (at, mut words) in old.into_iter().enumerate() {
            let Some(block) = flow.block(at) else {
                body.push(words);
                continue;
            };
            let label = block.label;
            if opcode(&words) == op::PHI && label == self.merge {
                words = self.phi(module, &words, [&stay, &leave], (step, new), &mut phis, &mut added);
            } else if opcode(&words) == op::PHI && label == self.loop_merge {
                words = self.phi(module, &words, [&leave, &stay], (step, new), &mut phis, &mut added);
            } else if label == self.head || self.inside.contains(&label) {
                let own = |to: u32| match to {
                    to if to == self.merge => new,
                    to if to == self.loop_merge => step.filter(|_| label == self.head).unwrap_or(new),
                    to => to,
                };
                match opcode(&words) {
                    op::BRANCH => words[1] = own(words[1]),
                    op::SELECTION_MERGE => words[1] = own(words[1]),
                    op::SWITCH => {
                        targets(&words.clone(), context).for_each(|target| words[target] = own(words[target]))
                    }
                    op::BRANCH_CONDITIONAL => {
                        if is_both(&label) {
                            let negates = words[2] == self.merge;
                            let id = if negates { module.fresh() } else { words[1] };
                            if negates {
                                insert_ahead(&mut body, build(op::LOGICAL_NOT, &[boolean, id, words[1]]));
                            }
                            is_leaving.insert(label, id);
                        }
                        words[2] = own(words[2]);
                        words[3] = own(words[3]);
                        if words[2] == words[3] {
                            let merges = |words: &Vec<u32>| opcode(words) == op::SELECTION_MERGE;
                            body.pop_if(|words| merges(words));
                            words = build(op::BRANCH, &[words[2]]);
                        }
                    }
                    _ => {}
                }
            }
            body.push(words);
        }
        let all: BTreeSet<u32> = stay.union(&leave).copied().collect();
        let mut choice = vec![boolean, condition];
        for label in &all {
            let known = if leave.contains(label) { yes } else { no };
            choice.extend([*is_leaving.get(label).unwrap_or(&known), *label]);
        }
        let mut block = vec![build(op::LABEL, &[new]), build(op::PHI, &choice)];
        block.append(&mut phis);
        block.push(build(op::SELECTION_MERGE, &[self.merge, 0]));
        block.push(build(op::BRANCH_CONDITIONAL, &[condition, self.loop_merge, self.merge]));
        let label_at = |body: &[Vec<u32>], label: u32| {
            body.iter()
                .position(|words| words[..] == build(op::LABEL, &[label])[..])
        };
        let Some(mut at) = label_at(&body, self.merge) else {
            return false;
        };
        // A block that the loop's end is reached from by the new one only may stand ahead of the merge block.
        let others = flow
            .blocks
            .iter()
            .filter(|block| !all.contains(&block.label) && block.label != self.head);
        if !others
            .flat_map(|block| &block.successors)
            .any(|to| *to == self.loop_merge)
        {
            at = at.min(label_at(&body, self.loop_merge).unwrap_or(at));
        }
        body.splice(at..at, block);
        if let Some(step) = step {
            let next = label_at(&body, self.head).map(|head| head + 1).unwrap_or(at);
            let end = body[next..]
                .iter()
                .position(|words| matches!(opcode(words), op::LABEL | op::FUNCTION_END));
            let at = next + end.unwrap_or(0);
            body.splice(at..at, [build(op::LABEL, &[step]), build(op::BRANCH, &[new])]);
        }
        module.body = body;
        added.insert(module);
        true
    }

    /// A phi of a block that the switch led to, with one value of the new block's instead of those from `own` blocks; the
    /// new block gets a phi of these.
    fn phi(
        &self,
        module: &mut Editor,
        words: &[u32],
        [own, other]: [&BTreeSet<u32>; 2],
        (step, new): (Option<u32>, u32),
        phis: &mut Vec<Vec<u32>>,
        added: &mut Declarations,
    ) -> Vec<u32> {
        let ty = words[1];
        let id = module.fresh();
        let (mut inner, mut outer) = (vec![ty, id], words[..3].to_vec());
        for pair in words[3..].chunks_exact(2) {
            let parent = match step {
                Some(step) if pair[1] == self.head && own.contains(&step) => step,
                _ => pair[1],
            };
            match own.contains(&parent) {
                true => inner.extend([pair[0], parent]),
                false => outer.extend(pair),
            }
        }
        for label in other.difference(own) {
            inner.extend([added.undefined(module, ty), *label]);
        }
        phis.push(build(op::PHI, &inner));
        outer.extend([id, new]);
        seal(outer)
    }
}

/// Puts an instruction ahead of a merge instruction that is the last one.
fn insert_ahead(body: &mut Vec<Vec<u32>>, words: Vec<u32>) {
    let merges = body.last().is_some_and(|last| opcode(last) == op::SELECTION_MERGE);
    body.insert(body.len() - usize::from(merges), words);
}
