//! Draws a triangle with two Mali-400 programs written as text, on a machine with neither the GPU nor Vulkan:
//! `cargo run --example mali_triangle [OUT.png]`.

use emulator::driver::{self, Draw};
use emulator::exec::wide::Wide;
use emulator::gpu::Gpu;
use loader::mbs::Stage;
use skrymir::picture::Picture;
use utgard::shader;

/// Transforms positions to the window by a matrix; passes colours on.
const VERTEX: &str = include_str!("mali/triangle.vert.s");

/// Interpolates the colour.
const FRAGMENT: &str = include_str!("mali/triangle.frag.s");

fn main() -> anyhow::Result<()> {
    let output = std::env::args()
        .nth(1)
        .unwrap_or_else(|| "mali_triangle.png".to_owned());
    let vertex = shader::assemble(VERTEX)?
        .program(Stage::Vertex)?
        .expect("the text has a vertex program");
    let fragment = shader::assemble(FRAGMENT)?
        .program(Stage::Fragment)?
        .expect("the text has a fragment program");

    let mut draw = Draw::new(&vertex, &fragment, [256, 256]);
    let corners = [[0.0, 0.8, 0.0, 1.0], [-0.8, -0.8, 0.0, 1.0], [0.8, -0.8, 0.0, 1.0]];
    let colors = [[1.0, 0.0, 0.0, 1.0], [0.0, 1.0, 0.0, 1.0], [0.0, 0.0, 1.0, 1.0]];
    draw.attributes = vec![
        ("position".to_owned(), corners.to_vec()),
        ("color".to_owned(), colors.to_vec()),
    ];
    let identity = (0..16).map(|at| if at % 5 == 0 { 1.0 } else { 0.0 }).collect();
    draw.uniforms = vec![("transform".to_owned(), identity)];

    let mut gpu = Gpu::new(Box::new(Wide::default()));
    let picture = driver::draw(&mut gpu, &draw)?;
    let picture = Picture {
        width: picture.width,
        height: picture.height,
        rgba: picture.rgba,
    };
    std::fs::write(&output, picture.to_png()?)?;
    println!("{output}: {}x{} pixels", picture.width, picture.height);
    Ok(())
}
