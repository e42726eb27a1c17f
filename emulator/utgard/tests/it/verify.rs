//! Every rule of the verifiers: programs that break it, and programs beside them that keep it.

use utgard::flow::Finding;
use utgard::{gp, pp};

/// Rules and addresses that a vertex program breaks.
fn vertex(text: &str) -> Vec<(&'static str, u32)> {
    let words = gp::assemble(text).unwrap_or_else(|error| panic!("{}", error.render(text, "gp")));
    let program: Vec<gp::Instruction> = words.into_iter().map(gp::Instruction::decode).collect();
    places(gp::flow::verify(&program))
}

fn fragment(text: &str, stack: Option<u32>) -> Vec<(&'static str, u32)> {
    let words = pp::assemble(text).unwrap_or_else(|error| panic!("{}", error.render(text, "pp")));
    places(pp::flow::verify(&words, stack))
}

fn places(findings: Vec<Finding>) -> Vec<(&'static str, u32)> {
    assert!(findings.iter().all(|finding| !finding.message.is_empty()));
    findings.iter().map(|finding| (finding.rule, finding.address)).collect()
}

#[test]
fn vertex_rules_are_broken_and_kept() {
    let broken: &[(&str, &[(&str, u32)])] = &[
        ("op3.a0 _ a0.x a0.y", &[("operation", 0)]),
        ("op3.a1 _ a0.x a0.y", &[("operation", 0)]),
        ("op2.m0 _ a0.x a0.y", &[("operation", 0)]),
        ("op2.m1 _ a0.x a0.y", &[("operation", 0)]),
        ("nop\nop1.c _ a0.x", &[("operation", 1)]),
        ("op0.p _ a0.x", &[("operation", 0)]),
        ("set store0_x 0", &[("store-source", 0)]),
        ("set store1_w 4", &[("store-source", 0)]),
        ("mov.a0 _ a0.x, set store0_x 5", &[("store-source", 0)]),
        ("mov.p t[].x a0.x, set store0_varying 1", &[("store-target", 0)]),
        ("mov.p t[].z a0.x, set store1_varying 1", &[("store-target", 0)]),
        ("mov.p _ ?8", &[("source", 0)]),
        ("mov.p _ ^acc0", &[("result", 0)]),
        ("nop\nmov.p _ ^^acc0", &[("result", 1)]),
        ("nop\nmov.p _ ^acc0", &[("result", 1)]),
        ("nop\nmov.a0 _ a0.x\nmov.p _ ^^acc0", &[("result", 2)]),
        // A branch to the instruction that computes leaves what is in front of the reader as it is.
        ("mov.p _ a0.x, branch l\nl: nop\nmov.p _ ^acc0", &[("result", 2)]),
        ("mov.p _ t[304].x", &[("memory", 0)]),
        ("mov.p _ a0.x, branch @1", &[("branch-target", 0)]),
        ("l: nop, branch l", &[("branch-condition", 0)]),
        (
            "mov.a0 _ a0.x, branch @7",
            &[("branch-target", 0), ("branch-condition", 0)],
        ),
    ];
    for (text, rules) in broken {
        assert_eq!(vertex(text), *rules, "{text}");
    }
    for text in [
        // What an idle unit would do does not count.
        "set acc_op 3, set mul_op 2, set complex_op 1, set pass_op 0",
        "mov.p t[].x a0.x, mov.m0 v0.z a0.y",
        "mov.p v0.x a0.x, mov.m0 t[].z a0.y",
        "mov.p t[].x a0.x, mov.m0 $0.w a0.y",
        "mov.a0 _ a0.x\nmov.p _ ^acc0",
        "mov.a0 _ a0.x\nnop\nmov.p _ ^^acc0",
        "load a1\nmov.p _ ^port.x",
        // The reader is reached from elsewhere too, behind a result that is not known.
        "mov.p _ a0.x, branch l\nl: mov.p _ ^acc0",
        "mov.p _ a0.x, branch l\nnop\nl: mov.p _ ^^acc0",
        "mov.p _ a0.x, branch l\nnop\nl: nop\nmov.p _ ^^acc0",
        "mov.p _ t[303].x",
        "mov.p _ t[304+a1].x",
        "l: mov.p _ a0.x, branch l",
        "sel.m01 _ a0.x t[1].x t[1].y",
    ] {
        assert_eq!(vertex(text), [], "{text}");
    }
    assert_eq!(vertex(&"nop\n".repeat(512)), []);
    assert_eq!(vertex(&"nop\n".repeat(513)), [("program-length", 0)]);
}

