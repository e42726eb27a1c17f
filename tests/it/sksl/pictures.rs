//! Programs drawn on a Vulkan device.
//!
//! Two references: a formula for our own shader, and an interpreter of SkSL trees that shares no code with the
//! translation, for the corpus and for random programs. Each has its negative control: an interpreter that evaluates
//! one operator as another must produce other pictures.

use crate::common;

use super::random_program;

use super::eval::Eval;
use super::value::{Num, Stop, Value};
use loader::sksl::{self, Operator, Tree, modifier};
use skrymir::harness;
use skrymir::picture::Picture;
use skrymir::scene::Scene;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

const SIZE: usize = 8;
/// Arguments of filters and blenders.
const INPUT: [f32; 4] = [0.2, 0.6, 0.4, 0.8];
const DEST: [f32; 4] = [0.5, 0.1, 0.3, 0.9];

/// Draws a program; uniforms that it does not use are omitted.
fn draw(tree: &Tree, uniforms: &HashMap<String, Value>) -> Result<Picture, String> {
    let bytes = translate::sksl::to_vbc(tree).map_err(|e| e.to_string())?;
    let file = loader::vbc::read(&bytes).map_err(|e| e.to_string())?;
    let members = file.uniform().map(|u| u.members().map(|m| m.name.to_vec()).collect());
    let members: Vec<Vec<u8>> = members.unwrap_or_default();
    let mut text = format!("size = [{SIZE}, {SIZE}]\n[uniform]\n");
    let mut all = uniforms.clone();
    all.insert("sk_Color".into(), Value::floats(&INPUT));
    all.insert("sk_Dest".into(), Value::floats(&DEST));
    for member in members {
        let name = String::from_utf8_lossy(&member).into_owned();
        let mut numbers = Vec::new();
        flatten(all.get(&name).ok_or(format!("no value for {name}"))?, &mut numbers);
        text += &format!("\"{name}\" = [{}]\n", numbers.join(", "));
    }
    let scene = Scene::parse(&text, Path::new("")).map_err(|error| error.to_string())?;
    let drawn = harness::draw(common::context(), &bytes, &scene).map_err(|e| e.to_string())?;
    Ok(Picture::of(&drawn.frame.targets[0]))
}

fn flatten(value: &Value, out: &mut Vec<String>) {
    match value {
        Value::Nums { all, .. } => out.extend(all.iter().map(|n| match n {
            Num::F(x) => format!("{x:?}"),
            Num::I(x) => x.to_string(),
            Num::U(x) => x.to_string(),
            Num::B(x) => u8::from(*x).to_string(),
        })),
        Value::Parts(parts) => parts.iter().for_each(|part| flatten(part, out)),
        Value::Void => {}
    }
}

