//! Structured control flow: constructs, their exits and entries, the order of switch cases.
//!
//! The rules of "Structured Control Flow" over the structural graph, in which a header also leads to its merge and
//! continue blocks.

use super::dominance::{Tree, immediate_dominators};
use super::graph::{Block, BlockMap, Edges};
use super::maxima::CONSTRUCTS;
use super::{Checked, Item};
use crate::spirv::op;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// The blocks that a header's merge instruction names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Merge {
    None,
    Selection(usize),
    Loop { merge: usize, next: usize },
}

impl Merge {
    fn block(self) -> Option<usize> {
        match self {
            Self::None => None,
            Self::Selection(merge) | Self::Loop { merge, .. } => Some(merge),
        }
    }

    /// The merge block, and a loop's continue block.
    fn blocks(self) -> impl Iterator<Item = usize> + Clone {
        let next = match self {
            Self::Loop { next, .. } => Some(next),
            Self::None | Self::Selection(_) => None,
        };
        self.block().into_iter().chain(next)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Selection,
    Loop { next: usize },
    Continue { header: usize, merge: usize },
}

/// A construct: its first block, and its merge block (for a continue construct, its back-edge block).
#[derive(Clone, Copy, Debug)]
struct Construct {
    kind: Kind,
    header: usize,
    exit: usize,
}

/// A finding: the block, and what is wrong.
type Wrong = (usize, String);

/// The structural graph of a function with derived data.
struct Graph<'b> {
    blocks: &'b [Block],
    ids: Vec<u32>,
    merges: Vec<Merge>,
    /// Predecessors by terminators.
    before: Edges,
    /// `next`, preceded by merge and continue blocks.
    structural: Edges,
    idom: Vec<usize>,
    dominates: Tree,
    postdominates: Tree,
    /// Header of the construct that a block merges.
    header_of: Vec<Option<usize>>,
    /// Headers of the loops whose continue target a block is.
    loop_of: Vec<Option<usize>>,
}

/// Checks a function whose branch targets exist.
pub(super) fn check(module: &mut Checked<'_>, blocks: &[Block], map: &BlockMap) {
    let graph = Graph::new(module, blocks, map);
    let wrong = graph
        .back_edges()
        .and_then(|back| {
            graph
                .constructs(&back)
                .and_then(|all| graph.check_constructs(module, &all, &back))
        })
        .and_then(|()| {
            let order = graph.order();
            graph.selections(module, &order).and_then(|()| graph.nesting(&order))
        });
    if let Err((block, why)) = wrong {
        let item = module.items[blocks[block].label];
        module.fail("construct", &item, why);
    }
}

impl<'b> Graph<'b> {
    fn new(module: &Checked<'_>, blocks: &'b [Block], map: &BlockMap) -> Self {
        let block = |word: u32| map.labelled(module, word).unwrap_or(0);
        let merge_of = |b: &Block| {
            let item = module.items[b.end.saturating_sub(1)];
            match item.opcode() {
                op::SELECTION_MERGE if b.end > b.label => Merge::Selection(block(item.word(1))),
                op::LOOP_MERGE if b.end > b.label => Merge::Loop {
                    merge: block(item.word(1)),
                    next: block(item.word(2)),
                },
                _ => Merge::None,
            }
        };
        let merges: Vec<Merge> = blocks.iter().map(merge_of).collect();
        let (mut header_of, mut loop_of) = (vec![None; blocks.len()], vec![None; blocks.len()]);
        for (n, merge) in merges.iter().enumerate() {
            if let Merge::Loop { next: target, .. } = *merge {
                loop_of[target] = Some(n);
            }
            if let Some(merge) = merge.block() {
                header_of[merge] = Some(n);
            }
        }
        let leads_to = |n: usize| merges[n].blocks().chain(blocks[n].next.iter().copied());
        let structural = (0..blocks.len()).flat_map(|n| leads_to(n).map(move |to| (n, to)));
        let structural = Edges::new(blocks.len(), structural);
        let before = (0..blocks.len()).flat_map(|n| blocks[n].next.iter().map(move |to| (*to, n)));
        let before = Edges::new(blocks.len(), before);
        let idom = immediate_dominators(blocks.len(), |n| structural.of(n));
        let mut graph = Self {
            ids: blocks.iter().map(|b| module.items[b.label].result).collect(),
            blocks,
            merges,
            before,
            dominates: Tree::new(&idom),
            postdominates: Tree::new(&[0]),
            structural,
            idom,
            header_of,
            loop_of,
        };
        graph.postdominates = graph.postdominators();
        graph
    }

