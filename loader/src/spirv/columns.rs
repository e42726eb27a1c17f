//! Vertex inputs that are matrices or arrays taken apart into the vectors of their locations.
//!
//! For readers whose inputs are numbers and vectors only (naga, and with it WGSL). The variable becomes a private one,
//! which the entry point fills before it does anything else.

use super::transform::{Editor, build, opcode, seal};
use super::{ModuleIndex, class, decoration, model, op};
use crate::Result;
use std::collections::{BTreeMap, HashMap};

/// Locations of one input at most; devices have 16 to 32 for all.
const MAX_LOCATIONS: usize = 64;

/// An input that is taken apart.
struct Input {
    variable: u32,
    ty: u32,
    location: u32,
    /// Variables of its locations, in order, and their types.
    parts: Vec<(u32, u32)>,
}

/// The module with every such input of a vertex stage taken apart; the words unchanged where there is none, or where
/// one is handed to a function.
///
/// # Errors
/// Invalid when the module does not walk.
pub fn split_inputs(words: &[u32]) -> Result<Vec<u32>> {
    let index = ModuleIndex::new(words)?;
    let is_vertex = |node: super::Node<'_>| node.operand(0) == Some(model::VERTEX);
    let entries: Vec<u32> = index.entry_points().filter_map(|node| node.operand(1)).collect();
    if !index.entry_points().all(is_vertex) || entries.is_empty() {
        return Ok(words.to_vec());
    }
    let mut module = Editor::new(&index)?;
    let mut inputs = Vec::new();
    for global in index.globals().filter(|global| global.class == class::INPUT) {
        let Some(location) = index.decoration(global.id, decoration::LOCATION) else {
            continue;
        };
        let mut leaves = Vec::new();
        collect(&index, global.pointee, &mut leaves);
        if index.opcode(global.pointee) == op::TYPE_STRUCT
            || leaves == [global.pointee]
            || leaves.is_empty()
            || leaves.len() > MAX_LOCATIONS
        {
            continue;
        }
        inputs.push(Input {
            variable: global.id,
            ty: global.pointee,
            location,
            parts: leaves.into_iter().map(|leaf| (module.fresh(), leaf)).collect(),
        });
    }
    if inputs.is_empty() || !move_pointers(&index, &mut module, &inputs) {
        return Ok(words.to_vec());
    }
    declare(&mut module, &inputs);
    for entry in entries {
        fill(&index, &mut module, entry, &inputs);
    }
    Ok(module.words())
}

/// Types of the locations that a type takes, in order.
fn collect(index: &ModuleIndex, ty: u32, leaves: &mut Vec<u32>) {
    let (element, count) = if let Some([_, column, count]) = index.operands(ty, op::TYPE_MATRIX) {
        (column, count)
    } else if let Some([_, element, length]) = index.operands(ty, op::TYPE_ARRAY) {
        (element, index.constant(length).unwrap_or(0))
    } else {
        return leaves.push(ty);
    };
    for _ in 0..count {
        if leaves.len() > MAX_LOCATIONS {
            return;
        }
        collect(index, element, leaves);
    }
}

/// Gives what leads to the inputs private pointer types. False where one leads on into a function.
fn move_pointers(index: &ModuleIndex, module: &mut Editor, inputs: &[Input]) -> bool {
    let mut moved: BTreeMap<u32, ()> = inputs.iter().map(|input| (input.variable, ())).collect();
    let mut added = Vec::new();
    let mut types: HashMap<u32, u32> = HashMap::new();
    for at in module.functions_start()..module.body.len() {
        let words = module.body[at].clone();
        let follows = matches!(
            opcode(&words),
            op::ACCESS_CHAIN | op::IN_BOUNDS_ACCESS_CHAIN | op::COPY_OBJECT
        );
        if follows && words.get(3).is_some_and(|base| moved.contains_key(base)) {
            let Some(pointee) = index.pointee(words[1]) else {
                return false;
            };
            let pointer = match types.get(&pointee) {
                Some(known) => *known,
                None => module.pointer_type(class::PRIVATE, pointee, &mut added),
            };
            types.insert(pointee, pointer);
            module.body[at][1] = pointer;
            moved.insert(words[2], ());
        } else if opcode(&words) == op::FUNCTION_CALL && words[3..].iter().any(|id| moved.contains_key(id)) {
            return false;
        }
    }
    let start = module.functions_start();
    module.insert(start, added);
    true
}

