//! Hardware hypotheses: each switch has its documented effect, keeps verified results, and changes the conformance
//! suite's cases that it is meant to explain (docs/spec/open-questions.md).

use super::conformance::{drawn, pictures, tolerance};
use super::levels::{descriptor, level, memory};
use super::replay::{TOLERANCE, difference, picture, wanted};
use crate::common;
use emulator::exec::configured::with_quirks;
use emulator::exec::inputs::Inputs;
use emulator::exec::native::Native;
use emulator::exec::scalar::{Scalar, ScalarWithQuirks};
use emulator::exec::wide::Wide;
use emulator::exec::{Engine, FragmentContext, FragmentProgram, Fragments, Quad};
use emulator::memory::Memory;
use emulator::silicon::{Silicon, Switch};
use emulator::texture::{Descriptor, Lod, Texture};
use std::path::Path;
use utgard::pp;
use utgard::texture::Wrap;

const NONE: Silicon = Silicon::from_switches(&[]);

fn on(switch: Switch) -> Silicon {
    Silicon::from_switches(&[switch])
}

/// Recordings with correct pictures stay correct with any switch.
#[test]
fn no_switch_breaks_a_recording() {
    let Some(folder) = common::corpus("mali") else { return };
    let (mut all, mut changed) = (0, 0);
    for path in common::recordings(&folder) {
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let bytes = std::fs::read(&path).unwrap();
        let on_silicon = |silicon| picture(&bytes, with_quirks(Box::<Native>::default(), silicon), 1);
        let (plain, want) = (on_silicon(NONE), wanted(&folder, &name));
        let off = |have: &_| difference(have, &want).1;
        for switch in Switch::ALL {
            let have = on_silicon(on(*switch));
            let fine = off(&have) <= TOLERANCE.max(off(&plain));
            assert!(fine, "{name} with {}: {} off", switch.name(), off(&have));
            changed += usize::from(have != plain);
            all += 1;
        }
    }
    println!("{all} pictures with a switch on are as near as without; {changed} of them are others");
    assert!(all == 72 * Switch::ALL.len() && changed > 0);
}

/// Pictures of a case that are within the suite's tolerance.
fn within(case: &Path, silicon: Silicon) -> usize {
    let name = case.file_name().unwrap().to_str().unwrap();
    let tolerance = tolerance(name, &std::fs::read_to_string(case.join("text.txt")).unwrap());
    let drawn = drawn(&case.join("device0.trace"), silicon);
    let mask = pictures(case, &["err0"]).pop().filter(|_| name.contains("projected"));
    let wanted = pictures(case, &["ref", "Reference"]);
    let near = |want: &&_| drawn.iter().any(|drawn| drawn.is_near(want, mask.as_ref(), tolerance));
    wanted.iter().filter(near).count()
}

/// Cases with the number of pictures within the tolerance, without and with a switch.
const CHANGED: [(&str, Switch, usize, usize); 2] = [
    (
        "shaders__random__all_features__fragment__16",
        Switch::InfinityIsTexelZero,
        1,
        0,
    ),
    // The only infinity no longer exists then.
    (
        "shaders__random__all_features__fragment__16",
        Switch::HalvesHaveNoInfinity,
        1,
        0,
    ),
];

#[test]
fn switches_change_the_cases_that_they_explain() {
    let Some(folder) = common::corpus("mali/conformance") else {
        return;
    };
    let mut found = Vec::new();
    let mut cases: Vec<_> = std::fs::read_dir(&folder)
        .unwrap()
        .flatten()
        .map(|entry| entry.path())
        .collect();
    cases.sort();
    for case in &cases {
        let name = case.file_name().unwrap().to_str().unwrap().to_owned();
        let without = within(case, NONE);
        for switch in Switch::ALL {
            let with = within(case, on(*switch));
            if with != without {
                println!("{name}, {}: {without}, {with}", switch.name());
                found.push((name.clone(), *switch, without, with));
            }
        }
    }
    let wanted = CHANGED.map(|(name, switch, without, with)| (name.to_owned(), switch, without, with));
    assert_eq!(found, wanted);
}

/// A texture of the levels' memory, on some silicon.
fn texture(memory: &Memory, descriptor: Descriptor, silicon: Silicon) -> Texture<'_> {
    Texture::new(memory, descriptor).unwrap().with_quirks(silicon)
}

