//! The application's picture equals that of `skrymir run`, and uniforms take effect.

use loader::sksl::{self, Builder, Command, Operator, ProgramKind, Statement};
use scene::picture::{Picture, compare};
use scene::{Scene, harness};
use skrymir_wgpu_example::app::{App, Drawn, FORMAT};
use skrymir_wgpu_example::{Effect, Error, Options, Texture};
use std::path::{Path, PathBuf};

const SIZE: [u32; 2] = [96, 64];

/// Rounding differences: one step of a channel.
const TOLERANCE: u8 = 1;

const TEXTURED: &[u8] = include_bytes!("../../../tests/data/vbc/textured.vbc");

/// Position and texture coordinates; a triangle with no edge along a side of the picture.
const CORNERS: [f32; 15] = [
    -0.9, -0.8, 0.2, 0.0, 0.0, 0.7, -0.5, 0.2, 1.5, 0.25, -0.2, 0.9, 0.2, 0.5, 2.0,
];

/// A rotation, translation and shear, so that every column matters.
const MVP: [f32; 16] = [
    0.9, 0.2, 0.0, 0.0, -0.1, 0.8, 0.0, 0.0, 0.0, 0.0, 0.5, 0.0, 0.05, -0.1, 0.25, 1.0,
];

/// Two by two texels.
const TEXELS: [[u8; 4]; 4] = [
    [255, 0, 0, 255],
    [0, 255, 0, 255],
    [0, 0, 255, 255],
    [255, 255, 255, 255],
];

/// `half4(p / size, 0.5, 1) * tint`, as Skia stores it.
fn effect() -> Vec<u8> {
    let mut b = Builder::new(ProgramKind::RUNTIME_SHADER);
    let (size, tint) = (b.uniform("float2", "size"), b.uniform("half4", "tint"));
    let at = b.parameter("float2", "p", 10009);
    let main = b.function("half4", "main", &[at]);
    let (p, size) = (b.read(at), b.read(size));
    let scaled = b.binary(p, Operator::SLASH, size);
    let scaled = b.construct(Command::CONSTRUCTOR_COMPOUND_CAST, "half2", &[scaled]);
    let (half, one) = (b.float("half", 0.5), b.float("half", 1.0));
    let four = b.construct(Command::CONSTRUCTOR_COMPOUND, "half4", &[scaled, half, one]);
    let tint = b.read(tint);
    let product = b.binary(four, Operator::STAR, tint);
    let value = b.statement(Statement::Return(Some(product)));
    sksl::write(&b.define(main, &[value]).finish()).expect("an effect")
}

/// The picture of `skrymir run FILE --scene SCENE`.
fn reference(vbc: &[u8], text: &str) -> Picture {
    let context = vulkan::Context::new(&vulkan::Options::default()).expect("a Vulkan device");
    let scene = Scene::parse(&format!("size = {SIZE:?}\n{text}"), Path::new("")).expect("a scene");
    Picture::of(&harness::draw(&context, vbc, &scene).expect("a picture").frame.targets[0])
}

fn nested(values: &[f32], count: usize) -> Vec<&[f32]> {
    values.chunks(count).collect()
}

fn textured_reference(tint: [f32; 4]) -> Picture {
    let vertices: Vec<&[f32]> = nested(&CORNERS, 5);
    let (positions, places): (Vec<_>, Vec<_>) = vertices.iter().map(|vertex| vertex.split_at(3)).unzip();
    let texels: Vec<f32> = TEXELS
        .as_flattened()
        .iter()
        .map(|channel| f32::from(*channel) / 255.0)
        .collect();
    reference(
        TEXTURED,
        &format!(
            "clear = [0.2, 0, 0.2, 1]\n[inputs]\n0 = {positions:?}\n1 = {places:?}\n
             [uniform]\nmvp = {MVP:?}\ntint = {tint:?}\noffset = [0.1, 0.2]\n
             [slots.0]\nsize = [2, 2]\ntexels = {texels:?}\nfilter = \"linear\"\nwrap = \"repeat\"\n"
        ),
    )
}

const CLEAR: wgpu::Color = wgpu::Color {
    r: 0.2,
    g: 0.0,
    b: 0.2,
    a: 1.0,
};

/// An application with the inputs of its effects.
struct Stage {
    app: App,
    view: wgpu::TextureView,
    sampler: wgpu::Sampler,
}

impl Stage {
    fn new() -> Self {
        let app = App::new().expect("a wgpu device");
        let view = app.texture([2, 2], TEXELS.as_flattened());
        let sampler = app.device.create_sampler(&wgpu::SamplerDescriptor {
            address_mode_u: wgpu::AddressMode::Repeat,
            address_mode_v: wgpu::AddressMode::Repeat,
            mag_filter: wgpu::FilterMode::Linear,
            min_filter: wgpu::FilterMode::Linear,
            ..Default::default()
        });
        Self { app, view, sampler }
    }

