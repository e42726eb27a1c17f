//! Recorded jobs of a real driver give the pictures their programs mean.
#![allow(missing_docs)]

mod common;

use emulator::exec::scalar::Scalar;
use loader::trace::Trace;
use skrymir::picture::Picture;
use skrymir::replay::replay;

/// Largest difference of a channel, share of pixels with one above 6.
fn difference(have: &Picture, want: &Picture) -> (u8, f64) {
    let (mut worst, mut off) = (0, 0);
    for (a, b) in have.rgba.chunks(4).zip(want.rgba.chunks(4)) {
        let pixel = a.iter().zip(b).map(|(a, b)| a.abs_diff(*b)).max().unwrap_or(0);
        worst = worst.max(pixel);
        off += usize::from(pixel > 6);
    }
    (worst, off as f64 / f64::from(want.width * want.height))
}

#[test]
fn recordings_give_their_pictures() {
    let Some(folder) = common::corpus("mali") else { return };
    let (mut good, mut all) = (0, 0);
    for path in common::files(&folder, "trace") {
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        all += 1;
        let bytes = std::fs::read(&path).unwrap();
        let trace = Trace::read(&bytes).unwrap();
        assert_eq!(trace.write(), bytes, "{name}");
        let picture = match replay(&trace, Box::new(Scalar), 1).and_then(|done| {
            let notes: Vec<&str> = done.gpu.notes.iter().collect();
            if !notes.is_empty() {
                println!("{name}: notes {notes:?}");
            }
            done.picture()
        }) {
            Ok(picture) => picture,
            Err(error) => {
                println!("{name}: FAULT {error:#}");
                continue;
            }
        };
        let mut want = Picture::load(&folder.join(format!("{name}.png"))).unwrap();
        assert_eq!((picture.width, picture.height), (want.width, want.height), "{name}");
        let _ = &mut want;
        let (worst, off) = difference(&picture, &want);
        let fine = off <= 0.01;
        good += usize::from(fine);
        println!(
            "{name}: worst {worst}, off {:.2} %{}",
            off * 100.0,
            if fine { "" } else { "  <-- BAD" }
        );
    }
    println!("{good} of {all} within tolerance");
}
