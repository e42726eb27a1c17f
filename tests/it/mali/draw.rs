//! Pairs of Mali-400 programs draw the pictures of formulas, with both engines.

use crate::common;

use emulator::driver::{self, Blend, Compare, Contents, Depth, Draw, Image, Picture, PrimitiveMode, Stencil};
use emulator::exec::Engine;
use emulator::exec::configured::without_fast_paths;
use emulator::exec::native::Native;
use emulator::exec::scalar::Scalar;
use emulator::exec::wide::Wide;
use emulator::gpu::{Gpu, TileOp};
use emulator::simd::Level;
use fastrand::Rng;
use loader::mbs::{Mbs, Program, Stage};
use utgard::shader;
use utgard::state::{RenderState, StencilOp};

fn engines() -> [Box<dyn Engine>; 2] {
    [Box::new(Scalar), Box::new(Wide::default())]
}

fn assemble(text: &str, stage: Stage) -> Program {
    let mbs = shader::assemble(text).unwrap_or_else(|error| panic!("{}", error.render(text, "test")));
    mbs.program(stage).unwrap().unwrap()
}

const VERTEX: &str = include_str!("../../../examples/mali/triangle.vert.s");

fn identity() -> Vec<f32> {
    (0..16).map(|at| if at % 5 == 0 { 1.0 } else { 0.0 }).collect()
}

/// Two triangles cover the picture; `tint` is 0 to 1 from left to right and from top to bottom.
fn full_screen<'a>(vertex: &'a Program, fragment: &'a Program, size: [u32; 2]) -> Draw<'a> {
    let mut draw = Draw::new(vertex, fragment, size);
    let corners = [
        [-1.0, 1.0, 0.0, 1.0],
        [1.0, 1.0, 0.0, 1.0],
        [-1.0, -1.0, 0.0, 1.0],
        [1.0, -1.0, 0.0, 1.0],
    ];
    let tints = [
        [0.0, 0.0, 0.0, 1.0],
        [1.0, 0.0, 0.0, 1.0],
        [0.0, 1.0, 0.0, 1.0],
        [1.0, 1.0, 0.0, 1.0],
    ];
    draw.attributes = vec![
        ("position".to_owned(), corners.to_vec()),
        ("color".to_owned(), tints.to_vec()),
    ];
    draw.uniforms = vec![("transform".to_owned(), identity())];
    (draw.mode, draw.count) = (PrimitiveMode::TriangleStrip, 4);
    draw
}

/// Draws with both engines, which must agree.
fn drawn(draw: &Draw<'_>) -> Picture {
    let [a, b] =
        engines().map(|engine| driver::draw(&mut Gpu::new(engine), draw).unwrap_or_else(|error| panic!("{error}")));
    assert!(a == b, "the engines' pictures differ");
    let native = || Box::<Native>::default();
    for engine in [native() as Box<dyn Engine>, without_fast_paths(native())] {
        let picture = driver::draw(&mut Gpu::new(engine), draw).unwrap_or_else(|error| panic!("{error}"));
        assert!(
            a == picture,
            "the native engine's picture differs, with fast paths or without"
        );
    }
    a
}

/// Fast paths and the general variants must make the same picture.
#[test]
fn fast_paths_differ_in_route_only() {
    let vertex = assemble(VERTEX, Stage::Vertex);
    let fragment = assemble(".fragment\n.varying vec4 tint\nload.v $0 0, stop\n", Stage::Fragment);
    let large = full_screen(&vertex, &fragment, [200, 180]);
    let mut small = full_screen(&vertex, &fragment, [200, 180]);
    let mut random = Rng::with_seed(3);
    let count = 6_000;
    let places = (0..count / 3).map(|_| [random.f32() * 1.8 - 0.9, random.f32() * 1.8 - 0.9]);
    let corners = [[0.0, 0.0], [0.08, 0.0], [0.0, 0.08]];
    let positions = places.flat_map(|[x, y]| corners.map(|[dx, dy]| [x + dx, y + dy, 0.5, 1.0]));
    small.attributes = vec![
        ("position".to_owned(), positions.collect()),
        ("color".to_owned(), vec![[0.25, 0.5, 0.75, 1.0]; count as usize]),
    ];
    (small.mode, small.count) = (PrimitiveMode::Triangles, count);
    let run = |draw: &Draw<'_>, engine: Box<dyn Engine>| {
        let mut gpu = Gpu::new(engine);
        let picture = driver::draw(&mut gpu, draw).unwrap();
        (picture, gpu.tile_ops())
    };
    let mut blended = full_screen(&vertex, &fragment, [200, 180]);
    blended.blend = Blend::Alpha;
    let cases = [
        (&large, TileOp::ShadeOpaqueTile),
        (&blended, TileOp::ShadeTile),
        (&small, TileOp::QuadBatch),
    ];
    for (draw, op) in cases {
        let fast = run(draw, Box::<Native>::default());
        let general = run(draw, without_fast_paths(Box::<Native>::default()));
        assert!(fast.0 == general.0, "{op:?}: pictures differ");
        let is_native = emulator::simd::level() != Level::Portable;
        assert!(!is_native || fast.1.count(op) > 0, "{op:?}: {:?}", fast.1);
        assert!(general.1.count(TileOp::Quads) > 0, "{:?}", general.1);
        for op in TileOp::ALL.into_iter().filter(|op| !op.is_general()) {
            assert_eq!(general.1.count(op), 0, "{op:?}");
        }
    }
}

