//! Operands and results of extended instructions.

use super::form::{Base, Form, Why, when};
use super::{Checked, Item};
use crate::spirv::op;

/// GLSL.std.450: operands of float and integer instructions have the result's type.
pub(super) fn extended(module: &Checked<'_>, item: &Item<'_>) -> Why {
    if item.opcode() != op::EXT_INST || module.sets.get(&item.word(3)).is_none_or(|set| set != "GLSL.std.450") {
        return None;
    }
    let set = module.grammar.set("GLSL.std.450")?;
    let name = &*module.grammar.sets[set].row(item.word(4))?.name;
    let args = item.words.get(5..)?;
    let r = module.form(item.ty);
    let all_same = args.iter().all(|id| module.type_of(*id) == item.ty);
    let ok = match name {
        "Length" | "Distance" => {
            r.base == Base::Float
                && r.count == 1
                && args.iter().all(|id| {
                    Form {
                        count: 1,
                        ..module.of(*id)
                    } == r
                })
                && args.windows(2).all(|w| module.type_of(w[0]) == module.type_of(w[1]))
        }
        "Cross" => r.base == Base::Float && r.count == 3 && all_same,
        "Refract" => {
            r.base == Base::Float
                && args[..2].iter().all(|id| module.type_of(*id) == item.ty)
                && module.of(args[2]).base == Base::Float
        }
        "Modf" | "Frexp" => {
            r.base == Base::Float
                && module.type_of(args[0]) == item.ty
                && module.pointer(module.type_of(args[1])).is_some()
        }
        "ModfStruct" | "FrexpStruct" => module.opcode(item.ty) == op::TYPE_STRUCT,
        "Ldexp" => {
            r.base == Base::Float
                && module.type_of(args[0]) == item.ty
                && module.of(args[1]).base == Base::Int
                && module.of(args[1]).count == r.count
        }
        "Determinant" => r.base == Base::Float && module.opcode(module.type_of(args[0])) == op::TYPE_MATRIX,
        "MatrixInverse" => module.opcode(item.ty) == op::TYPE_MATRIX && all_same,
        "FindILsb" | "FindSMsb" | "FindUMsb" | "SAbs" | "SSign" | "SMin" | "UMin" | "SMax" | "UMax" | "SClamp"
        | "UClamp" => r.base == Base::Int && args.iter().all(|id| module.of(*id) == r),
        name if name.starts_with("Pack") => r.base != Base::Other && module.of(args[0]).base != Base::Other,
        name if name.starts_with("Unpack") => r.base != Base::Other && module.of(args[0]).count == 1,
        name if name.starts_with("InterpolateAt") => {
            r.base == Base::Float && module.pointer(module.type_of(args[0])).is_some_and(|p| p.1 == item.ty)
        }
        _ => r.base == Base::Float && all_same,
    };
    when(!ok, &format!("{name}: the types of operands and result do not fit"))
}
