//! Pictures of every pipeline state of a scene: each against numbers, and against the picture without the state.
#![allow(missing_docs)]

use loader::spirv::{Grammar, asm};
use loader::vbc::pack::{Names, pack};
use loader::vbc::{self, Stage};
use scene::picture::Picture;
use scene::{Scene, harness};
use skrymir_scene as scene;
use std::path::Path;
use std::sync::OnceLock;
use vulkan::{Context, Options, Validation};

/// Passes `in(0) float4` position and `in(1) float4` colour on.
const VERTEX: &str = r#"; Version: 1.5
               OpCapability Shader
               OpMemoryModel Logical GLSL450
               OpEntryPoint Vertex %vert "main" %position %color %gl_Position %passed
               OpName %vert "vert"
               OpDecorate %position Location 0
               OpDecorate %color Location 1
               OpDecorate %gl_Position BuiltIn Position
               OpDecorate %passed Location 0
       %void = OpTypeVoid
   %function = OpTypeFunction %void
      %float = OpTypeFloat 32
    %v4float = OpTypeVector %float 4
         %in = OpTypePointer Input %v4float
        %out = OpTypePointer Output %v4float
   %position = OpVariable %in Input
      %color = OpVariable %in Input
%gl_Position = OpVariable %out Output
     %passed = OpVariable %out Output
       %vert = OpFunction %void None %function
      %start = OpLabel
       %xyzw = OpLoad %v4float %position
               OpStore %gl_Position %xyzw
       %rgba = OpLoad %v4float %color
               OpStore %passed %rgba
               OpReturn
               OpFunctionEnd
"#;

/// The colour, and in a second target its components in the other order.
const FRAGMENT: &str = r#"; Version: 1.5
               OpCapability Shader
               OpMemoryModel Logical GLSL450
               OpEntryPoint Fragment %frag "main" %color %first %second
               OpExecutionMode %frag OriginUpperLeft
               OpName %frag "frag"
               OpDecorate %color Location 0
               OpDecorate %first Location 0
               OpDecorate %second Location 1
       %void = OpTypeVoid
   %function = OpTypeFunction %void
      %float = OpTypeFloat 32
    %v4float = OpTypeVector %float 4
         %in = OpTypePointer Input %v4float
        %out = OpTypePointer Output %v4float
      %color = OpVariable %in Input
      %first = OpVariable %out Output
     %second = OpVariable %out Output
       %frag = OpFunction %void None %function
      %start = OpLabel
       %rgba = OpLoad %v4float %color
               OpStore %first %rgba
       %abgr = OpVectorShuffle %v4float %rgba %rgba 2 1 0 3
               OpStore %second %abgr
               OpReturn
               OpFunctionEnd
"#;

/// The colour; counts its invocations in the buffer of slot 0.
const COUNTING: &str = r#"; Version: 1.5
               OpCapability Shader
               OpMemoryModel Logical GLSL450
               OpEntryPoint Fragment %frag "main" %color %target %counter
               OpExecutionMode %frag OriginUpperLeft
               OpName %frag "frag"
               OpDecorate %color Location 0
               OpDecorate %target Location 0
               OpDecorate %block Block
               OpMemberDecorate %block 0 Offset 0
               OpDecorate %counter DescriptorSet 0
               OpDecorate %counter Binding 0
       %void = OpTypeVoid
   %function = OpTypeFunction %void
      %float = OpTypeFloat 32
       %uint = OpTypeInt 32 0
    %v4float = OpTypeVector %float 4
         %in = OpTypePointer Input %v4float
        %out = OpTypePointer Output %v4float
      %block = OpTypeStruct %uint
     %blocks = OpTypePointer StorageBuffer %block
      %words = OpTypePointer StorageBuffer %uint
      %color = OpVariable %in Input
     %target = OpVariable %out Output
    %counter = OpVariable %blocks StorageBuffer
     %uint_0 = OpConstant %uint 0
     %uint_1 = OpConstant %uint 1
       %frag = OpFunction %void None %function
      %start = OpLabel
       %word = OpAccessChain %words %counter %uint_0
     %before = OpAtomicIAdd %uint %word %uint_1 %uint_0 %uint_1
       %rgba = OpLoad %v4float %color
               OpStore %target %rgba
               OpReturn
               OpFunctionEnd
