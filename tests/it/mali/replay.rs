//! Recorded jobs of a real driver make the pictures that their programs define.

use crate::common;

use emulator::exec::Engine;
use emulator::exec::configured::without_fast_paths;
use emulator::exec::native::Native;
use emulator::exec::scalar::Scalar;
use emulator::exec::wide::Wide;
use emulator::simd::Level;
use loader::trace::{Record, Trace};
use skrymir::picture::Picture;
use skrymir::runner::replay::replay;
use std::path::Path;

fn engines() -> Vec<Box<dyn Engine>> {
    let narrower = [Level::Portable, Level::Avx2].map(Wide::at_most);
    let mut engines: Vec<Box<dyn Engine>> = vec![Box::new(Scalar), Box::new(Wide::default())];
    engines.push(without_fast_paths(Box::<Native>::default()));
    engines.extend(narrower.map(|engine| Box::new(engine) as Box<dyn Engine>));
    let native = [Level::Avx512, Level::Avx2].map(Native::at_most);
    engines.extend(native.map(|engine| Box::new(engine) as Box<dyn Engine>));
    engines
}

/// Largest difference of a channel, and the share of pixels with one above 6.
pub(super) fn difference(have: &Picture, want: &Picture) -> (u8, f64) {
    assert_eq!((have.width, have.height), (want.width, want.height));
    let (mut worst, mut off) = (0, 0);
    for (a, b) in have.rgba.chunks(4).zip(want.rgba.chunks(4)) {
        let pixel = a.iter().zip(b).map(|(a, b)| a.abs_diff(*b)).max().unwrap_or(0);
        worst = worst.max(pixel);
        off += usize::from(pixel > 6);
    }
    (worst, off as f64 / f64::from(want.width * want.height))
}

/// Share of pixels that may be further off than 6/255: the recordings' own rule.
pub(super) const TOLERANCE: f64 = 0.01;

/// Recordings that differ more, and why. Each has its own test below.
const EXPLAINED: [(&str, &str); 2] = [
    (
        "ff_msaa4",
        "the picture was drawn without multisampling, ours has smooth edges",
    ),
    (
        "tex_bias",
        "the driver's code reads the bias from $0.x and had stored it in $1.x",
    ),
];

pub(super) fn picture(bytes: &[u8], engine: Box<dyn Engine>, threads: usize) -> Picture {
    let trace = Trace::read(bytes).unwrap();
    assert_eq!(trace.write(), bytes, "a recording does not come back");
    let done = replay(&trace, engine, threads).unwrap();
    let notes: Vec<&str> = done.gpu.notes.iter().collect();
    assert!(notes.is_empty(), "unknown: {notes:?}");
    done.picture().unwrap()
}

pub(super) fn wanted(folder: &Path, name: &str) -> Picture {
    Picture::load(&folder.join(format!("{name}.png"))).unwrap()
}

#[test]
fn recordings_make_their_pictures() {
    let Some(folder) = common::corpus("mali") else { return };
    let (mut good, mut all, mut controls) = (0, 0, 0);
    let mut last: Option<Picture> = None;
    for path in common::recordings(&folder) {
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let bytes = std::fs::read(&path).unwrap();
        let pictures: Vec<Picture> = engines().into_iter().map(|engine| picture(&bytes, engine, 1)).collect();
        for (engine, have) in engines().into_iter().zip(&pictures) {
            assert_eq!(*have, pictures[0], "{name}: {} differs from scalar", engine.name());
            assert_eq!(
                *have,
                picture(&bytes, engine, 3),
                "{name}: three threads give another picture than one"
            );
        }
        let want = wanted(&folder, &name);
        let (worst, off) = difference(&pictures[0], &want);
        let why = EXPLAINED.iter().find(|row| row.0 == name).map(|row| row.1);
        println!(
            "{name}: worst {worst}, {:.2} % off{}",
            off * 100.0,
            why.map_or(String::new(), |why| format!(": {why}"))
        );
        assert!(off <= TOLERANCE || why.is_some(), "{name}");
        good += usize::from(off <= TOLERANCE);
        all += 1;
        // Negative control: another recording's picture is outside the tolerance.
        if let Some(last) = last.replace(want)
            && (last.width, last.height) == (pictures[0].width, pictures[0].height)
        {
            controls += usize::from(difference(&pictures[0], &last).1 > TOLERANCE);
        }
    }
    println!(
        "{good} of {all} recordings within tolerance, {} explained; {controls} times the picture before was not",
        all - good
    );
    assert!(good >= 70 && all == 72 && controls > 55);
}