    /// The postdominator tree: nodes are blocks shifted by one, after the function's exit.
    fn postdominators(&self) -> Tree {
        let count = self.blocks.len();
        let forward = (0..count).flat_map(|n| self.structural.of(n).iter().map(move |to| (n, *to)));
        let against = Edges::new(count, forward.clone().map(|(from, to)| (to, from)));
        // Blocks that end, and one of each infinite cycle.
        let ends = (0..count).rev().filter(|n| self.structural.of(*n).is_empty());
        let mut seen = vec![false; count];
        let (mut exits, mut stack) = (Vec::new(), Vec::new());
        for root in ends.chain((0..count).rev()) {
            if !seen[root] {
                exits.push(root);
                stack.push(root);
                while let Some(node) = stack.pop() {
                    if !std::mem::replace(&mut seen[node], true) {
                        stack.extend(against.of(node));
                    }
                }
            }
        }
        let back = forward.map(|(from, to)| (to + 1, from + 1));
        let reversed = Edges::new(count + 1, exits.iter().map(|root| (0, root + 1)).chain(back));
        Tree::new(&immediate_dominators(count + 1, |n| reversed.of(n)))
    }

    fn reached(&self, block: usize) -> bool {
        self.dominates.reached(block)
    }

    fn dominates(&self, a: usize, b: usize) -> bool {
        a == b || self.reached(b) && self.dominates.dominates(a, b)
    }

    fn postdominates(&self, a: usize, b: usize) -> bool {
        a == b || self.postdominates.dominates(a + 1, b + 1)
    }

    fn name(&self, block: usize) -> String {
        format!("%{}", self.ids[block])
    }

    /// Back edges, of which each loop header has exactly one.
    fn back_edges(&self) -> Result<Vec<(usize, usize)>, Wrong> {
        let (mut seen, mut open) = (vec![false; self.blocks.len()], vec![false; self.blocks.len()]);
        let mut back = Vec::new();
        let mut entered = vec![false; self.blocks.len()];
        self.structural.targets().for_each(|block| entered[block] = true);
        let roots = (0..self.blocks.len()).filter(|n| !entered[*n]);
        for root in roots.chain(0..self.blocks.len()).collect::<Vec<_>>() {
            if std::mem::replace(&mut seen[root], true) {
                continue;
            }
            open[root] = true;
            let mut stack = vec![(root, 0)];
            while let Some((node, at)) = stack.pop() {
                let Some(&to) = self.structural.of(node).get(at) else {
                    open[node] = false;
                    continue;
                };
                stack.push((node, at + 1));
                if open[to] && self.blocks[node].next.contains(&to) {
                    back.push((node, to));
                }
                if !std::mem::replace(&mut seen[to], true) {
                    open[to] = true;
                    stack.push((to, 0));
                }
            }
        }
        let mut latches: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for &(from, to) in &back {
            if !matches!(self.merges[to], Merge::Loop { .. }) {
                return Err((
                    from,
                    format!("goes back to {}, which is not a loop header", self.name(to)),
                ));
            }
            latches.entry(to).or_default().insert(from);
        }
        for (n, merge) in self.merges.iter().enumerate().filter(|(n, _)| self.reached(*n)) {
            let count = latches.get(&n).map_or(0, BTreeSet::len);
            if matches!(merge, Merge::Loop { .. }) && count != 1 {
                return Err((n, format!("{count} back edges to a loop header, one is needed")));
            }
        }
        Ok(back)
    }

