//! Pairs whose vertex programs do the work: lighting, a loop, indexed uniforms, many varyings, texture coordinates,
//! temporaries. Both engines draw the pictures of formulas per vertex and per fragment.

use emulator::driver::{self, Draw, Image, Picture, PrimitiveMode};
use emulator::exec::Engine;
use emulator::exec::scalar::Scalar;
use emulator::exec::wide::Wide;
use emulator::gpu::Gpu;
use loader::mbs::{Program, Stage};
use utgard::shader;

fn assemble(text: &str, stage: Stage) -> Program {
    let mbs = shader::assemble(text).unwrap_or_else(|error| panic!("{}", error.render(text, "test")));
    mbs.program(stage).unwrap().unwrap()
}

const SIZE: u32 = 64;

/// Positions and data of the corners: left above, right above, left below, right below.
const POSITIONS: [[f32; 4]; 4] = [
    [-1.0, 1.0, 0.0, 1.0],
    [1.0, 1.0, 0.0, 1.0],
    [-1.0, -1.0, 0.0, 1.0],
    [1.0, -1.0, 0.0, 1.0],
];
const DATA: [[f32; 4]; 4] = [
    [0.5, 0.25, 0.0, 1.0],
    [0.75, -0.5, 1.0, 1.0],
    [0.25, 0.75, 2.0, 1.0],
    [1.0, 1.0, 3.0, 1.0],
];

struct Pair {
    name: &'static str,
    /// Uniforms after the viewport: declarations and values.
    uniforms: &'static str,
    numbers: &'static [f32],
    /// Varyings except the position.
    varyings: usize,
    /// After the position: `a1` is the data, uniforms begin at `t[2]`.
    vertex: &'static str,
    fragment: &'static str,
    /// Varyings at a corner, by its data.
    corner: fn([f32; 4]) -> Vec<f32>,
    /// The colour, by the interpolated varyings.
    color: fn(&[f32]) -> [f32; 4],
}

const LOOK: &str = "load.v $0 0, stop";

