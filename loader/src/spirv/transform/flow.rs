//! The blocks of a module's functions and where they lead.

use super::editor::{Editor, opcode};
use crate::spirv::op;
use crate::spirv::operand::Context;
use std::collections::HashMap;
use std::ops::Range;

/// A block: its label, its instructions, its successors.
pub(super) struct Block {
    pub label: u32,
    pub range: Range<usize>,
    pub successors: Vec<u32>,
    /// The merge block of the selection or loop that the block heads.
    pub merge: Option<u32>,
    pub is_switch: bool,
    /// Position of the merge instruction, or of the terminator without one.
    pub tail: usize,
}

/// The blocks of all functions, in order.
pub(super) struct Flow {
    pub blocks: Vec<Block>,
    /// Index of each block by its label.
    pub at: HashMap<u32, usize>,
    /// Merge and continue blocks, with the headers of their constructs.
    pub ends: HashMap<u32, Vec<u32>>,
    /// The header of the loop that a merge block ends.
    pub loop_merges: HashMap<u32, u32>,
    /// The header of the loop that a continue block belongs to.
    pub loop_continues: HashMap<u32, u32>,
}

impl Flow {
    pub(super) fn of(module: &Editor, context: &Context) -> Self {
        let mut flow = Self {
            blocks: Vec::new(),
            at: HashMap::new(),
            ends: HashMap::new(),
            loop_merges: HashMap::new(),
            loop_continues: HashMap::new(),
        };
        let mut open: Option<Block> = None;
        for at in module.functions_start()..module.body.len() {
            let words = &module.body[at];
            if matches!(opcode(words), op::LABEL | op::FUNCTION_END) {
                flow.close(open.take(), at, module);
            }
            if opcode(words) == op::LABEL {
                open = Some(Block {
                    label: words[1],
                    range: at..at,
                    successors: Vec::new(),
                    merge: None,
                    is_switch: false,
                    tail: at,
                });
            }
            let Some(block) = &mut open else { continue };
            match opcode(words) {
                op::BRANCH => block.successors.push(words[1]),
                op::BRANCH_CONDITIONAL => block.successors.extend(&words[2..4]),
                op::SWITCH => {
                    block.is_switch = true;
                    block
                        .successors
                        .extend(targets(words, context).map(|target| words[target]));
                }
                op::SELECTION_MERGE => {
                    block.merge = Some(words[1]);
                    flow.ends.entry(words[1]).or_default().push(block.label);
                }
                op::LOOP_MERGE => {
                    for end in &words[1..3] {
                        flow.ends.entry(*end).or_default().push(block.label);
                    }
                    flow.loop_merges.insert(words[1], block.label);
                    flow.loop_continues.insert(words[2], block.label);
                }
                _ => {}
            }
        }
        flow
    }

    fn close(&mut self, block: Option<Block>, end: usize, module: &Editor) {
        let Some(mut block) = block else { return };
        block.range.end = end;
        let is_end = |at: &usize| !matches!(opcode(&module.body[*at]), op::LINE | op::NO_LINE);
        let last = block.range.clone().rev().find(is_end).unwrap_or(block.range.start);
        let merges = matches!(opcode(&module.body[last - 1]), op::SELECTION_MERGE | op::LOOP_MERGE);
        block.tail = last - usize::from(merges);
        self.at.insert(block.label, self.blocks.len());
        self.blocks.push(block);
    }

    /// Words of a block.
    pub(super) fn size(&self, module: &Editor, block: usize) -> usize {
        let range = self.blocks[block].range.clone();
        module.body[range].iter().map(Vec::len).sum()
    }

    /// The block that contains an instruction.
    pub(super) fn block(&self, at: usize) -> Option<&Block> {
        let next = self.blocks.partition_point(|block| block.range.start <= at);
        let block = &self.blocks[next.checked_sub(1)?];
        block.range.contains(&at).then_some(block)
    }
}

/// Positions of the labels in an `OpSwitch`, the default's first.
pub(super) fn targets(words: &[u32], context: &Context) -> impl Iterator<Item = usize> + use<> {
    let literal = context.number(words[1]).words();
    std::iter::once(2).chain((3 + literal..words.len()).step_by(literal + 1))
}
