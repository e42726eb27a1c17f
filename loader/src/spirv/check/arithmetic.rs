//! Checks that operands and results of arithmetic, logic and conversions match.

use super::form::{Base, Form, Why, when};
use super::{Checked, Item};
use crate::spirv::{capability, class};

pub(super) fn arithmetic(module: &Checked<'_>, item: &Item<'_>) -> Why {
    let r = module.form(item.ty);
    let (x, y) = (item.word(3), item.word(4));
    let (a, b) = (module.of(x), module.of(y));
    let int = |f: Form| f.base == Base::Int;
    let float = |f: Form| f.base == Base::Float;
    let boolean = |f: Form| f.base == Base::Bool;
    let same = |ids: &[u32]| ids.iter().all(|id| module.type_of(*id) == item.ty);
    let matrix = |ty: u32| module.matrix(ty);
    let wrong = match item.name() {
        "IAdd" | "ISub" | "IMul" | "SDiv" | "SRem" | "SMod" | "BitwiseAnd" | "BitwiseOr" | "BitwiseXor" => {
            !int(r) || a != r || b != r
        }
        "UDiv" | "UMod" => !int(r) || !module.unsigned(item.ty) || !same(&[x, y]),
        "IAddCarry" | "ISubBorrow" | "UMulExtended" | "SMulExtended" => !extended(module, item),
        "SNegate" | "Not" => !int(r) || a != r,
        "BitReverse" => !base(module, item, x),
        "BitCount" => !int(r) || !int(a) || a.count != r.count || module.vulkan.is_some() && a.width != 32,
        "ShiftLeftLogical" | "ShiftRightLogical" | "ShiftRightArithmetic" => {
            !int(r) || a != r || !int(b) || b.count != r.count
        }
        "BitFieldInsert" => {
            let scalars = [5, 6].iter().all(|at| module.of(item.word(*at)).scalar(Base::Int));
            !base(module, item, x) || module.type_of(y) != item.ty || !scalars
        }
        "BitFieldSExtract" | "BitFieldUExtract" => {
            let scalars = [4, 5].iter().all(|at| module.of(item.word(*at)).scalar(Base::Int));
            !base(module, item, x) || !scalars
        }
        "FAdd" | "FSub" | "FMul" | "FDiv" | "FRem" | "FMod" => {
            !float(r) || module.type_of(x) != item.ty || module.type_of(y) != item.ty
        }
        "FNegate" => !float(r) || module.type_of(x) != item.ty,
        "VectorTimesScalar" => {
            !float(r) || r.count < 2 || module.type_of(x) != item.ty || module.type_of(y) != module.component(item.ty)
        }
        "MatrixTimesScalar" => {
            let float = matrix(item.ty).is_some() || module.kind(item.ty) == "TypeCooperativeMatrixNV";
            !float || module.type_of(y) != module.component(item.ty) || module.type_of(x) != item.ty
        }
        "MatrixTimesVector" => matrix(module.type_of(x)).is_none_or(|m| {
            m.column != item.ty || module.component(module.type_of(y)) != m.scalar || b.count != m.columns
        }),
        "VectorTimesMatrix" => matrix(module.type_of(y)).is_none_or(|m| {
            let scalars = [item.ty, module.type_of(x)]
                .iter()
                .all(|ty| module.component(*ty) == m.scalar);
            !scalars || (r.count, a.count) != (m.columns, m.rows) || r.count < 2
        }),
        "MatrixTimesMatrix" => match [item.ty, module.type_of(x), module.type_of(y)].map(matrix) {
            [Some(r), Some(a), Some(b)] => {
                a.column != r.column || b.scalar != r.scalar || b.columns != r.columns || b.rows != a.columns
            }
            _ => true,
        },
        "OuterProduct" => matrix(item.ty).is_none_or(|m| {
            let other = module.type_of(y);
            m.column != module.type_of(x) || module.component(other) != m.scalar || b.count != m.columns
        }),
        "Dot" => {
            let of_result = |id: u32| module.component(module.type_of(id)) == item.ty;
            !r.scalar(Base::Float) || !of_result(x) || !of_result(y) || a.count < 2 || a.count != b.count
        }
        "LogicalAnd" | "LogicalOr" | "LogicalEqual" | "LogicalNotEqual" => {
            !boolean(r) || module.type_of(x) != item.ty || module.type_of(y) != item.ty
        }
        "LogicalNot" => !boolean(r) || module.type_of(x) != item.ty,
        "Any" | "All" => !boolean(r) || r.count != 1 || !boolean(a) || a.count < 2,
        "IsNan" | "IsInf" | "IsFinite" | "IsNormal" | "SignBitSet" => !boolean(r) || !float(a) || a.count != r.count,
        "IEqual" | "INotEqual" | "UGreaterThan" | "SGreaterThan" | "UGreaterThanEqual" | "SGreaterThanEqual"
        | "ULessThan" | "SLessThan" | "ULessThanEqual" | "SLessThanEqual" => {
            !boolean(r) || !int(a) || a != b || a.count != r.count
        }
        name if name.starts_with("FOrd")
            || name.starts_with("FUnord")
            || matches!(name, "LessOrGreater" | "Ordered" | "Unordered") =>
        {
            !boolean(r) || !float(a) || module.type_of(x) != module.type_of(y) || a.count != r.count
        }
        "Select" => !selects(module, item),
        "ConvertFToU" => !int(r) || !module.unsigned(item.ty) || !float(a) || a.count != r.count,
        "ConvertFToS" => !int(r) || !float(a) || a.count != r.count,
        "ConvertSToF" | "ConvertUToF" => !float(r) || !int(a) || a.count != r.count,
        "UConvert" => !int(r) || !module.unsigned(item.ty) || !int(a) || a.count != r.count || a.width == r.width,
        "SConvert" => !int(r) || !int(a) || a.count != r.count || a.width == r.width,
        "SatConvertSToU" | "SatConvertUToS" => !int(r) || !int(a) || a.count != r.count,
        "FConvert" => !float(r) || !float(a) || a.count != r.count || a.width == r.width,
        "QuantizeToF16" => !float(r) || r.width != 32 || module.type_of(x) != item.ty,
        "Bitcast" => !casts(module, item),
        "ConvertPtrToU" => !addresses(module, item.ty, module.type_of(x)) || !module.unsigned(item.ty),
        "ConvertUToPtr" => !addresses(module, module.type_of(x), item.ty),
        "PtrCastToGeneric" => !generic(module, module.type_of(x), item.ty),
        "GenericCastToPtr" => !generic(module, item.ty, module.type_of(x)),
        "GenericCastToPtrExplicit" => {
            let class = module.pointer(item.ty).map(|(class, _)| class);
            !generic(module, item.ty, module.type_of(x)) || class != Some(y)
        }
        name if name.starts_with("DPd") || name.starts_with("Fwidth") => {
            !float(r) || r.width != 32 || module.type_of(x) != item.ty
        }
        _ => false,
    };
    let group = module.kind(item.ty) == "TypeCooperativeMatrixNV"
        || module.kind(module.type_of(x)) == "TypeCooperativeMatrixNV";
    let wrong = wrong || group && !of_groups(module, item);
    when(wrong, "the types of operands and result do not fit the opcode").or_else(|| {
        let converts = matches!(
            item.name(),
            "ConvertFToU" | "ConvertFToS" | "ConvertSToF" | "ConvertUToF" | "Bitcast"
        );
        when(
            converts && (module.limited(item.ty) || module.limited(module.type_of(x))),
            "numbers of 8 or 16 bits are only made wider and narrower without a capability",
        )
    })
}

