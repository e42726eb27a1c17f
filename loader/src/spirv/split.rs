//! Combined image samplers taken apart into an image and a sampler.
//!
//! For readers that only know the two apart (naga, and with it WGSL). The image keeps the variable's id and binding;
//! the sampler gets the next free binding of the same set.

use super::op;
use super::transform::build;
use super::{HEADER_WORDS, instructions};
use crate::{Error, Result};
use std::collections::HashMap;

const TYPE_SAMPLER: u16 = 26;
const SAMPLED_IMAGE: u16 = 86;
const DECORATION_BINDING: u32 = 33;
const DECORATION_SET: u32 = 34;

#[derive(Default)]
struct Split {
    /// Sampled image type to its image type.
    sampled: HashMap<u32, u32>,
    /// Array, pointer and pointer-valued ids to the ids for image and sampler (values keep their id for the image).
    twins: HashMap<u32, (u32, u32)>,
    sampler: u32,
    next: u32,
    out: Vec<u32>,
}

/// The module with every combined image sampler split; the words unchanged if there is none.
///
/// # Errors
/// Unsupported, with the instruction and its offset, where a combined variable is used in a way that cannot be split
/// (handed to a function, copied, or chosen between). Invalid when the module does not walk.
pub fn split_samplers(words: &[u32]) -> Result<Vec<u32>> {
    let mut split = Split {
        next: words.get(3).copied().unwrap_or(0),
        ..Split::default()
    };
    let mut bindings: HashMap<u32, (u32, u32)> = HashMap::new();
    let mut variables = Vec::new();
    for instruction in instructions(words) {
        let instruction = instruction?;
        match (instruction.opcode, instruction.operands()) {
            (TYPE_SAMPLER, &[id]) => split.sampler = id,
            (op::TYPE_SAMPLED_IMAGE, &[id, image]) => drop(split.sampled.insert(id, image)),
            (op::TYPE_ARRAY, &[id, of, _]) | (op::TYPE_POINTER, &[id, _, of]) if split.is_combined(of) => {
                let twins = (split.fresh(), split.fresh());
                split.twins.insert(id, twins);
            }
            (op::VARIABLE, &[ty, id, ..]) if split.twins.contains_key(&ty) => {
                let sampler = split.fresh();
                split.twins.insert(id, (id, sampler));
                variables.push(id);
            }
            (op::DECORATE, &[id, DECORATION_BINDING, n]) => bindings.entry(id).or_default().1 = n,
            (op::DECORATE, &[id, DECORATION_SET, n]) => bindings.entry(id).or_default().0 = n,
            _ => {}
        }
    }
    if variables.is_empty() {
        return Ok(words.to_vec());
    }
    let had_sampler = split.sampler != 0;
    if !had_sampler {
        split.sampler = split.fresh();
    }
    // Descriptors may alias (VBC's tables do): the samplers of one binding share one binding again.
    let mut free: HashMap<u32, u32> = HashMap::new();
    for (set, binding) in bindings.values() {
        let slot = free.entry(*set).or_default();
        *slot = (*slot).max(binding.saturating_add(1));
    }
    let mut moved: HashMap<(u32, u32), u32> = HashMap::new();
    for id in &variables {
        let place = bindings.get(id).copied().unwrap_or_default();
        let slot = free.entry(place.0).or_default();
        moved.entry(place).or_insert_with(|| {
            *slot += 1;
            *slot - 1
        });
    }
    split.out.extend_from_slice(&words[..HEADER_WORDS]);
    let mut first = true;
    for instruction in instructions(words) {
        let instruction = instruction?;
        let operands = instruction.operands();
        match (instruction.opcode, operands) {
            (TYPE_SAMPLER, _) => continue,
            (op::TYPE_SAMPLED_IMAGE, _) if std::mem::replace(&mut first, false) => {
                let sampler = split.sampler;
                split.push(TYPE_SAMPLER, &[sampler]);
            }
            (op::DECORATE, &[id, DECORATION_BINDING, _]) if split.twins.contains_key(&id) => {
                let place = bindings.get(&id).copied().unwrap_or_default();
                let (sampler, binding) = (split.twins[&id].1, moved.get(&place).copied().unwrap_or(0));
                split.push(op::DECORATE, &[sampler, DECORATION_BINDING, binding]);
            }
            (op::DECORATE, &[id, ref rest @ ..]) if split.twins.contains_key(&id) => {
                let mut twin = vec![split.twins[&id].1];
                twin.extend_from_slice(rest);
                split.push(op::DECORATE, &twin);
            }
            _ => {}
        }
        split.rewrite(&instruction)?;
    }
    let mut out = split.out;
    out[3] = split.next;
    Ok(out)
}

impl Split {
    fn fresh(&mut self) -> u32 {
        // A bound at the very end of the range gives a module that is not valid, as its bound says already.
        let id = self.next;
        self.next = id.saturating_add(1);
        id
    }

