//! What decoded fields mean together: expected values from the rows of docs/spec/mali.

use loader::mbs::Stage;
use utgard::field::{Aligned, Code, Field};
use utgard::flow::Paths;
use utgard::frame::{Lists450, PixelFormat, PpFrame, WriteBackSource};
use utgard::gp::{self, Age, LoadOffset, Operand, Source, Stored, Target, Unit};
use utgard::pp::{self, Alignment, Condition, Form, LevelOfDetail, Register, Scalar, Swizzle, access::accesses};
use utgard::state::{Compare, RenderState, VaryingFormat};
use utgard::stats::stats;
use utgard::stream::{BeginTile, ComponentType, EndOfTiles, OutputKind, RunBlock, TileCommand, VertexSpec};
use utgard::texture::TexelFormat;
use utgard::vector::Component::{self, W, X, Y, Z};

fn vertex(text: &str) -> gp::Instruction {
    gp::Instruction::decode(gp::assemble(text).unwrap_or_else(|error| panic!("{}", error.render(text, "gp")))[0])
}

fn fragment(text: &str) -> pp::Instruction {
    let words = pp::assemble(text).unwrap_or_else(|error| panic!("{}", error.render(text, "pp")));
    pp::Instruction::decode(&words).unwrap()
}

#[test]
fn fields_are_set_in_their_bits_alone() {
    let field = Field {
        name: "a",
        bit: 60,
        width: 8,
    };
    assert_eq!(field.put(0, 0x1a5), 0xa5 << 60);
    assert_eq!(field.put(u128::MAX, 0), !(0xff << 60));
    assert_eq!(field.of(0xa5 << 60 | 1 << 59 | 1 << 68), 0xa5);
    assert_eq!(f32::from_code(0x3fc0_0000), 1.5);
    assert_eq!(1.5f32.code(), 0x3fc0_0000);
    assert_eq!(
        (Aligned::<4>::from_code(3), Aligned::<4>(0x37).code()),
        (Aligned(48), 3)
    );
    assert_eq!((bool::from_code(0), bool::from_code(2), true.code()), (false, true, 1));
}

#[test]
fn stores_of_the_vertex_processor_have_targets() {
    let i = vertex("mov.p t[].y a0.x, mov.m0 v3.z a0.y, mov.m1 v3.w a0.z");
    let nothing = Stored::Nothing;
    assert_eq!(
        i.stores(),
        [
            (nothing, Target::Temporary),
            (Stored::Unit(Unit::Pass), Target::Temporary),
            (Stored::Unit(Unit::Mul0), Target::Varying(3)),
            (Stored::Unit(Unit::Mul1), Target::Varying(3)),
        ]
    );
    let i = vertex("mov.p v3.x a0.x, mov.a0 $5.z a0.y");
    assert_eq!(i.stores()[0], (Stored::Unit(Unit::Pass), Target::Varying(3)));
    assert_eq!(i.stores()[2], (Stored::Unit(Unit::Acc0), Target::Register(5)));
    for (text, stores, writes) in [
        ("mov.p t[].x a0.x", true, false),
        ("mov.p t[].z a0.x", true, false),
        ("mov.p $0.x a0.x, mov.c $0.y a0.x", false, false),
        ("temp_addr_pair.c _ a0.x", false, true),
        ("temp_store_addr.c _ a0.x", false, true),
        ("temp_load_addr_1.c _ a0.x", false, true),
        ("temp_load_addr_2.c _ a0.x", false, true),
        ("temp_load_addr_3.c _ a0.x", false, true),
        ("nop, set complex_op 12", false, false),
        ("rcp.c _ a0.x", false, false),
    ] {
        let i = vertex(text);
        assert_eq!(
            (i.stores_temporaries(), i.writes_addresses()),
            (stores, writes),
            "{text}"
        );
    }
    let targets = [0u16, 1, 255, 256, 511].map(|target| {
        let mut i = gp::Instruction::nop();
        i.set_target(target);
        (i.target(), i.branch_target, i.branch_target_low)
    });
    assert_eq!(
        targets,
        [
            (0, 0, true),
            (1, 1, true),
            (255, 255, true),
            (256, 0, false),
            (511, 255, false)
        ]
    );
}

