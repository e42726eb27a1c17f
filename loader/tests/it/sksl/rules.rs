//! The rules of the language, one program for each: what a valid one has, and the rule that another breaks.

use loader::sksl::*;
use std::collections::BTreeSet;

type Rules = BTreeSet<&'static str>;

/// A statement of a condition and a body.
type Around = fn(Handle<Expression>, Handle<Statement>) -> Statement;

/// The rules that a runtime shader with these statements breaks. `main` returns a colour behind them.
fn shader(make: impl FnOnce(&mut Builder) -> Vec<Handle<Statement>>) -> Rules {
    let mut b = Builder::new(ProgramKind::RUNTIME_SHADER);
    let at = b.parameter("float2", "p", 10009);
    let main = b.function("half4", "main", &[at]);
    let mut body = make(&mut b);
    let one = b.float("half", 1.0);
    let color = b.construct(Command::CONSTRUCTOR_SPLAT, "half4", &[one]);
    body.push(b.statement(Statement::Return(Some(color))));
    broken(&b.define(main, &body).finish())
}

fn broken(tree: &Tree) -> Rules {
    validate(tree).diagnostics.iter().map(|one| one.rule).collect()
}

/// A shader of one expression, which has variables of types.
fn expression(types: &[&str], make: impl FnOnce(&mut Builder, &[Ref]) -> Handle<Expression>) -> Rules {
    shader(|b| {
        let names = ["a", "b", "c", "d"];
        let (variables, mut body): (Vec<Ref>, Vec<_>) = types
            .iter()
            .zip(names)
            .map(|(ty, name)| b.local(ty, name, None))
            .unzip();
        let value = make(b, &variables);
        body.push(b.statement(Statement::Expression(value)));
        body
    })
}

