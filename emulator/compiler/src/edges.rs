//! Edges between blocks, made fit for copies at their ends.

use crate::ir::{Block, BlockData, Function, Op, Term, Value};

/// Puts a block on every edge from a block with two ways to one with two origins and phis.
pub(crate) fn split_critical(function: &mut Function) {
    for from in function.order() {
        let Term::Branch(value, then, other) = function.block(from).term else {
            continue;
        };
        let mut ways = [then, other];
        for (way, to) in [then, other].into_iter().enumerate() {
            let target = function.block(to);
            let has_phis = target.insts.iter().any(|value| function.inst(*value).op == Op::Phi);
            if target.preds.len() < 2 || !has_phis {
                continue;
            }
            function.blocks.push(BlockData {
                insts: Vec::new(),
                term: Term::Jump(to),
                preds: vec![from],
            });
            let new = Block(function.blocks.len() as u32 - 1);
            if let Some(pred) = function.blocks[to.0 as usize]
                .preds
                .iter_mut()
                .find(|pred| **pred == from)
            {
                *pred = new;
            }
            let at = function.layout.iter().position(|block| *block == from).unwrap_or(0);
            function.layout.insert(at + 1, new);
            ways[way] = new;
        }
        function.blocks[from.0 as usize].term = Term::Branch(value, ways[0], ways[1]);
    }
}

/// Cuts blocks into pieces of at most `length` operations.
pub(crate) fn split_long(function: &mut Function, length: usize) {
    for block in function.order() {
        let mut at = block;
        while function.block(at).insts.len() > length {
            // Phis stay with what they come from.
            let insts = &function.block(at).insts;
            let phis = insts.iter().take_while(|value| function.inst(**value).op == Op::Phi);
            let cut = phis.count().max(length);
            if cut >= insts.len() {
                break;
            }
            let new = Block(function.blocks.len() as u32);
            let data = &mut function.blocks[at.0 as usize];
            let rest = data.insts.split_off(cut);
            let term = std::mem::replace(&mut data.term, Term::Jump(new));
            function.blocks.push(BlockData {
                insts: rest,
                term,
                preds: vec![at],
            });
            for next in function.successors(new) {
                for pred in function.blocks[next.0 as usize]
                    .preds
                    .iter_mut()
                    .filter(|pred| **pred == at)
                {
                    *pred = new;
                }
            }
            let place = function.layout.iter().position(|other| *other == at).unwrap_or(0);
            function.layout.insert(place + 1, new);
            at = new;
        }
    }
}

/// What a block's end copies into the phis behind it: phi and value.
pub(crate) fn copies(function: &Function, from: Block) -> Vec<(Value, Value)> {
    let Term::Jump(to) = function.block(from).term else {
        return Vec::new();
    };
    let Some(at) = function.block(to).preds.iter().position(|pred| *pred == from) else {
        return Vec::new();
    };
    let phis = function.block(to).insts.iter().copied();
    let phis = phis.filter(|value| function.inst(*value).op == Op::Phi);
    phis.map(|phi| (phi, function.inst(phi).args[at])).collect()
}