#[test]
fn fragment_rules_are_broken_and_kept() {
    let broken: &[(&str, &[(&str, u32)])] = &[
        ("op18.v0 $0 $1 $2, stop", &[("operation", 0)]),
        ("op18.s0 $0.x $1.x $2.x, stop", &[("operation", 0)]),
        ("op1.v1 $0 $1 $2, stop", &[("operation", 0)]),
        ("nop\nop1.s1 $0.x $1.x $2.x, stop", &[("operation", 1)]),
        ("op8.s2 $0.x $1.x, stop", &[("operation", 0)]),
        ("op10.v2 $0 $1.x $1.y, stop", &[("operation", 0)]),
        ("sum3.s1 $0.x $1.x, stop", &[("operation", 0)]),
        ("load.v $0 kind1(0), stop", &[("operation", 0)]),
        ("load.v $0 ^const0, stop", &[("register", 0)]),
        ("mov.v0 $0 ^const0, stop", &[("pipeline-register", 0)]),
        ("mov.v1 $0 ^const1, stop", &[("pipeline-register", 0)]),
        ("mov.s0 $0.x ^uniform.x, stop", &[("pipeline-register", 0)]),
        ("add.s1 $0.x $1.x ^texture.x, stop", &[("pipeline-register", 0)]),
        ("mov.s2 $0.x ^const0.x, stop", &[("pipeline-register", 0)]),
        ("mul.v2 $0 $0.x ^const0, stop", &[("pipeline-register", 0)]),
        ("mov.v1 $0 ^v0, stop", &[("pipeline-register", 0)]),
        ("mov.s1 $0.x ^s0, stop", &[("pipeline-register", 0)]),
        ("sel.v1 $0 $1 $2, stop", &[("pipeline-register", 0)]),
        ("sel.s1 $0.x $1.x $2.x, stop", &[("pipeline-register", 0)]),
        ("texld 0, mov.v1 $0 ^texture, sync, stop", &[("sampler", 0)]),
        (
            "load.v ^discard.xy 0.xy, texld 0, mov.v1 $0 ^texture, stop",
            &[("sync", 0)],
        ),
        ("dFdx.v1 $0 $1 -$1, stop", &[("sync", 0)]),
        ("dFdy.s1 $0.x $1.x -$1.x, stop", &[("sync", 0)]),
        ("store.t -1 $0, mov.s2 $0.x $1.x, stop", &[("combine-store", 0)]),
        ("nop, set padding 1, stop", &[]),
        ("mov.s0 $0.x $1.x, set padding 1, stop", &[("unknown-bits", 0)]),
        ("nop, set control.unknown 1, stop", &[("unknown-bits", 0)]),
        ("branch .1000, stop", &[("branch-target", 0)]),
        ("branch.gt $0.x $0.y .1, stop", &[("branch-target", 0)]),
        ("discard, set branch.kind 5, stop", &[("operation", 0)]),
        ("nop", &[("program-end", 0)]),
        ("nop\nnop", &[("program-end", 1)]),
        ("nop\n.word 0x2", &[("instruction", 1), ("program-end", 0)]),
    ];
    for (text, rules) in broken {
        assert_eq!(fragment(text, None), *rules, "{text}");
    }
    for text in [
        "mov.v0 $0 ^const0, const0 1.0, stop",
        "mov.v1 $0 ^const1, const1 1.0, stop",
        "mov.s0 $0.x ^uniform.x, load.u 0, stop",
        "load.v ^discard.xy 0.xy, texld 0, add.s1 $0.x $1.x ^texture.x, sync, stop",
        // An operand that an operation does not read.
        "mov.v0 $0 $1, set vec_mul.b 12, stop",
        "mov.s0 $0.x $1.x, set float_mul.b 48, stop",
        "mul.v0 $0 $1 $2, mov.v1 $0 ^v0, stop",
        "mul.s0 $1.x $2.x, mov.s1 $0.x ^s0, stop",
        "mul.s0 $1.x $2.x, sel.v1 $0 $1 $2, stop",
        "dFdx.v1 $0 $1 -$1, sync, stop",
        "dFdy.s1 $0.x $1.x -$1.x, sync, stop",
        "fb_color $1, mov.s2 $0.x $1.x, stop",
        "l: nop, branch l",
        "branch.never $0.x $0.y .1000, stop",
        "discard",
        "sum3.v1 $0 $1, stop",
    ] {
        assert_eq!(fragment(text, None), [], "{text}");
    }
}