/// The largest difference of a channel, in steps of 1/255, except for the `spared` worst pixels.
fn difference(picture: &Picture, eval: &mut Eval, spared: usize) -> Result<f64, Stop> {
    let mut worst = Vec::new();
    for (i, pixel) in picture.rgba.chunks(4).enumerate() {
        let at = [(i % SIZE) as f32 + 0.5, (i / SIZE) as f32 + 0.5];
        let right = eval.color(at, &Value::floats(&INPUT), &Value::floats(&DEST))?;
        let off = pixel.iter().zip(right).map(|(ours, right)| {
            // NaN may become any colour.
            let right = f64::from(if right.is_nan() {
                f32::from(*ours) / 255.0
            } else {
                right
            })
            .clamp(0.0, 1.0);
            (f64::from(*ours) - right * 255.0).abs()
        });
        worst.push(off.fold(0.0, f64::max));
    }
    worst.sort_by(f64::total_cmp);
    Ok(worst[worst.len() - 1 - spared])
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
    let uniforms = HashMap::from([("tint".to_owned(), Value::floats(&[1.0, 0.5, 0.25, 1.0]))]);
    let picture = draw(&tree, &uniforms).unwrap();
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

/// Members of structs with a changed layout keep their values.
#[test]
fn structs_with_gaps_are_drawn_as_the_interpreter_has_them() {
    let (tree, none) = (super::samples::narrow(), HashMap::new());
    let picture = draw(&tree, &none).unwrap();
    assert!(difference(&picture, &mut Eval::new(&tree, &none), 0).unwrap() <= 1.0);
    let mut control = Eval::new(&tree, &none);
    control.wrong = Some((Operator::STAR, Operator::PLUS));
    assert!(
        difference(&picture, &mut control, 0).unwrap() > 1.0,
        "the negative control passes"
    );
}

/// `half4 main(half4 paint, float[2] weights) { return paint * weights[1]; }`: the host's arguments are uniforms.
#[test]
fn what_the_host_fills_in_is_drawn_as_the_interpreter_has_it() {
    use sksl::*;
    let mut b = Builder::new(ProgramKind::GENERIC);
    let paint = b.parameter("half4", "paint", -1);
    let weights = b.parameter("float[2]", "weights", -1);
    let main = b.function("half4", "main", &[paint, weights]);
    let (paint, weights) = (b.read(paint), b.read(weights));
    let weight = b.element(weights, 1);
    let product = b.binary(paint, Operator::STAR, weight);
    let value = b.statement(Statement::Return(Some(product)));
    let tree = b.define(main, &[value]).finish();
    let pair = |a: f32, b: f32| Value::Parts(vec![Value::floats(&[a]), Value::floats(&[b])]);
    let uniforms = |second: f32| {
        let paint = Value::floats(&[0.25, 0.5, 0.75, 1.0]);
        HashMap::from([("paint".to_owned(), paint), ("weights".to_owned(), pair(0.125, second))])
    };
    let (right, wrong) = (uniforms(0.5), uniforms(0.75));
    let picture = draw(&tree, &right).unwrap();
    assert!(difference(&picture, &mut Eval::new(&tree, &right), 0).unwrap() <= 1.0);
    let control = difference(&picture, &mut Eval::new(&tree, &wrong), 0).unwrap();
    assert!(control > 1.0, "the negative control passes");
}

/// Values of a program's uniforms: those of Skia's own harness if it has some and `known` is set, else numbers derived
/// from the name.
fn values(tree: &Tree, known: bool) -> HashMap<String, Value> {
    let eval_types = HashMap::new();
    let eval = Eval::new(tree, &eval_types);
    let mut made = HashMap::new();
    for (_, symbol) in tree.symbols.iter() {
        let sksl::Symbol::Variable {
            modifiers, name, ty, ..
        } = symbol
        else {
            continue;
        };
        if modifiers.flags & modifier::UNIFORM == 0 {
            continue;
        }
        let name = tree.strings[*name].to_owned();
        let Ok(mut value) = eval.zero(*ty) else { continue };
        let fixed: Option<&[f32]> = match name.as_str() {
            "colorGreen" => Some(&[0.0, 1.0, 0.0, 1.0]),
            "colorRed" => Some(&[1.0, 0.0, 0.0, 1.0]),
            "colorBlack" => Some(&[0.0, 0.0, 0.0, 1.0]),
            "colorWhite" => Some(&[1.0; 4]),
            "testInputs" => Some(&[-1.25, 0.0, 0.75, 2.25]),
            "unknownInput" => Some(&[1.0]),
            "testMatrix2x2" => Some(&[1.0, 2.0, 3.0, 4.0]),
            "testMatrix3x3" => Some(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]),
            _ => None,
        };
        let seed: u32 = name.bytes().fold(17, |h, b| h.wrapping_mul(31).wrapping_add(b.into()));
        fill(&mut value, fixed.filter(|_| known).unwrap_or(&[]), seed);
        made.insert(name, value);
    }
    made
}

fn fill(value: &mut Value, fixed: &[f32], seed: u32) {
    match value {
        Value::Nums { all, .. } => {
            for (i, n) in all.iter_mut().enumerate() {
                let own = seed.wrapping_mul(2_654_435_761).wrapping_add(i as u32 * 977) >> 8;
                let number = fixed.get(i).copied().unwrap_or((own % 37) as f32 / 16.0 - 0.5);
                *n = Num::F(number).to(n.class());
            }
        }
        Value::Parts(parts) => (0..).zip(parts).for_each(|(i, part)| fill(part, fixed, seed + i)),
        Value::Void => {}
    }
}

#[derive(Default)]
struct Tally {
    agree: usize,
    /// Programs whose picture differs from a wrong interpreter's.
    noticed: usize,
    differ: Vec<String>,
    silent: BTreeMap<String, usize>,
}

