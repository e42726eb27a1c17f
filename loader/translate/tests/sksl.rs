//! Constructs that naga would evaluate or reject are translated: constants without a value, functions that GLSL lacks.
#![allow(missing_docs)]

use skrymir_translate as translate;

use loader::sksl::{Builder, Command, Operator, ProgramKind, Statement, Tree};

fn valid(tree: &Tree) -> Vec<u32> {
    let words = translate::sksl::to_stage(tree).unwrap();
    valid_words(&words);
    words
}

fn valid_words(words: &[u32]) {
    let validated = translate::validate::spirv_val::validate(words);
    assert!(!matches!(validated, Some(Err(_))), "{validated:?}");
}

/// A runtime shader that returns `function(value)` in every channel.
fn call(function: &str, value: f32) -> Tree {
    let mut b = Builder::new(ProgramKind::RUNTIME_SHADER);
    let at = b.parameter("float2", "p", 10009);
    let main = b.function("half4", "main", &[at]);
    let value = b.float("half", value);
    let value = b.call("half", function, &[value]);
    let splat = b.construct(Command::CONSTRUCTOR_SPLAT, "half4", &[value]);
    let value = b.statement(Statement::Return(Some(splat)));
    b.define(main, &[value]).finish()
}

#[test]
fn undefined_constants_are_left_to_run_time() {
    valid(&call("sqrt", -1.0));
    valid(&call("inversesqrt", -1.0));
    valid(&call("sqrt", 4.0));
}

#[test]
fn non_finite_literals_come_from_their_bits() {
    for value in [f32::INFINITY, f32::NEG_INFINITY, f32::NAN] {
        let mut b = Builder::new(ProgramKind::RUNTIME_SHADER);
        let at = b.parameter("float2", "p", 10009);
        let main = b.function("half4", "main", &[at]);
        let (value, one) = (b.float("half", value), b.float("half", 1.0));
        let sum = b.binary(value, Operator::PLUS, one);
        let splat = b.construct(Command::CONSTRUCTOR_SPLAT, "half4", &[sum]);
        let value = b.statement(Statement::Return(Some(splat)));
        valid(&b.define(main, &[value]).finish());
    }
}

#[test]
fn a_continue_in_do_while_reaches_the_test() {
    for body in [
        "if (x > 2.0) continue; x += 0.5;",
        "x += 1.0; if (x > 2.0) { continue; } x += 0.5;",
    ] {
        let text = format!(
            "#version 460\nlayout(location = 0) out vec4 c;\nvoid main() {{ float x = 0.0; do {{ {body} }} while (x < 8.0 && x > 0.0); c = vec4(x); }}"
        );
        let source = translate::Source::new("a.frag", text.as_bytes()).unwrap();
        let wgsl = translate::write(
            &translate::read(&source).unwrap(),
            translate::Target::Wgsl,
            &Default::default(),
        );
        let wgsl = String::from_utf8(wgsl.unwrap()).unwrap();
        let test = wgsl.split("continuing").nth(1).expect("what a continue leads to");
        assert!(test.contains("break if"), "{wgsl}");
        valid_words(&translate::compile(&source, loader::vbc::Stage::Frag).unwrap());
    }
}

/// `do { continue; } while (false)` runs once.
#[test]
fn a_do_while_of_a_continue_ends() {
    let mut b = Builder::new(ProgramKind::RUNTIME_SHADER);
    let at = b.parameter("float2", "p", 10009);
    let main = b.function("half4", "main", &[at]);
    let again = b.statement(Statement::Continue);
    let (low, high) = (b.float("half", 2.0), b.float("half", 1.0));
    let never = b.binary(low, Operator::LT, high);
    let turn = b.statement(Statement::Do {
        body: again,
        test: never,
    });
    let one = b.float("half", 1.0);
    let splat = b.construct(Command::CONSTRUCTOR_SPLAT, "half4", &[one]);
    let value = b.statement(Statement::Return(Some(splat)));
    let tree = b.define(main, &[turn, value]).finish();
    valid(&tree);
    let module = translate::sksl::to_naga(&tree).unwrap();
    assert!(
        format!("{module:?}").contains("sk_again"),
        "the test is made where a continue leads"
    );
}

#[test]
fn colour_space_functions_are_the_srgb_curve() {
    for function in ["toLinearSrgb", "fromLinearSrgb"] {
        let mut b = Builder::new(ProgramKind::RUNTIME_SHADER);
        let at = b.parameter("float2", "p", 10009);
        let main = b.function("half4", "main", &[at]);
        let (half, one) = (b.float("half", 0.5), b.float("half", 1.0));
        let grey = b.construct(Command::CONSTRUCTOR_SPLAT, "half3", &[half]);
        let rgb = b.call("half3", function, &[grey]);
        let value = b.construct(Command::CONSTRUCTOR_COMPOUND, "half4", &[rgb, one]);
        let value = b.statement(Statement::Return(Some(value)));
        valid(&b.define(main, &[value]).finish());
    }
}

/// Every runtime effect of the corpus, if it is present: those that do not translate have no `main`.
#[test]
fn runtime_effects_of_the_corpus() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus/sksl/programs");
    let Ok(entries) = std::fs::read_dir(folder) else {
        println!("corpus sksl: not here");
        return;
    };
    let (mut all, mut good, mut without_main) = (0, 0, 0);
    for path in entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|e| e == "bin"))
    {
        let Ok(tree) = loader::sksl::read(&std::fs::read(&path).unwrap()) else {
            continue;
        };
        all += 1;
        match translate::sksl::to_stage(&tree) {
            Ok(words) => {
                let validated = translate::validate::spirv_val::validate(&words);
                assert!(!matches!(validated, Some(Err(_))), "{}: {validated:?}", path.display());
                good += 1;
            }
            Err(error) if error.to_string().contains("a program without main") => without_main += 1,
            Err(error) => panic!("{}: {error}", path.display()),
        }
    }
    println!("{good} of {all} programs translate, {without_main} have no main");
}
