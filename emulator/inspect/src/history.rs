//! Histories of pixels: every fragment of a pixel, in order, and its outcome.
//!
//! The tile decides the outcome (`emulator::gpu::tile`) and reports it; this module formats it as text.

use emulator::dump;
use emulator::exec::observed::{Operand, PixelFragment};
use emulator::gpu::binning::lists::Geometry;
use emulator::gpu::pp::observe::{Fate, Place, Sample, Tested};
use emulator::gpu::tile::{MAX_DEPTH, Stored, Verdict};
use utgard::state::Compare;

/// Limit on listed fragments per pixel.
pub const MAX_ENTRIES: usize = 256;

/// An observed fragment.
#[derive(Clone, Debug)]
pub struct ObservedFragment {
    /// Its geometry job's primitives, by [`address`].
    pub geometry: usize,
    /// Index of the primitive.
    pub primitive: usize,
    /// Index of the draw command.
    pub draw: u32,
    /// The pixel.
    pub pixel: [u32; 2],
    /// Its outcome.
    pub fate: Fate,
}

/// Identity of a geometry while it is alive.
pub fn address(geometry: &Geometry) -> usize {
    std::ptr::from_ref(geometry) as usize
}

impl ObservedFragment {
    /// From an observer's event.
    pub fn new(place: Place<'_>, pixel: [u32; 2], fate: &Fate) -> Self {
        Self {
            geometry: address(place.geometry),
            primitive: place.geometry.primitives.position(place.primitive),
            draw: place.draw().unwrap_or(0),
            pixel,
            fate: fate.clone(),
        }
    }
}

/// The end of a fragment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It was written to the pixel, even if the colour did not change.
    Written,
    /// It was not written.
    Lost,
}

/// A fragment of a pixel as text.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Index of the geometry job, if known.
    pub job: Option<usize>,
    /// Index of the draw.
    pub draw: u32,
    /// Index of the primitive in the job.
    pub primitive: usize,
    /// Its end.
    pub end: End,
    /// The reason as one word: scissor, discard, alpha, coverage, stencil, depth, mask, written.
    pub reason: &'static str,
    /// Its colour before blending, 0 to 1.
    pub color: Option<[f32; 4]>,
    /// Its depth, 0 to 1.
    pub depth: Option<f64>,
    /// Its outcome as text; one line for each distinct outcome of samples.
    pub words: Vec<String>,
    /// The pixel's colour after it, as bytes, of the first sample.
    pub after: Option<[u8; 4]>,
    /// Word of the instruction that gave its colour, or discarded it, if the program was observed.
    pub instruction: Option<u32>,
}

/// Word of the instruction that decided an observed fragment: the last one that wrote the colour's register, or the one
/// that discarded it.
pub fn decisive(fate: &Fate, ran: &PixelFragment) -> Option<u32> {
    let mut steps = ran.steps.iter().rev();
    let of = match fate {
        Fate::Outside => return None,
        Fate::Discarded => steps.find(|step| step.discarded),
        Fate::Tested(tested) => {
            let register = format!("${}", tested.state.color_register);
            let is_color = |operand: &Operand| operand.name.split('.').next() == Some(&register);
            steps.find(|step| step.gives.iter().any(is_color))
        }
    };
    of.map(|step| step.address)
}

/// The entry of an observed fragment; `job` is the geometry job's index.
pub fn entry(fragment: &ObservedFragment, job: Option<usize>) -> Entry {
    let plain = |reason, words: &str| Entry {
        job,
        draw: fragment.draw,
        primitive: fragment.primitive,
        end: End::Lost,
        reason,
        color: None,
        depth: None,
        words: vec![words.to_owned()],
        after: None,
        instruction: None,
    };
    match &fragment.fate {
        Fate::Outside => plain(
            "scissor",
            "covered, but outside of the scissor, the viewport or the picture: the program did not run",
        ),
        Fate::Discarded => plain("discard", "the program discarded it"),
        Fate::Tested(tested) => Entry {
            color: Some(tested.color),
            depth: tested.samples.first().map(|sample| steps(sample.depth)),
            after: tested.samples.first().map(|sample| bytes(&sample.after, tested.one)),
            words: lines(tested),
            reason: reason(tested),
            end: end(tested),
            ..plain("", "")
        },
    }
}

