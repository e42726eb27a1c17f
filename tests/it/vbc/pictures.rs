//! Pictures of real VBC files, compared in every pixel with the formula in each shader's source (`tests/data/vbc`).
//!
//! Every test draws with the validation layer if it is installed, expects no message, and has a negative control: a
//! formula that is wrong in one place must fail.

use crate::common;

use super::formula::{Triangle, transform, worst};
use skrymir::harness::{self, Drawn, Settings};
use skrymir::picture::Picture;
use skrymir::scene::ErrorKind;
use skrymir::scene::Scene;
use std::path::Path;

const SIZE: [u32; 2] = [256, 256];

fn draw(name: &str, scene: &str, read: &[u8]) -> Drawn {
    let bytes = std::fs::read(common::data(&format!("vbc/{name}.vbc"))).unwrap();
    let scene = Scene::parse(scene, Path::new("")).unwrap();
    let drawn = harness::load(common::context(), &bytes, Settings::default())
        .and_then(|loaded| loaded.draw(&scene, read, None))
        .unwrap();
    assert_eq!(common::context().messages(), [""; 0], "validation messages");
    drawn
}

/// The picture must be within 1/255 of `right` and further than that from `wrong`, on at least `least` pixels.
fn check(
    drawn: &Drawn,
    least: usize,
    right: impl Fn(u32, u32) -> Option<[f64; 4]>,
    wrong: impl Fn(u32, u32) -> Option<[f64; 4]>,
) {
    let picture = Picture::of(&drawn.frame.targets[0]);
    let size = [picture.width, picture.height];
    let (off, checked) = worst(&picture.rgba, size, right);
    println!("worst difference {off:.3}/255 on {checked} pixels");
    assert!(checked >= least, "only {checked} pixels are checked");
    assert!(off <= 1.0, "{off:.3}/255 off");
    let (off, _) = worst(&picture.rgba, size, wrong);
    assert!(off > 1.0, "the negative control passes");
}

fn numbers(list: &[f64]) -> String {
    format!("{list:?}")
}

/// A triangle over most of the picture, at w = 1.
const CORNERS: [[f64; 2]; 3] = [[-0.9, -0.7], [0.95, -0.5], [0.1, 0.9]];

fn flat(corners: [[f64; 2]; 3]) -> Triangle {
    Triangle {
        clip: corners.map(|[x, y]| [x, y, 0.0, 1.0]),
        size: SIZE,
    }
}

fn ndc(x: u32, y: u32) -> [f64; 2] {
    [(f64::from(x) + 0.5) / 128.0 - 1.0, (f64::from(y) + 0.5) / 128.0 - 1.0]
}

#[test]
fn fullscreen() {
    let drawn = draw("fullscreen", "", &[]);
    let right = |x, y| Some([ndc(x, y)[0], ndc(x, y)[1], 0.5, 1.0]);
    let upside_down = |x, y: u32| right(x, 255 - y);
    check(&drawn, 65536, right, upside_down);
}

#[test]
fn triangle() {
    let colors = [[1.0, 0.2, 0.0], [0.1, 0.9, 0.3], [0.0, 0.4, 0.8]];
    let scene = format!("[inputs]\n0 = {CORNERS:?}\n1 = {colors:?}");
    let drawn = draw("triangle", &scene, &[]);
    let formula = |colors: [[f64; 3]; 3]| move |x, y| flat(CORNERS).mix(x, y, colors).map(|[r, g, b]| [r, g, b, 1.0]);
    check(
        &drawn,
        10_000,
        formula(colors),
        formula([colors[1], colors[0], colors[2]]),
    );
    let picture = Picture::of(&drawn.frame.targets[0]);
    assert_eq!(picture.at(0, 255), [0, 0, 0, 255], "outside is the clear colour");
}

