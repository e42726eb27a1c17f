//! The parameters and results that a main function has in each kind of program.

use loader::sksl::*;

/// Whether a program is valid whose main has parameters with these numbers, and this result.
fn is_valid(kind: ProgramKind, built_ins: &[i16], returns: &'static str) -> bool {
    let mut b = Builder::new(kind);
    let parameters: Vec<_> = built_ins
        .iter()
        .map(|number| match number {
            10009 => b.parameter("float2", "p", *number),
            _ => b.parameter("half4", "c", *number),
        })
        .collect();
    let main = b.function(returns, "main", &parameters);
    let half = b.float("half", 0.5);
    let value = b.construct(Command::CONSTRUCTOR_SPLAT, returns, &[half]);
    let value = b.statement(Statement::Return(Some(value)));
    validate(&b.define(main, &[value]).finish()).is_valid()
}

#[test]
fn main_has_the_parameters_and_result_of_its_kind() {
    const PLACE: i16 = 10009;
    const INPUT: i16 = 10010;
    const BELOW: i16 = 10011;
    for (kind, right, wrong) in [
        (
            ProgramKind::RUNTIME_COLOR_FILTER,
            &[INPUT][..],
            &[&[][..], &[PLACE], &[INPUT, BELOW]][..],
        ),
        (ProgramKind::RUNTIME_SHADER, &[PLACE], &[&[], &[INPUT], &[PLACE, INPUT]]),
        (ProgramKind::PRIVATE_RUNTIME_SHADER, &[PLACE], &[&[], &[INPUT]]),
        (
            ProgramKind::RUNTIME_BLENDER,
            &[INPUT, BELOW],
            &[&[], &[INPUT], &[BELOW, INPUT], &[INPUT, INPUT]],
        ),
    ] {
        assert!(is_valid(kind, right, "half4"), "{kind:?}");
        for returns in ["half3", "half2", "int4"] {
            assert!(!is_valid(kind, right, returns), "{kind:?}: {returns}");
        }
        for built_ins in wrong {
            assert!(!is_valid(kind, built_ins, "half4"), "{kind:?}: {built_ins:?}");
        }
    }
}
