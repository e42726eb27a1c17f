//! The reflection of files, and Rust's compiler for the structs made of it.

use crate::common;

use loader::reflect::{Reflection, reflect};
use loader::vbc;
use std::process::Command;

/// Every file with its name.
pub(crate) fn files() -> Vec<(String, Vec<u8>)> {
    let folders = [Some(common::data("")), common::corpus("vbc")];
    let paths = folders.iter().flatten().flat_map(|folder| common::files(folder, "vbc"));
    paths
        .map(|path| {
            (
                path.file_stem().unwrap().to_string_lossy().into_owned(),
                std::fs::read(path).unwrap(),
            )
        })
        .collect()
}

pub(crate) fn reflected(bytes: &[u8]) -> Reflection {
    reflect(&vbc::read(bytes).unwrap())
}

/// Whether a library of this source compiles, and the compiler's output.
pub(crate) fn compiles(source: &str) -> (bool, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("structs.rs");
    std::fs::write(&path, source).unwrap();
    let output = Command::new(std::env::var_os("RUSTC").unwrap_or("rustc".into()))
        .args([
            "--edition",
            "2024",
            "--crate-type",
            "lib",
            "--emit",
            "metadata",
            "--out-dir",
        ])
        .args([folder.path(), &path])
        .output()
        .expect("rustc runs");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.success(), said)
}