    fn constructs(&self, back: &[(usize, usize)]) -> Result<Vec<Construct>, Wrong> {
        let mut all = Vec::new();
        for (header, merge) in self.merges.iter().enumerate() {
            match *merge {
                Merge::None => {}
                Merge::Selection(exit) => all.push(Construct {
                    kind: Kind::Selection,
                    header,
                    exit,
                }),
                Merge::Loop { merge: exit, next } => {
                    let kind = Kind::Loop { next };
                    all.push(Construct { kind, header, exit });
                    let latch = back.iter().rev().find(|(_, to)| *to == header).map(|edge| edge.0);
                    let kind = Kind::Continue { header, merge: exit };
                    match latch {
                        Some(exit) => all.push(Construct {
                            kind,
                            header: next,
                            exit,
                        }),
                        None if self.reached(next) => return Err((next, "the loop has no back edge".to_owned())),
                        None => {}
                    }
                }
            }
        }
        Ok(all)
    }

    fn check_constructs(&self, module: &Checked<'_>, all: &[Construct], back: &[(usize, usize)]) -> Result<(), Wrong> {
        for construct in all.iter().filter(|c| self.reached(c.header)) {
            self.entry_and_exit(construct)?;
            let inside = self.members(construct);
            self.edges(module, construct, &inside)?;
            if let Kind::Loop { next } = construct.kind {
                self.continues(construct, next, &inside, back)?;
            }
            let last = module.items[self.blocks[construct.header].end];
            if construct.kind == Kind::Selection && last.opcode() == op::SWITCH {
                self.cases(construct)?;
            }
        }
        Ok(())
    }

    /// The header dominates the exit; the back-edge block postdominates the continue target.
    fn entry_and_exit(&self, construct: &Construct) -> Result<(), Wrong> {
        let Construct { kind, header, exit } = *construct;
        let is_continue = matches!(kind, Kind::Continue { .. });
        if !self.dominates(header, exit) || !is_continue && header == exit {
            let message = format!("the header does not dominate its exit {}", self.name(exit));
            return Err((header, message));
        }
        if is_continue && !self.postdominates(exit, header) {
            let message = format!(
                "the back-edge block {} does not postdominate the continue target",
                self.name(exit)
            );
            return Err((header, message));
        }
        Ok(())
    }

    /// The blocks of a construct.
    fn members(&self, construct: &Construct) -> BTreeSet<usize> {
        let Construct { kind, header, exit } = *construct;
        let mut inside = BTreeSet::new();
        let mut stack = vec![header];
        while let Some(block) = stack.pop() {
            let within = self.dominates(header, block)
                && match kind {
                    Kind::Continue { .. } if self.postdominates(exit, block) => true,
                    Kind::Loop { next } => !self.dominates(exit, block) && !self.dominates(next, block),
                    Kind::Selection | Kind::Continue { .. } => !self.dominates(exit, block),
                };
            if within && inside.insert(block) {
                stack.extend(self.structural.of(block));
            }
        }
        inside
    }

    /// A construct is left by its exits only, entered by its header only, and contains the merge blocks of its headers.
    fn edges(&self, module: &Checked<'_>, construct: &Construct, inside: &BTreeSet<usize>) -> Result<(), Wrong> {
        for &block in inside {
            let mut out = self.blocks[block].next.iter().filter(|to| !inside.contains(to));
            if let Some(to) = out.find(|to| !self.is_exit(module, construct, **to)) {
                let message = format!(
                    "leaves the construct of {} to {}, which is not one of its exits",
                    self.name(construct.header),
                    self.name(*to)
                );
                return Err((block, message));
            }
            if block == construct.header {
                continue;
            }
            let mut from = self.before.of(block).iter();
            if let Some(from) = from.find(|from| self.reached(**from) && !inside.contains(from)) {
                let message = format!(
                    "branches into the construct of {}, but not to its header",
                    self.name(construct.header)
                );
                return Err((*from, message));
            }
            if let Some(merge) = self.merges[block].block()
                && self.reached(merge)
                && !inside.contains(&merge)
            {
                let message = format!(
                    "is in the construct of {}, but its merge block {} is not",
                    self.name(construct.header),
                    self.name(merge)
                );
                return Err((block, message));
            }
        }
        Ok(())
    }

