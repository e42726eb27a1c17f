//! Values of some blocks that others use, passed through local variables. The blocks can then be copied, and need not
//! dominate the others.

use super::editor::{Editor, build, opcode, rename, result, used};
use super::flow::Flow;
use crate::spirv::operand::Context;
use crate::spirv::{ModuleIndex, class, op};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// Values defined in the blocks `inside` and used in others. A phi uses a value in the parent that it comes from.
pub(super) fn escaping(module: &Editor, flow: &Flow, context: &Context, inside: &HashSet<u32>) -> BTreeSet<u32> {
    let of = |label: &u32| flow.at.get(label).map(|at| flow.blocks[*at].range.clone());
    let within = inside.iter().filter_map(of).flatten();
    let values: HashSet<u32> = within
        .filter_map(|at| result(&module.body[at]))
        .filter(|id| !inside.contains(id))
        .collect();
    let mut found = BTreeSet::new();
    for block in flow.blocks.iter().filter(|block| !inside.contains(&block.label)) {
        for words in &module.body[block.range.clone()] {
            match opcode(words) {
                op::PHI => found.extend(values_from(words, |parent| !inside.contains(&parent))),
                _ => found.extend(used(words, context)),
            }
        }
    }
    found.retain(|id| values.contains(id));
    found
}

/// The values of a phi that come from some of its parents.
fn values_from(words: &[u32], is_parent: impl Fn(u32) -> bool) -> impl Iterator<Item = u32> {
    let pairs = words[3..].chunks_exact(2);
    pairs.filter(move |pair| is_parent(pair[1])).map(|pair| pair[0])
}

/// Stores `values` in local variables where they are defined, and loads them where blocks outside of `inside` use them.
/// False, and the module unchanged, if a value has a type that no local variable has.
pub(super) fn through_memory(
    index: &ModuleIndex,
    module: &mut Editor,
    flow: &Flow,
    context: &Context,
    values: &BTreeSet<u32>,
    inside: &HashSet<u32>,
) -> bool {
    let typed = module.body.iter().filter_map(|words| {
        let id = result(words).filter(|id| values.contains(id))?;
        Some((id, words[1]))
    });
    let types: BTreeMap<u32, u32> = typed.collect();
    let Some(entry) = entry(module, flow, inside).filter(|_| types.values().all(|ty| is_storable(index, *ty))) else {
        return false;
    };
    let mut added = Vec::new();
    let mut variables = BTreeMap::new();
    for (value, ty) in &types {
        let pointer = module.pointer_type(class::FUNCTION, *ty, &mut added);
        variables.insert(*value, (module.fresh(), pointer));
    }
    // Loads at the ends of blocks, for their terminators and for phis that they are parents of.
    let mut ends: BTreeMap<(u32, u32), u32> = BTreeMap::new();
    let outside = || flow.blocks.iter().filter(|block| !inside.contains(&block.label));
    for block in outside() {
        for at in block.range.clone() {
            let words = &module.body[at];
            let ids: Vec<(u32, u32)> = match opcode(words) {
                op::PHI => {
                    let pairs = words[3..].chunks_exact(2).map(|pair| (pair[1], pair[0]));
                    pairs.filter(|(parent, _)| !inside.contains(parent)).collect()
                }
                _ if at >= block.tail => used(words, context).into_iter().map(|id| (block.label, id)).collect(),
                _ => Vec::new(),
            };
            for key in ids.into_iter().filter(|(_, id)| types.contains_key(id)) {
                ends.entry(key).or_insert_with(|| module.fresh());
            }
        }
    }
    let tails: HashMap<usize, u32> = outside().map(|block| (block.tail, block.label)).collect();
    let load = |value: u32, id: u32| build(op::LOAD, &[types[&value], id, variables[&value].0]);
    let old = std::mem::take(&mut module.body);
    let mut body = Vec::with_capacity(old.len() + 4 * types.len());
    let mut stores = Vec::new();
    for (at, mut words) in old.into_iter().enumerate() {
        if at == entry {
            let declared = variables.values();
            body.extend(declared.map(|(id, pointer)| build(op::VARIABLE, &[*pointer, *id, class::FUNCTION])));
        }
        let Some(block) = flow.block(at) else {
            body.push(words);
            continue;
        };
        let (label, kind) = (block.label, opcode(&words));
        if kind != op::PHI {
            // Phis come first in a block, and so their stores behind the last of them.
            body.append(&mut stores);
        }
        if inside.contains(&label) {
            let defined = result(&words).filter(|id| types.contains_key(id));
            body.push(words);
            stores.extend(defined.map(|id| build(op::STORE, &[variables[&id].0, id])));
            if kind != op::PHI {
                body.append(&mut stores);
            }
            continue;
        }
        if let Some(label) = tails.get(&at) {
            body.extend(
                ends.range((*label, 0)..=(*label, u32::MAX))
                    .map(|((_, value), id)| load(*value, *id)),
            );
        }
        match kind {
            op::PHI => {
                for pair in words[3..].chunks_exact_mut(2) {
                    pair[0] = *ends.get(&(pair[1], pair[0])).unwrap_or(&pair[0]);
                }
            }
            _ => {
                let ids = used(&words, context).into_iter();
                let ids: BTreeSet<u32> = ids.filter(|id| types.contains_key(id)).collect();
                let loaded = ids.into_iter().map(|value| match ends.get(&(label, value)) {
                    Some(id) if at >= block.tail => (value, *id),
                    _ => {
                        let id = module.fresh();
                        body.push(load(value, id));
                        (value, id)
                    }
                });
                rename(&mut words, &loaded.collect(), context);
            }
        }
        body.push(words);
    }
    module.body = body;
    let start = module.functions_start();
    module.insert(start, added);
    true
}

/// Position of the first instruction of the function that contains the blocks.
fn entry(module: &Editor, flow: &Flow, inside: &HashSet<u32>) -> Option<usize> {
    let some = flow.blocks.iter().find(|block| inside.contains(&block.label))?;
    let is = |wanted: u16| move |words: &Vec<u32>| opcode(words) == wanted;
    let function = module.body[..some.range.start].iter().rposition(is(op::FUNCTION))?;
    let label = module.body[function..].iter().position(is(op::LABEL))?;
    Some(function + label + 1)
}

/// Whether a local variable can have the type.
fn is_storable(index: &ModuleIndex, ty: u32) -> bool {
    matches!(
        index.opcode(ty),
        op::TYPE_BOOL
            | op::TYPE_INT
            | op::TYPE_FLOAT
            | op::TYPE_VECTOR
            | op::TYPE_MATRIX
            | op::TYPE_ARRAY
            | op::TYPE_STRUCT
    )
}
