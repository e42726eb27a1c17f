//! Vulkan's rules for variables: types per storage class, decorations, and places of resources.

use super::contents::ADDRESS;
use super::form::{Base, Why, when};
use super::{Checked, Given, Item};
use crate::spirv::{capability, class, decoration as dec, model, op};
use std::collections::HashSet;

/// Storage classes that Vulkan lacks.
const NEVER: [u32; 3] = [class::CROSS_WORKGROUP, class::GENERIC, class::ATOMIC_COUNTER];

/// Checks declarations, and decorations of variables.
pub(super) fn check(module: &mut Checked<'_>) {
    let first = module.first_function.min(module.items.len());
    for at in 0..module.items.len() {
        let item = module.items[at];
        let why = match item.opcode() {
            op::TYPE_POINTER if NEVER.contains(&item.word(2)) => {
                Some("Vulkan does not have this storage class".to_owned())
            }
            op::VARIABLE | op::UNTYPED_VARIABLE_KHR if at < first => variable(module, &item),
            _ => None,
        };
        if let Some(why) = why {
            module.fail("vulkan-variable", &item, why);
        }
    }
    let named: HashSet<(u32, Option<u32>)> = module
        .given
        .iter()
        .filter(|given| given.kind == dec::BUILT_IN)
        .map(|given| (given.target, given.member))
        .collect();
    for at in 0..module.given.len() {
        let given = module.given[at];
        if matches!(given.kind, dec::LOCATION | dec::COMPONENT) && named.contains(&(given.target, given.member)) {
            let item = module.items[given.at];
            module.fail("vulkan-decoration", &item, "a built-in variable has no location");
        }
        let Some(target) = module.def(given.target).filter(|_| given.member.is_none()) else {
            continue;
        };
        if let Some(why) = decorated(module, &given, &target) {
            let (item, name) = (module.items[given.at], module.decoration_name(given.kind));
            module.fail(
                "vulkan-decoration",
                &item,
                format!("{name} on %{}: {why}", given.target),
            );
        }
    }
}

fn variable(module: &Checked<'_>, item: &Item<'_>) -> Why {
    let (class, pointee) = module.variable(item)?;
    let kind = module.opcode(pointee);
    let array = matches!(kind, op::TYPE_ARRAY | op::TYPE_RUNTIME_ARRAY);
    let element = match module.def(pointee).filter(|_| array) {
        Some(array) => module.opcode(array.word(2)),
        None => kind,
    };
    let fits = match class {
        class::PUSH_CONSTANT => kind == op::TYPE_STRUCT,
        class::UNIFORM_CONSTANT => matches!(
            element,
            op::TYPE_IMAGE | op::TYPE_SAMPLER | op::TYPE_SAMPLED_IMAGE | op::TYPE_ACCELERATION_STRUCTURE_KHR
        ),
        class::UNIFORM | class::STORAGE_BUFFER => element == op::TYPE_STRUCT,
        _ => true,
    };
    let passed = matches!(class, class::INPUT | class::OUTPUT);
    let invariant = module.decorated(item.result, dec::INVARIANT)
        || kind == op::TYPE_STRUCT && module.decorated(pointee, dec::INVARIANT);
    when(!fits, "the variable's type is none of its storage class")
        .or_else(|| {
            let addresses = passed && module.holds(pointee, ADDRESS);
            when(addresses, "stages pass no pointers to physical storage buffers")
        })
        .or_else(|| when(invariant && !passed, "only inputs and outputs are invariant"))
        .or_else(|| open_ended(module, class, pointee, kind))
}

/// Arrays of unknown length: of descriptors, and at the end of buffers.
fn open_ended(module: &Checked<'_>, class: u32, pointee: u32, kind: u16) -> Why {
    let any = module.capabilities.contains(&capability::RUNTIME_DESCRIPTOR_ARRAY);
    if kind == op::TYPE_RUNTIME_ARRAY {
        let resources = matches!(class, class::STORAGE_BUFFER | class::UNIFORM | class::UNIFORM_CONSTANT);
        return when(
            !any || !resources,
            "an array of unknown length is of resources, by a capability",
        );
    }
    let members = module
        .def(pointee)
        .filter(|_| kind == op::TYPE_STRUCT)
        .map_or(&[][..], |ty| ty.args());
    if !members.iter().any(|id| module.opcode(*id) == op::TYPE_RUNTIME_ARRAY) {
        return None;
    }
    let fits = match class {
        class::STORAGE_BUFFER | class::PHYSICAL_STORAGE_BUFFER => module.decorated(pointee, dec::BLOCK),
        class::UNIFORM => module.decorated(pointee, dec::BUFFER_BLOCK),
        _ => false,
    };
    when(!fits, "an array of unknown length is not in a buffer block")
}

