//! Composites: construction, extraction, shuffling, copying.

use super::form::{Base, Why, when};
use super::{Checked, Item};
use crate::spirv::op;
use std::collections::HashSet;

impl Checked<'_> {
    /// The type of a member at an index; a struct needs the index's value, other types only its presence.
    pub(super) fn member(&self, ty: u32, index: Option<u32>, literal: bool) -> Option<u32> {
        let item = self.def(ty)?;
        let within = |count: u32| !literal || index.is_some_and(|i| i < count);
        match item.opcode() {
            op::TYPE_STRUCT => item.args().get(index? as usize).copied(),
            op::TYPE_VECTOR | op::TYPE_MATRIX => Some(item.word(2)).filter(|_| within(item.word(3))),
            op::TYPE_ARRAY => Some(item.word(2)).filter(|_| self.constant(item.word(3)).is_none_or(within)),
            op::TYPE_RUNTIME_ARRAY
            | op::TYPE_COOPERATIVE_MATRIX_NV
            | op::TYPE_COOPERATIVE_MATRIX_KHR
            | op::TYPE_COOPERATIVE_VECTOR_NV
            | op::TYPE_NODE_PAYLOAD_ARRAY_AMDX => Some(item.word(2)),
            _ => None,
        }
    }

    /// Columns, rows and the scalar type of a matrix.
    pub(super) fn matrix(&self, ty: u32) -> Option<Matrix> {
        let item = self.def(ty).filter(|t| t.opcode() == op::TYPE_MATRIX)?;
        let column = self.def(item.word(2)).filter(|t| t.opcode() == op::TYPE_VECTOR)?;
        Some(Matrix {
            column: item.word(2),
            columns: item.word(3),
            rows: column.word(3),
            scalar: column.word(2),
        })
    }
}

/// A decomposed matrix type.
#[derive(Clone, Copy, Debug)]
pub(super) struct Matrix {
    /// The type of a column.
    pub(super) column: u32,
    pub(super) columns: u32,
    pub(super) rows: u32,
    /// The type of a component.
    pub(super) scalar: u32,
}

/// Checks an instruction on composites.
pub(super) fn composites(module: &Checked<'_>, item: &Item<'_>) -> Why {
    let operand = module.type_of(item.word(3));
    match item.opcode() {
        op::COMPOSITE_CONSTRUCT => construct(module, item),
        op::COMPOSITE_EXTRACT => {
            let ty = walk(module, operand, item.words.get(4..)?);
            when(
                !(5..=259).contains(&item.words.len()) || ty != Some(item.ty),
                "the indices lead to no member of the result type",
            )
        }
        op::COMPOSITE_INSERT => {
            let composite = module.type_of(item.word(4));
            let ty = walk(module, composite, item.words.get(5..)?);
            when(
                !(6..=260).contains(&item.words.len()) || ty != Some(operand) || composite != item.ty,
                "the indices lead to no member of the object's type",
            )
        }
        op::VECTOR_SHUFFLE => shuffle(module, item),
        op::VECTOR_EXTRACT_DYNAMIC => when(
            !is_vector(module, operand) || module.component(operand) != item.ty,
            "not a component of a vector",
        )
        .or_else(|| {
            when(
                !module.of(item.word(4)).scalar(Base::Int),
                "the index is not an integer",
            )
        }),
        op::VECTOR_INSERT_DYNAMIC => when(
            !is_vector(module, item.ty)
                || operand != item.ty
                || module.component(item.ty) != module.type_of(item.word(4)),
            "not a component of a vector",
        )
        .or_else(|| {
            when(
                !module.of(item.word(5)).scalar(Base::Int),
                "the index is not an integer",
            )
        }),
        op::COPY_OBJECT => when(
            operand != item.ty || module.opcode(item.ty) == op::TYPE_VOID,
            "the operand has another type",
        ),
        op::COPY_LOGICAL => when(
            operand == item.ty || !logically_match(module, operand, item.ty),
            "the types differ by more than their decorations, or are the same",
        ),
        op::TRANSPOSE => {
            let turned = match (module.matrix(operand), module.matrix(item.ty)) {
                (Some(a), Some(b)) => a.scalar == b.scalar && (a.columns, a.rows) == (b.rows, b.columns),
                _ => false,
            };
            when(!turned, "not the transposed matrix type")
        }
        _ => return None,
    }
    .or_else(|| {
        when(
            item.opcode() != op::COPY_OBJECT && module.limited(item.ty),
            "numbers of 8 or 16 bits are only stored and converted without a capability",
        )
    })
}

/// Whether a type's components are found by index.
fn is_vector(module: &Checked<'_>, ty: u32) -> bool {
    matches!(module.opcode(ty), op::TYPE_VECTOR | op::TYPE_COOPERATIVE_VECTOR_NV)
}

fn walk(module: &Checked<'_>, mut ty: u32, indices: &[u32]) -> Option<u32> {
    for index in indices {
        ty = module.member(ty, Some(*index), true)?;
    }
    Some(ty)
}