fn steps(depth: u32) -> f64 {
    f64::from(depth) / f64::from(MAX_DEPTH)
}

fn bytes(stored: &Stored, one: f32) -> [u8; 4] {
    stored
        .color
        .map(|channel| (f32::from(channel) / one * 255.0).round() as u8)
}

fn end(tested: &Tested) -> End {
    let passed = tested.samples.iter().any(|sample| sample.verdict == Verdict::Passed);
    if passed && tested.state.blending.write_mask != 0 {
        End::Written
    } else {
        End::Lost
    }
}

fn reason(tested: &Tested) -> &'static str {
    let farthest = tested
        .samples
        .iter()
        .map(|sample| sample.verdict)
        .max_by_key(|verdict| match verdict {
            Verdict::Alpha => 0,
            Verdict::Uncovered => 1,
            Verdict::Stencil => 2,
            Verdict::Depth => 3,
            Verdict::Passed => 4,
        });
    match farthest {
        None | Some(Verdict::Uncovered) => "coverage",
        Some(Verdict::Alpha) => "alpha",
        Some(Verdict::Stencil) => "stencil",
        Some(Verdict::Depth) => "depth",
        Some(Verdict::Passed) if tested.state.blending.write_mask == 0 => "mask",
        Some(Verdict::Passed) => "written",
    }
}

/// The outcomes of the samples; equal ones share a line.
fn lines(tested: &Tested) -> Vec<String> {
    let texts: Vec<String> = tested.samples.iter().map(|sample| words(tested, sample)).collect();
    match texts.as_slice() {
        [] => Vec::new(),
        [first, rest @ ..] if rest.iter().all(|text| text == first) => vec![first.clone()],
        all => {
            let rows = all.iter().enumerate();
            rows.map(|(sample, text)| format!("sample {sample}: {text}")).collect()
        }
    }
}

fn words(tested: &Tested, sample: &Sample) -> String {
    let (state, before, after) = (&tested.state, &sample.before, &sample.after);
    let face = &state.stencil[usize::from(!tested.front)];
    let stencil = match before.stencil == after.stencil {
        true => String::new(),
        false => format!("; stencil {} becomes {}", before.stencil, after.stencil),
    };
    match sample.verdict {
        Verdict::Alpha => {
            let (alpha, reference) = (
                number(tested.color[3]),
                number(f32::from(state.alpha_reference) / 255.0),
            );
            format!("alpha test failed: {}", failed(&alpha, state.alpha_compare, &reference))
        }
        Verdict::Uncovered => "not covered: by the shape's edge, the sample mask or alpha as coverage".to_owned(),
        Verdict::Stencil => format!(
            "stencil test failed: {} (mask {:#04x}){stencil}",
            failed(
                &format!("{:#04x}", face.reference & face.mask),
                face.compare,
                &format!("{:#04x}", before.stencil & face.mask)
            ),
            face.mask
        ),
        Verdict::Depth => format!(
            "depth test failed: {}{stencil}",
            failed(
                &depth_words(sample.depth),
                state.depth_compare,
                &depth_words(before.depth)
            )
        ),
        Verdict::Passed => {
            let depth = match before.depth == after.depth {
                true => String::new(),
                false => format!(
                    "; depth {} becomes {}",
                    depth_words(before.depth),
                    depth_words(after.depth)
                ),
            };
            format!("{}{depth}{stencil}", written(tested, before, after))
        }
    }
}