#[test]
fn units_of_the_vertex_processor_read_their_sources() {
    let port = |c: Component| Source::Port0(c);
    let memory = |c: Component| Source::Memory(c);
    let rows: &[(&str, &[Source])] = &[
        ("nop", &[]),
        ("add.a0 _ a0.x a0.y", &[port(X), port(Y)]),
        ("add.a0 _ a0.x 0.0", &[port(X)]),
        ("floor.a1 _ a0.z", &[port(Z)]),
        (
            "mul.m0 _ a0.x a0.y, mul.m1 _ a0.z a0.w",
            &[port(X), port(Y), port(Z), port(W)],
        ),
        ("mov.m1 _ a0.w", &[port(W)]),
        ("sel.m01 _ a0.x a0.y a0.z", &[port(Y), port(X), port(Z)]),
        (
            "complex1.m01 _ a0.x a0.y a0.z a0.w",
            &[port(X), port(Y), port(Z), port(W)],
        ),
        (
            "complex2.m0 _ a0.x a0.y, mul.m1 _ a0.z 1.0",
            &[port(X), port(Y), port(Z)],
        ),
        ("nop, set mul_op 1", &[]),
        ("nop, set mul_op 4", &[]),
        ("nop, set mul_op 3", &[]),
        ("rcp.c _ a0.y", &[port(Y)]),
        ("mov.p _ a0.y", &[port(Y)]),
        ("clamp.p _ a0.y t[0].x t[0].y", &[port(Y), memory(X), memory(Y)]),
    ];
    for (text, sources) in rows {
        assert_eq!(vertex(text).sources(), *sources, "{text}");
    }
    let busy = |text: &str| vertex(text).busy();
    assert_eq!(
        busy("add.a0 _ a0.x 0.0, mov.p _ a0.y"),
        [true, false, false, false, false, true]
    );
    assert_eq!(
        busy("add.a1 _ a0.x 0.0, mov.c _ a0.y"),
        [false, true, false, false, true, false]
    );
    assert_eq!(busy("mov.m0 _ a0.x"), [false, false, true, false, false, false]);
    assert_eq!(busy("mov.m1 _ a0.x"), [false, false, false, true, false, false]);
    assert_eq!(
        busy("sel.m01 _ a0.x a0.y a0.z"),
        [false, false, true, false, false, false]
    );
    assert_eq!(
        busy("complex1.m01 _ a0.x a0.y a0.z a0.w"),
        [false, false, true, false, false, false]
    );
    assert!(vertex("mov.m1 _ a0.x").is_busy(Unit::Mul1) && !vertex("mov.m1 _ a0.x").is_busy(Unit::Mul0));
    // One operand alone is no product.
    assert_eq!(vertex("nop, set mul0_a 0").products(), [None, None]);
    let sums = vertex("add.a0 _ -a0.x a0.y, add.a1 _ a0.z -a0.w")
        .sums()
        .map(Option::unwrap);
    assert_eq!((sums[0].a_negate, sums[0].b_negate), (true, false));
    assert_eq!((sums[1].a_negate, sums[1].b_negate), (false, true));
    assert_eq!((sums[0].a, sums[0].b), (port(X), Operand::Source(port(Y))));
    let products = vertex("mul.m0 _ a0.x -a0.y, mul.m1 _ a0.z a0.w")
        .products()
        .map(Option::unwrap);
    assert_eq!((products[0].negate, products[1].negate), (true, false));
}

#[test]
fn numbers_of_sources_and_offsets() {
    // docs/spec/mali/gp.md, section 4.
    for (code, source) in [
        (3, Source::Port0(W)),
        (4, Source::Port1(X)),
        (8, Source::Undocumented(8)),
        (14, Source::Memory(Z)),
        (16, Source::Result(Unit::Acc0, Age::One)),
        (20, Source::Result(Unit::Pass, Age::One)),
        (21, Source::Idle),
        (22, Source::Result(Unit::Complex, Age::One)),
        (23, Source::Result(Unit::Pass, Age::Two)),
        (27, Source::Result(Unit::Mul1, Age::Two)),
        (31, Source::Port0Before(W)),
    ] {
        assert_eq!((Source::from_code(code), source.code()), (source, code));
    }
    assert_eq!(Source::Result(Unit::Complex, Age::Two).code(), 21);
    assert!(Source::result(Unit::Complex, Age::One).is_some() && Source::result(Unit::Pass, Age::Two).is_some());
    assert_eq!([Age::One.instructions(), Age::Two.instructions()], [1, 2]);
    let registers = [0, 1, 2, 3, 4, 7].map(|code| LoadOffset::from_code(code).register());
    assert_eq!(registers, [Some(0), Some(1), Some(2), Some(3), None, None]);
    assert_eq!(Operand::Identity.source(), None);
    assert_eq!(Operand::from(Source::Idle).source(), Some(Source::Idle));
}

