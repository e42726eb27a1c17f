//! The rules find what is wrong: negative controls, one damage for each rule.

use crate::rules;
use loader::mbs::Program;
use skrymir_compiler::{Input, Options, Stage, compile};
use utgard::gp::{self, MulOp, Source, Stored, Target, Unit};
use utgard::pp::{self, Register};
use utgard::shader;

fn program(text: &str, stage: Stage) -> Program {
    let compiled = compile(Input::GlslEs(text, stage), &Options::default()).expect("a program");
    assert_eq!(rules::broken(&compiled.program), None);
    compiled.program
}

/// Damages every instruction in turn: how often it could, and how often a rule says this of it.
fn vertex(program: &Program, says: &str, damage: impl Fn(&mut Vec<gp::Instruction>, usize) -> bool) -> (u32, u32) {
    let whole: Vec<gp::Instruction> = shader::instructions(&program.code)
        .into_iter()
        .map(gp::Instruction::decode)
        .collect();
    let (mut done, mut found) = (0, 0);
    for at in 0..whole.len() {
        let mut code = whole.clone();
        if damage(&mut code, at) {
            let code = code.iter().flat_map(gp::Instruction::encode).collect();
            let damaged = Program {
                code,
                ..program.clone()
            };
            done += 1;
            found += u32::from(rules::broken(&damaged).is_some_and(|what| what.contains(says)));
        }
    }
    (done, found)
}

fn fragment(program: &Program, says: &str, damage: impl Fn(&mut pp::Instruction) -> bool) -> (u32, u32) {
    let mut whole = Vec::new();
    let mut at = 0;
    while at < program.code.len() {
        whole.push(pp::Instruction::decode(&program.code[at..]).expect("an instruction"));
        at += whole.last().map_or(1, |i| i.words() as usize);
    }
    let (mut done, mut found) = (0, 0);
    for at in 0..whole.len() {
        let mut code = whole.clone();
        if damage(&mut code[at]) {
            let mut words = Vec::new();
            code.iter().for_each(|i| i.encode(&mut words));
            let damaged = Program {
                code: words,
                ..program.clone()
            };
            done += 1;
            found += u32::from(rules::broken(&damaged).is_some_and(|what| what.contains(says)));
        }
    }
    (done, found)
}

const VERTEX: &str = "attribute vec4 v; uniform float k; varying vec4 o; void main() {
    vec4 s = v; for (int i = 0; i < 3000; i++) { if (float(i) > k) break; s = s.yzwx * 0.5 + v; }
    o = s * inversesqrt(k); gl_Position = vec4(v.xyz, 1.0); }";