#[test]
fn textured() {
    // Perspective: w differs from corner to corner.
    let mvp = [
        0.9, 0.1, 0.0, 0.2, -0.1, 0.8, 0.0, 0.1, 0.0, 0.0, 0.5, 0.0, 0.05, -0.02, 0.3, 1.0,
    ];
    let positions = [[-0.8, -0.8, 0.1], [0.8, -0.7, 0.2], [0.0, 0.9, 0.3]];
    let uvs = [[0.0, 0.0], [1.5, 0.2], [0.4, 1.7]];
    let (tint, offset) = ([0.5, 1.0, 0.8, 1.0], [0.25, 0.5]);
    let texels = [
        [1.0, 0.2, 0.0, 1.0],
        [0.0, 0.6, 0.4, 1.0],
        [0.2, 0.4, 0.8, 0.8],
        [1.0, 1.0, 0.6, 0.6],
    ];
    let scene = format!(
        "[inputs]\n0 = {positions:?}\n1 = {uvs:?}\n[uniform]\nmvp = {}\ntint = {tint:?}\noffset = {offset:?}\n\
         [slots.0]\nsize = [2, 2]\ntexels = {texels:?}",
        numbers(&mvp)
    );
    let drawn = draw("textured", &scene, &[]);
    let clip = positions.map(|[x, y, z]| transform::<4>(&mvp, &[x, y, z, 1.0]));
    let triangle = Triangle { clip, size: SIZE };
    let formula = |tint: [f64; 4]| {
        let triangle = &triangle;
        move |x, y| {
            let [u, v] = triangle.mix(x, y, uvs)?;
            let [s, t] = [(u + offset[0]) * 2.0, (v + offset[1]) * 2.0];
            if [s, t].iter().any(|c| (c - c.round()).abs() < 0.02) {
                return None; // on the border of two texels
            }
            let texel = texels[(s.floor() as i64 & 1) as usize + 2 * (t.floor() as i64 & 1) as usize];
            Some(std::array::from_fn(|i| texel[i] * tint[i]))
        }
    };
    check(&drawn, 8_000, formula(tint), formula([0.6, 1.0, 0.8, 1.0]));
}

#[test]
fn two_samplers() {
    let (a, b) = ([0.2, 0.4, 0.6, 1.0], [1.0, 0.0, 0.2, 1.0]);
    let scene = format!("[inputs]\n0 = {CORNERS:?}\n[slots.0]\nfill = {a:?}\n[slots.5]\nfill = {b:?}");
    let drawn = draw("two_samplers", &scene, &[]);
    let formula = |share: f64| {
        move |x, y| {
            flat(CORNERS)
                .weights(x, y)
                .map(|_| std::array::from_fn(|i| a[i] * (1.0 - share) + b[i] * share))
        }
    };
    check(&drawn, 10_000, formula(0.25), formula(0.75));
}

#[test]
fn ro_buffer() {
    let normals = [[0.0, 0.0, 1.0], [0.6, 0.0, 0.8], [0.0, -0.6, 0.8]];
    let positions = CORNERS.map(|[x, y]| [x, y, 0.0]);
    // dir, power, colour of four lights
    let lights = [
        [0.0, 0.0, 1.0, 0.5, 0.4, 0.1, 0.2, 0.0],
        [1.0, 0.0, 0.0, 0.8, 0.1, 0.7, 0.0, 0.0],
        [0.0, -1.0, 0.0, 0.9, 0.3, 0.2, 0.9, 0.0],
        [0.0, 0.0, -1.0, 1.0, 1.0, 1.0, 1.0, 0.0],
    ];
    let scene = format!("[inputs]\n0 = {positions:?}\n1 = {normals:?}\n[slots.3]\nfloats = {lights:?}");
    let drawn = draw("ro_buffer", &scene, &[]);
    let formula = |count: usize| {
        move |x, y| {
            let n = flat(CORNERS).mix(x, y, normals)?;
            let mut sum = [0.0, 0.0, 0.0, 1.0];
            for light in &lights[..count] {
                let dot: f64 = (0..3).map(|i| n[i] * light[i]).sum();
                (0..4).for_each(|i| sum[i] += light[4 + i] * dot.max(0.0) * light[3]);
            }
            Some(sum)
        }
    };
    check(&drawn, 10_000, formula(4), formula(2));
}

