//! Decomposed scalar and vector types, and the result type of rules.

use super::{Checked, Item};
use crate::spirv::op;

/// The base of a type, as far as the rules distinguish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Base {
    Bool,
    Int,
    Float,
    Other,
}

/// Scalar base, width and component count of a scalar or vector type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Form {
    pub(super) base: Base,
    pub(super) width: u32,
    pub(super) count: u32,
}

impl Form {
    /// A 32-bit integer.
    pub(super) const WORD: Self = Self {
        base: Base::Int,
        width: 32,
        count: 1,
    };

    /// A 32-bit float.
    pub(super) const FLOAT: Self = Self {
        base: Base::Float,
        width: 32,
        count: 1,
    };

    /// A vector of this many components of the same kind.
    pub(super) const fn times(self, count: u32) -> Self {
        Self { count, ..self }
    }

    pub(super) fn int(self) -> bool {
        self.base == Base::Int
    }

    pub(super) fn float(self) -> bool {
        self.base == Base::Float
    }

    /// Whether it is a scalar of this base.
    pub(super) fn scalar(self, base: Base) -> bool {
        self.base == base && self.count == 1
    }
}

const OTHER: Form = Form {
    base: Base::Other,
    width: 0,
    count: 0,
};

impl Checked<'_> {
    pub(super) fn form(&self, ty: u32) -> Form {
        let Some(item) = self.def(ty) else { return OTHER };
        match item.opcode() {
            op::TYPE_BOOL => Form {
                base: Base::Bool,
                width: 1,
                count: 1,
            },
            op::TYPE_INT => Form {
                base: Base::Int,
                width: item.word(2),
                count: 1,
            },
            op::TYPE_FLOAT => Form {
                base: Base::Float,
                width: item.word(2),
                count: 1,
            },
            // Components of a vector are scalars, so there is no deeper recursion.
            op::TYPE_VECTOR if matches!(self.opcode(item.word(2)), op::TYPE_BOOL | op::TYPE_INT | op::TYPE_FLOAT) => {
                Form {
                    count: item.word(3),
                    ..self.form(item.word(2))
                }
            }
            // The number per invocation is unknown, and that of a vector before specialization.
            op::TYPE_COOPERATIVE_MATRIX_NV | op::TYPE_COOPERATIVE_MATRIX_KHR | op::TYPE_COOPERATIVE_VECTOR_NV
                if matches!(self.opcode(item.word(2)), op::TYPE_INT | op::TYPE_FLOAT) =>
            {
                Form {
                    count: 0,
                    ..self.form(item.word(2))
                }
            }
            _ => OTHER,
        }
    }

    pub(super) fn of(&self, id: u32) -> Form {
        self.form(self.type_of(id))
    }

    /// The component type of a scalar, vector or matrix; 0 for others.
    pub(super) fn component(&self, ty: u32) -> u32 {
        match self.def(ty) {
            Some(item) => match item.opcode() {
                op::TYPE_INT | op::TYPE_FLOAT | op::TYPE_BOOL => ty,
                op::TYPE_VECTOR
                | op::TYPE_COOPERATIVE_MATRIX_NV
                | op::TYPE_COOPERATIVE_MATRIX_KHR
                | op::TYPE_COOPERATIVE_VECTOR_NV => item.word(2),
                op::TYPE_MATRIX => self.def(item.word(2)).map_or(0, |column| column.word(2)),
                _ => 0,
            },
            None => 0,
        }
    }

    /// Whether the components are unsigned integers.
    pub(super) fn unsigned(&self, ty: u32) -> bool {
        let integer = self
            .def(self.component(ty))
            .filter(|item| item.opcode() == op::TYPE_INT);
        integer.is_some_and(|item| item.word(3) == 0)
    }

    /// Whether a type holds an address: 64 bits, or two unsigned 32-bit integers.
    pub(super) fn handle(&self, ty: u32) -> bool {
        let form = self.form(ty);
        self.unsigned(ty) && (form.width, form.count) == (64, 1) || self.unsigned(ty) && form == Form::WORD.times(2)
    }

    /// Whether an id is a constant, specialisation constants included.
    pub(super) fn is_constant(&self, id: u32) -> bool {
        self.def(id).is_some_and(|item| {
            let of = item.opcode();
            (op::CONSTANT_TRUE..=op::SPEC_CONSTANT_OP).contains(&of)
        })
    }

    /// Whether an id is a constant 32-bit unsigned integer that is not specialisable.
    pub(super) fn constant_word(&self, id: u32) -> bool {
        self.opcode(id) == op::CONSTANT && self.of(id) == Form::WORD && self.unsigned(self.type_of(id))
    }

    /// The value of a 32-bit integer constant that is not specialisable.
    pub(super) fn known_word(&self, id: u32) -> Option<u32> {
        if self.of(id) != Form::WORD {
            return None;
        }
        match self.opcode(id) {
            op::CONSTANT => Some(self.def(id)?.word(3)),
            op::CONSTANT_NULL => Some(0),
            _ => None,
        }
    }

    /// Whether a length is zero or negative.
    pub(super) fn empty(&self, length: &Item<'_>) -> bool {
        match length.opcode() {
            op::CONSTANT_NULL => true,
            op::CONSTANT | op::SPEC_CONSTANT => {
                let words = length.args();
                let signed = self.def(length.ty).is_some_and(|ty| ty.word(3) == 1);
                let negative = words.last().is_some_and(|word| word >> 31 == 1);
                words.iter().all(|word| *word == 0) || signed && negative
            }
            _ => false,
        }
    }

    /// Storage class and pointee of a pointer type.
    pub(super) fn pointer(&self, ty: u32) -> Option<(u32, u32)> {
        let item = self.def(ty).filter(|t| t.opcode() == op::TYPE_POINTER)?;
        Some((item.word(2), item.word(3)))
    }
}

/// What is wrong, if anything.
pub(super) type Why = Option<String>;

/// `Some(why)` if `wrong`.
pub(super) fn when(wrong: bool, why: &str) -> Why {
    wrong.then(|| why.to_owned())
}
