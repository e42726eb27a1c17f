//! The targets that each decoration may have, and how often.

use super::{Checked, Item, built_ins};
use crate::spirv::{decoration as dec, op};
use std::collections::{BTreeMap, HashSet};

pub(super) fn check(module: &mut Checked<'_>) {
    let mut once = HashSet::new();
    built_in_structs(module);
    for at in 0..module.items.len() {
        let item = module.items[at];
        match item.opcode() {
            op::DECORATE | op::DECORATE_ID | op::MEMBER_DECORATE => {
                let group = item.opcode() == op::DECORATE_ID && module.opcode(item.word(1)) == op::DECORATION_GROUP;
                let why = group
                    .then(|| "by ids decorates no group".to_owned())
                    .or_else(|| takes_ids(module, &item))
                    .or_else(|| placed(module, &item))
                    .or_else(|| repeated(&item, &mut once, module.vulkan.is_some()));
                if let Some(why) = why {
                    let name = named(module, &item);
                    module.fail("decoration", &item, format!("{name} {why}"));
                }
            }
            op::GROUP_DECORATE => grouped(module, &item),
            op::DECORATE_STRING | op::MEMBER_DECORATE_STRING | op::GROUP_MEMBER_DECORATE => member(module, &item),
            _ => {}
        }
    }
}

/// A group is applied to each target once, and never to another group.
fn grouped(module: &mut Checked<'_>, item: &Item<'_>) {
    let mut seen = HashSet::new();
    for id in item.words.get(2..).unwrap_or(&[]) {
        let why = match module.opcode(*id) {
            op::DECORATION_GROUP => "is a group itself",
            _ if !seen.insert(*id) => "is a target twice",
            _ => continue,
        };
        module.fail("decoration", item, format!("%{id} {why}"));
    }
}

/// Either all members of a struct are built-in variables, or none.
fn built_in_structs(module: &mut Checked<'_>) {
    let mut built_in: BTreeMap<u32, HashSet<u32>> = BTreeMap::new();
    for item in &module.items {
        if item.opcode() == op::MEMBER_DECORATE && item.word(3) == dec::BUILT_IN {
            built_in.entry(item.word(1)).or_default().insert(item.word(2));
        }
    }
    for (id, members) in built_in {
        if let Some(item) = module.def(id).filter(|item| item.opcode() == op::TYPE_STRUCT)
            && members.len() != item.args().len()
        {
            module.fail(
                "built-in",
                &item,
                "some of the members are built-in variables and some are not",
            );
        }
    }
}

/// The decoration's number, and the index of its word in the instruction.
fn kind(item: &Item<'_>) -> u32 {
    let at = if item.opcode() == op::MEMBER_DECORATE { 3 } else { 2 };
    item.word(at)
}

fn named(module: &Checked<'_>, item: &Item<'_>) -> String {
    let row = module.grammar.kind_of("Decoration").and_then(|k| k.value(kind(item)));
    row.map_or_else(|| kind(item).to_string(), |row| row.name.to_string())
}

/// The struct members that an instruction refers to.
fn member(module: &mut Checked<'_>, item: &Item<'_>) {
    let pairs: Vec<(u32, u32)> = match item.opcode() {
        op::MEMBER_DECORATE | op::MEMBER_DECORATE_STRING => vec![(item.word(1), item.word(2))],
        op::GROUP_MEMBER_DECORATE => item
            .words
            .get(2..)
            .unwrap_or(&[])
            .chunks_exact(2)
            .map(|p| (p[0], p[1]))
            .collect(),
        _ => return,
    };
    for (target, member) in pairs {
        let members = module
            .def(target)
            .filter(|t| t.opcode() == op::TYPE_STRUCT)
            .map(|t| t.args().len());
        if members.is_none_or(|count| member as usize >= count) {
            module.fail("member", item, format!("%{target} has no member {member}"));
        }
    }
}

/// Only some decorations have id operands, and those use a separate instruction.
fn takes_ids(module: &Checked<'_>, item: &Item<'_>) -> Option<String> {
    let by_id = item.opcode() == op::DECORATE_ID;
    match (by_id, module.has_ids("Decoration", kind(item))) {
        (true, false) => Some("has no id operands: use OpDecorate".to_owned()),
        (false, true) if item.opcode() == op::DECORATE => Some("has id operands: use OpDecorateId".to_owned()),
        _ => None,
    }
}