#[test]
fn uniform_members() {
    let m4 = [
        0.8, 0.1, 0.0, 0.0, -0.1, 0.9, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.05, 0.0, 0.0, 1.0,
    ];
    let m3 = [0.1, 0.2, 0.3, 0.4, 0.1, 0.2, 0.3, 0.2, 0.1];
    let (a, b, c, d) = (0.25, [0.9, 1.1], [0.05, 0.1, 0.02], [0.1, 0.05, 0.2, 0.3]);
    let (arr, second) = ([9.0, 9.0, 9.0, 0.15, 9.0], [0.2, 0.5, 0.4]);
    let arr3 = [[7.0, 7.0, 7.0], second];
    // e + f.y + g.x is the fourth component's share: -3 + 1 + 2 = 0
    let scene = format!(
        "[inputs]\n0 = {CORNERS:?}\n[uniform]\na = {a}\nb = {b:?}\nc = {c:?}\nd = {d:?}\ne = -3\nf = [5, 1, 6]\n\
         g = [2, 8]\nm3 = {}\nm4 = {}\narr = {arr:?}\narr3 = {arr3:?}",
        numbers(&m3),
        numbers(&m4)
    );
    let drawn = draw("uniform_members", &scene, &[]);
    let clip = CORNERS.map(|[x, y]| transform::<4>(&m4, &[x * b[0], y * b[1], a, 1.0]));
    let triangle = Triangle { clip, size: SIZE };
    let formula = |last: f64| {
        let triangle = &triangle;
        move |x, y| {
            triangle.weights(x, y)?;
            let product = transform::<3>(&m3, &second);
            let alpha = d[3] + arr[3] + last;
            Some([
                d[0] + c[0] + product[0],
                d[1] + c[1] + product[1],
                d[2] + c[2] + product[2],
                alpha,
            ])
        }
    };
    check(&drawn, 8_000, formula(0.0), formula(0.1));
}

#[test]
fn vertex_matrices() {
    let positions = [[-0.8, -0.8, 0.0], [0.8, -0.6, 0.2], [0.1, 0.8, 0.4]];
    let models = [0.0, 0.1, 0.2].map(|t| {
        [
            0.9,
            t,
            0.0,
            0.0,
            -t,
            0.8,
            0.0,
            0.0,
            0.0,
            0.0,
            1.0,
            0.0,
            t / 2.0,
            0.05,
            0.0,
            1.0,
        ]
    });
    let normals = [0.5, 0.3, 0.1].map(|t| [t, 0.1, 0.2, 0.2, t, 0.1, 0.3, 0.2, t]);
    let uvms = [0.2, 0.4, 0.6].map(|t| [t, 0.1, 0.2, t]);
    let scene = format!("[inputs]\n0 = {positions:?}\n1 = {models:?}\n5 = {normals:?}\n8 = {uvms:?}");
    let drawn = draw("vertex_matrices", &scene, &[]);
    let corner = |i: usize| -> [f64; 4] {
        let n = transform::<3>(&normals[i], &positions[i]);
        let uv = transform::<2>(&uvms[i], &positions[i][..2]);
        [n[0] + uv[0], n[1] + uv[1], n[2], 1.0]
    };
    let clip = [0, 1, 2].map(|i| {
        let [x, y, z] = positions[i];
        transform::<4>(&models[i], &[x, y, z, 1.0])
    });
    let triangle = Triangle { clip, size: SIZE };
    let colors = [0, 1, 2].map(corner);
    let formula = |colors: [[f64; 4]; 3]| {
        let triangle = &triangle;
        move |x, y| triangle.mix(x, y, colors)
    };
    check(
        &drawn,
        8_000,
        formula(colors),
        formula([colors[0], colors[2], colors[1]]),
    );
}

