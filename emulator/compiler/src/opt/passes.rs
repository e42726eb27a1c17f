//! Passes over whole programs: numbers of values, dead code, branches that become selects, straight blocks joined.

use super::fold;
use crate::ir::{Block, Function, Inst, Op, Term, Value};
use std::collections::HashMap;

/// Limit on the operations that run with unused results when a branch becomes selects.
const CHEAP_ARM: usize = 24;

/// The same where all that comes of it is one truth value, as of `a && b`: what else is known of such values then reaches
/// further than what a branch saves.
const CHEAP_TRUTH: usize = 160;

/// Rounds of all passes at most. Each takes a branch off the longest chain of those inside of each other.
const MAX_ROUNDS: usize = 64;

/// All passes until nothing changes.
pub fn optimise(function: &mut Function) {
    for _ in 0..MAX_ROUNDS {
        let mut changed = number(function);
        changed |= branches(function);
        changed |= join(function);
        changed |= selects(function);
        dead(function);
        if !changed {
            break;
        }
    }
}

fn replace_all(function: &mut Function, map: &HashMap<Value, Value>) {
    if map.is_empty() {
        return;
    }
    let resolve = |mut value: Value| {
        while let Some(other) = map.get(&value) {
            value = *other;
        }
        value
    };
    for inst in &mut function.values {
        for arg in &mut inst.args {
            *arg = resolve(*arg);
        }
    }
    for block in &mut function.blocks {
        if let Term::Branch(value, ..) = &mut block.term {
            *value = resolve(*value);
        }
    }
    for (_, value) in &mut function.outputs {
        *value = resolve(*value);
    }
    for (value, ..) in &mut function.assigned {
        *value = resolve(*value);
    }
}

/// The block that every way to a block goes through last, for all blocks of an order.
fn dominators(function: &Function, order: &[Block]) -> HashMap<Block, Block> {
    let position: HashMap<Block, usize> = order.iter().enumerate().map(|(at, block)| (*block, at)).collect();
    let mut dominators: HashMap<Block, Block> = HashMap::new();
    let Some(entry) = order.first().copied() else {
        return dominators;
    };
    dominators.insert(entry, entry);
    loop {
        let mut changed = false;
        for block in &order[1..] {
            let mut new: Option<Block> = None;
            for pred in &function.block(*block).preds {
                if !dominators.contains_key(pred) {
                    continue;
                }
                let Some(mut a) = new else {
                    new = Some(*pred);
                    continue;
                };
                let mut b = *pred;
                while a != b {
                    if position[&a] > position[&b] {
                        a = dominators[&a];
                    } else {
                        b = dominators[&b];
                    }
                }
                new = Some(a);
            }
            if let Some(new) = new
                && dominators.insert(*block, new) != Some(new)
            {
                changed = true;
            }
        }
        if !changed {
            return dominators;
        }
    }
}

/// Where each operation with these operands has been computed.
type Computed = HashMap<(Op, Vec<Value>), Vec<(Block, Value)>>;