    fn load(&self, bytes: &[u8]) -> Result<Effect, Error> {
        let texture = |slot| Texture {
            slot,
            view: &self.view,
            sampler: &self.sampler,
        };
        let textures: Vec<_> = (0..32).map(texture).collect();
        Effect::new(&self.app.device, bytes, &Options::new(FORMAT), &textures)
    }

    fn textured(&self, tint: [f32; 4]) -> Effect {
        let mut effect = self.load(TEXTURED).expect("an effect");
        let queue = &self.app.queue;
        for (name, values) in [("mvp", &MVP[..]), ("tint", &tint), ("offset", &[0.1, 0.2])] {
            effect.set(queue, name, values).expect(name);
        }
        effect
    }

    fn sksl(&self, tint: [f32; 4]) -> Effect {
        let mut loaded = self.load(&effect()).expect("an effect");
        loaded
            .set(&self.app.queue, "size", &SIZE.map(|side| side as f32))
            .expect("size");
        loaded.set(&self.app.queue, "tint", &tint).expect("tint");
        loaded
    }

    fn picture(&self, effects: &[(&Effect, Option<&[f32]>)]) -> Picture {
        let buffers: Vec<_> = effects
            .iter()
            .map(|(_, vertices)| vertices.map(|floats| self.app.vertices(floats)))
            .collect();
        let drawn = |((effect, _), vertices)| Drawn {
            effect,
            vertices,
            count: 3,
        };
        let drawn: Vec<_> = effects
            .iter()
            .copied()
            .zip(buffers.iter().map(Option::as_ref))
            .map(drawn)
            .collect();
        let rgba = self.app.frame(SIZE, CLEAR, &drawn).expect("a picture");
        let [width, height] = SIZE;
        Picture { width, height, rgba }
    }
}

/// Asserts that two pictures agree, and that a third does not.
fn assert_distinct(drawn: &Picture, same: &Picture, other: &Picture) {
    let close = compare(drawn, same, TOLERANCE).expect("sizes");
    assert!(
        close.same(),
        "{} pixels differ, by {} at {:?}",
        close.differing,
        close.worst,
        close.worst_at
    );
    let far = compare(drawn, other, TOLERANCE).expect("sizes");
    assert!(far.share() > 10.0, "only {} % differ with another uniform", far.share());
}

const ORANGE: [f32; 4] = [1.0, 0.6, 0.3, 1.0];
const GREEN: [f32; 4] = [0.2, 0.9, 0.4, 1.0];

#[test]
fn vbc_matches_vulkan() {
    let stage = Stage::new();
    let drawn = stage.picture(&[(&stage.textured(ORANGE), Some(&CORNERS))]);
    assert_distinct(&drawn, &textured_reference(ORANGE), &textured_reference(GREEN));
    let drawn = stage.picture(&[(&stage.textured(GREEN), Some(&CORNERS))]);
    assert_distinct(&drawn, &textured_reference(GREEN), &textured_reference(ORANGE));
}

#[test]
fn sksl_matches_vulkan() {
    let stage = Stage::new();
    let vbc = translate::sksl::to_vbc(&sksl::read(&effect()).expect("an effect")).expect("a VBC");
    let reference = |tint| {
        reference(
            &vbc,
            &format!(
                "[uniform]\nsize = {:?}\ntint = {tint:?}\n",
                SIZE.map(|side| side as f32)
            ),
        )
    };
    let drawn = stage.picture(&[(&stage.sksl(ORANGE), None)]);
    assert_distinct(&drawn, &reference(ORANGE), &reference(GREEN));
}

#[test]
fn effects_share_the_pass_of_the_application() {
    let stage = Stage::new();
    let (effect, textured) = (stage.sksl(GREEN), stage.textured(ORANGE));
    let both = stage.picture(&[(&effect, None), (&textured, Some(&CORNERS))]);
    let (below, above) = (stage.picture(&[(&effect, None)]), textured_reference(ORANGE));
    let clear = [51, 0, 51, 255];
    for y in 0..SIZE[1] {
        for x in 0..SIZE[0] {
            let expected = match above.at(x, y) {
                pixel if pixel == clear => below.at(x, y),
                pixel => pixel,
            };
            let off = both.at(x, y).iter().zip(expected).map(|(a, b)| a.abs_diff(b)).max();
            assert!(
                off <= Some(TOLERANCE),
                "{x}, {y}: {:?} and not {expected:?}",
                both.at(x, y)
            );
        }
    }
}