#[test]
fn vertex_formats() {
    let scene = format!(
        "target = \"rgba32f\"\n[inputs]\n0 = [1, 2, 3]\n1 = {:?}\n2 = {:?}\n3 = {:?}\n4 = [4, 5, 6]\n5 = {:?}\n6 = {:?}\n\
         7 = {:?}\n8 = 0.5\n9 = {CORNERS:?}\n10 = {:?}\n11 = {:?}",
        [[-1, 90], [-2, 90], [-3, 90]],
        [[90, 10, 90], [90, -20, 90], [90, 30, 90]],
        [[90, 90, 7, 90], [90, 90, 8, 90], [90, 90, -9, 90]],
        [[1, 90], [2, 90], [3, 90]],
        [[90, 10, 90], [90, 20, 90], [90, 30, 90]],
        [[90, 90, 100, 90], [90, 90, 200, 90], [90, 90, 300, 90]],
        [[0.5, 9.0, 9.0], [1.5, 9.0, 9.0], [-2.5, 9.0, 9.0]],
        [[9.0, 9.0, 9.0, 0.25], [9.0, 9.0, 9.0, 0.5], [9.0, 9.0, 9.0, 0.75]],
    );
    let drawn = draw("vertex_formats", &scene, &[]);
    let corners = [
        [17.0, 115.0, 0.5, 0.25],
        [-12.0, 227.0, 1.5, 0.5],
        [21.0, 339.0, -2.5, 0.75],
    ];
    let pixels = &drawn.frame.targets[0];
    let off = |corners: [[f64; 4]; 3]| {
        let (mut worst, mut checked) = (0.0f64, 0);
        for (x, y) in (0..SIZE[1]).flat_map(|y| (0..SIZE[0]).map(move |x| (x, y))) {
            let Some(wanted) = flat(CORNERS).mix(x, y, corners) else {
                continue;
            };
            checked += 1;
            let have = pixels.at(x, y);
            // Relative to the largest term of the sum.
            (0..4).for_each(|i| worst = worst.max((have[i] - wanted[i]).abs() / 339.0));
        }
        (worst, checked)
    };
    let (worst, checked) = off(corners);
    println!("worst difference {worst:.2e} of the range on {checked} pixels");
    assert!(checked > 10_000 && worst < 1e-4, "{worst}");
    assert!(
        off([corners[0], corners[2], corners[1]]).0 > 1e-3,
        "the negative control passes"
    );
}

#[test]
fn storage_image() {
    let tone = [0.2, 0.4, 0.6, 1.0];
    let scene = format!(
        "[inputs]\n0 = {CORNERS:?}\n[slots.0]\nfill = [0, 0, 0, 0]\n[slots.1]\nfill = {tone:?}\n[slots.2]\nfill = 0\n[slots.4]\nfill = 0"
    );
    let drawn = draw("storage_image", &scene, &[0, 2, 4]);
    let formula = |tone: [f64; 4]| move |x, y| flat(CORNERS).weights(x, y).map(|_| tone);
    check(&drawn, 10_000, formula(tone), formula([0.4, 0.2, 0.6, 1.0]));
    let quantised = tone.map(|v| (v * 255.0f64).round() / 255.0);
    let floats: Vec<f32> = words(&drawn, 0).map(f32::from_le_bytes).collect();
    let ints: Vec<i32> = words(&drawn, 2).map(i32::from_le_bytes).collect();
    let uints: Vec<u32> = words(&drawn, 4).map(u32::from_le_bytes).collect();
    let (mut inside, mut columns) = (0, [false; 256]);
    for (x, y) in (0..SIZE[1]).flat_map(|y| (0..SIZE[0]).map(move |x| (x, y))) {
        let index = (y * SIZE[0] + x) as usize;
        let texel = &floats[index * 4..index * 4 + 4];
        if flat(CORNERS).weights(x, y).is_some() {
            inside += 1;
            columns[x as usize] = true;
            (0..4).for_each(|i| assert!((f64::from(texel[i]) - quantised[i] * 2.0).abs() < 1e-5, "({x}, {y})"));
            assert_eq!(uints[index], 9, "voxel ({x}, {y}, 0)");
        }
    }
    assert!(inside > 10_000);
    assert_eq!(floats[..4], [0.0; 4], "what the triangle does not cover is not written");
    assert_eq!(
        uints[256 * 256..].iter().sum::<u32>(),
        0,
        "only the first layer of voxels is written"
    );
    assert!((0..256).all(|x| !columns[x] || ints[x] == 3));
    assert_eq!((ints[0], ints[255]), (0, 0), "columns beside the triangle");
}