const PAIRS: [Pair; 7] = [
    Pair {
        name: "lighting",
        uniforms: ".uniform vec4 light",
        numbers: &[0.48, 0.6, 0.64, 0.0],
        varyings: 1,
        vertex: "mul.m0 _ a1.x a1.x, mul.m1 _ a1.y a1.y
            add.a0 _ ^mul0 ^mul1, mul.m0 _ a1.z a1.z
            add.a0 $0.x ^acc0 ^mul0
            mul.m0 _ a1.x t[2].x, mul.m1 _ a1.y t[2].y
            add.a0 _ ^mul0 ^mul1, mul.m0 _ a1.z t[2].z
            add.a0 $2.x ^acc0 ^mul0
            rsqrt.c _ $0.x, complex2.m0 _ $0.x $0.x
            complex1.m01 _ ^complex ^mul0 ^complex $0.x
            nop
            mov.m0 $1.x ^^mul0
            nop
            nop
            nop
            mul.m0 _ $2.x $1.x@0
            max.a0 v1.x ^mul0 t[2].w, max.a1 v1.y ^mul0 t[2].w
            mov.m0 v1.z a1.w, mov.m1 v1.w a1.w",
        fragment: LOOK,
        corner: |n| {
            let dot = n[0] * 0.48 + n[1] * 0.6 + n[2] * 0.64;
            let length = (n[0] * n[0] + n[1] * n[1] + n[2] * n[2]).sqrt();
            vec![(dot / length).max(0.0), (dot / length).max(0.0), 1.0, 1.0]
        },
        color: |v| [v[0], v[1], v[2], v[3]],
    },
    Pair {
        name: "a loop",
        uniforms: ".uniform vec4 numbers",
        numbers: &[1.0, 0.0, -1.0, 3.0],
        varyings: 1,
        vertex: "mov.a0 $0.x t[2].x, mov.a1 $0.y t[2].w
            nop
            nop
            nop
        again:
            mul.m0 $0.x $0.x a1.x, add.a0 $0.y $0.y t[2].z
            nop
            nop
            nop
            mov.p _ $0.y, branch again
            mov.a0 v1.x $0.x, mov.a1 v1.y $0.y
            mov.m0 v1.z a1.w, mov.m1 v1.w a1.w",
        fragment: LOOK,
        corner: |d| vec![d[0] * d[0] * d[0], 0.0, 1.0, 1.0],
        color: |v| [v[0], v[1], v[2], v[3]],
    },
    Pair {
        name: "uniforms by an index",
        uniforms: ".uniform vec4[4] table",
        numbers: &[
            1.0, 0.0, 0.25, 1.0, 0.0, 1.0, 0.5, 1.0, 0.25, 0.5, 0.75, 1.0, 0.5, 0.25, 1.0, 1.0,
        ],
        varyings: 1,
        vertex: "temp_load_addr_1.c _ a1.z
            nop
            nop
            nop
            nop
            mov.a0 v1.x t[2+a1].x, mov.a1 v1.y t[2+a1].y, mov.m0 v1.z t[2+a1].z, mov.m1 v1.w t[2+a1].w",
        fragment: LOOK,
        corner: |d| {
            let table = [
                [1.0, 0.0, 0.25, 1.0],
                [0.0, 1.0, 0.5, 1.0],
                [0.25, 0.5, 0.75, 1.0],
                [0.5, 0.25, 1.0, 1.0],
            ];
            table[d[2] as usize].to_vec()
        },
        color: |v| [v[0], v[1], v[2], v[3]],
    },
    Pair {
        name: "many varyings",
        uniforms: ".uniform vec4 weights",
        numbers: &[0.25, 0.125, 0.0625, 0.03125],
        varyings: 8,
        vertex: "mul.m0 v1.x a1.x t[2].x, mul.m1 v1.y a1.x t[2].y
            mul.m0 v2.x a1.x t[2].z, mul.m1 v2.y a1.x t[2].w
            mul.m0 v3.x a1.w t[2].x, mul.m1 v3.y a1.w t[2].y
            mul.m0 v4.x a1.w t[2].z, mul.m1 v4.y a1.w t[2].w
            mul.m0 v5.z a1.x t[2].x, mul.m1 v5.w a1.x t[2].y
            mul.m0 v6.z a1.x t[2].z, mul.m1 v6.w a1.x t[2].w
            mul.m0 v7.z a1.w t[2].x, mul.m1 v7.w a1.w t[2].y
            mul.m0 v8.z a1.w t[2].z, mul.m1 v8.w a1.w t[2].w",
        fragment: "load.v $0.xy 0.xy
            load.v $1.xy 1.xy
            load.v $2.xy 2.xy
            load.v $3.xy 3.xy
            load.v $0.zw 4, add.v1 $4.xy $0 $1
            load.v $1.zw 5, add.v1 $4.xy $4 $2
            load.v $2.zw 6, add.v1 $4.xy $4 $3
            load.v $3.zw 7, add.v1 $4.zw $0 $1
            add.v1 $4.zw $4 $2
            add.v1 $4.zw $4 $3
            mov.v1 $5 $4, stop",
        corner: |d| {
            let weights = [0.25, 0.125, 0.0625, 0.03125];
            [d[0], d[3]]
                .into_iter()
                .flat_map(|v| weights.map(|weight| v * weight))
                .collect()
        },
        color: |_| [0.0; 4],
    },
    Pair {
        name: "texture coordinates",
        uniforms: ".uniform vec4 turn",
        numbers: &[0.0, 1.0, -1.0, 0.5],
        varyings: 1,
        vertex: "mul.m0 _ a0.y t[2].w, mul.m1 _ a0.x t[2].w
            add.a0 v1.x ^mul0 t[2].w, add.a1 v1.y -^mul1 t[2].w
            mov.m0 v1.z a1.w, mov.m1 v1.w a1.w",
        fragment: ".uniform sampler2D picture\nload.v ^discard.xy 0.xy, texld 0, mov.v1 $0 ^texture, sync, stop",
        corner: |_| vec![],
        color: |_| [0.0; 4],
    },
    Pair {
        name: "temporaries",
        uniforms: ".uniform vec4 place",
        numbers: &[100.0, 0.0, 0.0, 0.0],
        varyings: 1,
        vertex: "temp_store_addr.c _ t[2].x, mov.m0 t[].x a1.y, mov.m1 t[].y a1.x, mov.a0 t[].z a1.w, mov.a1 t[].w a1.w
            nop
            nop
            nop
            nop
            mov.a0 v1.x t[100].x, mov.a1 v1.y t[100].y, mov.m0 v1.z t[100].z, mov.m1 v1.w t[100].w",
        fragment: LOOK,
        corner: |d| vec![d[1], d[0], 1.0, 1.0],
        color: |v| [v[0], v[1], v[2], v[3]],
    },
    Pair {
        name: "functions",
        uniforms: ".uniform vec4 numbers",
        numbers: &[4.0, 0.0, 0.0, 0.25],
        varyings: 1,
        vertex: "mul.m0 $0.x a1.x t[2].x
            nop
            nop
            nop
            log2.c _ $0.x, complex2.m0 _ $0.x $0.x
            complex1.m01 _ ^complex ^mul0 ^complex $0.x
            nop
            mov.p $1.x ^^mul0
            nop
            nop
            nop
            mul.m0 v1.x $1.x t[2].w, floor.a0 v1.y a1.y
            sign.a0 _ a1.y
            lt.a0 v1.z ^acc0 t[2].y, mov.m1 v1.w a1.w",
        fragment: "load.v $0 0\nmax.v1 $0 $0 ^const0, const0 0.0, stop",
        corner: |d| {
            vec![
                (d[0] * 4.0).log2() * 0.25,
                d[1].floor(),
                f32::from(u8::from(d[1] < 0.0)),
                1.0,
            ]
        },
        color: |v| [v[0].max(0.0), v[1].max(0.0), v[2].max(0.0), v[3]],
    },
];

