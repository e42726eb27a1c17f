//! Checks that operands and results of arithmetic, logic and conversions match.

use super::form::{Base, Form, Why, when};
use super::{Checked, Item, cooperative};
use crate::spirv::{capability, class, op};

pub(super) fn arithmetic(module: &Checked<'_>, item: &Item<'_>) -> Why {
    let r = module.form(item.ty);
    let (x, y) = (item.word(3), item.word(4));
    let (a, b) = (module.of(x), module.of(y));
    let int = |f: Form| f.base == Base::Int;
    let float = |f: Form| f.base == Base::Float;
    let boolean = |f: Form| f.base == Base::Bool;
    let same = |ids: &[u32]| {
        let equal = |id: &u32| cooperative::equal(module, module.type_of(*id), item.ty);
        ids.iter().all(equal)
    };
    let matrix = |ty: u32| module.matrix(ty);
    let wrong = match item.opcode() {
        op::I_ADD
        | op::I_SUB
        | op::I_MUL
        | op::S_DIV
        | op::S_REM
        | op::S_MOD
        | op::BITWISE_AND
        | op::BITWISE_OR
        | op::BITWISE_XOR => !int(r) || a != r || b != r,
        op::U_DIV | op::U_MOD => !int(r) || !module.unsigned(item.ty) || !same(&[x, y]),
        op::I_ADD_CARRY | op::I_SUB_BORROW | op::U_MUL_EXTENDED | op::S_MUL_EXTENDED => !extended(module, item),
        op::S_NEGATE | op::NOT => !int(r) || a != r,
        op::BIT_REVERSE => !base(module, item, x),
        op::BIT_COUNT => !int(r) || !int(a) || a.count != r.count || module.vulkan.is_some() && a.width != 32,
        op::SHIFT_LEFT_LOGICAL | op::SHIFT_RIGHT_LOGICAL | op::SHIFT_RIGHT_ARITHMETIC => {
            !int(r) || a != r || !int(b) || b.count != r.count
        }
        op::BIT_FIELD_INSERT => {
            let scalars = [5, 6].iter().all(|at| module.of(item.word(*at)).scalar(Base::Int));
            !base(module, item, x) || module.type_of(y) != item.ty || !scalars
        }
        op::BIT_FIELD_S_EXTRACT | op::BIT_FIELD_U_EXTRACT => {
            let scalars = [4, 5].iter().all(|at| module.of(item.word(*at)).scalar(Base::Int));
            !base(module, item, x) || !scalars
        }
        op::F_ADD | op::F_SUB | op::F_MUL | op::F_DIV | op::F_REM | op::F_MOD => !float(r) || !same(&[x, y]),
        op::F_NEGATE => !float(r) || !same(&[x]),
        op::VECTOR_TIMES_SCALAR => {
            let vector = r.count >= 2 || module.opcode(item.ty) == op::TYPE_COOPERATIVE_VECTOR_NV;
            !float(r) || !vector || module.type_of(x) != item.ty || module.type_of(y) != module.component(item.ty)
        }
        op::MATRIX_TIMES_SCALAR => {
            let group = matches!(
                module.opcode(item.ty),
                op::TYPE_COOPERATIVE_MATRIX_NV | op::TYPE_COOPERATIVE_MATRIX_KHR
            );
            matrix(item.ty).is_none() && !group
                || module.type_of(y) != module.component(item.ty)
                || module.type_of(x) != item.ty
        }
        op::MATRIX_TIMES_VECTOR => matrix(module.type_of(x)).is_none_or(|m| {
            m.column != item.ty || module.component(module.type_of(y)) != m.scalar || b.count != m.columns
        }),
        op::VECTOR_TIMES_MATRIX => matrix(module.type_of(y)).is_none_or(|m| {
            let scalars = [item.ty, module.type_of(x)]
                .iter()
                .all(|ty| module.component(*ty) == m.scalar);
            !scalars || (r.count, a.count) != (m.columns, m.rows) || r.count < 2
        }),
        op::MATRIX_TIMES_MATRIX => match [item.ty, module.type_of(x), module.type_of(y)].map(matrix) {
            [Some(r), Some(a), Some(b)] => {
                a.column != r.column || b.scalar != r.scalar || b.columns != r.columns || b.rows != a.columns
            }
            _ => true,
        },
        op::OUTER_PRODUCT => matrix(item.ty).is_none_or(|m| {
            let other = module.type_of(y);
            m.column != module.type_of(x) || module.component(other) != m.scalar || b.count != m.columns
        }),
        op::DOT => {
            let of_result = |id: u32| module.component(module.type_of(id)) == item.ty;
            !r.scalar(Base::Float) || !of_result(x) || !of_result(y) || a.count < 2 || a.count != b.count
        }
        op::LOGICAL_AND | op::LOGICAL_OR | op::LOGICAL_EQUAL | op::LOGICAL_NOT_EQUAL => {
            !boolean(r) || module.type_of(x) != item.ty || module.type_of(y) != item.ty
        }
        op::LOGICAL_NOT => !boolean(r) || module.type_of(x) != item.ty,
        op::ANY | op::ALL => !boolean(r) || r.count != 1 || !boolean(a) || a.count < 2,
        op::IS_NAN | op::IS_INF | op::IS_FINITE | op::IS_NORMAL | op::SIGN_BIT_SET => {
            !boolean(r) || !float(a) || a.count != r.count
        }
        op::I_EQUAL
        | op::I_NOT_EQUAL
        | op::U_GREATER_THAN
        | op::S_GREATER_THAN
        | op::U_GREATER_THAN_EQUAL
        | op::S_GREATER_THAN_EQUAL
        | op::U_LESS_THAN
        | op::S_LESS_THAN
        | op::U_LESS_THAN_EQUAL
        | op::S_LESS_THAN_EQUAL => !boolean(r) || !int(a) || a != b || a.count != r.count,
        op::LESS_OR_GREATER | op::ORDERED | op::UNORDERED | op::F_ORD_EQUAL..=op::F_UNORD_GREATER_THAN_EQUAL => {
            !boolean(r) || !float(a) || module.type_of(x) != module.type_of(y) || a.count != r.count
        }
        op::SELECT => !selects(module, item),
        op::CONVERT_F_TO_U => !int(r) || !module.unsigned(item.ty) || !float(a) || a.count != r.count,
        op::CONVERT_F_TO_S => !int(r) || !float(a) || a.count != r.count,
        op::CONVERT_S_TO_F | op::CONVERT_U_TO_F => !float(r) || !int(a) || a.count != r.count,
        op::U_CONVERT => !int(r) || !module.unsigned(item.ty) || !int(a) || a.count != r.count || a.width == r.width,
        op::S_CONVERT => !int(r) || !int(a) || a.count != r.count || a.width == r.width,
        op::SAT_CONVERT_S_TO_U | op::SAT_CONVERT_U_TO_S => !int(r) || !int(a) || a.count != r.count,
        op::F_CONVERT => !float(r) || !float(a) || a.count != r.count || a.width == r.width,
        op::QUANTIZE_TO_F16 => !float(r) || r.width != 32 || module.type_of(x) != item.ty,
        op::BITCAST => !casts(module, item),
        op::CONVERT_PTR_TO_U => !addresses(module, item.ty, module.type_of(x)) || !module.unsigned(item.ty),
        op::CONVERT_U_TO_PTR => !addresses(module, module.type_of(x), item.ty),
        op::PTR_CAST_TO_GENERIC => !generic(module, module.type_of(x), item.ty),
        op::GENERIC_CAST_TO_PTR => !generic(module, item.ty, module.type_of(x)),
        op::GENERIC_CAST_TO_PTR_EXPLICIT => {
            let class = module.pointer(item.ty).map(|(class, _)| class);
            !generic(module, item.ty, module.type_of(x)) || class != Some(y)
        }
        op::DPDX..=op::FWIDTH_COARSE => !float(r) || r.width != 32 || module.type_of(x) != item.ty,
        _ => false,
    };
    let wrong = wrong || !cooperative::computes(module, item);
    when(wrong, "the types of operands and result do not fit the opcode").or_else(|| {
        let converts = matches!(
            item.opcode(),
            op::CONVERT_F_TO_U | op::CONVERT_F_TO_S | op::CONVERT_S_TO_F | op::CONVERT_U_TO_F | op::BITCAST
        );
        when(
            converts && (module.limited(item.ty) || module.limited(module.type_of(x))),
            "numbers of 8 or 16 bits are only made wider and narrower without a capability",
        )
    })
}

/// Whether a result is a struct of two members of the operands' type.
fn extended(module: &Checked<'_>, item: &Item<'_>) -> bool {
    let members = module
        .def(item.ty)
        .filter(|ty| ty.opcode() == op::TYPE_STRUCT)
        .map(|ty| ty.args());
    let Some([low, high]) = members else { return false };
    let operands = item.args().iter().all(|id| module.type_of(*id) == *low);
    let sign = item.opcode() == op::S_MUL_EXTENDED || module.unsigned(*low);
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
    let (result, vector) = match module.opcode(item.ty) {
        op::TYPE_POINTER | op::TYPE_UNTYPED_POINTER_KHR => (module.physical || module.variable_pointers(), false),
        op::TYPE_IMAGE | op::TYPE_SAMPLER | op::TYPE_SAMPLED_IMAGE => (bindless, false),
        op::TYPE_VECTOR => (true, true),
        op::TYPE_BOOL | op::TYPE_INT | op::TYPE_FLOAT => (true, false),
        op::TYPE_ARRAY | op::TYPE_MATRIX | op::TYPE_STRUCT => (late, false),
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
    let pointer = |ty| module.class_of(ty).is_some();
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
