//! Functions, parameters, calls and terminators.

use super::form::{Base, Form, Why, when};
use super::{Checked, Item, constants, maxima, memory};
use crate::spirv::{capability, class, decoration as dec, op};

/// The context of an instruction.
#[derive(Clone, Copy)]
pub(super) struct Place {
    /// Item index of the enclosing function, or the last one before.
    pub(super) function: usize,
    /// Number of the function's parameters up to this instruction, inclusive.
    pub(super) parameters: usize,
}

/// Checks an instruction of a function's structure.
pub(super) fn functions(module: &Checked<'_>, item: &Item<'_>, place: Place) -> Why {
    let owner = module.items[place.function];
    match item.opcode() {
        op::FUNCTION => {
            let ty = module.def(item.word(4)).filter(|t| t.opcode() == op::TYPE_FUNCTION);
            when(
                ty.is_none_or(|t| t.word(2) != item.ty),
                "the function type returns something else",
            )
        }
        op::FUNCTION_PARAMETER => parameter(module, item, &owner, place),
        op::FUNCTION_CALL => call(module, item),
        op::RETURN => when(module.opcode(owner.ty) != op::TYPE_VOID, "the function returns a value"),
        op::RETURN_VALUE => when(
            module.type_of(item.word(1)) != owner.ty,
            "the value has not the function's return type",
        )
        .or_else(|| {
            when(
                module.opcode(owner.ty) == op::TYPE_VOID,
                "the function returns no value",
            )
        })
        .or_else(|| {
            let pointer = !module.physical && module.class_of(owner.ty).is_some();
            when(pointer && !module.variable_pointers(), "a function returns a pointer")
        }),
        op::BRANCH_CONDITIONAL => when(
            !module.of(item.word(1)).scalar(Base::Bool),
            "the condition is not a bool",
        )
        .or_else(|| when(!matches!(item.words.len(), 4 | 6), "two weights or none")),
        op::SWITCH => switch(module, item),
        op::LOOP_MERGE => loop_control(item),
        op::PHI => phi(module, item),
        op::LINE => when(module.opcode(item.word(1)) != op::STRING, "names no string"),
        op::EMIT_STREAM_VERTEX | op::END_STREAM_PRIMITIVE => {
            let stream = item.word(1);
            when(
                !module.of(stream).scalar(Base::Int) || !module.is_constant(stream),
                "the stream is not a constant integer",
            )
        }
        op::GROUP_DECORATE | op::GROUP_MEMBER_DECORATE => when(
            module.opcode(item.word(1)) != op::DECORATION_GROUP,
            "no decoration group",
        ),
        op::COOPERATIVE_MATRIX_LENGTH_NV | op::COOPERATIVE_MATRIX_LENGTH_KHR => {
            let of = match item.opcode() {
                op::COOPERATIVE_MATRIX_LENGTH_NV => op::TYPE_COOPERATIVE_MATRIX_NV,
                _ => op::TYPE_COOPERATIVE_MATRIX_KHR,
            };
            let same = module.opcode(item.word(3)) == of;
            let word = module.form(item.ty) == Form::WORD && module.unsigned(item.ty);
            when(!word, "the result is not a 32-bit unsigned integer")
                .or_else(|| when(!same, "is not about a cooperative matrix type"))
        }
        op::SAMPLER_IMAGE_ADDRESSING_MODE_NV => when(!matches!(item.word(1), 32 | 64), "addresses have 32 or 64 bits"),
        op::LIFETIME_START | op::LIFETIME_STOP => {
            let class = module.pointer(module.type_of(item.word(1))).map(|(class, _)| class);
            let untyped = module.opcode(module.type_of(item.word(1))) == op::TYPE_UNTYPED_POINTER_KHR;
            when(class.is_none() && !untyped, "is of no pointer").or_else(|| {
                when(
                    !untyped && class != Some(class::FUNCTION),
                    "is of a variable of a function",
                )
            })
        }
        op::S_DOT..=op::SU_DOT_ACC_SAT if module.shader => dot(module, item),
        op::UNDEF => when(
            module.limited(item.ty) && module.opcode(item.ty) != op::TYPE_POINTER,
            "numbers of 8 or 16 bits are only stored and converted without a capability",
        ),
        _ => None,
    }
}

/// Integer dot products need a capability for their vector type.
fn dot(module: &Checked<'_>, item: &Item<'_>) -> Why {
    const ALL: u32 = 6016; // DotProductInputAll
    const BYTES: u32 = 6017; // DotProductInput4x8Bit
    const PACKED: u32 = 6018; // DotProductInput4x8BitPacked
    let of = module.of(item.word(3));
    let wanted: &[u32] = match (of.count, of.width) {
        (1, _) => &[PACKED],
        (4, 8) => &[ALL, BYTES],
        _ => &[ALL],
    };
    let have = wanted.iter().any(|capability| module.capabilities.contains(capability));
    when(!have, "vectors of this kind need a capability")
}

