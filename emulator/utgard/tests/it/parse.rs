//! The texts' rules: what a statement means, and what is rejected, with place and reason.

use fastrand::Rng;
use loader::SourceError;
use loader::mbs::{Program, Stage};
use utgard::gp::{self, MulOp, Source};
use utgard::{pp, shader};

/// A text, line and column of its error, and a part of the message.
type Wrong = (&'static str, (u32, u32), &'static str);

fn are_refused<T: std::fmt::Debug>(rows: &[Wrong], assemble: impl Fn(&str) -> Result<T, SourceError>) {
    for (text, place, part) in rows {
        let error = assemble(text).expect_err(text);
        assert_eq!(
            ((error.line as u32, error.column as u32), true),
            (*place, error.message.contains(part)),
            "{text}: {error}"
        );
    }
}

#[test]
fn vertex_texts_are_refused_with_place_and_reason() {
    are_refused(
        &[
            ("mov.p", (1, 1), "a destination is missing"),
            ("foo _ a0.x", (1, 1), "not a GP operation"),
            ("mov.q _ a0.x", (1, 1), "`q` is not a unit"),
            ("mov.p _ a0.x, mov.p _ a0.x", (1, 15), "uses pass already"),
            ("mov.m1 _ a0.x, sel.m01 _ a0.x a0.y a0.z", (1, 16), "uses mul1 already"),
            ("nop 1", (1, 5), "takes 0 operands, not 1"),
            ("load", (1, 1), "takes 1 operands, not 0"),
            ("load v0", (1, 6), "where a source is expected"),
            ("set flags", (1, 1), "takes 2 operands, not 1"),
            ("set foo 1", (1, 5), "not a field of a GP instruction"),
            ("set flags 16", (1, 11), "16 does not fit 4 bits"),
            ("set flags -1", (1, 11), "-1 does not fit 4 bits"),
            ("set flags x", (1, 11), "where a number is expected"),
            ("branch", (1, 1), "takes a label"),
            ("branch a b c", (1, 1), "takes a label"),
            ("mov.p _ a0.x, branch ^3 @0", (1, 22), "the pass unit's result"),
            ("branch nowhere", (1, 8), "not a label"),
            ("branch @512", (1, 8), "below 512"),
            ("foo.a0 _ a0.x", (1, 1), "not an operation of this unit"),
            ("foo.c _ a0.x", (1, 1), "not an operation of this unit"),
            ("foo.p _ a0.x", (1, 1), "not an operation of this unit"),
            ("add.a0 _ a0.x", (1, 1), "takes 2 operands, not 1"),
            ("mov.a0 _ a0.x a0.y", (1, 15), "takes 1 operands, not 2"),
            ("add.a0 _ a0.x 0.0, min.a1 _ a0.x 0.0", (1, 20), "share one operation"),
            ("complex1.m0 _ a0.x a0.y", (1, 1), "not an operation of this multiplier"),
            ("sel.m0 _ a0.x a0.y", (1, 1), "not an operation of this multiplier"),
            ("complex2.m1 _ a0.x a0.y", (1, 1), "not an operation of this multiplier"),
            (
                "complex2.m0 _ a0.x a0.y, op2.m1 _ a0.x a0.y",
                (1, 26),
                "share one operation",
            ),
            ("mul.m01 _ a0.x a0.y", (1, 1), "does not take both"),
            ("sel.m01 _ a0.x a0.y", (1, 1), "takes 3 operands, not 2"),
            ("mul.m0 _ a0.x", (1, 1), "takes 2 operands, not 1"),
            ("rcp.c _", (1, 1), "takes 1 operands, not 0"),
            ("clamp.p _ a0.x t[0].x", (1, 1), "takes 3 operands, not 2"),
            ("clamp.p _ a0.x t[0].y t[0].x", (1, 16), "limits of a clamp"),
            ("add.a0 _ a0.x ^complex", (1, 15), "there its number means 0.0"),
            ("mul.m0 _ a0.x -^complex", (1, 15), "there its number means 1.0"),
            ("mov.p _ ?32", (1, 9), "where a source is expected"),
            ("mov.p _ ?-1", (1, 9), "where a source is expected"),
            ("mov.p _ ^port.q", (1, 9), "not a component"),
            ("mov.p _ ^port.xy", (1, 9), "not a component"),
            ("mov.p _ ^acc2", (1, 9), "not a result of the last two"),
            ("mov.p _ ^^complex", (1, 9), "not a result of the last two"),
            ("nop\nmov.p _ ^6", (2, 9), "not a result of the last two"),
            ("mov.p _ a16.x", (1, 9), "where a source is expected"),
            ("mov.p _ $16.x", (1, 9), "where a source is expected"),
            ("mov.p _ a0", (1, 9), "where a source is expected"),
            ("mov.p _ t[512].x", (1, 9), "N below 512"),
            ("mov.p _ t[-1].x", (1, 9), "N below 512"),
            ("mov.p _ t[0+a7].x", (1, 9), "t[N] or t[N+aR]"),
            ("add.a0 _ a0.x a1.x", (1, 15), "port 0 loads another"),
            ("add.a0 _ $0.x@0 a0.x", (1, 17), "port 0 loads another"),
            ("add.a0 _ $1.x $2.x, mov.p _ $3.x", (1, 29), "port 0 loads another"),
            ("add.a0 _ t[0].x t[1].x", (1, 17), "another vec4 from memory"),
            ("add.a0 _ t[0].x t[0+a1].x", (1, 17), "another vec4 from memory"),
            ("mov.p v0 a0.x", (1, 7), "a destination is expected: ^4"),
            ("nop\nmov.c v0 a0.x", (2, 7), "a destination is expected: ^11"),
            ("mov.p q0.x a0.x", (1, 7), "cannot be stored to"),
            ("mov.p v16.x a0.x", (1, 7), "cannot be stored to"),
            ("mov.p v0.x/v1.y a0.x", (1, 7), "x and y of an instruction"),
            ("mov.p v0.z/$0.w a0.x", (1, 7), "z and w of an instruction"),
            ("mov.p t[].z/$0.w a0.x", (1, 7), "z and w of an instruction"),
            ("mov.p v0.x/v0.x a0.x", (1, 7), "v0.x is stored already"),
            ("l: nop\nl: nop", (2, 1), "is there already"),
        ],
        gp::assemble,
    );
}