/// What was stored for a sample that passed.
fn written(tested: &Tested, before: &Stored, after: &Stored) -> String {
    let state = &tested.state;
    let color = |stored: &Stored| numbers(stored.color.map(|channel| f32::from(channel) / tested.one));
    let channels = dump::channels(state.blending.write_mask);
    let only = match state.blending.write_mask & 15 {
        15 => String::new(),
        0 => {
            return format!(
                "passed every test, but the mask lets no channel through: {} stays",
                color(before)
            );
        }
        _ => format!(", {channels} only"),
    };
    if state.blending.replaces() == [true; 2] {
        return format!("written over {}: {}{only}", color(before), color(after));
    }
    format!(
        "{} blended into {}: {}{only} ({})",
        numbers(tested.color),
        color(before),
        color(after),
        emulator::dump::blending(state)
    )
}

/// Why a comparison failed.
fn failed(a: &str, compare: Compare, b: &str) -> String {
    let than = match compare {
        Compare::Never => return "the comparison is never true".to_owned(),
        Compare::Less | Compare::Greater => "than",
        Compare::Equal | Compare::NotEqual | Compare::LessEqual | Compare::GreaterEqual => "to",
        Compare::Always => "",
    };
    format!("{a} is not {} {than} {b}", compare.name())
}

fn depth_words(depth: u32) -> String {
    format!("{:.6} ({depth:#08x})", steps(depth))
}

fn number(value: f32) -> String {
    let text = format!("{value:.4}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// Formats numbers.
pub fn numbers(values: [f32; 4]) -> String {
    format!("({})", values.map(number).join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use emulator::blend::Blending;
    use emulator::gpu::state::State;

    fn stored(color: [u16; 4], depth: u32, stencil: u8) -> Stored {
        Stored { color, depth, stencil }
    }

    fn entry_of(state: State, verdict: Verdict, before: Stored, after: Stored) -> Entry {
        let tested = Tested {
            color: [1.0, 0.5, 0.0, 0.25],
            front: true,
            one: 255.0,
            samples: vec![Sample {
                verdict,
                depth: 0x80_0000,
                before,
                after,
            }],
            state: Box::new(state),
        };
        let fragment = ObservedFragment {
            geometry: 0,
            primitive: 3,
            draw: 2,
            pixel: [0, 0],
            fate: Fate::Tested(tested),
        };
        entry(&fragment, Some(1))
    }

    /// Every outcome has a reason and a text.
    #[test]
    fn every_end_has_a_text() {
        let (black, red) = (stored([0; 4], 0x40_0000, 1), stored([255, 0, 0, 255], 0x80_0000, 2));
        let written = |write_mask| Blending {
            write_mask,
            ..Blending::default()
        };
        let state = || State {
            blending: written(15),
            depth_compare: Compare::Less,
            alpha_compare: Compare::Greater,
            alpha_reference: 153,
            ..State::default()
        };
        let lost = |verdict, reason, words: &str| {
            let entry = entry_of(state(), verdict, black, black);
            assert_eq!((entry.reason, entry.end), (reason, End::Lost));
            assert!(entry.words[0].starts_with(words), "{:?}", entry.words);
        };
        lost(
            Verdict::Alpha,
            "alpha",
            "alpha test failed: 0.25 is not greater than 0.6",
        );
        lost(Verdict::Uncovered, "coverage", "not covered");
        lost(
            Verdict::Stencil,
            "stencil",
            "stencil test failed: the comparison is never true",
        );
        lost(
            Verdict::Depth,
            "depth",
            "depth test failed: 0.500000 (0x800000) is not less than 0.250000",
        );
        let entry = entry_of(state(), Verdict::Passed, black, red);
        assert_eq!(
            (entry.reason, entry.end, entry.after),
            ("written", End::Written, Some([255, 0, 0, 255]))
        );
        let words = "(1, 0.5, 0, 0.25) blended into (0, 0, 0, 0): (1, 0, 0, 1)";
        assert!(entry.words[0].starts_with(words), "{:?}", entry.words);
        assert!(entry.words[0].ends_with("stencil 1 becomes 2"), "{:?}", entry.words);
        let masked = State {
            blending: written(0),
            ..state()
        };
        assert_eq!(entry_of(masked, Verdict::Passed, black, black).reason, "mask");
        let green = State {
            blending: written(2),
            ..state()
        };
        assert!(entry_of(green, Verdict::Passed, black, black).words[0].contains(", g only"));
    }
}