/// Global value numbering: what is computed already on every way here is not computed again.
fn number(function: &mut Function) -> bool {
    let order = function.order();
    let dominators = dominators(function, &order);
    let mut tables = Computed::new();
    let mut replaced: HashMap<Value, Value> = HashMap::new();
    let mut numbers: HashMap<u32, Value> = HashMap::new();
    for (at, inst) in function.values.iter().enumerate() {
        if let Op::Const(bits) = inst.op {
            numbers.entry(bits).or_insert(Value(at as u32));
        }
    }
    let dominates = |a: Block, mut b: Block| {
        loop {
            if a == b {
                return true;
            }
            match dominators.get(&b) {
                Some(up) if *up != b => b = *up,
                _ => return false,
            }
        }
    };
    let resolve = |replaced: &HashMap<Value, Value>, mut value: Value| {
        while let Some(other) = replaced.get(&value) {
            value = *other;
        }
        value
    };
    let mut changed = false;
    for block in &order {
        for value in function.block(*block).insts.clone() {
            let args: Vec<Value> = function
                .inst(value)
                .args
                .iter()
                .map(|arg| resolve(&replaced, *arg))
                .collect();
            function.values[value.0 as usize].args.clone_from(&args);
            let mut op = function.inst(value).op;
            if op == Op::Phi {
                let mut others = args.iter().copied().filter(|arg| *arg != value);
                let first = others.next();
                if let Some(first) = first.filter(|first| others.all(|arg| arg == *first)) {
                    replaced.insert(value, first);
                    changed = true;
                }
                continue;
            }
            let mut args = args;
            for _ in 0..8 {
                match fold::simplify(function, op, &args) {
                    Some(fold::To::Inst(new, new_args)) => {
                        (op, args) = (new, new_args);
                        let inst = &mut function.values[value.0 as usize];
                        (inst.op, inst.args) = (op, args.clone());
                        changed = true;
                    }
                    Some(fold::To::Value(other)) => {
                        replaced.insert(value, other);
                        changed = true;
                        break;
                    }
                    Some(fold::To::Number(number)) => {
                        let bits = number.to_bits();
                        let have = numbers.get(&bits).copied().unwrap_or_else(|| {
                            function.add(Inst {
                                op: Op::Const(bits),
                                args: Vec::new(),
                                span: None,
                                tag: 0,
                            })
                        });
                        numbers.insert(bits, have);
                        replaced.insert(value, have);
                        changed = true;
                        break;
                    }
                    None => break,
                }
            }
            if replaced.contains_key(&value) || op.is_memory() || op == Op::Copy {
                continue;
            }
            let mut key = args;
            if op.commutes() {
                key.sort();
            }
            let known = tables.entry((op, key)).or_default();
            match known.iter().find(|(from, _)| dominates(*from, *block)) {
                Some((_, have)) => {
                    replaced.insert(value, *have);
                    changed = true;
                }
                None => known.push((*block, value)),
            }
        }
    }
    for block in &order {
        let kept = |value: &Value| !replaced.contains_key(value);
        function.blocks[block.0 as usize].insts.retain(kept);
    }
    replace_all(function, &replaced);
    changed
}

/// Takes an edge away, with the phis' arguments for it.
fn cut(function: &mut Function, from: Block, to: Block) {
    let Some(at) = function.block(to).preds.iter().position(|pred| *pred == from) else {
        return;
    };
    function.blocks[to.0 as usize].preds.remove(at);
    for value in function.block(to).insts.clone() {
        let inst = &mut function.values[value.0 as usize];
        if inst.op == Op::Phi {
            inst.args.remove(at);
        }
    }
}

/// Branches whose way is known, and blocks nothing goes to.
fn branches(function: &mut Function) -> bool {
    let mut changed = false;
    for block in function.block_ids() {
        if let Term::Branch(value, then, other) = function.block(block).term {
            let (to, not) = match function.constant(value) {
                _ if then == other => {
                    cut(function, block, other);
                    function.blocks[block.0 as usize].term = Term::Jump(then);
                    changed = true;
                    continue;
                }
                Some(0.0) => (other, then),
                Some(_) => (then, other),
                None => continue,
            };
            function.blocks[block.0 as usize].term = Term::Jump(to);
            cut(function, block, not);
            changed = true;
        }
    }
    let order = function.order();
    let reachable: std::collections::HashSet<Block> = order.iter().copied().collect();
    for block in function.block_ids().filter(|block| !reachable.contains(block)) {
        for next in function.successors(block) {
            cut(function, block, next);
        }
        let data = &mut function.blocks[block.0 as usize];
        data.insts.clear();
        data.preds.clear();
        data.term = Term::Open;
    }
    function.layout = order;
    changed
}

/// Joins a block with the only one behind it, when that has no other in front; skips empty blocks.
fn join(function: &mut Function) -> bool {
    let mut changed = false;
    for block in function.order() {
        while let Term::Jump(next) = function.block(block).term {
            if next == block || function.block(next).preds.len() != 1 || function.layout.first() == Some(&next) {
                break;
            }
            let map: HashMap<Value, Value> = function
                .block(next)
                .insts
                .iter()
                .filter(|value| function.inst(**value).op == Op::Phi)
                .map(|value| (*value, function.inst(*value).args[0]))
                .collect();
            let moved: Vec<Value> = function
                .block(next)
                .insts
                .iter()
                .copied()
                .filter(|value| !map.contains_key(value))
                .collect();
            let term = std::mem::replace(&mut function.blocks[next.0 as usize].term, Term::Open);
            function.blocks[next.0 as usize].insts.clear();
            function.blocks[next.0 as usize].preds.clear();
            function.blocks[block.0 as usize].insts.extend(moved);
            function.blocks[block.0 as usize].term = term;
            for after in function.successors(block) {
                for pred in &mut function.blocks[after.0 as usize].preds {
                    if *pred == next {
                        *pred = block;
                    }
                }
            }
            // The whole stands where its end stood: an exit that joins the loop's last block leaves the loop.
            function.layout.retain(|other| *other != block);
            for place in function.layout.iter_mut().filter(|place| **place == next) {
                *place = block;
            }
            replace_all(function, &map);
            changed = true;
        }
    }
    changed
}