"#;

fn packed(vertex: &str, fragment: &str) -> Vec<u8> {
    let options = asm::Options {
        exact: true,
        ..asm::Options::default()
    };
    let assemble = |text| asm::assemble(Grammar::builtin(), text, options).expect("a module");
    let stages = [(Stage::Vert, assemble(vertex)), (Stage::Frag, assemble(fragment))];
    vbc::write(&pack(&stages, &Names::default()).expect("a VBC")).expect("bytes")
}

fn shader() -> &'static [u8] {
    static BYTES: OnceLock<Vec<u8>> = OnceLock::new();
    BYTES.get_or_init(|| packed(VERTEX, FRAGMENT))
}

/// `in(0) float3` position, `in(1) float2` coordinates, a texture, and a uniform.
fn textured() -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/vbc/textured.vbc");
    std::fs::read(path).expect("a sample")
}

/// One device for all tests, with the validation layer if it is installed.
fn context() -> &'static Context {
    static CONTEXT: OnceLock<Context> = OnceLock::new();
    CONTEXT.get_or_init(|| {
        let watched = Options {
            validation: Validation::Full,
            ..Options::default()
        };
        Context::new(&watched).unwrap_or_else(|error| {
            println!("not watched: {error}");
            Context::new(&Options::default()).expect("a Vulkan device; lavapipe will do")
        })
    })
}

const SIZE: u32 = 64;

fn draw(bytes: &[u8], text: &str) -> scene::Result<Vec<Picture>> {
    let scene = Scene::parse(&format!("size = [{SIZE}, {SIZE}]\n{text}"), Path::new(""))?;
    let drawn = harness::draw(context(), bytes, &scene);
    assert_eq!(context().messages(), [""; 0], "validation messages of {text}");
    Ok(drawn?.frame.targets.iter().map(Picture::of).collect())
}

/// The first target.
fn picture(text: &str) -> Picture {
    draw(shader(), text)
        .unwrap_or_else(|error| panic!("{text}: {error}"))
        .remove(0)
}

/// A triangle over all of the picture, counter-clockwise in Vulkan's window, which has y downwards.
fn whole(z: f32) -> [[f32; 4]; 3] {
    [[-1.0, -1.0, z, 1.0], [-1.0, 3.0, z, 1.0], [3.0, -1.0, z, 1.0]]
}

/// Inputs of triangles with a colour each, behind keys of the scene.
fn scene_of(keys: &str, triangles: &[([[f32; 4]; 3], [f32; 4])]) -> String {
    let positions: Vec<_> = triangles.iter().map(|(corners, _)| corners).collect();
    let colors: Vec<_> = triangles.iter().map(|(_, color)| [color; 3]).collect();
    let tables = keys.find('[').filter(|at| *at == 0 || keys[..*at].ends_with('\n'));
    let (first, tables) = keys.split_at(tables.or(keys.find("\n[")).unwrap_or(keys.len()));
    format!("{first}\n[inputs]\n0 = {positions:?}\n1 = {colors:?}\n{tables}")
}

const RED: [f32; 4] = [1.0, 0.0, 0.0, 1.0];
const GREEN: [f32; 4] = [0.0, 1.0, 0.0, 1.0];
const WHITE: [f32; 4] = [1.0; 4];
const BLACK: [u8; 4] = [0, 0, 0, 255];

fn count(picture: &Picture, color: [u8; 4]) -> usize {
    picture
        .rgba
        .as_chunks::<4>()
        .0
        .iter()
        .filter(|pixel| **pixel == color)
        .count()
}

const ALL: usize = (SIZE * SIZE) as usize;
const MIDDLE: u32 = SIZE / 2;