/// A read-back slot in words of four bytes.
fn words(drawn: &Drawn, slot: u8) -> impl Iterator<Item = [u8; 4]> + '_ {
    drawn.frame.slots[&slot]
        .chunks_exact(4)
        .map(|word| word.try_into().unwrap())
}

#[test]
fn subpass() {
    let left: Vec<f64> = (0..65536)
        .flat_map(|i| [f64::from(i % 256) / 255.0, 0.6, 0.8, 1.0])
        .collect();
    let right = [0.5, 0.25, 1.0, 0.8];
    let scene = format!("[inputs]\n0 = {CORNERS:?}\n[[subpass]]\ntexels = {left:?}\n[[subpass]]\nfill = {right:?}");
    let drawn = draw("subpass", &scene, &[]);
    let formula = |right: [f64; 4]| {
        move |x: u32, y| {
            flat(CORNERS).weights(x, y)?;
            let left = [f64::from(x) / 255.0, 0.6, 0.8, 1.0];
            Some(std::array::from_fn(|i| left[i] * right[i]))
        }
    };
    check(&drawn, 10_000, formula(right), formula([0.25, 0.25, 1.0, 0.8]));
}

/// Stages with more words take a software driver minutes to compile.
const HUGE: usize = 60_000;

/// Draws a file, or reports why the device cannot; any other error is a failure.
fn draws(path: &Path) -> Result<(), String> {
    let bytes = std::fs::read(path).unwrap();
    let scene = Scene {
        size: Some([64, 64]),
        ..Scene::default()
    };
    let drawn = harness::draw(common::context(), &bytes, &scene);
    let name = path.file_name().unwrap().to_string_lossy();
    assert_eq!(common::context().messages(), [""; 0], "{name}: validation messages");
    match drawn {
        Ok(drawn) => assert!(!drawn.frame.targets.is_empty()),
        Err(error) => match error.kind() {
            ErrorKind::Vulkan(refusal) if matches!(refusal.kind(), vulkan::ErrorKind::Unsupported(_)) => {
                return Err(format!("{name}: {error}"));
            }
            _ => panic!("{name}: {error}"),
        },
    }
    Ok(())
}

fn is_huge(path: &Path) -> bool {
    let bytes = std::fs::read(path).unwrap();
    let file = loader::vbc::read(&bytes).unwrap();
    loader::vbc::Stage::ALL
        .iter()
        .any(|stage| file.code(*stage).is_some_and(|code| code.word_count() > HUGE))
}

/// Every corpus file makes a picture or a clear Unsupported error, without a validation message.
#[test]
fn corpus_runs() {
    let Some(folder) = common::corpus("vbc") else { return };
    let files = common::files(&folder, "vbc");
    let (huge, files): (Vec<_>, Vec<_>) = files.into_iter().partition(|path| is_huge(path));
    let unsupported: Vec<String> = files.iter().filter_map(|path| draws(path).err()).collect();
    let drawn = files.len() - unsupported.len();
    println!(
        "{drawn} of {} files drawn, {} unsupported: {unsupported:#?}",
        files.len(),
        unsupported.len()
    );
    println!("{} huge ones are left to the ignored test: {huge:?}", huge.len());
    // A device rejects a file only for a named feature or limit; a software driver has all of them.
    assert!(!files.is_empty() && unsupported.is_empty(), "{unsupported:#?}");
}

/// The files whose code takes minutes to compile: `cargo test --test it vbc::pictures -- --ignored`.
#[test]
#[ignore = "a software driver compiles each of them for minutes"]
fn huge_corpus_runs() {
    let Some(folder) = common::corpus("vbc") else { return };
    for path in common::files(&folder, "vbc").iter().filter(|path| is_huge(path)) {
        println!("{}: {:?}", path.display(), draws(path));
    }
}
