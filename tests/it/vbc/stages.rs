//! Tessellation and geometry stages: loaded, validated, and compared in every pixel.
//!
//! No compiler writes such files, so the tests build them from the SPIR-V in `tests/data/vbc/stages` (glslang's, of the
//! GLSL beside it).

use crate::common;

use super::formula::{Triangle, worst};
use loader::vbc::{self, BaseType, Model, Stage, Tables, Variable};
use skrymir::harness;
use skrymir::picture::Picture;
use skrymir::scene::Scene;
use std::path::Path;

fn code(name: &str) -> Vec<u32> {
    let bytes = std::fs::read(common::data(&format!("vbc/stages/{name}.spv"))).unwrap();
    bytes
        .chunks_exact(4)
        .map(|word| u32::from_le_bytes(word.try_into().unwrap()))
        .collect()
}

/// A file of the stages named; `in(0) float2`, `out(0) float4`.
fn file(tessellate: bool, split: bool) -> Model {
    let variable = |rows| Variable {
        location: 0,
        base: BaseType::FLOAT,
        dims: [rows, 1],
        array: 1,
    };
    let mut model = Model {
        tables: Tables::default(),
        inputs: vec![variable(2)],
        outputs: vec![variable(4)],
        ..Model::default()
    };
    *model.code_mut(Stage::Vert) = code("patch.vert");
    *model.code_mut(Stage::Frag) = code("tint.frag");
    if tessellate {
        *model.code_mut(Stage::Tesc) = code("patch.tesc");
        *model.code_mut(Stage::Tese) = code("patch.tese");
    }
    if split {
        *model.code_mut(Stage::Geom) = code("split.geom");
    }
    model
}

const SIZE: [u32; 2] = [256, 256];
const CORNERS: [[f64; 2]; 3] = [[-0.9, -0.7], [0.95, -0.5], [0.1, 0.9]];

/// Colour of the triangle, scaled and moved, where it covers a pixel.
fn formula(x: u32, y: u32, shade: f64, scale: f64, shift: f64, turned: bool) -> Option<[f64; 4]> {
    let clip = CORNERS.map(|[x, y]| [x * scale + shift, y * scale, 0.0, 1.0]);
    let [r, g, b] = Triangle { clip, size: SIZE }
        .weights(x, y)?
        .map(|weight| weight * shade);
    Some(if turned { [b, r, g, 1.0] } else { [r, g, b, 1.0] })
}

#[test]
fn every_combination_of_stages_draws() {
    let context = common::context();
    let scene = Scene::parse(&format!("[inputs]\n0 = {CORNERS:?}"), Path::new("")).unwrap();
    for (tessellate, split) in [(false, false), (true, false), (false, true), (true, true)] {
        let bytes = vbc::write(&file(tessellate, split)).unwrap();
        let report = vbc::check(&bytes);
        assert!(report.is_valid(), "{:#?}", report.diagnostics);
        let drawn = harness::draw(context, &bytes, &scene).unwrap();
        assert_eq!(context.messages(), [""; 0], "validation messages");
        let picture = Picture::of(&drawn.frame.targets[0]);
        let shade = if tessellate { 0.75 } else { 1.0 };
        let right = |x, y, shade| match split {
            false => formula(x, y, shade, 1.0, 0.0, false),
            true => formula(x, y, shade, 0.5, -0.5, false).or_else(|| formula(x, y, shade, 0.5, 0.5, true)),
        };
        let (off, checked) = worst(&picture.rgba, SIZE, |x, y| right(x, y, shade));
        println!("tessellation {tessellate}, geometry {split}: worst {off:.3}/255 on {checked} pixels");
        assert!(checked > 8_000 && off <= 1.0, "{off:.3}/255 off on {checked} pixels");
        let (off, _) = worst(&picture.rgba, SIZE, |x, y| right(x, y, 0.9));
        assert!(off > 1.0, "the negative control passes");
    }
}

/// Findings of a file with one thing changed.
fn findings(change: impl FnOnce(&mut Model)) -> Vec<&'static str> {
    let mut model = file(true, true);
    change(&mut model);
    let report = vbc::check(&vbc::write(&model).unwrap());
    report
        .diagnostics
        .iter()
        .map(|d| d.rule)
        .filter(|rule| *rule != "stage-extra")
        .collect()
}

/// Changes a decoration's operand: the variable in `class` with location `from` gets location `to`.
fn move_location(words: &mut [u32], class: u32, from: u32, to: u32) {
    let located: Vec<(usize, u32)> = loader::spirv::instructions(words)
        .flatten()
        .filter(|i| i.opcode == 71 && i.words[2..] == [30, from])
        .map(|i| (i.position + 3, i.words[1]))
        .collect();
    let is_of_class = |id: u32| {
        loader::spirv::instructions(words)
            .flatten()
            .any(|i| i.opcode == 59 && i.words[2] == id && i.words[3] == class)
    };
    let place = located
        .iter()
        .find(|(_, id)| is_of_class(*id))
        .expect("such a variable")
        .0;
    words[place] = to;
}

#[test]
fn interfaces_that_do_not_match_are_found() {
    const INPUT: u32 = 1;
    assert_eq!(findings(|_| {}), [""; 0]);
    let moved = findings(|model| move_location(model.code_mut(Stage::Geom), INPUT, 0, 5));
    assert_eq!(moved, ["stage-input-unwritten"]);
    let patch_as_vertex = findings(|model| move_location(model.code_mut(Stage::Tese), INPUT, 0, 1));
    assert!(patch_as_vertex.contains(&"stage-input-type"), "{patch_as_vertex:?}");
    let vec4_from_vec3 = findings(|model| {
        // The fragment's own vec3 becomes a float, because its type is the one with three components.
        let words = model.code_mut(Stage::Frag);
        let three = loader::spirv::instructions(words)
            .flatten()
            .find(|i| i.opcode == 23 && i.words[3] == 3)
            .map(|i| i.position + 3);
        words[three.unwrap()] = 2;
    });
    assert_eq!(vec4_from_vec3, ["stage-input-type"]);
    let lines = findings(|model| {
        let words = model.code_mut(Stage::Geom);
        let mode = loader::spirv::instructions(words)
            .flatten()
            .find(|i| i.opcode == 16 && i.words[2] == 22)
            .map(|i| i.position + 2);
        words[mode.unwrap()] = 20;
    });
    assert_eq!(lines, ["stage-primitive"]);
}

#[test]
fn the_wrong_topology_is_rejected_before_the_driver() {
    let bytes = vbc::write(&file(true, false)).unwrap();
    let scene = Scene::parse("topology = \"triangles\"", Path::new("")).unwrap();
    let error = harness::draw(common::context(), &bytes, &scene).unwrap_err();
    assert!(error.to_string().contains("patches"), "{error}");
}