#[test]
fn polygons_are_lines_and_points() {
    let corners = [[-0.8, -0.8, 0.0, 1.0], [-0.8, 0.8, 0.0, 1.0], [0.8, 0.0, 0.0, 1.0]];
    let lit = |keys: &str| ALL - count(&picture(&scene_of(keys, &[(corners, WHITE)])), BLACK);
    let (filled, lines, points) = (lit(""), lit("polygon-mode = \"line\""), lit("polygon-mode = \"point\""));
    println!("{filled} pixels filled, {lines} of lines, {points} of points");
    assert!(filled > 1000 && (100..300).contains(&lines) && points == 3);
    let picture = picture(&scene_of("polygon-mode = \"line\"", &[(corners, WHITE)]));
    assert_eq!(picture.at(24, MIDDLE), BLACK, "the inside is empty");
}

#[test]
fn lines_are_wide() {
    let line = |width: f32| {
        let keys = format!("topology = \"lines\"\nvertices = 2\nline-width = {width:?}");
        let corners = [[-0.8, 0.0, 0.0, 1.0], [0.8, 0.0, 0.0, 1.0], [0.0; 4]];
        ALL - count(&picture(&scene_of(&keys, &[(corners, WHITE)])), BLACK)
    };
    let (thin, wide) = (line(1.0), line(4.0));
    assert!(thin > 40 && (thin * 4).abs_diff(wide) < 16, "{thin} and {wide} pixels");
}

#[test]
fn faces_follow_the_winding() {
    let drawn = |keys: &str| count(&picture(&scene_of(keys, &[(whole(0.0), WHITE)])), [255; 4]);
    assert_eq!(drawn("cull = \"back\""), ALL);
    assert_eq!(drawn("cull = \"back\"\nfront-face = \"clockwise\""), 0);
    assert_eq!(drawn("cull = \"front\"\nfront-face = \"clockwise\""), ALL);
}

#[test]
fn depth_bias_moves_depths() {
    let drawn = |bias: &str, clear: f32, corners| {
        let keys = format!("depth = {{ compare = \"less\", clear = {clear:?} }}\n{bias}");
        count(&picture(&scene_of(&keys, &[(corners, WHITE)])), [255; 4])
    };
    let flat = whole(0.5);
    // A unit of depths from 0.5 to 1 is 2^-24, so this is -0.006.
    assert_eq!(drawn("", 0.499, flat), 0, "the control");
    assert_eq!(drawn("depth-bias = { constant = -100000 }", 0.499, flat), ALL);
    assert_eq!(drawn("depth-bias = { constant = -100000 }", 0.49, flat), 0);
    let clamped = "depth-bias = { constant = -100000, clamp = -0.0005 }";
    assert_eq!(drawn(clamped, 0.499, flat), 0);
    assert_eq!(drawn(clamped, 0.4996, flat), ALL);
    // The depth rises from 0.25 by half of the picture, 1/128 per pixel.
    let slanted = [[-1.0, -1.0, 0.25, 1.0], [-1.0, 3.0, 0.25, 1.0], [3.0, -1.0, 1.25, 1.0]];
    let covered = |bias: &str| drawn(bias, 0.5, slanted);
    let (without, with) = (covered(""), covered("depth-bias = { slope = -8 }"));
    assert_eq!(without, ALL / 2);
    assert_eq!(with, without + 8 * SIZE as usize, "eight columns more");
}

#[test]
fn depths_beyond_the_viewport_are_clamped() {
    let drawn = |keys: &str| count(&picture(&scene_of(keys, &[(whole(1.5), WHITE)])), [255; 4]);
    assert_eq!(drawn(""), 0, "the control");
    assert_eq!(drawn("depth-clamp = true"), ALL);
}

