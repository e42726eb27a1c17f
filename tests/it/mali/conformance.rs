//! Recorded jobs of a conformance suite that it once rejected: their pictures are within its tolerance now.

use crate::common;
use emulator::exec::configured::with_quirks;
use emulator::exec::wide::Wide;
use emulator::gpu::Gpu;
use emulator::gpu::frame::Frame;
use emulator::gpu::tile::write_back;
use emulator::silicon::Silicon;
use loader::trace::{Pipe, Record, Trace};
use skrymir::picture::Picture;
use std::path::Path;
use utgard::frame::WriteBackSource;

/// Cases outside the tolerance, and why (docs/spec/open-questions.md).
const EXPLAINED: [(&str, &str); 2] = [
    (
        "fragment_ops__interaction__basic_shader__61",
        "the program is a constant, and the suite wants another colour than its own",
    ),
    (
        "texture__mipmap__cube__projected__nearest_nearest",
        "in perspective a face's last column is a level beside the suite's",
    ),
];

/// The picture of a job, and the parts that its draws cover.
pub(super) struct Drawn {
    picture: Picture,
    /// Left, top, width, height in the picture in memory.
    parts: Vec<[u32; 4]>,
}

/// Scissors of a geometry job's draws, and their bounding rectangle.
fn scissors(gpu: &Gpu, frame: &[u32]) -> Vec<[u32; 4]> {
    let (mut parts, mut around) = (Vec::new(), [u32::MAX, u32::MAX, 0, 0]);
    for at in (frame[2]..frame[3]).step_by(8) {
        let (Ok(low), Ok(high)) = (gpu.memory.word(at), gpu.memory.word(at + 4)) else {
            break;
        };
        if high >> 28 == 7 {
            let [left, top] = [low >> 30 | (high & 0x1fff) << 2, low & 0x7fff];
            let [right, bottom] = [(high >> 13 & 0x7fff) + 1, (low >> 15 & 0x7fff) + 1];
            parts.push([left, top, right - left, bottom - top]);
            around = [
                around[0].min(left),
                around[1].min(top),
                around[2].max(right),
                around[3].max(bottom),
            ];
        }
    }
    let [left, top, right, bottom] = around;
    parts.push([left, top, right.saturating_sub(left), bottom.saturating_sub(top)]);
    parts
}

/// The pictures of a recording's pixel jobs.
pub(super) fn drawn(path: &Path, silicon: Silicon) -> Vec<Drawn> {
    let bytes = std::fs::read(path).unwrap();
    let trace = Trace::read(&bytes).unwrap();
    let mut gpu = Gpu::new(with_quirks(Box::<Wide>::default(), silicon));
    let (mut pictures, mut parts) = (Vec::new(), Vec::new());
    for (_, record) in &trace.records {
        match record {
            Record::Buffer { address, size, .. } => gpu.memory.map(*address, *size).unwrap(),
            Record::Free { address } => gpu.memory.unmap(*address).unwrap(),
            Record::Page { address, bytes } => gpu.memory.write(*address, bytes).unwrap(),
            Record::Submit {
                pipe: Pipe::Gp, frame, ..
            } => {
                parts = scissors(&gpu, frame);
                gpu.run_gp(frame).unwrap();
            }
            Record::Submit {
                pipe: Pipe::Pp, frame, ..
            } => {
                gpu.run_pp(frame).unwrap();
                let frame = Frame::parse(frame).unwrap();
                if let Some(unit) = frame
                    .write_backs
                    .iter()
                    .find(|unit| unit.source == WriteBackSource::Color)
                {
                    let (width, height, rgba) = write_back::read(&gpu.memory, &frame, unit).unwrap();
                    let picture = Picture { width, height, rgba };
                    let parts = parts.clone();
                    pictures.push(Drawn { picture, parts });
                }
            }
        }
    }
    assert_eq!(gpu.notes.iter().count(), 0, "something unknown in {}", path.display());
    pictures
}

/// Tolerance of the suite for a picture.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tolerance {
    channel: u8,
    /// A pixel may match a neighbouring one.
    radius: u32,
}

