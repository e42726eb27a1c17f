//! Subgroup operations that some readers lack, by those that they have.

use super::editor::{Editor, build, opcode, seal};
use crate::Result;
use crate::spirv::{ModuleIndex, capability, class, decoration, op};

/// The built-in SubgroupLocalInvocationId.
const LANE: u32 = 41;

/// Writes `OpGroupNonUniformElect` as a comparison of the lane's number with that of the first active lane, which is what
/// it means, and `OpGroupNonUniformAllEqual` as one of the value with that of the first active lane.
///
/// # Errors
/// Invalid when the module does not walk.
pub fn elections(words: &[u32]) -> Result<Vec<u32>> {
    let index = ModuleIndex::new(words)?;
    let mut module = Editor::new(&index)?;
    let (mut elects, mut compares) = (false, false);
    for words in &module.body {
        elects |= opcode(words) == op::GROUP_NON_UNIFORM_ELECT;
        compares |= opcode(words) == op::GROUP_NON_UNIFORM_ALL_EQUAL;
    }
    if !elects && !compares {
        return Ok(words.to_vec());
    }
    let types = types_of(&module);
    let lane = match elects {
        true => Some(lane(&index, &mut module)),
        false => None,
    };
    let mut body = Vec::with_capacity(module.body.len());
    for words in std::mem::take(&mut module.body) {
        match (opcode(&words), words.as_slice(), lane) {
            (op::GROUP_NON_UNIFORM_ELECT, [_, boolean, result, scope], Some((uint, variable))) => {
                let (own, first) = (module.fresh(), module.fresh());
                body.push(build(op::LOAD, &[uint, own, variable]));
                body.push(build(
                    op::GROUP_NON_UNIFORM_BROADCAST_FIRST,
                    &[uint, first, *scope, own],
                ));
                body.push(build(op::I_EQUAL, &[*boolean, *result, own, first]));
            }
            (op::GROUP_NON_UNIFORM_ALL_EQUAL, [_, boolean, result, scope, value], _) => {
                let equal = types.get(value).and_then(|ty| equality(&index, *ty));
                let Some((ty, compare, None)) = equal.map(|(compare, vector)| (types[value], compare, vector)) else {
                    // A vector's comparison wants a type that the module may not have.
                    body.push(words);
                    continue;
                };
                let (first, same) = (module.fresh(), module.fresh());
                body.push(build(
                    op::GROUP_NON_UNIFORM_BROADCAST_FIRST,
                    &[ty, first, *scope, *value],
                ));
                body.push(build(compare, &[*boolean, same, *value, first]));
                body.push(build(op::GROUP_NON_UNIFORM_ALL, &[*boolean, *result, *scope, same]));
            }
            _ => body.push(words),
        }
    }
    module.body = body;
    module.add_capability(capability::GROUP_NON_UNIFORM_BALLOT);
    if compares {
        module.add_capability(capability::GROUP_NON_UNIFORM_VOTE);
    }
    Ok(module.words())
}

/// How values of a type are compared; with the number of components of a vector.
fn equality(index: &ModuleIndex, ty: u32) -> Option<(u16, Option<u32>)> {
    let vector: Option<[u32; 3]> = index.operands(ty, op::TYPE_VECTOR);
    let scalar = vector.map_or(ty, |[_, scalar, _]| scalar);
    let compare = match index.opcode(scalar) {
        op::TYPE_INT => op::I_EQUAL,
        op::TYPE_FLOAT => op::F_ORD_EQUAL,
        op::TYPE_BOOL => op::LOGICAL_EQUAL,
        _ => return None,
    };
    Some((compare, vector.map(|[_, _, count]| count)))
}

/// The type of each value.
fn types_of(module: &Editor) -> std::collections::HashMap<u32, u32> {
    let typed = |words: &Vec<u32>| {
        let row = crate::spirv::Grammar::builtin().row(opcode(words))?;
        (row.has_type && row.has_result).then(|| (words[2], words[1]))
    };
    module.body.iter().filter_map(typed).collect()
}

/// The type and the variable of the lane's number; declared where the module has none.
fn lane(index: &ModuleIndex, module: &mut Editor) -> (u32, u32) {
    let is_lane = |id| index.decoration(id, decoration::BUILT_IN) == Some(LANE);
    if let Some(found) = index.globals().find(|global| is_lane(global.id)) {
        return (found.pointee, found.id);
    }
    let is_uint = |words: &&Vec<u32>| opcode(words) == op::TYPE_INT && words[2..] == [32, 0];
    let mut added = Vec::new();
    let uint = match module.body.iter().find(is_uint) {
        Some(words) => words[1],
        None => {
            let id = module.fresh();
            added.push(build(op::TYPE_INT, &[id, 32, 0]));
            id
        }
    };
    let pointer = module.pointer_type(class::INPUT, uint, &mut added);
    let variable = module.fresh();
    added.push(build(op::VARIABLE, &[pointer, variable, class::INPUT]));
    let at = module.functions_start();
    module.insert(at, added);
    let at = module.annotations_end();
    module.insert(at, vec![build(op::DECORATE, &[variable, decoration::BUILT_IN, LANE])]);
    for words in module.body.iter_mut().filter(|words| opcode(words) == op::ENTRY_POINT) {
        words.push(variable);
        *words = seal(std::mem::take(words));
    }
    (uint, variable)
}
