//! Broken files: every one of the tests' own, and every sample damaged.

use super::door::{said, skrymir};
use crate::common;
use std::path::Path;
use wasm_door::{Recording, Shaders, files};

/// Names and bytes of files that are wrong, or may be.
pub(super) fn all() -> Vec<(String, Vec<u8>)> {
    let mut all = Vec::new();
    for folder in ["findings", "sl/errors"] {
        for path in common::files(&common::data(folder), "") {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            all.push((name, std::fs::read(path).unwrap()));
        }
    }
    let samples = common::files(&common::data(""), "vbc").into_iter().take(4);
    for (number, path) in samples.enumerate() {
        let bytes = std::fs::read(path).unwrap();
        for part in [1, 2, 3] {
            all.push((
                format!("cut{number}-{part}.vbc"),
                bytes[..bytes.len() * part / 4].to_vec(),
            ));
        }
        for at in (8..bytes.len()).step_by((bytes.len() / 6).max(1)) {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0xff;
            all.push((format!("damaged{number}-{at}.vbc"), damaged));
        }
    }
    all.push(("empty".to_owned(), Vec::new()));
    all.push((
        "noise.bin".to_owned(),
        (0..4096u32).map(|at| ((at * at) >> 3) as u8).collect(),
    ));
    let recording = super::browser::recording();
    all.push(("cut.trace".to_owned(), recording[..recording.len() / 2].to_vec()));
    all
}

/// What the command says of a file: of `info` and of `check`.
pub(super) fn answer(folder: &Path, name: &str, bytes: &[u8]) -> [String; 2] {
    std::fs::write(folder.join(name), bytes).unwrap();
    let info = skrymir(folder, &["info", name]);
    let check = skrymir(folder, &["check", name]);
    let text = |output: &std::process::Output| match output.stdout.is_empty() {
        true => said(output),
        false => String::from_utf8_lossy(&output.stdout).into_owned(),
    };
    [text(&info), text(&check)]
}

#[test]
fn broken_files_get_the_message_of_the_command() {
    let folder = tempfile::tempdir().unwrap();
    let (mut refused, mut counted) = (0, 0);
    for (name, bytes) in all() {
        let [info, check] = answer(folder.path(), &name, &bytes);
        let found = files::info(&name, &bytes, None);
        refused += usize::from(found.is_err());
        counted += 1;
        assert_eq!(
            found.map_or_else(|refusal| refusal.message, |answer| answer.text),
            info,
            "{name}"
        );
        let checked = files::check(&name, &bytes, None);
        assert_eq!(
            checked.map_or_else(|refusal| refusal.message, |answer| answer.text),
            check,
            "{name}"
        );
        // The others answer, whatever it is.
        let _ = files::dis(&name, &bytes, None, Some("frag"));
        let _ = files::convert(&name, &bytes, None, "wgsl", Some("frag"));
        let text = String::from_utf8_lossy(&bytes);
        let _ = files::assemble(&name, &text);
        let _ = Shaders::new(("a.wgsl", &text), None);
        let _ = Recording::new(&name, bytes);
    }
    println!("{counted} files, {refused} of them refused by info");
    assert!(counted > 40 && refused > 20, "{refused} of {counted}");
}