fn decorated(module: &Checked<'_>, given: &Given, target: &Item<'_>) -> Why {
    const LOCATED: [u32; 10] = [
        class::INPUT,
        class::OUTPUT,
        class::RAY_PAYLOAD,
        class::INCOMING_RAY_PAYLOAD,
        class::HIT_ATTRIBUTE,
        class::CALLABLE_DATA,
        class::INCOMING_CALLABLE_DATA,
        class::SHADER_RECORD_BUFFER,
        class::HIT_OBJECT_ATTRIBUTE,
        4172, // TileImageEXT
    ];
    const RESOURCES: [u32; 3] = [class::STORAGE_BUFFER, class::UNIFORM, class::UNIFORM_CONSTANT];
    const PASSED: [u32; 2] = [class::INPUT, class::OUTPUT];
    let allowed: &[u32] = match given.kind {
        dec::LOCATION | dec::COMPONENT => &LOCATED,
        dec::INDEX => &[class::OUTPUT],
        dec::BINDING | dec::DESCRIPTOR_SET => &RESOURCES,
        dec::INPUT_ATTACHMENT_INDEX => &[class::UNIFORM_CONSTANT],
        dec::FLAT | dec::NO_PERSPECTIVE | dec::CENTROID | dec::SAMPLE => &PASSED,
        dec::GLSL_SHARED | dec::GLSL_PACKED => return Some("Vulkan does not have this layout".to_owned()),
        dec::BUILT_IN => {
            let old = module.items[given.at].word(3) == VERTEX_ID;
            return when(old, "Vulkan has VertexIndex");
        }
        _ => return None,
    };
    let class = module.class_of(target.ty).unwrap_or(class::UNIFORM);
    when(!allowed.contains(&class), "is of another storage class")
}

/// OpenGL's vertex index.
const VERTEX_ID: u32 = 5;

/// Resources that an entry point reaches have a descriptor set and binding.
pub(super) fn resources(module: &mut Checked<'_>, entry: &Item<'_>, globals: &[(u32, u32)]) {
    let mut pushed = 0;
    for (id, class) in globals {
        let Some(item) = module.def(*id) else { continue };
        let pointee = module.variable(&item).map_or(0, |(_, pointee)| pointee);
        let element = match module.def(pointee) {
            Some(array) if matches!(array.opcode(), op::TYPE_ARRAY | op::TYPE_RUNTIME_ARRAY) => array.word(2),
            _ => pointee,
        };
        let resource = match *class {
            class::UNIFORM_CONSTANT => true,
            class::UNIFORM | class::STORAGE_BUFFER => module.opcode(element) == op::TYPE_STRUCT,
            _ => false,
        };
        let placed = [dec::DESCRIPTOR_SET, dec::BINDING]
            .iter()
            .all(|kind| module.decorated(*id, *kind));
        if resource && !placed {
            module.fail("vulkan-resource", &item, "needs DescriptorSet and Binding");
        }
        pushed += usize::from(*class == class::PUSH_CONSTANT);
    }
    if pushed > 1 {
        module.fail("vulkan-resource", entry, "more than one push constant");
    }
}

/// Interpolation decorations of an entry point's interface.
pub(super) fn interpolation(module: &mut Checked<'_>, entry: &Item<'_>, listed: &[u32]) {
    const KINDS: [u32; 4] = [dec::FLAT, dec::NO_PERSPECTIVE, dec::SAMPLE, dec::CENTROID];
    for id in listed {
        let Some(item) = module.def(*id).filter(|item| item.opcode() == op::VARIABLE) else {
            continue;
        };
        let Some((class, ty)) = module.pointer(item.ty) else {
            continue;
        };
        let any = KINDS.iter().any(|kind| module.decorated(*id, *kind));
        let (vertex, fragment) = (entry.word(1) == model::VERTEX, entry.word(1) == model::FRAGMENT);
        let form = module.form(ty);
        let number = form.base == Base::Int || form.scalar(Base::Float) && form.width == 64;
        let why = match class {
            class::INPUT if vertex && any => Some("a vertex shader's inputs are not interpolated"),
            class::OUTPUT if fragment && any => Some("a fragment shader's outputs are not interpolated"),
            class::INPUT if fragment && number && !module.decorated(*id, dec::FLAT) => {
                Some("integers and doubles are interpolated Flat")
            }
            _ => None,
        };
        if let Some(why) = why {
            module.fail("vulkan-interface", &item, why);
        }
    }
}
