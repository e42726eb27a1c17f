//! Runtime effects drawn on a Vulkan device.
//!
//! Two judges: a formula of our own for a shader of our own, and the corpus' sources themselves: most of Skia's tests
//! work out a truth and return `colorGreen` if it holds, `colorRed` if not, so a right translation draws green. The
//! negative control swaps the two uniforms.
#![allow(missing_docs)]

mod common;

use loader::sksl::{self, modifier};
use skrymir::harness;
use skrymir::picture::Picture;
use skrymir::scene::Scene;
use std::collections::BTreeSet;
use std::path::Path;

fn draw(tree: &sksl::Tree, uniforms: &str) -> Result<Picture, String> {
    let bytes = skrymir::sksl::to_vbc(tree).map_err(|e| e.to_string())?;
    let scene = Scene::parse(&format!("size = [8, 8]\n[uniform]\n{uniforms}"), Path::new("")).map_err(|e| e.0)?;
    let drawn = harness::draw(common::context(), &bytes, &scene).map_err(|e| e.to_string())?;
    Ok(Picture::of(&drawn.frame.targets[0]))
}

#[test]
fn coordinates_and_uniforms_follow_the_formula() {
    use sksl::*;
    let mut b = Builder::new(ProgramKind::RUNTIME_SHADER);
    let tint = b.uniform("half4", "tint");
    let at = b.parameter("float2", "p", 10009);
    let main = b.function("half4", "main", &[at]);
    let p = b.read(at);
    let eighth = b.float("float", 0.125);
    let scaled = b.binary(p, Operator::STAR, eighth);
    let one = b.float("float", 1.0);
    let four = b.construct(Command::CONSTRUCTOR_COMPOUND, "half4", &[scaled, one, one]);
    let tint = b.read(tint);
    let product = b.binary(four, Operator::STAR, tint);
    let value = b.statement(Statement::Return(Some(product)));
    let tree = b.define(main, &[value]).finish();
    let picture = draw(&tree, "tint = [1.0, 0.5, 0.25, 1.0]").unwrap();
    let off = |tint: [f64; 4]| {
        let mut worst = 0.0f64;
        for (i, pixel) in picture.rgba.chunks(4).enumerate() {
            let (x, y) = ((i % 8) as f64 + 0.5, (i / 8) as f64 + 0.5);
            let right = [x / 8.0 * tint[0], y / 8.0 * tint[1], tint[2], tint[3]];
            for (ours, right) in pixel.iter().zip(right) {
                worst = worst.max((f64::from(*ours) - right * 255.0).abs());
            }
        }
        worst
    };
    assert!(off([1.0, 0.5, 0.25, 1.0]) <= 1.0);
    assert!(off([1.0, 0.4, 0.25, 1.0]) > 1.0, "the negative control passes");
}

/// Uniforms the effects may have, and their values in Skia's own test harness.
const KNOWN: [&str; 4] = ["colorGreen", "colorRed", "testInputs", "unknownInput"];

fn uniforms(tree: &sksl::Tree) -> BTreeSet<String> {
    let all = tree.symbols.iter().filter_map(|(_, symbol)| match symbol {
        sksl::Symbol::Variable { modifiers, name, .. } if modifiers.flags & modifier::UNIFORM != 0 => {
            Some(tree.strings[*name].to_owned())
        }
        _ => None,
    });
    all.collect()
}

fn values(names: &BTreeSet<String>, swapped: bool) -> String {
    let (mut green, mut red) = ("[0, 1, 0, 1]", "[1, 0, 0, 1]");
    if swapped {
        std::mem::swap(&mut green, &mut red);
    }
    let all = [green, red, "[-1.25, 0, 0.75, 2.25]", "1"];
    let rows = KNOWN.iter().zip(all).filter(|(name, _)| names.contains(**name));
    rows.map(|(name, value)| format!("{name} = {value}\n")).collect()
}

#[test]
fn effects_that_judge_themselves_draw_green() {
    let Some(folder) = common::corpus("sksl") else { return };
    let (mut green, mut controls, mut other, mut failed) = (Vec::new(), 0, Vec::new(), Vec::new());
    for path in common::files(&folder, "k5.noopt.bin") {
        let tree = sksl::read(&std::fs::read(&path).unwrap()).unwrap();
        let names = uniforms(&tree);
        let judges = names.contains("colorGreen") && names.contains("colorRed");
        if !judges || !names.iter().all(|name| KNOWN.contains(&name.as_str())) || skrymir::sksl::to_vbc(&tree).is_err()
        {
            continue;
        }
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let all_are = |picture: &Picture, color: [u8; 4]| picture.rgba.chunks(4).all(|pixel| pixel == color);
        match draw(&tree, &values(&names, false)) {
            Err(error) => failed.push(format!("{name}: {error}")),
            Ok(picture) if all_are(&picture, [0, 255, 0, 255]) => {
                green.push(name);
                if green.len() <= 5 {
                    let picture = draw(&tree, &values(&names, true)).unwrap();
                    controls += u32::from(all_are(&picture, [255, 0, 0, 255]));
                }
            }
            Ok(picture) => other.push(format!("{name}: {:?}", &picture.rgba[..4])),
        }
    }
    println!(
        "sksl: {} effects draw green, {} another colour, {} not at all",
        green.len(),
        other.len(),
        failed.len()
    );
    other.iter().chain(&failed).for_each(|line| println!("{line}"));
    assert!(green.len() >= 30, "{} draw green", green.len());
    assert_eq!(controls, 5, "swapped colours draw red");
}
