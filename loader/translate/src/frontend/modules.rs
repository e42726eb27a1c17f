//! Post-processing of glslang's modules: separate bindings for HLSL registers, removal of debug lines.

use loader::spirv::{decoration, op};
use std::collections::{BTreeMap, BTreeSet};

const SOURCE_CONTINUED: u16 = 2;
const SOURCE_EXTENSION: u16 = 4;
const STRING: u16 = 7;

/// Opcodes of debug lines.
const LINES: [u16; 7] = [
    SOURCE_CONTINUED,
    op::SOURCE,
    SOURCE_EXTENSION,
    STRING,
    op::LINE,
    op::NO_LINE,
    op::MODULE_PROCESSED,
];

/// Words before a module's first instruction.
const HEADER: usize = 5;

/// Each instruction: opcode, position, words.
fn instructions(words: &[u32]) -> impl Iterator<Item = (u16, usize, &[u32])> {
    let all = loader::spirv::instructions(words).flatten();
    all.map(|instruction| (instruction.opcode, instruction.position, instruction.words))
}

/// The module without lines and file names, for packing. Strings used by extended instructions stay, such as the formats
/// of `debugPrintfEXT`.
pub(crate) fn without_lines(words: &[u32]) -> Vec<u32> {
    let mut out = words[..HEADER.min(words.len())].to_vec();
    let extended = instructions(words).filter(|(opcode, ..)| *opcode == op::EXT_INST);
    let taken: BTreeSet<u32> = extended
        .flat_map(|(.., words)| words.get(5..).unwrap_or_default().iter().copied())
        .collect();
    let kept = instructions(words).filter(|(opcode, _, words)| match (*opcode, words) {
        (STRING, [_, id, ..]) => taken.contains(id),
        (opcode, _) => !LINES.contains(&opcode),
    });
    kept.for_each(|(.., words)| out.extend_from_slice(words));
    out
}

/// The module without lines among the declarations, which naga's reader rejects.
pub(super) fn without_outer_lines(words: &[u32]) -> Vec<u32> {
    let mut out = words[..HEADER.min(words.len())].to_vec();
    let mut inside = false;
    for (opcode, _, words) in instructions(words) {
        inside = (inside || opcode == op::FUNCTION) && opcode != op::FUNCTION_END;
        if inside || !matches!(opcode, op::LINE | op::NO_LINE) {
            out.extend_from_slice(words);
        }
    }
    out
}

/// Whether a function takes textures or samplers, which naga's reader does not support; optimising HLSL compilers
/// inline such functions.
pub(crate) fn hands_over_textures(words: &[u32]) -> bool {
    let mut opaque = std::collections::BTreeSet::new();
    instructions(words).any(|(opcode, _, words)| match (opcode, words) {
        (op::TYPE_IMAGE | op::TYPE_SAMPLER | op::TYPE_SAMPLED_IMAGE, [_, id, ..]) => {
            opaque.insert(*id);
            false
        }
        (op::TYPE_POINTER, [_, id, _, inner]) => {
            if opaque.contains(inner) {
                opaque.insert(*id);
            }
            false
        }
        (op::FUNCTION_PARAMETER, [_, ty, ..]) => opaque.contains(ty),
        _ => false,
    })
}

/// The source lines of a module's instructions: each line with the position from which it applies. Only lines of the
/// text itself, which has no file name.
pub(crate) fn lines(words: &[u32]) -> Vec<(usize, Option<usize>)> {
    let mut names: BTreeMap<u32, bool> = BTreeMap::new();
    let mut found = Vec::new();
    for (opcode, at, words) in instructions(words) {
        match (opcode, words) {
            (STRING, [_, id, name, ..]) => drop(names.insert(*id, *name == 0)),
            (op::LINE, [_, file, line, _]) => {
                let own = names.get(file).copied().unwrap_or(false);
                found.push((at, own.then_some(*line as usize).filter(|line| *line > 0)));
            }
            (op::NO_LINE | op::FUNCTION_END, _) => found.push((at, None)),
            _ => {}
        }
    }
    found
}

/// HLSL numbers textures, samplers, buffers and images separately: `t1` and `s1` are distinct. If two have one binding
/// in SPIR-V, the texture keeps it, and the other gets the next free one in its set.
pub fn registers_apart(words: &mut [u32]) {
    // The innermost type, past arrays and pointers.
    let mut kinds: BTreeMap<u32, u16> = BTreeMap::new();
    let mut variables: BTreeMap<u32, u16> = BTreeMap::new();
    let mut sets: BTreeMap<u32, u32> = BTreeMap::new();
    let mut bindings: BTreeMap<u32, (usize, u32)> = BTreeMap::new();
    for (opcode, at, words) in instructions(words) {
        match (opcode, words) {
            (op::DECORATE, [_, id, decoration::DESCRIPTOR_SET, set]) => drop(sets.insert(*id, *set)),
            (op::DECORATE, [_, id, decoration::BINDING, binding]) => drop(bindings.insert(*id, (at + 3, *binding))),
            (op::TYPE_ARRAY | op::TYPE_RUNTIME_ARRAY, [_, id, inner, ..]) | (op::TYPE_POINTER, [_, id, _, inner]) => {
                let kind = kinds.get(inner).copied().unwrap_or(0);
                kinds.insert(*id, kind);
            }
            (op::TYPE_IMAGE | op::TYPE_SAMPLER, [_, id, ..]) => drop(kinds.insert(*id, opcode)),
            (op::VARIABLE, [_, ty, id, ..]) => drop(variables.insert(*id, kinds.get(ty).copied().unwrap_or(0))),
            _ => {}
        }
    }
    // Textures first, then buffers, samplers last, so that the rarer kinds move.
    let rank = |kind: u16| match kind {
        op::TYPE_IMAGE => 0,
        op::TYPE_SAMPLER => 2,
        _ => 1,
    };
    let mut all: Vec<_> = variables
        .iter()
        .filter_map(|(id, kind)| {
            let (at, binding) = *bindings.get(id)?;
            Some((rank(*kind), *id, sets.get(id).copied().unwrap_or(0), binding, at))
        })
        .collect();
    all.sort_unstable();
    let mut taken: BTreeSet<(u32, u32)> = BTreeSet::new();
    let named: BTreeSet<(u32, u32)> = all.iter().map(|(_, _, set, binding, _)| (*set, *binding)).collect();
    for (_, _, set, binding, at) in all {
        let free = |number: &u32| !taken.contains(&(set, *number)) && !named.contains(&(set, *number));
        let given = match taken.contains(&(set, binding)) {
            true => (0..).find(free).unwrap_or(binding),
            false => binding,
        };
        taken.insert((set, given));
        words[at] = given;
    }
}