fn pixel(picture: &Picture, x: u32, y: u32) -> [u8; 4] {
    let at = 4 * (y * picture.width + x) as usize;
    picture.rgba[at..at + 4].try_into().unwrap()
}

/// Largest difference of a channel from a formula of the pixel's centre (0 to 1), and the share of pixels more than
/// `tolerance` off.
fn against(picture: &Picture, tolerance: u8, formula: impl Fn(f32, f32) -> [f32; 4]) -> (u8, f64) {
    let (mut worst, mut off) = (0, 0);
    for y in 0..picture.height {
        for x in 0..picture.width {
            let place = |at: u32, size: u32| (at as f32 + 0.5) / size as f32;
            let want = formula(place(x, picture.width), place(y, picture.height));
            let want = want.map(|channel| (channel.clamp(0.0, 1.0) * 255.0).round() as u8);
            let far = pixel(picture, x, y)
                .iter()
                .zip(want)
                .map(|(a, b)| a.abs_diff(b))
                .max()
                .unwrap();
            worst = worst.max(far);
            off += usize::from(far > tolerance);
        }
    }
    (worst, off as f64 / f64::from(picture.width * picture.height))
}

/// A fragment program and its formula. Registers are fp16, so values have eleven bits.
struct Case {
    name: &'static str,
    text: &'static str,
    formula: fn(f32, f32) -> [f32; 4],
}

const CASES: [Case; 12] = [
    Case {
        name: "gradient",
        text: "load.v $0 0, stop",
        formula: |x, y| [x, y, 0.0, 1.0],
    },
    Case {
        name: "constants",
        text: "mov.v1 $0 ^const0, const0 0.25 0.5 0.75 1.0, stop",
        formula: |_, _| [0.25, 0.5, 0.75, 1.0],
    },
    Case {
        name: "products and sums",
        text: "load.v $0 0, mul.v0 $0.xyyy $0.yxxx, add.v1 $1 ^v0 ^const0, const0 0.1 0.2 0.3 0.0, stop",
        formula: |x, y| [x * y + 0.1, x * y + 0.2, x * y + 0.3, x * y],
    },
    Case {
        name: "selection",
        text: "load.v $0 0, gt.s0 $0.x ^const0.x, sel.v1 $1 ^const0.yyyx ^const0.wzyx, const0 0.5 1.0 0.25 0.0, stop",
        formula: |x, _| {
            if x > 0.5 {
                [1.0, 1.0, 1.0, 0.5]
            } else {
                [0.0, 0.25, 1.0, 0.5]
            }
        },
    },
    Case {
        name: "discard",
        text: "load.v $0 0\n branch.gt $0.x $0.y keep\n discard, stop\n keep: mov.v1 $1 ^const0, const0 1.0 0.5 0.0 1.0, stop",
        formula: |x, y| {
            if x > y {
                [1.0, 0.5, 0.0, 1.0]
            } else {
                [0.0, 0.0, 0.0, 1.0]
            }
        },
    },
    Case {
        name: "a loop",
        text: "load.v $0 0, mov.v1 $1 ^const0.xxxy, const0 0.0 1.0\n\
               again: add.s1 $1.x $1.x ^const0.x, add.v1 $1.y $1.y ^const0.y, const0 0.0625 0.125\n\
               branch.lt $1.x $0.x again\n mov.v1 $2 $1, stop",
        formula: |x, _| {
            let steps = (x / 0.0625).ceil().max(1.0);
            [steps * 0.0625, steps * 0.125, 0.0, 1.0]
        },
    },
    Case {
        name: "uniforms by an index",
        text: ".uniform vec4[4] table\n load.v $0 0, mul.s0 $0.x ^const0.x, mov.int.s1 $1.x ^s0, const0 4.0\n\
               load.u 0+$1.x, mov.v1 $2 ^uniform, stop",
        formula: |x, _| [(x * 4.0).floor() / 4.0, 1.0 - (x * 4.0).floor() / 4.0, 0.5, 1.0],
    },
    Case {
        name: "temporaries",
        text: "load.v $0 0, store.t -1 $0\n mov.v1 $0 ^const0.xxxx, const0 0.0\n load.t -1, mov.v1 $1 ^uniform.yxzw, stop",
        formula: |x, y| [y, x, 0.0, 1.0],
    },
    Case {
        name: "functions",
        text: "load.v $0 0, mul.s0 $0.y ^const0.x, const0 0.25\n sin.s2 $1.x $0.x\n mul.v0 $0.y $0 ^const0.xxxx, const0 0.25\n\
               cos.s2 $1.y $0.y\n sqrt.s2 $1.z $0.x\n mov.s1 $1.w ^const0.x, const0 1.0, stop, set control.stop 0\n mov.v1 $2 $1, stop",
        formula: |x, y| {
            let turn = std::f32::consts::TAU;
            [(x * turn).sin(), (y * 0.25 * turn).cos(), x.sqrt(), 1.0]
        },
    },
    Case {
        name: "fragment coordinates",
        text: "load.v $0 gl_FragCoord, mul.v0 $0.xyz $0 ^const0.xxyy, add.v1 $1 ^v0 ^const0.zzzw, const0 0.015625 0.0 0.0 0.0\n\
               mov.v1 $1 $0.xyzz\n mov.s1 $1.w ^const0.x, const0 1.0\n mov.v1 $2 $1, stop",
        formula: |x, y| [x, 1.0 - y, 0.0, 1.0],
    },
    Case {
        name: "derivatives",
        text: "load.v $0 0, dFdx.v1 $1 $0 -$0, sync\n dFdy.v1 $2 -$0 $0, sync\n\
               mul.v0 $1 ^const0.xxxx, add.v1 $1 ^v0 ^const0.yyyy, const0 16.0 0.0\n\
               mul.v0 $1.y -$2.yyyy ^const0.xxxx, const0 -16.0\n mov.s1 $1.w ^const0.x, const0 1.0\n mov.v1 $3 $1, stop",
        formula: |_, _| [0.25, 0.25, 0.0, 1.0],
    },
    Case {
        name: "a sum of components",
        text: "load.v $0 0, mul.v0 $0 ^const0, sum4.v1 $1 ^v0.xyzw, const0 0.5 0.25 0.0 0.25\n mov.s1 $1.w ^const0.x, const0 1.0\n\
               mov.v1 $2 $1, stop",
        formula: |x, y| {
            let sum = x * 0.5 + y * 0.25 + 0.25;
            [sum, sum, sum, 1.0]
        },
    },
];

