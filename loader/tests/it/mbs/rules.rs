//! For every rule of the MBS format, one change to a valid file violates it, and the finding names it.

use crate::common;

use loader::mbs::chunk::{Body, Chunk};
use loader::mbs::{Mbs, Program, RULES, SymbolType, validate};

fn good() -> [Mbs; 2] {
    ["every_gp", "every_pp"].map(|name| {
        let path = common::data("mbs").join(name).with_extension("mbs");
        Mbs::read(&std::fs::read(path).unwrap()).unwrap()
    })
}

/// The rules that a file violates.
fn broken(mbs: &Mbs) -> Vec<&'static str> {
    // Checks the bytes as a reader sees them.
    let mbs = Mbs::read(&mbs.write()).unwrap();
    let mut rules: Vec<&'static str> = validate(&mbs).diagnostics.iter().map(|finding| finding.rule).collect();
    rules.dedup();
    rules
}

fn program(change: impl FnOnce(&mut Program), number: usize) -> Mbs {
    let mut programs = good()[number].programs().unwrap();
    change(&mut programs[0]);
    Mbs::of(&programs)
}

fn children(mbs: &mut Mbs) -> &mut Vec<Chunk> {
    let Body::Node { children, .. } = &mut mbs.root.body else {
        panic!("no chunks")
    };
    let Body::Node { children, .. } = &mut children[0].body else {
        panic!("no program")
    };
    children
}

fn chunk(mbs: &mut Mbs, ident: [u8; 4]) -> &mut Chunk {
    children(mbs).iter_mut().find(|chunk| chunk.ident == ident).unwrap()
}

#[test]
fn every_rule_is_violated_by_one_change() {
    for mbs in good() {
        assert_eq!(broken(&mbs), Vec::<&str>::new());
    }
    let [vertex, fragment] = good();
    let with = |base: &Mbs, change: &dyn Fn(&mut Mbs)| {
        let mut mbs = base.clone();
        change(&mut mbs);
        mbs
    };
    let uniform = |change: fn(&mut loader::mbs::Symbol)| program(|p| change(&mut p.uniforms.as_mut().unwrap()[0]), 0);
    let cases: Vec<(&str, Mbs)> = vec![
        ("file", with(&vertex, &|mbs| mbs.tail = vec![0; 4])),
        (
            "chunk-size",
            with(&vertex, &|mbs| children(mbs).push(Chunk::leaf(b"VINI", vec![1, 2, 3]))),
        ),
        (
            "chunk-end",
            with(&vertex, &|mbs| {
                let Body::Node { tail, .. } = &mut chunk(mbs, *b"SATT").body else {
                    panic!()
                };
                *tail = vec![1, 2, 3, 4];
            }),
        ),
        (
            "chunk-known",
            with(&vertex, &|mbs| children(mbs).push(Chunk::leaf(b"ABCD", Vec::new()))),
        ),
        ("program", Mbs::of(&[])),
        (
            "program",
            Mbs::of(&[vertex.programs().unwrap(), vertex.programs().unwrap()].concat()),
        ),
        (
            "chunk-missing",
            with(&fragment, &|mbs| children(mbs).retain(|chunk| chunk.ident != *b"FBUU")),
        ),
        ("core-version", program(|p| p.version.0 = 7, 0)),
        ("code-size", program(|p| p.code.truncate(4), 0)),
        ("prefetch", program(|p| p.instructions.as_mut().unwrap()[2] = 1000, 0)),
        (
            "count",
            with(&vertex, &|mbs| {
                let Body::Node { head, .. } = &mut chunk(mbs, *b"SATT").body else {
                    panic!()
                };
                head[0] += 1;
            }),
        ),
        (
            "name",
            with(&vertex, &|mbs| {
                let Body::Node { children, .. } = &mut chunk(mbs, *b"SATT").body else {
                    panic!()
                };
                let Body::Node { children, .. } = &mut children[0].body else {
                    panic!()
                };
                children[0].body = Body::Leaf(b"abcd".to_vec());
            }),
        ),
        (
            "symbol",
            with(&vertex, &|mbs| {
                let Body::Node { children, .. } = &mut chunk(mbs, *b"SATT").body else {
                    panic!()
                };
                children[0].body = Body::Leaf(vec![0; 4]);
            }),
        ),
        ("type", uniform(|symbol| symbol.kind = SymbolType(77))),
        ("type", uniform(|symbol| symbol.components = 5)),
        ("alignment", uniform(|symbol| symbol.offset = 2)),
        ("stride", program(|p| p.varyings.as_mut().unwrap()[0].stride = 2, 1)),
        ("space", program(|p| p.uniform_space = 8, 0)),
        ("parent", uniform(|symbol| symbol.parent = 1)),
        (
            "initial",
            program(|p| p.uniforms.as_mut().unwrap()[1].initial = Some(vec![0; 3]), 0),
        ),
    ];
    for (rule, mbs) in &cases {
        assert!(broken(mbs).contains(rule), "{rule}: {:?}", broken(mbs));
    }
    for (rule, _) in RULES {
        assert!(cases.iter().any(|case| case.0 == *rule), "no case breaks {rule}");
    }
    println!("{} rules, each broken by a change", RULES.len());
}