/// A picture of four by four texels, each of its own colour.
fn image() -> Image {
    Image {
        width: 4,
        height: 4,
        rgba: (0..16u8)
            .flat_map(|at| [at * 17, 255 - at * 17, at % 4 * 85, 255])
            .collect(),
        linear: false,
        repeat: false,
    }
}

/// The colour of a pixel's centre at `x`, `y` from 0 to 1: varyings are linear over the two triangles.
fn wanted(pair: &Pair, x: f32, y: f32) -> [f32; 4] {
    if pair.name == "texture coordinates" {
        // A quarter turn: s points up, t points left.
        let (s, t) = (1.0 - y, 1.0 - x);
        let texel = ((t * 4.0) as usize * 4 + (s * 4.0) as usize) * 4;
        return std::array::from_fn(|channel| f32::from(image().rgba[texel + channel]) / 255.0);
    }
    let [a, b, c, d] = DATA.map(pair.corner);
    let upper = x + y < 1.0;
    let varying = |at: usize| match upper {
        true => a[at] + x * (b[at] - a[at]) + y * (c[at] - a[at]),
        false => d[at] + (1.0 - x) * (c[at] - d[at]) + (1.0 - y) * (b[at] - d[at]),
    };
    let values: Vec<f32> = (0..a.len()).map(varying).collect();
    if pair.name == "many varyings" {
        let v = &values;
        // x and y of the varyings 1 to 4 and z and w of 5 to 8 are sums of the same numbers.
        let (even, odd) = (v[0] + v[2] + v[4] + v[6], v[1] + v[3] + v[5] + v[7]);
        return [even, odd, even, odd];
    }
    (pair.color)(&values)
}