#[test]
fn vertex_texts_mean_their_words() {
    let one = |text: &str| {
        let words = gp::assemble(text).unwrap_or_else(|error| panic!("{}", error.render(text, "gp")));
        gp::Instruction::decode(*words.last().unwrap())
    };
    let same = |a: &str, b: &str| assert_eq!(one(a), one(b), "{a} / {b}");
    // By number and by unit: `^N` is unit `N % 6` of instruction `N / 6`.
    let front = "nop\nnop\nnop\n";
    for (number, name) in [
        (12, "^acc0"),
        (13, "^acc1"),
        (14, "^mul0"),
        (15, "^mul1"),
        (16, "^pass"),
        (17, "^complex"),
        (6, "^^acc0"),
        (9, "^^mul1"),
        (10, "^^pass"),
    ] {
        same(&format!("{front}mov.p _ ^{number}"), &format!("{front}mov.p _ {name}"));
    }
    for number in [5, 11, 18, 22] {
        assert!(gp::assemble(&format!("{front}mov.p _ ^{number}")).is_err(), "{number}");
    }
    same("mov.p ^4/v0.x a0.x", "mov.p v0.x a0.x");
    same("nop\nmov.p ^10/v0.x a0.x", "nop\nmov.p _/v0.x a0.x");
    same("mov.p _ ?21", "mov.p _ _");
    same("mov.p _ ?4, set register1_address 0", "mov.p _ $0.x");
    same(
        "mul.m1 _ a0.x a0.y, complex2.m0 _ a0.z a0.w",
        "complex2.m0 _ a0.z a0.w, mul.m1 _ a0.x a0.y",
    );
    assert_eq!(
        one("mul.m1 _ a0.x a0.y, complex2.m0 _ a0.z a0.w").mul_op,
        MulOp::Complex2
    );
    same("mov.p _ a0.x, branch ^4 @0", "mov.p _ a0.x, branch @0");
    // The second register is read through port 0.
    same("add.a0 _ $1.x $2.y", "add.a0 _ $1.x $2.y@0");
    same("add.a0 _ $1.x $1.y, mov.p _ $2.x", "add.a0 _ $1.x $1.y, mov.p _ $2.x@0");
    let both = one("sel.m01 _ a0.x a0.y a0.z");
    let port = |letter| Source::Port0(letter);
    use utgard::vector::Component::{X, Y, Z};
    assert_eq!(
        (both.mul0_b, both.mul0_a, both.mul1_a, both.mul1_b),
        (port(X), port(Y), port(Z), Source::Idle)
    );
    for (text, flags, branch) in [
        ("mov.p t[].x a0.x", gp_flags(true), false),
        ("mov.p _ a0.x, branch @0", 13, true),
        ("branch @0, mov.p t[].x a0.x", 13, true),
        ("mov.p t[].x a0.x, branch @0", 13, true),
        ("mov.p v0.x a0.x", 0, false),
        ("mov.p v0.x a0.x, set flags 5", 5, false),
    ] {
        assert_eq!((one(text).flags, one(text).branch), (flags, branch), "{text}");
    }
    for target in [0, 255, 256, 511] {
        assert_eq!(one(&format!("branch @{target}")).target(), target);
    }
    assert_eq!(one("nop\nl:\nnop\nbranch l").target(), 1);
    assert_eq!(one("a: nop\nb: nop\nbranch b").target(), 1);
    assert_eq!(one("set load_address 511").load_address, 511);
    assert_eq!(
        one("mov.p _ t[511+a6].x, set pass_op 0").load_offset.label(),
        "undocumented 0x6"
    );
}

