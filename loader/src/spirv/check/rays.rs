//! Operand and result types of ray tracing, mesh and other extension instructions, as a table.

use super::form::{Base, Form, Why};
use super::{Checked, Item, scopes};
use crate::spirv::op;

/// The required type of an operand or result.
#[derive(Clone, Copy, Debug)]
enum Want {
    /// A pointer to a ray query that is a memory object.
    Query,
    /// An acceleration structure.
    Structure,
    /// A number of this form, signed or unsigned.
    Form(Form),
    /// A 32-bit unsigned integer.
    Unsigned,
    /// A constant 32-bit integer that selects the intersection.
    Which,
    /// A variable of one of these storage classes.
    Variable(&'static [u32]),
    /// A matrix of four columns of three floats.
    Matrix,
    /// A 64-bit unsigned integer, or two 32-bit ones.
    Handle,
    /// The scope of a clock.
    Clock,
    /// A scalar or vector of integers or bools.
    Discrete,
    /// The result's type.
    Result,
}

use Want::{Clock, Discrete, Handle, Matrix, Query, Result, Structure, Unsigned, Variable, Which};

const BOOL: Want = Want::Form(Form {
    base: Base::Bool,
    width: 1,
    count: 1,
});
const WORD: Want = Want::Form(Form::WORD);
const FLOAT: Want = Want::Form(Form::FLOAT);
const TWO: Want = Want::Form(Form::FLOAT.times(2));
const THREE: Want = Want::Form(Form::FLOAT.times(3));
const PAYLOAD: Want = Variable(&[5338, 5342]);
const CALLABLE: Want = Variable(&[5328, 5329]);
const TASK: Want = Variable(&[5402]);

/// An opcode, its result type (if checked), and its operands.
type Row = (u16, Option<Want>, &'static [Want]);

const ROWS: &[Row] = &[
    (
        op::RAY_QUERY_INITIALIZE_KHR,
        None,
        &[Query, Structure, WORD, WORD, THREE, FLOAT, THREE, FLOAT],
    ),
    (op::RAY_QUERY_TERMINATE_KHR, None, &[Query]),
    (op::RAY_QUERY_CONFIRM_INTERSECTION_KHR, None, &[Query]),
    (op::RAY_QUERY_GENERATE_INTERSECTION_KHR, None, &[Query, FLOAT]),
    (op::RAY_QUERY_PROCEED_KHR, Some(BOOL), &[Query]),
    (
        op::RAY_QUERY_GET_INTERSECTION_CANDIDATE_AABB_OPAQUE_KHR,
        Some(BOOL),
        &[Query],
    ),
    (
        op::RAY_QUERY_GET_INTERSECTION_FRONT_FACE_KHR,
        Some(BOOL),
        &[Query, Which],
    ),
    (op::RAY_QUERY_GET_INTERSECTION_T_KHR, Some(FLOAT), &[Query, Which]),
    (op::RAY_QUERY_GET_RAY_T_MIN_KHR, Some(FLOAT), &[Query]),
    (op::RAY_QUERY_GET_RAY_FLAGS_KHR, Some(WORD), &[Query]),
    (op::RAY_QUERY_GET_INTERSECTION_TYPE_KHR, Some(WORD), &[Query, Which]),
    (
        op::RAY_QUERY_GET_INTERSECTION_INSTANCE_CUSTOM_INDEX_KHR,
        Some(WORD),
        &[Query, Which],
    ),
    (
        op::RAY_QUERY_GET_INTERSECTION_INSTANCE_ID_KHR,
        Some(WORD),
        &[Query, Which],
    ),
    (
        op::RAY_QUERY_GET_INTERSECTION_INSTANCE_SHADER_BINDING_TABLE_RECORD_OFFSET_KHR,
        Some(WORD),
        &[Query, Which],
    ),
    (
        op::RAY_QUERY_GET_INTERSECTION_GEOMETRY_INDEX_KHR,
        Some(WORD),
        &[Query, Which],
    ),
    (
        op::RAY_QUERY_GET_INTERSECTION_PRIMITIVE_INDEX_KHR,
        Some(WORD),
        &[Query, Which],
    ),
    (
        op::RAY_QUERY_GET_INTERSECTION_OBJECT_RAY_DIRECTION_KHR,
        Some(THREE),
        &[Query, Which],
    ),
    (
        op::RAY_QUERY_GET_INTERSECTION_OBJECT_RAY_ORIGIN_KHR,
        Some(THREE),
        &[Query, Which],
    ),
    (op::RAY_QUERY_GET_WORLD_RAY_DIRECTION_KHR, Some(THREE), &[Query]),
    (op::RAY_QUERY_GET_WORLD_RAY_ORIGIN_KHR, Some(THREE), &[Query]),
    (
        op::RAY_QUERY_GET_INTERSECTION_BARYCENTRICS_KHR,
        Some(TWO),
        &[Query, Which],
    ),
    (
        op::RAY_QUERY_GET_INTERSECTION_OBJECT_TO_WORLD_KHR,
        Some(Matrix),
        &[Query, Which],
    ),
    (
        op::RAY_QUERY_GET_INTERSECTION_WORLD_TO_OBJECT_KHR,
        Some(Matrix),
        &[Query, Which],
    ),
    (
        op::TRACE_RAY_KHR,
        None,
        &[
            Structure, WORD, WORD, WORD, WORD, WORD, THREE, FLOAT, THREE, FLOAT, PAYLOAD,
        ],
    ),
    (op::REPORT_INTERSECTION_KHR, Some(BOOL), &[FLOAT, Unsigned]),
    (op::EXECUTE_CALLABLE_KHR, None, &[Unsigned, CALLABLE]),
    (op::CONVERT_U_TO_ACCELERATION_STRUCTURE_KHR, Some(Structure), &[Handle]),
    (op::EMIT_MESH_TASKS_EXT, None, &[Unsigned, Unsigned, Unsigned, TASK]),
    (op::SET_MESH_OUTPUTS_EXT, None, &[Unsigned, Unsigned]),
    (op::IS_HELPER_INVOCATION_EXT, Some(BOOL), &[]),
    (op::READ_CLOCK_KHR, Some(Handle), &[Clock]),
    (op::ASSUME_TRUE_KHR, None, &[BOOL]),
    (op::EXPECT_KHR, Some(Discrete), &[Result, Result]),
];

/// The first opcode of the table; all core opcodes are lower.
const FIRST: u16 = 4000;

pub(super) fn check(module: &Checked<'_>, item: &Item<'_>) -> Why {
    let of = item.opcode();
    if of < FIRST {
        return None;
    }
    let (_, result, operands) = ROWS.iter().find(|row| row.0 == of)?;
    if let Some(want) = result
        && !of_type(module, item, *want, item.ty)
    {
        return Some("the result is not of the opcode's type".to_owned());
    }
    let pairs = operands.iter().zip(item.args()).enumerate();
    pairs
        .filter(|(_, (want, id))| !fits(module, item, **want, **id))
        .map(|(at, (_, id))| format!("operand {at}, %{id}, has the wrong type for this opcode"))
        .next()
}

fn of_type(module: &Checked<'_>, item: &Item<'_>, want: Want, ty: u32) -> bool {
    match want {
        Want::Form(form) => module.form(ty) == form,
        Structure => module.opcode(ty) == op::TYPE_ACCELERATION_STRUCTURE_KHR,
        Unsigned => module.form(ty) == Form::WORD && module.unsigned(ty),
        Handle => module.handle(ty),
        Discrete => matches!(module.form(ty).base, Base::Int | Base::Bool),
        Result => ty == item.ty,
        Matrix => module.def(ty).is_some_and(|t| {
            t.opcode() == op::TYPE_MATRIX && t.word(3) == 4 && module.form(t.word(2)) == Form::FLOAT.times(3)
        }),
        Query | Which | Variable(_) | Clock => false,
    }
}

fn fits(module: &Checked<'_>, item: &Item<'_>, want: Want, id: u32) -> bool {
    match want {
        Query => {
            let memory = matches!(
                module.opcode(id),
                op::VARIABLE | op::FUNCTION_PARAMETER | op::ACCESS_CHAIN | op::IN_BOUNDS_ACCESS_CHAIN
            );
            let pointee = module.pointer(module.type_of(id)).map_or(0, |(_, pointee)| pointee);
            memory && module.opcode(pointee) == op::TYPE_RAY_QUERY_KHR
        }
        Which => module.of(id) == Form::WORD && module.is_constant(id),
        Variable(classes) => {
            let variable = module.def(id).filter(|def| def.opcode() == op::VARIABLE);
            variable.is_some_and(|def| classes.contains(&def.word(3)))
        }
        // Device or subgroup scope.
        Clock => scopes::scope(module, id).is_ok_and(|scope| scope.is_none_or(|scope| matches!(scope, 1 | 3))),
        _ => of_type(module, item, want, module.type_of(id)),
    }
}

#[cfg(test)]
mod tests {
    use super::{FIRST, ROWS};

    #[test]
    fn rows_are_above_the_first_and_unique() {
        let mut opcodes: Vec<u16> = ROWS.iter().map(|row| row.0).collect();
        assert!(opcodes.iter().all(|opcode| *opcode >= FIRST));
        opcodes.sort_unstable();
        opcodes.dedup();
        assert_eq!(opcodes.len(), ROWS.len());
    }
}