/// Draws one program and evaluates it.
fn judge(name: &str, tree: &Tree, known: bool, tally: &mut Tally) {
    let uniforms = values(tree, known);
    let mut eval = Eval::new(tree, &uniforms);
    // The interpreter first, because its rejection is cheaper.
    match eval.color([0.5; 2], &Value::floats(&INPUT), &Value::floats(&DEST)) {
        Err(Stop::Unknown(why)) => return *tally.silent.entry(why).or_default() += 1,
        Err(Stop::Discarded) | Ok(_) => {}
    }
    let picture = match draw(tree, &uniforms) {
        Ok(picture) => picture,
        Err(error) => return tally.differ.push(format!("{name}: not drawn: {error}")),
    };
    match difference(&picture, &mut eval, 0) {
        Ok(off) if off <= 1.5 => {
            tally.agree += 1;
            let wrong = [
                (Operator::PLUS, Operator::MINUS),
                (Operator::EQ, Operator::NE),
                (Operator::STAR, Operator::PLUS),
                (Operator::AND, Operator::OR),
            ];
            tally.noticed += usize::from(wrong.into_iter().any(|wrong| {
                let mut eval = Eval::new(tree, &uniforms);
                eval.wrong = Some(wrong);
                difference(&picture, &mut eval, 0).is_ok_and(|off| off > 1.5)
            }));
        }
        Ok(off) => tally.differ.push(format!(
            "{name}: {off:.1} steps off, known {known}, drawn {:?}",
            &picture.rgba[..4]
        )),
        Err(Stop::Unknown(why)) => *tally.silent.entry(why).or_default() += 1,
        Err(Stop::Discarded) => *tally.silent.entry("discard".into()).or_default() += 1,
    }
}

fn corpus_agrees(what: &str, kinds: std::ops::RangeInclusive<u8>, least: usize) {
    let Some(folder) = common::corpus("sksl") else { return };
    let mut tally = Tally::default();
    for path in common::files(&folder, "bin") {
        let Ok(tree) = sksl::read(&std::fs::read(&path).unwrap()) else {
            continue;
        };
        let fits = matches!(tree.header, sksl::Header::Program { kind, .. } if kinds.contains(&kind.0));
        if !fits || translate::sksl::to_vbc(&tree).is_err() {
            continue;
        }
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        judge(&name, &tree, true, &mut tally);
        // Once more with other values; fragment programs mostly have the same sources as effects.
        if name.contains("noopt") && kinds.contains(&5) {
            judge(&name, &tree, false, &mut tally);
        }
    }
    println!(
        "sksl: {} pictures of {what} are as the interpreter has them ({} of them not as wrong ones have), {} differ",
        tally.agree,
        tally.noticed,
        tally.differ.len()
    );
    tally.differ.iter().for_each(|line| println!("    {line}"));
    for (why, n) in &tally.silent {
        println!("{n:5}  not worked out: {why}");
    }
    assert!(tally.agree >= least, "{}", tally.agree);
    assert!(
        tally.noticed * 3 >= tally.agree,
        "the negative control: {}",
        tally.noticed
    );
    assert!(tally.differ.is_empty());
}

#[test]
fn runtime_effects_draw_what_the_interpreter_computes() {
    corpus_agrees("runtime effects", 4..=7, 500);
}

#[test]
fn fragment_programs_draw_what_the_interpreter_computes() {
    corpus_agrees("fragment programs", 0..=0, 450);
}

#[test]
fn random_programs_draw_what_the_interpreter_computes() {
    let (mut flat, mut noticed) = (0, 0);
    for seed in 1..=60 {
        let tree = random_program::program(seed);
        let bytes = sksl::write(&tree).unwrap();
        let report = sksl::check(&bytes);
        assert!(report.is_valid(), "{seed}: {report:?}\n{}", sksl::print(&tree).unwrap());
        let uniforms = values(&tree, false);
        let picture = draw(&tree, &uniforms).unwrap_or_else(|e| panic!("{seed}: {e}\n{}", sksl::print(&tree).unwrap()));
        // Steps in the program (a comparison, a floor) may fall on the other side in one or two pixels.
        let off = difference(&picture, &mut Eval::new(&tree, &uniforms), 2).unwrap();
        assert!(off <= 1.5, "{seed}: {off} steps off\n{}", sksl::print(&tree).unwrap());
        flat += usize::from(picture.rgba.chunks(4).all(|pixel| pixel == &picture.rgba[..4]));
        let mut wrong = Eval::new(&tree, &uniforms);
        wrong.wrong = Some((Operator::PLUS, Operator::MINUS));
        noticed += usize::from(difference(&picture, &mut wrong, 2).unwrap() > 1.5);
    }
    println!("sksl: 60 random programs agree, {flat} of one colour; {noticed} differ when + is taken for -");
    assert!(flat < 20 && noticed > 30);
}
