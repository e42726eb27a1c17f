//! A short run of the fuzzer over the project's own samples. The long run is described in `examples/fuzz_vbc.rs`.

use crate::common;

use std::process::Command;

#[test]
fn damaged_files_end_in_an_error_or_a_picture() {
    let fuzzer = std::env::current_exe().unwrap();
    let fuzzer = fuzzer
        .parent()
        .and_then(|deps| deps.parent())
        .unwrap()
        .join("examples/fuzz_vbc");
    if !fuzzer.is_file() {
        println!("{} is not built; a whole `cargo test` builds it", fuzzer.display());
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let run = Command::new(fuzzer)
        .args(["--mutations", "150", "--keep"])
        .arg(folder.path())
        .args(common::files(&common::data("vbc"), "vbc"))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&run.stdout);
    println!("{said}");
    assert!(run.status.success(), "{said}{}", String::from_utf8_lossy(&run.stderr));
    let last = said.lines().last().unwrap();
    assert!(
        !last.contains(" 0 pictures") && !last.contains(" 0 errors"),
        "both outcomes occur: {last}"
    );
}