/// Whether an instruction accepts matrices of a group, and all have one shape.
fn of_groups(module: &Checked<'_>, item: &Item<'_>) -> bool {
    const CONVERSIONS: [&str; 7] = [
        "ConvertFToU",
        "ConvertFToS",
        "ConvertSToF",
        "ConvertUToF",
        "UConvert",
        "SConvert",
        "FConvert",
    ];
    const NEVER: [&str; 6] = ["FMul", "FRem", "FMod", "IMul", "SRem", "SMod"];
    if NEVER.contains(&item.name()) {
        return false;
    }
    let shape = |ty: u32| {
        let item = module.def(ty).filter(|ty| ty.name() == "TypeCooperativeMatrixNV")?;
        Some([3, 4, 5].map(|at| module.known_word(item.word(at))))
    };
    match (shape(item.ty), shape(module.type_of(item.word(3)))) {
        (Some(a), Some(b)) if CONVERSIONS.contains(&item.name()) => {
            let mut pairs = a.iter().zip(&b);
            pairs.all(|(a, b)| a.is_none() || b.is_none() || a == b)
        }
        _ => !CONVERSIONS.contains(&item.name()),
    }
}

/// Whether a result is a struct of two members of the operands' type.
fn extended(module: &Checked<'_>, item: &Item<'_>) -> bool {
    let members = module
        .def(item.ty)
        .filter(|ty| ty.name() == "TypeStruct")
        .map(|ty| ty.args());
    let Some([low, high]) = members else { return false };
    let operands = item.args().iter().all(|id| module.type_of(*id) == *low);
    let sign = item.name() == "SMulExtended" || module.unsigned(*low);
    low == high && operands && sign && module.form(*low).base == Base::Int
}