    fn is_combined(&self, ty: u32) -> bool {
        self.sampled.contains_key(&ty) || self.twins.contains_key(&ty)
    }

    fn push(&mut self, opcode: u16, operands: &[u32]) {
        let words = build(opcode, operands);
        self.out.extend(words);
    }

    /// What a combined type becomes.
    fn types(&self, ty: u32) -> (u32, u32) {
        match self.sampled.get(&ty) {
            Some(image) => (*image, self.sampler),
            None => self.twins.get(&ty).copied().unwrap_or((ty, ty)),
        }
    }

    fn rewrite(&mut self, instruction: &super::Instruction<'_>) -> Result<()> {
        let operands = instruction.operands();
        match (instruction.opcode, operands) {
            (op::TYPE_ARRAY, &[id, of, length]) if self.twins.contains_key(&id) => {
                let (twins, parts) = (self.twins[&id], self.types(of));
                self.push(op::TYPE_ARRAY, &[twins.0, parts.0, length]);
                self.push(op::TYPE_ARRAY, &[twins.1, parts.1, length]);
            }
            (op::TYPE_POINTER, &[id, class, of]) if self.twins.contains_key(&id) => {
                let (twins, parts) = (self.twins[&id], self.types(of));
                self.push(op::TYPE_POINTER, &[twins.0, class, parts.0]);
                self.push(op::TYPE_POINTER, &[twins.1, class, parts.1]);
            }
            (op::VARIABLE, &[ty, id, class, ..]) if self.twins.contains_key(&id) => {
                let (pointers, twins) = (self.types(ty), self.twins[&id]);
                self.push(op::VARIABLE, &[pointers.0, twins.0, class]);
                self.push(op::VARIABLE, &[pointers.1, twins.1, class]);
            }
            (op::ACCESS_CHAIN | op::IN_BOUNDS_ACCESS_CHAIN, &[ty, id, base, ref rest @ ..])
                if self.twins.contains_key(&base) =>
            {
                let (pointers, bases) = (self.types(ty), self.twins[&base]);
                let sampler = self.fresh();
                self.twins.insert(id, (id, sampler));
                for (ty, id, base) in [(pointers.0, id, bases.0), (pointers.1, sampler, bases.1)] {
                    let mut operands = vec![ty, id, base];
                    operands.extend_from_slice(rest);
                    self.push(instruction.opcode, &operands);
                }
            }
            (op::LOAD, &[ty, id, pointer, ..]) if self.twins.contains_key(&pointer) => {
                let Some(image_type) = self.sampled.get(&ty).copied() else {
                    return Err(refused(instruction));
                };
                let (twins, sampler_type) = (self.twins[&pointer], self.sampler);
                let (image, sampler) = (self.fresh(), self.fresh());
                self.push(op::LOAD, &[image_type, image, twins.0]);
                self.push(op::LOAD, &[sampler_type, sampler, twins.1]);
                self.push(SAMPLED_IMAGE, &[ty, id, image, sampler]);
            }
            (op::ENTRY_POINT, operands) => {
                let name = operands.get(2..).and_then(super::operand::string_words).unwrap_or(0);
                let interface = operands.get(2 + name..).unwrap_or(&[]);
                let mut all = operands.to_vec();
                all.extend(
                    interface
                        .iter()
                        .filter_map(|id| self.twins.get(id))
                        .map(|twins| twins.1),
                );
                self.push(op::ENTRY_POINT, &all);
            }
            (op::NAME | op::DECORATE, _) => {
                let named_type = operands
                    .first()
                    .is_some_and(|id| self.twins.get(id).is_some_and(|twins| twins.0 != *id));
                if !named_type {
                    self.out.extend_from_slice(instruction.words);
                }
            }
            _ => {
                let mut ids = super::transform::id_operands(instruction.words);
                if in_body(instruction.opcode) && ids.any(|id| self.twins.contains_key(&id)) {
                    return Err(refused(instruction));
                }
                self.out.extend_from_slice(instruction.words);
            }
        }
        Ok(())
    }
}

/// Whether an opcode's words are ids of values: decorations hold literals.
fn in_body(opcode: u16) -> bool {
    opcode >= op::FUNCTION_PARAMETER
        && !matches!(
            opcode,
            op::DECORATE
                ..=op::GROUP_MEMBER_DECORATE | op::DECORATE_ID | op::DECORATE_STRING | op::MEMBER_DECORATE_STRING
        )
}

fn refused(instruction: &super::Instruction<'_>) -> Error {
    let row = super::Grammar::builtin().row(instruction.opcode);
    let name = row.map_or_else(|| format!("opcode {}", instruction.opcode), |row| row.name.clone());
    let message = format!("{name} uses a combined image sampler in a way that cannot be split");
    Error::unsupported("spirv", message).at(instruction.position as u64 * 4)
}
