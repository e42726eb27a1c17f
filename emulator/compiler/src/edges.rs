//! Edges between blocks, made fit for copies at their ends.

use crate::ir::{Block, BlockData, Function, Op, Term, Value};

/// An empty block on an edge, right behind where it begins.
fn between(function: &mut Function, from: Block, to: Block) -> Block {
    function.blocks.push(BlockData {
        insts: Vec::new(),
        term: Term::Jump(to),
        preds: vec![from],
    });
    let new = Block(function.blocks.len() as u32 - 1);
    let mut preds = function.blocks[to.0 as usize].preds.iter_mut();
    if let Some(pred) = preds.find(|pred| **pred == from) {
        *pred = new;
    }
    let at = function.layout.iter().position(|block| *block == from).unwrap_or(0);
    function.layout.insert(at + 1, new);
    new
}

/// Puts one of a branch's ways behind it, where neither is: a block that goes on to the second.
pub(crate) fn follow_branches(function: &mut Function) {
    let order = function.order();
    for (at, from) in order.iter().enumerate() {
        if let Term::Branch(value, then, other) = function.block(*from).term
            && order.get(at + 1).is_none_or(|next| *next != then && *next != other)
        {
            let new = between(function, *from, other);
            function.blocks[from.0 as usize].term = Term::Branch(value, then, new);
        }
    }
}

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
            ways[way] = between(function, from, to);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interp::{self, Given, HALF, Outcome};
    use crate::{Input, Options, Stage, compile};

    const PROGRAMS: [&str; 4] = [
        "void main() { vec4 c = v * k; for (int i = 0; i < 1500; i++) { if (float(i) >= abs(k) * 3.0) break; c = c.yzwx * 0.5 + v; }
           gl_FragColor = c; }",
        "void main() { vec4 c = v; if (v.x > k) { c = sin(c) + texture2D(s, v.xy); } else { c.x = exp2(v.y); c.y = log2(abs(v.z) + 1.0); }
           gl_FragColor = c; }",
        "void main() { vec4 c = v; float n = 0.0; while (n < abs(k) * 8.0) { if (c.x > 2.0) { n += 2.0; c = c.yzwx; continue; }
           if (c.y < -3.0) break; n += 1.0; c = c * 1.25 + v.wzyx; } gl_FragColor = c + n; }",
        "void main() { vec4 a = sin(v), b = cos(v * k), c = exp2(a), d = sqrt(abs(b)); gl_FragColor = a * b + c * d - a / (abs(d) + 1.0); }",
    ];

    fn function(body: &str) -> Function {
        let text = format!("precision mediump float; varying vec4 v; uniform float k; uniform sampler2D s; {body}");
        let compiled = compile(Input::GlslEs(&text, Stage::Fragment), &Options::default());
        compiled
            .unwrap_or_else(|error| panic!("{}", error.render("s", &text)))
            .shader
            .function
    }

    /// The colours of four fragments, for some uniforms.
    fn outcomes(function: &Function) -> Vec<[Outcome; 4]> {
        let one = |k: f32| {
            let given = Given {
                uniforms: &[k],
                input: &|lane, input| match input {
                    crate::ir::Input::Varying(slot) => (slot as f32 - 1.5) * 0.75 + lane as f32 * 0.25,
                    _ => 1.0,
                },
                sampler: &|_, _, _, _| [[0.25, 0.5, 0.75, 1.0]; 4],
                rounding: HALF,
                budget: 100_000,
            };
            interp::run(function, &given).expect("an end")
        };
        [-1.0, 0.0, 0.375, 2.0].map(one).to_vec()
    }

    /// Every way to a block is known there once, and its phis have a value for each.
    fn is_consistent(function: &Function) {
        let order = function.order();
        for block in &order {
            let data = function.block(*block);
            let mut from: Vec<Block> = order
                .iter()
                .copied()
                .filter(|from| function.successors(*from).contains(block))
                .collect();
            let mut known: Vec<Block> = data.preds.iter().copied().filter(|pred| order.contains(pred)).collect();
            from.sort_unstable_by_key(|block| block.0);
            known.sort_unstable_by_key(|block| block.0);
            assert_eq!(known, from, "{block:?}");
            let phis = data
                .insts
                .iter()
                .map(|value| function.inst(*value))
                .filter(|inst| inst.op == Op::Phi);
            phis.for_each(|phi| assert_eq!(phi.args.len(), data.preds.len(), "{block:?}"));
        }
    }

    fn phis(function: &Function, block: Block) -> usize {
        let insts = function.block(block).insts.iter();
        insts.filter(|value| function.inst(**value).op == Op::Phi).count()
    }

    #[test]
    fn long_blocks_are_cut_and_compute_the_same() {
        for text in PROGRAMS {
            let whole = function(text);
            let want = outcomes(&whole);
            for length in [1, 2, 5, 16] {
                let mut cut = whole.clone();
                split_long(&mut cut, length);
                is_consistent(&cut);
                for block in cut.order() {
                    let most = length.max(phis(&cut, block));
                    assert!(cut.block(block).insts.len() <= most, "{length}: {:?}", cut.block(block));
                }
                let count = |function: &Function| -> usize {
                    function
                        .order()
                        .iter()
                        .map(|block| function.block(*block).insts.len())
                        .sum()
                };
                assert_eq!(count(&cut), count(&whole));
                assert!(outcomes(&cut) == want, "{length}: {text}");
            }
            let mut same = whole.clone();
            split_long(&mut same, 10_000);
            assert_eq!(same, whole);
        }
    }

    #[test]
    fn one_way_of_a_branch_follows_it() {
        let text = "#version 300 es\nprecision mediump float; in vec4 v; uniform float k; out vec4 c; void main() {
            c = v; switch (int(k * 4.0)) { case 0: c = sin(v) * k; break; case 1: c = cos(v.wzyx) - k; break;
            default: c = exp2(v) + sqrt(abs(v)) * sin(v.yxwz) + cos(v); c = c * c.wzyx + sin(c) * exp2(c.yxwz) + cos(c); } }";
        let compiled = compile(Input::GlslEs(text, Stage::Fragment), &Options::default());
        let switch = compiled
            .unwrap_or_else(|error| panic!("{}", error.render("s", text)))
            .shader
            .function;
        let mut apart = 0;
        for whole in PROGRAMS.into_iter().map(function).chain([switch]) {
            let mut split = whole.clone();
            split_critical(&mut split);
            let before = split.blocks.len();
            follow_branches(&mut split);
            is_consistent(&split);
            apart += split.blocks.len() - before;
            let order = split.order();
            for (at, block) in order.iter().enumerate() {
                if let Term::Branch(_, then, other) = split.block(*block).term {
                    assert!([then, other].contains(&order[at + 1]), "{block:?} of {order:?}");
                }
            }
            assert!(outcomes(&split) == outcomes(&whole));
            let same = split.clone();
            follow_branches(&mut split);
            assert_eq!(split, same, "nothing is left to do");
        }
        assert!(apart > 0);
    }

    #[test]
    fn edges_between_branches_and_phis_have_blocks() {
        let mut split = 0;
        for text in PROGRAMS {
            let whole = function(text);
            let mut apart = whole.clone();
            split_critical(&mut apart);
            is_consistent(&apart);
            split += apart.blocks.len() - whole.blocks.len();
            for block in apart.order() {
                let next = apart.successors(block);
                for to in &next {
                    let joins = apart.block(*to).preds.len() > 1 && phis(&apart, *to) > 0;
                    assert!(!joins || next.len() == 1, "{block:?} to {to:?}");
                    // A value for each phi, in their order.
                    let copied: Vec<Value> = copies(&apart, block).into_iter().map(|(phi, _)| phi).collect();
                    let wanted = if next.len() == 1 { phis(&apart, *to) } else { 0 };
                    assert_eq!(copied.len(), wanted);
                    assert_eq!(copied[..], apart.block(*to).insts[..wanted]);
                }
            }
            assert!(outcomes(&apart) == outcomes(&whole), "{text}");
        }
        println!("{split} blocks on edges");
    }
}
