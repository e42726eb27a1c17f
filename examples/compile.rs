//! Compiles a pair of shaders, draws a triangle with it on the emulated Mali-400, and prints the programs' cost:
//! `cargo run --example compile [OUT.png]`.

use compiler::{Input, Options, Stage, compile};
use emulator::driver::{self, Draw};
use emulator::exec::scalar::Scalar;
use emulator::gpu::Gpu;

const VERTEX: &str = "
attribute vec4 position;
attribute vec3 color;
uniform float angle;
varying vec3 shade;
void main() {
    float s = sin(angle), c = cos(angle);
    gl_Position = vec4(c * position.x - s * position.y, s * position.x + c * position.y, position.zw);
    shade = color;
}";

const FRAGMENT: &str = "
precision mediump float;
varying vec3 shade;
void main() {
    gl_FragColor = vec4(sqrt(shade), 1.0);
}";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let vertex = compile(Input::GlslEs(VERTEX, Stage::Vertex), &Options::default())?;
    let fragment = compile(Input::GlslEs(FRAGMENT, Stage::Fragment), &Options::default())?;
    print!("{}{}", vertex.report, fragment.report);
    let mut draw = Draw::new(&vertex.program, &fragment.program, [256, 256]);
    let corner = |x: f32, y: f32| [x, y, 0.0, 1.0];
    draw.attributes = vec![
        (
            "position".to_owned(),
            vec![corner(0.0, 0.8), corner(-0.8, -0.8), corner(0.8, -0.8)],
        ),
        (
            "color".to_owned(),
            vec![[1.0, 0.0, 0.0, 1.0], [0.0, 1.0, 0.0, 1.0], [0.0, 0.0, 1.0, 1.0]],
        ),
    ];
    draw.uniforms = vec![("angle".to_owned(), vec![0.3])];
    let picture = driver::draw(&mut Gpu::new(Box::new(Scalar)), &draw)?;
    let middle = (128 * picture.width as usize + 128) * 4;
    println!("middle of the picture: {:?}", &picture.rgba[middle..middle + 4]);
    if let Some(path) = std::env::args().nth(1) {
        let picture = skrymir::picture::Picture {
            width: picture.width,
            height: picture.height,
            rgba: picture.rgba,
        };
        std::fs::write(path, picture.to_png()?)?;
    }
    Ok(())
}
