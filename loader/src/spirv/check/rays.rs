//! Operand and result types of ray tracing, mesh and other extension instructions, as a table.

use super::form::{Base, Form, Why};
use super::{Checked, Item, scopes};

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
type Row = (&'static str, Option<Want>, &'static [Want]);

const ROWS: &[Row] = &[
    (
        "RayQueryInitializeKHR",
        None,
        &[Query, Structure, WORD, WORD, THREE, FLOAT, THREE, FLOAT],
    ),
    ("RayQueryTerminateKHR", None, &[Query]),
    ("RayQueryConfirmIntersectionKHR", None, &[Query]),
    ("RayQueryGenerateIntersectionKHR", None, &[Query, FLOAT]),
    ("RayQueryProceedKHR", Some(BOOL), &[Query]),
    ("RayQueryGetIntersectionCandidateAABBOpaqueKHR", Some(BOOL), &[Query]),
    ("RayQueryGetIntersectionFrontFaceKHR", Some(BOOL), &[Query, Which]),
    ("RayQueryGetIntersectionTKHR", Some(FLOAT), &[Query, Which]),
    ("RayQueryGetRayTMinKHR", Some(FLOAT), &[Query]),
    ("RayQueryGetRayFlagsKHR", Some(WORD), &[Query]),
    ("RayQueryGetIntersectionTypeKHR", Some(WORD), &[Query, Which]),
    (
        "RayQueryGetIntersectionInstanceCustomIndexKHR",
        Some(WORD),
        &[Query, Which],
    ),
    ("RayQueryGetIntersectionInstanceIdKHR", Some(WORD), &[Query, Which]),
    (
        "RayQueryGetIntersectionInstanceShaderBindingTableRecordOffsetKHR",
        Some(WORD),
        &[Query, Which],
    ),
    ("RayQueryGetIntersectionGeometryIndexKHR", Some(WORD), &[Query, Which]),
    ("RayQueryGetIntersectionPrimitiveIndexKHR", Some(WORD), &[Query, Which]),
    (
        "RayQueryGetIntersectionObjectRayDirectionKHR",
        Some(THREE),
        &[Query, Which],
    ),
    (
        "RayQueryGetIntersectionObjectRayOriginKHR",
        Some(THREE),
        &[Query, Which],
    ),
    ("RayQueryGetWorldRayDirectionKHR", Some(THREE), &[Query]),
    ("RayQueryGetWorldRayOriginKHR", Some(THREE), &[Query]),
    ("RayQueryGetIntersectionBarycentricsKHR", Some(TWO), &[Query, Which]),
    ("RayQueryGetIntersectionObjectToWorldKHR", Some(Matrix), &[Query, Which]),
    ("RayQueryGetIntersectionWorldToObjectKHR", Some(Matrix), &[Query, Which]),
    (
        "TraceRayKHR",
        None,
        &[
            Structure, WORD, WORD, WORD, WORD, WORD, THREE, FLOAT, THREE, FLOAT, PAYLOAD,
        ],
    ),
    ("ReportIntersectionKHR", Some(BOOL), &[FLOAT, Unsigned]),
    ("ExecuteCallableKHR", None, &[Unsigned, CALLABLE]),
    ("ConvertUToAccelerationStructureKHR", Some(Structure), &[Handle]),
    ("EmitMeshTasksEXT", None, &[Unsigned, Unsigned, Unsigned, TASK]),
    ("SetMeshOutputsEXT", None, &[Unsigned, Unsigned]),
    ("IsHelperInvocationEXT", Some(BOOL), &[]),
    ("ReadClockKHR", Some(Handle), &[Clock]),
    ("AssumeTrueKHR", None, &[BOOL]),
    ("ExpectKHR", Some(Discrete), &[Result, Result]),
];

/// The first opcode of the table; all core opcodes are lower.
const FIRST: u32 = 4000;

pub(super) fn check(module: &Checked<'_>, item: &Item<'_>) -> Why {
    if item.row.opcode < FIRST {
        return None;
    }
    let name = item.name();
    let (_, result, operands) = ROWS.iter().find(|row| row.0 == name)?;
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
        Structure => module.kind(ty) == "TypeAccelerationStructureKHR",
        Unsigned => module.form(ty) == Form::WORD && module.unsigned(ty),
        Handle => module.handle(ty),
        Discrete => matches!(module.form(ty).base, Base::Int | Base::Bool),
        Result => ty == item.ty,
        Matrix => module.def(ty).is_some_and(|t| {
            t.name() == "TypeMatrix" && t.word(3) == 4 && module.form(t.word(2)) == Form::FLOAT.times(3)
        }),
        Query | Which | Variable(_) | Clock => false,
    }
}

fn fits(module: &Checked<'_>, item: &Item<'_>, want: Want, id: u32) -> bool {
    match want {
        Query => {
            let memory = matches!(
                module.kind(id),
                "Variable" | "FunctionParameter" | "AccessChain" | "InBoundsAccessChain"
            );
            let pointee = module.pointer(module.type_of(id)).map_or(0, |(_, pointee)| pointee);
            memory && module.kind(pointee) == "TypeRayQueryKHR"
        }
        Which => module.of(id) == Form::WORD && module.is_constant(id),
        Variable(classes) => {
            let variable = module.def(id).filter(|def| def.name() == "Variable");
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
    use crate::spirv::Grammar;

    #[test]
    fn rows_have_the_names_of_the_grammar() {
        for (name, ..) in ROWS {
            let row = Grammar::builtin().row_named(&format!("Op{name}")).expect(name);
            assert!(row.opcode >= FIRST, "{name}");
            // Of aliases, the name that opcodes are looked up by.
            let opcode = row.opcode as u16;
            assert_eq!(Grammar::builtin().row(opcode).map(|row| &*row.name), Some(&*row.name));
        }
    }
}