#[test]
fn stencil_tests_and_writes() {
    let two = [(whole(0.5), RED), (whole(0.5), GREEN)];
    let (red, green) = ([255, 0, 0, 255], [0, 255, 0, 255]);
    let at = |keys: &str, triangles: &[_]| picture(&scene_of(keys, triangles)).at(MIDDLE, MIDDLE);
    // Only the first triangle finds 0.
    let first = "stencil = { front = { compare = \"equal\", pass = \"increment-and-clamp\" } }";
    assert_eq!(at("", &two), green, "the control");
    assert_eq!(at(first, &two), red);
    assert_eq!(at(&first.replace("increment-and-clamp", "keep"), &two), green);
    assert_eq!(at(&first.replace("} }", "}, clear = 1 }"), &two), BLACK);
    // The comparison is of the masked bits, and writes are of theirs.
    assert_eq!(
        at(&first.replace("\"equal\"", "\"equal\", compare-mask = 2"), &two),
        green
    );
    assert_eq!(
        at(&first.replace("\"equal\"", "\"equal\", write-mask = 254"), &two),
        green
    );
    let replace = "stencil = { front = { compare = \"greater\", reference = 3, pass = \"replace\" } }";
    assert_eq!(at(replace, &two), red);
    // Back faces have their own: these never pass.
    let mut turned = two;
    turned[1].0.swap(1, 2);
    let back = "stencil = { front = {}, back = { compare = \"never\" } }";
    assert_eq!((at("", &turned), at(back, &turned)), (green, red));
    // Where the depth test fails; both failed, so the third finds 2.
    let three = [(whole(0.9), RED), (whole(0.9), RED), (whole(0.1), GREEN)];
    let behind = "depth = { compare = \"less\", clear = 0.5 }\n\
                  stencil = { front = { compare = \"less-or-equal\", reference = 0, depth-fail = \"increment-and-wrap\" } }";
    assert_eq!(at(behind, &three), green);
    let counted = behind.replace("\"less-or-equal\", reference = 0", "\"greater\", reference = 2");
    assert_eq!(at(&counted, &three), BLACK);
    assert_eq!(at(&counted, &three[1..]), green);
}

/// The sum of a picture's red, in whole pixels.
fn coverage(picture: &Picture) -> f64 {
    let red = picture.rgba.as_chunks::<4>().0.iter().map(|pixel| f64::from(pixel[0]));
    red.sum::<f64>() / 255.0
}

#[test]
fn edges_are_resolved_from_samples() {
    let corners: [[f32; 4]; 3] = [[-0.9, -0.8, 0.0, 1.0], [-0.7, 0.9, 0.0, 1.0], [0.85, 0.1, 0.0, 1.0]];
    let area = {
        let [a, b, c] = corners.map(|[x, y, ..]| [x * 32.0, y * 32.0]);
        ((b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1])).abs() / 2.0
    };
    let one = picture(&scene_of("", &[(corners, WHITE)]));
    let four = picture(&scene_of("samples = 4", &[(corners, WHITE)]));
    let grey = |picture: &Picture| ALL - count(picture, BLACK) - count(picture, [255; 4]);
    println!(
        "{area} pixels: {} with one sample, {} with four",
        coverage(&one),
        coverage(&four)
    );
    assert_eq!(grey(&one), 0, "the control");
    assert!(grey(&four) > 50);
    assert!((coverage(&four) - f64::from(area)).abs() < 4.0);
    // Every target is resolved, with its own colours; depth and stencil have samples too.
    let tests = "samples = 4\ndepth = {}\nstencil = { front = { compare = \"equal\", pass = \"invert\" } }";
    let both = draw(shader(), &scene_of(tests, &[(corners, RED), (corners, GREEN)])).unwrap();
    assert_eq!(coverage(&both[0]), coverage(&four));
    let blue = |picture: &Picture| picture.at(16, MIDDLE);
    assert_eq!(
        both.iter().map(blue).collect::<Vec<_>>(),
        [[255, 0, 0, 255], [0, 0, 255, 255]]
    );
}

#[test]
fn samples_are_masked_and_covered_by_alpha() {
    let half = [1.0, 1.0, 1.0, 0.5];
    let red = |keys: &str| picture(&scene_of(keys, &[(whole(0.0), half)])).at(MIDDLE, MIDDLE)[0];
    assert_eq!(red("samples = 4"), 255, "the control");
    assert_eq!(red("samples = 4\nsample-mask = 1"), 64);
    assert_eq!(red("samples = 4\nsample-mask = 7"), 191);
    assert_eq!(red("samples = 4\nalpha-to-coverage = true"), 128);
    let alpha = |keys: &str| picture(&scene_of(keys, &[(whole(0.0), half)])).at(MIDDLE, MIDDLE)[3];
    assert_eq!(
        (alpha("samples = 4"), alpha("samples = 4\nalpha-to-one = true")),
        (128, 255)
    );
}