/// The suite's tolerance, from its messages or from its own checks of levels.
pub(super) fn tolerance(name: &str, text: &str) -> Tolerance {
    let number = |mark: &str| {
        let rest = &text[text.find(mark)? + mark.len()..];
        rest.split([',', ')']).next()?.trim().parse::<f64>().ok()
    };
    // Thresholds are in units of 1/255 or of 1.
    let channel = match (number("threshold = ("), number("threshold = RGBA(")) {
        (Some(part), _) if part < 1.0 => (part * 255.0).ceil() as u8,
        (Some(part), _) | (_, Some(part)) => part as u8,
        // Levels are blended in sixteenths, half the range apart.
        _ if name.contains("_mipmap_linear_") => 8,
        _ => 3,
    };
    Tolerance {
        channel,
        radius: u32::from(text.contains("within radius of 1")),
    }
}

/// Whether every pixel that a mask marks red, or every pixel without a mask, is near the reference; `at` reads the
/// other picture.
fn near(want: &Picture, mask: Option<&Picture>, tolerance: Tolerance, at: impl Fn(u32, u32) -> [u8; 4]) -> bool {
    let close = |a: [u8; 4], b: [u8; 4]| (0..3).all(|c| a[c].abs_diff(b[c]) <= tolerance.channel);
    let counts = |x, y| mask.is_none_or(|mask| mask.at(x, y)[0] > 127);
    let r = tolerance.radius;
    (0..want.height).all(|y| {
        (0..want.width).filter(|x| counts(*x, y)).all(|x| {
            let have = at(x, y);
            let columns = x.saturating_sub(r)..=(x + r).min(want.width - 1);
            let mut rows = y.saturating_sub(r)..=(y + r).min(want.height - 1);
            rows.any(|row| columns.clone().any(|column| close(have, want.at(column, row))))
        })
    })
}

impl Drawn {
    /// A part with the reference's size must be near it under the mask. The suite flips pictures, as OpenGL reads them.
    pub(super) fn is_near(&self, want: &Picture, mask: Option<&Picture>, tolerance: Tolerance) -> bool {
        let fits = |part: &&[u32; 4]| part[2..] == [want.width, want.height];
        let parts = self
            .parts
            .iter()
            .filter(fits)
            .map(|[left, top, _, height]| (*left, top + height));
        // If no draw's part has that size, the suite read from the lower left corner.
        let places: Vec<(u32, u32)> = match parts.collect::<Vec<_>>() {
            none if none.is_empty() => vec![(0, self.picture.height)],
            places => places,
        };
        places.iter().any(|(left, bottom)| {
            left + want.width <= self.picture.width
                && want.height <= *bottom
                && near(want, mask, tolerance, |x, y| self.picture.at(left + x, bottom - 1 - y))
        })
    }
}

/// The pictures of a case by a prefix of their names, in order.
pub(super) fn pictures(folder: &Path, names: &[&str]) -> Vec<Picture> {
    let all = common::files(folder, "png");
    let fits = |path: &&std::path::PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        names.iter().any(|wanted| name.starts_with(wanted))
    };
    all.iter()
        .filter(fits)
        .map(|path| Picture::load(path).unwrap())
        .collect()
}

