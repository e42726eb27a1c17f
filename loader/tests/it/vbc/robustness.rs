//! Damaged VBC files: cut at every byte, and every byte of the first 300 changed. Nothing panics.

use super::samples;
use crate::common;

use arbtest::arbitrary::{Result, Unstructured};
use loader::vbc::{
    self, BaseType, Binding, Dialect, Model, RULES, Shape, Stages, SubpassInput, TexelRank, TexelType, UniformMember,
    UniformModel, Variable,
};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The corpus and our own samples.
fn files() -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<_> = samples::all().map(|(name, bytes)| (name.to_owned(), bytes)).into();
    for path in common::corpus("vbc")
        .iter()
        .flat_map(|folder| common::files(folder, "vbc"))
    {
        files.push((path.display().to_string(), std::fs::read(&path).unwrap()));
    }
    files
}

/// Runs every operation on a file's bytes; returns whether it could be read.
fn exercise(bytes: &[u8]) -> bool {
    let Ok(file) = vbc::read(bytes) else { return false };
    let report = vbc::validate(&file);
    for diagnostic in &report.diagnostics {
        assert!(
            RULES.iter().any(|rule| rule.0 == diagnostic.rule),
            "{} is not in the list",
            diagnostic.rule
        );
        assert!(
            diagnostic.offset.is_some_and(|offset| offset <= bytes.len() as u64),
            "{diagnostic}"
        );
    }
    let _ = vbc::requirements(&file);
    let model = file.to_model();
    if let Ok(written) = vbc::write(&model) {
        let again = vbc::read(&written).map(|file| file.to_model());
        // An inconsistent file may be written in another form; a valid one may not.
        assert!(!report.is_valid() || again == Ok(model), "writing changed a valid file");
    }
    true
}

/// Runs the cases of every file on all cores: `case(bytes, index)` for `index` below `count(bytes)`.
fn on_all_cores(
    files: &[(String, Vec<u8>)],
    count: fn(&[u8]) -> usize,
    case: impl Fn(&mut Vec<u8>, usize) -> bool + Sync,
) -> (usize, usize) {
    let step = common::quick_step(101);
    const CHUNK: usize = 512;
    let chunks: Vec<_> = files
        .iter()
        .flat_map(|(name, bytes)| (0..count(bytes)).step_by(CHUNK).map(move |from| (name, bytes, from)))
        .collect();
    let (next, read, all) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(&(name, bytes, from)) = chunks.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let mut work = bytes.clone();
                    for index in (from..count(bytes).min(from + CHUNK)).step_by(step) {
                        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| case(&mut work, index)));
                        let was_read = result.unwrap_or_else(|_| panic!("{name}, case {index}"));
                        read.fetch_add(was_read.into(), Ordering::Relaxed);
                        all.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    (all.into_inner(), read.into_inner())
}

#[test]
fn a_file_cut_anywhere() {
    let files = files();
    let (all, read) = on_all_cores(&files, |bytes| bytes.len(), |work, index| exercise(&work[..index]));
    println!("{} files: {all} cuts, {read} of them readable", files.len());
}

#[test]
fn any_byte_changed_to_any_other() {
    let files = files();
    let count = |bytes: &[u8]| bytes.len().min(300) * 255;
    let (all, read) = on_all_cores(&files, count, |work, index| {
        let (at, change) = (index / 255, (index % 255) as u8 + 1);
        work[at] ^= change;
        let was_read = exercise(work);
        work[at] ^= change;
        was_read
    });
    println!(
        "{} files: {all} changed bytes, {read} of the files still readable",
        files.len()
    );
    assert!(
        read > all / 4,
        "changes should leave files readable, or the validator is not tested"
    );
}

/// Any model that both dialects can represent, valid or not: known enumerants, all other values free.
fn any_model(u: &mut Unstructured) -> Result<Model> {
    let mut model = samples::everything();
    model.tables = vbc::Tables::from_sizes(u.arbitrary()?);
    model.inputs = any_list(u, any_variable)?;
    model.outputs = any_list(u, any_variable)?;
    model.bindings = any_list(u, any_binding)?;
    model.uniform = if u.arbitrary()? { Some(any_uniform(u)?) } else { None };
    model.subpass_inputs = any_list(u, |u| {
        let (texel, components) = (TexelType(u.int_in_range(0..=2)?), u.arbitrary()?);
        Ok(SubpassInput { texel, components })
    })?;
    Ok(model)
}

fn any_list<T>(u: &mut Unstructured, mut item: impl FnMut(&mut Unstructured) -> Result<T>) -> Result<Vec<T>> {
    let count = u.int_in_range(0..=6)?;
    (0..count).map(|_| item(u)).collect()
}

fn any_variable(u: &mut Unstructured) -> Result<Variable> {
    Ok(Variable {
        location: u.arbitrary()?,
        base: BaseType(u.int_in_range(0..=4)?),
        dims: u.arbitrary()?,
        array: u.arbitrary()?,
    })
}

fn any_binding(u: &mut Unstructured) -> Result<Binding> {
    let base = BaseType(u.int_in_range(5..=10)?);
    let texel = TexelType(u.int_in_range(0..=3)?);
    let (size, components) = match base {
        BaseType::SAMPLER | BaseType::RO_TEXELS => (4, 4),
        _ => (if texel == TexelType::UNORM { 1 } else { 4 }, u.arbitrary()?),
    };
    let shape = if base.is_buffer() {
        let size = u.arbitrary()?;
        Shape::Buffer { size }
    } else {
        let rank = TexelRank(u.int_in_range(0..=6)?);
        let normal = matches!(base, BaseType::SAMPLER | BaseType::RO_TEXELS) && texel == TexelType::UNORM;
        let texel = if normal { TexelType::FLOAT } else { texel };
        Shape::Texel {
            rank,
            texel,
            size,
            components,
        }
    };
    Ok(Binding {
        slot: u.arbitrary()?,
        base,
        stages: Stages(u.arbitrary()?),
        shape,
    })
}

fn any_uniform(u: &mut Unstructured) -> Result<UniformModel> {
    Ok(UniformModel {
        size: u.int_in_range(1..=65535)?,
        stages: Stages(u.arbitrary()?),
        members: any_list(u, |u| {
            let length = u.int_in_range(0..=40)?;
            Ok(UniformMember {
                name: u.bytes(length)?.to_vec(),
                offset: u.int_in_range(0..=65535)?,
                base: BaseType(u.int_in_range(0..=4)?),
                dims: u.arbitrary()?,
                array: u.arbitrary()?,
            })
        })?,
    })
}

#[test]
fn any_model_reads_back_in_both_dialects() {
    let mut models = 0;
    arbtest::arbtest(|u| {
        let model = any_model(u)?;
        for (bytes, dialect) in [
            (vbc::write(&model).unwrap(), Dialect::Current),
            (samples::legacy(&model), Dialect::Legacy),
        ] {
            let file = vbc::read(&bytes).unwrap();
            assert_eq!(file.dialect(), dialect);
            assert_eq!(file.to_model(), model);
            exercise(&bytes);
        }
        models += 1;
        Ok(())
    })
    .budget_ms(1000);
    println!("{models} random models read back as they were written, in both dialects");
    assert!(models > 100);
}