#[test]
fn samples_are_shaded() {
    let counting = packed(VERTEX, COUNTING);
    let count = |keys: &str| {
        let keys = format!("{keys}\n[slots.0]\nuints = [0]");
        let text = format!("size = [{SIZE}, {SIZE}]\n{}", scene_of(&keys, &[(whole(0.0), WHITE)]));
        let scene = Scene::parse(&text, Path::new("")).unwrap();
        let loaded = harness::load(context(), &counting, Default::default()).unwrap();
        let drawn = loaded.draw(&scene, &[0], None).unwrap();
        assert_eq!(context().messages(), [""; 0], "validation messages of {text}");
        u32::from_le_bytes(*drawn.frame.slots[&0].first_chunk().unwrap()) as usize
    };
    let (pixels, samples) = (count("samples = 4"), count("samples = 4\nsample-shading = 1"));
    println!("{pixels} fragments of {ALL} pixels, {samples} with shaded samples");
    // Pixels at the edges may be shaded for two of a clipped triangle's parts.
    assert!((ALL..ALL * 5 / 4).contains(&pixels), "the control");
    assert!(samples >= ALL * 4);
}

#[test]
fn targets_blend_by_factors() {
    let quarter = [0.25, 0.5, 1.0, 0.5];
    let clear = "clear = [0.5, 0.25, 0.5, 1]";
    let at = |keys: &str| {
        let targets = draw(
            shader(),
            &scene_of(&format!("{clear}\n{keys}"), &[(whole(0.0), quarter)]),
        )
        .unwrap();
        [targets[0].at(0, 0), targets[1].at(0, 0)]
    };
    let near = |have: [u8; 4], wanted: [f32; 4]| {
        let off = have
            .iter()
            .zip(wanted)
            .map(|(have, wanted)| (f32::from(*have) - wanted * 255.0).abs());
        assert!(off.fold(0.0, f32::max) <= 1.0, "{have:?}, not {wanted:?}");
    };
    let plain = at("");
    near(plain[0], quarter);
    near(plain[1], [1.0, 0.5, 0.25, 0.5]);
    // One target by factors, the other stays.
    let [first, second] =
        at("[targets.0]\nsrc-color-factor = \"dst-color\"\ndst-color-factor = \"one-minus-src-alpha\"");
    near(first, [0.125 + 0.25, 0.125 + 0.125, 0.5 + 0.25, 0.5]);
    assert_eq!(second, plain[1]);
    let [first, second] = at("blend-constants = [1, 0.5, 0.25, 1]\n[targets.1]\nsrc-color-factor = \"constant-color\"");
    near(second, [1.0, 0.25, 0.0625, 0.5]);
    assert_eq!(first, plain[0]);
    let [first, second] = at(
        "[targets.0]\ncolor-op = \"reverse-subtract\"\ndst-color-factor = \"one\"\n\
                              [targets.1]\ncolor-op = \"min\"\nalpha-op = \"max\"",
    );
    near(first, [0.25, 0.0, 0.0, 0.5]);
    near(second, [0.5, 0.25, 0.25, 1.0]);
    // A mode for one target, and another for the rest.
    let [first, second] = at("blend = \"additive\"\n[targets.1]\nblend = \"multiply\"");
    near(first, [0.75, 0.75, 1.0, 1.0]);
    near(second, [0.5, 0.125, 0.125, 0.5]);
}