/// Visits the draws of all fragment programs.
pub(super) fn all(mut visit: impl FnMut(&str, &Draw<'_>)) {
    each(|case, draw| visit(case.name, draw));
}

fn each(mut visit: impl FnMut(&Case, &Draw<'_>)) {
    let vertex = assemble(VERTEX, Stage::Vertex);
    for case in &CASES {
        let fragment = assemble(
            &format!(".fragment\n.varying vec4 tint\n{}\n", case.text),
            Stage::Fragment,
        );
        let mut draw = full_screen(&vertex, &fragment, [64, 64]);
        if case.text.contains("table") {
            let table = (0..4)
                .flat_map(|at| [at as f32 / 4.0, 1.0 - at as f32 / 4.0, 0.5, 1.0])
                .collect();
            draw.uniforms.push(("table".to_owned(), table));
        }
        visit(case, &draw);
    }
}

#[test]
fn our_own_programs_draw_their_formulas() {
    let mut pictures: Vec<Picture> = Vec::new();
    each(|case, draw| {
        let picture = drawn(draw);
        // fp16 steps at thresholds may move by a pixel.
        let (worst, off) = against(&picture, 2, case.formula);
        println!("{}: worst {worst}, {:.2} % more than 2 off", case.name, off * 100.0);
        assert!(off <= 0.02, "{}", case.name);
        // Negative control: the formula rejects the pictures of the previous cases.
        for other in &pictures {
            assert!(
                against(other, 2, case.formula).1 > 0.05,
                "{} is like another picture",
                case.name
            );
        }
        pictures.push(picture);
    });
}

/// The picture, and the depth and stencil words, that a draw leaves on each engine.
fn kept(draw: &Draw<'_>) -> (Picture, Vec<u32>) {
    let on = |engine: Box<dyn Engine>| {
        let mut gpu = Gpu::new(engine);
        let prepared = driver::prepare(&mut gpu, draw).unwrap_or_else(|error| panic!("{error}"));
        prepared.submit(&mut gpu).unwrap_or_else(|error| panic!("{error}"));
        let words = prepared.depth_stencil(&gpu).unwrap().expect("a kept depth");
        (prepared.picture(&gpu).unwrap(), words)
    };
    let scalar = on(Box::new(Scalar));
    assert!(scalar == on(Box::<Wide>::default()) && scalar == on(Box::<Native>::default()));
    scalar
}

#[test]
fn contents_of_targets_are_reloaded_to_the_bit() {
    let vertex = assemble(VERTEX, Stage::Vertex);
    let fragment = assemble(".fragment\n.varying vec4 tint\nload.v $0 0, stop\n", Stage::Fragment);
    let size = [75, 41];
    let pixels = (size[0] * size[1]) as usize;
    let mut random = Rng::with_seed(7);
    let contents = Contents {
        rgba: (0..4 * pixels).map(|_| random.u8(..)).collect(),
        depth_stencil: (0..pixels).map(|_| random.u32(..)).collect(),
    };
    let mut draw = full_screen(&vertex, &fragment, size);
    (draw.before, draw.keep_depth) = (Some(contents.clone()), true);
    // Nothing passes: what was there stays.
    draw.depth = Some(Depth {
        compare: Compare::Never,
        write: true,
    });
    let (picture, words) = kept(&draw);
    assert!(picture.rgba == contents.rgba && words == contents.depth_stencil);

    // Fragments pass where they are nearer than what was there and its stencil is even.
    let middle = 0x80_0000;
    draw.depth = Some(Depth {
        compare: Compare::Less,
        write: true,
    });
    let stencil = Stencil {
        compare: Compare::Equal,
        fail: StencilOp::Zero,
        depth_fail: StencilOp::Invert,
        pass: StencilOp::Replace,
        reference: 0x42,
        mask: 1,
        write_mask: 0xff,
    };
    draw.stencil = Some([stencil; 2]);
    let (picture, words) = kept(&draw);
    let mut counts = [0; 3];
    for (at, before) in contents.depth_stencil.iter().enumerate() {
        let (depth, stencil) = (before & 0x00ff_ffff, before >> 24);
        let (case, wanted) = match (stencil & 1 == 0, middle < depth) {
            (false, _) => (0, depth),
            (true, false) => (1, depth | (stencil ^ 0xff) << 24),
            (true, true) => (2, middle | 0x42 << 24),
        };
        counts[case] += 1;
        assert_eq!(words[at], wanted, "pixel {at}: {before:#x}");
        let [was, is] = [&contents.rgba, &picture.rgba].map(|rgba| &rgba[4 * at..4 * at + 4]);
        assert_eq!(case == 2, was != is, "pixel {at}: {was:?} {is:?}");
    }
    assert!(counts.iter().all(|count| *count > 300), "{counts:?}");
}

fn cube() -> Option<(Program, Program)> {
    let folder = common::corpus("mbs")?;
    let read = |name: &str, stage| {
        Mbs::read(&std::fs::read(folder.join(name)).unwrap())
            .unwrap()
            .program(stage)
            .unwrap()
            .unwrap()
    };
    Some((
        read("ssvb_cube_vertex.libmali.mbs", Stage::Vertex),
        read("ssvb_cube_fragment.libmali.mbs", Stage::Fragment),
    ))
}

type Matrix = [f32; 16];

fn times(m: &Matrix, v: [f32; 4]) -> [f32; 4] {
    std::array::from_fn(|row| (0..4).map(|column| m[4 * column + row] * v[column]).sum())
}

fn product(a: &Matrix, b: &Matrix) -> Matrix {
    let column = |at: usize| times(a, [b[4 * at], b[4 * at + 1], b[4 * at + 2], b[4 * at + 3]]);
    let columns = [column(0), column(1), column(2), column(3)];
    std::array::from_fn(|at| columns[at / 4][at % 4])
}

fn dot(a: [f32; 3], b: [f32; 3]) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// The brightness of a vertex in the cube's program: the formula of its README.
fn brightness(modelview: &Matrix, normal_matrix: &[f32; 9], position: [f32; 4], normal: [f32; 3]) -> f32 {
    let n: [f32; 3] = std::array::from_fn(|row| {
        (0..3)
            .map(|column| normal_matrix[3 * column + row] * normal[column])
            .sum()
    });
    let p = times(modelview, position);
    let light = [10.0 - p[0] / p[3], 20.0 - p[1] / p[3], 40.0 - p[2] / p[3]];
    let length = dot(light, light).sqrt();
    dot(n, light.map(|v| v / length)).max(0.0)
}

#[test]
fn the_genuine_vertex_program_computes_its_formulas() {
    let Some((vertex, fragment)) = cube() else { return };
    let mut random = Rng::with_seed(21);
    let mut worst = 0.0f32;
    let mut count = 0;
    for _ in 0..40 {
        let mut matrix =
            || -> Matrix { std::array::from_fn(|at| random.f32() * 2.0 - 1.0 + if at % 5 == 0 { 2.0 } else { 0.0 }) };
        let (modelview, mvp) = (matrix(), matrix());
        let normals: [f32; 9] = std::array::from_fn(|_| random.f32() * 2.0 - 1.0);
        let vertices = 250;
        let mut vec4 = |w: f32| -> Vec<[f32; 4]> {
            (0..vertices)
                .map(|_| {
                    [
                        random.f32() * 2.0 - 1.0,
                        random.f32() * 2.0 - 1.0,
                        random.f32() * 2.0 - 1.0,
                        w,
                    ]
                })
                .collect()
        };
        let (positions, normal_data, coords) = (vec4(4.0), vec4(1.0), vec4(1.0));
        let mut draw = Draw::new(&vertex, &fragment, [64, 64]);
        draw.attributes = vec![
            ("in_position".to_owned(), positions.clone()),
            ("in_normal".to_owned(), normal_data.clone()),
            ("in_coord".to_owned(), coords.clone()),
        ];
        draw.uniforms = vec![
            ("modelviewMatrix".to_owned(), modelview.to_vec()),
            ("modelviewprojectionMatrix".to_owned(), mvp.to_vec()),
            ("normalMatrix".to_owned(), normals.to_vec()),
        ];
        draw.textures = vec![("in_texture".to_owned(), checkers())];
        (draw.mode, draw.count) = (PrimitiveMode::Points, vertices);
        for engine in engines() {
            let mut gpu = Gpu::new(engine);
            let prepared = driver::prepare(&mut gpu, &draw).unwrap();
            prepared.submit(&mut gpu).unwrap();
            for at in 0..vertices {
                let (position, normal) = (positions[at as usize], normal_data[at as usize]);
                let clip = times(&mvp, position);
                let want = [
                    clip[0] / clip[3] * 32.0 + 32.0,
                    clip[1] / clip[3] * -32.0 + 32.0,
                    clip[2] / clip[3] * 0.5 + 0.5,
                    1.0 / clip[3],
                ];
                let have = prepared.position(&gpu, at).unwrap();
                let d = brightness(&modelview, &normals, position, [normal[0], normal[1], normal[2]]);
                let color = prepared.varying(&gpu, at, 0, 4).unwrap();
                let coord = prepared.varying(&gpu, at, 4, 2).unwrap();
                let pairs = have.into_iter().zip(want).chain(color.into_iter().zip([d, d, d, 1.0]));
                for (have, want) in pairs.chain(coord.into_iter().zip(coords[at as usize])) {
                    worst = worst.max((have - want).abs() / want.abs().max(1.0));
                }
                count += 1;
            }
        }
    }
    println!("{count} vertices of the genuine program, worst relative difference {worst:e}");
    assert!(count == 20_000 && worst < 1e-4);
}

fn checkers() -> Image {
    let texel = |at: u32| {
        if (at % 8 / 4 + at / 32).is_multiple_of(2) {
            [255, 255, 255, 255]
        } else {
            [40, 80, 160, 255]
        }
    };
    Image {
        width: 8,
        height: 8,
        rgba: (0..64).flat_map(texel).collect(),
        linear: false,
        repeat: false,
    }
}

/// Six faces: normal, and four corners with texture coordinates.
fn cube_mesh() -> ([Vec<[f32; 4]>; 3], Vec<u16>) {
    let (mut positions, mut normals, mut coords, mut indices) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for face in 0..6 {
        let (axis, sign) = (face % 3, if face < 3 { 1.0 } else { -1.0 });
        let first = positions.len() as u16;
        for (u, v) in [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)] {
            let mut position = [0.0, 0.0, 0.0, 1.0];
            position[axis] = sign;
            position[(axis + 1) % 3] = u * sign;
            position[(axis + 2) % 3] = v;
            let mut normal = [0.0, 0.0, 0.0, 1.0];
            normal[axis] = sign;
            positions.push(position);
            normals.push(normal);
            coords.push([u / 2.0 + 0.5, v / 2.0 + 0.5, 0.0, 1.0]);
        }
        indices.extend([0, 1, 2, 0, 2, 3].map(|at| first + at));
    }
    ([positions, normals, coords], indices)
}

#[test]
fn the_genuine_pair_draws_a_textured_lit_cube() {
    let Some((vertex, fragment)) = cube() else { return };
    let (s, c) = (0.6f32.sin(), 0.6f32.cos());
    let (s2, c2) = (0.4f32.sin(), 0.4f32.cos());
    let around_y: Matrix = [c, 0.0, -s, 0.0, 0.0, 1.0, 0.0, 0.0, s, 0.0, c, 0.0, 0.0, 0.0, 0.0, 1.0];
    let around_x: Matrix = [
        1.0, 0.0, 0.0, 0.0, 0.0, c2, s2, 0.0, 0.0, -s2, c2, 0.0, 0.0, 0.0, 0.0, 1.0,
    ];
    let turned = product(&around_x, &around_y);
    let mut modelview = turned;
    modelview[14] = -5.0;
    let (near, far, zoom) = (1.0, 10.0, 2.0);
    let depth = [(far + near) / (near - far), 2.0 * far * near / (near - far)];
    let projection: Matrix = [
        zoom, 0.0, 0.0, 0.0, 0.0, zoom, 0.0, 0.0, 0.0, 0.0, depth[0], -1.0, 0.0, 0.0, depth[1], 0.0,
    ];
    let mvp = product(&projection, &modelview);
    let normal_matrix: [f32; 9] = std::array::from_fn(|at| turned[4 * (at / 3) + at % 3]);
    let ([positions, normals, coords], indices) = cube_mesh();
    let size = 128;
    let mut draw = Draw::new(&vertex, &fragment, [size, size]);
    draw.attributes = vec![
        ("in_position".to_owned(), positions.clone()),
        ("in_normal".to_owned(), normals.clone()),
        ("in_coord".to_owned(), coords.clone()),
    ];
    draw.uniforms = vec![
        ("modelviewMatrix".to_owned(), modelview.to_vec()),
        ("modelviewprojectionMatrix".to_owned(), mvp.to_vec()),
        ("normalMatrix".to_owned(), normal_matrix.to_vec()),
    ];
    draw.textures = vec![("in_texture".to_owned(), checkers())];
    draw.indices = Some(indices.clone());
    draw.depth = Some(Depth {
        compare: Compare::Less,
        write: true,
    });
    let picture = drawn(&draw);
    // The reference: every pixel against every triangle, nearest first, in double precision.
    let project = |at: usize| {
        let clip = times(&mvp, positions[at]);
        let half = f64::from(size) / 2.0;
        let [x, y, z, w] = clip.map(f64::from);
        [x / w * half + half, -y / w * half + half, z / w, 1.0 / w]
    };
    let bright: Vec<f64> = (0..positions.len())
        .map(|at| {
            let normal = [normals[at][0], normals[at][1], normals[at][2]];
            f64::from(brightness(&modelview, &normal_matrix, positions[at], normal))
        })
        .collect();
    let texture = checkers();
    let (mut off, mut inside) = (0, 0);
    for y in 0..size {
        for x in 0..size {
            let (px, py) = (f64::from(x) + 0.5, f64::from(y) + 0.5);
            let mut best = (f64::INFINITY, [0.0, 0.0, 0.0, 1.0]);
            for triangle in indices.chunks(3) {
                let at = [triangle[0], triangle[1], triangle[2]].map(usize::from);
                let [a, b, c] = at.map(project);
                let area = (b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1]);
                let u = ((b[0] - px) * (c[1] - py) - (c[0] - px) * (b[1] - py)) / area;
                let v = ((c[0] - px) * (a[1] - py) - (a[0] - px) * (c[1] - py)) / area;
                let weights = [u, v, 1.0 - u - v];
                if weights.iter().any(|weight| *weight < 0.0) {
                    continue;
                }
                let z: f64 = weights
                    .iter()
                    .zip([a, b, c])
                    .map(|(weight, corner)| weight * corner[2])
                    .sum();
                if z >= best.0 {
                    continue;
                }
                let w: f64 = weights
                    .iter()
                    .zip([a, b, c])
                    .map(|(weight, corner)| weight * corner[3])
                    .sum();
                let mix = |value: &dyn Fn(usize) -> f64| -> f64 {
                    (0..3).map(|i| weights[i] * [a, b, c][i][3] * value(at[i])).sum::<f64>() / w
                };
                let (s, t) = (mix(&|at| f64::from(coords[at][0])), mix(&|at| f64::from(coords[at][1])));
                let texel = |v: f64| ((v * 8.0).floor() as usize).min(7);
                let from = 4 * (texel(t) * 8 + texel(s));
                let light = mix(&|at| bright[at]);
                let channel = |c: usize| f64::from(texture.rgba[from + c]) / 255.0 * light;
                best = (z, [channel(0), channel(1), channel(2), 1.0]);
            }
            inside += usize::from(best.0.is_finite());
            let want = best.1.map(|channel| (channel.clamp(0.0, 1.0) * 255.0).round() as u8);
            let far = pixel(&picture, x, y)[..3]
                .iter()
                .zip(&want[..3])
                .map(|(a, b)| a.abs_diff(*b))
                .max()
                .unwrap();
            off += usize::from(far > 3);
        }
    }
    let share = f64::from(off as u32) / f64::from(size * size);
    println!(
        "a lit, textured cube of {inside} pixels: {off} of {} pixels more than 3 off ({:.2} %)",
        size * size,
        share * 100.0
    );
    assert!(inside > 3_000 && share < 0.01);
}

