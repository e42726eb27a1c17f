//! Constants: types, constituents, specialisation operations, and the unused bits of narrow numbers.

use super::form::{Base, Why, when};
use super::{Checked, Item, composites};
use crate::spirv::{capability, class, op};

/// Checks a constant.
pub(super) fn constants(module: &Checked<'_>, item: &Item<'_>) -> Why {
    let form = module.form(item.ty);
    match item.opcode() {
        op::CONSTANT_TRUE | op::CONSTANT_FALSE | op::SPEC_CONSTANT_TRUE | op::SPEC_CONSTANT_FALSE => {
            when(!form.scalar(Base::Bool), "the type is not bool")
        }
        op::CONSTANT | op::SPEC_CONSTANT => {
            when(form.count != 1 || form.base == Base::Bool, "the type is not a number")
                .or_else(|| narrow(module, item.ty, item.word(3)))
        }
        op::CONSTANT_COMPOSITE | op::SPEC_CONSTANT_COMPOSITE => composites::constant(module, item),
        op::CONSTANT_NULL => when(!nullable(module, item.ty), "the type has no null"),
        op::CONSTANT_SAMPLER => when(module.opcode(item.ty) != op::TYPE_SAMPLER, "the type is not a sampler"),
        op::SPEC_CONSTANT_OP => operation(module, item),
        _ => None,
    }
    .or_else(|| {
        let plain = module.opcode(item.ty) != op::TYPE_POINTER;
        when(
            plain && module.limited(item.ty),
            "constants of 8 or 16 bits need a capability",
        )
    })
}

/// Whether a type has a null value.
fn nullable(module: &Checked<'_>, ty: u32) -> bool {
    let mut open = vec![ty];
    let mut seen = std::collections::HashSet::new();
    while let Some(item) = open.pop().and_then(|ty| module.def(ty)) {
        if !seen.insert(item.result) {
            continue;
        }
        match item.opcode() {
            op::TYPE_BOOL
            | op::TYPE_INT
            | op::TYPE_FLOAT
            | op::TYPE_EVENT
            | op::TYPE_DEVICE_EVENT
            | op::TYPE_RESERVE_ID
            | op::TYPE_QUEUE => {}
            op::TYPE_ARRAY
            | op::TYPE_MATRIX
            | op::TYPE_VECTOR
            | op::TYPE_COOPERATIVE_MATRIX_NV
            | op::TYPE_COOPERATIVE_MATRIX_KHR
            | op::TYPE_COOPERATIVE_VECTOR_NV => open.push(item.word(2)),
            op::TYPE_STRUCT => open.extend(item.args()),
            op::TYPE_POINTER | op::TYPE_UNTYPED_POINTER_KHR if item.word(2) != class::PHYSICAL_STORAGE_BUFFER => {}
            _ => return false,
        }
    }
    true
}

/// Operations allowed in specialisation constants of kernels only.
const KERNEL: [u16; 20] = [
    op::CONVERT_F_TO_S,
    op::CONVERT_S_TO_F,
    op::CONVERT_F_TO_U,
    op::CONVERT_U_TO_F,
    op::CONVERT_PTR_TO_U,
    op::CONVERT_U_TO_PTR,
    op::GENERIC_CAST_TO_PTR,
    op::PTR_CAST_TO_GENERIC,
    op::BITCAST,
    op::F_NEGATE,
    op::F_ADD,
    op::F_SUB,
    op::F_MUL,
    op::F_DIV,
    op::F_REM,
    op::F_MOD,
    op::ACCESS_CHAIN,
    op::IN_BOUNDS_ACCESS_CHAIN,
    op::PTR_ACCESS_CHAIN,
    op::IN_BOUNDS_PTR_ACCESS_CHAIN,
];

fn operation(module: &Checked<'_>, item: &Item<'_>) -> Why {
    let has = |capability| module.capabilities.contains(&capability);
    let row = module.grammar.row(item.word(3) as u16)?;
    let kernel = has(capability::KERNEL);
    let wrong = match row.opcode as u16 {
        op::QUANTIZE_TO_F16 => !module.shader,
        op::U_CONVERT => module.words[1] < 0x10400 && !kernel && !module.extends("SPV_AMD_gpu_shader_int16"),
        of => KERNEL.contains(&of) && !kernel,
    };
    when(wrong, "the operation needs a capability where it is specialized")
}

/// A literal narrower than a word: the high bits are zero, or the sign extension of a signed integer.
pub(super) fn narrow(module: &Checked<'_>, ty: u32, word: u32) -> Why {
    let spare = 32u32
        .checked_sub(module.form(ty).width)
        .filter(|spare| (1..32).contains(spare))?;
    let signed = module
        .def(ty)
        .is_some_and(|ty| ty.opcode() == op::TYPE_INT && ty.word(3) != 0);
    let wanted = match signed {
        true => ((word << spare) as i32 >> spare) as u32,
        false => word << spare >> spare,
    };
    when(
        word != wanted,
        "the high bits of a narrow number are not its sign extension",
    )
}
