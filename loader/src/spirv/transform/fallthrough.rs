//! Switches whose cases fall through into others, as such whose cases do not: a case has a copy of the one that it falls
//! into. For languages whose cases end where they end (WGSL).

use super::editor::{Editor, context, id_operands, opcode, rename, result, seal};
use crate::Result;
use crate::spirv::operand::Context;
use crate::spirv::{ModuleIndex, op};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;

/// Words that copies may take, all together; chains of cases grow with the square of their length.
const MOST_WORDS: usize = 1 << 20;

/// Words that may be looked at; each copy looks at the whole module.
const MOST_WORK: usize = 1 << 25;

/// The module without cases that fall through; the words unchanged where there is none, where copies would take too much
/// room, or where a value of such a case is used behind its switch other than by a phi.
///
/// # Errors
/// Invalid when the module does not walk.
pub fn apart(words: &[u32]) -> Result<Vec<u32>> {
    let index = ModuleIndex::new(words)?;
    if !index.bodies().any(|node| node.opcode == op::SWITCH) {
        return Ok(words.to_vec());
    }
    let context = context(&index);
    let mut module = Editor::new(&index)?;
    let mut room = MOST_WORDS;
    for _ in 0..(MOST_WORK / words.len()).max(1) {
        let flow = Flow::of(&module, &context);
        let Some(fall) = flow.fall() else {
            return Ok(module.words());
        };
        let taken = fall.into.blocks.iter().map(|at| flow.size(&module, *at)).sum();
        match room.checked_sub(taken) {
            Some(left) if flow.copy(&mut module, &fall, &context) => room = left,
            _ => return Ok(words.to_vec()),
        }
    }
    Ok(words.to_vec())
}

/// A block: its label, its instructions, where it leads.
struct Block {
    label: u32,
    range: Range<usize>,
    successors: Vec<u32>,
    merge: Option<u32>,
    is_switch: bool,
}

/// The blocks of all functions, in order.
struct Flow {
    blocks: Vec<Block>,
    at: HashMap<u32, usize>,
    /// Where a loop or a selection goes on, with the blocks that such begin with.
    ends: HashMap<u32, Vec<u32>>,
}

/// A case of a switch: its blocks, in order, and the case that it falls into.
struct Case {
    first: u32,
    blocks: BTreeSet<usize>,
    falls: Option<u32>,
}

/// A case that falls into another, which falls into none.
struct Fall {
    switch: u32,
    from: Case,
    into: Case,
}

impl Flow {
    fn of(module: &Editor, context: &Context) -> Self {
        let mut flow = Self {
            blocks: Vec::new(),
            at: HashMap::new(),
            ends: HashMap::new(),
        };
        let mut open: Option<Block> = None;
        for at in module.functions_start()..module.body.len() {
            let words = &module.body[at];
            if matches!(opcode(words), op::LABEL | op::FUNCTION_END) {
                flow.close(open.take(), at);
            }
            if opcode(words) == op::LABEL {
                open = Some(Block {
                    label: words[1],
                    range: at..at,
                    successors: Vec::new(),
                    merge: None,
                    is_switch: false,
                });
            }
            let Some(block) = &mut open else { continue };
            match opcode(words) {
                op::BRANCH => block.successors.push(words[1]),
                op::BRANCH_CONDITIONAL => block.successors.extend(&words[2..4]),
                op::SWITCH => {
                    block.is_switch = true;
                    block.successors.push(words[2]);
                    let literal = context.number(words[1]).words();
                    block
                        .successors
                        .extend(words[3..].iter().skip(literal).step_by(literal + 1));
                }
                op::SELECTION_MERGE => {
                    block.merge = Some(words[1]);
                    flow.ends.entry(words[1]).or_default().push(block.label);
                }
                op::LOOP_MERGE => {
                    for end in &words[1..3] {
                        flow.ends.entry(*end).or_default().push(block.label);
                    }
                }
                _ => {}
            }
        }
        flow
    }

    fn close(&mut self, block: Option<Block>, end: usize) {
        let Some(mut block) = block else { return };
        block.range.end = end;
        self.at.insert(block.label, self.blocks.len());
        self.blocks.push(block);
    }

    fn size(&self, module: &Editor, block: usize) -> usize {
        let range = self.blocks[block].range.clone();
        module.body[range].iter().map(Vec::len).sum()
    }

    /// The first case that falls into one that falls into none itself.
    fn fall(&self) -> Option<Fall> {
        self.blocks.iter().filter(|block| block.is_switch).find_map(|block| {
            let merge = block.merge?;
            let targets: HashSet<u32> = block.successors.iter().copied().filter(|to| *to != merge).collect();
            let cases = targets.iter().filter_map(|first| self.case(*first, merge, &targets));
            let cases: HashMap<u32, Case> = cases.map(|case| (case.first, case)).collect();
            // In the order of the switch, so that the same comes of the same module.
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

    /// What a case is made of; none where it leads out of what is around the switch, or into two others.
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

    /// Gives a case a copy of the one that it falls into. False where the copy would leave a value without its one place.
    fn copy(&self, module: &mut Editor, fall: &Fall, context: &Context) -> bool {
        let labels = |case: &Case| -> HashSet<u32> { case.blocks.iter().map(|at| self.blocks[*at].label).collect() };
        let (from, into) = (labels(&fall.from), labels(&fall.into));
        let range = |at: &usize| self.blocks[*at].range.clone();
        let originals: HashSet<usize> = fall.into.blocks.iter().flat_map(range).collect();
        let defined: Vec<u32> = fall
            .into
            .blocks
            .iter()
            .flat_map(range)
            .filter_map(|at| result(&module.body[at]))
            .collect();
        let ids: HashMap<u32, u32> = defined.into_iter().map(|id| (id, module.fresh())).collect();
        let start = module.functions_start();
        let escapes = (start..module.body.len())
            .filter(|at| !originals.contains(at))
            .any(|at| {
                let words = &module.body[at];
                let is_value = |id: &u32| ids.contains_key(id) && !into.contains(id);
                match opcode(words) {
                    op::PHI => words[3..]
                        .chunks_exact(2)
                        .any(|pair| is_value(&pair[0]) && !into.contains(&pair[1])),
                    _ => id_operands(words.as_slice()).any(|id| is_value(&id)),
                }
            });
        if escapes {
            return false;
        }
        // Whether a phi at the head of the case that is fallen into has a value from there.
        let copied = |parent: u32| from.contains(&parent);
        let mut copies = Vec::new();
        for at in fall.into.blocks.iter().flat_map(range) {
            let mut words = module.body[at].clone();
            if opcode(&words) == op::PHI && self.head(at) == Some(fall.into.first) {
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
                if self.head(at) == Some(fall.into.first) {
                    words = phi_of(&words, |parent| !copied(parent));
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

    /// The label of the block that an instruction is in.
    fn head(&self, at: usize) -> Option<u32> {
        let next = self.blocks.partition_point(|block| block.range.start <= at);
        let block = &self.blocks[next.checked_sub(1)?];
        block.range.contains(&at).then_some(block.label)
    }
}

/// A phi with the values of some of its parents.
fn phi_of(words: &[u32], is_kept: impl Fn(u32) -> bool) -> Vec<u32> {
    let mut kept = words[..3].to_vec();
    kept.extend(words[3..].chunks_exact(2).filter(|pair| is_kept(pair[1])).flatten());
    seal(kept)
}
