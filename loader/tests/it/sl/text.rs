//! S₀ text: errors have a line and a column, damage never panics, and the forms of 2020 are read.

use crate::common;

use loader::sl::{self, Library, PrintOptions, Statement};
use std::fmt::Write;

/// A module with a block `b` of this body.
fn body(text: &str) -> String {
    format!("module m {{\n b: containing () receiving () {{\n{text}\n }}\n}}")
}

#[test]
fn bad_texts_are_reported_with_line_and_column() {
    let plain = |text: &str| text.to_owned();
    let cases: Vec<(String, (usize, usize), &str)> = vec![
        (plain("modul m {}"), (1, 1), "expected `module`, found modul"),
        (plain("module m"), (1, 9), "expected `{`, found the end"),
        (plain("module {}"), (1, 8), "expected a name, found '{'"),
        (plain("module m {"), (1, 11), "expected a name, found the end"),
        (plain("module m {} x"), (1, 13), "expected `module`, found x"),
        (
            plain("module m { b containing () }"),
            (1, 14),
            "expected `:`, found containing",
        ),
        (plain("module m { b: () }"), (1, 15), "expected `containing`, found '('"),
        (
            plain("module m { b: containing (a b) }"),
            (1, 29),
            "expected `,` or `)`, found b",
        ),
        (
            plain("module m { b: containing (a,) }"),
            (1, 29),
            "expected a name, found ')'",
        ),
        (
            plain("module m { b: containing (*, a) }"),
            (1, 28),
            "expected `)`, found ','",
        ),
        (
            plain("module m { b: containing (\n  é) }"),
            (2, 3),
            "expected a name, found 'é'",
        ),
        (plain("module \"é\" { ü }"), (1, 14), "expected a name, found 'ü'"),
        (
            plain("module m { b: containing () branch x { } }"),
            (1, 38),
            "expected `receiving`, found '{'",
        ),
        (body("-> a b () }"), (3, 11), "expected `;`, found '}'"),
        (
            body("x = ;"),
            (3, 5),
            "expected `literal`, `rename` or `closure`, found ';'",
        ),
        (
            body("x = atom;"),
            (3, 5),
            "SL libraries have no atoms: a host may offer them as a primitive",
        ),
        (body("x literal \"a\";"), (3, 3), "expected `=`, found literal"),
        (body("x = literal ;"), (3, 13), "expected a name, found ';'"),
        (body("x = rename y -> z"), (3, 14), "expected `;`, found '-'"),
        (
            body("x = closure () -> b;"),
            (3, 13),
            "expected `containing`, found '('",
        ),
        (body("x = closure containing ();"), (3, 26), "expected `->`, found ';'"),
        (
            body("x = closure containing () -> c; -> x ();"),
            (3, 30),
            "no block is named c",
        ),
        (
            body("x = closure containing () -> #1; -> x ();"),
            (3, 30),
            "there is no block #1: the module has 1",
        ),
        (
            body("x = closure containing () -> #; -> x ();"),
            (3, 31),
            "expected a number, found ';'",
        ),
        (
            body("x = closure containing () -> b; -> x (); }\n b: containing () receiving () { -> x (); "),
            (3, 30),
            "two blocks are named b: use #index",
        ),
        (
            body("x = closure containing () -> #99999999999999999999; -> x ();"),
            (3, 31),
            "a number of more than 64 bits",
        ),
        (
            body("x = closure containing () branch t b;"),
            (3, 36),
            "expected `=`, found b",
        ),
        (
            body("x = closure containing () branch t = c; -> x;"),
            (3, 38),
            "no block is named c",
        ),
        (
            body(
                "x = closure containing () branch t = b, branch f = c; -> x; }\n c: containing (a) receiving () { -> a; ",
            ),
            (3, 52),
            "block c does not contain what the first one does",
        ),
        (
            body("x = closure containing () branch t = c; -> x; }\n c: containing () branch t receiving () { -> a; "),
            (3, 38),
            "block c has branches of its own",
        ),
        (plain("module \"m"), (1, 8), "a quoted name never ends"),
        (
            plain("module \"\\q\" {}"),
            (1, 9),
            "unknown escape: there are \\\\ \\\" \\n \\r \\t \\f \\v and \\xHH",
        ),
        (
            plain("module \"\\xg0\" {}"),
            (1, 11),
            "expected two hexadecimal digits, found g0",
        ),
        (
            plain("module [6d 6] {}"),
            (1, 12),
            "expected two hexadecimal digits, found 6",
        ),
        (plain("/* module m {}"), (1, 1), "a comment never ends"),
        (plain("/*@version 2*/"), (1, 12), "version 2 (3 and 4 are known)"),
        (plain("/*@version 3 */"), (1, 13), "expected `*/`, found ' '"),
        (plain("/*@constant x*/"), (1, 13), "expected a quote, found x"),
        (
            plain("module m/*@version 3*/ {}"),
            (1, 12),
            "the version and the constants come before the first module",
        ),
        (
            plain("module m/*@0 0 1 2*/ {}"),
            (1, 9),
            "a location is the index of a constant and four numbers",
        ),
        (
            plain("module m/*@0 1 2 3 4 5 6*/ {}"),
            (1, 24),
            "a location has at most six numbers",
        ),
        (
            plain("/*@constant \"m\"*/ module m/*@0*/ {}"),
            (1, 26),
            "a name's comment needs six numbers",
        ),
        (
            format!("/*@constant \"m\"*/{}", body("x = literal \"m\"/*@0*/; -> x ();")),
            (3, 13),
            "a literal's comment needs six numbers in version 4",
        ),
    ];
    for (text, place, message) in &cases {
        let error = sl::parse_in(text, "bad.s0").expect_err(text);
        assert_eq!((error.line, error.column), *place, "{text}\n{error}");
        assert_eq!(error.message, *message, "{text}");
        assert_eq!(
            error.to_string(),
            format!("line {}, column {}: {message}", place.0, place.1)
        );
        let shown = error.render(text, "bad.s0");
        assert!(shown.contains(&format!("bad.s0:{}:{}", place.0, place.1)), "{shown}");
    }
    println!("{} bad texts, each reported with line and column", cases.len());
}

