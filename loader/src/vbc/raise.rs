//! Converts ordinary descriptors back to VBC's tables: the inverse of [`fit`](super::fit)'s lowering.
//!
//! A stage with ordinary descriptors (set 0, binding = slot) gets the compiler's tables and lookup: the slot's 16-bit
//! index from the push constants, into an array of descriptors.

use super::fit::copied_decorations;
use super::types::Tables;
use crate::spirv::transform::{Editor, build, id_operands, opcode, seal};
use crate::spirv::{ModuleIndex, class, decoration, op};
use crate::{Error, Result};
use std::collections::{BTreeMap, HashSet};

/// A resource variable of set 0 in lowered code.
#[derive(Clone, Copy, Debug)]
struct Variable {
    id: u32,
    class: u32,
    element: u32,
    slot: u32,
    table: u32,
}

/// Types and constants of the lookups.
struct Lookup {
    uint: u32,
    /// Pointer type to a word of the push constants.
    word: u32,
    structure: u32,
    block: u32,
    /// Constants by value.
    constants: BTreeMap<u32, u32>,
}

/// Puts the resources of lowered code into tables. `slots` maps each slot to its table (binding in set 0); `push_words`
/// is the size of the push-constant block over all stages.
///
/// # Errors
/// Unsupported for code that has push constants, or uses a resource in a way that a table does not allow (as a
/// function's argument).
pub(super) fn raise(words: &[u32], slots: &BTreeMap<u8, usize>, sizes: &Tables, push_words: u32) -> Result<Vec<u32>> {
    let index = ModuleIndex::new(words)?;
    let variables = variables(&index, slots)?;
    if variables.is_empty() {
        return Ok(words.to_vec());
    }
    let mut module = Editor::new(&index)?;
    if index.globals().any(|variable| variable.class == class::PUSH_CONSTANT) {
        return Err(Error::unsupported(
            "spirv",
            "push constants: in this format they hold the slots' indices",
        ));
    }
    let mut types = Vec::new();
    let lookup = declare_lookup(&mut module, &variables, push_words, &mut types);
    let tables = declare_tables(&mut module, &variables, sizes, &lookup, &mut types);
    rewrite_uses(&mut module, &variables, &tables, &lookup)?;
    let annotations = annotations(&index, &variables, &tables, &lookup, push_words);
    let end = module.functions_start();
    module.insert(end, types);
    module.insert(module.annotations_end(), annotations);
    let removed: HashSet<u32> = variables.iter().map(|variable| variable.id).collect();
    let mut added: Vec<u32> = tables.values().map(|table| table.1).collect();
    added.sort_unstable();
    added.dedup();
    added.push(lookup.block);
    module.replace_globals(&removed, &added);
    Ok(module.words())
}

fn variables(index: &ModuleIndex, slots: &BTreeMap<u8, usize>) -> Result<Vec<Variable>> {
    let mut found = Vec::new();
    for [pointer, id, class] in index.variables().filter_map(|node| node.head()) {
        if index.decoration(id, decoration::DESCRIPTOR_SET) != Some(0) {
            continue;
        }
        let slot = index.decoration(id, decoration::BINDING).unwrap_or(0);
        let element = index.pointee(pointer);
        let table = u8::try_from(slot).ok().and_then(|slot| slots.get(&slot));
        let (Some(element), Some(table)) = (element, table) else {
            return Err(Error::unsupported(
                "spirv",
                format!("the resource at set 0, binding {slot}"),
            ));
        };
        found.push(Variable {
            id,
            class,
            element,
            slot,
            table: *table as u32,
        });
    }
    Ok(found)
}

/// The type of unsigned words, the constants of all lookups, and the push-constant block.
fn declare_lookup(module: &mut Editor, variables: &[Variable], push_words: u32, types: &mut Vec<Vec<u32>>) -> Lookup {
    let is_uint = |words: &&Vec<u32>| opcode(words) == op::TYPE_INT && words[2..] == [32, 0];
    let uint = match module.body.iter().find(is_uint) {
        Some(words) => words[1],
        None => {
            let uint = module.fresh();
            types.push(build(op::TYPE_INT, &[uint, 32, 0]));
            uint
        }
    };
    let mut constants = BTreeMap::new();
    let values = variables.iter().map(|variable| variable.slot / 2).chain([16, 0xffff]);
    for value in values {
        constants.entry(value).or_insert_with(|| {
            let id = module.fresh();
            types.push(build(op::CONSTANT, &[uint, id, value]));
            id
        });
    }
    let structure = module.fresh();
    let mut members = vec![structure];
    members.resize(1 + push_words as usize, uint);
    types.push(build(op::TYPE_STRUCT, &members));
    let pointer = module.pointer_type(class::PUSH_CONSTANT, structure, types);
    let word = module.pointer_type(class::PUSH_CONSTANT, uint, types);
    let block = module.fresh();
    types.push(build(op::VARIABLE, &[pointer, block, class::PUSH_CONSTANT]));
    Lookup {
        uint,
        word,
        structure,
        block,
        constants,
    }
}