/// Compares each row's rules with those wanted: none if it is valid.
fn compare(rows: Vec<(String, Rules, Option<&str>)>) {
    let mut wrong = Vec::new();
    for (what, have, want) in rows {
        let fits = match want {
            Some(rule) => have.contains(rule),
            None => have.is_empty(),
        };
        if !fits {
            wrong.push(format!("{what}: {have:?}, wanted {want:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn operator(text: &str) -> Operator {
    (0..=34)
        .map(Operator)
        .find(|op| op.name() == Some(text))
        .unwrap_or_else(|| panic!("{text}"))
}

#[test]
fn operators_have_operands() {
    // Operands and operators as GLSL has them; `int` and `uint` do not mix, as nothing is converted silently.
    let rows = "float + float yes; float2 + float2 yes; float2 + float3 no; float2 * float yes; float * float2 yes; float + int no; \
        int % int yes; float % float no; int & int yes; int | uint no; float & int no; int ^ float no; int2 & int2 yes; bool + bool no; \
        float + bool no; bool && bool yes; bool || bool yes; bool ^^ bool yes; int && bool no; bool || int no; bool2 && bool2 no; \
        float < float yes; int >= int yes; float2 < float2 no; bool < bool no; int < float no; float2 == float2 yes; \
        float2 == float3 no; float2 != float2 yes; bool == bool yes; int != float no; float2x2 * float2 yes; float2 * float2x2 yes; \
        float2x2 * float3 no; float3 * float2x2 no; float2x2 + float2 no; float2 + float2x2 no; float2x2 * float2x2 yes; \
        float2x2 + float2x2 yes; float2x2 / float2x2 yes; float3x2 * float3 yes; float3x2 * float2 no; float2 * float3x2 yes; \
        float3 * float3x2 no; float3x2 * float2x3 yes; float3x2 + float2x3 no; float3x2 - float3x2 yes; int << int yes; int << uint yes; \
        float << int no; int >> float no; int2 << int yes; int2 << int3 no; uint + int no; uint + uint yes; float2x2 * float yes; \
        float + float2x2 yes; float3 / float3 yes; bool - int no; float2 , int yes; uint % uint yes; int2 % int yes; int2 | int3 no";
    let rows = rows.split("; ").map(|row| {
        let parts: Vec<&str> = row.split_whitespace().collect();
        let [left, op, right, fits] = parts[..] else {
            panic!("{row}")
        };
        let have = expression(&[left, right], |b, of| {
            let (l, r) = (b.read(of[0]), b.read(of[1]));
            b.binary(l, operator(op), r)
        });
        (row.to_owned(), have, (fits == "no").then_some("operator"))
    });
    compare(rows.collect());
    let rows = [
        ("!", "bool", true),
        ("!", "int", false),
        ("!", "bool2", false),
        ("~", "int", true),
        ("~", "uint", true),
        ("~", "int2", true),
        ("~", "float", false),
        ("~", "bool", false),
        ("-", "float", true),
        ("-", "int3", true),
        ("-", "float2x2", true),
        ("-", "bool", false),
        ("+", "int", true),
        ("+", "bool", false),
        ("*", "int", false),
    ];
    let rows = rows.into_iter().map(|(op, ty, fits)| {
        let have = expression(&[ty], |b, of| {
            let operand = b.read(of[0]);
            b.expression(Expression::Prefix {
                op: operator(op),
                operand,
            })
        });
        (format!("{op} {ty}"), have, (!fits).then_some("operator"))
    });
    compare(rows.collect());
    // Steps, before and behind: of variables that are read and written.
    let mut all = Vec::new();
    for (op, ty, kind, want) in [
        ("++", "int", RefKind::READ_WRITE, None),
        ("--", "float2", RefKind::READ_WRITE, None),
        ("++", "uint", RefKind::READ_WRITE, None),
        ("++", "bool", RefKind::READ_WRITE, Some("operator")),
        ("++", "int", RefKind::READ, Some("ref-kind")),
        ("--", "int", RefKind::WRITE, Some("ref-kind")),
    ] {
        for prefix in [false, true] {
            let have = expression(&[ty], |b, of| {
                let operand = b.expression(Expression::Variable { variable: of[0], kind });
                let op = operator(op);
                b.expression(if prefix {
                    Expression::Prefix { op, operand }
                } else {
                    Expression::Postfix { op, operand }
                })
            });
            all.push((format!("{op} {ty} {kind:?} {prefix}"), have, want));
        }
    }
    for op in ["-", "!", "~", "+"] {
        let have = expression(&["int"], |b, of| {
            let operand = b.read(of[0]);
            b.expression(Expression::Postfix {
                op: operator(op),
                operand,
            })
        });
        all.push((format!("int {op}"), have, Some("operator")));
    }
    // Assignments.
    for (left, op, right, kind, want) in [
        ("float", "=", "float", RefKind::WRITE, None),
        ("float2", "=", "float2", RefKind::WRITE, None),
        ("float", "=", "int", RefKind::WRITE, Some("operator")),
        ("float2", "=", "float", RefKind::WRITE, Some("operator")),
        ("float", "=", "float", RefKind::READ_WRITE, Some("ref-kind")),
        ("float", "=", "float", RefKind::READ, Some("ref-kind")),
        ("float", "+=", "float", RefKind::READ_WRITE, None),
        ("float", "+=", "float", RefKind::WRITE, Some("ref-kind")),
        ("float2", "*=", "float", RefKind::READ_WRITE, None),
        ("float2", "*=", "float2x2", RefKind::READ_WRITE, None),
        ("int", "%=", "int", RefKind::READ_WRITE, None),
        ("float", "%=", "float", RefKind::READ_WRITE, Some("operator")),
        ("float", "<<=", "int", RefKind::READ_WRITE, Some("operator")),
        ("int", "<<=", "int", RefKind::READ_WRITE, None),
        ("int", "|=", "float", RefKind::READ_WRITE, Some("operator")),
        ("bool", "+=", "bool", RefKind::READ_WRITE, Some("operator")),
    ] {
        let have = expression(&[left, right], |b, of| {
            let (l, r) = (
                b.expression(Expression::Variable { variable: of[0], kind }),
                b.read(of[1]),
            );
            b.binary(l, operator(op), r)
        });
        all.push((format!("{left} {op} {right} {kind:?}"), have, want));
    }
    let have = expression(&["float"], |b, of| {
        let (l, r) = (b.float("float", 1.0), b.read(of[0]));
        b.binary(l, Operator::ASSIGN, r)
    });
    all.push(("1.0 = a".to_owned(), have, Some("not-assignable")));
    compare(all);
}

#[test]
fn parts_are_within_their_wholes() {
    let mut all = Vec::new();
    for (ty, components, want) in [
        ("float2", &[0, 1][..], None),
        ("float2", &[2], Some("swizzle-range")),
        ("float", &[0, 0], None),
        ("float", &[1], Some("swizzle-range")),
        ("float4", &[3, 3, 0], None),
        ("float3", &[2, 3], Some("swizzle-range")),
        ("float2x2", &[0], Some("swizzle-range")),
    ] {
        let have = expression(&[ty], |b, of| {
            let base = b.read(of[0]);
            let (mut all, count) = ([0; 4], components.len() as u8);
            all[..components.len()].copy_from_slice(components);
            b.expression(Expression::Swizzle {
                base,
                components: all,
                count,
            })
        });
        all.push((format!("{ty} {components:?}"), have, want));
    }
    // Written components differ.
    for (components, want) in [([0, 1], None), ([1, 0], None), ([1, 1], Some("swizzle-write"))] {
        let have = expression(&["float3", "float2"], |b, of| {
            let base = b.expression(Expression::Variable {
                variable: of[0],
                kind: RefKind::WRITE,
            });
            let components = [components[0], components[1], 0, 0];
            let left = b.expression(Expression::Swizzle {
                base,
                components,
                count: 2,
            });
            let right = b.read(of[1]);
            b.binary(left, Operator::ASSIGN, right)
        });
        all.push((format!("written {components:?}"), have, want));
    }
    for (ty, index, want) in [
        ("float2", 1, None),
        ("float2", 2, Some("index-range")),
        ("float3x2", 2, None),
        ("float3x2", 3, Some("index-range")),
        ("float[3]", 2, None),
        ("float[3]", 3, Some("index-range")),
        ("float[3]", -1, Some("index-range")),
        ("float", 0, Some("index-base")),
        ("bool", 0, Some("index-base")),
    ] {
        let have = expression(&[ty], |b, of| {
            let base = b.read(of[0]);
            b.element(base, index)
        });
        all.push((format!("{ty}[{index}]"), have, want));
    }
    for (ty, want) in [
        ("int", None),
        ("uint", None),
        ("float", Some("index-type")),
        ("bool", Some("index-type")),
        ("int2", Some("index-type")),
    ] {
        let have = expression(&["float4", ty], |b, of| {
            let (base, index) = (b.read(of[0]), b.read(of[1]));
            b.expression(Expression::Index { base, index })
        });
        all.push((format!("float4[{ty}]"), have, want));
    }
    for (index, want) in [(0, None), (1, None), (2, Some("field"))] {
        let have = shader(|b| {
            b.structure("S", &[("float", "x"), ("half2", "y")]);
            let (s, declared) = b.local("S", "s", None);
            let base = b.read(s);
            let field = b.field(base, index);
            vec![declared, b.statement(Statement::Expression(field))]
        });
        all.push((format!("field {index}"), have, want));
    }
    let have = expression(&["float"], |b, of| {
        let base = b.read(of[0]);
        b.field(base, 0)
    });
    all.push(("a number's field".to_owned(), have, Some("field")));
    let have = shader(|b| {
        b.structure("S", &[("float", "x")]);
        let (s, declared) = b.local("S", "s", None);
        let base = b.read(s);
        let field = b.expression(Expression::FieldAccess {
            base,
            index: 0,
            owner: FieldOwner::ANONYMOUS_BLOCK,
        });
        vec![declared, b.statement(Statement::Expression(field))]
    });
    all.push(("a bare field of a struct".to_owned(), have, Some("field-owner")));
    for (test, then, otherwise, want) in [
        ("bool", "float", "float", None),
        ("int", "float", "float", Some("type-mismatch")),
        ("bool", "float", "int", Some("ternary")),
        ("bool", "float2", "float3", Some("ternary")),
    ] {
        let have = expression(&[test, then, otherwise], |b, of| {
            let [test, then, otherwise] = [0, 1, 2].map(|at| b.read(of[at]));
            b.expression(Expression::Ternary { test, then, otherwise })
        });
        all.push((format!("{test} ? {then} : {otherwise}"), have, want));
    }
    compare(all);
}

#[test]
fn constructors_have_arguments() {
    let rows = [
        (Command::CONSTRUCTOR_SPLAT, "float3", &["float"][..], true),
        (Command::CONSTRUCTOR_SPLAT, "float3", &["int"], false),
        (Command::CONSTRUCTOR_SPLAT, "float3", &["float2"], false),
        (Command::CONSTRUCTOR_SPLAT, "float", &["float"], false),
        (
            Command::CONSTRUCTOR_COMPOUND,
            "float4",
            &["float2", "float", "float"],
            true,
        ),
        (Command::CONSTRUCTOR_COMPOUND, "float4", &["float2", "float"], false),
        (Command::CONSTRUCTOR_COMPOUND, "float4", &["float4", "float"], false),
        (Command::CONSTRUCTOR_COMPOUND, "float2", &["int", "float"], false),
        (Command::CONSTRUCTOR_COMPOUND, "float2x2", &["float2", "float2"], true),
        (Command::CONSTRUCTOR_COMPOUND, "float2x2", &["float2", "float3"], false),
        (Command::CONSTRUCTOR_COMPOUND_CAST, "float2", &["int2"], true),
        (Command::CONSTRUCTOR_COMPOUND_CAST, "float2", &["int3"], false),
        (Command::CONSTRUCTOR_COMPOUND_CAST, "half2x2", &["float2x2"], true),
        (Command::CONSTRUCTOR_COMPOUND_CAST, "float", &["int"], false),
        (Command::CONSTRUCTOR_SCALAR_CAST, "float", &["int"], true),
        (Command::CONSTRUCTOR_SCALAR_CAST, "float", &["int2"], false),
        (Command::CONSTRUCTOR_SCALAR_CAST, "float2", &["int2"], false),
        (Command::CONSTRUCTOR_DIAGONAL_MATRIX, "float3x3", &["float"], true),
        (Command::CONSTRUCTOR_DIAGONAL_MATRIX, "float3x3", &["int"], false),
        (Command::CONSTRUCTOR_DIAGONAL_MATRIX, "float3", &["float"], false),
        (Command::CONSTRUCTOR_MATRIX_RESIZE, "float3x3", &["float2x2"], true),
        (Command::CONSTRUCTOR_MATRIX_RESIZE, "float3x3", &["float3"], false),
        (Command::CONSTRUCTOR_ARRAY, "float[2]", &["float", "float"], true),
        (
            Command::CONSTRUCTOR_ARRAY,
            "float[2]",
            &["float", "float", "float"],
            false,
        ),
        (Command::CONSTRUCTOR_ARRAY, "float[2]", &["float", "int"], false),
        (Command::CONSTRUCTOR_ARRAY, "float2", &["float", "float"], false),
        (Command::CONSTRUCTOR_ARRAY_CAST, "half[2]", &["float[2]"], true),
        (Command::CONSTRUCTOR_ARRAY_CAST, "half[2]", &["float[3]"], false),
        (Command::CONSTRUCTOR_ARRAY_CAST, "half[2]", &["int[2]"], false),
        (Command::CONSTRUCTOR_ARRAY_CAST, "half[2]", &["float2"], false),
        (Command::CONSTRUCTOR_STRUCT, "S", &["float", "half2"], true),
        (Command::CONSTRUCTOR_STRUCT, "S", &["float"], false),
        (Command::CONSTRUCTOR_STRUCT, "S", &["float", "float3"], false),
        (Command::CONSTRUCTOR_STRUCT, "S", &["half2", "float"], false),
    ];
    let rows = rows.into_iter().map(|(command, ty, arguments, fits)| {
        let have = shader(|b| {
            b.structure("S", &[("float", "x"), ("half2", "y")]);
            let names = ["a", "b", "c"];
            let (variables, mut body): (Vec<Ref>, Vec<_>) = arguments
                .iter()
                .zip(names)
                .map(|(ty, name)| b.local(ty, name, None))
                .unzip();
            let arguments: Vec<_> = variables.iter().map(|variable| b.read(*variable)).collect();
            let value = b.construct(command, ty, &arguments);
            body.push(b.statement(Statement::Expression(value)));
            body
        });
        (format!("{ty} of {arguments:?}"), have, (!fits).then_some("constructor"))
    });
    compare(rows.collect());
}

#[test]
fn calls_fit_their_functions() {
    // An `out` parameter takes a variable that is passed to be written.
    let call =
        |parameter: &str, flags: u32, argument: &str, kind: RefKind, returns: &str, result: &str, count: usize| {
            let mut b = Builder::new(ProgramKind::RUNTIME_SHADER);
            let x = b.parameter(parameter, "x", -1);
            b.change(x, flags);
            let f = b.function(returns, "f", &[x]);
            let (value, declared) = b.local(returns, "value", None);
            let value = b.read(value);
            let give = b.statement(Statement::Return(Some(value)));
            b.define(f, &[declared, give]);
            let at = b.parameter("float2", "p", 10009);
            let main = b.function("half4", "main", &[at]);
            let (a, first) = b.local(argument, "a", None);
            let arguments: Vec<_> = (0..count)
                .map(|_| b.expression(Expression::Variable { variable: a, kind }))
                .collect();
            let called = b.call_own(result, f, &arguments);
            let (second, one) = (b.statement(Statement::Expression(called)), b.float("half", 1.0));
            let color = b.construct(Command::CONSTRUCTOR_SPLAT, "half4", &[one]);
            let give = b.statement(Statement::Return(Some(color)));
            broken(&b.define(main, &[first, second, give]).finish())
        };
    let (read, out, inout) = (0, modifier::OUT, modifier::IN | modifier::OUT);
    let rows = [
        ("float", read, "float", RefKind::READ, "half", "half", 1, None),
        (
            "float",
            read,
            "int",
            RefKind::READ,
            "half",
            "half",
            1,
            Some("argument-type"),
        ),
        (
            "float",
            read,
            "float2",
            RefKind::READ,
            "half",
            "half",
            1,
            Some("argument-type"),
        ),
        (
            "float",
            read,
            "float",
            RefKind::POINTER,
            "half",
            "half",
            1,
            Some("ref-kind"),
        ),
        ("float", out, "float", RefKind::POINTER, "half", "half", 1, None),
        ("float", inout, "float", RefKind::POINTER, "half", "half", 1, None),
        (
            "float",
            out,
            "float",
            RefKind::READ,
            "half",
            "half",
            1,
            Some("ref-kind"),
        ),
        (
            "float",
            read,
            "float",
            RefKind::READ,
            "half",
            "int",
            1,
            Some("call-type"),
        ),
        (
            "float",
            read,
            "float",
            RefKind::READ,
            "half",
            "half2",
            1,
            Some("call-type"),
        ),
        (
            "float",
            read,
            "float",
            RefKind::READ,
            "half",
            "half",
            2,
            Some("argument-count"),
        ),
        (
            "float",
            read,
            "float",
            RefKind::READ,
            "half",
            "half",
            0,
            Some("argument-count"),
        ),
    ];
    let rows = rows
        .into_iter()
        .map(|(parameter, flags, argument, kind, returns, result, count, want)| {
            let have = call(parameter, flags, argument, kind, returns, result, count);
            (
                format!("{result} f({argument} {kind:?}) of {returns} f({parameter} {flags}), {count}"),
                have,
                want,
            )
        });
    compare(rows.collect());
    let built_in = |ty: &str, name: &str, types: &[&str]| {
        expression(types, |b, of| {
            let arguments: Vec<_> = of.iter().map(|variable| b.read(*variable)).collect();
            b.call(ty, name, &arguments)
        })
    };
    compare(vec![
        ("sin".to_owned(), built_in("float", "sin", &["float"]), None),
        (
            "sin of integers".to_owned(),
            built_in("int", "sin", &["int"]),
            Some("overload"),
        ),
        (
            "sin of two".to_owned(),
            built_in("float", "sin", &["float", "float"]),
            Some("unknown-builtin"),
        ),
        (
            "nothing".to_owned(),
            built_in("float", "nothing", &["float"]),
            Some("unknown-builtin"),
        ),
        ("dot".to_owned(), built_in("float", "dot", &["float3", "float3"]), None),
        (
            "dot of two sizes".to_owned(),
            built_in("float", "dot", &["float3", "float2"]),
            Some("overload"),
        ),
        (
            "min with a number".to_owned(),
            built_in("float3", "min", &["float3", "float"]),
            None,
        ),
        (
            "a vector from dot".to_owned(),
            built_in("float2", "dot", &["float2", "float2"]),
            Some("overload"),
        ),
    ]);
}

#[test]
fn statements_are_where_they_belong() {
    let test = |ty: &'static str, of: Around| {
        shader(move |b| {
            let (a, declared) = b.local(ty, "a", None);
            let (test, body) = (b.read(a), b.statement(Statement::Nop));
            vec![declared, b.statement(of(test, body))]
        })
    };
    let loop_of = |test, body| Statement::For {
        table: None,
        initializer: None,
        test: Some(test),
        next: None,
        body,
    };
    let if_of = |test, then| Statement::If {
        is_static: false,
        test,
        then,
        otherwise: None,
    };
    let do_of = |test, body| Statement::Do { body, test };
    let mut all = Vec::new();
    for (ty, want) in [
        ("bool", None),
        ("int", Some("type-mismatch")),
        ("bool2", Some("type-mismatch")),
    ] {
        all.push((format!("for {ty}"), test(ty, loop_of), want));
        all.push((format!("if {ty}"), test(ty, if_of), want));
        all.push((format!("do {ty}"), test(ty, do_of), want));
    }
    let inside = |inner: Statement, of: Option<Around>| {
        shader(move |b| {
            let (inner, yes) = (b.statement(inner), b.expression(Expression::Bool(true)));
            match of {
                Some(of) => vec![b.statement(of(yes, inner))],
                None => vec![inner],
            }
        })
    };
    for (name, inner) in [("break", Statement::Break), ("continue", Statement::Continue)] {
        all.push((format!("{name} alone"), inside(inner, None), Some(name)));
        all.push((format!("{name} in if"), inside(inner, Some(if_of)), Some(name)));
        all.push((format!("{name} in for"), inside(inner, Some(loop_of)), None));
        all.push((format!("{name} in do"), inside(inner, Some(do_of)), None));
    }
    all.push(("discard".to_owned(), inside(Statement::Discard, None), Some("discard")));
    // Behind a loop it is outside again.
    let have = shader(|b| {
        let (yes, inner) = (b.expression(Expression::Bool(true)), b.statement(Statement::Break));
        let first = b.statement(loop_of(yes, inner));
        vec![first, b.statement(Statement::Break)]
    });
    all.push(("break behind a loop".to_owned(), have, Some("break")));
    // Declarations.
    for (ty, value, want) in [
        ("float", Some("float"), None),
        ("float", Some("int"), Some("type-mismatch")),
        ("float2", Some("float"), Some("type-mismatch")),
        ("float[2]", None, Some("declared-type")),
    ] {
        let have = shader(|b| {
            let (from, first) = b.local(value.unwrap_or("int"), "from", None);
            let value = value.map(|_| b.read(from));
            let (_, second) = b.local(ty, "to", value);
            vec![first, second]
        });
        // The builder declares an array with the array's own type.
        let want = if ty == "float[2]" { None } else { want };
        all.push((format!("{ty} = {value:?}"), have, want));
    }
    let have = shader(|b| {
        let (_, declared) = b.local("float", "twice", None);
        vec![declared, declared]
    });
    all.push(("declared twice".to_owned(), have, Some("declared-twice")));
    let have = shader(|b| {
        let (a, declared) = b.local("float", "a", None);
        let value = b.read(a);
        vec![b.statement(Statement::Expression(value)), declared]
    });
    all.push(("read before its declaration".to_owned(), have, Some("not-visible")));
    let have = shader(|b| {
        let (a, declared) = b.local("float", "a", None);
        let (block, value) = (b.block(&[declared]), b.read(a));
        vec![block, b.statement(Statement::Expression(value))]
    });
    all.push(("read behind its scope".to_owned(), have, Some("not-visible")));
    for (flags, value, want) in [
        (modifier::CONST, true, None),
        (modifier::CONST, false, Some("const-value")),
        (modifier::UNIFORM, false, None),
        (modifier::UNIFORM, true, Some("outside-value")),
        (modifier::IN, true, Some("outside-value")),
        (0, false, None),
        (0, true, None),
    ] {
        let have = shader(|b| {
            let value = value.then(|| b.float("float", 1.0));
            b.global(
                "float",
                "g",
                Modifiers {
                    flags,
                    ..Modifiers::default()
                },
                value,
            );
            Vec::new()
        });
        all.push((format!("global {flags} {}", value), have, want));
    }
    for flags in [modifier::CONST, modifier::UNIFORM] {
        let have = shader(|b| {
            let value = (flags == modifier::CONST).then(|| b.float("float", 1.0));
            let g = b.global(
                "float",
                "g",
                Modifiers {
                    flags,
                    ..Modifiers::default()
                },
                value,
            );
            let one = b.float("float", 2.0);
            vec![b.assign(g, one)]
        });
        all.push((format!("global {flags} written"), have, Some("not-assignable")));
    }
    compare(all);
}

/// Which bodies of functions return on every path: a loop without an end and one whose body returns do.
#[test]
fn functions_return() {
    let returns = |ty: &str, make: fn(&mut Builder) -> Vec<Handle<Statement>>| {
        let mut b = Builder::new(ProgramKind::RUNTIME_SHADER);
        let f = b.function(ty, "f", &[]);
        let body = make(&mut b);
        b.define(f, &body);
        let at = b.parameter("float2", "p", 10009);
        let main = b.function("half4", "main", &[at]);
        let one = b.float("half", 1.0);
        let color = b.construct(Command::CONSTRUCTOR_SPLAT, "half4", &[one]);
        let give = b.statement(Statement::Return(Some(color)));
        broken(&b.define(main, &[give]).finish())
    };
    fn give(b: &mut Builder) -> Handle<Statement> {
        let one = b.float("float", 1.0);
        b.statement(Statement::Return(Some(one)))
    }
    fn truth(b: &mut Builder, value: bool) -> Handle<Expression> {
        b.expression(Expression::Bool(value))
    }
    fn branch(b: &mut Builder, then: Handle<Statement>, otherwise: Option<Handle<Statement>>) -> Handle<Statement> {
        let test = truth(b, true);
        b.statement(Statement::If {
            is_static: false,
            test,
            then,
            otherwise,
        })
    }
    fn repeat(b: &mut Builder, test: Option<bool>, body: Handle<Statement>) -> Handle<Statement> {
        let test = test.map(|value| truth(b, value));
        b.statement(Statement::For {
            table: None,
            initializer: None,
            test,
            next: None,
            body,
        })
    }
    fn until(b: &mut Builder, test: bool, body: Handle<Statement>) -> Handle<Statement> {
        let test = truth(b, test);
        b.statement(Statement::Do { body, test })
    }
    type Make = fn(&mut Builder) -> Vec<Handle<Statement>>;
    let rows: [(&str, &str, Make, Option<&str>); 19] = [
        ("nothing", "float", |_| Vec::new(), Some("no-return")),
        ("nothing in void", "void", |_| Vec::new(), None),
        ("a value", "float", |b| vec![give(b)], None),
        ("a value in void", "void", |b| vec![give(b)], Some("return")),
        (
            "no value",
            "float",
            |b| vec![b.statement(Statement::Return(None))],
            Some("return"),
        ),
        (
            "no value in void",
            "void",
            |b| vec![b.statement(Statement::Return(None))],
            None,
        ),
        (
            "a number of another type",
            "int",
            |b| vec![give(b)],
            Some("type-mismatch"),
        ),
        (
            "one branch",
            "float",
            |b| {
                let then = give(b);
                vec![branch(b, then, None)]
            },
            Some("no-return"),
        ),
        (
            "both branches",
            "float",
            |b| {
                let (then, no) = (give(b), give(b));
                vec![branch(b, then, Some(no))]
            },
            None,
        ),
        (
            "the other branch",
            "float",
            |b| {
                let (then, no) = (b.statement(Statement::Nop), give(b));
                vec![branch(b, then, Some(no))]
            },
            Some("no-return"),
        ),
        (
            "a block",
            "float",
            |b| {
                let (first, second) = (give(b), b.statement(Statement::Nop));
                vec![b.block(&[first, second])]
            },
            None,
        ),
        (
            "a loop without a test",
            "float",
            |b| {
                let body = b.statement(Statement::Nop);
                vec![repeat(b, None, body)]
            },
            None,
        ),
        (
            "a loop that is left",
            "float",
            |b| {
                let body = b.statement(Statement::Break);
                vec![repeat(b, None, body)]
            },
            Some("no-return"),
        ),
        (
            "a loop left in a branch",
            "float",
            |b| {
                let (then, no) = (b.statement(Statement::Nop), b.statement(Statement::Break));
                let body = branch(b, then, Some(no));
                vec![repeat(b, Some(true), body)]
            },
            Some("no-return"),
        ),
        (
            "a loop with a test",
            "float",
            |b| {
                let body = b.statement(Statement::Nop);
                vec![repeat(b, Some(false), body)]
            },
            Some("no-return"),
        ),
        (
            "a loop that returns",
            "float",
            |b| {
                let body = give(b);
                vec![repeat(b, Some(false), body)]
            },
            None,
        ),
        (
            "do for ever",
            "float",
            |b| {
                let body = b.statement(Statement::Nop);
                vec![until(b, true, body)]
            },
            None,
        ),
        (
            "do once",
            "float",
            |b| {
                let body = b.statement(Statement::Nop);
                vec![until(b, false, body)]
            },
            Some("no-return"),
        ),
        (
            "do and return",
            "float",
            |b| {
                let body = give(b);
                vec![until(b, false, body)]
            },
            None,
        ),
    ];
    compare(
        rows.into_iter()
            .map(|(what, ty, make, want)| (what.to_owned(), returns(ty, make), want))
            .collect(),
    );
}

#[test]
fn modifiers_have_places() {
    let global = |flags: u32, layout: Layout| {
        shader(|b| {
            let value = (flags & modifier::CONST != 0).then(|| b.float("float", 1.0));
            b.global("float", "g", Modifiers { flags, layout }, value);
            Vec::new()
        })
    };
    let local = |flags: u32| {
        shader(|b| {
            let variable = b.variable(
                "float",
                "v",
                Modifiers {
                    flags,
                    ..Modifiers::default()
                },
                Storage::LOCAL,
            );
            let (value, base_type) = (Some(b.float("float", 1.0)), b.builtin("float"));
            vec![b.statement(Statement::Variable {
                variable,
                base_type,
                array_size: 0,
                value,
            })]
        })
    };
    let parameter = |flags: u32| {
        let mut b = Builder::new(ProgramKind::RUNTIME_SHADER);
        let x = b.parameter("float", "x", -1);
        b.change(x, flags);
        let f = b.function("void", "f", &[x]);
        b.define(f, &[]);
        let at = b.parameter("float2", "p", 10009);
        let main = b.function("half4", "main", &[at]);
        let one = b.float("half", 1.0);
        let color = b.construct(Command::CONSTRUCTOR_SPLAT, "half4", &[one]);
        let give = b.statement(Statement::Return(Some(color)));
        broken(&b.define(main, &[give]).finish())
    };
    use modifier::*;
    let mut all = Vec::new();
    // Each modifier by itself: where it stands as a global, a local, a parameter.
    let places = [
        ("flat", FLAT, false, false, false),
        ("noperspective", NO_PERSPECTIVE, false, false, false),
        ("const", CONST, true, true, true),
        ("uniform", UNIFORM, true, false, false),
        ("in", IN, true, false, true),
        ("out", OUT, true, false, true),
        ("highp", HIGHP, true, true, true),
        ("mediump", MEDIUMP, true, true, true),
        ("lowp", LOWP, true, true, true),
        ("es3", ES3, false, false, false),
        ("side effects", HAS_SIDE_EFFECTS, false, false, false),
        ("inline", INLINE, false, false, false),
        ("noinline", NO_INLINE, false, false, false),
    ];
    for (name, flags, as_global, as_local, as_parameter) in places {
        // Interpolation stands at inputs and outputs.
        let clash = flags == FLAT || flags == NO_PERSPECTIVE;
        let wanted = |fits: bool| (!fits).then_some("modifier-place");
        let want = if clash {
            Some("modifier-clash")
        } else {
            wanted(as_global)
        };
        all.push((format!("global {name}"), global(flags, Layout::DEFAULT), want));
        all.push((format!("local {name}"), local(flags), wanted(as_local)));
        all.push((format!("parameter {name}"), parameter(flags), wanted(as_parameter)));
    }
    for (name, flags, want) in [
        ("flat in", FLAT | IN, None),
        ("noperspective out", NO_PERSPECTIVE | OUT, None),
        (
            "flat noperspective in",
            FLAT | NO_PERSPECTIVE | IN,
            Some("modifier-clash"),
        ),
        ("uniform in", UNIFORM | IN, Some("modifier-clash")),
        ("uniform const", UNIFORM | CONST, Some("modifier-clash")),
        ("const out", CONST | OUT, Some("modifier-clash")),
        ("highp lowp", HIGHP | LOWP, Some("modifier-clash")),
        ("in out", IN | OUT, None),
        ("uniform mediump", UNIFORM | MEDIUMP, None),
        ("no such flag", 1 << 13, Some("modifier-flags")),
    ] {
        all.push((name.to_owned(), global(flags, Layout::DEFAULT), want));
    }
    type Change = fn(&mut Layout);
    let rows: [(&str, Change, Option<&str>); 14] = [
        ("nothing", |_| {}, None),
        ("location", |l| (l.flags, l.location) = (layout::LOCATION, 2), None),
        ("location 0", |l| (l.flags, l.location) = (layout::LOCATION, 0), None),
        ("no location", |l| l.flags = layout::LOCATION, Some("layout-value")),
        ("location without its flag", |l| l.location = 2, Some("layout-value")),
        (
            "location -2",
            |l| (l.flags, l.location) = (layout::LOCATION, -2),
            Some("layout-value"),
        ),
        ("binding", |l| (l.flags, l.binding) = (layout::BINDING, 3), None),
        ("binding without its flag", |l| l.binding = 3, Some("layout-value")),
        ("set without its flag", |l| l.set = 1, Some("layout-value")),
        ("offset without its flag", |l| l.offset = 1, Some("layout-value")),
        ("index without its flag", |l| l.index = 1, Some("layout-value")),
        (
            "attachment without its flag",
            |l| l.input_attachment_index = 1,
            Some("layout-value"),
        ),
        ("a built-in", |l| (l.flags, l.builtin) = (layout::BUILTIN, 15), None),
        (
            "no such built-in",
            |l| (l.flags, l.builtin) = (layout::BUILTIN, 16),
            Some("layout-builtin"),
        ),
    ];
    for (name, change, want) in rows {
        let mut layout = Layout::DEFAULT;
        change(&mut layout);
        all.push((format!("layout: {name}"), global(IN, layout), want));
    }
    compare(all);
}

#[test]
fn entry_points_have_the_parameters_of_their_kind() {
    let entry = |kind: ProgramKind, name: &str, builtins: &[(&str, i16)], returns: &str| {
        let mut b = Builder::new(kind);
        let names = ["a", "b", "c"];
        let parameters: Vec<_> = builtins
            .iter()
            .zip(names)
            .map(|((ty, number), name)| b.parameter(ty, name, *number))
            .collect();
        let f = b.function(returns, name, &parameters);
        let value = match returns {
            "void" => None,
            "half4" | "float4" => {
                let one = b.float(&returns[..returns.len() - 1], 1.0);
                Some(b.construct(Command::CONSTRUCTOR_SPLAT, returns, &[one]))
            }
            _ => Some(b.float(returns, 1.0)),
        };
        let give = b.statement(Statement::Return(value));
        broken(&b.define(f, &[give]).finish())
    };
    let at = ("float2", 10009);
    let (color, destination) = (("half4", 10010), ("half4", 10011));
    type Row<'a> = (ProgramKind, &'a str, &'a [(&'a str, i16)], &'a str, bool);
    let rows: &[Row<'_>] = &[
        (ProgramKind::RUNTIME_SHADER, "main", &[at], "half4", true),
        (ProgramKind::RUNTIME_SHADER, "main", &[at], "float4", true),
        (ProgramKind::RUNTIME_SHADER, "main", &[at], "half", false),
        (ProgramKind::RUNTIME_SHADER, "main", &[], "half4", false),
        (ProgramKind::RUNTIME_SHADER, "main", &[color], "half4", false),
        (ProgramKind::PRIVATE_RUNTIME_SHADER, "main", &[at], "half4", true),
        (ProgramKind::RUNTIME_COLOR_FILTER, "main", &[color], "half4", true),
        (ProgramKind::RUNTIME_COLOR_FILTER, "main", &[at], "half4", false),
        (ProgramKind::RUNTIME_COLOR_FILTER, "main", &[color], "half", false),
        (
            ProgramKind::RUNTIME_BLENDER,
            "main",
            &[color, destination],
            "half4",
            true,
        ),
        (
            ProgramKind::RUNTIME_BLENDER,
            "main",
            &[destination, color],
            "half4",
            false,
        ),
        (ProgramKind::RUNTIME_BLENDER, "main", &[color], "half4", false),
        (ProgramKind::FRAGMENT, "main", &[], "void", true),
        (ProgramKind::FRAGMENT, "main", &[at], "void", true),
        (ProgramKind::FRAGMENT, "main", &[color], "void", false),
        (ProgramKind::VERTEX, "main", &[], "void", true),
        (ProgramKind::VERTEX, "main", &[at], "void", false),
        (ProgramKind::RUNTIME_SHADER, "helper", &[("float2", -1)], "half", true),
        (ProgramKind::RUNTIME_SHADER, "helper", &[at], "half", false),
    ];
    let rows = rows.iter().map(|(kind, name, builtins, returns, fits)| {
        let have = entry(*kind, name, builtins, returns);
        (
            format!("{returns} {name}{builtins:?} in {kind:?}"),
            have,
            (!fits).then_some("entry"),
        )
    });
    compare(rows.collect());
}

#[test]
fn names_and_types_are_known() {
    let mut all = Vec::new();
    for (name, fits) in [
        ("a", true),
        ("_a1", true),
        ("$a", true),
        ("1a", false),
        ("a b", false),
        ("a-b", false),
        ("ä", false),
    ] {
        let have = shader(|b| vec![b.local("float", name, None).1]);
        all.push((format!("name {name:?}"), have, (!fits).then_some("name")));
    }
    for (ty, want) in [
        ("float", None),
        ("half3x4", None),
        ("uint4", None),
        ("void", Some("void-value")),
        ("nothing", Some("unknown-type")),
        ("float5", Some("unknown-type")),
        ("sampler shader", Some("unknown-type")),
        ("float[3]", None),
        ("float[0]", Some("array-size")),
        ("void[2]", Some("array-of")),
    ] {
        let have = shader(|b| vec![b.local(ty, "v", None).1]);
        all.push((format!("type {ty:?}"), have, want));
    }
    for (fields, want) in [
        (&[("float", "x"), ("float", "y")][..], None),
        (&[], Some("empty-struct")),
        (&[("float", "x"), ("int", "x")], Some("duplicate-field")),
        (&[("void", "x")], Some("void-value")),
        (&[("nothing", "x")], Some("unknown-type")),
        (&[("float", "2")], Some("name")),
    ] {
        let have = shader(|b| {
            b.structure("S", fields);
            Vec::new()
        });
        all.push((format!("struct {fields:?}"), have, want));
    }
    for (ty, is_float, want) in [
        ("float", true, None),
        ("half", true, None),
        ("int", true, Some("literal-type")),
        ("float2", true, Some("literal-type")),
        ("int", false, None),
        ("uint", false, None),
        ("short", false, None),
        ("bool", false, Some("literal-type")),
        ("float", false, Some("literal-type")),
    ] {
        let have = expression(&[], |b, _| if is_float { b.float(ty, 1.0) } else { b.int(ty, 1) });
        all.push((format!("literal of {ty}"), have, want));
    }
    compare(all);
}