/// The variables: the old ones private, one more for each location, and all of them in the entry points' interfaces.
fn declare(module: &mut Editor, inputs: &[Input]) {
    let lists_all = module.version() >= 0x0001_0400;
    let (mut added, mut decorations) = (Vec::new(), Vec::new());
    for input in inputs {
        let is_old = |words: &Vec<u32>| match opcode(words) {
            op::VARIABLE => words[2] == input.variable,
            op::DECORATE => words[1] == input.variable,
            _ => false,
        };
        module.body.retain(|words| !is_old(words));
        let pointer = module.pointer_type(class::PRIVATE, input.ty, &mut added);
        added.push(build(op::VARIABLE, &[pointer, input.variable, class::PRIVATE]));
        for ((part, ty), location) in input.parts.iter().zip(input.location..) {
            let pointer = module.pointer_type(class::INPUT, *ty, &mut added);
            added.push(build(op::VARIABLE, &[pointer, *part, class::INPUT]));
            decorations.push(build(op::DECORATE, &[*part, decoration::LOCATION, location]));
        }
    }
    let start = module.functions_start();
    module.insert(start, added);
    module.insert(module.annotations_end(), decorations);
    for words in module.body.iter_mut().filter(|words| opcode(words) == op::ENTRY_POINT) {
        for input in inputs {
            let named = words.iter().skip(3).position(|word| *word == input.variable);
            let Some(at) = named.map(|at| at + 3) else { continue };
            if !lists_all {
                words.remove(at);
            }
            words.extend(input.parts.iter().map(|(part, _)| *part));
        }
        *words = seal(std::mem::take(words));
    }
}

/// Puts the inputs together where an entry point begins.
fn fill(index: &ModuleIndex, module: &mut Editor, entry: u32, inputs: &[Input]) {
    let is_entry = |words: &Vec<u32>| opcode(words) == op::FUNCTION && words[2] == entry;
    let Some(function) = module.body.iter().position(is_entry) else {
        return;
    };
    let begins = |words: &Vec<u32>| {
        !matches!(
            opcode(words),
            op::FUNCTION | op::FUNCTION_PARAMETER | op::LABEL | op::VARIABLE | op::LINE | op::NO_LINE
        )
    };
    let Some(at) = module.body[function..].iter().position(begins) else {
        return;
    };
    let mut code = Vec::new();
    for input in inputs {
        let mut parts = input.parts.iter().copied();
        let whole = assemble(index, module, input.ty, &mut parts, &mut code);
        code.push(build(op::STORE, &[input.variable, whole]));
    }
    module.insert(function + at, code);
}

/// A value of a type from its locations' variables.
fn assemble(
    index: &ModuleIndex,
    module: &mut Editor,
    ty: u32,
    parts: &mut dyn Iterator<Item = (u32, u32)>,
    code: &mut Vec<Vec<u32>>,
) -> u32 {
    let result = module.fresh();
    let (element, count) = if let Some([_, column, count]) = index.operands(ty, op::TYPE_MATRIX) {
        (column, count)
    } else if let Some([_, element, length]) = index.operands(ty, op::TYPE_ARRAY) {
        (element, index.constant(length).unwrap_or(0))
    } else {
        if let Some((variable, _)) = parts.next() {
            code.push(build(op::LOAD, &[ty, result, variable]));
        }
        return result;
    };
    let mut operands = vec![ty, result];
    for _ in 0..count {
        operands.push(assemble(index, module, element, parts, code));
    }
    code.push(build(op::COMPOSITE_CONSTRUCT, &operands));
    result
}
