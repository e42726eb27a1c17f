//! Instructions limited to some execution models and modes.

use super::form::when;
use super::modes::INTERLOCKS;
use super::{Checked, Item, extended, scopes};
use crate::spirv::{class, dim, mode, model, op};
use std::collections::{HashMap, HashSet};

/// Models that allow control barriers before 1.3.
const WITH_BARRIERS: &[u32] = &[
    model::TESSELLATION_CONTROL,
    model::GL_COMPUTE,
    model::KERNEL,
    model::TASK_NV,
    model::MESH_NV,
];
/// Models whose invocations form workgroups in Vulkan.
const WITH_WORKGROUPS: &[u32] = &[
    model::TESSELLATION_CONTROL,
    model::GL_COMPUTE,
    model::TASK_NV,
    model::MESH_NV,
    model::TASK_EXT,
    model::MESH_EXT,
];
const FRAGMENT: &[u32] = &[model::FRAGMENT];
const DERIVATIVES: &[u32] = &[model::FRAGMENT, model::GL_COMPUTE];
const ANY_HIT: &[u32] = &[model::ANY_HIT];

/// The memory model GLSL450.
const GLSL450: u32 = 1;

/// Pseudo-opcode: reading a subpass input.
const SUBPASS_READ: u32 = 0x1_0000;
/// Pseudo-opcode: writing hit attributes.
const HIT_STORE: u32 = 0x1_0001;
/// Pseudo-opcode: reading an output.
const OUTPUT_LOAD: u32 = 0x1_0002;

/// Pseudo-opcodes: in Vulkan, the execution scope Workgroup, and the memory scopes Workgroup and ShaderCallKHR.
const WORKGROUP_EXECUTION: u32 = 0x1_0003;
const WORKGROUP_MEMORY: u32 = 0x1_0004;
const SHADER_CALL_MEMORY: u32 = 0x1_0005;
/// Pseudo-opcode: interpolating an input.
const INTERPOLATION: u32 = 0x1_0006;

/// Number of opcodes and pseudo-opcodes.
pub(super) const KEYS: usize = 0x1_0007;

/// The keys of an instruction's scopes in Vulkan.
pub(super) fn scopes(module: &Checked<'_>, item: &Item<'_>) -> [Option<u32>; 2] {
    if module.vulkan.is_none() {
        return [None; 2];
    }
    let scope = |at: usize| module.known_word(item.word(at));
    let (execution, memory) = match item.opcode() {
        op::CONTROL_BARRIER => (scope(1), scope(2)),
        op::MEMORY_BARRIER => (None, scope(1)),
        op::ATOMIC_STORE => (None, scope(2)),
        op::ATOMIC_LOAD..=op::ATOMIC_XOR | op::ATOMIC_F_ADD_EXT | op::ATOMIC_F_MIN_EXT | op::ATOMIC_F_MAX_EXT => {
            (None, scope(4))
        }
        _ => return [None; 2],
    };
    let execution = (execution == Some(scopes::WORKGROUP)).then_some(WORKGROUP_EXECUTION);
    let memory = match memory {
        Some(scopes::WORKGROUP) => Some(WORKGROUP_MEMORY),
        Some(scopes::SHADER_CALL) => Some(SHADER_CALL_MEMORY),
        _ => None,
    };
    [execution, memory]
}

/// The key of an instruction in the tables: its opcode, or one of those above.
pub(super) fn key(module: &Checked<'_>, item: &Item<'_>) -> u32 {
    match item.opcode() {
        op::EXT_INST if extended::interpolates(module, item) => INTERPOLATION,
        op::IMAGE_READ => match module.image(module.type_of(item.word(3))) {
            Some(image) if image.dim == dim::SUBPASS_DATA => SUBPASS_READ,
            _ => item.row.opcode,
        },
        op::LOAD => match module.pointer(module.type_of(item.word(3))) {
            Some((class::OUTPUT, _)) => OUTPUT_LOAD,
            _ => item.row.opcode,
        },
        op::STORE => match module.pointer(module.type_of(item.word(1))) {
            Some((class::HIT_ATTRIBUTE, _)) => HIT_STORE,
            _ => item.row.opcode,
        },
        _ => item.row.opcode,
    }
}

/// Whether an instruction computes its level of detail from derivatives.
fn implicit(of: u32) -> bool {
    const IMPLICIT: [u16; 9] = [
        op::IMAGE_SAMPLE_IMPLICIT_LOD,
        op::IMAGE_SAMPLE_DREF_IMPLICIT_LOD,
        op::IMAGE_SAMPLE_PROJ_IMPLICIT_LOD,
        op::IMAGE_SAMPLE_PROJ_DREF_IMPLICIT_LOD,
        op::IMAGE_SPARSE_SAMPLE_IMPLICIT_LOD,
        op::IMAGE_SPARSE_SAMPLE_DREF_IMPLICIT_LOD,
        op::IMAGE_SPARSE_SAMPLE_PROJ_IMPLICIT_LOD,
        op::IMAGE_SPARSE_SAMPLE_PROJ_DREF_IMPLICIT_LOD,
        op::IMAGE_QUERY_LOD,
    ];
    u16::try_from(of).is_ok_and(|of| IMPLICIT.contains(&of) || (op::DPDX..=op::FWIDTH_COARSE).contains(&of))
}

