//! Redirects accesses to variables that became part of another variable.

use crate::spirv::op;
use crate::spirv::transform::{Editor, build, id_operands, opcode, seal};
use crate::{Error, Result};
use std::collections::HashMap;

/// The new place of a variable.
#[derive(Clone, Debug)]
pub(super) struct Reach {
    /// The containing variable, and the indices to it.
    pub path: Vec<u32>,
    /// The type id of a pointer to it.
    pub pointer: u32,
    /// Its name in errors.
    pub name: String,
}

/// Rewrites the functions to use the new places.
///
/// # Errors
/// Unsupported for uses of a variable other than loads and access chains.
pub(super) fn redirect(module: &mut Editor, moved: &HashMap<u32, Reach>) -> Result<()> {
    let start = module.functions_start();
    for mut words in module.body.split_off(start) {
        let used = id_operands(words.as_slice()).find_map(|id| Some((id, moved.get(&id)?)));
        let Some((id, reach)) = used else {
            module.body.push(words);
            continue;
        };
        match opcode(&words) {
            op::ACCESS_CHAIN | op::IN_BOUNDS_ACCESS_CHAIN if words[3] == id => {
                words.splice(3..4, reach.path.iter().copied());
                module.body.push(seal(words));
            }
            op::LOAD if words[3] == id => {
                words[3] = module.fresh();
                let chain = build(
                    op::ACCESS_CHAIN,
                    &[&[reach.pointer, words[3]], &reach.path[..]].concat(),
                );
                module.body.extend([chain, words]);
            }
            op::COPY_OBJECT if words[3] == id => {
                let chain = build(op::ACCESS_CHAIN, &[&words[1..3], &reach.path[..]].concat());
                module.body.push(chain);
            }
            other => {
                let message = format!("{} is used whole by an instruction with opcode {other}", reach.name);
                return Err(Error::unsupported("spirv", message));
            }
        }
    }
    Ok(())
}

/// The type of 32-bit unsigned integers; declared if the module lacks it.
pub(super) fn uint_type(module: &mut Editor, added: &mut Vec<Vec<u32>>) -> u32 {
    let is_uint = |words: &&Vec<u32>| opcode(words) == op::TYPE_INT && words[2..] == [32, 0];
    if let Some(known) = module.body.iter().chain(added.iter()).find(is_uint) {
        return known[1];
    }
    let uint = module.fresh();
    added.push(build(op::TYPE_INT, &[uint, 32, 0]));
    uint
}

/// A constant of a type.
pub(super) fn constant(module: &mut Editor, ty: u32, value: u32, added: &mut Vec<Vec<u32>>) -> u32 {
    let id = module.fresh();
    added.push(build(op::CONSTANT, &[ty, id, value]));
    id
}
