//! Scalars and vectors taken apart, and how a rule says what is wrong.

use super::Checked;

/// A type taken apart as far as the rules ask.
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

const OTHER: Form = Form {
    base: Base::Other,
    width: 0,
    count: 0,
};

impl Checked<'_> {
    pub(super) fn form(&self, ty: u32) -> Form {
        let Some(item) = self.def(ty) else { return OTHER };
        match item.name() {
            "TypeBool" => Form {
                base: Base::Bool,
                width: 1,
                count: 1,
            },
            "TypeInt" => Form {
                base: Base::Int,
                width: item.word(2),
                count: 1,
            },
            "TypeFloat" => Form {
                base: Base::Float,
                width: item.word(2),
                count: 1,
            },
            // Components of a vector are scalars: no deeper than this.
            "TypeVector" if self.kind(item.word(2)) != "TypeVector" => Form {
                count: item.word(3),
                ..self.form(item.word(2))
            },
            _ => OTHER,
        }
    }

    pub(super) fn of(&self, id: u32) -> Form {
        self.form(self.type_of(id))
    }

    /// Storage class and pointee of a pointer type.
    pub(super) fn pointer(&self, ty: u32) -> Option<(u32, u32)> {
        let item = self.def(ty).filter(|t| t.name() == "TypePointer")?;
        Some((item.word(2), item.word(3)))
    }
}

/// What is wrong, where something is.
pub(super) type Why = Option<String>;

/// `why`, where something is wrong.
pub(super) fn when(wrong: bool, why: &str) -> Why {
    wrong.then(|| why.to_owned())
}