#[test]
fn registers_and_swizzles_of_the_fragment_processor() {
    for (number, name) in [
        (0, "$0"),
        (11, "$11"),
        (12, "^const0"),
        (13, "^const1"),
        (14, "^texture"),
        (15, "^uniform"),
    ] {
        assert_eq!(
            (Register(number).to_string(), Register::from_name(name)),
            (name.to_owned(), Some(Register(number)))
        );
        assert_eq!(
            (Register(number).is_pipeline(), Register(number).index()),
            (number > 11, number.into())
        );
    }
    for name in ["$12", "$", "r0", "^vmul", "$-1", "$256"] {
        assert_eq!(Register::from_name(name), None, "{name}");
    }
    let scalar = Register(5).component(Z);
    assert_eq!(
        (scalar, scalar.register(), scalar.component()),
        (Scalar(22), Register(5), 2)
    );
    assert_eq!(
        (scalar.to_string(), scalar.behind(1), scalar.behind(2)),
        ("$5.z".to_owned(), Scalar(23), Scalar(24))
    );
    let swizzle = Swizzle::new([W, X, Z, Z]);
    assert_eq!((swizzle.0, swizzle.letters()), (0b10_10_00_11, "wxzz".to_owned()));
    assert_eq!([0, 1, 2, 3].map(|at| swizzle.index(at)), [3, 0, 2, 2]);
    assert_eq!([0, 1, 2, 4, 15].map(|mask| swizzle.through(mask)), [0, 8, 1, 4, 13]);
    assert_eq!(
        (Swizzle::splat(Y).letters(), Swizzle::IDENTITY.letters()),
        ("yyyy".to_owned(), "xyzw".to_owned())
    );
}

