//! SkSL binaries.

use loader::sksl::{self, Builder, Command, Expression, Operator, ProgramKind, Statement, Tree};

/// Reading: no bytes cause a panic, `check` finds the reader's errors, and a read file can be printed as texts and
/// JSON.
pub fn read(bytes: &[u8]) {
    let report = sksl::check(bytes);
    let _ = sksl::detect(bytes);
    match sksl::read(bytes) {
        Ok(tree) => {
            sksl::print(&tree).unwrap();
            sksl::to_tree_text(bytes).expect("what was read can be shown");
            sksl::to_json(bytes).expect("what was read can be shown");
        }
        Err(error) => crate::refused_too(&report, &error),
    }
}

/// Writing: the same tree is read back, and written to the same bytes again.
pub fn write(bytes: &[u8]) {
    let Ok(tree) = sksl::read(bytes) else { return };
    let Ok(written) = sksl::write(&tree) else { return };
    let again = sksl::read(&written).expect("what was written can be read");
    assert_eq!(
        sksl::print(&again).unwrap(),
        sksl::print(&tree).unwrap(),
        "another program comes back"
    );
    assert!(sksl::write(&again).as_ref() == Ok(&written), "written twice, two files");
}

/// Use: a valid program is translated to SPIR-V that our rules accept, or rejected with a reason.
pub fn used(bytes: &[u8]) {
    let Ok(tree) = sksl::read(bytes) else { return };
    if !sksl::validate(&tree).is_valid() {
        return;
    }
    let Ok(words) = translate::sksl::to_stage(&tree) else {
        return;
    };
    let report = loader::spirv::validate(&words);
    let errors = report.diagnostics.iter().find(|_| !report.is_valid());
    assert!(
        errors.is_none(),
        "{}\n{}",
        errors.expect("one"),
        sksl::print(&tree).unwrap()
    );
}

/// An effect with an operator, a call, a loop and a branch.
fn effect() -> Tree {
    let mut b = Builder::new(ProgramKind::RUNTIME_SHADER);
    let tint = b.uniform("half4", "tint");
    let at = b.parameter("float2", "p", 10009);
    let main = b.function("half4", "main", &[at]);
    let (p, eighth) = (b.read(at), b.float("float", 0.125));
    let scaled = b.binary(p, Operator::STAR, eighth);
    let swapped = b.expression(Expression::Swizzle {
        base: scaled,
        components: [1, 0, 0, 0],
        count: 2,
    });
    let bounded = b.call("float2", "saturate", &[swapped]);
    let half = b.construct(Command::CONSTRUCTOR_COMPOUND_CAST, "half2", &[bounded]);
    let one = b.float("half", 1.0);
    let four = b.construct(Command::CONSTRUCTOR_COMPOUND, "half4", &[half, one, one]);
    let tint = b.read(tint);
    let product = b.binary(four, Operator::STAR, tint);
    let value = b.statement(Statement::Return(Some(product)));
    b.define(main, &[value]).finish()
}

/// Initial files.
pub fn seeds() -> Vec<Vec<u8>> {
    vec![sksl::write(&effect()).expect("a sound program")]
}