fn gp_flags(temporary: bool) -> u16 {
    if temporary { gp::flags::TEMPORARY } else { 0 }
}

#[test]
fn fragment_texts_are_refused_with_place_and_reason() {
    are_refused(
        &[
            (".word", (1, 1), "takes one number"),
            (".word 1 2", (1, 1), "takes one number"),
            (".word x", (1, 7), "where a number is expected"),
            (".word 1, nop", (1, 10), "must be alone"),
            ("foo", (1, 1), "not a PP operation"),
            ("foo.v0 $0 $1", (1, 1), "not an operation of this unit"),
            ("foo.s1 $0.x $1.x", (1, 1), "not an operation of this unit"),
            ("mul.bad.v0 $0 $1 $2", (1, 1), "modifiers are sat, pos and int"),
            ("mul..v0 $0 $1 $2", (1, 1), "modifiers are sat, pos and int"),
            ("mul.sat.int.v0 $0 $1 $2", (1, 1), "one at most"),
            ("nop 1", (1, 5), "takes 0 operands, not 1"),
            ("sync 1", (1, 6), "takes 0 operands, not 1"),
            ("stop 1", (1, 6), "takes 0 operands, not 1"),
            ("discard 1", (1, 9), "takes 0 operands, not 1"),
            ("mov.v0 $0 $1, mov.v0 $0 $1", (1, 15), "uses this unit already"),
            ("mov.v0 $0 $1 $2 $3", (1, 11), "takes 1 operands, not 4"),
            ("mul.v0 $0", (1, 1), "takes 2 operands, not 1"),
            ("set padding", (1, 1), "takes 2 operands, not 1"),
            ("set foo.x 1", (1, 5), "not a field of a PP unit"),
            ("set foo 1", (1, 5), "not a field of a PP unit"),
            ("set control.length 1", (1, 5), "not a field of a PP unit"),
            ("set control.units 1", (1, 5), "not a field of a PP unit"),
            ("set branch.kind 16, discard", (1, 17), "16 does not fit 4 bits"),
            (
                "stop, set vec_mul.op 1",
                (1, 1),
                "`set` of vec_mul.op, but the instruction lacks",
            ),
            ("mov.v0 $12 $0", (1, 8), "where a register is expected"),
            ("mov.s0 $0 $1.x", (1, 8), "where a scalar such as"),
            ("mov.s0 $0.xy $1.x", (1, 8), "where a scalar such as"),
            ("mov.s0 $0.q $1.x", (1, 8), "where a scalar such as"),
            ("mov.v0 $0 $1.xyzwx", (1, 11), "no swizzle of one to four"),
            ("mov.v0 $0 $1.", (1, 11), "no swizzle of one to four"),
            ("mov.v0 $0 $1.q", (1, 11), "no swizzle of one to four"),
            ("mov.v0 $0.yx $1", (1, 8), "components in order, each once"),
            ("mov.v0 $0.xx $1", (1, 8), "components in order, each once"),
            ("mov.v0 $0 ^v0", (1, 11), "where a register is expected"),
            ("mov.s0 $0.x ^s0", (1, 13), "where a scalar such as"),
            ("load.u x", (1, 8), "where an index such as"),
            ("load.u 1.xw", (1, 8), "where an index such as"),
            ("load.u 1.q", (1, 8), "where an index such as"),
            ("load.u 32768", (1, 8), "the index 32768 is outside -32768 to 32767"),
            ("load.t -32769", (1, 8), "the index -32769 is outside"),
            ("load.u 8192.x", (1, 8), "the index 32768 is outside"),
            ("load.u 16384.xy", (1, 8), "the index 32768 is outside"),
            ("load.v $0 64", (1, 11), "the index 64 is outside 0 to 63"),
            ("load.v $0 16.x", (1, 11), "the index 64 is outside 0 to 63"),
            ("load.v $0 32.xy", (1, 11), "the index 64 is outside 0 to 63"),
            ("load.v $0 -1", (1, 11), "the index -1 is outside"),
            ("load.v $0", (1, 1), "takes 2 operands, not 1"),
            ("load.v $0 foo(0)", (1, 11), "not a kind of varying load"),
            ("load.v $0 normalize(0)", (1, 11), "not a kind of varying load"),
            ("texld.q 0", (1, 1), "not a sampling mode"),
            ("texld 0.x", (1, 7), "has no components"),
            ("texld 4096", (1, 7), "the sampler 4096 is outside 0 to 4095"),
            ("texld.b 0", (1, 1), "takes 2 operands, not 1"),
            ("mul.v2", (1, 1), "a destination is missing"),
            ("mul.sat.v2 $0 $1.x $2", (1, 1), "have no modifiers"),
            ("atan_pt1.sat.v2 $0 $1.x", (1, 1), "have no modifiers"),
            ("mul.v2 $0 $1.x", (1, 1), "takes 3 operands, not 2"),
            ("atan2_pt1.v2 $0 $1.x", (1, 1), "takes 3 operands, not 2"),
            ("foo.v2 $0 $1.x", (1, 1), "not an operation of this unit"),
            ("rcp.s2 $0.x", (1, 1), "takes 2 operands, not 1"),
            ("foo.s2 $0.x $1.x", (1, 1), "not an operation of this unit"),
            ("store.t -1", (1, 1), "takes 2 operands, not 1"),
            ("store.t -1.x $0", (1, 14), "where a scalar such as"),
            ("store.t -1 $0.x", (1, 12), "where a register is expected"),
            ("store.t 32768 $0", (1, 9), "the index 32768 is outside"),
            ("fb_color", (1, 1), "takes 1 operands, not 0"),
            ("branch.foo $0.x $0.y .0", (1, 1), "conditions are gt"),
            ("branch.gt .0", (1, 1), "takes 3 operands, not 1"),
            ("branch $0.x $0.y .0", (1, 13), "takes 1 operands, not 3"),
            ("branch x", (1, 8), "neither a label nor a distance"),
            ("branch .67108864", (1, 8), "neither a label nor a distance"),
            ("branch .-67108865", (1, 8), "neither a label nor a distance"),
            ("const0", (1, 1), "takes one to four numbers"),
            ("const0 1.0 1.0 1.0 1.0 1.0", (1, 1), "takes one to four numbers"),
            ("const1 1.0 x", (1, 12), "not an fp16 number"),
            ("l: nop\nl: nop", (2, 1), "is there already"),
        ],
        pp::assemble,
    );
}

