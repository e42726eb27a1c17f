//! Shaders of other projects, compiled and drawn on every engine: the pictures are equal to the bit. The ordinary tests
//! use a sample, `SKRYMIR_FIELD` (`tests/field.sh`) all of them.

use crate::common;
use emulator::exec::Engine;
use emulator::exec::native::Native;
use emulator::exec::scalar::Scalar;
use emulator::exec::wide::Wide;
use skrymir::harness;
use skrymir::loader::mbs::SymbolType;
use skrymir::picture::{Picture, compare};
use skrymir::runner::engines;
use skrymir::runner::link;
use skrymir::runner::mali::{self, Pair};
use skrymir::scene::{Numbers, Scene, Slot};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The ordinary tests draw one pair in this many.
const SAMPLE: usize = 12;

/// Draws a pair on every engine: whether all pictures are equal; `None` without a picture.
fn agree(vertex: &Path, fragment: &Path, scene: &Scene) -> Option<bool> {
    let pair = Pair::load(vertex, fragment).ok()?;
    let draw = mali::prepare(&pair, scene).ok()?;
    let picture = |engine: Box<dyn Engine>| mali::run(&draw, engine, 1);
    let want = picture(Box::new(Scalar)).ok()?;
    let others: [Box<dyn Engine>; 2] = [Box::<Wide>::default(), Box::<Native>::default()];
    Some(
        others
            .into_iter()
            .all(|engine| picture(engine).is_ok_and(|have| have == want)),
    )
}

#[test]
fn retro_shaders_match_on_every_engine() {
    let Some(folder) = common::corpus("field/retro") else {
        return;
    };
    let scene = Scene {
        size: Some([64, 64]),
        ..Scene::default()
    };
    let (mut pairs, mut drawn, mut different) = (0, 0, Vec::new());
    for vertex in common::files(&folder, "vert")
        .into_iter()
        .step_by(common::field_step(SAMPLE))
    {
        let fragment = vertex.with_extension("frag");
        pairs += 1;
        if let Some(same) = agree(&vertex, &fragment, &scene) {
            drawn += 1;
            different.extend((!same).then_some(fragment));
        }
    }
    println!(
        "{pairs} pairs of field/retro: {drawn} drawable, {} of them equal on all engines",
        drawn - different.len()
    );
    assert!(different.is_empty(), "{different:#?}");
    assert!(drawn > pairs / 3, "{drawn} of {pairs} can be drawn");
}

/// Every text of the old languages that glslang accepts is compiled, or rejected for a limit of the hardware or of the
/// compiler; every text that it rejects is rejected.
#[test]
fn retro_shaders_are_judged_as_glslang_judges_them() {
    use skrymir::compiler::glsl_es::Text;
    use skrymir::compiler::{ErrorKind, Input, Options, Stage, compile};
    use skrymir::translate::frontend;
    let Some(folder) = common::corpus("field/retro") else {
        return;
    };
    if !frontend::is_available() {
        return;
    }
    let (mut valid, mut compiled, mut wrong) = (0, 0, Vec::new());
    let (mut stages, mut limits) = (0, Vec::new());
    for (ending, stage) in [("vert", Stage::Vertex), ("frag", Stage::Fragment)] {
        for path in common::files(&folder, ending)
            .into_iter()
            .step_by(common::field_step(SAMPLE))
        {
            let Ok(text) = std::fs::read_to_string(&path) else {
                continue;
            };
            let judged = frontend::judge(&[Text::new(&text).judged(stage)]).is_ok();
            let outcome = compile(Input::GlslEs(&text, stage), &Options::default());
            stages += 1;
            valid += usize::from(judged);
            compiled += usize::from(outcome.is_ok());
            if let Err(error) = outcome.as_ref()
                && judged
            {
                let name = path.file_name().expect("a file").to_string_lossy();
                limits.push(format!("{name}: {error}"));
            }
            let fits = match &outcome {
                Ok(_) => judged,
                Err(error) => judged == (error.kind() != ErrorKind::Invalid),
            };
            if !fits {
                wrong.push((path, judged, outcome.err().map(|error| error.to_string())));
            }
        }
    }
    println!("{stages} stages of field/retro: {valid} are valid to glslang, {compiled} are compiled");
    limits
        .iter()
        .for_each(|limit| println!("valid, and not compiled: {limit}"));
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(100 * compiled >= 97 * valid, "{compiled} of {valid}");
}