#[test]
fn units_of_the_fragment_processor_mean_what_the_rows_say() {
    for (code, greater, equal, less) in [
        (Condition::Never, false, false, false),
        (Condition::Gt, true, false, false),
        (Condition::Eq, false, true, false),
        (Condition::Ge, true, true, false),
        (Condition::Lt, false, false, true),
        (Condition::Ne, true, false, true),
        (Condition::Le, false, true, true),
        (Condition::Always, true, true, true),
    ] {
        assert_eq!(
            (code.greater(), code.equal(), code.less()),
            (greater, equal, less),
            "{code:?}"
        );
    }
    for (alignment, shift, components, is_vector) in [
        (Alignment::Float, 0, 1, false),
        (Alignment::Vec2, 1, 2, false),
        (Alignment::Vec4, 2, 4, true),
        (Alignment::Varying4, 2, 4, true),
    ] {
        assert_eq!(
            (alignment.shift(), alignment.components(), alignment.is_vector()),
            (shift, components, is_vector)
        );
    }
    let level = |text: &str| {
        fragment(&format!("load.v ^discard.xy 0.xy, {text}, sync, stop"))
            .sampler
            .unwrap()
    };
    assert_eq!(level("texld 5").level(), LevelOfDetail::Implicit);
    assert_eq!(level("texld.b 5 $2.y").level(), LevelOfDetail::Bias(Scalar(9)));
    assert_eq!(level("texld.l 5 $2.y").level(), LevelOfDetail::Explicit(Scalar(9)));
    assert_eq!(
        (level("texld 5").offset(), level("texld 5+$1.x").offset()),
        (None, Some(Scalar(4)))
    );
    assert_eq!(
        (level("texld 5").is_cube(), level("texld.cube 5").is_cube()),
        (false, true)
    );
    let load = |text: &str| fragment(&format!("{text}, stop")).load.unwrap();
    assert_eq!(
        (load("load.u 3").signed_index(), load("load.t -3.y").signed_index()),
        (3, -11)
    );
    assert_eq!(
        (load("load.u 3").offset(), load("load.u 3+$1.y").offset()),
        (None, Some(Scalar(5)))
    );
    let store = |text: &str| fragment(&format!("{text}, stop")).store.unwrap();
    assert_eq!(
        (
            store("store.t -3.zw $1.y").signed_index(),
            store("store.t 3 $1").signed_index()
        ),
        (-5, 3)
    );
    assert_eq!(
        (store("store.t -3.zw $1.y").first(), store("store.t 3 $1").first()),
        (Scalar(5), Scalar(4))
    );
    assert_eq!(
        (store("store.t 3 $1").offset(), store("store.t 3+$2.x $1").offset()),
        (None, Some(Scalar(8)))
    );
    assert_eq!(
        (store("store.t 3 $1").reads_tile(), store("fb_color $1").reads_tile()),
        (false, true)
    );
    let branch = |text: &str| fragment(text).branch.unwrap();
    for (text, may_go, always, is_discard) in [
        ("branch .0", true, true, false),
        ("branch.gt $0.x $0.y .0", true, false, false),
        ("branch.never $0.x $0.y .0", false, false, false),
        ("discard", false, true, true),
    ] {
        let unit = branch(text);
        assert_eq!(
            (unit.may_go(), unit.always(), unit.is_discard()),
            (may_go, always, is_discard),
            "{text}"
        );
    }
    assert_eq!(
        (
            branch("branch .-5").signed_target(),
            branch("branch .+5").signed_target()
        ),
        (-5, 5)
    );
    let varying = |text: &str| fragment(&format!("load.v {text}, stop")).varying.unwrap();
    assert_eq!(
        (varying("$1 0").written(), varying("^discard.xy 0").written()),
        (Some(Register(1)), None)
    );
    assert_eq!(
        (varying("$1 0").offset(), varying("$1 0+$2.z").offset()),
        (None, Some(Scalar(10)))
    );
    assert_eq!(varying("$1 $2.wzyx").swizzle().letters(), "wzyx");
    for (text, product, quad) in [
        ("add.v1 $0 $1 $2", false, false),
        ("sel.v1 $0 $1 $2, mul.s0 $0.x $0.y", true, false),
        ("sel.s1 $0.x $1.x $2.x, mul.s0 $0.x $0.y", true, false),
        ("mov.s1 $0.x ^s0, mul.s0 $0.x $0.y", true, false),
        ("mov.v1 $0 ^v0, mul.v0 $0 $0", false, false),
        ("dFdx.v1 $0 $1 -$1, sync", false, true),
        ("dFdx.s1 $0.x $1.x -$1.x, sync", false, true),
        ("load.v ^discard.xy 0.xy, texld 0, sync", false, true),
    ] {
        let i = fragment(text);
        assert_eq!((i.reads_product(), i.needs_quad()), (product, quad), "{text}");
    }
}

/// Products are scaled by powers of two: docs/spec/mali/pp.md, section 8.
#[test]
fn products_have_scales() {
    use pp::MulOp::*;
    let scales = [
        (Mul, 1.0),
        (MulX2, 2.0),
        (MulX4, 4.0),
        (MulX8, 8.0),
        (MulD16, 0.0625),
        (MulD8, 0.125),
        (MulD4, 0.25),
        (MulD2, 0.5),
    ];
    for op in pp::MulOp::ALL {
        let scale = scales.iter().find(|row| row.0 == *op).map(|row| row.1);
        assert_eq!(op.scale(), scale, "{op}");
    }
}

