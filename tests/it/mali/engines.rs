//! The fast engines match the scalar one bit for bit, for random programs and data; all survive meaningless programs.

use emulator::exec::inputs::Inputs;
use emulator::exec::native::Native;
use emulator::exec::scalar::Scalar;
use emulator::exec::wide::Wide;
use emulator::exec::{
    Engine, FragmentContext, FragmentProgram, Fragments, Orientation, Quad, VertexBatch, VertexProgram, VertexRows,
};
use emulator::simd::Level;
use fastrand::Rng;
use properties::{engines, programs};
use utgard::{gp, pp};

#[test]
fn vertices_agree() {
    let mut random = Rng::with_seed(11);
    let mut compared = 0;
    for round in 0..600 {
        let length = 1 + random.usize(..24);
        let mut program = gp::random::program(&mut random, length);
        if round % 4 != 0 {
            program.iter_mut().for_each(programs::without_addresses);
        }
        compared += engines::compare_vertices(program, &mut random, 300);
    }
    println!("{compared} random vertices are the same from every engine");
    assert!(compared > 50_000);
}

const ORIENTATION: Orientation = Orientation {
    x: 0.5,
    y: 63.5,
    flip: true,
    flip_derivative: true,
};

#[test]
fn fragments_agree() {
    let mut random = Rng::with_seed(12);
    let (mut compared, mut gone) = (0, 0);
    for _ in 0..1_500 {
        let words = pp::random::program(&mut random, 1 + compared % 16);
        let (fragments, quads) = engines::compare_fragments(&words, &mut random);
        (compared, gone) = (compared + fragments, gone + quads);
    }
    println!("{compared} random fragments are the same from every engine; {gone} quads lost some");
    assert!(compared > 100_000 && gone > 100);
}

