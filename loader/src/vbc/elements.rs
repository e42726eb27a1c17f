//! Turns storage buffers that hold one struct into buffers of elements, the only kind that the format has.

use super::reach::{Reach, constant, redirect, uint_type};
use crate::Result;
use crate::spirv::transform::{Editor, build, opcode};
use crate::spirv::{Located, ModuleIndex, class, decoration, op};
use std::collections::HashMap;

/// Wraps each block of set 0 that has no runtime array in a struct with an array of the block.
///
/// # Errors
/// Unsupported for buffers that are used as a whole.
pub(super) fn wrap_buffers(words: Vec<u32>) -> Result<Vec<u32>> {
    let index = ModuleIndex::new(words.as_slice())?;
    let found: Vec<(Located, u32)> = index
        .globals()
        .filter_map(|found| Some((found, single(&index, &found)?)))
        .collect();
    if found.is_empty() {
        return Ok(words);
    }
    let mut module = Editor::new(&index)?;
    let (mut added, mut annotations, mut moved) = (Vec::new(), Vec::new(), HashMap::new());
    let uint = uint_type(&mut module, &mut added);
    let zero = constant(&mut module, uint, 0, &mut added);
    for (variable, block) in &found {
        let (array, wrapper) = (module.fresh(), module.fresh());
        added.push(build(op::TYPE_RUNTIME_ARRAY, &[array, variable.pointee]));
        added.push(build(op::TYPE_STRUCT, &[wrapper, array]));
        let pointer = module.pointer_type(variable.class, wrapper, &mut added);
        let inner = module.pointer_type(variable.class, variable.pointee, &mut added);
        annotations.push(build(op::DECORATE, &[wrapper, *block]));
        annotations.push(build(op::MEMBER_DECORATE, &[wrapper, 0, decoration::OFFSET, 0]));
        let mut members = (0..).zip(index.members(variable.pointee).into_iter().flatten());
        let is_read = |(at, _)| {
            index
                .member_decoration(variable.pointee, at, decoration::NON_WRITABLE)
                .is_some()
        };
        if members.all(is_read) {
            annotations.push(build(op::MEMBER_DECORATE, &[wrapper, 0, decoration::NON_WRITABLE]));
        }
        let is = |words: &Vec<u32>| opcode(words) == op::VARIABLE && words[2] == variable.id;
        if let Some(at) = module.body.iter().position(is) {
            let mut words = module.body.remove(at);
            words[1] = pointer;
            added.push(words);
        }
        let reach = Reach {
            path: vec![variable.id, zero, zero],
            pointer: inner,
            name: format!("the buffer {}", index.name(variable.id).unwrap_or_default()),
        };
        moved.insert(variable.id, reach);
    }
    redirect(&mut module, &moved)?;
    module.insert(module.functions_start(), added);
    let blocks: Vec<u32> = found.iter().map(|(variable, _)| variable.pointee).collect();
    for words in &mut module.body {
        if let (op::DECORATE, [_, ty, decoration::BLOCK | decoration::BUFFER_BLOCK]) = (opcode(words), words.as_slice())
            && blocks.contains(ty)
        {
            words.clear();
        }
    }
    module.sweep();
    module.insert(module.annotations_end(), annotations);
    Ok(module.words())
}

/// The decoration of such a buffer's block.
fn single(index: &ModuleIndex, variable: &Located) -> Option<u32> {
    index.place(variable.id).filter(|(set, _)| *set == 0)?;
    let block = match variable.class {
        class::STORAGE_BUFFER => decoration::BLOCK,
        class::UNIFORM => decoration::BUFFER_BLOCK,
        _ => return None,
    };
    index.decoration(variable.pointee, block)?;
    let mut members = index.members(variable.pointee)?;
    let is_open = |member| index.opcode(member) == op::TYPE_RUNTIME_ARRAY;
    (!members.any(is_open)).then_some(block)
}