fn fragment(text: &str) -> Vec<(u32, pp::Instruction)> {
    let words = pp::assemble(text).unwrap_or_else(|error| panic!("{}", error.render(text, "pp")));
    let (code, broken) = pp::flow::instructions(&words);
    assert_eq!(broken, None);
    code
}

#[test]
fn fragment_texts_mean_their_words() {
    let one = |text: &str| fragment(text)[0].1;
    let constant = one("const0 1.0 -0.5 65504.0, const1 2.0");
    assert_eq!(constant.const0.unwrap().halves(), [0x3c00, 0xb800, 0x7bff, 0]);
    assert_eq!(constant.const1.unwrap().halves(), [0x4000, 0, 0, 0]);
    // The bits of a varying by memory, by register and built in: docs/spec/mali/pp.md, section 5.
    let varying = |text: &str| one(&format!("load.v {text}")).varying.unwrap();
    use pp::{Alignment, Modifier, Register, Scalar, VaryingKind};
    for (text, index, alignment, register, component) in [
        ("$1 7", 7, Alignment::Varying4, 15, 0),
        ("$1.xy 7.xy", 14, Alignment::Vec2, 15, 0),
        ("$1.xy 7.zw", 15, Alignment::Vec2, 15, 0),
        ("$1.x 7.w", 31, Alignment::Float, 15, 0),
        ("$1 7+$2.w", 7, Alignment::Varying4, 2, 3),
        ("$1 63", 63, Alignment::Varying4, 15, 0),
        ("$1 15.w", 63, Alignment::Float, 15, 0),
    ] {
        let unit = varying(text);
        assert_eq!(
            (unit.kind, unit.index, unit.alignment, unit.register.0, unit.component),
            (VaryingKind::Plain, index, alignment, register, component),
            "{text}"
        );
    }
    for (text, kind) in [
        ("$1 divide_z(0)", VaryingKind::DivideZ),
        ("$1 divide_w(0)", VaryingKind::DivideW),
        ("$1 cube(0)", VaryingKind::Cube),
        ("$1 $2", VaryingKind::Register),
        ("$1 -abs($2)", VaryingKind::Register),
        ("$1 abs($2)", VaryingKind::Register),
        ("$1 divide_z($2)", VaryingKind::RegisterDivideZ),
        ("$1 divide_w($2)", VaryingKind::RegisterDivideW),
        ("$1 cube(abs($2))", VaryingKind::RegisterCube),
        ("$1 normalize(-$2)", VaryingKind::Normalize),
        ("$1 gl_FragCoord", VaryingKind::FragCoord),
        ("$1 gl_PointCoord", VaryingKind::PointCoord),
        ("$1 gl_FrontFacing", VaryingKind::FrontFacing),
    ] {
        let unit = varying(text);
        assert_eq!((unit.kind, unit.destination), (kind, Register(1)), "{text}");
        assert_eq!(
            (unit.absolute, unit.negate),
            (text.contains("abs"), text.contains('-')),
            "{text}"
        );
        let aligned = match text {
            "$1 normalize(-$2)" => Alignment::Vec4,
            _ if text.contains("($2)") || text.ends_with("$2") || text.contains("abs") => Alignment::Float,
            _ => Alignment::Varying4,
        };
        assert_eq!(unit.alignment, aligned, "{text}");
    }
    for (text, index, alignment) in [
        ("load.u 32767", 0x7fff, Alignment::Vec4),
        ("load.t -32768", 0x8000, Alignment::Vec4),
        ("load.u 3.zw", 7, Alignment::Vec2),
        ("load.u -1.y", 0xfffd, Alignment::Float),
    ] {
        let unit = one(text).load.unwrap();
        assert_eq!((unit.index, unit.alignment), (index, alignment), "{text}");
    }
    let unit = one("mul.int.v0 $3.yw -abs($1.zy) ^const0, const0 1.0")
        .vec_mul
        .unwrap()
        .unit();
    assert_eq!(
        (unit.destination, unit.mask, unit.modifier),
        (Register(3), 10, Modifier::Integer)
    );
    assert_eq!(
        (unit.a.swizzle.letters(), unit.a.absolute, unit.a.negate),
        ("zyyy".to_owned(), true, true)
    );
    assert_eq!(
        (unit.b.register, unit.b.swizzle.letters()),
        (Register::CONST0, "xyzw".to_owned())
    );
    // Without a destination nothing is written.
    let nothing = one("mul.v0 $1 $2, mul.s0 $1.x $2.x");
    assert_eq!(
        (nothing.vec_mul.unwrap().mask, nothing.float_mul.unwrap().write),
        (0, false)
    );
    let some = one("add.pos.s1 $1.w ^s0 -$2.x, mul.s0 $1.x $2.x").float_acc.unwrap();
    assert_eq!(
        (some.destination, some.write, some.a_is_mul, some.b_negate),
        (Scalar(7), true, true, true)
    );
    assert!(one("mov.v1 $0 ^v0, mul.v0 $1 $2").vec_acc.unwrap().a_is_mul);
    assert!(!one("mov.v1 $0 $1").vec_acc.unwrap().a_is_mul);
    for (at, name) in ["never", "gt", "eq", "ge", "lt", "ne", "le"].iter().enumerate() {
        let unit = one(&format!("branch.{name} $1.x $2.y .0")).branch.unwrap();
        assert_eq!((unit.condition as usize, unit.a, unit.b), (at, Scalar(4), Scalar(9)));
    }
    for distance in [-67108864, -1, 0, 67108863] {
        assert_eq!(
            one(&format!("branch .{distance}")).branch.unwrap().signed_target(),
            distance
        );
    }
    let set = one("mov.v0 $0 $1, set vec_mul.op 3, set control.prefetch 1, set padding 5");
    assert_eq!(
        (set.vec_mul.unwrap().op, set.control.prefetch, set.padding),
        (pp::MulOp::MulX8, true, 5)
    );
    assert_eq!(pp::assemble(".word 0x12345678\n.word 7").unwrap(), [0x1234_5678, 7]);
}

