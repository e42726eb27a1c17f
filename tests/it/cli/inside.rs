//! Shaders inside other files: `info` lists them and `--extract` writes them.

use super::json::kept;
use crate::common;
use std::process::{Command, Output};

fn info(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_skrymir"));
    command.arg("info").args(arguments).output().expect("the command runs")
}

#[test]
fn shaders_in_an_archive_are_listed_and_extracted() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_owned();
    let own = ["everything.vbc", "vbc/textured.vbc"].map(|name| std::fs::read(common::data(name)).expect("a file"));
    let text = std::fs::read_to_string(common::data("naga/case_of_two.spvasm")).expect("a text");
    let module = loader::spirv::write(&loader::spirv::parse(&text).expect("a module")).unwrap();
    let files = [("vbc", &own[0]), ("spirv", &module), ("vbc", &own[1])];
    let (mut archive, mut offsets) = (b"PAK with a header".to_vec(), Vec::new());
    for (_, file) in files {
        offsets.push(archive.len());
        archive.extend(file);
        archive.extend_from_slice(b"name.vbc\0\0\0");
    }
    std::fs::write(path("game.pak"), &archive).expect("written");
    let listed = kept(
        "info",
        &["info", &path("game.pak"), "--extract", &path("out"), "--json"],
    );
    let rows = listed["files"].as_array().expect("rows");
    assert_eq!(
        (rows.len(), listed["format"].as_str()),
        (3, Some("unknown")),
        "{listed:#}"
    );
    for ((row, (format, file)), offset) in rows.iter().zip(files).zip(offsets) {
        assert_eq!(
            (row["format"].as_str(), row["offset"].as_u64()),
            (Some(format), Some(offset as u64))
        );
        let written = std::fs::read(row["written"].as_str().expect("a path")).expect("a file");
        assert_eq!(&written, file, "{row}");
    }
    let output = info(&[&path("game.pak")]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!((output.status.code(), text.lines().count()), (Some(0), 4), "{text}");
    // The stages of a VBC are modules inside it.
    let output = info(&[&path("out/0x00000011.vbc"), "--extract", &path("stages")]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("of vbc") && text.contains("spirv"), "{text}");
    // Negative control: without shaders there is an error.
    std::fs::write(path("noise.pak"), b"PAK without any of that").expect("written");
    for arguments in [&[][..], &["--extract", &path("none")]] {
        let output = info(&[&[path("noise.pak").as_str()][..], arguments].concat());
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
    }
}