#[test]
fn damaged_vertex_programs_are_found() {
    let program = program(VERTEX, Stage::Vertex);
    let nothing = |i: &mut gp::Instruction| {
        (i.store0_x, i.store0_y) = (Stored::Nothing, Stored::Nothing);
        (i.store1_z, i.store1_w) = (Stored::Nothing, Stored::Nothing);
    };
    let stores = |i: &gp::Instruction, wanted: fn(&Target) -> bool| {
        let mut stores = i.stores().into_iter();
        stores.any(|(stored, target)| stored != Stored::Nothing && wanted(&target))
    };
    let register = |target: &Target| matches!(target, Target::Register(_));
    let output = |target: &Target| matches!(target, Target::Varying(_));
    type Damage<'a> = Box<dyn Fn(&mut Vec<gp::Instruction>, usize) -> bool + 'a>;
    let damages: [(&str, u32, Damage<'_>); 6] = [
        (
            "not written on every way",
            1,
            Box::new(|code, at| {
                let there = stores(&code[at], register);
                nothing(&mut code[at]);
                there
            }),
        ),
        (
            "ends without",
            1,
            Box::new(|code, at| {
                let there = stores(&code[at], output) && !stores(&code[at], register);
                nothing(&mut code[at]);
                there
            }),
        ),
        // An instruction that waits taken away: what it waits for comes too early.
        (
            "behind its store",
            1,
            Box::new(|code, at| {
                let idle = code[at].encode() == gp::Instruction::NOP_WORDS;
                let low = at;
                if idle {
                    code.remove(at);
                    for i in code.iter_mut().filter(|i| i.branch) {
                        let target = usize::from(i.target());
                        i.set_target((target - usize::from(target > low)) as u16);
                    }
                }
                idle
            }),
        ),
        (
            "not there on every way",
            1,
            Box::new(|code, at| {
                let there = code[at].is_busy(Unit::Acc0) && !stores(&code[at], |_| true);
                code[at] = gp::Instruction::nop();
                there
            }),
        ),
        (
            "without its first",
            1,
            Box::new(|code, at| {
                let there = code[at].mul_op == MulOp::Complex2;
                code[at].mul_op = MulOp::Mul;
                there
            }),
        ),
        (
            "floats",
            1,
            Box::new(|code, at| {
                let mut sources = code[at].sources().into_iter();
                let there = sources.any(|source| matches!(source, Source::Memory(_)));
                code[at].load_address = 300;
                there
            }),
        ),
    ];
    for (says, least, damage) in damages {
        let (done, found) = vertex(&program, says, damage);
        println!("{found} of {done} damaged programs: {says}");
        assert!(found >= least, "{says}");
    }
}

const FRAGMENT: &str = "precision mediump float; varying vec2 v; uniform sampler2D s; uniform float k; void main() {
    vec4 c = texture2D(s, v); if (v.x > k) c.xy += sin(texture2D(s, c.zw).yx * 2.0) * k + v; gl_FragColor = c * c + v.xyxy; }";

const BIASED: &str = "precision mediump float; varying vec2 v; varying float bias; uniform sampler2D s; void main() {
    gl_FragColor = texture2D(s, v, bias); }";

#[test]
fn damaged_fragment_programs_are_found() {
    let flat = "void main() { gl_FragColor = vec4(0.25, 0.5, 0.75, 1.0); }";
    let programs = [FRAGMENT, flat, BIASED].map(|text| program(text, Stage::Fragment));
    type Damage = fn(&mut pp::Instruction) -> bool;
    let damages: [(&str, Damage); 8] = [
        ("not written on every way", |i| {
            let there = i.varying.is_some_and(|varying| varying.written().is_some());
            if let Some(varying) = &mut i.varying {
                varying.mask = 0;
            }
            there && i.sampler.is_none()
        }),
        ("length is wrong", |i| {
            let there = !i.control.stop;
            i.control.next_length = (i.control.next_length + 1) & 31;
            there
        }),
        ("a branch into an instruction", |i| {
            let there = i.branch.is_some();
            if let Some(branch) = &mut i.branch {
                branch.target += 1;
            }
            there
        }),
        ("runs on behind its end", |i| {
            std::mem::replace(&mut i.control.stop, false)
        }),
        ("does not wait", |i| {
            i.control.sync = false;
            i.sampler.is_some()
        }),
        ("which nothing fills", |i| {
            let there = i.const1.is_none() && i.vec_mul.is_some();
            if let Some(unit) = i.vec_mul.as_mut().filter(|_| there) {
                unit.a = Register::CONST1;
            }
            there
        }),
        ("a bias from the varying unit", |i| {
            let moved = i.float_mul.take().map(|unit| unit.destination);
            if let (Some(moved), Some(unit)) = (moved, &mut i.varying) {
                (unit.destination, unit.mask) = (moved.register(), 1 << moved.component());
            }
            i.varying.is_some() && moved.is_some()
        }),
        ("without a colour", |i| {
            if let Some(unit) = &mut i.vec_mul {
                unit.destination = Register(5);
            }
            if let Some(unit) = &mut i.vec_acc {
                unit.destination = Register(5);
            }
            i.control.stop
        }),
    ];
    for (says, damage) in damages {
        let all = programs.each_ref().map(|program| fragment(program, says, damage));
        let (done, found) = all.iter().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        println!("{found} of {done} damaged programs: {says}");
        assert!(found > 0, "{says}");
    }
}