/// Every instruction has the length of the next, and a branch that of its target.
#[test]
fn lengths_of_other_instructions_are_filled_in() {
    let code = fragment("nop\nl: mov.v0 $0 $1\nbranch l\nbranch end\nmov.v0 $0 $1, mov.v1 $0 $1\nend: nop, stop");
    let lengths: Vec<u32> = code.iter().map(|(_, i)| i.words()).collect();
    assert_eq!(lengths, [1, 3, 4, 4, 4, 1]);
    let next: Vec<(u32, bool)> = code
        .iter()
        .map(|(_, i)| (i.control.next_length, i.control.prefetch))
        .collect();
    assert_eq!(
        next,
        [(3, true), (4, true), (4, true), (4, true), (1, true), (0, false)]
    );
    let branches: Vec<(i32, u32)> = code
        .iter()
        .filter_map(|(_, i)| i.branch)
        .map(|branch| (branch.signed_target(), branch.target_length))
        .collect();
    assert_eq!(branches, [(-3, 3), (8, 1)]);
    // Past the end, into the middle of an instruction, and to itself.
    let code = fragment("branch .4\nbranch .1\nbranch .0\nbranch .-1");
    let branches: Vec<u32> = code.iter().map(|(_, i)| i.branch.unwrap().target_length).collect();
    assert_eq!(branches, [4, 0, 4, 0]);
    // A label behind the last instruction.
    assert_eq!(fragment("branch end\nend:")[0].1.branch.unwrap().target_length, 0);
}

