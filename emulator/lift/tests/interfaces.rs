//! The interfaces of programs: names, places and types from symbols, or from the code alone.
#![allow(missing_docs)]

use loader::mbs::{Program, Stage};
use skrymir_lift::interface::{Interface, Variable, identifier};
use utgard::{gp, pp};

fn program(text: &str, stage: Stage) -> Program {
    let mbs = utgard::shader::assemble(text).unwrap_or_else(|error| panic!("{}", error.render(text, "s")));
    mbs.program(stage).unwrap().unwrap()
}

fn vertex(text: &str) -> Interface {
    Interface::of(&program(&format!(".vertex\n{text}\nnop\n"), Stage::Vertex))
}

fn fragment(text: &str) -> Interface {
    Interface::of(&program(&format!(".fragment\n{text}\n"), Stage::Fragment))
}

/// Name, float, components and location.
fn rows(variables: &[Variable]) -> Vec<(&str, u32, u8, u32)> {
    variables
        .iter()
        .map(|one| (one.name.as_str(), one.float, one.components, one.location))
        .collect()
}

#[test]
fn symbols_are_inputs_and_outputs_in_the_order_of_their_places() {
    let i = vertex(
        ".attribute vec2 second offset=4\n.attribute vec4 first offset=0\n.attribute vec4 unused offset=65535\n\
         .varying vec4 c offset=8\n.varying vec4 gl_Position offset=4\n.varying float gl_PointSize offset=0\n\
         .varying vec2[2] d offset=12 stride=4",
    );
    assert_eq!(rows(&i.inputs), [("first", 0, 4, 0), ("second", 4, 2, 1)]);
    assert_eq!(rows(&i.outputs), [("c", 8, 4, 0), ("d_0", 12, 2, 1), ("d_1", 16, 2, 2)]);
    assert_eq!((i.position, i.point_size, i.viewport), (Some(4), Some(0), None));
    let i = fragment(".varying vec3 n offset=4\nmov.v1 $3 $0, stop");
    assert_eq!(
        (rows(&i.inputs), i.outputs.len(), i.color_register),
        (vec![("n", 4, 3, 0)], 0, 3)
    );
    assert_eq!((i.position, i.point_size), (None, None));
    assert_eq!(vertex("").position, None);
}

#[test]
fn uniforms_have_shapes_and_places() {
    let i = vertex(
        ".uniform mat3 m offset=4 stride=12\n.uniform vec2[3] list offset=16 stride=4\n.uniform float k offset=30\n\
         .uniform vec4[2] gl_mali_ViewportTransform offset=32 stride=4\n.uniform vec3 c offset=40 init=1.0/-2.0/0.5",
    );
    let shapes: Vec<_> = i
        .uniforms
        .iter()
        .map(|one| {
            let shape = one.shape;
            (
                one.name.as_str(),
                one.float,
                shape.rows,
                shape.columns,
                shape.elements,
                shape.stride,
            )
        })
        .collect();
    assert_eq!(shapes[0], ("m", 4, 3, 3, None, 4));
    assert_eq!(shapes[1], ("list", 16, 2, 1, Some(3), 4));
    let (name, float, rows, columns, elements, _) = shapes[2];
    assert_eq!((name, float, rows, columns, elements), ("k", 30, 1, 1, None));
    assert_eq!((shapes.len(), i.viewport), (4, Some(32)));
    let place = |float| {
        i.place(float)
            .map(|place| (place.member, place.element, place.column, place.row))
    };
    // Columns of the matrix, elements of the list; what is between them is no uniform's.
    for (float, want) in [
        (3, None),
        (4, Some((0, 0, 0, 0))),
        (6, Some((0, 0, 0, 2))),
        (7, None),
        (9, Some((0, 0, 1, 1))),
        (14, Some((0, 0, 2, 2))),
        (16, Some((1, 0, 0, 0))),
        (17, Some((1, 0, 0, 1))),
        (18, None),
        (25, Some((1, 2, 0, 1))),
        (30, Some((2, 0, 0, 0))),
        (39, Some((3, 1, 0, 3))),
        (40, None),
    ] {
        assert_eq!(place(float), want, "{float}");
    }
    assert_eq!(
        [39, 40, 41, 42, 43].map(|float| i.constant(float)),
        [None, Some(1.0), Some(-2.0), Some(0.5), None]
    );
    assert!(i.uniform_floats >= 43, "{}", i.uniform_floats);
}

#[test]
fn constants_of_arrays_have_places() {
    let i = vertex(
        ".uniform vec2[2] c offset=8 stride=4 init=1.0/2.0/3.0/4.0\n.uniform float[3] d offset=17 stride=4 init=5.0/6.0/7.0",
    );
    let mut constants = i.constants.clone();
    constants.sort_by_key(|(float, _)| *float);
    let want = [
        (8, 1.0),
        (9, 2.0),
        (12, 3.0),
        (13, 4.0),
        (17, 5.0),
        (21, 6.0),
        (25, 7.0),
    ];
    assert_eq!((constants, i.uniforms.len()), (want.to_vec(), 0));
    assert!((26..=28).contains(&i.uniform_floats), "{}", i.uniform_floats);
}

