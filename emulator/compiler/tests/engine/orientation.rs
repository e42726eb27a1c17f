//! Which way the window's and the clip space's coordinates go, language by language, drawn on the emulator.

use emulator::driver::{self, Draw};
use emulator::exec::scalar::Scalar;
use emulator::gpu::Gpu;
use skrymir_compiler::{Input, Options, Stage, compile};
use translate::{Language, ShaderStage};

const SIZE: u32 = 64;
/// Clip space's w at every corner.
const W: f32 = 2.0;

/// A pair in one language; the fragment's colour is its position's x and y in parts of the target, its w, and half of how
/// y changes along y.
struct Pair {
    name: &'static str,
    language: Option<Language>,
    vertex: &'static str,
    fragment: &'static str,
    /// Rows count from above.
    down: bool,
    /// Clip space's y points down.
    flipped: bool,
}

const PAIRS: [Pair; 3] = [
    Pair {
        name: "GLSL ES",
        language: None,
        vertex: "attribute vec4 position; void main() { gl_Position = position; }",
        fragment: "#extension GL_OES_standard_derivatives : enable
            precision mediump float; void main() { vec4 p = gl_FragCoord;
            gl_FragColor = vec4(p.xy / 64.0, p.w, dFdy(p.y) * 0.5); }",
        down: false,
        flipped: false,
    },
    Pair {
        name: "WGSL",
        language: Some(Language::Wgsl),
        vertex: "@vertex fn main(@location(0) position: vec4f) -> @builtin(position) vec4f { return position; }",
        fragment: "@fragment fn main(@builtin(position) p: vec4f) -> @location(0) vec4f {
            return vec4f(p.xy / 64.0, p.w, dpdy(p.y) * 0.5); }",
        down: true,
        flipped: false,
    },
    Pair {
        name: "GLSL 4.50",
        language: Some(Language::Glsl),
        vertex: "#version 450\nlayout(location = 0) in vec4 position; void main() { gl_Position = position; }",
        fragment: "#version 450\nlayout(location = 0) out vec4 color; void main() { vec4 p = gl_FragCoord;
            color = vec4(p.xy / 64.0, p.w, dFdy(p.y) * 0.5); }",
        down: true,
        flipped: true,
    },
];

/// The picture of a triangle over all of the target where clip space's y is below 0.
fn draw(pair: &Pair) -> Vec<u8> {
    let compiled = |text: &'static str, stage: Stage| {
        let shader = match stage {
            Stage::Vertex => ShaderStage::Vertex,
            Stage::Fragment => ShaderStage::Fragment,
        };
        let program = match pair.language {
            None => compile(Input::GlslEs(text, stage), &Options::default()),
            Some(language) => {
                let source = translate::Source {
                    bytes: text.as_bytes(),
                    language,
                    stage: Some(shader),
                    entry: None,
                    any_layout: false,
                    y_up: false,
                    settings: translate::frontend::Settings::NONE,
                    path: std::path::Path::new(""),
                };
                compile(Input::Source(&source), &Options::default())
            }
        };
        program
            .unwrap_or_else(|error| panic!("{}", error.render(pair.name, text)))
            .program
    };
    let (vertex, fragment) = (
        compiled(pair.vertex, Stage::Vertex),
        compiled(pair.fragment, Stage::Fragment),
    );
    let mut draw = Draw::new(&vertex, &fragment, [SIZE, SIZE]);
    let name = vertex.attributes.iter().flatten().next().expect("an attribute").name();
    let corner = |x: f32, y: f32| [x * W, y * W, 0.5 * W, W];
    draw.attributes = vec![(name, vec![corner(-1.0, -1.0), corner(1.0, -1.0), corner(-1.0, 0.0)])];
    draw.clear = [0.0; 4];
    driver::draw(&mut Gpu::new(Box::new(Scalar)), &draw)
        .expect("a picture")
        .rgba
}

#[test]
fn every_language_has_its_own_coordinates() {
    let close = |have: u8, want: f32| (f32::from(have) - want * 255.0).abs() <= 1.5;
    for pair in &PAIRS {
        let picture = draw(pair);
        let (mut right, mut turned, mut covered) = (0, 0, [0, 0]);
        for row in 0..SIZE {
            for column in 0..SIZE {
                let at = ((row * SIZE + column) * 4) as usize;
                let pixel = &picture[at..at + 4];
                // How y changes is never 0 where something was drawn.
                if pixel[3] == 0 {
                    continue;
                }
                covered[(row >= SIZE / 2) as usize] += 1;
                let (down, up) = (
                    (row as f32 + 0.5) / SIZE as f32,
                    (SIZE as f32 - row as f32 - 0.5) / SIZE as f32,
                );
                let (want, other) = if pair.down { (down, up) } else { (up, down) };
                let rest = close(pixel[0], (column as f32 + 0.5) / SIZE as f32)
                    && close(pixel[2], 1.0 / W)
                    && close(pixel[3], 0.5);
                right += u32::from(rest && close(pixel[1], want));
                turned += u32::from(rest && close(pixel[1], other));
            }
        }
        let all = covered[0] + covered[1];
        println!(
            "{}: {covered:?} pixels above and below the middle, {right} right",
            pair.name
        );
        assert!(all > 500, "{}", pair.name);
        assert_eq!(right, all, "{}", pair.name);
        // Negative control: rows counted the other way are not within tolerance.
        assert!(turned < all / 20, "{}", pair.name);
        assert_eq!(covered[usize::from(pair.flipped)], 0, "{}: the wrong half", pair.name);
    }
}