#[test]
fn targets_have_masks_and_clear_colours() {
    let at = |keys: &str| {
        let targets = draw(shader(), &scene_of(keys, &[(whole(0.0), WHITE)])).unwrap();
        [targets[0].at(0, 0), targets[1].at(0, 0)]
    };
    assert_eq!(at(""), [[255; 4]; 2], "the control");
    let masks = at("[targets.0]\nwrite-mask = \"rb\"\n[targets.1]\nwrite-mask = \"\"\nclear = [0, 0, 1, 0]");
    assert_eq!(masks, [[255, 0, 255, 255], [0, 0, 255, 0]]);
    let cut = [[-1.0, -1.0, 0.0, 1.0], [-1.0, 0.0, 0.0, 1.0], [0.0, -1.0, 0.0, 1.0]];
    let cleared = draw(
        shader(),
        &scene_of("[targets.1]\nclear = [0, 1, 0, 1]", &[(cut, WHITE)]),
    )
    .unwrap();
    assert_eq!(
        [cleared[0].at(60, 60), cleared[1].at(60, 60)],
        [BLACK, [0, 255, 0, 255]]
    );
}

#[test]
fn bits_are_combined() {
    let color = [1.0, 0.0, 0.6, 1.0];
    let at = |keys: &str| {
        picture(&scene_of(
            &format!("clear = [1, 1, 0.2, 0]\n{keys}"),
            &[(whole(0.0), color)],
        ))
        .at(0, 0)
    };
    assert_eq!(at(""), [255, 0, 153, 255], "the control");
    assert_eq!(at("logic-op = \"xor\""), [0, 255, 153 ^ 51, 255]);
    assert_eq!(at("logic-op = \"and-inverted\""), [0, 255, !153 & 51, 0]);
}

#[test]
fn samplers_are_vulkans() {
    let at = |slot: &str, scale: f32, x: u32| {
        let scene = format!(
            "[inputs]\n0 = [[-1, -1, 0], [-1, 3, 0], [3, -1, 0]]\n1 = [[0, 0], [0, {end:?}], [{end:?}, 0]]\n\
             [uniform]\ntint = [1, 1, 1, 1]\noffset = [0, 0]\n[slots.0]\n{slot}",
            end = scale * 2.0
        );
        let drawn = draw(&textured(), &scene).unwrap_or_else(|error| panic!("{slot}: {error}"));
        drawn[0].at(x, 4)[0]
    };
    let edges = "size = [2, 1]\ntexels = [1, 1, 1, 1, 0, 0, 0, 1]\n";
    // Texels of 16 pixels: white, black, and what lies beyond.
    let row = |keys: &str| [8, 24, 40, 56].map(|x| at(&format!("{edges}{keys}"), 2.0, x));
    assert_eq!(row(""), [255, 0, 255, 0], "the control");
    assert_eq!(row("wrap = \"clamp\""), [255, 0, 0, 0]);
    assert_eq!(row("wrap = \"mirror\""), [255, 0, 0, 255]);
    assert_eq!(row("wrap = \"border\"\nborder = \"opaque-white\""), [255, 0, 255, 255]);
    assert_eq!(row("wrap-x = \"clamp\"\nwrap-y = \"border\""), [255, 0, 0, 0]);
    assert_eq!(row("wrap = \"mirror-clamp\""), [255, 0, 0, 0]);
    // Magnified and minified textures have their own filters.
    let between = |keys: &str| at(&format!("{edges}{keys}"), 1.0, 30);
    assert_eq!([between(""), between("min-filter = \"linear\"")], [255, 255]);
    assert!((100..155).contains(&between("mag-filter = \"linear\"")));
    // Levels: the first is black, the second white.
    let levels = "size = [2, 2]\nlevels = 2\ntexels = [0,0,0,1, 0,0,0,1, 0,0,0,1, 0,0,0,1, 1,1,1,1]\n";
    let level = |keys: &str| at(&format!("{levels}{keys}"), 1.0, 8);
    assert_eq!(level(""), 0, "the control");
    assert_eq!(level("min-lod = 1"), 255);
    let biased = level("lod-bias = 16\nmipmap-filter = \"linear\"");
    assert_eq!((biased, level("lod-bias = 16\nmax-lod = 0")), (255, 0));
    assert_eq!(level("anisotropy = 4\nfilter = \"linear\""), 0);
}