#[test]
fn mismatches_are_named() {
    let vertex = assemble(VERTEX, Stage::Vertex);
    let fragment = assemble(
        ".fragment\n.varying vec4 tint\n.varying vec2 more\n load.v $0 0, stop",
        Stage::Fragment,
    );
    let draw = full_screen(&vertex, &fragment, [16, 16]);
    let error = |draw: &Draw<'_>| {
        driver::draw(&mut Gpu::new(Box::new(Scalar)), draw)
            .unwrap_err()
            .to_string()
    };
    assert!(
        error(&draw).contains("varying more is not an output"),
        "{}",
        error(&draw)
    );
    let fragment = assemble(".fragment\n.varying vec4 tint\n load.v $0 0, stop", Stage::Fragment);
    let good = full_screen(&vertex, &fragment, [16, 16]);
    let without = Draw {
        attributes: Vec::new(),
        ..good.clone()
    };
    assert!(error(&without).contains("attribute position is not given"));
    let unknown = Draw {
        uniforms: vec![("no".to_owned(), vec![1.0])],
        ..good.clone()
    };
    assert!(error(&unknown).contains("no program has the uniform no"));
    let large = Draw {
        size: [5000, 1],
        ..good.clone()
    };
    assert!(error(&large).contains("5000x1"));
    let swapped = Draw {
        vertex: &fragment,
        ..good.clone()
    };
    assert!(error(&swapped).contains("a vertex program and a fragment program"));
}