/// All bits of any words come back from their text.
#[test]
fn any_words_come_back() {
    let mut random = Rng::with_seed(11);
    for round in 0..400 {
        let program = gp::random::program(&mut random, 1 + round % 20);
        let mut words: Vec<[u32; 4]> = program.iter().map(gp::Instruction::encode).collect();
        if round % 2 == 0 {
            words
                .iter_mut()
                .flatten()
                .for_each(|word| *word ^= 1 << random.u32(..32));
        }
        let text = gp::disassemble(&words, gp::Options { words: round % 3 == 0 });
        assert_eq!(gp::assemble(&text).as_ref(), Ok(&words), "{text}");
        let line = |row: &utgard::text::Row| {
            let cells: Vec<&str> = row.cells.iter().map(|cell| cell.1.as_str()).collect();
            format!("{:03}: {}\n", row.address, cells.join(", "))
        };
        let text: String = gp::rows(&words).iter().map(line).collect();
        assert_eq!(gp::assemble(&text).as_ref(), Ok(&words), "{text}");
        let mut words = pp::random::program(&mut random, 1 + round % 20);
        if round % 2 == 0 {
            let at = random.usize(..words.len());
            words[at] ^= 1 << random.u32(..32);
        }
        let text = pp::disassemble(&words, pp::Options { words: round % 3 == 0 });
        assert_eq!(pp::assemble(&text).as_ref(), Ok(&words), "{text}");
    }
}

#[test]
fn listings_have_words_and_origins() {
    let text = "mov.p _ a0.x, branch l\nnop\nl: mov.a0 $1.x ^^pass, mov.p _ a0.y, branch l";
    let words = gp::assemble(text).unwrap();
    assert_eq!(
        gp::disassemble(&words, gp::Options { words: true })
            .lines()
            .map(|line| line.split("  # ").next().unwrap())
            .collect::<Vec<_>>(),
        [
            "000: mov.p ^4 a0.x,",
            "     branch ^4 002",
            "001: nop",
            "# from 000, 002",
            "002: mov.a0 ^12/$1.x ^4,",
            "     mov.p ^16 a0.y,",
            "     branch ^16 002"
        ]
    );
    assert!(
        gp::disassemble(&words, gp::Options { words: true })
            .contains("001: nop  # ad4ad6b5 038002b5 0007ff80 000ad500\n")
    );
    assert!(!gp::disassemble(&words, gp::Options::default()).contains('#'));
    assert!(
        gp::disassemble(
            &gp::assemble("mov.p _ ^^acc1, branch @7").unwrap(),
            gp::Options::default()
        )
        .contains("^^acc1,\n     branch ^4 @007")
    );
}

