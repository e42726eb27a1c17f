//! Workgroups of several dimensions as one-dimensional ones, for readers that have subgroup ids only there (naga), and the
//! first value of workgroup memory.
//!
//! The number of workgroups stays; an invocation's position in its workgroup is computed from its index. Which invocations
//! share a subgroup is implementation-defined in both cases.

use super::editor::{Editor, build, opcode, seal};
use super::interface::{move_pointers, start_of};
use crate::Result;
use crate::spirv::{ModuleIndex, class, decoration, mode, model, op};

/// Numbers of built-ins.
const WORKGROUP_SIZE: u32 = 25;
const WORKGROUP_ID: u32 = 26;
const LOCAL_ID: u32 = 27;
const GLOBAL_ID: u32 = 28;
const LOCAL_INDEX: u32 = 29;
const SUBGROUP_ID: u32 = 40;
const LANE: u32 = 41;

/// The module with one-dimensional workgroups if it reads subgroup ids. It is unchanged if it does not, or has one
/// dimension already.
///
/// # Errors
/// Invalid for a broken module.
pub(crate) fn in_a_row(words: &[u32]) -> Result<Vec<u32>> {
    let index = ModuleIndex::new(words)?;
    let built_in = |wanted: u32| {
        let is_it = |id| index.decoration(id, decoration::BUILT_IN) == Some(wanted);
        index
            .globals()
            .find(|global| global.class == class::INPUT && is_it(global.id))
    };
    let entries: Vec<(Option<u32>, Option<u32>)> = index
        .entry_points()
        .map(|node| (node.operand(0), node.operand(1)))
        .collect();
    let (&[(Some(model::GL_COMPUTE), Some(entry))], true) = (
        &entries[..],
        built_in(SUBGROUP_ID).is_some() || built_in(LANE).is_some(),
    ) else {
        return Ok(words.to_vec());
    };
    let mut module = Editor::new(&index)?;
    let Some([x, y, z]) = size(&index, &module) else {
        return Ok(words.to_vec());
    };
    let Some(all) = x
        .checked_mul(y)
        .and_then(|area| area.checked_mul(z))
        .filter(|_| y.max(z) > 1)
    else {
        return Ok(words.to_vec());
    };
    let (local, global) = (built_in(LOCAL_ID), built_in(GLOBAL_ID));
    let moved: Vec<u32> = local.iter().chain(&global).map(|found| found.id).collect();
    let is_vector = |found: &crate::spirv::Located| index.operands(found.pointee, op::TYPE_VECTOR);
    let vector: Option<[u32; 3]> = local.iter().chain(&global).find_map(is_vector);
    set_size(&mut module, entry, all);
    let Some([uvec3, uint, 3]) = vector else {
        // The position is not read.
        return Ok(module.words());
    };
    if !move_pointers(&index, &mut module, &moved) {
        return Ok(words.to_vec());
    }
    // The variables that the positions are computed from.
    let (mut added, mut decorations, mut listed) = (Vec::new(), Vec::new(), Vec::new());
    let mut input = |module: &mut Editor, found: Option<u32>, ty: u32, number: u32| match found {
        Some(id) => id,
        None => {
            let pointer = module.pointer_type(class::INPUT, ty, &mut added);
            let id = module.fresh();
            added.push(build(op::VARIABLE, &[pointer, id, class::INPUT]));
            decorations.push(build(op::DECORATE, &[id, decoration::BUILT_IN, number]));
            listed.push(id);
            id
        }
    };
    let number = input(
        &mut module,
        built_in(LOCAL_INDEX).map(|found| found.id),
        uint,
        LOCAL_INDEX,
    );
    let group = global.map(|_| {
        input(
            &mut module,
            built_in(WORKGROUP_ID).map(|found| found.id),
            uvec3,
            WORKGROUP_ID,
        )
    });
    module.body.retain(|words| match opcode(words) {
        op::VARIABLE => !moved.contains(&words[2]),
        op::DECORATE => !moved.contains(&words[1]),
        _ => true,
    });
    for id in &moved {
        let pointer = module.pointer_type(class::PRIVATE, uvec3, &mut added);
        added.push(build(op::VARIABLE, &[pointer, *id, class::PRIVATE]));
    }
    let mut constant = |module: &mut Editor, value: u32| {
        let id = module.fresh();
        added.push(build(op::CONSTANT, &[uint, id, value]));
        id
    };
    let sides = [x, y, z].map(|side| constant(&mut module, side));
    let area = constant(&mut module, x.saturating_mul(y));
    let whole = module.fresh();
    added.push(build(
        op::CONSTANT_COMPOSITE,
        &[uvec3, whole, sides[0], sides[1], sides[2]],
    ));
    let at = module.functions_start();
    module.insert(at, added);
    let at = module.annotations_end();
    module.insert(at, decorations);
    let lists_all = module.version() >= 0x0001_0400;
    if !lists_all {
        module.leave_interface(&moved);
    }
    for words in module.body.iter_mut().filter(|words| opcode(words) == op::ENTRY_POINT) {
        words.extend(&listed);
        *words = seal(std::mem::take(words));
    }
    // local = (n mod x, n / x mod y, n / xy); global = group * size + local
    let ids: Vec<u32> = (0..6).map(|_| module.fresh()).collect();
    let [n, px, row, py, pz, place] = ids[..] else {
        return Ok(words.to_vec());
    };
    let mut code = vec![
        build(op::LOAD, &[uint, n, number]),
        build(op::U_MOD, &[uint, px, n, sides[0]]),
        build(op::U_DIV, &[uint, row, n, sides[0]]),
        build(op::U_MOD, &[uint, py, row, sides[1]]),
        build(op::U_DIV, &[uint, pz, n, area]),
        build(op::COMPOSITE_CONSTRUCT, &[uvec3, place, px, py, pz]),
    ];
    if let Some(local) = local {
        code.push(build(op::STORE, &[local.id, place]));
    }
    if let (Some(global), Some(group)) = (global, group) {
        let (which, first, own) = (module.fresh(), module.fresh(), module.fresh());
        code.push(build(op::LOAD, &[uvec3, which, group]));
        code.push(build(op::I_MUL, &[uvec3, first, which, whole]));
        code.push(build(op::I_ADD, &[uvec3, own, first, place]));
        code.push(build(op::STORE, &[global.id, own]));
    }
    match start_of(&module, entry) {
        Some(at) => module.insert(at, code),
        None => return Ok(words.to_vec()),
    }
    Ok(module.words())
}

