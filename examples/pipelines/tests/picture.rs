//! The picture of the program, in its pixels, and no message of the validation layer.

use std::path::Path;
use std::process::Command;

const SIZE: usize = 256;

/// The layer's settings: every message, on standard output.
const SETTINGS: &str = "khronos_validation.report_flags = error,warn,perf\n\
                        khronos_validation.debug_action = VK_DBG_LAYER_ACTION_LOG_MSG\n\
                        khronos_validation.log_filename = stdout\n\
                        khronos_validation.enables = VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT\n";

fn picture() -> Vec<[u8; 3]> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (out, settings) = (folder.join("picture.ppm"), folder.join("vk_layer_settings.txt"));
    std::fs::write(&settings, SETTINGS).expect("written");
    let mut command = Command::new(env!("CARGO_BIN_EXE_skrymir-pipelines-example"));
    command.arg(&out);
    if Path::new("/usr/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json").exists() {
        command.env("VK_INSTANCE_LAYERS", "VK_LAYER_KHRONOS_validation");
        command.env("VK_LAYER_SETTINGS_PATH", &settings);
    } else {
        println!("not watched: the validation layer is not installed");
    }
    let run = command.output().expect("it runs");
    let said = String::from_utf8_lossy(&run.stdout).into_owned() + &String::from_utf8_lossy(&run.stderr);
    let is_silent = !["VUID", "Validation", "UNASSIGNED", "SYNC-"]
        .iter()
        .any(|word| said.contains(word));
    assert!(run.status.success() && is_silent, "{said}");
    let bytes = std::fs::read(&out).expect("a picture");
    let pixels = bytes.strip_prefix(b"P6\n256 256\n255\n").expect("a PPM");
    pixels.as_chunks().0.to_vec()
}

/// The distance of a pixel's centre to the triangle's edges, in pixels; positive inside.
fn inside(x: usize, y: usize) -> f64 {
    let corner = |x: f64, y: f64| [(x + 1.0) * 128.0, (y + 1.0) * 128.0];
    let corners = [corner(0.0, -0.8), corner(0.8, 0.8), corner(-0.8, 0.8)];
    let at = [x as f64 + 0.5, y as f64 + 0.5];
    let edge = |from: [f64; 2], to: [f64; 2]| {
        let [dx, dy] = [to[0] - from[0], to[1] - from[1]];
        (dx * (at[1] - from[1]) - dy * (at[0] - from[0])) / dx.hypot(dy)
    };
    let edges = [0, 1, 2].map(|at| edge(corners[at], corners[(at + 1) % 3]));
    edges.into_iter().fold(f64::INFINITY, f64::min)
}

/// Pixels that are not the mask's: the cleared colour outside, the second triangle's inside. Those within a pixel of its
/// edges are not compared.
fn wrong(picture: &[[u8; 3]], shift: f64) -> usize {
    let wanted = |x: usize, y: usize| match inside(x, y) > 0.0 {
        false => [0.1, 0.1, 0.1],
        true => {
            let [u, v] = [x, y].map(|at| (at as f64 + 0.5) / SIZE as f64);
            [1.0 - u - v, u + shift, v]
        }
    };
    let is_wrong = |at: &usize| {
        let (x, y) = (at % SIZE, at / SIZE);
        let off = |(have, wanted): (&u8, f64)| (f64::from(*have) - wanted.clamp(0.0, 1.0) * 255.0).abs() > 1.0;
        inside(x, y).abs() > 1.5 && picture[*at].iter().zip(wanted(x, y)).any(off)
    };
    (0..SIZE * SIZE).filter(is_wrong).count()
}

#[test]
fn the_second_triangle_is_seen_through_the_first() {
    let picture = picture();
    assert_eq!(wrong(&picture, 0.0), 0);
    assert!(wrong(&picture, 0.1) > 10_000, "the negative control passes");
    // Edges have the mean of their samples: green between 0.1 of the clear colour and the triangle's.
    let row = 128;
    let edge = (0..SIZE).find(|x| inside(*x, row).abs() < 0.5).expect("an edge");
    let greens: Vec<u8> = (edge - 3..edge + 4).map(|x| picture[row * SIZE + x][1]).collect();
    let means = greens.windows(2).filter(|pair| pair[0] != pair[1]).count();
    assert!(means >= 2, "{greens:?}");
}
