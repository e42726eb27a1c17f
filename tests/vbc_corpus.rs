//! VBC files: every file of the corpus loads, writes again, and never panics when damaged.

mod common;

use loader::vbc::{self, Dialect, Model, Stage};
use std::path::PathBuf;

/// Every file there is to test on.
fn corpus() -> Vec<(String, Vec<u8>)> {
    let folder = common::corpus("vbc");
    let files: Vec<PathBuf> = folder.iter().flat_map(|folder| common::files(folder, "vbc")).collect();
    let name = |path: &PathBuf| path.file_stem().unwrap().to_string_lossy().into_owned();
    files
        .iter()
        .map(|path| (name(path), std::fs::read(path).unwrap()))
        .collect()
}

/// Whether the file is of the current dialect and nothing in it had to be salvaged.
fn is_well_formed(file: &vbc::Vbc) -> bool {
    file.dialect() == Dialect::Current && file.diagnostics().is_empty()
}

#[test]
fn every_file_loads_and_writes_again() {
    let (mut same, mut salvaged, mut refused) = (0, 0, 0);
    let corpus = corpus();
    for (name, bytes) in &corpus {
        let file = vbc::read(bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
        let model = file.to_model();
        match vbc::write(&model) {
            Ok(written) if is_well_formed(&file) => {
                assert_eq!(&written, bytes, "{name}");
                same += 1;
            }
            Ok(written) => {
                let again = vbc::read(&written).unwrap();
                assert!(is_well_formed(&again), "{name}");
                assert_eq!(again.to_model(), model, "{name}");
                salvaged += 1;
            }
            // The true word count does not fit; writing says which stage and why.
            Err(error) => {
                assert!(
                    file.diagnostics().iter().any(|d| d.rule == "word-count-overflow"),
                    "{name}: {error}"
                );
                assert!(
                    Stage::ALL.iter().any(|stage| error.place() == stage.name()),
                    "{name}: {error}"
                );
                refused += 1;
            }
        }
    }
    println!(
        "{} files load; {same} write the same bytes, {salvaged} salvaged ones the same facts, {refused} refused",
        corpus.len()
    );
    if !corpus.is_empty() {
        assert_eq!((corpus.len(), same, salvaged, refused), (57, 50, 6, 1));
    }
}

#[test]
fn an_empty_model_writes_and_reads() {
    let written = vbc::write(&Model::default()).unwrap();
    assert_eq!(written.len(), 43);
    assert_eq!(vbc::read(&written).unwrap().to_model(), Model::default());
}