/// With machine code, no program of any recording is left to another engine.
#[test]
fn recordings_are_all_machine_code() {
    let Some(folder) = common::corpus("mali").filter(|_| Native::default().is_there()) else {
        return;
    };
    let mut count = 0;
    for path in common::files(&folder, "trace") {
        let bytes = std::fs::read(&path).unwrap();
        let done = replay(&Trace::read(&bytes).unwrap(), Box::new(Native::default()), 1).unwrap();
        let report = done.gpu.engine().report().unwrap();
        assert!(
            report.ends_with("left to the wide engine: nothing"),
            "{path:?}: {report}"
        );
        count += 1;
    }
    println!("the programs of {count} recordings are all machine code");
}

#[test]
fn the_bias_of_the_driver_is_in_the_wrong_register() {
    let Some(folder) = common::corpus("mali") else { return };
    let bytes = std::fs::read(folder.join("tex_bias.trace")).unwrap();
    let mut trace = Trace::read(&bytes).unwrap();
    // `load.v ^discard. $0.zwzz, texld.b 0 $0.x, ...`: the sampler's lod register is bits 0 to 5 behind 34 bits.
    let listing = std::fs::read_to_string(folder.join("tex_bias.code.txt")).unwrap();
    let before = listing
        .lines()
        .take_while(|line| !line.contains("texld.b"))
        .last()
        .unwrap();
    let words: Vec<u32> = before
        .trim_start_matches("; ")
        .split(' ')
        .map(|word| u32::from_str_radix(word, 16).unwrap())
        .collect();
    let needle: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let mut pages = Vec::new();
    for (_, record) in &mut trace.records {
        let Record::Page { bytes, .. } = record else { continue };
        if let Some(at) = bytes.windows(needle.len()).position(|window| window == needle) {
            let mut changed = bytes.to_vec();
            // Bit 34 of the stream is bit 2 of the third word; $1.x is scalar register 4.
            changed[at + 8] |= 4 << 2;
            pages.push(changed);
        }
    }
    assert_eq!(pages.len(), 1);
    for (_, record) in &mut trace.records {
        if let Record::Page { bytes, .. } = record
            && bytes.windows(needle.len()).any(|window| window == needle)
        {
            *bytes = &pages[0];
        }
    }
    let fixed = replay(&trace, Box::new(Scalar), 1).unwrap().picture().unwrap();
    let (worst, off) = difference(&fixed, &wanted(&folder, "tex_bias"));
    println!(
        "tex_bias with the bias from $1.x: worst {worst}, {:.2} % off",
        off * 100.0
    );
    assert!(off <= TOLERANCE, "worst {worst}, {off}");
}

#[test]
fn multisampling_differs_at_edges_only() {
    let Some(folder) = common::corpus("mali") else { return };
    let have = picture(
        &std::fs::read(folder.join("ff_msaa4.trace")).unwrap(),
        Box::new(Scalar),
        1,
    );
    let want = wanted(&folder, "ff_msaa4");
    let mut edges = 0;
    for y in 1..want.height - 1 {
        for x in 1..want.width - 1 {
            let far = (0..4).any(|c| have.at(x, y)[c].abs_diff(want.at(x, y)[c]) > 6);
            let background = |x, y| want.at(x, y)[..3] == [0, 0, 0];
            let around = [(x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1)];
            let edge = around.iter().any(|(ax, ay)| background(*ax, *ay) != background(x, y));
            assert!(!far || edge, "{x} {y} is inside");
            edges += usize::from(far);
        }
    }
    assert!(edges > 100, "nothing is smooth");
}
