//! `diff` and `trim --shrink` on recordings of a real driver.

use crate::common;

use emulator::exec::Engine;
use emulator::exec::wide::Wide;
use inspect::diff::diff;
use inspect::shrink::shrink;
use loader::trace::{Pipe, Record, Trace};
use skrymir::runner::replay::replay;

fn engine() -> Box<dyn Engine> {
    Box::new(Wide::default())
}

/// Index of the frame word of a pixel job with the first sample's clear colour.
const CLEAR: usize = 6;

/// A recording whose last pixel job has another clear colour.
fn cleared<'a>(trace: &Trace<'a>) -> Trace<'a> {
    let mut other = trace.clone();
    let frames = other.records.iter_mut().rev().filter_map(|(_, record)| match record {
        Record::Submit {
            pipe: Pipe::Pp, frame, ..
        } => Some(frame),
        _ => None,
    });
    let frame = frames.into_iter().next().expect("a pixel job");
    frame[CLEAR] ^= 0x0040_4040;
    other
}

#[test]
fn diff_finds_a_planted_change() {
    let Some(folder) = common::corpus("mali") else { return };
    let (mut count, mut pictures) = (0, 0);
    for path in common::recordings(&folder) {
        let bytes = std::fs::read(&path).unwrap();
        let trace = Trace::read(&bytes).unwrap();
        let name = path.display();
        let found = diff(&trace, &trace, engine).unwrap();
        assert!(
            found.same() && found.jobs == inspect::recorded::jobs(&trace),
            "{name}: {found}"
        );
        let found = diff(&trace, &cleared(&trace), engine).unwrap();
        let first = found.first.as_ref().unwrap_or_else(|| panic!("{name}: {found}"));
        assert_eq!(first.name, "PpRegisters.clear_color_0", "{name}");
        assert_eq!((first.job, first.draw), (found.jobs - 1, None), "{name}");
        pictures += usize::from(found.pixel.is_some());
        count += 1;
    }
    println!("{count} recordings part at the changed register, {pictures} of them in a pixel too");
    assert!(count >= 72 && pictures > 0);
}

#[test]
fn shrunk_recordings_keep_their_pixel() {
    let Some(folder) = common::corpus("mali") else { return };
    let (mut count, mut before, mut after) = (0, [0; 3], [0; 3]);
    for path in common::recordings(&folder).iter().step_by(5) {
        let bytes = std::fs::read(path).unwrap();
        let trace = Trace::read(&bytes).unwrap();
        let pixel = |trace: &Trace<'_>| {
            let picture = replay(trace, engine(), 1).ok()?.picture().ok()?;
            Some(picture.at(picture.width / 2, picture.height / 3))
        };
        let wanted = pixel(&trace);
        let mut tried = 0;
        let shrunk = shrink(&trace, 80, |trace| {
            tried += 1;
            pixel(trace) == wanted
        });
        let shrunk = shrunk.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert_eq!(shrunk.tried, tried);
        let least = Trace::read(&shrunk.bytes).unwrap();
        assert_eq!(pixel(&least), wanted, "{}", path.display());
        for at in 0..3 {
            assert!(shrunk.after[at] <= shrunk.before[at], "{}: {shrunk:?}", path.display());
            (before[at], after[at]) = (before[at] + shrunk.before[at], after[at] + shrunk.after[at]);
        }
        count += 1;
    }
    println!("{count} recordings of {before:?} jobs, draws and primitives to {after:?}");
    assert!(count >= 14 && after[2] < before[2]);
    // Negative control: a pixel that is never wrong is not shrunk.
    let bytes = std::fs::read(&common::recordings(&folder)[0]).unwrap();
    let trace = Trace::read(&bytes).unwrap();
    assert!(shrink(&trace, 80, |_| false).is_err());
}