/// Removes zero initialisers of workgroup memory, for languages that always initialise it.
///
/// # Errors
/// Invalid for a broken module.
pub(crate) fn without_zeros(words: &[u32]) -> Result<Vec<u32>> {
    let index = ModuleIndex::new(words)?;
    let mut module = Editor::new(&index)?;
    for words in &mut module.body {
        // Vulkan allows no other value.
        let [_, _, _, class::WORKGROUP, value] = words[..] else {
            continue;
        };
        if opcode(words) == op::VARIABLE && index.opcode(value) == op::CONSTANT_NULL {
            words.truncate(4);
            *words = seal(std::mem::take(words));
        }
    }
    Ok(module.words())
}

/// The workgroup's size: that of the built-in constant, or of the mode; `None` if it is not constant.
fn size(index: &ModuleIndex, module: &Editor) -> Option<[u32; 3]> {
    let is_size =
        |words: &&Vec<u32>| opcode(words) == op::DECORATE && words[2..] == [decoration::BUILT_IN, WORKGROUP_SIZE];
    if let Some(decorated) = module.body.iter().find(is_size) {
        let of = |words: &&Vec<u32>| opcode(words) == op::CONSTANT_COMPOSITE && words[2] == decorated[1];
        let parts = module.body.iter().find(of)?;
        let part = |at: usize| index.constant(*parts.get(at)?);
        return Some([part(3)?, part(4)?, part(5)?]);
    }
    let is_mode = |words: &&Vec<u32>| opcode(words) == op::EXECUTION_MODE && words[2] == mode::LOCAL_SIZE;
    match module.body.iter().find(is_mode)?[..] {
        [_, _, _, x, y, z] => Some([x, y, z]),
        _ => None,
    }
}

/// Sets a one-dimensional workgroup size.
fn set_size(module: &mut Editor, entry: u32, length: u32) {
    let is_old = |words: &Vec<u32>| match opcode(words) {
        op::EXECUTION_MODE => words[2] == mode::LOCAL_SIZE,
        op::DECORATE => words[2..] == [decoration::BUILT_IN, WORKGROUP_SIZE],
        _ => false,
    };
    module.body.retain(|words| !is_old(words));
    let last = module.body.iter().rposition(|words| opcode(words) == op::ENTRY_POINT);
    let at = last.map_or(0, |at| at + 1);
    let size = build(op::EXECUTION_MODE, &[entry, mode::LOCAL_SIZE, length, 1, 1]);
    module.insert(at, vec![size]);
}
