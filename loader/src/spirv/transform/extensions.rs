//! What a module declares and another language has no word for, where leaving it out changes nothing.

use super::editor::{Editor, build, opcode};
use crate::Result;
use crate::spirv::{ModuleIndex, decoration, mode, op, operand};

/// Extensions that only let a module say what this pass, or another of this folder, says in another way.
const SAID_OTHERWISE: [&str; 6] = [
    "SPV_KHR_terminate_invocation",
    // Lanes that come together again do so in every implementation that has the subgroup operations of WGSL.
    "SPV_KHR_subgroup_uniform_control_flow",
    "SPV_KHR_no_integer_wrap_decoration",
    "SPV_GOOGLE_decorate_string",
    "SPV_GOOGLE_hlsl_functionality1",
    "SPV_GOOGLE_user_type",
];

/// NoSignedWrap, NoUnsignedWrap: permissions to a compiler.
const NO_WRAP: [u32; 2] = [4469, 4470];

/// Leaves out extensions, modes and decorations without which the module does the same. `NonReadable` of a buffer goes,
/// too: it is a promise, and WGSL has no buffer that is only written to.
///
/// # Errors
/// Invalid when the module does not walk.
pub fn leave_out(words: &[u32]) -> Result<Vec<u32>> {
    let index = ModuleIndex::new(words)?;
    let buffers: Vec<u32> = index
        .globals()
        .filter(|global| {
            global.class == crate::spirv::class::STORAGE_BUFFER || global.class == crate::spirv::class::UNIFORM
        })
        .flat_map(|global| [global.id, index.unwrapped(global.pointee)])
        .collect();
    // Without a capability of its own the extension says nothing.
    const CONTROLS: std::ops::RangeInclusive<u32> = 4464..=4468;
    let controls = index.capabilities().iter().any(|known| CONTROLS.contains(known));
    let mut module = Editor::new(&index)?;
    let says_nothing = |name: &str| SAID_OTHERWISE.contains(&name) || name == "SPV_KHR_float_controls" && !controls;
    let goes = |words: &Vec<u32>| match (opcode(words), words.as_slice()) {
        (op::EXTENSION, [_, name @ ..]) => operand::string(name).is_some_and(|(name, _)| says_nothing(&name)),
        // A promise about the order of lanes, not about what they compute.
        (op::EXECUTION_MODE, [_, _, kind, ..]) => *kind == mode::SUBGROUP_UNIFORM_CONTROL_FLOW,
        (op::DECORATE, [_, id, kind, ..]) => {
            NO_WRAP.contains(kind) || *kind == decoration::NON_READABLE && buffers.contains(id)
        }
        (op::MEMBER_DECORATE, [_, id, _, kind, ..]) => *kind == decoration::NON_READABLE && buffers.contains(id),
        _ => false,
    };
    if !module.body.iter().any(goes) {
        return Ok(words.to_vec());
    }
    module.body.retain(|words| !goes(words));
    Ok(module.words())
}

/// Writes `OpTerminateInvocation` as `OpKill`: what WGSL has for both is `discard`.
///
/// # Errors
/// Invalid when the module does not walk.
pub fn kill(words: &[u32]) -> Result<Vec<u32>> {
    let index = ModuleIndex::new(words)?;
    let mut module = Editor::new(&index)?;
    for words in &mut module.body {
        if opcode(words) == op::TERMINATE_INVOCATION {
            *words = build(op::KILL, &[]);
        }
    }
    Ok(module.words())
}

/// The module without an execution mode and the extension that has it.
///
/// # Errors
/// Invalid when the module does not walk.
pub fn without_mode(words: &[u32], mode: u32, extension: &str) -> Result<Vec<u32>> {
    let mut module = Editor::new(&ModuleIndex::new(words)?)?;
    module.body.retain(|words| match (opcode(words), words.as_slice()) {
        (op::EXECUTION_MODE, [_, _, kind, ..]) => *kind != mode,
        (op::EXTENSION, [_, name @ ..]) => operand::string(name).is_none_or(|(name, _)| name != extension),
        _ => true,
    });
    Ok(module.words())
}