/// Checks the opcodes that an entry point reaches, by the first instruction of each; `modes` are the entry point's.
pub(super) fn check(
    module: &mut Checked<'_>,
    entry: &Item<'_>,
    reached: &HashMap<u32, usize>,
    modes: Option<&HashSet<u32>>,
) {
    let model = entry.word(1);
    let mut found: Vec<(usize, String)> = Vec::new();
    for (of, at) in reached {
        let item = module.items[*at];
        let allowed = models(module, *of, item.opcode());
        let why = when(
            allowed.is_some_and(|models| !models.contains(&model)),
            &format!("is not of execution model {model}"),
        )
        .or_else(|| {
            let hit = *of == HIT_STORE && matches!(model, model::ANY_HIT | model::CLOSEST_HIT);
            when(hit, "these execution models read the attributes of a hit")
        })
        .or_else(|| {
            let read = *of == OUTPUT_LOAD && model == model::MESH_EXT;
            when(read, "a mesh shader reads none of its outputs")
        })
        .or_else(|| {
            let has = |any: &[u32]| modes.is_some_and(|modes| any.iter().any(|mode| modes.contains(mode)));
            let groups = has(&[mode::DERIVATIVE_GROUP_QUADS, mode::DERIVATIVE_GROUP_LINEAR]);
            when(
                implicit(*of) && model == model::GL_COMPUTE && !groups,
                "compute shaders have derivatives by the modes DerivativeGroupQuads and DerivativeGroupLinear",
            )
            .or_else(|| {
                let locks = item.name().ends_with("InvocationInterlockEXT");
                when(locks && !has(&INTERLOCKS), "needs a mode of fragment shader interlock")
            })
        });
        found.extend(why.map(|why| (*at, why)));
    }
    found.sort();
    for (at, why) in found {
        let item = module.items[at];
        module.fail("execution-model", &item, why);
    }
}

/// The models that allow an instruction; `None` for all.
fn models(module: &Checked<'_>, of: u32, opcode: u16) -> Option<&'static [u32]> {
    const GEOMETRY: &[u32] = &[model::GEOMETRY];
    const TRACING: &[u32] = &[model::RAY_GENERATION, model::CLOSEST_HIT, model::MISS];
    const CALLING: &[u32] = &[model::RAY_GENERATION, model::CLOSEST_HIT, model::MISS, model::CALLABLE];
    const TRACED: &[u32] = &[
        model::RAY_GENERATION,
        model::INTERSECTION,
        model::ANY_HIT,
        model::CLOSEST_HIT,
        model::MISS,
        model::CALLABLE,
    ];
    match of {
        SUBPASS_READ | INTERPOLATION => return Some(FRAGMENT),
        // The GLSL memory model has no memory of workgroups in tessellation control.
        WORKGROUP_MEMORY if module.memory_model == GLSL450 => return Some(&WITH_WORKGROUPS[1..]),
        WORKGROUP_EXECUTION | WORKGROUP_MEMORY => return Some(WITH_WORKGROUPS),
        SHADER_CALL_MEMORY => return Some(TRACED),
        _ => {}
    }
    if implicit(of) {
        return Some(DERIVATIVES);
    }
    Some(match opcode {
        op::KILL
        | op::TERMINATE_INVOCATION
        | op::DEMOTE_TO_HELPER_INVOCATION
        | op::IS_HELPER_INVOCATION_EXT
        | op::BEGIN_INVOCATION_INTERLOCK_EXT
        | op::END_INVOCATION_INTERLOCK_EXT => FRAGMENT,
        op::EMIT_VERTEX | op::END_PRIMITIVE | op::EMIT_STREAM_VERTEX | op::END_STREAM_PRIMITIVE => GEOMETRY,
        op::CONTROL_BARRIER if module.words[1] < 0x10300 => WITH_BARRIERS,
        op::IGNORE_INTERSECTION_KHR | op::TERMINATE_RAY_KHR => ANY_HIT,
        op::TRACE_RAY_KHR => TRACING,
        op::REPORT_INTERSECTION_KHR => &[model::INTERSECTION],
        op::EXECUTE_CALLABLE_KHR => CALLING,
        op::EMIT_MESH_TASKS_EXT => &[model::TASK_EXT],
        op::SET_MESH_OUTPUTS_EXT => &[model::MESH_EXT],
        _ => return None,
    })
}