#[test]
fn an_error_is_shown_with_its_line() {
    let text = body("x = closure containing () -> nowhere; -> x ();");
    let shown = sl::parse_in(&text, "a.s0").unwrap_err().render(&text, "a.s0");
    assert!(
        shown.contains("x = closure containing () -> nowhere; -> x ();"),
        "{shown}"
    );
    assert!(shown.contains("^^^^^^^"), "{shown}");
}

/// A library without the locations in its source.
fn meaning(library: &Library<'_>) -> String {
    sl::print(library).unwrap()
}

#[test]
fn branches_in_closures_become_blocks() {
    let text = std::fs::read_to_string(common::data("sl/inline.s0")).unwrap();
    let library = sl::parse_in(&text, "inline.s0").unwrap();
    let printed = meaning(&library);
    // The first list is replaced by its first block; `made` became the target of a list of one branch.
    for expected in [
        "$return = closure containing ($finish) -> made;",
        "$evaluate = closure containing ($finish, the_bool) -> yes;",
        "  yes: containing ($finish, the_bool)\n  branch true receiving () {",
        "  branch false receiving () {\n    $return = closure containing ($finish) -> again;",
        "  dropped: containing ($finish, the_bool)\n  branch true receiving () {",
        "  branch false receiving () {\n    $return = closure containing ($finish) -> fail;",
    ] {
        assert!(printed.contains(expected), "{expected}\n{printed}");
    }
    assert!(!printed.contains("  no: "), "only a list names it:\n{printed}");
    // A block that is also used elsewhere stays, and the list's block gets a new name.
    let text = "module m { a: containing () receiving () { x = closure containing () -> b; \
                y = closure containing () branch t = b, branch f = a; -> x (y); } \
                b: containing () receiving () { z = closure containing () branch t = b, branch f = a; -> z (); } }";
    let library = sl::parse_in(text, "m.s0").unwrap();
    let names: Vec<_> = library.modules[0]
        .blocks
        .iter()
        .map(|b| library.text(b.name.content))
        .collect();
    assert_eq!(names, ["a", "b", "t=b,f=a"]);
    for block in &library.modules[0].blocks[2].branches {
        let Some(Statement::Closure { block, .. }) = block.statements.last() else {
            panic!("no closure");
        };
        assert_eq!(*block, 2, "the same list is the same block");
    }
}

