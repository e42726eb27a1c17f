//! What is left of programs when they are optimised: nothing is computed twice or without use, no branch without need.

use crate::own;
use skrymir_compiler::ir::{Block, Function, Op, Term, Value};
use skrymir_compiler::{Input, Options, Stage, compile};
use std::collections::{HashMap, HashSet};

/// Whether every way to a block goes through another.
fn dominates(function: &Function, by: Block, block: Block) -> bool {
    let mut seen = HashSet::from([by]);
    let mut pending = Vec::from_iter(function.order().first().copied());
    while let Some(at) = pending.pop() {
        if at == block && at != by {
            return false;
        }
        if seen.insert(at) {
            pending.extend(function.successors(at));
        }
    }
    true
}

/// What is still to be done with a program; nothing where it is finished.
fn left(function: &Function) -> Option<String> {
    let order = function.order();
    let uses = function.uses();
    // Operations with their operands, and where each is.
    type Computed = HashMap<(Op, Vec<Value>), Vec<(Block, Value)>>;
    let mut computed = Computed::new();
    let first = order[0];
    for block in &order {
        let data = function.block(*block);
        for value in &data.insts {
            let inst = function.inst(*value);
            if uses[value.0 as usize] == 0 && !matches!(inst.op, Op::Store(_)) {
                return Some(format!("{value:?} is not used: {inst:?}"));
            }
            if inst.op == Op::Phi {
                let mut others = inst.args.iter().filter(|arg| *arg != value);
                let one = others.next();
                if others.all(|arg| Some(arg) == one) {
                    return Some(format!("a phi of one value: {inst:?}"));
                }
                continue;
            }
            let known = inst.args.iter().all(|arg| function.constant(*arg).is_some());
            if known && !inst.args.is_empty() && !inst.op.is_memory() && !matches!(inst.op, Op::Texture { .. }) {
                return Some(format!("all is known of {inst:?}"));
            }
            if inst.op.is_memory() || inst.op == Op::Copy {
                continue;
            }
            let mut args = inst.args.clone();
            if inst.op.commutes() {
                args.sort();
            }
            let same = computed.entry((inst.op, args)).or_default();
            if same.iter().any(|(from, _)| dominates(function, *from, *block)) {
                return Some(format!("computed before: {inst:?}"));
            }
            same.push((*block, *value));
        }
        match data.term {
            Term::Jump(next) if function.block(next).preds.len() == 1 && next != *block && next != first => {
                return Some(format!("{next:?} only goes on behind {block:?}"));
            }
            Term::Branch(value, then, other) if then == other || function.constant(value).is_some() => {
                return Some(format!("{block:?} has one way"));
            }
            _ => {}
        }
    }
    None
}

#[test]
fn optimised_programs_have_nothing_left_to_do() {
    let mut programs = 0;
    let mut one = |name: &str, input: Input<'_>| {
        let compiled = compile(input, &Options::default()).expect(name);
        assert_eq!(left(&compiled.shader.function), None, "{name}");
        programs += 1;
    };
    own::each_entry_point(|name, _, source| one(name, Input::Source(source)));
    for (table, stage) in [(crate::FRAGMENTS, Stage::Fragment), (crate::VERTICES, Stage::Vertex)] {
        for (name, text) in table {
            let text = format!("#extension GL_OES_standard_derivatives : enable\nprecision mediump float;\n{text}");
            one(name, Input::GlslEs(&text, stage));
        }
    }
    own::each_of_es(|name, text, stage| one(name, Input::GlslEs(text, stage)));
    println!("{programs} programs");
    assert!(programs > 40);
}

fn fragment(body: &str) -> Function {
    let text = format!(
        "precision mediump float; varying vec4 v; uniform float k; uniform sampler2D s; void main() {{ {body} }}"
    );
    let compiled = compile(Input::GlslEs(&text, Stage::Fragment), &Options::default());
    compiled
        .unwrap_or_else(|error| panic!("{}", error.render("s", &text)))
        .shader
        .function
}