/// Units of one stage read before any of them writes, and a branch compares what its instruction loaded.
#[test]
fn units_of_an_instruction_read_what_was_there_before() {
    let programs = [
        // A product that is only forwarded, while the scalar multiplier writes its factor.
        "load.v $0 0
        mul.v0 $0. $0.xyzw $0.yyyy, mov.s0 $0.y ^const0.x, add.v1 $0.xzw ^v0 $0, const0 0.25, stop",
        "load.v $0 0
        mul.v0 $0. $0.zwxy ^const0.y, mul.s0 $0.w $0.w ^const0.x, add.v1 $1 ^v0.wzyx $0, const0 0.5 3.0
        mov.v1 $0 $1, stop",
        // It is forwarded as well.
        "load.v $0 0
        mul.v0 $0. $0 $0, mov.s0 $0.x ^const0.x, add.v1 $1 ^v0 $0, add.s1 $2.x ^s0 $0.x, const0 0.25
        add.v1 $0 $1 $2.xxxx, stop",
        // Stored, forwarded and read by the other units of the stage.
        "load.v $0 0
        mul.v0 $0 $0.yzwx $0, mul.s0 $0.x $0.y $0.z, add.v1 $1 ^v0 $0, add.s1 $1.w ^s0 $0.x
        mov.v0 $1.xy $0, mov.s0 $0.z $1.w, rcp.s2 $0.w $1.x, stop",
        // Adders read before either writes.
        "load.v $0 0
        add.v1 $0 $0.yzwx $0, add.s1 $0.x $0.y $0.z
        mul.v2 $1 $0.x $0
        mov.v1 $0 $1, stop",
        // Branches on values that the instruction loaded, sampled, or read by an offset.
        "load.v $0 0, load.u 3, branch.gt ^uniform.x ^uniform.y end
        mov.v1 $0 $0.wzyx
        end: mov.v1 $0 $0.yxwz, stop",
        "load.v ^discard.xy 0.xy, texld 0, branch.gt ^texture.x ^const0.x end, const0 0.5, sync
        mov.v1 $0 ^const0, const0 0.25 0.5 0.75 1.0
        end: add.v1 $0 $0 $1, stop",
        "load.v $0 0
        load.u 2+$0.x, branch.lt ^uniform.w $0.y end
        mov.v1 $0 $0.wzyx
        end: mov.v1 $0 $0.yxwz, stop",
        "load.v $0 0
        store.t -1 $0
        load.t -1, branch.lt ^uniform.x ^uniform.y end
        mov.v1 $0 $0.wzyx
        end: mov.v1 $0 $0.yxwz, stop",
        // More temporaries than row numbers allow.
        "load.v $0 0
        store.t -32000 $0
        load.t -32000, mov.v0 $0 ^uniform, store.t 30000 $0
        load.t 30000, add.v1 $0 ^uniform $0, stop",
        "load.v $0 0
        store.t 16380 $0
        load.t 16380, mov.v0 $1 ^uniform
        load.t -32+$0.x, add.v1 $0 ^uniform $1, stop",
    ];
    let mut random = Rng::with_seed(14);
    for text in programs {
        let words = pp::assemble(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let compared: usize = (0..40).map(|_| engines::compare_fragments(&words, &mut random).0).sum();
        assert!(compared > 1_000, "{compared}: {text}");
    }
}

/// One program, two frames: the fragment's position and derivatives depend on the frame.
#[test]
fn a_program_meets_another_orientation() {
    let text = "load.v $0 gl_FragCoord\ndFdy.v1 $2 -$0 $0, sync\nmov.v1 $1 $0, stop";
    let words = pp::assemble(text).unwrap_or_else(|error| panic!("{error}"));
    let program = FragmentProgram::read(&words).unwrap();
    let quads = [Quad { x: 4, y: 6, live: 15 }];
    let mut pictures = Vec::new();
    for flip in [false, true, false, true] {
        let orientation = Orientation {
            y: if flip { 63.5 } else { 0.5 },
            flip,
            flip_derivative: flip,
            ..ORIENTATION
        };
        let context = FragmentContext {
            second_register: Some(2),
            orientation,
            ..FragmentContext::new(&program)
        };
        let run = |engine: &dyn Engine| {
            let mut out = Box::<Fragments>::default();
            engine
                .fragments(&context, &Inputs::default(), &quads, &mut out)
                .unwrap();
            [out.color, out.second].map(|rows| rows.map(|row| engines::bits(&row[..4])))
        };
        let want = run(&Scalar);
        for engine in engines::others() {
            assert_eq!(run(&*engine), want, "{}, flipped: {flip}", engine.name());
        }
        pictures.push(want);
    }
    assert_ne!(pictures[0], pictures[1], "orientation does not show in this program");
}

#[test]
fn meaningless_words_fault_or_run_within_their_budget() {
    let mut random = Rng::with_seed(13);
    let (inputs, mut faults) = (Inputs::default(), 0);
    let quads = [Quad { x: 0, y: 0, live: 15 }];
    for _ in 0..3_000 {
        // Random control words would nearly all be broken: lengths are corrected.
        let mut words = Vec::new();
        for _ in 0..1 + random.u32(..5) {
            let units = random.u32(..) & 0xfff;
            let length = pp::words_of_units(units);
            words.push(random.u32(..) & !0x7_ffbf | units << 7 | length | u32::from(random.u32(..4) == 0) << 5);
            words.extend((1..length).map(|_| random.u32(..)));
        }
        let Ok(program) = FragmentProgram::read(&words) else {
            continue;
        };
        let context = FragmentContext {
            depth_register: Some(15),
            ..plain(&program, &[1.0, 2.0], 15)
        };
        for engine in [&Scalar as &dyn Engine, &Wide::default(), &Native::default()] {
            faults += usize::from(
                engine
                    .fragments(&context, &inputs, &quads, &mut Box::default())
                    .is_err(),
            );
        }
        let instructions = (0..8)
            .map(|_| gp::Instruction::decode(std::array::from_fn(|_| random.u32(..))))
            .collect();
        let program = VertexProgram::new(instructions);
        for engine in [&Scalar as &dyn Engine, &Wide::default(), &Native::default()] {
            let result = engine.vertices(&mut VertexBatch {
                program: &program,
                uniforms: &[[1.0; 4]],
                vertices: 1,
                rows: &mut VertexRows::of(&[[1.0; 4]], 1, 1),
                instructions: 0,
            });
            faults += usize::from(result.is_err());
        }
    }
    println!("{faults} faults");
    assert!(faults > 1_000);
}

/// A program with one uniform, and the location of its colour.
fn plain<'a>(program: &'a FragmentProgram, uniforms: &'a [f32], color_register: usize) -> FragmentContext<'a> {
    FragmentContext {
        uniforms,
        color_register,
        orientation: ORIENTATION,
        ..FragmentContext::new(program)
    }
}

/// If a fragment waits at another instruction, its neighbours use what it would have computed at theirs: a uniform, or
/// a product of uniforms, does not change from one to the next.
#[test]
fn who_waits_computes_for_neighbours() {
    let derivative = |text: &str| {
        let text = format!("load.v $0 0\nmov.v1 $1 $0, branch.gt $0.x $0.y end\n{text}\nend: mov.v1 $2 $1, stop\n");
        FragmentProgram::read(&pp::assemble(&text).unwrap()).unwrap()
    };
    let mut inputs = Inputs::default();
    // In the right column the first component is greater than the second.
    (inputs.varyings[0][0].dx, inputs.varyings[0][1].base) = (1.0, 1.0);
    let programs = [
        ("load.u 0, dFdx.v1 $1 ^uniform -^uniform", 0.0),
        ("load.u 0+$0.z, dFdx.v1 $1 ^uniform -^uniform", 0.0),
        ("load.u 0, mul.v0 $3 ^uniform ^uniform, dFdx.v1 $1 ^v0 -^uniform", 2.0),
        ("mov.v0 $3 ^const0, dFdy.v1 $1 ^v0 -^const0, const0 1 2 3 4", 0.0),
    ];
    for (text, want) in programs {
        let program = derivative(text);
        let context = plain(&program, &[2.0; 4], 2);
        let quads = [Quad { x: 0, y: 0, live: 15 }];
        let natives = [Level::Avx512, Level::Avx2].map(Native::at_most);
        let [best, second] = &natives;
        for engine in [&Scalar as &dyn Engine, &Wide::default(), best, second] {
            let mut out = Box::<Fragments>::default();
            engine.fragments(&context, &inputs, &quads, &mut out).unwrap();
            let red = &out.color[0][..4];
            // The left ones are at the derivative, the right ones are not.
            let right = inputs.varyings[0][0].at(1.5, 0.5);
            assert_eq!(red, [want, right, want, right], "{}: {text}", engine.name());
        }
    }
}

#[test]
fn endless_loops_are_stopped() {
    let words = pp::assemble("again: mov.v1 $0 $1, branch again\n mov.v1 $0 $1, stop").unwrap();
    let program = FragmentProgram::read(&words).unwrap();
    let context = plain(&program, &[], 0);
    let quads = [Quad { x: 0, y: 0, live: 15 }];
    let vertex = gp::assemble("again: mov.p _ t[0].x, branch again").unwrap();
    let vertex = VertexProgram::new(vertex.into_iter().map(gp::Instruction::decode).collect());
    for engine in [&Scalar as &dyn Engine, &Wide::default(), &Native::default()] {
        let fault = engine
            .fragments(&context, &Inputs::default(), &quads, &mut Box::default())
            .unwrap_err();
        assert!(fault.to_string().contains("budget spent"), "{fault}");
        let fault = engine
            .vertices(&mut VertexBatch {
                program: &vertex,
                uniforms: &[[1.0; 4]],
                vertices: 1,
                rows: &mut VertexRows::new(1, 1),
                instructions: 0,
            })
            .unwrap_err();
        assert!(
            fault.to_string().contains("budget spent") && fault.pc == Some(0),
            "{fault}"
        );
    }
}
