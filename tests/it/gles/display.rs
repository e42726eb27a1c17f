//! The display without a driver: pictures in files, and the page that shows them and sends keys.

use super::support::{gles, native, text};
use crate::common::{address, ask};
use skrymir::picture::Picture;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

#[test]
fn a_display_shows_pictures() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = folder.path().to_str().expect("a plain name");
    let program = native("display");
    let output = gles(&["--frames", place, "--size", "64x48"], &program, &[]);
    let said = text(&output);
    assert!(
        output.status.success() && said.contains("89 checks, 0 failed"),
        "{said}"
    );
    let (red, green, black) = ([255, 0, 0, 255], [0, 255, 0, 255], [0, 0, 0, 255]);
    // Mode setting, a flip, three atomic changes, a cursor and its removal, the previous state.
    let colors = [red, green, red, green, red, red, red, black];
    for (number, color) in colors.into_iter().enumerate() {
        let path = folder.path().join(format!("frame{number:05}.png"));
        let picture = Picture::load(&path).expect("a picture");
        assert_eq!((picture.width, picture.height), (64, 48));
        for (at, pixel) in picture.rgba.chunks_exact(4).enumerate() {
            let under_cursor = number == 5 && at % 64 < 4 && (10..18).contains(&(at / 64));
            let wanted = if under_cursor { [255; 4] } else { color };
            assert_eq!(pixel, wanted, "{number}: {}, {}", at % 64, at / 64);
        }
    }
    assert!(!folder.path().join(format!("frame{:05}.png", colors.len())).exists());
    // The same as video.
    let output = gles(&["--frames", "-", "--size", "64x48"], &program, &[]);
    let head = b"YUV4MPEG2 W64 H48 F60:1 Ip A1:1 C444\n";
    assert!(output.stdout.starts_with(head), "{}", text(&output).len());
    assert_eq!(output.stdout.len(), head.len() + colors.len() * (6 + 3 * 64 * 48));
}

/// The program receives exactly the keys and pointer events that were sent.
#[test]
fn a_page_sends_keys_and_the_pointer() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_skrymir"));
    command.args(["gles", "--view", "--size", "64x48", "--timeout", "60", "--"]);
    command
        .arg(native("input"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().expect("the command runs");
    let url = address(child.stderr.take().expect("a pipe"));
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let mut line = move || lines.next().expect("a line").expect("text");
    assert_eq!(line(), "ready");
    let send = |body: &str| ask(&url, "POST", "input", body).0;
    let (status, page) = ask(&url, "GET", "", "");
    assert!(status == 200 && String::from_utf8_lossy(&page).contains("<canvas"));
    let wrong = format!("{}-/", &url[..url.len() - 2]);
    assert_eq!(ask(&wrong, "POST", "input", "").0, 403);
    assert_eq!(send("key 30 1\nkey nonsense"), 400);
    // A key that is down does not repeat, and positions are clamped to the screen.
    assert_eq!(send("key 30 1\nkey 30 1\npoint 5 900\nkey 272 1"), 204);
    // The program also queries the pressed keys.
    let mut events: Vec<String> = (0..7).map(|_| line()).collect();
    assert_eq!(send("wheel 0 -1\nkey 30 0"), 204);
    events.extend((0..4).map(|_| line()));
    assert_eq!(send("key 1 1\nkey 1 0"), 204);
    for _ in 0..4 {
        line();
    }
    // Events of one device arrive in order.
    events.sort_by_key(|event| event.starts_with("event1"));
    let keyboard = ["event0: 1 30 1", "event0: 0 0 0", "event0: 1 30 0", "event0: 0 0 0"];
    let pointer = [
        "event1: 3 0 5",
        "event1: 3 1 47",
        "event1: 0 0 0",
        "event1: 1 272 1",
        "event1: 0 0 0",
        "event1: 2 8 -1",
        "event1: 0 0 0",
    ];
    assert_eq!(events, [&keyboard[..], &pointer[..]].concat());
    assert_eq!(line(), "25 checks, 0 failed");
    assert!(child.wait().expect("an end").success());
}

/// The picture is on the page, as bytes and for a browser.
#[test]
fn a_page_shows_the_screen() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_skrymir"));
    command.args(["gles", "--view", "--size", "64x48", "--timeout", "60", "--", "sh", "-c"]);
    command.arg(format!("{} && sleep 60", native("display").display()));
    command.stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the command runs");
    let url = address(child.stderr.take().expect("a pipe"));
    let mut last = String::new();
    loop {
        let (status, bytes) = ask(&url, "GET", &format!("picture{last}"), "");
        assert_eq!(status, 200);
        let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        assert_eq!((word(4), word(8), bytes.len()), (64, 48, 12 + 4 * 64 * 48));
        let number = word(0);
        last = format!("?after={number}");
        // The contents of the picture are checked by a_display_shows_pictures.
        if number == 7 {
            assert!(bytes[12..].chunks_exact(4).all(|pixel| pixel == [0, 0, 0, 255]));
            break;
        }
        let color = if matches!(number, 1 | 3) {
            [0, 255, 0, 255]
        } else {
            [255, 0, 0, 255]
        };
        assert_eq!(bytes[bytes.len() - 4..], color, "{number}");
    }
    child.kill().expect("it runs");
    child.wait().expect("an end");
}