/// Branches around little become selects: some operations may then run whose results are unused, more where all that
/// comes of them is a truth value.
#[test]
fn short_branches_become_selects() {
    let chain = |count: usize| vec!["a *= v.y;"; count].concat();
    for (what, text, most) in [
        (
            "a number",
            "vec4 c = v; if (k > 0.0) { float a = v.x; CHAIN c.x = a; } gl_FragColor = c;",
            24,
        ),
        (
            "the other way",
            "vec4 c = v; if (k > 0.0) { } else { float a = v.x; CHAIN c.x = a; } gl_FragColor = c;",
            24,
        ),
        (
            "both",
            "float a = v.x; if (k > 0.0) { CHAIN } else { a = v.z; CHAIN } gl_FragColor = v * a;",
            24,
        ),
        (
            "a truth",
            "bool b = false; if (k > 0.0) { float a = v.x; CHAIN b = a > 0.25; } gl_FragColor = b ? v : v.wzyx;",
            159,
        ),
        (
            "a number beside a truth",
            "bool b = false; vec4 c = v; if (k > 0.0) { float a = v.x; CHAIN b = a > 0.25; c.x = a; } gl_FragColor = b ? c : v.wzyx;",
            23,
        ),
    ] {
        let blocks = |count: usize| fragment(&text.replace("CHAIN", &chain(count))).order().len();
        assert_eq!(blocks(most), 1, "{what}");
        assert!(blocks(most + 1) > 1, "{what}");
    }
    // What costs much, or has an effect, stays where it is.
    for (body, blocks) in [
        ("vec4 c = v; if (k > 0.0) c = texture2D(s, v.xy); gl_FragColor = c;", 4),
        ("vec4 c = v; if (k > 0.0) c = sin(c); gl_FragColor = c;", 1),
        ("if (k > 0.0) discard; gl_FragColor = v;", 3),
        (
            "vec4 c = v; if (k > 0.0) { if (v.x > 0.5) c *= 2.0; } gl_FragColor = c;",
            1,
        ),
        (
            "vec4 c = v; if (k > 0.0) { if (v.x > 0.5) c *= 2.0; else c += 1.0; } else c -= 1.0; gl_FragColor = c;",
            1,
        ),
    ] {
        assert_eq!(fragment(body).order().len(), blocks, "{body}");
    }
}

/// Operations that are computed once: the text, an operation, and how many of it are left.
#[test]
fn what_is_computed_is_computed_once() {
    for (body, op, count) in [
        ("gl_FragColor = vec4(sin(v.x), sin(v.x), sin(v.y), 1.0);", Op::Sin, 2),
        ("gl_FragColor = vec4(v.x + v.y, v.y + v.x, v.x + v.z, 1.0);", Op::Add, 2),
        (
            "gl_FragColor = vec4(v.x < v.y, v.y < v.x, v.y > v.x, v.x > v.y);",
            Op::Lt,
            2,
        ),
        // Before a branch, and in it; in both of its ways.
        (
            "vec4 c = vec4(exp2(v.x)); if (k > 0.0) c = texture2D(s, v.xy) * exp2(v.x); gl_FragColor = c;",
            Op::Exp2,
            1,
        ),
        (
            "vec4 c = v; if (k > 0.0) c = texture2D(s, v.xy) * exp2(v.x); else c = texture2D(s, v.zw) * exp2(v.x); gl_FragColor = c;",
            Op::Exp2,
            2,
        ),
        (
            "vec4 c = v; if (k > 0.0) c = texture2D(s, v.xy) * exp2(v.x); gl_FragColor = c * exp2(v.x);",
            Op::Exp2,
            2,
        ),
        (
            "vec4 c = v; float e = exp2(v.y); for (int i = 0; i < 300; i++) { if (c.x > k) break; c.x += exp2(v.y); } gl_FragColor = c * e;",
            Op::Exp2,
            1,
        ),
        ("float unused = sin(v.x); gl_FragColor = v;", Op::Sin, 0),
        (
            "float x = v.x; if (k > 0.0) x = sin(v.y); gl_FragColor = v;",
            Op::Sin,
            0,
        ),
        (
            "if (1.0 > 2.0) gl_FragColor = sin(v); else gl_FragColor = cos(v);",
            Op::Sin,
            0,
        ),
        (
            "gl_FragColor = v; for (int i = 0; i < 0; i++) gl_FragColor += sin(v);",
            Op::Sin,
            0,
        ),
    ] {
        let function = fragment(body);
        let blocks = function.order();
        let all = blocks.iter().flat_map(|block| &function.block(*block).insts);
        let have = all.filter(|value| function.inst(**value).op == op).count();
        assert_eq!(have, count, "{body}");
    }
}
