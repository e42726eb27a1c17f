//! Constants: types, constituents, specialisation operations, and the unused bits of narrow numbers.

use super::form::{Base, Why, when};
use super::{Checked, Item, composites};
use crate::spirv::{capability, class};

/// Checks a constant.
pub(super) fn constants(module: &Checked<'_>, item: &Item<'_>) -> Why {
    let form = module.form(item.ty);
    match item.name() {
        "ConstantTrue" | "ConstantFalse" | "SpecConstantTrue" | "SpecConstantFalse" => {
            when(!form.scalar(Base::Bool), "the type is not bool")
        }
        "Constant" | "SpecConstant" => when(form.count != 1 || form.base == Base::Bool, "the type is not a number")
            .or_else(|| narrow(module, item.ty, item.word(3))),
        "ConstantComposite" | "SpecConstantComposite" => composites::constant(module, item),
        "ConstantNull" => when(!nullable(module, item.ty), "the type has no null"),
        "ConstantSampler" => when(module.kind(item.ty) != "TypeSampler", "the type is not a sampler"),
        "SpecConstantOp" => operation(module, item),
        _ => None,
    }
    .or_else(|| {
        let plain = module.kind(item.ty) != "TypePointer";
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
        match item.name() {
            "TypeBool" | "TypeInt" | "TypeFloat" | "TypeEvent" | "TypeDeviceEvent" | "TypeReserveId" | "TypeQueue" => {}
            "TypeArray" | "TypeMatrix" | "TypeVector" | "TypeCooperativeMatrixNV" => open.push(item.word(2)),
            "TypeStruct" => open.extend(item.args()),
            "TypePointer" if item.word(2) != class::PHYSICAL_STORAGE_BUFFER => {}
            _ => return false,
        }
    }
    true
}

/// Operations allowed in specialisation constants of kernels only.
const KERNEL: [&str; 20] = [
    "OpConvertFToS",
    "OpConvertSToF",
    "OpConvertFToU",
    "OpConvertUToF",
    "OpConvertPtrToU",
    "OpConvertUToPtr",
    "OpGenericCastToPtr",
    "OpPtrCastToGeneric",
    "OpBitcast",
    "OpFNegate",
    "OpFAdd",
    "OpFSub",
    "OpFMul",
    "OpFDiv",
    "OpFRem",
    "OpFMod",
    "OpAccessChain",
    "OpInBoundsAccessChain",
    "OpPtrAccessChain",
    "OpInBoundsPtrAccessChain",
];

fn operation(module: &Checked<'_>, item: &Item<'_>) -> Why {
    let has = |capability| module.capabilities.contains(&capability);
    let row = module.grammar.row(item.word(3) as u16)?;
    let kernel = has(capability::KERNEL);
    let wrong = match &*row.name {
        "OpQuantizeToF16" => !module.shader,
        "OpUConvert" => module.words[1] < 0x10400 && !kernel && !module.extends("SPV_AMD_gpu_shader_int16"),
        name => KERNEL.contains(&name) && !kernel,
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
        .is_some_and(|ty| ty.name() == "TypeInt" && ty.word(3) != 0);
    let wanted = match signed {
        true => ((word << spare) as i32 >> spare) as u32,
        false => word << spare >> spare,
    };
    when(
        word != wanted,
        "the high bits of a narrow number are not its sign extension",
    )
}
