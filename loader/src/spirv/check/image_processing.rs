//! QCOM's image processing: its textures are decorated, and other instructions do not use them.

use super::form::{Why, when};
use super::{Checked, Item};
use crate::spirv::{decoration as dec, op};

/// Whether a decoration is needed of an image, and of its sampler.
struct Needs {
    opcodes: &'static [u16],
    words: &'static [usize],
    texture: u32,
    sampler: Option<u32>,
}

const ROWS: [Needs; 3] = [
    Needs {
        opcodes: &[op::IMAGE_SAMPLE_WEIGHTED_QCOM],
        words: &[5],
        texture: dec::WEIGHT_TEXTURE_QCOM,
        sampler: None,
    },
    Needs {
        opcodes: &[
            op::IMAGE_BLOCK_MATCH_SSD_QCOM,
            op::IMAGE_BLOCK_MATCH_SAD_QCOM,
            op::IMAGE_BLOCK_MATCH_GATHER_SSD_QCOM,
            op::IMAGE_BLOCK_MATCH_GATHER_SAD_QCOM,
        ],
        words: &[3, 5],
        texture: dec::BLOCK_MATCH_TEXTURE_QCOM,
        sampler: None,
    },
    Needs {
        opcodes: &[
            op::IMAGE_BLOCK_MATCH_WINDOW_SSD_QCOM,
            op::IMAGE_BLOCK_MATCH_WINDOW_SAD_QCOM,
        ],
        words: &[3, 5],
        texture: dec::BLOCK_MATCH_TEXTURE_QCOM,
        sampler: Some(dec::BLOCK_MATCH_SAMPLER_QCOM),
    },
];

/// Whether an instruction is one of image processing.
pub(super) fn is(item: &Item<'_>) -> bool {
    item.name().ends_with("QCOM")
}

/// Checks an image instruction's use of decorated textures.
pub(super) fn check(module: &Checked<'_>, item: &Item<'_>) -> Why {
    if !is(item) {
        let uses = module.used(item).any(|id| {
            let [texture, _] = parts(module, id);
            texture.is_some_and(|texture| processed(module, texture))
        });
        return when(uses, "a texture of image processing is for that only");
    }
    let row = ROWS.iter().find(|row| row.opcodes.contains(&item.opcode()))?;
    row.words.iter().find_map(|word| {
        let [texture, sampler] = parts(module, item.word(*word));
        let wanted = [(texture, Some(row.texture)), (sampler, row.sampler)];
        wanted.into_iter().find_map(|(variable, kind)| {
            let (variable, kind) = (variable?, kind?);
            let name = module.decoration_name(kind);
            (!module.decorated(variable, kind)).then(|| format!("%{variable} needs the decoration {name}"))
        })
    })
}

fn processed(module: &Checked<'_>, variable: u32) -> bool {
    const KINDS: [u32; 3] = [
        dec::WEIGHT_TEXTURE_QCOM,
        dec::BLOCK_MATCH_TEXTURE_QCOM,
        dec::BLOCK_MATCH_SAMPLER_QCOM,
    ];
    KINDS.iter().any(|kind| module.decorated(variable, *kind))
}

/// The variables of an image and of its sampler, as far as they are certain.
fn parts(module: &Checked<'_>, id: u32) -> [Option<u32>; 2] {
    match module.def(id) {
        Some(item) if item.opcode() == op::SAMPLED_IMAGE => [3, 4].map(|at| loaded(module, item.word(at))),
        // One variable holds both.
        _ => [loaded(module, id); 2],
    }
}

/// The variable that a value is loaded from, through chains into arrays.
fn loaded(module: &Checked<'_>, id: u32) -> Option<u32> {
    let load = module.def(id).filter(|item| item.opcode() == op::LOAD)?;
    let mut from = load.word(3);
    // Longer chains are of no real module.
    for _ in 0..16 {
        let item = module.def(from)?;
        match item.opcode() {
            op::VARIABLE => return Some(from),
            op::ACCESS_CHAIN | op::IN_BOUNDS_ACCESS_CHAIN | op::COPY_OBJECT => from = item.word(3),
            _ => return None,
        }
    }
    None
}