#[test]
fn errors_name_the_problem() {
    let stage = Stage::new();
    let mut effect = stage.textured(ORANGE);
    let members: Vec<_> = effect.members().collect();
    assert_eq!(members, [("mvp", 16), ("tint", 4), ("offset", 2)]);
    let message = |result: Result<_, Error>| result.map(|_: ()| ()).expect_err("an error").to_string();
    let queue = &stage.app.queue;
    let unknown = message(effect.set(queue, "tnt", &[0.0]));
    assert_eq!(unknown, "no uniform member \"tnt\"; there are: mvp, tint, offset");
    assert_eq!(
        message(effect.set(queue, "tint", &[0.0])),
        "the uniform member tint has 4 numbers, not 1"
    );
    let bare = Effect::new(&stage.app.device, TEXTURED, &Options::new(FORMAT), &[]);
    assert_eq!(message(bare.map(drop)), "slot 0 has no texture");
    let cut = message(stage.load(&TEXTURED[..100]).map(drop));
    assert!(cut.starts_with("vbc: "), "{cut}");
    let buffer = include_bytes!("../../../tests/data/vbc/ro_buffer.vbc");
    let buffer = message(stage.load(buffer).map(drop));
    assert_eq!(buffer, "unsupported here: slot 3: VK_DESCRIPTOR_TYPE_STORAGE_BUFFER");
}

#[test]
fn two_textures_keep_their_slots() {
    let bytes = include_bytes!("../../../tests/data/vbc/two_samplers.vbc");
    let stage = Stage::new();
    let [red, green] = [[255, 0, 0, 255], [0, 255, 0, 255]].map(|texel| stage.app.texture([1, 1], &texel));
    let texture = |slot, view| Texture {
        slot,
        view,
        sampler: &stage.sampler,
    };
    let corners = [-1.0, -1.0, 3.0, -1.0, -1.0, 3.0];
    let draw = |zero, five| {
        let textures = [texture(0, zero), texture(5, five)];
        let effect = Effect::new(&stage.app.device, bytes, &Options::new(FORMAT), &textures).expect("an effect");
        stage.picture(&[(&effect, Some(&corners))]).at(SIZE[0] / 2, SIZE[1] / 2)
    };
    // Three parts of slot 0 and one of slot 5.
    assert_eq!(
        [draw(&red, &green), draw(&green, &red)],
        [[191, 64, 0, 255], [64, 191, 0, 255]]
    );
}

#[test]
fn the_program_writes_the_picture() {
    let folder = std::env::temp_dir().join(format!("skrymir-wgpu-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let (file, out) = (folder.join("effect.sksl.bin"), folder.join("out.png"));
    std::fs::write(&file, effect()).expect("a file");
    let run = |tint: &str| {
        let status = std::process::Command::new(env!("CARGO_BIN_EXE_skrymir-wgpu-example"))
            .args(["--size", "96x64", "-o"])
            .args([&out, &file])
            .args(["--set", "size=96,64", "--set", tint])
            .status();
        assert!(status.expect("the program").success());
        Picture::load(&out).expect("a picture")
    };
    let (orange, green) = (run("tint=1,0.6,0.3,1"), run("tint=0.2,0.9,0.4,1"));
    let stage = Stage::new();
    assert_distinct(&orange, &stage.picture(&[(&stage.sksl(ORANGE), None)]), &green);
    std::fs::remove_dir_all(folder).expect("an empty place");
}

/// Files with an ending in a folder, recursively.
fn files(folder: &Path, ending: &str, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.path() {
            path if path.is_dir() => files(&path, ending, found),
            path if path.to_string_lossy().ends_with(ending) => found.push(path),
            _ => {}
        }
    }
}

/// wgpu's errors for files that WGSL can express: limits that its devices may have.
const LIMITS: [&str; 4] = [
    "must be less than limit",
    "exceeds the limit",
    "no render target for the pipeline was specified",
    "expects dimension",
];

/// Files whose pipeline makes a driver fail and the device get lost.
const LOST: [&str; 1] = ["head_21_uniform_matrices"];

/// Every file either draws or is rejected for a known reason.
#[test]
fn every_file_loads_or_is_rejected_for_a_known_reason() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut unknown = Vec::new();
    // A sample of Skia's programs, which are many.
    for (folders, ending, step, least) in [
        (&["tests/data", "../shared/corpus/vbc"][..], ".vbc", 1, 8),
        (&["../shared/corpus/sksl/programs"][..], ".bin", 8, 0),
    ] {
        let mut found = Vec::new();
        folders
            .iter()
            .for_each(|folder| files(&root.join(folder), ending, &mut found));
        found.sort();
        let (mut stage, mut tried, mut loaded) = (Stage::new(), 0, 0);
        for path in found.iter().step_by(step) {
            tried += 1;
            match stage.load(&std::fs::read(path).expect("a file")) {
                Ok(_) => loaded += 1,
                Err(Error::Wgpu(error)) => {
                    let (said, name) = (error.to_string(), path.display().to_string());
                    let known = LIMITS.iter().any(|limit| said.contains(limit));
                    if !known && !LOST.iter().any(|lost| name.contains(lost)) {
                        unknown.push(format!("{name}: {said}"));
                    }
                    stage = Stage::new();
                }
                Err(_) => {}
            }
        }
        println!("{loaded} of {tried} files *{ending} can be drawn with wgpu");
        assert!(loaded >= least);
    }
    assert!(unknown.is_empty(), "{unknown:#?}");
}