#[test]
fn infinite_coordinates_lose_their_sign() {
    let memory = memory();
    let engines: [Box<dyn Engine>; 3] = [Box::new(Scalar), Box::<Wide>::default(), Box::<Native>::default()];
    let column = |coordinate: f32, silicon| {
        let mut greens = Vec::new();
        for (engine, (levels, filter)) in engines.iter().flat_map(|engine| {
            let ways = [(0.0, [true, true]), (0.0, [false, false]), (4.0, [true, true])];
            ways.map(|way| (engine, way))
        }) {
            // Green is the parity of a column; the largest level is returned, or the only one.
            let mut clamped = descriptor(filter, false, 0.0, false);
            (clamped.wrap, clamped.lod) = ([Wrap::Clamp; 3], [0.0, levels]);
            let mut inputs = Inputs::default();
            (inputs.varyings[0][0].base, inputs.varyings[0][1].base) = (coordinate, 0.3);
            let look = "load.v $0.x 1.x\nload.v ^discard.xy 0.xy, texld.l 0 $0.x, mov.v1 $1 ^texture, sync, stop";
            let clamped = texture(&memory, clamped, silicon);
            greens.extend(quad(&**engine, look, clamped, &inputs).map(|[_, green, ..]| green));
        }
        assert!(
            greens.iter().all(|green| *green == greens[0]),
            "{coordinate}: {greens:?}"
        );
        greens[0]
    };
    let switch = on(Switch::InfinityIsTexelZero);
    for (coordinate, without, with) in [
        (f32::NEG_INFINITY, 1.0, 0.0),
        (f32::INFINITY, 1.0, 0.0),
        (f32::NAN, 0.0, 0.0),
        (-3.0, 0.0, 0.0),
        (3.0, 1.0, 1.0),
    ] {
        assert_eq!(
            [column(coordinate, NONE), column(coordinate, switch)],
            [without, with],
            "{coordinate}"
        );
    }
}

#[test]
fn levels_are_blended_in_eight_steps() {
    let memory = memory();
    let steps = |silicon| {
        let texture = texture(&memory, descriptor([true, true], true, 0.5, false), silicon);
        let levels: std::collections::BTreeSet<i32> = (0..=100)
            .map(|step| (level(&texture, 1.0 + step as f32 / 100.0) * 32.0).round() as i32)
            .collect();
        levels.len() - 1
    };
    assert_eq!([steps(NONE), steps(on(Switch::EightLevelWeights))], [16, 8]);
}

/// Number of different colours in a number of steps from the centre of a column of texels to the next.
fn steps(count: u32, first: f32, wrap: Wrap, silicon: Silicon) -> usize {
    let memory = memory();
    let mut wrapped = descriptor([false, false], false, 0.0, false);
    (wrapped.wrap, wrapped.lod) = ([wrap; 3], [0.0; 2]);
    let texture = texture(&memory, wrapped, silicon);
    let greens = (0..=count).map(|step| {
        let quad = [[first + (0.5 + step as f32 / count as f32) / 16.0, 0.28, 0.0, 0.0]; 4];
        texture.sample(&quad, &[Lod::Bias(0.0); 4], false)[0][1].to_bits()
    });
    greens.collect::<std::collections::BTreeSet<_>>().len() - 1
}

#[test]
fn texels_are_blended_in_as_many_steps_as_eight_bits_have() {
    let switch = on(Switch::EightBitTexelWeights);
    for wrap in [Wrap::Repeat, Wrap::Clamp] {
        let have = [NONE, switch].map(|silicon| steps(1024, 0.0, wrap, silicon));
        assert_eq!(have, [1024, 256], "{wrap:?}");
    }
}

#[test]
fn texels_outside_are_blended_in_sixteen_steps() {
    let switch = on(Switch::SixteenTexelWeights);
    for (first, wrap, with) in [
        (0.0, Wrap::Mirror, 64),
        (1.0, Wrap::Mirror, 16),
        (1.0, Wrap::Repeat, 64),
    ] {
        assert_eq!(
            [NONE, switch].map(|silicon| steps(64, first, wrap, silicon)),
            [64, with],
            "{first} {wrap:?}"
        );
    }
}