#[test]
fn a_job_has_a_budget_of_instructions() {
    let vertex = assemble(VERTEX, Stage::Vertex);
    let fragment = assemble(
        ".fragment\n.varying vec4 tint\nload.v $0 0\nmov.v1 $0 $0, stop\n",
        Stage::Fragment,
    );
    let draw = full_screen(&vertex, &fragment, [32, 32]);
    // Four vertices of 37 instructions; two per fragment, with fragments on the diagonal twice.
    for engine in [0, 1] {
        let run = |budget: u64| {
            let [scalar, wide] = engines();
            let mut gpu = Gpu::new(if engine == 0 { scalar } else { wide }).with_budget(budget);
            driver::draw(&mut gpu, &draw)
        };
        for (budget, job) in [(4 * 37 - 1, "gp"), (2 * 32 * 32, "pp")] {
            let error = run(budget).expect_err("so few instructions are too few");
            let fault = error.fault().unwrap_or_else(|| panic!("{budget}: {error}"));
            assert_eq!(fault.kind, emulator::fault::FaultKind::Budget);
            assert!(fault.to_string().to_lowercase().contains(job), "{fault}");
        }
        assert!(run(2 * 32 * 32 + 500).is_ok());
    }
}

/// Thousands of vertices run in batches on all threads: memory is identical with one thread and with four.
#[test]
fn threads_run_the_same_vertices() {
    let vertex = assemble(VERTEX, Stage::Vertex);
    let fragment = assemble(".fragment\n.varying vec4 tint\nload.v $0 0, stop\n", Stage::Fragment);
    let mut draw = full_screen(&vertex, &fragment, [64, 64]);
    let mut random = Rng::with_seed(17);
    let count = 6_003;
    let mut list = |low: f32| -> Vec<[f32; 4]> {
        let mut number = || low + (1.0 - low) * random.f32();
        (0..count).map(|_| [number(), number(), number(), 1.0]).collect()
    };
    draw.attributes = vec![("position".to_owned(), list(-1.0)), ("color".to_owned(), list(0.0))];
    (draw.mode, draw.count) = (PrimitiveMode::Triangles, count);
    let run = |engine: Box<dyn Engine>, threads: usize| {
        let mut gpu = Gpu::new(engine).with_threads(threads);
        let prepared = driver::prepare(&mut gpu, &draw).unwrap();
        let before: Vec<_> = gpu.memory.objects().map(|(at, bytes)| (at, bytes.to_vec())).collect();
        let (geometry, pixels) = prepared.submit(&mut gpu).unwrap();
        let after: Vec<_> = gpu.memory.objects().map(|(at, bytes)| (at, bytes.to_vec())).collect();
        assert!(before != after, "nothing was drawn");
        (geometry.vertices, geometry.instructions, pixels.fragments, after)
    };
    let [scalar, wide] = engines();
    let one = run(scalar, 1);
    assert_eq!(one.0, u64::from(count));
    assert!(run(wide, 4) == one, "four threads give other bytes");
    let [scalar, _] = engines();
    assert!(run(scalar, 3) == one, "three threads give other bytes");
}