#[test]
fn forms_of_the_combine_unit_share_bits() {
    let unit = |text: &str| fragment(&format!("{text}, stop")).combine.unwrap();
    let vector = |register: u8, letters: [Component; 4]| pp::VectorSource {
        register: Register(register),
        swizzle: Swizzle::new(letters),
        ..Default::default()
    };
    assert_eq!(
        unit("cos.s2 $1.y -abs($2.z)").form(),
        Form::Scalar(pp::ScalarFunction::Cos)
    );
    let source = unit("cos.s2 $1.y -abs($2.z)").a_source();
    assert_eq!(
        (source.scalar, source.absolute, source.negate),
        (Scalar(10), true, true)
    );
    let atan = unit("atan2_pt1.v2 $4.xyz $0.x -$0.y");
    assert_eq!(atan.form(), Form::Vector(pp::VectorFunction::Atan2Part1));
    assert_eq!(
        (atan.b_source().scalar, atan.b_source().absolute, atan.b_source().negate),
        (Scalar(1), false, true)
    );
    assert_eq!(atan.destination_vector(), (Register(4), 7));
    for letters in [
        [X, Y, Z, W],
        [W, W, W, W],
        [Y, X, W, Z],
        [Z, W, X, Y],
        [X, X, X, X],
        [X, Z, W, Y],
    ] {
        let text: String = letters.iter().map(|letter| letter.letter()).collect();
        let scaled = unit(&format!("mul.v2 $4.yw $0.x $9.{text}"));
        assert_eq!(scaled.form(), Form::Scale(vector(9, letters)));
        assert_eq!((scaled.destination_vector(), scaled.a), ((Register(4), 10), Scalar(0)));
        let last = unit(&format!("atan_pt2.sat.s2 $3.w $9.{text}"));
        assert_eq!(last.form(), Form::AtanPart2(vector(9, letters)));
        assert_eq!((last.destination, last.modifier), (Scalar(15), pp::Modifier::Saturate));
    }
    // Forms replace each other in one unit.
    let mut changed = unit("mul.v2 $4.yw $0.x $9.wwww");
    changed.set_form(Form::Scalar(pp::ScalarFunction::Sqrt));
    assert_eq!(changed.form(), Form::Scalar(pp::ScalarFunction::Sqrt));
    changed.set_form(Form::Vector(pp::VectorFunction::AtanPart1));
    assert_eq!(changed.form(), Form::Vector(pp::VectorFunction::AtanPart1));
    changed.set_form(Form::Scale(vector(3, [Z, X, Y, W])));
    assert_eq!(changed.form(), Form::Scale(vector(3, [Z, X, Y, W])));
}

