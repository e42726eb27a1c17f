//! What instructions want of their operands, as rows of tables.

use super::form::{Base, Form, Why};
use super::{Checked, Item};
use crate::spirv::{class, op};

/// What an operand must be. A result type is checked itself, other operands by their types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Want {
    /// Anything: other rules check it.
    Any,
    /// Of a type declared by this opcode.
    Of(u16),
    /// The declaration of a number's type.
    NumberType,
    Bool,
    Int,
    /// A 32-bit integer.
    Word,
    ConstantBool,
    ConstantInt,
    ConstantWord,
    /// A typed pointer.
    Pointer,
    /// A pointer to numbers or vectors of numbers.
    ToNumbers,
    /// [`Want::ToNumbers`] or an untyped pointer.
    ToNumbersOrUntyped,
    /// A pointer to an array of numbers or vectors of numbers.
    ToArray,
}

/// An opcode with what it wants of its result type, if it has one, and of its operands in order. Optional operands may
/// be absent; what follows the last want is not checked.
pub(super) type Row = (u16, &'static [Want]);

/// Checks an instruction by its row, if it has one.
pub(super) fn check(module: &Checked<'_>, item: &Item<'_>, rows: &[Row]) -> Why {
    let (_, wants) = rows.iter().find(|row| row.0 == item.opcode())?;
    let typed = item.row.has_type;
    let ids = typed.then_some(&item.ty).into_iter().chain(item.args());
    let names = item.row.operands.iter().enumerate();
    // The result has a rule, but is no operand.
    let names = names.filter(|(at, _)| !item.row.has_result || *at != usize::from(typed));
    let mut operands = ids.zip(names).zip(*wants).enumerate();
    operands.find_map(|(at, ((id, (_, rule)), want))| {
        let result = typed && at == 0;
        let ty = if result { *id } else { module.type_of(*id) };
        let what = want.unmet(module, *id, ty)?;
        Some(match (result, &*rule.name) {
            (true, _) => format!("the result type is not {what}"),
            (false, "") => format!("operand %{id} is not {what}"),
            (false, name) => format!("{} %{id} is not {what}", name.replace('_', " ")),
        })
    })
}

impl Want {
    /// What an operand of this type should be, if it is not.
    fn unmet(self, module: &Checked<'_>, id: u32, ty: u32) -> Why {
        let form = module.form(ty);
        let constant = module.is_constant(id);
        let pointee = module.pointer(ty).map(|(_, pointee)| pointee);
        let (met, what) = match self {
            Self::Any => return None,
            Self::Of(opcode) => {
                let row = module.grammar.row(opcode);
                let name = row.map_or("", |row| &row.name);
                return (module.opcode(ty) != opcode).then(|| format!("an {name}"));
            }
            Self::NumberType => (
                matches!(module.opcode(id), op::TYPE_INT | op::TYPE_FLOAT),
                "a number's type",
            ),
            Self::Bool => (form.scalar(Base::Bool), "a bool"),
            Self::Int => (form.scalar(Base::Int), "an integer"),
            Self::Word => (form == Form::WORD, "a 32-bit integer"),
            Self::ConstantBool => (form.scalar(Base::Bool) && constant, "a constant bool"),
            Self::ConstantInt => (form.scalar(Base::Int) && constant, "a constant integer"),
            Self::ConstantWord => (form == Form::WORD && constant, "a constant 32-bit integer"),
            Self::Pointer => (pointee.is_some(), "a typed pointer"),
            Self::ToNumbers => (pointee.is_some_and(|to| numbers(module, to)), "a pointer to numbers"),
            Self::ToNumbersOrUntyped => (
                module.untyped(ty) || pointee.is_some_and(|to| numbers(module, to)),
                "a pointer to numbers",
            ),
            Self::ToArray => {
                let array = pointee.and_then(|to| module.def(to));
                let array = array.filter(|ty| matches!(ty.opcode(), op::TYPE_ARRAY | op::TYPE_RUNTIME_ARRAY));
                (
                    array.is_some_and(|array| numbers(module, array.word(2))),
                    "a pointer to an array of numbers",
                )
            }
        };
        (!met).then(|| what.to_owned())
    }
}

/// Whether a type is a number's or a vector of numbers.
fn numbers(module: &Checked<'_>, ty: u32) -> bool {
    let form = module.form(ty);
    (form.int() || form.float()) && form.count >= 1
}

/// Storage classes of buffers and shared memory, through which groups load and store.
pub(super) const SHARED: [u32; 3] = [class::WORKGROUP, class::STORAGE_BUFFER, class::PHYSICAL_STORAGE_BUFFER];