#[test]
fn rejected_cases_are_within_the_tolerance() {
    let Some(folder) = common::corpus("mali/conformance") else {
        return;
    };
    let (mut good, mut all, mut controls) = (0, 0, 0);
    let mut cases: Vec<_> = std::fs::read_dir(&folder)
        .unwrap()
        .flatten()
        .map(|entry| entry.path())
        .collect();
    cases.sort();
    for case in cases {
        let name = case.file_name().unwrap().to_str().unwrap().to_owned();
        let wanted = pictures(&case, &["ref", "Reference"]);
        // Lines have no reference pictures; another test checks them.
        if wanted.is_empty() {
            assert!(name.starts_with("rasterization__"), "{name}");
            continue;
        }
        let text = std::fs::read_to_string(case.join("text.txt")).unwrap();
        let tolerance = tolerance(&name, &text);
        let drawn = drawn(&case.join("device0.trace"), Silicon::default());
        // In perspective the suite allows levels to be one off, and only its mask excludes pixels.
        let mask = pictures(&case, &["err0"]).pop().filter(|_| name.contains("projected"));
        let found = |want: &&Picture| {
            let near = |drawn: &Drawn| drawn.is_near(want, mask.as_ref(), tolerance);
            drawn.iter().any(near)
        };
        let count = wanted.iter().filter(found).count();
        let why = EXPLAINED.iter().find(|row| row.0 == name).map(|row| row.1);
        println!(
            "{name}: {count} of {} pictures within {tolerance:?}{}",
            wanted.len(),
            why.map_or(String::new(), |why| format!(": {why}"))
        );
        assert_eq!(count == wanted.len(), why.is_none(), "{name}");
        good += usize::from(count == wanted.len());
        all += 1;
        // Negative control: a rejected picture is not near.
        let rejected = pictures(&case, &["res", "Test"]);
        let passes = |want: &Picture| {
            let same = |picture: &&Picture| (picture.width, picture.height) == (want.width, want.height);
            let mut rejected = rejected.iter().filter(same);
            rejected.any(|picture| near(want, mask.as_ref(), tolerance, |x, y| picture.at(x, y)))
        };
        let control = !rejected.is_empty() && !wanted.iter().all(passes);
        assert!(control || rejected.is_empty(), "{name}: what was rejected passes");
        controls += usize::from(control);
    }
    println!("{good} of {all} cases within tolerance; {controls} times the rejected pictures are not");
    assert!(all == 18 && good == 16 && controls == 16);
}

/// End points of the lines of a case's last picture, in pixels, and their width.
fn lines(text: &str) -> (Vec<[[f64; 2]; 2]>, f64) {
    let last = text.rfind("Rendering ").unwrap();
    let text = &text[last..text[last..].find("Searching").map_or(text.len(), |end| last + end)];
    let width = text.split("width = ").nth(1).unwrap().split([',', ')']).next().unwrap();
    let point = |line: &str| {
        let numbers = line.trim().strip_prefix('(')?.split(',').take(2);
        let pixels: Vec<f64> = numbers
            .map(|n| (n.trim().parse::<f64>().unwrap() + 1.0) * 128.0)
            .collect();
        Some([pixels[0], pixels[1]])
    };
    let points: Vec<[f64; 2]> = text.lines().filter_map(point).collect();
    let step = if text.contains("line strip") { 1 } else { 2 };
    let ends = (0..points.len() - 1)
        .step_by(step)
        .map(|at| [points[at], points[at + 1]]);
    (ends.collect(), width.parse().unwrap())
}

/// Whether the centre of a pixel is in a wide line, whose width is along its minor axis.
fn in_line([a, b]: [[f64; 2]; 2], width: f64, at: [f64; 2]) -> bool {
    let major = usize::from((b[1] - a[1]).abs() > (b[0] - a[0]).abs());
    let along = (at[major] - a[major]) / (b[major] - a[major]);
    let middle = a[1 - major] + along * (b[1 - major] - a[1 - major]);
    (0.0..1.0).contains(&along) && (at[1 - major] - middle).abs() <= width / 2.0
}

/// Wide lines have their full width up to the picture's border, exactly.
#[test]
fn wide_lines_are_as_wide_as_they_are() {
    let Some(folder) = common::corpus("mali/conformance") else {
        return;
    };
    for name in ["line_strip_wide", "lines_wide"] {
        let case = folder.join(format!("rasterization__primitives__{name}"));
        let (ends, width) = lines(&std::fs::read_to_string(case.join("text.txt")).unwrap());
        assert_eq!((ends.len(), width), (3, 100.0));
        let drawn = drawn(&case.join("device0.trace"), Silicon::default());
        let picture = &drawn.last().unwrap().picture;
        let off = |width: f64| {
            let pixel = |number: u32| {
                let (x, y) = (number % picture.width, number / picture.width);
                let at = [f64::from(x) + 0.5, f64::from(picture.height - 1 - y) + 0.5];
                let wanted = ends.iter().any(|ends| in_line(*ends, width, at));
                wanted != (picture.at(x, y)[0] > 127)
            };
            (0..picture.width * picture.height)
                .filter(|number| pixel(*number))
                .count()
        };
        println!(
            "{name}: {} pixels off; if lines were 2 narrower, {}",
            off(width),
            off(width - 2.0)
        );
        assert_eq!(off(width), 0);
        assert!(off(width - 2.0) > 200);
    }
}