#[test]
fn listings_of_fragment_programs_have_words_and_origins() {
    let words = pp::assemble("l: nop\nbranch.gt $0.x $0.y l\nbranch l\ndiscard").unwrap();
    let text = pp::disassemble(&words, pp::Options { words: true });
    let lines: Vec<&str> = text.lines().map(|line| line.split("  # ").next().unwrap()).collect();
    // The words of the branches, not of the discard.
    assert_eq!((lines.len(), lines[0]), (5, "# from 1, 5"), "{text}");
    assert!(
        lines[1].starts_with("  0: nop") && lines[2].starts_with("  1: branch.gt $0.x $0.y"),
        "{text}"
    );
    assert!(text.contains(&format!("  0: nop  # {:08x}\n", words[0])), "{text}");
    assert!(!pp::disassemble(&words, pp::Options::default()).contains('#'), "{text}");
}

fn program(text: &str, stage: Stage) -> Program {
    let mbs = shader::assemble(text).unwrap_or_else(|error| panic!("{}", error.render(text, "s")));
    mbs.program(stage).unwrap().unwrap()
}

#[test]
fn directives_are_refused_with_place_and_reason() {
    are_refused(
        &[
            ("", (1, 1), "no program"),
            ("nop\n.vertex", (1, 1), "a program begins with"),
            (".vertex\n.foo 1", (2, 1), "is not a directive"),
            (".vertex\n.version 1, 2", (2, 13), "directives have no commas"),
            (".vertex\n.version", (2, 1), "`.version` with 0 numbers"),
            (".vertex\n.version none", (2, 1), "`.version` with 1 numbers"),
            (".vertex\n.version x", (2, 10), "where a number is expected"),
            (".vertex\n.instructions 1 2", (2, 1), "`.instructions` with 2 numbers"),
            (".vertex\n.instructions", (2, 1), "`.instructions` with 0 numbers"),
            (".fragment\n.stack 1", (2, 1), "`.stack` with 1 numbers"),
            (".fragment\n.discard 1 2", (2, 1), "`.discard` with 2 numbers"),
            (".fragment\n.buffers 1 2", (2, 1), "`.buffers` with 2 numbers"),
            (
                ".fragment\n.buffers 256 0 0 0 0 0 0 0",
                (2, 1),
                "`.buffers` with 8 numbers",
            ),
            (".vertex\n.uniforms 1", (2, 1), "is for a table without symbols"),
            (
                ".vertex\n.uniform vec4 a\n.uniforms",
                (3, 1),
                "is for a table without symbols",
            ),
            (".vertex\n.uniform vec4", (2, 1), "takes a type and a name"),
            (".vertex\n.uniform vec9 a", (2, 10), "is not a type"),
            (".vertex\n.uniform vec4[0] a", (2, 10), "is not a type"),
            (".vertex\n.uniform vec4[x] a", (2, 10), "is not a type"),
            (".vertex\n.uniform vec4 a\\xg0", (2, 15), "an escape is"),
            (".vertex\n.uniform vec4 a\\x0", (2, 15), "an escape is"),
            (".vertex\n.uniform vec4 a offset", (2, 17), "FIELD=VALUE is expected"),
            (
                ".vertex\n.uniform vec4 a offset=65536",
                (2, 17),
                "not a number up to 65535",
            ),
            (".vertex\n.uniform vec4 a flags=256", (2, 17), "not a number up to 255"),
            (
                ".vertex\n.uniform vec4 a offset=-1",
                (2, 17),
                "not a number up to 65535",
            ),
            (".vertex\n.uniform vec4 a foo=1", (2, 17), "is not a field of a symbol"),
            (".vertex\n.uniform vec4 a init=x", (2, 17), "is not a list of numbers"),
            (
                ".vertex\n.uniform vec4 a index=1/2",
                (2, 17),
                "is not a list of numbers",
            ),
        ],
        shader::assemble,
    );
}