/// Temporaries count down from -1: as many as the stack has vec4s.
#[test]
fn temporaries_are_inside_the_stack() {
    for (text, stack, is_inside) in [
        ("store.t -1 $0, stop", 1, true),
        ("store.t -2 $0, stop", 1, false),
        ("store.t -2 $0, stop", 2, true),
        ("store.t 0 $0, stop", 1, false),
        ("store.t -1.w $0.x, stop", 1, true),
        ("store.t -2.w $0.x, stop", 1, false),
        ("store.t -1.zw $0.x, stop", 1, true),
        ("store.t -2.zw $0.x, stop", 1, false),
        ("store.t -9+$1.x $0, stop", 1, true),
        ("load.t -1, mov.v0 $0 ^uniform, stop", 1, true),
        ("load.t -2, mov.v0 $0 ^uniform, stop", 1, false),
        ("load.t -2.y, mov.v0 $0 ^uniform, stop", 1, false),
        ("load.t -9+$1.x, mov.v0 $0 ^uniform, stop", 1, true),
        ("load.u 9, mov.v0 $0 ^uniform, stop", 1, true),
        ("fb_color $0, stop", 0, true),
    ] {
        let want: &[(&str, u32)] = if is_inside { &[] } else { &[("stack", 0)] };
        assert_eq!(fragment(text, Some(stack)), want, "{text}");
        assert_eq!(fragment(text, None), [], "{text}");
    }
}

/// Random programs of the tables' rows break no rule.
#[test]
fn random_programs_are_verified() {
    let mut random = fastrand::Rng::with_seed(5);
    for length in (1..60).chain([511, 512]) {
        let program = gp::random::program(&mut random, length);
        assert_eq!(program.len(), length);
        let mut findings = gp::flow::verify(&program);
        // Results and stores of units that compute nothing are what a random choice meets now and then.
        findings.retain(|found| !["result", "branch-condition"].contains(&found.rule));
        assert_eq!(findings, [], "{length}");
        let words = pp::random::program(&mut random, length);
        assert_eq!(pp::flow::instructions(&words).0.len(), length);
        let mut findings = pp::flow::verify(&words, None);
        findings.retain(|found| !["sync"].contains(&found.rule));
        assert_eq!(findings, [], "{length}");
    }
}

#[test]
fn successors_follow_the_branches() {
    let graph = |nodes: Vec<utgard::flow::Node>| -> Vec<(u32, Vec<usize>, bool)> {
        assert!(nodes.iter().all(|node| node.cycles == 1));
        nodes
            .into_iter()
            .map(|node| (node.address, node.next, node.ends))
            .collect()
    };
    let words =
        gp::assemble("mov.p _ a0.x, branch end\nmov.p _ a0.x, branch next\nnext: mov.p _ a0.x, branch @9\nend: nop\n")
            .unwrap();
    let program: Vec<gp::Instruction> = words.into_iter().map(gp::Instruction::decode).collect();
    assert_eq!(
        graph(gp::flow::nodes(&program)),
        [
            (0, vec![1, 3], false),
            (1, vec![2], false),
            (2, vec![3], true),
            (3, vec![], true)
        ]
    );
    // One word, three and one: addresses are those of words.
    let words = pp::assemble(
        "nop\nl: branch.gt $0.x $0.y end\nnop, branch l\nbranch.never $0.x $0.y l\nend: mov.v0 $0 $1\ndiscard\nnop, stop\nnop",
    )
    .unwrap();
    let (code, _) = pp::flow::instructions(&words);
    let address: Vec<u32> = code.iter().map(|(address, _)| *address).collect();
    assert_eq!(
        graph(pp::flow::nodes(&code)),
        [
            (address[0], vec![1], false),
            (address[1], vec![2, 4], false),
            (address[2], vec![1], false),
            (address[3], vec![4], false),
            (address[4], vec![5], false),
            (address[5], vec![], true),
            (address[6], vec![], true),
            (address[7], vec![], false),
        ]
    );
    assert_eq!(address, [0, 1, 5, 9, 13, 16, 20, 21]);
}