/// A texture of one colour: in half precision, coordinates at the border of two texels may be in either.
fn one_colour() -> Slot {
    let numbers = [0.25, 0.5, 0.75, 1.0].map(Numbers::One);
    Slot {
        fill: Some(Numbers::Many(numbers.into())),
        ..Slot::default()
    }
}

/// A device without the validation layer, which reports performance warnings for the field's shaders.
fn device() -> &'static skrymir::vulkan::Context {
    use skrymir::vulkan::{Context, Options};
    static DEVICE: std::sync::OnceLock<Context> = std::sync::OnceLock::new();
    DEVICE.get_or_init(|| Context::new(&Options::default()).expect("a device"))
}

/// A pair of shaders, or one file of both.
struct Source {
    corpus: &'static str,
    vertex: PathBuf,
    fragment: PathBuf,
    scene: Scene,
}

/// Those of the corpora that programs of the emulator may be compiled from.
fn sources() -> Vec<Source> {
    let small = Scene {
        size: Some([64, 64]),
        ..Scene::default()
    };
    // What RetroArch sets, and its shaders divide by.
    let sizes = ["TextureSize", "InputSize", "OutputSize"];
    let size = || Numbers::Many([64.0, 64.0].map(Numbers::One).into());
    let retro = Scene {
        uniform: sizes.map(|name| (name.to_owned(), size())).into(),
        ..small.clone()
    };
    let mut all = Vec::new();
    let mut add = |corpus, vertex, fragment, scene: &Scene| {
        all.push(Source {
            corpus,
            vertex,
            fragment,
            scene: scene.clone(),
        });
    };
    for (corpus, scene) in [("field/retro", &retro), ("mali", &small), ("glsl-es", &small)] {
        let Some(folder) = common::corpus(corpus) else { continue };
        for vertex in common::files(&folder, "vert") {
            let fragment = vertex.with_extension("frag");
            add(corpus, vertex, fragment, scene);
        }
    }
    for (vertex, fragment) in crate::cli::pairs::pairs() {
        add("field/samples", vertex, fragment, &small);
    }
    for file in common::corpus("field/wgsl")
        .map(|folder| common::files(&folder, "wgsl"))
        .unwrap_or_default()
    {
        add("field/wgsl", file.clone(), file, &small);
    }
    all
}

/// Percent of the pixels that may differ, by more than [`FAR`].
const ALLOWED: f64 = 1.0;

/// Difference of a channel that half floats explain in one step.
const FAR: u8 = 16;

/// A pair on the emulator and on a Vulkan device.
struct Drawn {
    emulated: Picture,
    own: Scene,
    made: link::LinkedVbc,
}

impl Drawn {
    /// Draws a pair on the emulator, whose fragment program may come from another text; `None` if it or the packer rejects
    /// the pair.
    fn new(source: &Source, text: Option<&str>) -> Option<Self> {
        let folder = tempfile::tempdir().ok()?;
        let other = folder.path().join("a.frag");
        let fragment = match text {
            Some(text) => {
                std::fs::write(&other, text).ok()?;
                &other
            }
            None => &source.fragment,
        };
        let pair = Pair::load(&source.vertex, fragment).ok()?;
        let mut own = source.scene.clone();
        let [(_, symbols), ..] = pair.fragment.tables();
        let kinds = [SymbolType::SAMPLER_2D, SymbolType::SAMPLER_CUBE];
        let samplers = symbols.iter().filter(|symbol| kinds.contains(&symbol.kind));
        own.slots = samplers.map(|sampler| (sampler.name(), one_colour())).collect();
        let emulated = mali::run(&mali::prepare(&pair, &own).ok()?, Box::new(Scalar), 1).ok()?;
        let bytes = [&source.vertex, &source.fragment].map(|path| std::fs::read(path).unwrap_or_default());
        let file = |path, bytes| link::File {
            path,
            bytes,
            entries: &[],
            settings: skrymir::translate::frontend::Settings::NONE,
        };
        let second = (source.vertex != source.fragment).then(|| file(&source.fragment, &bytes[1]));
        let made = link::link(&file(&source.vertex, &bytes[0]), second.as_ref()).ok()?;
        Some(Self { emulated, own, made })
    }

    /// The Vulkan device's picture of a VBC; `None` if that rejects the pair.
    fn on_vulkan(&self, bytes: &[u8]) -> Option<Picture> {
        let loaded = harness::load_of(device(), bytes, &self.made.sources, harness::Settings::default()).ok()?;
        let drawn = loaded.draw(&self.own, &[], None).ok()?;
        Some(Picture::of(drawn.frame.targets.first()?))
    }