#[test]
fn lists_of_branches_cannot_grow_without_bound() {
    let mut text = String::from("module m { a: containing () receiving () {\n");
    for _ in 0..2_000 {
        text += "x = rename x;";
    }
    text += "-> x; }\n";
    for list in 0..2_000 {
        let _ = writeln!(
            text,
            "b{list}: containing () receiving () {{ x = closure containing () branch t{list} = a; -> x; }}"
        );
    }
    text += "}";
    let error = sl::parse_in(&text, "large.s0").unwrap_err();
    assert_eq!(error.message, "lists of branches make the module too large");
}

#[test]
fn literals_of_version_3_keep_to_one_layout() {
    let plain = "/*@version 3*/ module m { b: containing () receiving () { x = literal \"a\"; -> x (); } }";
    let library = sl::parse_in(plain, "x.s0").unwrap();
    assert!(sl::read_with(&sl::write(&library).unwrap(), &sl::Options { strict: true }).is_ok());
    // One literal has a location by its comment, the other has none: the new one gets its own.
    let mut library = sl::parse_in(&plain.replace("version 3", "version 4"), "x.s0").unwrap();
    library.version = 3;
    let text = sl::print_with(&library, &PrintOptions { locations: true }).unwrap();
    let edited = text.replacen("    x/*", "    y = literal \"new\";\n    x/*", 1);
    assert_ne!(text, edited);
    let library = sl::parse_in(&edited, "x.s0").unwrap();
    let bytes = sl::write(&library).unwrap();
    assert_eq!(sl::read(&bytes).unwrap(), library);
}

fn samples() -> Vec<String> {
    let mut texts = Vec::new();
    for path in common::files(&common::data("sl"), "s0") {
        let text = std::fs::read_to_string(path).unwrap();
        if let Ok(library) = sl::parse_in(&text, "x.s0") {
            texts.push(sl::print_with(&library, &PrintOptions { locations: true }).unwrap());
        }
        texts.push(text);
    }
    texts
}

#[test]
fn damaged_texts_are_errors_within_the_text() {
    let samples = samples();
    let tokens: Vec<&str> =
        "module block containing receiving branch closure literal rename atom -> => = ; : , . * ( ) { } [ ] \
                             \" \\ \\x4 /* */ /*@ /*@0 /*@version /*@constant // # #0 é \u{0} $ 99999999999999999999"
            .split(' ')
            .collect();
    let mut random = fastrand::Rng::with_seed(0x5eed);
    let mut below = |n: usize| random.usize(..n.max(1));
    let (count, mut refused) = (5_000, 0);
    for _ in 0..count {
        let mut bytes = samples[below(samples.len())].clone().into_bytes();
        for _ in 0..=below(3) {
            let (at, length) = (below(bytes.len()), below(12));
            let end = (at + length).min(bytes.len());
            match below(5) {
                0 => bytes.truncate(at),
                1 => drop(bytes.drain(at..end)),
                2 => drop(bytes.splice(at..end, tokens[below(tokens.len())].bytes())),
                3 => drop(bytes.splice(at..at, tokens[below(tokens.len())].bytes())),
                _ if at < bytes.len() => bytes[at] = below(128) as u8,
                _ => {}
            }
        }
        let text = String::from_utf8_lossy(&bytes).into_owned();
        match sl::parse_in(&text, "x.s0") {
            Err(error) => {
                refused += 1;
                assert!(
                    error.span.end <= text.len() && error.span.start <= error.span.end,
                    "{error}"
                );
                assert!(
                    error.line >= 1 && error.line <= text.matches('\n').count() + 1,
                    "{error}"
                );
                assert!(error.render(&text, "x.s0").contains(&error.message), "{error}");
            }
            // Text that parses is printed and parsed to the same library.
            Ok(library) => {
                let exact = sl::print_with(&library, &PrintOptions { locations: true }).unwrap();
                let again = sl::parse_in(&exact, "x.s0").unwrap_or_else(|error| panic!("{error}\n{text}\n{exact}"));
                assert_eq!(again, library, "{text}\n{exact}");
                if let Ok(bytes) = sl::write(&library) {
                    assert_eq!(sl::read(&bytes).unwrap(), library, "{text}");
                }
            }
        }
    }
    assert!(refused > 0);
    println!("{count} damaged texts, {refused} refused");
}