/// Writing tiles one by one makes the same picture as writing it at the end; a job that exceeds its budget writes
/// nothing either way.
#[test]
fn tiles_go_to_memory_at_once_or_at_the_end() {
    let vertex = assemble(VERTEX, Stage::Vertex);
    let fragment = assemble(
        ".fragment\n.varying vec4 tint\nload.v $0 0, mul.v0 $0 $0 $0, stop\n",
        Stage::Fragment,
    );
    // The last column and row of tiles are partial, and some along the diagonal are partly covered.
    let mut draw = full_screen(&vertex, &fragment, [200, 180]);
    let (_, tints) = &mut draw.attributes[1];
    tints.iter_mut().for_each(|tint| tint[3] = 0.75);
    for blend in [Blend::None, Blend::Alpha] {
        draw.blend = blend;
        goes_to_memory(&draw);
    }
}

fn goes_to_memory(draw: &Draw<'_>) {
    let run = |engine: Box<dyn Engine>, threads: usize, keeps: bool, budget: u64| {
        let mut gpu = Gpu::new(engine).with_threads(threads).with_budget(budget);
        let prepared = driver::prepare(&mut gpu, draw).unwrap();
        let bytes = |gpu: &Gpu| -> Vec<_> { gpu.memory.objects().map(|(at, bytes)| (at, bytes.to_vec())).collect() };
        prepared.run_vertices(&mut gpu).unwrap();
        let before = bytes(&gpu);
        if keeps {
            gpu.memory.keep_writes();
        }
        let done = prepared.submit(&mut gpu).map(|(_, pixels)| pixels);
        (before, done.ok(), bytes(&gpu))
    };
    let [scalar, _] = engines();
    let (before, pixels, after) = run(scalar, 1, false, 1 << 36);
    assert!(before != after && pixels.is_some(), "nothing was drawn");
    for (threads, keeps) in [(1, false), (1, true), (3, false), (3, true)] {
        let have = run(Box::<Native>::default(), threads, keeps, 1 << 36);
        assert!(
            have.1 == pixels && have.2 == after,
            "{threads} threads, writes kept: {keeps}"
        );
        // The budget suffices for all vertices' instructions, but not for all fragments'.
        let (before, pixels, after) = run(Box::<Native>::default(), threads, keeps, 30_000);
        assert!(pixels.is_none() && before == after, "a job that failed wrote something");
    }
}