    /// Percentage of pixels that are far from those of a picture of the Vulkan device.
    fn apart(&self, picture: &Picture) -> Option<f64> {
        Some(compare(&self.emulated, picture, FAR).ok()?.share())
    }

    /// Whether the fragment shader rounded to half precision after each step explains how a picture differs.
    fn is_precision(&self, picture: &Picture) -> bool {
        let half = engines::in_half_steps(&self.made.bytes).ok();
        half.and_then(|bytes| self.on_vulkan(&bytes))
            .is_some_and(|half| engines::undecided(&self.emulated, picture, &half, FAR, ALLOWED))
    }
}

/// Pairs whose pictures half precision steps do not explain, and why they are no fault.
const UNDECIDED: [(&str, &str); 7] = [
    (
        "fsr__shaders__fsr-pass0",
        "compares with 1/32768, which is zero as a half, then divides zero by zero",
    ),
    ("handheld__shaders__lcd1x_nds", PHASE),
    ("handheld__shaders__lcd1x_psp", PHASE),
    ("ntsc__shaders__ntsc-cgwg-tm__ntsc-cgwg-p2", PHASE),
    ("ntsc__shaders__ntsc-simple__ntsc-mini-1", PHASE),
    ("pal__shaders__pal-r57shell-moire-only", PHASE),
    (
        "procedural__kali-fractalorgy",
        "iterates a map that doubles every rounding",
    ),
];

const PHASE: &str =
    "the sine of hundreds of radians, of which halves are up to a radian apart: the order of roundings decides";

/// Texts of a fragment shader with one sum for a product, the last product first.
fn planted(text: &str) -> impl Iterator<Item = String> {
    text.rmatch_indices(" * ")
        .take(4)
        .map(|(at, _)| format!("{} + {}", &text[..at], &text[at + 3..]))
}

/// Pairs match lavapipe's picture of the same source, or its picture in half precision steps; a planted fault, a sum for a
/// product in the compiled fragment shader, is found.
#[test]
fn shaders_of_the_field_look_as_on_lavapipe() {
    let mut sources = sources();
    if sources.is_empty() {
        return;
    }
    let step = common::field_step(SAMPLE);
    sources = sources.into_iter().step_by(step).collect();
    let (mut counts, mut faults, mut found, mut wrong) = (BTreeMap::new(), 0, 0, Vec::new());
    for source in &sources {
        let count: &mut [usize; 4] = counts.entry(source.corpus).or_default();
        let Some((drawn, picture, share)) = Drawn::new(source, None).and_then(|drawn| {
            let picture = drawn.on_vulkan(&drawn.made.bytes)?;
            let share = drawn.apart(&picture)?;
            Some((drawn, picture, share))
        }) else {
            continue;
        };
        count[0] += 1;
        let name = source.fragment.file_stem().unwrap_or_default().to_string_lossy();
        if share <= ALLOWED {
            count[1] += 1;
        } else if drawn.is_precision(&picture) {
            count[2] += 1;
        } else if UNDECIDED.iter().any(|(known, _)| name == *known) {
            count[3] += 1;
        } else {
            wrong.push(format!("{share:.1} % {}", source.fragment.display()));
        }
        let Ok(text) = std::fs::read_to_string(&source.fragment) else {
            continue;
        };
        if share > 0.0 || source.vertex == source.fragment || planted(&text).next().is_none() {
            continue;
        }
        let shows = |text: String| Some(Drawn::new(source, Some(&text))?.apart(&picture)? > ALLOWED);
        let shown: Vec<bool> = planted(&text).filter_map(shows).collect();
        faults += usize::from(!shown.is_empty());
        found += usize::from(shown.contains(&true));
    }
    let mut pairs = 0;
    for (corpus, [drawn, same, halves, undecided]) in &counts {
        println!(
            "{corpus}: {drawn} pairs on the emulator and on lavapipe: {same} look the same, {halves} differ by half precision, {undecided} undecided"
        );
        pairs += drawn;
    }
    println!("{pairs} pairs; planted faults show in {found} of {faults}");
    assert!(wrong.is_empty(), "{wrong:#?}");
    // Many products have an operand of 1, or do not reach the picture.
    assert!(3 * found >= faults && found > 0, "{found} of {faults}");
}