fn drawn(pair: &Pair) -> Picture {
    with_draw(pair, |draw| {
        let engines: [Box<dyn Engine>; 2] = [Box::new(Scalar), Box::new(Wide::default())];
        let [a, b] = engines.map(|engine| {
            driver::draw(&mut Gpu::new(engine), draw).unwrap_or_else(|error| panic!("{}: {error}", pair.name))
        });
        assert!(a == b, "{}: the engines' pictures differ", pair.name);
        a
    })
}

/// Every pair's name and draw.
pub(super) fn all(mut visit: impl FnMut(&str, &Draw<'_>)) {
    for pair in &PAIRS {
        with_draw(pair, |draw| visit(pair.name, draw));
    }
}

fn with_draw<T>(pair: &Pair, run: impl FnOnce(&Draw<'_>) -> T) -> T {
    let varyings: String = (0..pair.varyings).map(|at| format!(".varying vec4 v{at}\n")).collect();
    let vertex = format!(
        ".vertex\n.uniform vec4[2] gl_mali_ViewportTransform\n{}\n.attribute vec4 position\n.attribute vec4 data\n\
         .varying vec4 gl_Position\n{varyings}\
         mul.m0 _ a0.x t[0].x, mul.m1 _ a0.y t[0].y\n\
         add.a0 v0.x ^mul0 t[1].x, add.a1 v0.y ^mul1 t[1].y\n\
         mul.m0 _ a0.z t[0].z, mov.m1 v0.w a0.w\n\
         add.a0 v0.z ^mul0 t[1].z\n{}\n",
        pair.uniforms, pair.vertex
    );
    let fragment = format!(".fragment\n{varyings}{}\n", pair.fragment);
    let (vertex, fragment) = (assemble(&vertex, Stage::Vertex), assemble(&fragment, Stage::Fragment));
    let mut draw = Draw::new(&vertex, &fragment, [SIZE, SIZE]);
    draw.attributes = vec![
        ("position".to_owned(), POSITIONS.to_vec()),
        ("data".to_owned(), DATA.to_vec()),
    ];
    let name = pair.uniforms.split(' ').next_back().unwrap();
    draw.uniforms = vec![(name.to_owned(), pair.numbers.to_vec())];
    if pair.fragment.contains("picture") {
        draw.textures = vec![("picture".to_owned(), image())];
    }
    (draw.mode, draw.count) = (PrimitiveMode::TriangleStrip, 4);
    run(&draw)
}

/// Worst difference of a channel, and the share of pixels more than two off.
fn against(picture: &Picture, pair: &Pair) -> (u8, f64) {
    let (mut worst, mut off) = (0, 0);
    for at in 0..SIZE * SIZE {
        let center = |at: u32| (at as f32 + 0.5) / SIZE as f32;
        let want =
            wanted(pair, center(at % SIZE), center(at / SIZE)).map(|v| (v.clamp(0.0, 1.0) * 255.0).round() as u8);
        let have = &picture.rgba[4 * at as usize..][..4];
        let difference = have
            .iter()
            .zip(want)
            .map(|(have, want)| have.abs_diff(want))
            .max()
            .unwrap();
        worst = worst.max(difference);
        off += u32::from(difference > 2);
    }
    (worst, f64::from(off) / f64::from(SIZE * SIZE))
}

#[test]
fn own_vertex_programs_draw_their_formulas() {
    let mut pictures: Vec<Picture> = Vec::new();
    for pair in &PAIRS {
        let picture = drawn(pair);
        let (worst, off) = against(&picture, pair);
        println!("{}: worst {worst}, {:.2} % more than 2 off", pair.name, off * 100.0);
        assert!(off == 0.0, "{}", pair.name);
        // Negative control: the formula rejects the pictures of the previous cases.
        let alike = pictures.iter().any(|other| against(other, pair).1 < 0.05);
        assert!(!alike, "{} is like another picture", pair.name);
        pictures.push(picture);
    }
    println!("{} pairs", PAIRS.len());
}