/// Observes nothing. Tiles of an observed job have separate samples from the start, and fragments run one by one.
struct NoObserver;

impl emulator::gpu::pp::observe::Watch for NoObserver {
    fn pixels(&self) -> &[[u32; 2]] {
        &[]
    }
}

/// A tile with samples split on demand equals one with separate samples from the start, in any state.
#[test]
fn samples_are_split_when_they_differ() {
    let vertex = assemble(VERTEX, Stage::Vertex);
    let fragment = assemble(".fragment\n.varying vec4 tint\nload.v $0 0, stop\n", Stage::Fragment);
    let mut random = Rng::with_seed(29);
    let mut pictures = Vec::new();
    for round in 0..24 {
        let mut draw = full_screen(&vertex, &fragment, [96, 80]);
        // A triangle that covers the picture, then some that cover parts of it.
        let count = 3 * 12;
        let far = [[-3.0, -3.0, 0.0, 1.0], [-3.0, 9.0, 0.0, 1.0], [9.0, -3.0, 0.0, 1.0]];
        let mut list = |low: f32| -> Vec<[f32; 4]> {
            let mut number = || low + (1.0 - low) * random.f32();
            (3..count).map(|_| [number(), number(), number(), 1.0]).collect()
        };
        let (positions, colors) = (list(-1.0), list(0.0));
        draw.attributes = vec![
            ("position".to_owned(), far.into_iter().chain(positions).collect()),
            (
                "color".to_owned(),
                vec![[0.2, 0.4, 0.6, 0.5]; 3].into_iter().chain(colors).collect(),
            ),
        ];
        (draw.mode, draw.count) = (PrimitiveMode::Triangles, count);
        if round % 3 == 1 {
            let (compare, write) = (Compare::LessEqual, round % 2 == 0);
            draw.depth = Some(Depth { compare, write });
        }
        let run = |engine: Box<dyn Engine>, watched: bool| {
            let mut gpu = Gpu::new(engine);
            let prepared = driver::prepare(&mut gpu, &draw).unwrap();
            let (geometry, pixels) = prepared.frames();
            gpu.run_gp(geometry).unwrap();
            let at = gpu.geometry().unwrap().draws[0].state;
            let words = gpu.memory.words(at, RenderState::WORDS as u32).unwrap();
            let mut state = RenderState::from_words(&words);
            (state.multisample_a, state.multisample_b, state.multisample_c) = (true, true, true);
            state.sample_mask = if round % 4 == 3 { 0b0110 } else { 15 };
            (state.alpha_to_coverage, state.alpha_to_one) = (round % 5 == 4, round % 7 == 6);
            if round % 6 == 5 {
                (state.front_mask, state.back_mask) = (255, 255);
                (state.front_pass, state.back_pass) = (StencilOp::Increment, StencilOp::Invert);
                (state.alpha_compare, state.alpha_reference) = (Compare::Greater, 100);
            }
            let bytes: Vec<u8> = state.to_words().iter().flat_map(|word| word.to_le_bytes()).collect();
            gpu.memory.write(at, &bytes).unwrap();
            let pixels = match watched {
                true => gpu.run_pp_observed(pixels, &NoObserver).unwrap(),
                false => gpu.run_pp(pixels).unwrap(),
            };
            (pixels, prepared.picture(&gpu).unwrap())
        };
        let wanted = run(Box::new(Scalar), true);
        for (engine, name) in [
            (Box::new(Scalar) as Box<dyn Engine>, "scalar"),
            (Box::<Native>::default(), "native"),
        ] {
            assert!(run(engine, false) == wanted, "round {round}, {name}");
        }
        pictures.push(wanted.1);
    }
    assert!(
        pictures.windows(2).all(|pair| pair[0] != pair[1]),
        "rounds give the same picture"
    );
}
