//! Removes declarations that WGSL lacks and that do not change what a module computes.

use super::editor::{Editor, build, id_operands, opcode};
use crate::Result;
use crate::spirv::{ModuleIndex, decoration, mode, op, operand};
use std::collections::{HashMap, HashSet};

/// Extensions whose instructions other passes replace, or that only permit declarations.
const SAID_OTHERWISE: [&str; 6] = [
    "SPV_KHR_terminate_invocation",
    // Implementations of WGSL's subgroup operations reconverge in any case.
    "SPV_KHR_subgroup_uniform_control_flow",
    "SPV_KHR_no_integer_wrap_decoration",
    "SPV_GOOGLE_decorate_string",
    "SPV_GOOGLE_hlsl_functionality1",
    "SPV_GOOGLE_user_type",
];

/// NoSignedWrap, NoUnsignedWrap: they permit optimisations.
const NO_WRAP: [u32; 2] = [4469, 4470];

/// Removes extensions, modes and decorations without effect on results, and lines outside of functions. That includes
/// `NonReadable` on buffers: WGSL has no write-only buffers. A workgroup's size by constants becomes one by numbers.
///
/// # Errors
/// Invalid for a broken module.
pub(crate) fn leave_out(words: &[u32]) -> Result<Vec<u32>> {
    let index = ModuleIndex::new(words)?;
    let buffers: Vec<u32> = index
        .globals()
        .filter(|global| {
            global.class == crate::spirv::class::STORAGE_BUFFER || global.class == crate::spirv::class::UNIFORM
        })
        .flat_map(|global| [global.id, index.unwrapped(global.pointee)])
        .collect();
    // Without one of its capabilities the extension has no effect.
    const CONTROLS: std::ops::RangeInclusive<u32> = 4464..=4468;
    let controls = index.capabilities().iter().any(|known| CONTROLS.contains(known));
    let mut module = Editor::new(&index)?;
    let says_nothing = |name: &str| SAID_OTHERWISE.contains(&name) || name == "SPV_KHR_float_controls" && !controls;
    let goes = |words: &Vec<u32>| match (opcode(words), words.as_slice()) {
        (op::EXTENSION, [_, name @ ..]) => operand::string(name).is_some_and(|(name, _)| says_nothing(&name)),
        // It restricts the order of lanes, not their results.
        (op::EXECUTION_MODE, [_, _, kind, ..]) => *kind == mode::SUBGROUP_UNIFORM_CONTROL_FLOW,
        (op::DECORATE, [_, id, kind, ..]) => {
            NO_WRAP.contains(kind) || *kind == decoration::NON_READABLE && buffers.contains(id)
        }
        (op::MEMBER_DECORATE, [_, id, _, kind, ..]) => *kind == decoration::NON_READABLE && buffers.contains(id),
        // HLSL's semantics and counter buffers, which need the extensions above.
        (op::DECORATE_STRING | op::MEMBER_DECORATE_STRING, _) => true,
        (op::DECORATE_ID, [_, _, kind, ..]) => *kind == decoration::COUNTER_BUFFER,
        _ => false,
    };
    let body = module.body.len();
    let functions = module.body.split_off(module.functions_start());
    module
        .body
        .retain(|words| !goes(words) && !matches!(opcode(words), op::LINE | op::NO_LINE));
    module.body.extend(functions);
    let mut is_changed = module.body.len() != body;
    for words in &mut module.body {
        if let (op::EXECUTION_MODE_ID, &[_, entry, mode::LOCAL_SIZE_ID, x, y, z]) = (opcode(words), &words[..])
            && let [Some(x), Some(y), Some(z)] = [x, y, z].map(|id| index.constant(id))
        {
            *words = build(op::EXECUTION_MODE, &[entry, mode::LOCAL_SIZE, x, y, z]);
            is_changed = true;
        }
    }
    match is_changed {
        true => Ok(module.words()),
        false => Ok(words.to_vec()),
    }
}

/// Replaces `OpTerminateInvocation` by `OpKill`: both are `discard` in WGSL.
///
/// # Errors
/// Invalid for a broken module.
pub(crate) fn kill(words: &[u32]) -> Result<Vec<u32>> {
    let index = ModuleIndex::new(words)?;
    let mut module = Editor::new(&index)?;
    for words in &mut module.body {
        if opcode(words) == op::TERMINATE_INVOCATION {
            *words = build(op::KILL, &[]);
        }
    }
    Ok(module.words())
}

/// The built-in PointSize.
const POINT_SIZE: u32 = 1;

/// Removes stores of 1.0 to `PointSize`: points of WGSL have this size. It is unchanged if another size is stored.
///
/// # Errors
/// Invalid for a broken module.
pub(crate) fn points_of_one_pixel(words: &[u32]) -> Result<Vec<u32>> {
    let index = ModuleIndex::new(words)?;
    let outputs = || {
        index
            .globals()
            .filter(|global| global.class == crate::spirv::class::OUTPUT)
    };
    let whole: HashSet<u32> = outputs()
        .map(|global| global.id)
        .filter(|id| index.decoration(*id, decoration::BUILT_IN) == Some(POINT_SIZE))
        .collect();
    let member = |global: &crate::spirv::Located| {
        let count = index.members(global.pointee)?.len() as u32;
        let is_size = |at: &u32| index.member_decoration(global.pointee, *at, decoration::BUILT_IN) == Some(POINT_SIZE);
        (0..count).find(is_size)
    };
    let members: HashMap<u32, u32> = outputs()
        .filter_map(|global| Some((global.id, member(&global)?)))
        .collect();
    let mut module = Editor::new(&index)?;
    let mut pointers = whole.clone();
    let mut is_other = false;
    for words in &module.body[module.functions_start()..] {
        match (opcode(words), words.as_slice()) {
            (op::ACCESS_CHAIN | op::IN_BOUNDS_ACCESS_CHAIN, [_, _, id, base, at])
                if members
                    .get(base)
                    .is_some_and(|member| index.constant(*at) == Some(*member)) =>
            {
                pointers.insert(*id);
            }
            (op::STORE, [_, pointer, value, ..]) if pointers.contains(pointer) => {
                is_other |= index.constant(*value) != Some(1.0f32.to_bits());
            }
            _ => is_other |= id_operands(words.as_slice()).any(|id| pointers.contains(&id)),
        }
    }
    if pointers.is_empty() || is_other {
        return Ok(words.to_vec());
    }
    module.body.retain(|words| match (opcode(words), words.as_slice()) {
        (op::STORE, [_, pointer, ..]) => !pointers.contains(pointer),
        (op::ACCESS_CHAIN | op::IN_BOUNDS_ACCESS_CHAIN, [_, _, id, ..]) => !pointers.contains(id),
        (op::NAME, [_, id, ..]) => !pointers.contains(id),
        _ => true,
    });
    module.replace_globals(&whole, &[]);
    Ok(module.words())
}

/// The module without an execution mode and its extension.
///
/// # Errors
/// Invalid for a broken module.
pub fn without_mode(words: &[u32], mode: u32, extension: &str) -> Result<Vec<u32>> {
    let mut module = Editor::new(&ModuleIndex::new(words)?)?;
    module.body.retain(|words| match (opcode(words), words.as_slice()) {
        (op::EXECUTION_MODE, [_, _, kind, ..]) => *kind != mode,
        (op::EXTENSION, [_, name @ ..]) => operand::string(name).is_none_or(|(name, _)| name != extension),
        _ => true,
    });
    Ok(module.words())
}
