//! What only the file knows of a module: places as bytes of the file, where naga was given a module that had been
//! rewritten on the way; names that a VBC has beside its code.

use crate::error::Error;
use loader::vbc;
use std::collections::HashMap;
use translate::{Language, ShaderStage, Source};

/// Words in front of a module's first instruction.
const HEADER: usize = 5;

/// A refusal with its place as its source has places.
pub(crate) fn placed(source: &Source<'_>, error: Error) -> Error {
    match source.language {
        Language::Spirv | Language::Vbc => {
            let offset = error.span().and_then(|span| locate(source, span.end));
            error.at_offset(offset)
        }
        // A tree's nodes have no place in naga's; the function's name says where.
        Language::Sksl => error.at_offset(None),
        _ => error,
    }
}

/// The file's instruction that the rewritten module has last in front of a byte, or the nearest one before it that was
/// there already: its byte offset.
fn locate(source: &Source<'_>, end: usize) -> Option<u64> {
    // As it was read: with its blocks laid out anew.
    let read = Source {
        any_layout: true,
        ..*source
    };
    let given = translate::words(&read).ok()?;
    let (file, start) = words(source)?;
    let mut there: HashMap<&[u32], Vec<usize>> = HashMap::new();
    for (place, instruction) in instructions(&file) {
        there.entry(instruction).or_default().push(place);
    }
    let (mut last, mut counted) = (HEADER, 4 * HEADER);
    for (_, instruction) in instructions(&given) {
        if counted >= end {
            break;
        }
        counted += 4 * (instruction.len() - uncounted(instruction));
        // What stands there several times is the next one.
        let places = there.get(instruction);
        let next = places.and_then(|places| places.iter().find(|place| **place >= last));
        last = next.copied().unwrap_or(last);
    }
    Some(start + 4 * last as u64)
}

/// Words of an instruction that naga reads without counting them in its places: an entry point's interface, the
/// operands of an execution mode, the parameters of a function type.
fn uncounted(instruction: &[u32]) -> usize {
    match instruction[0] & 0xffff {
        15 => {
            let name = instruction.iter().skip(3);
            let ends = |word: &&u32| word.to_le_bytes().contains(&0);
            let words = name
                .clone()
                .position(|word| ends(&word))
                .map_or(name.len(), |at| at + 1);
            name.len() - words
        }
        16 | 33 | 331 => instruction.len().saturating_sub(3),
        _ => 0,
    }
}

/// The words as the file has them, and the byte they begin at.
fn words(source: &Source<'_>) -> Option<(Vec<u32>, u64)> {
    if source.language == Language::Spirv {
        return Some((loader::spirv::to_words(source.bytes).ok()?, 0));
    }
    let file = vbc::read(source.bytes).ok()?;
    let wanted = match source.stage {
        Some(ShaderStage::Vertex) => Some(vbc::Stage::Vert),
        Some(ShaderStage::Fragment) => Some(vbc::Stage::Frag),
        _ => None,
    };
    let mut stages = vbc::Stage::ALL.into_iter();
    let code = match wanted {
        Some(stage) => file.code(stage),
        None => stages.find_map(|stage| file.code(stage)),
    }?;
    Some((code.words(), code.offset()))
}

/// Each instruction with the number of its first word.
fn instructions(words: &[u32]) -> impl Iterator<Item = (usize, &[u32])> {
    let mut at = HEADER;
    std::iter::from_fn(move || {
        let length = (words.get(at)? >> 16) as usize;
        let instruction = words.get(at..at + length.max(1))?;
        let place = at;
        at += length.max(1);
        Some((place, instruction))
    })
}