/// Stage, reads and writes as numbers of registers with masks.
type Row = (u8, &'static [(u8, u32)], Option<(u8, u32)>);

#[test]
fn every_unit_accesses_its_registers() {
    let rows: &[(&str, &[Row])] = &[
        ("nop", &[]),
        (
            "const0 1.0, const1 2.0",
            &[(0, &[], Some((12, 15))), (0, &[], Some((13, 15)))],
        ),
        ("load.v $1.yz 0", &[(1, &[], Some((1, 6)))]),
        ("load.v $1.x 0.x", &[(1, &[], Some((1, 1)))]),
        ("load.v $1 0+$2.y", &[(1, &[(2, 2)], Some((1, 15)))]),
        ("load.v $1 gl_FragCoord", &[(1, &[], Some((1, 15)))]),
        ("load.v $1.xy $2.wzyx", &[(1, &[(2, 12)], Some((1, 3)))]),
        ("load.v $1.x divide_z($2)", &[(1, &[(2, 5)], Some((1, 1)))]),
        ("load.v $1.x divide_w($2)", &[(1, &[(2, 9)], Some((1, 1)))]),
        ("load.v $1.x normalize($2)", &[(1, &[(2, 7)], Some((1, 1)))]),
        (
            "load.v ^discard.xy 0.xy, texld 0",
            &[(1, &[], None), (2, &[], Some((14, 15)))],
        ),
        (
            "load.v ^discard.xy 0.xy, texld.b 0+$1.x $2.y",
            &[(1, &[], None), (2, &[(2, 2), (1, 1)], Some((14, 15)))],
        ),
        ("load.u 0", &[(3, &[], Some((15, 15)))]),
        ("load.u 0+$3.w", &[(3, &[(3, 8)], Some((15, 15)))]),
        ("mul.v0 $1.xz $2.yyww $3", &[(4, &[(2, 10), (3, 5)], Some((1, 5)))]),
        ("mov.v0 $1.x $2.w", &[(4, &[(2, 8)], Some((1, 1)))]),
        ("mul.v0 $2 $3", &[(4, &[(2, 0), (3, 0)], None)]),
        ("mul.s0 $1.x $2.y $3.z", &[(4, &[(2, 2), (3, 4)], Some((1, 1)))]),
        ("mov.s0 $1.x $2.y", &[(4, &[(2, 2)], Some((1, 1)))]),
        ("mul.s0 $2.y $3.z", &[(4, &[(2, 2), (3, 4)], None)]),
        (
            "mul.v0 $2 $3, add.v1 $1.y ^v0.xzzz $4.w",
            &[(4, &[(2, 4), (3, 4)], None), (5, &[(4, 8)], Some((1, 2)))],
        ),
        ("sum3.v1 $1.x $2.yzwx", &[(5, &[(2, 14)], Some((1, 1)))]),
        ("sum4.v1 $1.x $2", &[(5, &[(2, 15)], Some((1, 1)))]),
        ("add.s1 $1.x $2.y $3.z", &[(5, &[(2, 2), (3, 4)], Some((1, 1)))]),
        ("fract.s1 $1.x $2.y", &[(5, &[(2, 2)], Some((1, 1)))]),
        (
            "mul.s0 $2.y $3.z, add.s1 $1.x ^s0 $4.w",
            &[(4, &[(2, 2), (3, 4)], None), (5, &[(4, 8)], Some((1, 1)))],
        ),
        ("rcp.s2 $1.w $2.y", &[(6, &[(2, 2)], Some((1, 8)))]),
        ("atan_pt2.s2 $1.w $2.zwxx", &[(6, &[(2, 4)], Some((1, 8)))]),
        ("atan_pt1.v2 $1.xyz $2.y", &[(6, &[(2, 2)], Some((1, 7)))]),
        ("atan2_pt1.v2 $1.xyz $2.y $3.z", &[(6, &[(2, 2), (3, 4)], Some((1, 7)))]),
        ("mul.v2 $1.xw $2.y $3.wzyx", &[(6, &[(2, 2), (3, 9)], Some((1, 9)))]),
        ("mul.v2 $1. $2.y $3.wzyx", &[(6, &[(2, 2), (3, 0)], None)]),
        ("store.t -1 $1", &[(7, &[(1, 15)], None)]),
        ("store.t -1.y $1.z", &[(7, &[(1, 4)], None)]),
        ("store.t -1.zw+$3.x $1.y", &[(7, &[(1, 2), (1, 4), (3, 1)], None)]),
        ("store.t -1.xy $1.w", &[(7, &[(1, 8), (2, 1)], None)]),
        ("fb_color $1", &[(7, &[], Some((1, 15)))]),
        ("branch.gt $1.x $2.w .0", &[(8, &[(1, 1), (2, 8)], None)]),
        ("branch .0", &[]),
        ("branch.never $1.x $2.w .0", &[]),
        ("discard", &[]),
    ];
    for (text, want) in rows {
        let have = accesses(&fragment(text));
        let plain = |(register, mask): &(Register, u32)| (register.0, *mask);
        let have: Vec<_> = have
            .iter()
            .map(|access| {
                let reads: Vec<_> = access.reads.iter().map(plain).collect();
                (access.stage, reads, access.writes.as_ref().map(plain))
            })
            .collect();
        let want: Vec<_> = want.iter().map(|row| (row.0, row.1.to_vec(), row.2)).collect();
        assert_eq!(have, want, "{text}");
    }
}

#[test]
fn programs_are_counted() {
    let text = ".vertex\n.instructions none\n\
        mul.m0 $3.x/$3.y a0.x t[5].y, add.a0 v2.z ^acc0 0.0\n\
        mov.p _ $1.x, mov.c _ $4.y@0, mov.m0 _ t[9].x, branch end\n\
        end: mov.a1 v1.x a0.y, mov.m1 t[].z a0.x\n";
    let counted = stats(
        &utgard::shader::assemble(text)
            .unwrap()
            .program(Stage::Vertex)
            .unwrap()
            .unwrap(),
    );
    assert_eq!((counted.instructions, counted.words), (3, 12));
    assert_eq!((counted.registers, counted.memory), (3, 10));
    let units = ["acc0", "acc1", "mul0", "mul1", "complex", "pass", "store", "branch"];
    let count = [1, 1, 2, 1, 1, 1, 4, 1];
    assert_eq!(counted.units, units.into_iter().zip(count).collect::<Vec<_>>());
    let paths = Paths {
        shortest: Some(3),
        longest: Some(3),
        unreachable: 0,
    };
    assert_eq!(counted.paths, paths);
    let rules: Vec<_> = counted.findings.iter().map(|finding| finding.rule).collect();
    assert_eq!(rules, ["result"]);
    let text = ".fragment\n.stack 2 2\n\
        load.v $0 0, mul.v0 $1 $0 ^const0, const0 1.0\n\
        store.t -3.y $5.x, mov.s0 $4.y $0.x\n\
        fb_color $2\n\
        mov.v1 $1 $0, stop\n";
    let program = utgard::shader::assemble(text)
        .unwrap()
        .program(Stage::Fragment)
        .unwrap()
        .unwrap();
    let counted = stats(&program);
    assert_eq!((counted.instructions, counted.words), (4, program.code.len() as u32));
    assert_eq!((counted.registers, counted.memory), (4, 3));
    let of = |name: &str| counted.units.iter().find(|unit| unit.0 == name).unwrap().1;
    assert_eq!(
        [
            "varying",
            "vec_mul",
            "float_mul",
            "vec_acc",
            "store",
            "const0",
            "const1"
        ]
        .map(of),
        [1, 1, 1, 1, 2, 1, 0]
    );
    assert_eq!((counted.paths.shortest, counted.paths.longest), (Some(4), Some(4)));
    let rules: Vec<_> = counted.findings.iter().map(|finding| finding.rule).collect();
    assert_eq!(rules, ["stack"]);
}

#[test]
fn outputs_are_in_the_register_of_the_last_vector() {
    for (text, register) in [
        ("mov.v1 $3 $0, mov.v0 $4 $0, stop", 3),
        ("mov.v0 $4 $0, stop", 4),
        ("mov.v1 $0, mov.v0 $4 $0, stop", 4),
        ("mul.v2 $5 $0.x $1, stop", 5),
        ("rcp.s2 $5.x $0.x, stop", 0),
        ("load.v $2 0, stop", 2),
        ("load.v $2 0, mul.v2 $5 $0.x $1, stop", 5),
        ("mov.v1 $3 $0, stop\nmov.v1 $4 $0", 3),
        ("mov.v1 $3 $0, stop\nmov.v1 $4 $0, discard, stop", 3),
        ("mov.v1 $3 $0", 0),
    ] {
        assert_eq!(
            pp::flow::output_register(&pp::assemble(text).unwrap()),
            register,
            "{text}"
        );
    }
}

#[test]
fn comparisons_hold_for_the_orders_they_name() {
    let all: Vec<[bool; 3]> = (0..8)
        .map(|code| [(1, 2), (2, 2), (3, 2)].map(|(a, b)| Compare::from_code(code).holds(a, b)))
        .collect();
    let (no, yes) = (false, true);
    assert_eq!(
        all,
        [
            [no, no, no],
            [yes, no, no],
            [no, yes, no],
            [yes, yes, no],
            [no, no, yes],
            [yes, no, yes],
            [no, yes, yes],
            [yes, yes, yes]
        ]
    );
}

#[test]
fn sizes_follow_from_formats() {
    let bytes =
        |last: u32, of: &dyn Fn(u32) -> Option<u32>| (0..=last).map(of).map(|n| n.unwrap_or(0)).collect::<Vec<_>>();
    assert_eq!(
        bytes(15, &|code| ComponentType::from_code(code).bytes()),
        [4, 4, 4, 2, 2, 2, 1, 1, 1, 1, 2, 2, 0, 4, 4, 0]
    );
    assert_eq!(
        bytes(16, &|code| PixelFormat::from_code(code).bytes()),
        [2, 2, 2, 4, 1, 2, 8, 2, 4, 0, 0, 0, 0, 1, 2, 4, 0]
    );
    let texels = bytes(0x32, &|code| TexelFormat::from_code(code).bytes());
    assert_eq!(
        texels[..0x18],
        [0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 0, 0, 2, 2, 2, 2, 2, 2, 2, 3, 4, 4]
    );
    assert_eq!(
        texels[0x18..],
        [
            0, 0, 0, 0, 0, 0, 0, 0, 8, 0, 2, 2, 2, 4, 8, 0, 0, 0, 0, 0, 4, 0, 0, 6, 0, 0, 4
        ]
    );
    assert!(TexelFormat::Etc1.is_compressed() && !TexelFormat::Rgba16F.is_compressed());
    assert_eq!(
        [0, 1, 2, 3, 4].map(|code| VaryingFormat::from_code(code).bytes()),
        [16, 8, 8, 4, 16]
    );
}

#[test]
fn varying_formats_are_three_bits_each() {
    let mut state = RenderState {
        varying_formats: (0..10).fold(0, |bits, at| bits | (at % 4) << (3 * at)),
        varying_10_low: 1,
        varying_11: VaryingFormat::Half2,
        ..Default::default()
    };
    let all: Vec<u32> = (0..12).map(|at| state.varying_format(at).code()).collect();
    assert_eq!(all, [0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 1, 3]);
    state.varying_10_high = true;
    assert_eq!(state.varying_format(10).code(), 5);
    state.set_color_register(9);
    let registers = [
        state.color_register,
        state.color_register_1,
        state.color_register_2,
        state.color_register_3,
    ];
    assert_eq!(registers, [9; 4]);
}

#[test]
fn outputs_are_position_size_or_varying() {
    assert_eq!(VertexSpec::position(5).output(), OutputKind::Position);
    assert_eq!(VertexSpec::point_size(5).output(), OutputKind::PointSize);
    assert_eq!(VertexSpec::floats(5, 4, 16).output(), OutputKind::Varying);
    let fixed = VertexSpec {
        kind: ComponentType::U16,
        fixed: true,
        ..Default::default()
    };
    assert_eq!((fixed.type_code(), VertexSpec::floats(0, 1, 4).type_code()), (0x105, 0));
}

/// A Mali-450 makes the tile lists itself: every tile runs the block that covers it.
#[test]
fn tiles_run_the_blocks_that_cover_them() {
    let lists = Lists450 {
        base: 0x1000,
        columns: 2,
        rows: 1,
        shift_x: 1,
        shift_y: 0,
        block_size: 1,
        ..Default::default()
    };
    assert_eq!(lists.block_bytes(), 256);
    assert_eq!(Lists450 { block_size: 0, ..lists }.block_bytes(), 128);
    assert_eq!(Lists450 { block_size: 3, ..lists }.block_bytes(), 1024);
    let mut want: Vec<TileCommand> = Vec::new();
    for (column, row, block) in [(0, 0, 0), (1, 0, 0), (2, 0, 1), (0, 1, 2), (1, 1, 2), (2, 1, 3)] {
        let block = Aligned(0x1000 + 256 * block);
        want.extend::<[TileCommand; 2]>([BeginTile { column, row }.into(), RunBlock { block }.into()]);
    }
    want.push(EndOfTiles {}.into());
    assert_eq!(lists.tiles(), want);
    let tall = Lists450 {
        columns: 0,
        rows: 2,
        shift_x: 0,
        shift_y: 1,
        block_size: 0,
        ..lists
    };
    let blocks: Vec<u32> = tall
        .tiles()
        .iter()
        .filter_map(|command| match command {
            TileCommand::RunBlock(run) => Some(run.block.0),
            _ => None,
        })
        .collect();
    assert_eq!(blocks, [0x1000, 0x1000, 0x1080]);
}

#[test]
fn frames_hold_as_many_lists_as_processors() {
    let mut frame = PpFrame::default();
    (frame.registers.processors, frame.lists) = (4, vec![1, 2, 3, 4]);
    frame.write_backs[2].source = WriteBackSource::Color;
    frame.write_backs[2].address = 0x8000;
    let words = frame.to_words();
    assert_eq!(
        (words[24 + 24], words[24 + 25], &words[60..]),
        (2, 0x8000, &[1, 2, 3, 4, 0, 0, 0, 0][..])
    );
    assert_eq!(PpFrame::from_words(&words), frame);
    // A Mali-450's frame: two words of lists, then those of the processors.
    assert_eq!(utgard::frame::PROCESSOR_LISTS_450, 62);
    // Of a cut frame, what is there.
    let cut = PpFrame::from_words(&words[..62]);
    assert_eq!((cut.lists, cut.write_backs), (vec![1, 2], frame.write_backs));
    assert_eq!(PpFrame::from_words(&words[..30]).write_backs[2], Default::default());
}
