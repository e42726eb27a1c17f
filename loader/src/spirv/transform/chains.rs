//! Copies access chains into the blocks that use them, for readers without pointers across blocks (naga).

use super::editor::{Editor, build, context, opcode, rename, used};
use crate::Result;
use crate::spirv::{ModuleIndex, op};
use std::collections::HashMap;

/// Limit on nested chains.
const MAX_DEPTH: u32 = 16;

/// The module with a copy of each access chain in every other block that uses it.
///
/// # Errors
/// Invalid for a broken module.
pub(crate) fn near(words: &[u32]) -> Result<Vec<u32>> {
    let index = ModuleIndex::new(words)?;
    let context = context(&index);
    let mut module = Editor::new(&index)?;
    let start = module.functions_start();
    let mut chains: HashMap<u32, (u32, Vec<u32>)> = HashMap::new();
    let mut block = 0;
    for words in &module.body[start..] {
        match opcode(words) {
            op::LABEL => block = words[1],
            op::ACCESS_CHAIN | op::IN_BOUNDS_ACCESS_CHAIN => {
                chains.insert(words[2], (block, words.clone()));
            }
            _ => {}
        }
    }
    let old = module.body.split_off(start);
    let mut body = Vec::with_capacity(old.len());
    let (mut copies, mut copied) = (HashMap::new(), Vec::new());
    for mut words in old {
        match opcode(&words) {
            op::LABEL => {
                block = words[1];
                copied.extend(copies.drain());
            }
            op::FUNCTION_END => copied.extend(copies.drain()),
            op::PHI => {}
            _ => {
                let mut used = used(&words, &context);
                used.retain(|id| chains.get(id).is_some_and(|chain| chain.0 != block));
                for id in used {
                    copy(&mut module, &chains, block, id, &mut copies, &mut body, 0);
                }
                rename(&mut words, &copies, &context);
            }
        }
        body.push(words);
    }
    if copied.is_empty() {
        return Ok(words.to_vec());
    }
    module.body.append(&mut body);
    copied.sort_unstable();
    module.describe_copies(&copied);
    Ok(module.words())
}

/// Copies a chain, and the chains that it is based on, into a block.
fn copy(
    module: &mut Editor,
    chains: &HashMap<u32, (u32, Vec<u32>)>,
    block: u32,
    id: u32,
    copies: &mut HashMap<u32, u32>,
    body: &mut Vec<Vec<u32>>,
    depth: u32,
) {
    if copies.contains_key(&id) || depth > MAX_DEPTH {
        return;
    }
    let Some((_, words)) = chains.get(&id).filter(|(of, _)| *of != block) else {
        return;
    };
    let mut operands = words[1..].to_vec();
    copy(module, chains, block, operands[2], copies, body, depth + 1);
    operands[1] = module.fresh();
    if let Some(base) = copies.get(&operands[2]) {
        operands[2] = *base;
    }
    copies.insert(id, operands[1]);
    body.push(build(opcode(words), &operands));
}