#[test]
fn what_a_device_lacks_is_named() {
    let limits = [
        ("samples = 64", "64 samples"),
        ("line-width = 1e9", "lines of width 1000000000"),
        ("sample-shading = 2", "shading of 2 of the samples"),
    ];
    for (keys, words) in limits {
        let error = draw(shader(), &scene_of(keys, &[(whole(0.0), WHITE)]))
            .expect_err(keys)
            .to_string();
        assert!(error.starts_with("vulkan: ") && error.contains(words), "{error}");
    }
    let slots = [
        ("anisotropy = 1e6", "slot 0: samplers: anisotropy 1000000"),
        ("lod-bias = 1e6", "slot 0: samplers: a bias of 1000000 levels"),
        ("min-lod = 2\nmax-lod = 1", "slot 0: levels from 2 to 1"),
    ];
    for (keys, words) in slots {
        let error = draw(&textured(), &format!("[slots.0]\nfill = [1, 1, 1, 1]\n{keys}")).expect_err(keys);
        assert!(error.to_string().contains(words), "{error}");
    }
}

#[test]
fn pipelines_of_engines_are_checked() {
    use vulkan::{BindMode, ColorBlend, GraphicsPipeline, Program, State, Stencil, Target, vk};
    let file = vbc::read(shader()).unwrap();
    let program = Program::new(context(), &file, BindMode::Lowered).unwrap();
    let colors = [vk::Format::R8G8B8A8_UNORM; 2];
    let create = |state: &State, depth| {
        let target = Target::Formats { colors: &colors, depth };
        GraphicsPipeline::new(&program, state, &target, None).map(drop)
    };
    let (depth, both) = (vk::Format::D32_SFLOAT, vk::Format::D32_SFLOAT_S8_UINT);
    let stencil = State {
        stencil: Some(Stencil::default()),
        ..State::default()
    };
    let dynamic = |all: &[vk::DynamicState]| State {
        dynamic: all.to_vec(),
        ..State::default()
    };
    let second_source = State {
        color_blend: ColorBlend {
            attachments: [(
                1,
                vk::PipelineColorBlendAttachmentState::default().src_color_blend_factor(vk::BlendFactor::SRC1_COLOR),
            )]
            .into(),
            ..ColorBlend::default()
        },
        ..State::default()
    };
    let wrong = [
        (stencil.clone(), "a stencil test in D32_SFLOAT"),
        (
            dynamic(&[vk::DynamicState::POLYGON_MODE_EXT]),
            "dynamic state POLYGON_MODE_EXT",
        ),
        (
            dynamic(&[vk::DynamicState::VIEWPORT, vk::DynamicState::VIEWPORT_WITH_COUNT]),
            "VIEWPORT is dynamic with and without its count",
        ),
        (second_source, "output 1: blend factor 15"),
    ];
    for (state, words) in wrong {
        let error = create(&state, depth).expect_err(words).to_string();
        assert!(error.contains(words), "{error}");
    }
    create(&stencil, both).unwrap();
    let many = [
        vk::DynamicState::SCISSOR,
        vk::DynamicState::VIEWPORT_WITH_COUNT,
        vk::DynamicState::LINE_WIDTH,
        vk::DynamicState::STENCIL_REFERENCE,
        vk::DynamicState::CULL_MODE,
        vk::DynamicState::DEPTH_TEST_ENABLE,
        vk::DynamicState::STENCIL_OP,
    ];
    create(&dynamic(&many), both).unwrap();
    // Modules and layouts for the engine's own pipelines.
    let stages: Vec<_> = program.shader_stages().map(|stage| stage.stage).collect();
    assert_eq!(stages, [vk::ShaderStageFlags::VERTEX, vk::ShaderStageFlags::FRAGMENT]);
    assert!(program.push_constant_range().is_none());
    assert_eq!(context().messages(), [""; 0], "validation messages");
}

#[test]
fn submissions_are_waited_for_without_an_executor() {
    let scene = Scene::parse("size = [8, 8]", Path::new("")).unwrap();
    let loaded = harness::load(context(), shader(), Default::default()).unwrap();
    let submitted = vulkan::render(loaded.program(), &loaded.prepare(&scene).unwrap(), None).unwrap();
    while !submitted.is_done().unwrap() {
        std::thread::yield_now();
    }
    assert_eq!(submitted.wait().unwrap().targets.len(), 2);
}