#[test]
fn faces_of_a_cube_join() {
    let memory = memory();
    let faces = |at: [f32; 3], silicon| {
        let mut cube = descriptor([false, false], false, 0.0, true);
        (cube.wrap, cube.lod) = ([Wrap::Clamp; 3], [0.0; 2]);
        let [x, y, z] = at;
        // Blue is the face's number.
        let texels = texture(&memory, cube, silicon).sample(&[[x, y, z, 0.0]; 4], &[Lod::Bias(0.0); 4], true);
        (texels[0][2] * 255.0 * 100.0).round() / 100.0
    };
    let apart = on(Switch::CubeFacesApart);
    // The border between the faces +x (0) and -z (5); then the middle of -z.
    for (at, joined, own) in [
        ([1.0, 0.1, -0.999_99], 2.5, 0.0),
        ([0.999_99, 0.1, -1.0], 2.5, 5.0),
        ([0.1, 0.1, -1.0], 5.0, 5.0),
    ] {
        assert_eq!([faces(at, NONE), faces(at, apart)], [joined, own], "{at:?}");
    }
}

/// Colours of a quad's fragments on an engine.
fn quad(engine: &dyn Engine, text: &str, texture: Texture<'_>, inputs: &Inputs) -> [[f32; 4]; 4] {
    let textures = [texture];
    let words = pp::assemble(text).unwrap_or_else(|error| panic!("{error}"));
    let program = FragmentProgram::read(&words).unwrap();
    let context = FragmentContext {
        textures: &textures,
        color_register: 1,
        ..FragmentContext::new(&program)
    };
    let mut out = Box::<Fragments>::default();
    let quads = [Quad { x: 0, y: 0, live: 15 }];
    engine.fragments(&context, inputs, &quads, &mut out).unwrap();
    std::array::from_fn(|lane| out.color.map(|channel| channel[lane]))
}

/// Reds of a quad's fragments, for a program with a texture whose levels are 50 apart.
fn reds(engine: &dyn Engine, text: &str) -> [i32; 4] {
    let memory = memory();
    let texture = Texture::new(&memory, descriptor([true, true], false, 0.0, false)).unwrap();
    // Varying 0 is one texel per pixel; varying 1 is 2, and half as much to the right.
    let mut inputs = Inputs {
        flat: true,
        ..Inputs::default()
    };
    inputs.varyings[0][0].dx = 1.0 / 16.0;
    inputs.varyings[0][1].dy = 1.0 / 16.0;
    (inputs.varyings[1][0].base, inputs.varyings[1][0].dx) = (3.0, -2.0);
    quad(engine, text, texture, &inputs).map(|[red, ..]| (red * 255.0 / 50.0).round() as i32)
}

/// A plain look-up whose bias is in `$0.x`.
const BIASED: &str = "load.v ^discard.xy 0.xy, texld.b 0 $0.x, mov.v1 $1 ^texture, sync, stop";

/// On every engine a plain look-up reads its bias before the varying unit of the instruction in front has written it.
#[test]
fn a_bias_is_read_before_the_varying_unit_writes_it() {
    let written = format!("load.v $0.x 1.x\n{BIASED}");
    let computed = format!("load.v $0.x 1.x\nmov.v1 $0 $0\n{BIASED}");
    let beside = format!("load.v $0.x 1.x, mov.v1 $2 $1\n{BIASED}");
    let twice = format!("load.v $0.x 1.x\nload.v $0.x 1.y\n{BIASED}");
    let cube = written.replace("texld.b", "texld.cube.b");
    let after = ScalarWithQuirks(on(Switch::BiasAfterVarying));
    let wanted = reds(&after, &written);
    assert!(wanted[0] > 0 && wanted[0] != wanted[1], "{wanted:?}");
    let engines: [&dyn Engine; 3] = [&Scalar, &Wide::default(), &Native::default()];
    for engine in engines {
        let name = engine.name();
        assert_eq!(reds(engine, &written), [0; 4], "{name}: what the register was");
        assert_eq!(reds(engine, &computed), wanted, "{name}: an adder's result is there");
        assert_eq!(reds(engine, &beside), wanted, "{name}: so it is beside an adder");
        assert_eq!(reds(engine, &twice), wanted, "{name}: the first of two is there");
        assert_eq!(reds(engine, &cube), reds(&after, &cube), "{name}: a cube's is there");
    }
}

#[test]
fn a_quad_may_have_one_bias() {
    let computed = format!("load.v $0.x 1.x\nmov.v1 $0 $0\n{BIASED}");
    let shared = reds(&ScalarWithQuirks(on(Switch::OneBiasPerQuad)), &computed);
    let own = reds(&Scalar, &computed);
    assert!(own[0] != own[1] && shared == [own[0]; 4], "{own:?} {shared:?}");
}
