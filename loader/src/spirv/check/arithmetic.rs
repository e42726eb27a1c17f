//! Whether operands and results of arithmetic, logic and conversion fit together.

use super::form::{Base, Form, Why, when};
use super::{Checked, Item};
use std::collections::HashSet;

pub(super) fn arithmetic(module: &Checked<'_>, item: &Item<'_>) -> Why {
    let r = module.form(item.ty);
    let (x, y) = (item.word(3), item.word(4));
    let (a, b) = (module.of(x), module.of(y));
    let int = |f: Form| f.base == Base::Int;
    let float = |f: Form| f.base == Base::Float;
    let boolean = |f: Form| f.base == Base::Bool;
    let column = |ty: u32| {
        module
            .def(ty)
            .filter(|t| t.name() == "TypeMatrix")
            .map(|t| (t.word(2), t.word(3)))
    };
    let wrong = match item.name() {
        "IAdd" | "ISub" | "IMul" | "SDiv" | "SRem" | "SMod" | "BitwiseAnd" | "BitwiseOr" | "BitwiseXor" => {
            !int(r) || a != r || b != r
        }
        "UDiv" | "UMod" => {
            !int(r)
                || module.type_of(x) != item.ty
                || module.type_of(y) != item.ty
                || module
                    .def(item.ty)
                    .is_some_and(|t| t.name() == "TypeInt" && t.word(3) == 1)
        }
        "SNegate" | "Not" | "BitReverse" => !int(r) || a != r,
        "BitCount" => !int(r) || !int(a) || a.count != r.count,
        "ShiftLeftLogical" | "ShiftRightLogical" | "ShiftRightArithmetic" => {
            !int(r) || a != r || !int(b) || b.count != r.count
        }
        "BitFieldInsert" => {
            !int(r)
                || module.type_of(x) != item.ty
                || module.type_of(y) != item.ty
                || !int(module.of(item.word(5)))
                || !int(module.of(item.word(6)))
        }
        "BitFieldSExtract" | "BitFieldUExtract" => {
            !int(r) || module.type_of(x) != item.ty || !int(b) || !int(module.of(item.word(5)))
        }
        "FAdd" | "FSub" | "FMul" | "FDiv" | "FRem" | "FMod" => {
            !float(r) || module.type_of(x) != item.ty || module.type_of(y) != item.ty
        }
        "FNegate" => (!float(r) && column(item.ty).is_none()) || module.type_of(x) != item.ty,
        "VectorTimesScalar" => {
            !float(r) || r.count < 2 || module.type_of(x) != item.ty || b != (Form { count: 1, ..r })
        }
        "MatrixTimesScalar" => column(item.ty).is_none() || module.type_of(x) != item.ty || !float(b) || b.count != 1,
        "MatrixTimesVector" => column(module.type_of(x)).is_none_or(|(c, n)| c != item.ty || b.count != n || !float(b)),
        "VectorTimesMatrix" => {
            column(module.type_of(y)).is_none_or(|(c, n)| module.form(c) != a || r.count != n || !float(r))
        }
        "MatrixTimesMatrix" => match (column(item.ty), column(module.type_of(x)), column(module.type_of(y))) {
            (Some(r), Some(a), Some(b)) => a.0 != r.0 || b.1 != r.1 || module.form(b.0).count != a.1,
            _ => true,
        },
        "OuterProduct" => column(item.ty).is_none_or(|(c, n)| c != module.type_of(x) || b.count != n),
        "Dot" => {
            !float(r)
                || r.count != 1
                || module.type_of(x) != module.type_of(y)
                || a.count < 2
                || (Form { count: 1, ..a }) != r
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
        name if name.starts_with("FOrd") || name.starts_with("FUnord") => {
            !boolean(r) || !float(a) || module.type_of(x) != module.type_of(y) || a.count != r.count
        }
        "Select" => {
            let scalar =
                boolean(a) && (a.count == 1 && (r.count <= 1 || module.words[1] >= 0x10400) || a.count == r.count);
            let loose = module.pointer(item.ty).is_some() && !module.physical && !module.variable_pointers();
            !scalar || loose || module.type_of(y) != item.ty || module.type_of(item.word(5)) != item.ty
        }
        "ConvertFToU" | "ConvertFToS" => !int(r) || !float(a) || a.count != r.count,
        "ConvertSToF" | "ConvertUToF" => !float(r) || !int(a) || a.count != r.count,
        "UConvert" | "SConvert" => !int(r) || !int(a) || a.count != r.count || a.width == r.width,
        "FConvert" => !float(r) || !float(a) || a.count != r.count || a.width == r.width,
        "QuantizeToF16" => !float(r) || module.type_of(x) != item.ty,
        "Bitcast" => {
            let numeric = |f: Form| matches!(f.base, Base::Int | Base::Float);
            let pointer = |ty| module.pointer(ty).is_some();
            !(numeric(r)
                && numeric(a)
                && u64::from(r.width) * u64::from(r.count) == u64::from(a.width) * u64::from(a.count)
                || pointer(item.ty) && (pointer(module.type_of(x)) || int(a))
                || int(r) && pointer(module.type_of(x)))
        }
        name if name.starts_with("DPd") || name.starts_with("Fwidth") => !float(r) || module.type_of(x) != item.ty,
        name if name.starts_with("Atomic")
            && !name.contains("Flag")
            && name != "AtomicStore"
            && name != "AtomicLoad" =>
        {
            let value = item.words.get(if name.contains("CompareExchange") { 7 } else { 6 });
            module.pointer(module.type_of(x)).map(|p| p.1) != Some(item.ty)
                || value.is_some_and(|v| module.type_of(*v) != item.ty)
                || !(int(r) || float(r) && (name == "AtomicExchange" || name.starts_with("AtomicF")))
        }
        "AtomicLoad" => module.pointer(module.type_of(x)).map(|p| p.1) != Some(item.ty),
        "AtomicStore" => {
            module.pointer(module.type_of(item.word(1))).map(|p| p.1) != Some(module.type_of(item.word(4)))
        }
        "PtrEqual" | "PtrNotEqual" | "PtrDiff" => {
            let pointer = module.pointer(module.type_of(x)).is_some();
            !pointer || module.type_of(x) != module.type_of(y) || !module.physical && !module.variable_pointers()
        }
        "CopyLogical" => module.type_of(x) == item.ty || !logically_match(module, module.type_of(x), item.ty),
        name if name.starts_with("GroupNonUniform") => {
            let value = item.words.get(
                if module.grammar.row(item.row.opcode as u16).is_some_and(|r| {
                    r.operands
                        .get(3)
                        .is_some_and(|o| module.grammar.kind(o.kind).is_some_and(|k| k.name == "GroupOperation"))
                }) {
                    5
                } else {
                    4
                },
            );
            // Front ends for languages without signs mix them here; SPIRV-Tools lets arithmetic be.
            let kind = &name[name.len().min(15)..];
            // Its scope is a workgroup or a subgroup.
            module.constant(x).is_some_and(|scope| !matches!(scope, 2 | 3))
                || matches!(kind, "Elect" | "All" | "Any" | "AllEqual") && (!boolean(r) || r.count != 1)
                || kind == "Ballot"
                    && r != (Form {
                        base: Base::Int,
                        width: 32,
                        count: 4,
                    })
                || kind == "Ballot" && value.is_some_and(|v| !boolean(module.of(*v)))
                || kind == "BallotBitCount" && (!int(r) || value.is_some_and(|v| module.of(*v).count != 4))
        }
        _ => false,
    };
    when(wrong, "the types of operands and result do not fit the opcode")
}

/// A constant of less than a word: what is above its bits is zero, or its sign's copy for a signed integer.
pub(super) fn narrow(module: &Checked<'_>, item: &Item<'_>) -> Why {
    let form = module.form(item.ty);
    let spare = 32u32.checked_sub(form.width).filter(|spare| (1..32).contains(spare))?;
    let signed = module
        .def(item.ty)
        .is_some_and(|ty| ty.name() == "TypeInt" && ty.word(3) == 1);
    let word = item.word(3);
    let wanted = match signed {
        true => ((word << spare) as i32 >> spare) as u32,
        false => word << spare >> spare,
    };
    when(
        word != wanted,
        "the bits above a number of less than a word are not its sign's",
    )
}

/// Whether two types are the same but for their decorations: arrays of as many of such, structs of such.
fn logically_match(module: &Checked<'_>, a: u32, b: u32) -> bool {
    let mut open = vec![(a, b)];
    let mut seen = HashSet::new();
    while let Some(pair) = open.pop() {
        if pair.0 == pair.1 || !seen.insert(pair) {
            continue;
        }
        let (Some(a), Some(b)) = (module.def(pair.0), module.def(pair.1)) else {
            return false;
        };
        let same = |n: u32, m: u32| n == m || module.constant(n).is_some_and(|n| module.constant(m) == Some(n));
        match ((a.name(), a.args()), (b.name(), b.args())) {
            (("TypeStruct", a), ("TypeStruct", b)) if a.len() == b.len() => {
                open.extend(a.iter().copied().zip(b.iter().copied()));
            }
            (("TypeArray", [a, n]), ("TypeArray", [b, m])) if same(*n, *m) => open.push((*a, *b)),
            _ => return false,
        }
    }
    true
}