/// Whether the base of a bit-field operation is an integer of the result's type; Vulkan allows 32 bits only.
fn base(module: &Checked<'_>, item: &Item<'_>, id: u32) -> bool {
    let form = module.of(id);
    form.base == Base::Int && module.type_of(id) == item.ty && (module.vulkan.is_none() || form.width == 32)
}

/// Whether a select is allowed in this version.
fn selects(module: &Checked<'_>, item: &Item<'_>) -> bool {
    let late = module.words[1] >= 0x10400;
    let bindless = module.capabilities.contains(&capability::BINDLESS_TEXTURE_NV);
    let (result, vector) = match module.kind(item.ty) {
        "TypePointer" => (module.physical || module.variable_pointers(), false),
        "TypeImage" | "TypeSampler" | "TypeSampledImage" => (bindless, false),
        "TypeVector" => (true, true),
        "TypeBool" | "TypeInt" | "TypeFloat" => (true, false),
        "TypeArray" | "TypeMatrix" | "TypeStruct" => (late, false),
        _ => (false, false),
    };
    let condition = module.of(item.word(3));
    let count = if vector { module.form(item.ty).count } else { 1 };
    let fits = condition.count == count || late && condition.count == 1;
    let both = [4, 5].iter().all(|at| module.type_of(item.word(*at)) == item.ty);
    result && both && condition.base == Base::Bool && fits
}

/// Whether a type can be bitcast to another.
fn casts(module: &Checked<'_>, item: &Item<'_>) -> bool {
    let from = module.type_of(item.word(3));
    let pointer = |ty| module.pointer(ty).is_some();
    let number = |ty| matches!(module.form(ty).base, Base::Int | Base::Float);
    let physical = module.words[1] >= 0x10500 || module.extends("SPV_KHR_physical_storage_buffer");
    // The integer width of an address.
    let address = |ty: u32| {
        let form = module.form(ty);
        form.scalar(Base::Int) || physical && form.base == Base::Int && form.width == 32
    };
    let bits = |ty| {
        let form = module.form(ty);
        u64::from(form.width) * u64::from(form.count)
    };
    match (pointer(item.ty), pointer(from)) {
        (true, true) => true,
        (true, false) => address(from),
        (false, true) => address(item.ty),
        (false, false) => number(item.ty) && number(from) && bits(item.ty) == bits(from),
    }
}

/// Whether an integer type can hold a pointer's address.
fn addresses(module: &Checked<'_>, integer: u32, pointer: u32) -> bool {
    let form = module.form(integer);
    let class = module.pointer(pointer).map(|(class, _)| class);
    let buffers = module.addressing == PHYSICAL_STORAGE_BUFFER_64;
    let reached = !buffers || class == Some(class::PHYSICAL_STORAGE_BUFFER);
    let wide = !buffers || module.vulkan.is_none() || form.width == 64;
    form.scalar(Base::Int) && class.is_some() && module.physical && reached && wide
}

/// The addressing model of pointers to physical storage buffers.
const PHYSICAL_STORAGE_BUFFER_64: u32 = 5348;

/// Whether one pointer type equals another except for the storage class.
fn generic(module: &Checked<'_>, special: u32, generic: u32) -> bool {
    const SPECIAL: [u32; 3] = [class::WORKGROUP, class::CROSS_WORKGROUP, class::FUNCTION];
    match (module.pointer(special), module.pointer(generic)) {
        (Some((class, to)), Some((class::GENERIC, same))) => SPECIAL.contains(&class) && to == same,
        _ => false,
    }
}