/// Layout decorations may occur once per target.
fn repeated(item: &Item<'_>, once: &mut HashSet<(u32, u32, u32)>, vulkan: bool) -> Option<String> {
    let kind = kind(item);
    let member = item.opcode() == op::MEMBER_DECORATE;
    let alone = match kind {
        dec::ARRAY_STRIDE => !member,
        dec::OFFSET | dec::MATRIX_STRIDE | dec::ROW_MAJOR | dec::COL_MAJOR => member,
        _ => false,
    };
    let place = if member { item.word(2) } else { u32::MAX };
    let mut fresh = |kind| once.insert((item.word(1), place, kind));
    let excluded = match kind {
        dec::ROW_MAJOR => Some(dec::COL_MAJOR),
        dec::COL_MAJOR => Some(dec::ROW_MAJOR),
        dec::BLOCK => Some(dec::BUFFER_BLOCK),
        dec::BUFFER_BLOCK => Some(dec::BLOCK),
        dec::RESTRICT if !member => Some(dec::ALIASED),
        dec::ALIASED if !member => Some(dec::RESTRICT),
        _ => None,
    };
    let new = fresh(kind);
    if alone && !new {
        return Some("occurs twice".to_owned());
    }
    let located = matches!(kind, dec::LOCATION | dec::COMPONENT) && !new;
    if located && vulkan {
        return Some("occurs twice".to_owned());
    }
    let other = excluded.is_some_and(|other| once.contains(&(item.word(1), place, other)));
    other.then(|| "excludes another decoration of the target".to_owned())
}

/// Whether the target has a kind that the decoration allows.
fn placed(module: &mut Checked<'_>, item: &Item<'_>) -> Option<String> {
    if item.opcode() == op::MEMBER_DECORATE {
        member(module, item);
        return of_no_member(kind(item)).then(|| "cannot decorate members".to_owned());
    }
    let target = module.def(item.word(1))?;
    let of = target.opcode();
    if of == op::DECORATION_GROUP {
        return None;
    }
    let is_pointer = || module.class_of(target.ty).is_some();
    let variable = matches!(of, op::VARIABLE | op::UNTYPED_VARIABLE_KHR);
    let wanted = match kind(item) {
        // Offset may also decorate variables, for transform feedback.
        dec::ROW_MAJOR | dec::COL_MAJOR | dec::MATRIX_STRIDE => (false, "members"),
        dec::SPEC_ID => (
            matches!(of, op::SPEC_CONSTANT_TRUE..=op::SPEC_CONSTANT),
            "scalar specialization constants",
        ),
        dec::BLOCK | dec::BUFFER_BLOCK | dec::GLSL_SHARED | dec::GLSL_PACKED | dec::C_PACKED => {
            (of == op::TYPE_STRUCT, "structs")
        }
        dec::ARRAY_STRIDE => (
            matches!(
                of,
                op::TYPE_ARRAY | op::TYPE_RUNTIME_ARRAY | op::TYPE_POINTER | op::TYPE_UNTYPED_POINTER_KHR
            ),
            "arrays and pointers",
        ),
        dec::BUILT_IN if module.shader && item.word(3) == built_ins::WORKGROUP_SIZE => {
            (module.is_constant(target.result), "constants")
        }
        dec::BUILT_IN => (of == op::VARIABLE, "variables"),
        dec::INVARIANT
        | dec::CONSTANT
        | dec::LOCATION
        | dec::INDEX
        | dec::BINDING
        | dec::DESCRIPTOR_SET
        | dec::INPUT_ATTACHMENT_INDEX => (variable, "variables"),
        dec::NO_PERSPECTIVE
        | dec::FLAT
        | dec::PATCH
        | dec::CENTROID
        | dec::SAMPLE
        | dec::RESTRICT
        | dec::ALIASED
        | dec::VOLATILE
        | dec::COHERENT
        | dec::NON_WRITABLE
        | dec::NON_READABLE
        | dec::XFB_BUFFER
        | dec::XFB_STRIDE
        | dec::COMPONENT
        | dec::STREAM
        | dec::RESTRICT_POINTER
        | dec::ALIASED_POINTER => (
            (variable || of == op::FUNCTION_PARAMETER) && is_pointer(),
            "variables and parameters that are pointers",
        ),
        _ => return None,
    };
    (!wanted.0).then(|| format!("can only decorate {}", wanted.1))
}

/// Decorations that are not allowed on struct members.
fn of_no_member(kind: u32) -> bool {
    matches!(
        kind,
        dec::SPEC_ID
            | dec::BLOCK
            | dec::BUFFER_BLOCK
            | dec::ARRAY_STRIDE
            | dec::GLSL_SHARED
            | dec::GLSL_PACKED
            | dec::C_PACKED
            | dec::ALIASED
            | dec::CONSTANT
            | dec::UNIFORM
            | dec::UNIFORM_ID
            | dec::SATURATED_CONVERSION
            | dec::INDEX
            | dec::BINDING
            | dec::DESCRIPTOR_SET
            | dec::FUNC_PARAM_ATTR
            | dec::FP_ROUNDING_MODE
            | dec::FP_FAST_MATH_MODE
            | dec::LINKAGE_ATTRIBUTES
            | dec::NO_CONTRACTION
            | dec::INPUT_ATTACHMENT_INDEX
            | dec::ALIGNMENT
            | dec::MAX_BYTE_OFFSET
            | dec::ALIGNMENT_ID
            | dec::MAX_BYTE_OFFSET_ID
            | dec::NO_SIGNED_WRAP
            | dec::NO_UNSIGNED_WRAP
            | dec::NON_UNIFORM
            | dec::RESTRICT_POINTER
            | dec::ALIASED_POINTER
            | dec::COUNTER_BUFFER
    )
}