/// Checks a composite's constituents against its type.
fn construct(module: &Checked<'_>, item: &Item<'_>) -> Why {
    let ty = module.def(item.ty)?;
    let parts = item.args();
    let types = || parts.iter().map(|id| module.type_of(*id));
    let all = |count: u32, of: u32| parts.len() == count as usize && types().all(|ty| ty == of);
    let fits = match ty.opcode() {
        op::TYPE_STRUCT => types().eq(ty.args().iter().copied()),
        op::TYPE_MATRIX => all(ty.word(3), ty.word(2)),
        // The length of a specialised array is unknown.
        op::TYPE_ARRAY => module.constant(ty.word(3)).is_none_or(|count| all(count, ty.word(2))),
        op::TYPE_VECTOR | op::TYPE_COOPERATIVE_VECTOR_NV => {
            let of = ty.word(2);
            let component = |ty: u32| {
                let vector = module
                    .def(ty)
                    .filter(|t| t.opcode() == op::TYPE_VECTOR && t.word(2) == of);
                if ty == of { Some(1) } else { vector.map(|t| t.word(3)) }
            };
            let count = types()
                .map(component)
                .try_fold(0u64, |sum, count| Some(sum + u64::from(count?)));
            match ty.opcode() {
                op::TYPE_VECTOR => parts.len() >= 2 && count == Some(u64::from(ty.word(3))),
                _ => {
                    let wanted = module.known_word(ty.word(3));
                    count.is_some() && wanted.is_none_or(|wanted| count == Some(u64::from(wanted)))
                }
            }
        }
        op::TYPE_COOPERATIVE_MATRIX_NV | op::TYPE_COOPERATIVE_MATRIX_KHR => all(1, ty.word(2)),
        _ => false,
    };
    when(!fits, "the parts are not those of the type")
}

/// Checks a constant composite's constituents against its type. As in other validators, those of vectors and matrices
/// must be of one kind.
pub(super) fn constant(module: &Checked<'_>, item: &Item<'_>) -> Why {
    let ty = module.def(item.ty)?;
    let parts = item.args();
    let loose = parts
        .iter()
        .find(|id| !module.is_constant(**id) && module.opcode(**id) != op::UNDEF);
    if let Some(id) = loose {
        return Some(format!("%{id} is not a constant"));
    }
    let mut types = parts.iter().map(|id| module.type_of(*id));
    let count = |count: u32| parts.len() == count as usize;
    let fits = match ty.opcode() {
        op::TYPE_STRUCT => types.eq(ty.args().iter().copied()),
        op::TYPE_ARRAY | op::TYPE_COOPERATIVE_VECTOR_NV => {
            let length = module.known_word(ty.word(3));
            length.is_none_or(count) && types.all(|t| t == ty.word(2))
        }
        op::TYPE_VECTOR => count(ty.word(3)) && types.all(|t| module.opcode(t) == module.opcode(ty.word(2))),
        op::TYPE_MATRIX => {
            let column = module.def(ty.word(2));
            let same = |t: u32| {
                let (Some(of), Some(column)) = (module.def(t), column) else {
                    return false;
                };
                of.opcode() == op::TYPE_VECTOR && (of.word(2), of.word(3)) == (column.word(2), column.word(3))
            };
            count(ty.word(3)) && types.all(same)
        }
        op::TYPE_COOPERATIVE_MATRIX_NV | op::TYPE_COOPERATIVE_MATRIX_KHR => count(1) && types.all(|t| t == ty.word(2)),
        _ => item.opcode() == op::CONSTANT_COMPOSITE_REPLICATE_EXT,
    };
    when(!fits, "the parts are not those of the type")
}

fn shuffle(module: &Checked<'_>, item: &Item<'_>) -> Why {
    let vector = |ty: u32| module.def(ty).filter(|t| t.opcode() == op::TYPE_VECTOR);
    let [a, b] = [item.word(3), item.word(4)].map(|id| vector(module.type_of(id)));
    let (Some(a), Some(b), Some(result)) = (a, b, vector(item.ty)) else {
        return Some("shuffles vectors into a vector".to_owned());
    };
    let indices = item.words.get(5..)?;
    let both = a.word(3).saturating_add(b.word(3));
    when(
        a.word(2) != result.word(2) || b.word(2) != result.word(2),
        "vectors of one component type are needed",
    )
    .or_else(|| {
        when(
            indices.len() != result.word(3) as usize,
            "the number of components is not the result type's",
        )
    })
    .or_else(|| {
        let beyond = indices.iter().any(|i| *i != u32::MAX && *i >= both);
        when(beyond, "a component is beyond both vectors")
    })
}

/// Whether two types are equal except for decorations: arrays of one length, structs with such members.
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
        match ((a.opcode(), a.args()), (b.opcode(), b.args())) {
            ((op::TYPE_STRUCT, a), (op::TYPE_STRUCT, b)) if a.len() == b.len() => {
                open.extend(a.iter().copied().zip(b.iter().copied()));
            }
            ((op::TYPE_ARRAY, [a, n]), (op::TYPE_ARRAY, [b, m])) if same(*n, *m) => open.push((*a, *b)),
            _ => return false,
        }
    }
    true
}
