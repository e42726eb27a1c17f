//! Outputs and payloads of mesh and task shaders.

use super::built_ins::{Named, PER_PRIMITIVE};
use super::{Checked, Item};
use crate::spirv::{class, decoration as dec, mode, model, op};

/// Checks an entry point: the variables of its interface, those that it reaches, and its `SetMeshOutputsEXT`
/// instructions.
pub(super) fn check(
    module: &mut Checked<'_>,
    entry: &Item<'_>,
    listed: &[u32],
    globals: &[(u32, u32)],
    outputs: &[usize],
    named: &Named,
) {
    let of = entry.word(1);
    payload(module, entry, listed, globals);
    if !matches!(of, model::MESH_EXT | model::FRAGMENT) {
        return;
    }
    let mesh = of == model::MESH_EXT;
    for id in listed {
        let Some(item) = module.def(*id).filter(|item| item.opcode() == op::VARIABLE) else {
            continue;
        };
        let Some((class, ty)) = module.pointer(item.ty) else {
            continue;
        };
        let array = matches!(module.opcode(ty), op::TYPE_ARRAY | op::TYPE_RUNTIME_ARRAY);
        let block = match module.def(ty) {
            Some(of) if array => of.word(2),
            _ => ty,
        };
        let primitive = module.decorated(*id, PER_PRIMITIVE) || module.decorated(block, PER_PRIMITIVE);
        let wanted = if mesh { class::OUTPUT } else { class::INPUT };
        let why = match mesh {
            _ if primitive && class != wanted => {
                Some("PerPrimitiveEXT is allowed on mesh outputs and fragment inputs only")
            }
            true if class == class::OUTPUT && !array && module.vulkan.is_some() => {
                Some("an output of a mesh shader is an array")
            }
            _ => None,
        };
        if let Some(why) = why {
            module.fail("mesh", &item, why);
        }
    }
    if !mesh {
        return;
    }
    const LIMITS: [(usize, u32, &str); 2] = [
        (1, mode::OUTPUT_VERTICES, "OutputVertices"),
        (2, mode::OUTPUT_PRIMITIVES_EXT, "OutputPrimitivesEXT"),
    ];
    for (word, of, name) in LIMITS {
        let Some(most) = named.mode(entry, of) else {
            continue;
        };
        if most == 0 && module.vulkan.is_some() {
            module.fail("mesh", entry, format!("{name} is 0"));
        }
        for at in outputs {
            let item = module.items[*at];
            let count = module.known_word(item.word(word));
            if let Some(count) = count.filter(|count| *count > most) {
                module.fail(
                    "mesh",
                    &item,
                    format!("{count} is more than {most}, the value of {name}"),
                );
            }
        }
    }
}

/// A task payload is one variable, in mesh and task shaders only.
fn payload(module: &mut Checked<'_>, entry: &Item<'_>, listed: &[u32], globals: &[(u32, u32)]) {
    let payloads = listed.iter().filter(|id| {
        let class = module
            .def(**id)
            .filter(|item| item.opcode() == op::VARIABLE)
            .map(|item| item.word(3));
        class == Some(class::TASK_PAYLOAD_WORKGROUP)
    });
    if payloads.count() > 1 {
        module.fail(
            "mesh",
            entry,
            "more than one variable has the class TaskPayloadWorkgroupEXT",
        );
    }
    if matches!(entry.word(1), model::TASK_EXT | model::MESH_EXT) {
        return;
    }
    let used = globals
        .iter()
        .find(|(_, class)| *class == class::TASK_PAYLOAD_WORKGROUP);
    if let Some((id, _)) = used {
        let why = format!("%{id} of TaskPayloadWorkgroupEXT is for task and mesh shaders");
        module.fail("mesh", entry, why);
    }
}

/// Only fragment shaders have per-vertex inputs, as arrays.
pub(super) fn per_vertex(module: &mut Checked<'_>, entry: &Item<'_>, listed: &[u32]) {
    for id in listed {
        let Some(item) = module.def(*id).filter(|item| item.opcode() == op::VARIABLE) else {
            continue;
        };
        let Some((class, ty)) = module
            .pointer(item.ty)
            .filter(|_| module.decorated(*id, dec::PER_VERTEX))
        else {
            continue;
        };
        let array = matches!(module.opcode(ty), op::TYPE_ARRAY | op::TYPE_RUNTIME_ARRAY);
        let why = match (entry.word(1), class) {
            (model::FRAGMENT, class::INPUT) if array => continue,
            (model::FRAGMENT, class::INPUT) => "PerVertexKHR is of arrays",
            _ => "PerVertexKHR is allowed on fragment inputs only",
        };
        module.fail("vulkan-decoration", &item, why);
    }
}