fn parameter(module: &Checked<'_>, item: &Item<'_>, owner: &Item<'_>, place: Place) -> Why {
    let signature = module.def(owner.word(4));
    let wanted = signature.and_then(|t| t.args().get(place.parameters).copied());
    if wanted != Some(item.ty) {
        return Some("the function type has another parameter there".to_owned());
    }
    let ty = module.elements(item.ty);
    let (_, pointee) = module.pointer(ty)?;
    memory::to_buffer(module, ty, item.result, [dec::ALIASED, dec::RESTRICT]).or_else(|| {
        let direct = module
            .pointer(ty)
            .is_some_and(|(class, _)| class == class::PHYSICAL_STORAGE_BUFFER);
        if direct {
            return None;
        }
        memory::to_buffer(
            module,
            pointee,
            item.result,
            [dec::ALIASED_POINTER, dec::RESTRICT_POINTER],
        )
    })
}

fn call(module: &Checked<'_>, item: &Item<'_>) -> Why {
    let callee = module.def(item.word(3)).filter(|f| f.opcode() == op::FUNCTION);
    let Some(callee) = callee else {
        return Some("calls no function".to_owned());
    };
    let ty = module.def(callee.word(4))?;
    let given = item.words.get(4..)?;
    let wanted = ty.args().get(1..).unwrap_or(&[]);
    when(
        callee.ty != item.ty || !wanted.iter().copied().eq(given.iter().map(|id| module.type_of(*id))),
        "arguments or result are not those of the function type",
    )
    .or_else(|| given.iter().find_map(|id| pointer_argument(module, *id)))
}

/// Without physical addressing, pointer arguments are whole memory objects or variable pointers.
fn pointer_argument(module: &Checked<'_>, id: u32) -> Why {
    let class = module.class_of(module.type_of(id)).filter(|_| !module.physical)?;
    let variable = match class {
        class::STORAGE_BUFFER => module.variable_pointers(),
        class::WORKGROUP => module.capabilities.contains(&capability::VARIABLE_POINTERS),
        _ => class == class::UNIFORM_CONSTANT,
    };
    let passed = match class {
        class::UNIFORM_CONSTANT | class::FUNCTION | class::PRIVATE | class::WORKGROUP | class::ATOMIC_COUNTER => true,
        class::STORAGE_BUFFER => variable,
        _ => false,
    };
    let whole = matches!(
        module.opcode(id),
        op::VARIABLE | op::UNTYPED_VARIABLE_KHR | op::FUNCTION_PARAMETER
    );
    when(!passed, &format!("%{id} points to a storage class that is not passed"))
        .or_else(|| when(!whole && !variable, &format!("%{id} points into a variable")))
}

/// Loop hints that exclude each other.
fn loop_control(item: &Item<'_>) -> Why {
    const UNROLL: u32 = 0x1;
    const DONT_UNROLL: u32 = 0x2;
    const ITERATION_MULTIPLE: u32 = 0x40;
    const PEEL_COUNT: u32 = 0x80;
    const PARTIAL_COUNT: u32 = 0x100;
    let control = item.word(3);
    let unrolled = control & (UNROLL | PEEL_COUNT | PARTIAL_COUNT) != 0;
    // DependencyLength (8), MinIterations and MaxIterations precede it with one operand each.
    let before = (control & 0x38).count_ones() as usize;
    when(
        control & DONT_UNROLL != 0 && unrolled,
        "DontUnroll excludes the unrolling hints",
    )
    .or_else(|| {
        when(
            control & ITERATION_MULTIPLE != 0 && item.word(4 + before) == 0,
            "IterationMultiple is not above 0",
        )
    })
}

fn switch(module: &Checked<'_>, item: &Item<'_>) -> Why {
    let ty = module.type_of(item.word(1));
    let form = module.form(ty);
    if !form.scalar(Base::Int) {
        return Some("the selector is not an integer".to_owned());
    }
    let step = form.width.div_ceil(32).max(1) as usize;
    let cases = item.words.get(3..)?.chunks_exact(step + 1);
    if cases.len() > maxima::CASES {
        return Some(format!("more than {} cases", maxima::CASES));
    }
    cases
        .map(|case| case[step - 1])
        .find_map(|top| constants::narrow(module, ty, top))
}

fn phi(module: &Checked<'_>, item: &Item<'_>) -> Why {
    let pointer = module.class_of(item.ty).is_some() && !module.physical;
    let opaque = matches!(
        module.opcode(item.ty),
        op::TYPE_SAMPLED_IMAGE | op::TYPE_IMAGE | op::TYPE_SAMPLER
    );
    let bindless = module.capabilities.contains(&capability::BINDLESS_TEXTURE_NV);
    let bad = item
        .args()
        .chunks_exact(2)
        .find(|pair| module.type_of(pair[0]) != item.ty);
    when(
        pointer && !module.variable_pointers(),
        "selecting pointers needs variable pointers",
    )
    .or_else(|| {
        when(
            opaque && module.shader && !bindless,
            "images and samplers cannot be selected",
        )
    })
    .or_else(|| bad.map(|pair| format!("%{} has another type", pair[0])))
}