    /// Whether a construct may exit to this block.
    fn is_exit(&self, module: &Checked<'_>, construct: &Construct, to: usize) -> bool {
        match construct.kind {
            Kind::Loop { next } => to == construct.exit || to == next,
            Kind::Continue { header, merge } => to == header || to == merge,
            Kind::Selection => to == construct.exit || self.leaves_enclosing(module, construct.header, to),
        }
    }

    /// Whether a selection may exit to this block of the innermost enclosing loop or switch.
    fn leaves_enclosing(&self, module: &Checked<'_>, header: usize, to: usize) -> bool {
        let is_switch = |block: usize| module.items[self.blocks[block].end].opcode() == op::SWITCH;
        let mut seen_switch = false;
        let mut at = self.enclosing(header);
        for _ in 0..=self.blocks.len() {
            let Some(block) = at else { return false };
            at = self.enclosing(block);
            let (merge, next) = match self.merges[block] {
                Merge::Loop { merge, next } => (merge, Some(next)),
                Merge::Selection(merge) if !is_switch(header) && is_switch(block) => (merge, None),
                _ => continue,
            };
            if self.dominates(merge, header) {
                continue;
            }
            if (!seen_switch || next.is_some()) && to == merge || next == Some(to) {
                return true;
            }
            if next.is_some() {
                return false;
            }
            seen_switch |= is_switch(block);
        }
        false
    }

    /// The header that this block merges, else the immediate dominator.
    fn enclosing(&self, block: usize) -> Option<usize> {
        let header = self.header_of[block];
        if let Some(header) = header.filter(|h| *h != block && self.dominates(*h, block)) {
            return Some(header);
        }
        (block != 0 && self.reached(block)).then(|| self.idom[block])
    }

    /// A continue target is branched to only from within its loop, except for its back edge.
    fn continues(
        &self,
        construct: &Construct,
        next: usize,
        inside: &BTreeSet<usize>,
        back: &[(usize, usize)],
    ) -> Result<(), Wrong> {
        if next == construct.header {
            return Ok(());
        }
        let stray = |from: &&usize| !inside.contains(from) && !back.contains(&(**from, next));
        match self.before.of(next).iter().find(stray) {
            None => Ok(()),
            Some(from) => {
                let message = format!(
                    "branches to the continue target {} from outside of its loop",
                    self.name(next)
                );
                Err((*from, message))
            }
        }
    }

    /// Cases fall through only to the next one.
    fn cases(&self, construct: &Construct) -> Result<(), Wrong> {
        let (header, merge) = (construct.header, construct.exit);
        let Some((&default, cases)) = self.blocks[header].next.split_first() else {
            return Ok(());
        };
        let targets: HashSet<usize> = self.blocks[header]
            .next
            .iter()
            .copied()
            .filter(|t| *t != merge)
            .collect();
        let mut targeted: BTreeMap<usize, u32> = BTreeMap::new();
        let mut through: HashMap<usize, Option<usize>> = HashMap::new();
        let mut default_through = None;
        let all = &self.blocks[header].next;
        for (at, &target) in all.iter().enumerate().filter(|(_, target)| **target != merge) {
            let mut falls = match through.get(&target) {
                Some(falls) => *falls,
                None => {
                    if self.reached(target) && !self.dominates(header, target) {
                        return Err((header, format!("does not dominate its case {}", self.name(target))));
                    }
                    let falls = self.fall_through(target, merge, &targets)?;
                    if let Some(falls) = falls {
                        *targeted.entry(falls).or_default() += 1;
                    }
                    through.insert(target, falls);
                    falls
                }
            };
            if falls == Some(default) && !cases.contains(&default) {
                falls = default_through;
            }
            match falls {
                None => {}
                Some(_) if at == 0 => default_through = falls,
                Some(to) => {
                    let after = all[at..].iter().position(|other| *other != target);
                    if after.map(|after| all[at + after]) != Some(to) {
                        let message = format!(
                            "the case {} falls through to {}, which does not follow it",
                            self.name(target),
                            self.name(to)
                        );
                        return Err((header, message));
                    }
                }
            }
        }
        match targeted.iter().find(|(_, count)| **count > 1) {
            Some((to, _)) => Err((header, format!("several cases fall through to {}", self.name(*to)))),
            None => Ok(()),
        }
    }