#[test]
fn matrices_and_arrays_are_an_input_for_every_column() {
    let i = vertex(
        ".attribute mat3 m offset=4 stride=12\n.attribute mat2[2] n offset=16 stride=8\n.attribute float[2] k offset=32 stride=4\n\
         .attribute float one offset=0",
    );
    assert_eq!(
        rows(&i.inputs),
        [
            ("one", 0, 1, 0),
            ("m_0", 4, 3, 1),
            ("m_1", 8, 3, 2),
            ("m_2", 12, 3, 3),
            ("n_0", 16, 2, 4),
            ("n_1", 20, 2, 5),
            ("n_2", 24, 2, 6),
            ("n_3", 28, 2, 7),
            ("k_0", 32, 1, 8),
            ("k_1", 36, 1, 9),
        ]
    );
}

#[test]
fn samplers_are_numbered_by_their_offsets() {
    let i = fragment(
        ".uniform samplerCube sky offset=7\n.uniform sampler2D stone offset=3\n.uniform vec4 u offset=0\nnop, stop",
    );
    let samplers: Vec<_> = i
        .samplers
        .iter()
        .map(|one| (one.name.as_str(), one.number, one.cube))
        .collect();
    assert_eq!(samplers, [("stone", 0, false), ("sky", 1, true)]);
    assert_eq!(i.uniforms.len(), 1);
    assert_eq!(identifier("a.b[2]_C"), "a_b_2__C");
}

#[test]
fn code_alone_has_slots() {
    let words =
        gp::assemble("mov.p v2.x a3.x, mov.a0 $0.z a3.y\nmov.m0 v0.y $5.x@0\nload a1\nmov.p v1.w t[0].x").unwrap();
    let code: Vec<_> = words.into_iter().map(gp::Instruction::decode).collect();
    let i = Interface::of_vertex_code(&code);
    assert_eq!(rows(&i.inputs), [("attribute3", 12, 4, 3)]);
    assert_eq!(rows(&i.outputs), [("varying1", 4, 4, 1), ("varying2", 8, 4, 2)]);
    assert_eq!((i.position, i.point_size), (Some(0), None));
    let of = |text: &str| Interface::of_fragment_code(&pp::flow::instructions(&pp::assemble(text).unwrap()).0);
    let i =
        of("load.v $0 2\nload.v $1.xy 0.zw\nload.v $1.x 5.y\nload.v $2 gl_FragCoord\nload.v $2 $1\nmov.v1 $4 $0, stop");
    let names: Vec<_> = i.inputs.iter().map(|one| (one.name.as_str(), one.float)).collect();
    assert_eq!(names, [("varying0", 0), ("varying2", 8), ("varying5", 20)]);
    assert_eq!((i.color_register, i.samplers.len()), (4, 0));
    assert_eq!(of("load.v $0 0+$1.x, stop").inputs.len(), 12);
    let i = of("load.v ^discard.xy 0.xy, texld 3, sync\nload.v ^discard. cube($1), texld.cube 1, sync, stop");
    let samplers: Vec<_> = i
        .samplers
        .iter()
        .map(|one| (one.name.as_str(), one.number, one.cube))
        .collect();
    assert_eq!(samplers, [("texture1", 1, true), ("texture3", 3, false)]);
}

#[test]
fn pairs_share_locations_and_a_block() {
    let mut v = vertex(
        ".uniform vec4 u\n.uniform mat4 m\n.varying vec4 gl_Position\n.varying vec4 a offset=4\n.varying vec2 b offset=8",
    );
    let mut f = fragment(".uniform vec4 u\n.uniform float k\n.varying vec2 b\nnop, stop");
    assert_eq!(rows(&f.inputs)[0].3, 0);
    Interface::link(&v, &mut f).unwrap();
    assert_eq!(rows(&f.inputs)[0].3, 1);
    let mut other = fragment(".varying vec2 lost\nnop, stop");
    let error = Interface::link(&v, &mut other).unwrap_err().to_string();
    assert!(error.contains("varying lost is not an output"), "{error}");
    Interface::share([&mut v, &mut f]).unwrap();
    let names = |i: &Interface| {
        i.block
            .as_ref()
            .unwrap()
            .iter()
            .map(|one| one.0.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        (names(&v), names(&f)),
        (vec!["u".to_owned(), "m".into(), "k".into()], names(&v))
    );
    for wrong in ["vec3 u", "vec4[2] u", "mat4 u"] {
        let mut f = fragment(&format!(".uniform {wrong}\nnop, stop"));
        let error = Interface::share([&mut v, &mut f]).unwrap_err().to_string();
        assert!(error.contains("the uniform u has two types"), "{wrong}: {error}");
    }
    // The viewport is the vertex program's own.
    let mut v = vertex(".uniform vec4[2] gl_mali_ViewportTransform\n.uniform vec4 u");
    Interface::share([&mut v, &mut f]).unwrap();
    assert_eq!(names(&v), ["u", "k"]);
}