/// Declares a table per element type, as the compiler does; buffers have one per slot. Sets each variable's pointer
/// type to an element, and its table.
fn declare_tables(
    module: &mut Editor,
    variables: &[Variable],
    sizes: &Tables,
    lookup: &Lookup,
    types: &mut Vec<Vec<u32>>,
) -> BTreeMap<u32, (u32, u32)> {
    const BUFFERS: u32 = 2;
    let mut lengths = BTreeMap::new();
    let mut of_type: BTreeMap<(u32, u32, u32), u32> = BTreeMap::new();
    let mut tables = BTreeMap::new();
    for variable in variables {
        let own = if variable.table == BUFFERS { variable.id } else { 0 };
        let key = (variable.table, variable.element, own);
        let element = module.pointer_type(variable.class, variable.element, types);
        let table = *of_type.entry(key).or_insert_with(|| {
            let size = u32::from(sizes.sizes()[variable.table as usize]);
            let length = *lengths.entry(size).or_insert_with(|| {
                let id = module.fresh();
                types.push(build(op::CONSTANT, &[lookup.uint, id, size]));
                id
            });
            let array = module.fresh();
            types.push(build(op::TYPE_ARRAY, &[array, variable.element, length]));
            let pointer = module.pointer_type(variable.class, array, types);
            let table = module.fresh();
            types.push(build(op::VARIABLE, &[pointer, table, variable.class]));
            table
        });
        tables.insert(variable.id, (element, table));
    }
    tables
}

/// Inserts the lookup before every use of a resource.
fn rewrite_uses(
    module: &mut Editor,
    variables: &[Variable],
    tables: &BTreeMap<u32, (u32, u32)>,
    lookup: &Lookup,
) -> Result<()> {
    let start = module.functions_start();
    let functions = module.body.split_off(start);
    let mut rewritten = Vec::with_capacity(functions.len());
    for mut words in functions {
        let used = variables
            .iter()
            .find(|variable| id_operands(words.as_slice()).any(|id| id == variable.id));
        let Some(variable) = used else {
            rewritten.push(words);
            continue;
        };
        let reads = [
            op::LOAD,
            op::IMAGE_TEXEL_POINTER,
            op::ACCESS_CHAIN,
            op::IN_BOUNDS_ACCESS_CHAIN,
            op::ARRAY_LENGTH,
        ];
        if !reads.contains(&opcode(&words)) || words.get(3) != Some(&variable.id) {
            let message = format!(
                "an instruction with opcode {} uses slot {} whole",
                opcode(&words),
                variable.slot
            );
            return Err(Error::unsupported("spirv", message));
        }
        let (element, table) = tables[&variable.id];
        let index = index(module, variable.slot, lookup, &mut rewritten);
        if matches!(opcode(&words), op::ACCESS_CHAIN | op::IN_BOUNDS_ACCESS_CHAIN) {
            words[3] = table;
            words.insert(4, index);
            rewritten.push(seal(words));
        } else {
            let pointer = module.fresh();
            rewritten.push(build(op::ACCESS_CHAIN, &[element, pointer, table, index]));
            words[3] = pointer;
            rewritten.push(words);
        }
    }
    module.body.extend(rewritten);
    module.sweep();
    Ok(())
}

/// The instructions that compute a slot's index.
fn index(module: &mut Editor, slot: u32, lookup: &Lookup, out: &mut Vec<Vec<u32>>) -> u32 {
    let (pointer, word, index) = (module.fresh(), module.fresh(), module.fresh());
    let constant = |value: u32| lookup.constants[&value];
    out.push(build(
        op::ACCESS_CHAIN,
        &[lookup.word, pointer, lookup.block, constant(slot / 2)],
    ));
    out.push(build(op::LOAD, &[lookup.uint, word, pointer]));
    out.push(match slot % 2 {
        0 => build(op::BITWISE_AND, &[lookup.uint, index, word, constant(0xffff)]),
        _ => build(op::SHIFT_RIGHT_LOGICAL, &[lookup.uint, index, word, constant(16)]),
    });
    index
}

/// Decorations of the tables and of the push-constant block.
fn annotations(
    index: &ModuleIndex,
    variables: &[Variable],
    tables: &BTreeMap<u32, (u32, u32)>,
    lookup: &Lookup,
    push_words: u32,
) -> Vec<Vec<u32>> {
    let mut annotations = Vec::new();
    let mut seen = HashSet::new();
    for variable in variables {
        let (_, table) = tables[&variable.id];
        if !seen.insert(table) {
            continue;
        }
        annotations.extend(copied_decorations(index, variable.id, table));
        annotations.push(build(op::DECORATE, &[table, decoration::DESCRIPTOR_SET, 0]));
        annotations.push(build(op::DECORATE, &[table, decoration::BINDING, variable.table]));
    }
    annotations.push(build(op::DECORATE, &[lookup.structure, decoration::BLOCK]));
    for word in 0..push_words {
        annotations.push(build(
            op::MEMBER_DECORATE,
            &[lookup.structure, word, decoration::OFFSET, 4 * word],
        ));
    }
    annotations
}
