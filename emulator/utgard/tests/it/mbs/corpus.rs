//! MBS files: genuine and our own files are reproduced byte for byte from values and from text.

use crate::common;

use loader::mbs::{Mbs, Program, Stage, validate};
use std::path::PathBuf;
use utgard::{gp, pp, shader, stats};

/// Our own samples as text.
fn samples() -> Vec<(PathBuf, String)> {
    let folders = [common::data("mali"), common::root().join("examples/mali")];
    let files = folders.iter().flat_map(|folder| common::files(folder, "s"));
    files
        .map(|path| (path.clone(), std::fs::read_to_string(path).unwrap()))
        .collect()
}

fn comes_back(name: &str, bytes: &[u8]) {
    let mbs = Mbs::read(bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(mbs.write(), bytes, "{name}: bytes");
    assert_eq!(Mbs::of(&mbs.programs().unwrap()).write(), bytes, "{name}: values");
    let text = shader::disassemble(&mbs).unwrap_or_else(|error| panic!("{name}: {error}"));
    let again = shader::assemble(&text).unwrap_or_else(|error| panic!("{name}: {error}\n{text}"));
    assert_eq!(again.write(), bytes, "{name}: text\n{text}");
    let report = validate(&mbs);
    assert!(report.diagnostics.is_empty(), "{name}: {:?}", report.diagnostics);
}

#[test]
fn genuine_files_come_back() {
    let Some(folder) = common::corpus("mbs") else { return };
    let files = common::files(&folder, "mbs");
    let mut symbols = 0;
    for path in &files {
        let bytes = std::fs::read(path).unwrap();
        comes_back(&path.display().to_string(), &bytes);
        for program in Mbs::read(&bytes).unwrap().programs().unwrap() {
            symbols += program.tables().iter().map(|(_, table)| table.len()).sum::<usize>();
            assert_eq!(stats::stats(&program).findings, [], "{}", path.display());
        }
    }
    assert_eq!((files.len(), symbols), (4, 3 + 15 + 8));
    println!("{} genuine MBS files come back, with {symbols} symbols", files.len());
}

#[test]
fn the_cube_has_the_symbols_its_readme_names() {
    let Some(folder) = common::corpus("mbs") else { return };
    let read = |name: &str| Mbs::read(&std::fs::read(folder.join(name)).unwrap()).unwrap();
    let vertex = read("ssvb_cube_vertex.libmali.mbs")
        .program(Stage::Vertex)
        .unwrap()
        .unwrap();
    let offset = |name: &str| {
        let all = vertex.tables().into_iter().flat_map(|(_, table)| table);
        all.into_iter()
            .find(|symbol| symbol.name() == name)
            .map(|symbol| (symbol.offset, symbol.type_name()))
    };
    let expected = [
        ("modelviewMatrix", 0, "mat4"),
        ("modelviewprojectionMatrix", 16, "mat4"),
        ("gl_mali_ViewportTransform", 32, "vec4[2]"),
        ("normalMatrix", 44, "mat3"),
        ("in_position", 0, "vec4"),
        ("in_normal", 4, "vec3"),
        ("coord", 8, "vec2"),
    ];
    for (name, at, ty) in expected {
        assert_eq!(offset(name), Some((at, ty.to_owned())), "{name}");
    }
    let constant = vertex
        .uniforms
        .iter()
        .flatten()
        .find(|symbol| symbol.name().ends_with("constant_001"))
        .unwrap();
    assert_eq!(constant.initial, Some(vec![40f32.to_bits()]));
    assert_eq!((vertex.instructions, vertex.uniform_space), (Some([0, 39, 32]), 60));
}

#[test]
fn samples_assemble_and_come_back() {
    let samples = samples();
    assert!(samples.len() >= 4, "samples are missing");
    for (path, text) in &samples {
        let name = path.display().to_string();
        let mbs = shader::assemble(text).unwrap_or_else(|error| panic!("{}", error.render(text, &name)));
        comes_back(&name, &mbs.write());
        // The loader's own tests read some of them as files (`BLESS=1` rewrites those).
        let file = common::data("mbs")
            .join(path.file_name().unwrap())
            .with_extension("mbs");
        if file.exists() {
            if std::env::var_os("BLESS").is_some() {
                std::fs::write(&file, mbs.write()).unwrap();
            }
            assert_eq!(mbs.write(), std::fs::read(&file).unwrap(), "{}", file.display());
        }
    }
    println!("{} samples assemble and come back", samples.len());
}

#[test]
fn samples_use_every_operation() {
    let programs: Vec<Program> = samples()
        .iter()
        .flat_map(|(_, text)| shader::assemble(text).unwrap().programs().unwrap())
        .collect();
    let vertices = programs.iter().filter(|program| program.stage == Stage::Vertex);
    let gp: Vec<gp::Instruction> = vertices
        .flat_map(|program| shader::instructions(&program.code))
        .map(gp::Instruction::decode)
        .collect();
    let fragments = programs.iter().filter(|program| program.stage == Stage::Fragment);
    let pp: Vec<pp::Instruction> = fragments
        .flat_map(|program| pp::flow::instructions(&program.code).0)
        .map(|(_, i)| i)
        .collect();
    let uses = |what: &str, yes: bool| assert!(yes, "no sample uses {what}");
    for op in gp::AccOp::ALL {
        uses(op.name(), gp.iter().any(|i| i.acc_op == *op && i.acc0_a.is_used()));
    }
    for op in gp::ComplexOp::ALL {
        let used = |i: &gp::Instruction| i.complex_op == *op && i.complex_source.is_used();
        uses(op.name(), gp.iter().any(used));
    }
    for op in gp::PassOp::ALL {
        uses(
            op.name(),
            gp.iter().any(|i| i.pass_op == *op && i.pass_source.is_used()),
        );
    }
    for op in gp::MulOp::ALL {
        uses(op.name(), gp.iter().any(|i| i.mul_op == *op && i.mul0_a.is_used()));
    }
    for row in gp::UNITS {
        let stored = |i: &gp::Instruction| i.stores().iter().any(|(s, _)| *s == gp::Stored::Unit(row.unit));
        uses(row.name, gp.iter().any(stored));
    }
    for op in pp::MulOp::ALL {
        let used =
            |i: &pp::Instruction| i.vec_mul.is_some_and(|u| u.op == *op) || i.float_mul.is_some_and(|u| u.op == *op);
        uses(op.name(), pp.iter().any(used));
    }
    for op in pp::AccOp::ALL {
        uses(op.name(), pp.iter().any(|i| i.vec_acc.is_some_and(|u| u.op == *op)));
        if op.row().units == pp::ops::Units::Both {
            uses(op.name(), pp.iter().any(|i| i.float_acc.is_some_and(|u| u.op == *op)));
        }
    }
    let forms: Vec<pp::Form> = pp.iter().filter_map(|i| i.combine).map(|u| u.form()).collect();
    for op in pp::ScalarFunction::ALL {
        uses(op.name(), forms.contains(&pp::Form::Scalar(*op)));
    }
    for op in pp::VectorFunction::ALL {
        uses(op.name(), forms.contains(&pp::Form::Vector(*op)));
    }
    for kind in pp::VaryingKind::ALL.iter().filter(|kind| kind.row().known) {
        uses(
            kind.name(),
            pp.iter().any(|i| i.varying.is_some_and(|u| u.kind == *kind)),
        );
    }
    for (number, unit) in pp::UNITS.iter().enumerate() {
        uses(unit.0, pp.iter().any(|i| i.unit(number).is_some()));
    }
}
