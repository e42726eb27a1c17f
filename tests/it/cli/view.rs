//! `--view` of `run` and `draw`: a local page whose picture follows the time and the files.

use super::sources::ends;
use crate::common::{address, ask};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const WHOLE: &str = "attribute vec4 position;\nvoid main() { gl_Position = position; }\n";

const STILL: &str = "precision mediump float;\nuniform vec3 tint;\nvoid main() { gl_FragColor = vec4(tint, 1.0); }\n";

/// Grows from black to white in a thousand seconds.
const RUNNING: &str =
    "precision highp float;\nuniform float u_time;\nvoid main() { gl_FragColor = vec4(vec3(u_time * 0.001), 1.0); }\n";

/// A command that shows a page, which ends with this.
struct Shown {
    child: Child,
    url: String,
    /// The number of the last picture.
    last: Option<u32>,
}

impl Shown {
    fn start(verb: &[&str], folder: &Path, arguments: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_skrymir"))
            .args([verb, &["a.vert", "a.frag", "--size", "16x16", "--view"], arguments].concat())
            .current_dir(folder)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the command runs");
        let url = address(child.stderr.take().expect("a pipe"));
        Self { child, url, last: None }
    }

    /// The pixel in the middle of the next picture.
    fn next(&mut self) -> [u8; 4] {
        let start = Instant::now();
        loop {
            let after = self.last.map_or(String::new(), |last| format!("?after={last}"));
            let (status, bytes) = ask(&self.url, "GET", &format!("picture{after}"), "");
            if status == 200 {
                let (head, pixels) = bytes.split_at(12);
                let word = |at: usize| u32::from_le_bytes(head[at..at + 4].try_into().unwrap());
                assert_eq!((word(4), word(8), pixels.len()), (16, 16, 4 * 16 * 16));
                self.last = Some(word(0));
                return pixels[4 * (8 * 16 + 8)..][..4].try_into().unwrap();
            }
            assert!(start.elapsed() < Duration::from_secs(120), "no picture of {}", self.url);
        }
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const VERBS: [&[&str]; 4] = [
    &["run"],
    &["run", "--device", "mali400"],
    &["draw"],
    &["draw", "--engine", "vulkan"],
];

#[test]
fn a_page_follows_the_files() {
    for verb in VERBS {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        write("a.vert", WHOLE);
        write("a.frag", STILL);
        let mut shown = Shown::start(verb, folder.path(), &["--set", "tint=1,0,0"]);
        let (status, page) = ask(&shown.url, "GET", "", "");
        assert!(status == 200 && String::from_utf8_lossy(&page).contains("data-still"));
        assert_eq!(shown.next(), [255, 0, 0, 255], "{verb:?}");
        // What does not compile leaves the last picture; the next number is that of the text that does.
        write("a.frag", "void main() { no }");
        std::thread::sleep(Duration::from_millis(500));
        write("a.frag", &STILL.replace("vec4(tint", "vec4(tint.zyx"));
        assert_eq!(shown.next(), [0, 0, 255, 255], "{verb:?}");
    }
}

#[test]
fn time_runs_on_a_page() {
    for verb in VERBS {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.vert"), WHOLE).unwrap();
        std::fs::write(folder.path().join("a.frag"), RUNNING).unwrap();
        let mut shown = Shown::start(verb, folder.path(), &["--time", "500", "--rate", "100"]);
        let first = shown.next()[0];
        assert!((127..200).contains(&first), "{verb:?}: {first}");
        let start = Instant::now();
        while shown.next()[0] <= first {
            assert!(
                start.elapsed() < Duration::from_secs(120),
                "{verb:?}: time stands still"
            );
        }
    }
}

#[test]
fn a_page_has_no_file() {
    for (arguments, expected) in [
        (&["run", "a.frag", "--view", "-o", "out.png"][..], "cannot be used with"),
        (&["run", "a.frag", "--view", "--frames", "2"], "cannot be used with"),
        (&["run", "a.frag", "--view", "--timing"], "cannot be used with"),
        (&["run", "-", "--view"], "--view: standard input does not change"),
        (&["run", "a.sl", "--as", "sl", "--view"], "--view means nothing for sl"),
        (
            &["draw", "a.vert", "a.frag", "--view", "--record", "a.trace"],
            "--view draws several pictures",
        ),
        (&["draw", "a.vert", "a.frag", "--rate", "5"], "--frames"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in [("a.vert", WHOLE), ("a.frag", STILL), ("a.sl", "")] {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        let error = ends(folder.path(), arguments, 2);
        assert!(error.contains(expected), "{arguments:?}: {error}");
    }
}