    /// The case that a case falls through to, if any.
    fn fall_through(&self, target: usize, merge: usize, targets: &HashSet<usize>) -> Result<Option<usize>, Wrong> {
        let (mut found, mut stack, mut visited) = (None, vec![target], HashSet::new());
        while let Some(block) = stack.pop() {
            if block == merge || !visited.insert(block) {
                continue;
            }
            if self.reached(target) && self.reached(block) && self.dominates(target, block) {
                stack.extend(&self.blocks[block].next);
                continue;
            }
            if !targets.contains(&block) {
                let (depth, own) = (self.depth(block), self.depth(target));
                if depth < own || depth == own && self.loop_of[block].is_some() {
                    continue;
                }
                let message = format!("the case {} branches to {}", self.name(target), self.name(block));
                return Err((target, message));
            }
            match found {
                None if target != block => found = Some(block),
                Some(other) if other != block => {
                    let message = format!("falls through to {} and {}", self.name(other), self.name(block));
                    return Err((target, message));
                }
                _ => {}
            }
        }
        Ok(found)
    }

    /// Number of constructs around a block.
    fn depth(&self, block: usize) -> u32 {
        let (mut depth, mut at) = (0, block);
        let mut seen = HashSet::new();
        while at != 0 && self.reached(at) && seen.insert(at) {
            let parent = self.idom[at];
            at = match (self.loop_of[at], self.header_of[at]) {
                (Some(header), _) => {
                    depth += 1;
                    if header == at { parent } else { header }
                }
                (None, Some(header)) => header,
                (None, None) => {
                    depth += u32::from(self.merges[parent] != Merge::None);
                    parent
                }
            };
        }
        depth
    }

    /// The number of constructs around a block is limited.
    fn nesting(&self, order: &[usize]) -> Result<(), Wrong> {
        let mut depths = vec![0; self.blocks.len()];
        for &block in order.iter().filter(|block| **block != 0) {
            let parent = self.idom[block];
            let (outer, more) = match (self.loop_of[block], self.header_of[block]) {
                (Some(header), _) => (if header == block { parent } else { header }, 1),
                (None, Some(header)) => (header, 0),
                (None, None) => (parent, u32::from(self.merges[parent] != Merge::None)),
            };
            depths[block] = depths[outer] + more;
            if depths[block] > CONSTRUCTS {
                return Err((block, format!("more than {CONSTRUCTS} constructs are nested")));
            }
        }
        Ok(())
    }

    /// A conditional branch has a merge instruction, unless one of its targets belongs to an enclosing construct.
    fn selections(&self, module: &Checked<'_>, order: &[usize]) -> Result<(), Wrong> {
        let mut seen: HashSet<usize> = HashSet::new();
        for &block in order {
            seen.extend(self.merges[block].block());
            if let Merge::Loop { next, .. } = self.merges[block] {
                seen.insert(next);
            }
            let last: Item = module.items[self.blocks[block].end];
            if last.opcode() == op::BRANCH_CONDITIONAL {
                let unseen = self.blocks[block]
                    .next
                    .iter()
                    .map(|to| seen.insert(*to))
                    .filter(|new| *new);
                let both = unseen.count() == 2;
                if both && self.merges[block] == Merge::None {
                    return Err((block, "a selection needs a merge instruction".to_owned()));
                }
            } else if last.opcode() == op::SWITCH {
                seen.extend(&self.blocks[block].next);
            }
        }
        Ok(())
    }

    /// Blocks in an order where each precedes its successors, and a construct precedes its merge block.
    fn order(&self) -> Vec<usize> {
        let (mut seen, mut order, mut stack) = (vec![false; self.blocks.len()], Vec::new(), vec![(0, 0)]);
        seen[0] = true;
        while let Some((node, at)) = stack.pop() {
            match self.structural.of(node).get(at) {
                None => order.push(node),
                Some(&to) => {
                    stack.push((node, at + 1));
                    if !std::mem::replace(&mut seen[to], true) {
                        stack.push((to, 0));
                    }
                }
            }
        }
        order.reverse();
        order
    }
}