/// An arm of a branch that may become selects: its instructions, when all are cheap and it goes to `join` only.
fn arm(function: &Function, arm: Block, join: Block) -> Option<Vec<Value>> {
    let phis = |block| {
        function
            .block(block)
            .insts
            .iter()
            .filter(|value| function.inst(**value).op == Op::Phi)
    };
    let is_truth = |phi: &Value| {
        function
            .inst(*phi)
            .args
            .iter()
            .all(|arg| fold::is_truth(function, *arg))
    };
    let most = match phis(join).count() == 1 && phis(join).all(is_truth) {
        true => CHEAP_TRUTH,
        false => CHEAP_ARM,
    };
    let data = function.block(arm);
    let fits = data.preds.len() == 1
        && data.term == Term::Jump(join)
        && data.insts.len() <= most
        && data.insts.iter().all(|value| function.inst(*value).op.is_cheap());
    fits.then(|| data.insts.clone())
}

/// Branches around little become selects.
fn selects(function: &mut Function) -> bool {
    let mut changed = false;
    for block in function.order() {
        let Term::Branch(condition, then, other) = function.block(block).term else {
            continue;
        };
        let diamond = match (&function.block(then).term, &function.block(other).term) {
            (Term::Jump(a), Term::Jump(b)) if a == b && *a != block => Some((*a, Some(then), Some(other))),
            _ => None,
        };
        let triangle = match (&function.block(then).term, &function.block(other).term) {
            (Term::Jump(to), _) if *to == other => Some((other, Some(then), None)),
            (_, Term::Jump(to)) if *to == then => Some((then, None, Some(other))),
            _ => None,
        };
        let Some((join, then_arm, other_arm)) = diamond.or(triangle) else {
            continue;
        };
        let collect = |side: Option<Block>| side.map_or(Some(Vec::new()), |side| arm(function, side, join));
        let (Some(first), Some(second)) = (collect(then_arm), collect(other_arm)) else {
            continue;
        };
        let position = |from: Block| function.block(join).preds.iter().position(|pred| *pred == from);
        let (Some(a), Some(b)) = (
            position(then_arm.unwrap_or(block)),
            position(other_arm.unwrap_or(block)),
        ) else {
            continue;
        };
        let span = function.inst(condition).span;
        function.blocks[block.0 as usize]
            .insts
            .extend(first.into_iter().chain(second));
        for phi in function.block(join).insts.clone() {
            let inst = function.inst(phi);
            if inst.op != Op::Phi {
                continue;
            }
            let (x, y, tag) = (inst.args[a], inst.args[b], inst.tag);
            let select = function.add(Inst {
                op: Op::Select,
                args: vec![condition, x, y],
                span,
                tag,
            });
            function.blocks[block.0 as usize].insts.push(select);
            let args = &mut function.values[phi.0 as usize].args;
            args[a] = select;
            args.remove(b);
        }
        // One way is left, the one that was the first arm's.
        let preds = &mut function.blocks[join.0 as usize].preds;
        preds[a] = block;
        preds.remove(b);
        for side in [then_arm, other_arm].into_iter().flatten() {
            let data = &mut function.blocks[side.0 as usize];
            data.insts.clear();
            data.preds.clear();
            data.term = Term::Open;
            function.layout.retain(|other| *other != side);
        }
        function.blocks[block.0 as usize].term = Term::Jump(join);
        changed = true;
    }
    changed
}

/// Removes unused operations.
pub fn dead(function: &mut Function) {
    let mut live = vec![false; function.values.len()];
    let mut pending: Vec<Value> = function.outputs.iter().map(|(_, value)| *value).collect();
    for block in &function.blocks {
        if let Term::Branch(value, ..) = block.term {
            pending.push(value);
        }
        let stores = block
            .insts
            .iter()
            .filter(|value| matches!(function.inst(**value).op, Op::Store(_)));
        pending.extend(stores);
    }
    while let Some(value) = pending.pop() {
        if !std::mem::replace(&mut live[value.0 as usize], true) {
            pending.extend(&function.inst(value).args);
        }
    }
    for block in &mut function.blocks {
        block.insts.retain(|value| live[value.0 as usize]);
    }
}

/// What is worth doing once more behind the lowering: the same again, dead code.
pub fn optimise_lowered(function: &mut Function) {
    number(function);
    dead(function);
}
