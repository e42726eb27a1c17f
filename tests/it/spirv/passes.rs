//! Passes over modules: on a device a module does behind each what it does before it.

use crate::common::{data, files};
use script::run::{Code, Compile, CompileError, Text, Verdict};
use skrymir::loader::spirv::transform::{PASSES, Pass, bounded, build, for_hlsl, with_signs};
use skrymir::loader::spirv::{self, validate};
use skrymir::runner::script::Compiler;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The shaders of a script behind a pass.
struct Behind {
    pass: Pass,
    /// Modules that it changed.
    changed: AtomicUsize,
    /// Makes every sum of floats a difference, as a control: one of integers may count a loop or be an index, and lead a
    /// shader out of its arrays.
    wrong: bool,
}

impl Compile for Behind {
    fn compile(&self, text: &Text<'_>) -> Result<Code, CompileError> {
        let code = Compiler.compile(text)?;
        let mut words = (self.pass)(&code.words).map_err(|error| CompileError::Unsupported(error.to_string()))?;
        let report = validate(&words);
        assert!(report.is_valid(), "{report:?}");
        self.changed
            .fetch_add(usize::from(words != code.words), Ordering::Relaxed);
        if self.wrong {
            const F_ADD: u16 = 129;
            const F_SUB: u16 = 131;
            let mut all = words[..5].to_vec();
            for one in spirv::instructions(&words).flatten() {
                match one.opcode {
                    F_ADD => all.extend(build(F_SUB, one.operands())),
                    _ => all.extend(one.words),
                }
            }
            words = all;
        }
        Ok(Code { words, ..code })
    }
}

/// Verdicts on the scripts of the repository that hold, with their shaders behind a pass, and how many modules it changed.
fn run(context: &vulkan::Context, pass: Pass, wrong: bool) -> (Vec<(String, Verdict)>, usize) {
    let behind = Behind {
        pass,
        changed: AtomicUsize::new(0),
        wrong,
    };
    let scripts = files(&data("script/run"), "amber").into_iter();
    let scripts = scripts.filter(|path| !path.to_string_lossy().contains("expect_fail"));
    let verdicts = scripts.filter_map(|path| {
        let script = script::parse(&std::fs::read_to_string(&path).expect("a file")).expect("a script");
        let before = script::run::run(context, &Compiler, &script, &path).verdict;
        let after = script::run::run(context, &behind, &script, &path).verdict;
        (before == Verdict::Holds).then(|| (path.display().to_string(), after))
    });
    (verdicts.collect(), behind.changed.into_inner())
}

#[test]
fn modules_do_behind_each_pass_what_they_do_before_it() {
    let options = vulkan::Options {
        everything: Some(Vec::new()),
        ..vulkan::Options::default()
    };
    let context = vulkan::Context::new(&options).expect("a device");
    for (name, pass) in PASSES
        .iter()
        .chain(&[("bounded", bounded as Pass), ("signs", with_signs), ("hlsl", for_hlsl)])
    {
        let [(leave_out, _), (kill, _), ..] = PASSES;
        assert_eq!([leave_out, kill], ["leave-out", "kill"]);
        // What it leaves out is what `kill` has taken the use of.
        let both: Pass = |words| PASSES[1].1(words).and_then(|words| PASSES[0].1(&words));
        let pass = if *name == leave_out { both } else { *pass };
        let (verdicts, changed) = run(&context, pass, false);
        assert!(verdicts.len() >= 6, "{verdicts:?}");
        // Lengths that are specialisation constants cannot be bounded.
        let is_beyond = |path: &str| *name == "bounded" && path.ends_with("specialised.amber");
        let mut others = verdicts.iter().filter(|(path, _)| !is_beyond(path));
        let apart = others.find(|(_, verdict)| *verdict != Verdict::Holds);
        assert!(apart.is_none(), "{name}: {apart:?}");
        assert!(changed > 0, "{name} changes no module");
        println!("{name}: {} scripts hold, {changed} modules changed", verdicts.len());
    }
    let (verdicts, _) = run(&context, |words| Ok(words.to_vec()), true);
    let fails = |verdict: &Verdict| matches!(verdict, Verdict::Fails(..));
    assert!(verdicts.iter().any(|(_, verdict)| fails(verdict)), "{verdicts:?}");
}
