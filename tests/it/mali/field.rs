//! Shaders of other projects, compiled and drawn on every engine: the pictures are equal to the bit. The ordinary tests
//! use a sample, `SKRYMIR_FIELD` (`tests/field.sh`) all of them.

use crate::common;
use emulator::exec::Engine;
use emulator::exec::native::Native;
use emulator::exec::scalar::Scalar;
use emulator::exec::wide::Wide;
use skrymir::mali::{self, Pair};
use skrymir::scene::{Numbers, Scene, Slot};
use std::path::Path;

/// The ordinary tests draw one pair in this many.
const SAMPLE: usize = 12;

/// Draws a pair on every engine: whether all pictures are equal; `None` without a picture.
fn agree(vertex: &Path, fragment: &Path, scene: &Scene) -> Option<bool> {
    let pair = Pair::load(vertex, fragment, &Default::default()).ok()?;
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
    use skrymir::compiler::{Input, Kind, Options, Stage, compile};
    use skrymir::translate::frontend;
    let Some(folder) = common::corpus("field/retro") else {
        return;
    };
    if !frontend::is_available() {
        return;
    }
    let (mut valid, mut compiled, mut wrong) = (0, 0, Vec::new());
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
            valid += usize::from(judged);
            compiled += usize::from(outcome.is_ok());
            let fits = match &outcome {
                Ok(_) => judged,
                Err(error) => judged == (error.kind() != Kind::Invalid),
            };
            if !fits {
                wrong.push((path, judged, outcome.err().map(|error| error.to_string())));
            }
        }
    }
    println!("{valid} stages of field/retro are valid to glslang, {compiled} are compiled");
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

/// Percentage of pixels that differ more than half floats explain, on the emulator and, through a VBC, on lavapipe;
/// `None` if either rejects the pair.
fn apart(vertex: &Path, fragment: &Path, text: &str, scene: &Scene) -> Option<f64> {
    use skrymir::harness::{self, Settings};
    use skrymir::loader::mbs::SymbolType;
    use skrymir::packed::{self, File};
    use skrymir::picture::{Picture, compare};
    let folder = tempfile::tempdir().ok()?;
    // The emulator's program may come from another text.
    let other = folder.path().join("a.frag");
    std::fs::write(&other, text).ok()?;
    let pair = Pair::load(vertex, &other, &Default::default()).ok()?;
    let mut own = scene.clone();
    let [(_, symbols), ..] = pair.fragment.tables();
    let samplers = symbols.iter().filter(|symbol| symbol.kind == SymbolType::SAMPLER_2D);
    own.slots = samplers.map(|sampler| (sampler.name(), one_colour())).collect();
    let emulated = mali::run(&mali::prepare(&pair, &own).ok()?, Box::new(Scalar), 1).ok()?;
    let bytes = [vertex, fragment].map(|path| std::fs::read(path).unwrap_or_default());
    let file = |path, bytes| File {
        path,
        bytes,
        entries: &[],
        settings: skrymir::translate::frontend::Settings::NONE,
    };
    let made = packed::vbc(&file(vertex, &bytes[0]), Some(&file(fragment, &bytes[1]))).ok()?;
    let loaded = harness::load_of(device(), &made.bytes, &made.sources, Settings::default()).ok()?;
    let drawn = loaded.draw(&own, &[], None).ok()?;
    let picture = Picture::of(drawn.frame.targets.first()?);
    Some(compare(&emulated, &picture, 16).ok()?.share())
}

/// Pairs match lavapipe's picture of the same source; a planted fault, a sum for a product in the compiled fragment
/// shader, is found.
#[test]
fn retro_shaders_look_as_on_lavapipe() {
    let Some(folder) = common::corpus("field/retro") else {
        return;
    };
    let scene = Scene {
        size: Some([64, 64]),
        ..Scene::default()
    };
    let (mut drawn, mut same, mut planted, mut found, mut far) = (0, 0, 0, 0, Vec::new());
    for vertex in common::files(&folder, "vert")
        .into_iter()
        .step_by(common::field_step(SAMPLE))
    {
        let fragment = vertex.with_extension("frag");
        let Ok(text) = std::fs::read_to_string(&fragment) else {
            continue;
        };
        let Some(share) = apart(&vertex, &fragment, &text, &scene) else {
            continue;
        };
        drawn += 1;
        match share <= 1.0 {
            true => same += 1,
            false => far.push(format!("{share:.1} % {}", fragment.display())),
        }
        // Preferably in what is drawn last.
        if let (true, Some(at)) = (share == 0.0, text.rfind(" * ")) {
            let text = format!("{} + {}", &text[..at], &text[at + 3..]);
            if let Some(share) = apart(&vertex, &fragment, &text, &scene) {
                planted += 1;
                found += usize::from(share > 1.0);
            }
        }
    }
    println!(
        "{drawn} pairs of field/retro on the emulator and on lavapipe: {same} look the same; {found} of {planted} planted faults show"
    );
    far.iter().for_each(|line| println!("  {line}"));
    assert!(10 * same >= 7 * drawn, "{same} of {drawn}");
    assert!(2 * found >= planted && found > 0, "{found} of {planted}");
}