#[test]
fn directives_set_their_fields() {
    let text = ".vertex\n.version 7\n.instructions 3 4 5\n.space 99\n\
        .uniform raw[3] a\\x20b type=7 components=3 size=9 stride=5 flags=0x41 precision=2 invariant=0xffffffff parent=1 \
        unknown=8 offset=12 index=1/2/0x3 init=1.5/0x10/-1\n.attributes\n.varying vec2[2] v\nnop\n";
    let vertex = program(text, Stage::Vertex);
    assert_eq!(
        (vertex.version.0, vertex.instructions, vertex.uniform_space),
        (7, Some([3, 4, 5]), 99)
    );
    let symbol = &vertex.uniforms.as_ref().unwrap()[0];
    assert_eq!(
        (&symbol.name[..], symbol.kind.0, symbol.components, symbol.size),
        (&b"a b"[..], 7, 3, 9)
    );
    assert_eq!(
        (symbol.stride, symbol.flags, symbol.precision, symbol.invariant),
        (5, 0x41, 2, u32::MAX)
    );
    assert_eq!(
        (symbol.parent, symbol.unknown, symbol.offset, symbol.entries),
        (1, 8, 12, 3)
    );
    assert_eq!(
        (symbol.index, symbol.initial.clone()),
        (Some([1, 2, 3]), Some(vec![0x3fc0_0000, 16, u32::MAX]))
    );
    assert_eq!(vertex.attributes.as_ref().map(Vec::len), Some(0));
    assert_eq!(vertex.varyings.as_ref().map(|table| table[0].entries), Some(2));
    let text = ".fragment\n.stack 3 4\n.discard 5\n.buffers 1 2 3 4 5 6 7 255\nnop, stop\n";
    let fragment = program(text, Stage::Fragment);
    assert_eq!((fragment.stack, fragment.discard), (Some([3, 4]), Some(5)));
    assert_eq!(
        (fragment.buffers, fragment.uniforms),
        (Some([1, 2, 3, 4, 5, 6, 7, 255]), None)
    );
    let text = ".fragment\n.stack none\n.discard none\n.buffers none\nnop, stop\n";
    let fragment = program(text, Stage::Fragment);
    assert_eq!((fragment.stack, fragment.discard, fragment.buffers), (None, None, None));
    assert_eq!(
        program(".vertex\n.instructions none\nnop\n", Stage::Vertex).instructions,
        None
    );
    // Both come back as text.
    let mbs = shader::assemble(&format!(".vertex\n.version 7\nnop\n{text}")).unwrap();
    let printed = shader::disassemble(&mbs).unwrap();
    assert_eq!(shader::assemble(&printed).unwrap().write(), mbs.write());
    assert!(
        printed.starts_with(".vertex\n.version 7\n.instructions 0 1 0\n"),
        "{printed}"
    );
}

#[test]
fn what_a_text_leaves_out_follows_from_the_code() {
    let instructions = |code: &str| program(&format!(".vertex\n{code}\n"), Stage::Vertex).instructions;
    assert_eq!(instructions("nop"), Some([0, 1, 0]));
    assert_eq!(instructions("nop\nmov.p _ a0.x\nnop"), Some([0, 3, 2]));
    assert_eq!(instructions("mov.p _ $0.x@0\nnop"), Some([0, 2, 0]));
    assert_eq!(instructions("load a0\nmov.p _ ^port.x"), Some([0, 2, 0]));
    let fragment = |code: &str| {
        let fragment = program(&format!(".fragment\n{code}\n"), Stage::Fragment);
        (fragment.discard, fragment.stack)
    };
    assert_eq!(fragment("nop, stop"), (Some(0), Some([1, 1])));
    assert_eq!(fragment("discard"), (Some(1), Some([1, 1])));
    assert_eq!(fragment("branch .0"), (Some(0), Some([1, 1])));
    assert_eq!(
        fragment("store.t -3 $0\nstore.t -5.y $0.x\nstore.t -2.zw $0.x, stop"),
        (Some(0), Some([5, 5]))
    );
    assert_eq!(fragment("fb_color $0, stop"), (Some(0), Some([1, 1])));
    let space = |text: &str| program(&format!(".vertex\n{text}\nnop\n"), Stage::Vertex).uniform_space;
    assert_eq!(space(".uniform vec4 a"), 4);
    assert_eq!(space(".uniform vec4 a\n.uniform float b offset=9 stride=2"), 12);
    assert_eq!(space(".uniform vec4[3] a"), 12);
    assert_eq!(space(".uniform vec4 a\n.space 2"), 2);
}

#[test]
fn lines_and_languages_are_recognised() {
    let text = "# a\n.vertex\n.version 7\n\nnop\nl: nop, set flags 1\n\n.fragment\n.word 1\nnop,\n stop\n.space 3\n";
    assert_eq!(shader::lines(text, Stage::Vertex), [5, 6]);
    assert_eq!(shader::lines(text, Stage::Fragment), [9, 10]);
    assert!(shader::recognises(text) && shader::recognises("\n  .fragment \n"));
    assert!(!shader::recognises("vertex\n.vertexes\n"));
}
