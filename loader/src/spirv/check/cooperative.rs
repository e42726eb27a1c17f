//! Cooperative matrices and vectors: their types, loads and stores, and what computes with them.

use super::access::{Way, access, logical, place};
use super::form::{Form, Why, when};
use super::shapes::{self, Row, SHARED, Want};
use super::{Checked, Item, tensors};
use crate::spirv::{capability, mode, op};
use std::collections::HashSet;

const MATRIX_NV: Want = Want::Of(op::TYPE_COOPERATIVE_MATRIX_NV);
const MATRIX: Want = Want::Of(op::TYPE_COOPERATIVE_MATRIX_KHR);
const VECTOR: Want = Want::Of(op::TYPE_COOPERATIVE_VECTOR_NV);
const LAYOUT: Want = Want::Of(op::TYPE_TENSOR_LAYOUT_NV);

const ROWS: &[Row] = {
    use Want::{ConstantBool, ConstantInt, ConstantWord, Int, NumberType, Pointer};
    use Want::{ToArray, ToNumbers, ToNumbersOrUntyped, Word};
    &[
        (
            op::TYPE_COOPERATIVE_MATRIX_NV,
            &[NumberType, ConstantInt, ConstantInt, ConstantInt],
        ),
        (
            op::TYPE_COOPERATIVE_MATRIX_KHR,
            &[NumberType, ConstantInt, ConstantInt, ConstantInt, ConstantInt],
        ),
        (op::TYPE_COOPERATIVE_VECTOR_NV, &[NumberType, ConstantInt]),
        (
            op::COOPERATIVE_MATRIX_LOAD_NV,
            &[MATRIX_NV, ToNumbers, Int, ConstantBool],
        ),
        (
            op::COOPERATIVE_MATRIX_STORE_NV,
            &[ToNumbers, MATRIX_NV, Int, ConstantBool],
        ),
        (
            op::COOPERATIVE_MATRIX_LOAD_KHR,
            &[MATRIX, ToNumbersOrUntyped, ConstantInt, Int],
        ),
        (
            op::COOPERATIVE_MATRIX_STORE_KHR,
            &[ToNumbersOrUntyped, MATRIX, ConstantInt, Int],
        ),
        (
            op::COOPERATIVE_MATRIX_LOAD_TENSOR_NV,
            &[MATRIX, Pointer, MATRIX, LAYOUT],
        ),
        (op::COOPERATIVE_MATRIX_STORE_TENSOR_NV, &[Pointer, MATRIX, LAYOUT]),
        (op::COOPERATIVE_VECTOR_LOAD_NV, &[VECTOR, ToArray, Int]),
        (op::COOPERATIVE_VECTOR_STORE_NV, &[ToArray, Int, VECTOR]),
        (
            op::COOPERATIVE_MATRIX_MUL_ADD_NV,
            &[MATRIX_NV, MATRIX_NV, MATRIX_NV, MATRIX_NV],
        ),
        (op::COOPERATIVE_MATRIX_MUL_ADD_KHR, &[MATRIX, MATRIX, MATRIX, MATRIX]),
        (op::COOPERATIVE_MATRIX_REDUCE_NV, &[MATRIX, MATRIX]),
        (op::COOPERATIVE_MATRIX_PER_ELEMENT_OP_NV, &[MATRIX, MATRIX]),
        (op::COOPERATIVE_MATRIX_CONVERT_NV, &[MATRIX, MATRIX]),
        (op::COOPERATIVE_MATRIX_TRANSPOSE_NV, &[MATRIX, MATRIX]),
        (
            op::COOPERATIVE_VECTOR_MATRIX_MUL_NV,
            // Input, matrix, M, K, layout, and whether it is transposed.
            &[
                VECTOR,
                VECTOR,
                ConstantWord,
                ToArray,
                Int,
                ConstantWord,
                ConstantWord,
                ConstantWord,
                ConstantWord,
                ConstantBool,
            ],
        ),
        (
            op::COOPERATIVE_VECTOR_MATRIX_MUL_ADD_NV,
            // The same with a bias after the matrix.
            &[
                VECTOR,
                VECTOR,
                ConstantWord,
                ToArray,
                Int,
                ConstantWord,
                ToArray,
                Int,
                ConstantWord,
                ConstantWord,
                ConstantWord,
                ConstantWord,
                ConstantBool,
            ],
        ),
        (
            op::COOPERATIVE_VECTOR_OUTER_PRODUCT_ACCUMULATE_NV,
            &[ToArray, Word, VECTOR, VECTOR, Word, Word, Word],
        ),
        (
            op::COOPERATIVE_VECTOR_REDUCE_SUM_ACCUMULATE_NV,
            &[ToArray, Word, VECTOR],
        ),
    ]
};

/// Words with pointers, and what is done through them.
const THROUGH: [(u16, &[usize], Way); 12] = [
    (op::COOPERATIVE_MATRIX_LOAD_NV, &[3], Way::Load),
    (op::COOPERATIVE_MATRIX_LOAD_KHR, &[3], Way::Load),
    (op::COOPERATIVE_MATRIX_LOAD_TENSOR_NV, &[3], Way::Load),
    (op::COOPERATIVE_VECTOR_LOAD_NV, &[3], Way::Load),
    (op::COOPERATIVE_MATRIX_STORE_NV, &[1], Way::Store),
    (op::COOPERATIVE_MATRIX_STORE_KHR, &[1], Way::Store),
    (op::COOPERATIVE_MATRIX_STORE_TENSOR_NV, &[1], Way::Store),
    (op::COOPERATIVE_VECTOR_STORE_NV, &[1], Way::Store),
    (op::COOPERATIVE_VECTOR_MATRIX_MUL_NV, &[5], Way::Load),
    (op::COOPERATIVE_VECTOR_MATRIX_MUL_ADD_NV, &[5, 8], Way::Load),
    (op::COOPERATIVE_VECTOR_OUTER_PRODUCT_ACCUMULATE_NV, &[1], Way::Copy),
    (op::COOPERATIVE_VECTOR_REDUCE_SUM_ACCUMULATE_NV, &[1], Way::Copy),
];

/// Checks a type or an instruction of cooperative matrices and vectors.
pub(super) fn check(module: &Checked<'_>, item: &Item<'_>) -> Why {
    shapes::check(module, item, ROWS)
        .or_else(|| through(module, item))
        .or_else(|| match item.opcode() {
            op::TYPE_COOPERATIVE_VECTOR_NV => {
                let count = module.def(item.word(3));
                when(
                    count.is_some_and(|count| module.empty(&count)),
                    "the number of components is not above 0",
                )
            }
            op::COOPERATIVE_MATRIX_LOAD_KHR => stride(module, item, 4),
            op::COOPERATIVE_MATRIX_STORE_KHR => stride(module, item, 3),
            op::COOPERATIVE_MATRIX_LOAD_TENSOR_NV => when(
                module.type_of(item.word(4)) != item.ty,
                "the object is not of the result type",
            )
            .or_else(|| tensors::addressing(module, item, item.ty, item.word(5))),
            op::COOPERATIVE_MATRIX_STORE_TENSOR_NV => {
                tensors::addressing(module, item, module.type_of(item.word(2)), item.word(3))
            }
            op::COOPERATIVE_MATRIX_MUL_ADD_NV | op::COOPERATIVE_MATRIX_MUL_ADD_KHR => multiplied(module, item),
            op::COOPERATIVE_MATRIX_REDUCE_NV => reduced(module, item),
            op::COOPERATIVE_MATRIX_PER_ELEMENT_OP_NV => per_element(module, item),
            op::COOPERATIVE_MATRIX_CONVERT_NV | op::COOPERATIVE_MATRIX_TRANSPOSE_NV => converted(module, item),
            op::COOPERATIVE_VECTOR_MATRIX_MUL_NV => vector_multiplied(module, item, 8),
            op::COOPERATIVE_VECTOR_MATRIX_MUL_ADD_NV => vector_multiplied(module, item, 11),
            op::COOPERATIVE_VECTOR_OUTER_PRODUCT_ACCUMULATE_NV => {
                let [a, b] = [3, 4].map(|at| module.component(module.type_of(item.word(at))));
                when(a != b, "the vectors have different component types")
            }
            _ => None,
        })
}

/// The pointers of a load or store.
fn through(module: &Checked<'_>, item: &Item<'_>) -> Why {
    let (_, words, way) = THROUGH.iter().find(|row| row.0 == item.opcode())?;
    // Outside of Vulkan, matrices of the KHR extension are loaded from any storage class.
    let any = matches!(
        item.opcode(),
        op::COOPERATIVE_MATRIX_LOAD_KHR | op::COOPERATIVE_MATRIX_STORE_KHR
    ) && module.vulkan.is_none();
    words.iter().find_map(|word| {
        let id = item.word(*word);
        let class = module.class_of(module.type_of(id))?;
        logical(module, id)
            .or_else(|| {
                when(
                    !any && !SHARED.contains(&class),
                    "the pointer leads neither into workgroup memory nor into a storage buffer",
                )
            })
            .or_else(|| access(module, item, place(module, item)?, &[class], *way))
    })
}

/// Rows and columns in order need a stride. The layout is a word of the instruction.
fn stride(module: &Checked<'_>, item: &Item<'_>, layout: usize) -> Why {
    const ORDERED: [u32; 2] = [0, 1]; // RowMajorKHR, ColumnMajorKHR
    let ordered = module.known_word(item.word(layout));
    when(
        ordered.is_some_and(|layout| ORDERED.contains(&layout)) && item.words.len() <= layout + 1,
        "the layout needs a stride",
    )
}

const SCOPE: usize = 3;
const ROW_COUNT: usize = 4;
const COLUMN_COUNT: usize = 5;
const USE: usize = 6;

const USE_A: u32 = 0;
const USE_B: u32 = 1;
const ACCUMULATOR: u32 = 2;

/// The value of a word of a matrix type, if it is known before specialization.
fn value(module: &Checked<'_>, ty: u32, word: usize) -> Option<u32> {
    module.known_word(*module.def(ty)?.words.get(word)?)
}

/// Whether two values are known and different.
fn differ(a: Option<u32>, b: Option<u32>) -> bool {
    a.is_some() && b.is_some() && a != b
}

/// Whether a matrix type is known to be for another use.
fn other_use(module: &Checked<'_>, ty: u32, wanted: u32) -> bool {
    differ(value(module, ty, USE), Some(wanted))
}

/// A product and sum: the result and the addend have the rows of the first matrix and the columns of the second.
fn multiplied(module: &Checked<'_>, item: &Item<'_>) -> Why {
    let [a, b, c] = [3, 4, 5].map(|at| module.type_of(item.word(at)));
    let apart = |types: &[(u32, usize)]| {
        let known: HashSet<u32> = types
            .iter()
            .filter_map(|(ty, word)| value(module, *ty, *word))
            .collect();
        known.len() > 1
    };
    let sum = |word| [(c, word), (item.ty, word)];
    when(
        apart(&[a, b, c, item.ty].map(|ty| (ty, SCOPE))),
        "the matrices have different scopes",
    )
    .or_else(|| {
        let rows = apart(&[&[(a, ROW_COUNT)][..], &sum(ROW_COUNT)].concat());
        let columns = apart(&[&[(b, COLUMN_COUNT)][..], &sum(COLUMN_COUNT)].concat());
        let inner = apart(&[(a, COLUMN_COUNT), (b, ROW_COUNT)]);
        when(rows || columns || inner, "the matrices' rows and columns do not fit")
    })
    .or_else(|| {
        let uses = [(a, USE_A), (b, USE_B), (c, ACCUMULATOR)];
        when(
            uses.iter().any(|(ty, wanted)| other_use(module, *ty, *wanted)),
            "a matrix is for another use",
        )
    })
}

fn reduced(module: &Checked<'_>, item: &Item<'_>) -> Why {
    const ROW: u32 = 1;
    const COLUMN: u32 = 2;
    const SQUARES: u32 = 4;
    let from = module.type_of(item.word(3));
    let by = item.word(4);
    let component = module.component(item.ty);
    let [rows, columns] = [ROW_COUNT, COLUMN_COUNT].map(|at| (value(module, item.ty, at), value(module, from, at)));
    let halved = |(to, from): (Option<u32>, Option<u32>)| !differ(to, from.map(|from| from / 2));
    let kept = |(to, from)| !differ(to, from);
    let fits = match by {
        SQUARES => halved(rows) && halved(columns),
        ROW => kept(rows),
        COLUMN => kept(columns),
        _ => true,
    };
    when(
        module.component(from) != component,
        "the matrices have different component types",
    )
    .or_else(|| {
        when(
            differ(value(module, item.ty, SCOPE), value(module, from, SCOPE)),
            "the matrices have different scopes",
        )
    })
    .or_else(|| {
        when(
            [item.ty, from].iter().any(|ty| other_use(module, *ty, ACCUMULATOR)),
            "only accumulators are reduced",
        )
    })
    .or_else(|| {
        when(
            by & SQUARES != 0 && by != SQUARES,
            "squares are reduced, or rows and columns",
        )
    })
    .or_else(|| when(!fits, "the result has another number of rows or columns"))
    .or_else(|| {
        let combines = module.signature(item.word(5));
        when(
            combines != Some(&[component; 3]),
            "the function does not combine two components",
        )
    })
}

fn per_element(module: &Checked<'_>, item: &Item<'_>) -> Why {
    let component = module.component(item.ty);
    when(
        module.type_of(item.word(3)) != item.ty,
        "the matrix is not of the result type",
    )
    .or_else(|| {
        let fits = match module.signature(item.word(4)) {
            Some([result, row, column, element, ..]) => {
                let places = [row, column].iter().all(|ty| module.form(**ty) == Form::WORD);
                places && [result, element].iter().all(|ty| **ty == component)
            }
            _ => false,
        };
        when(!fits, "the function does not take row, column and component")
    })
}

/// A conversion to another use, and a transposition.
fn converted(module: &Checked<'_>, item: &Item<'_>) -> Why {
    let from = module.type_of(item.word(3));
    let turned = item.opcode() == op::COOPERATIVE_MATRIX_TRANSPOSE_NV;
    let swapped = if turned {
        [COLUMN_COUNT, ROW_COUNT]
    } else {
        [ROW_COUNT, COLUMN_COUNT]
    };
    let apart = [SCOPE, ROW_COUNT, COLUMN_COUNT]
        .into_iter()
        .zip([SCOPE, swapped[0], swapped[1]])
        .any(|(to, of)| differ(value(module, item.ty, to), value(module, from, of)));
    when(apart, "the matrices differ in scope, rows or columns")
        .or_else(|| {
            when(
                !uses_fit(module, item.ty, from),
                "a matrix of this use is not converted",
            )
        })
        .or_else(|| {
            when(
                !turned && module.component(from) != module.component(item.ty),
                "the matrices have different component types",
            )
        })
        .or_else(|| {
            when(
                turned && other_use(module, item.ty, USE_B),
                "the result is not for use B",
            )
        })
}

/// Whether a conversion may lead from one matrix type's use to another's: with a capability, accumulators become
/// factors.
fn uses_fit(module: &Checked<'_>, to: u32, from: u32) -> bool {
    let freely = module
        .capabilities
        .contains(&capability::COOPERATIVE_MATRIX_CONVERSIONS_NV);
    let [to, from] = [to, from].map(|ty| value(module, ty, USE));
    !differ(to, from) || freely && from == Some(ACCUMULATOR)
}

/// A vector times a matrix of M rows and K columns, which are at a word of the instruction and the next.
fn vector_multiplied(module: &Checked<'_>, item: &Item<'_>, at: usize) -> Why {
    // SignedInt8PackedNV and UnsignedInt8PackedNV: a component holds four.
    const PACKED: [u32; 2] = [1_000_491_000, 1_000_491_001];
    let [m, k] = [at, at + 1].map(|word| module.known_word(item.word(word)));
    let count = |ty| value(module, ty, 3);
    let form = module.form(module.component(item.ty));
    let packed = module.known_word(item.word(4)).is_none_or(|by| PACKED.contains(&by));
    when(
        !(form.int() && form.width == 32 || form.float() && matches!(form.width, 16 | 32)),
        "the result's components are not 32-bit integers or floats of 16 or 32 bits",
    )
    .or_else(|| when(differ(count(item.ty), m), "the result does not have M components"))
    .or_else(|| {
        let input = count(module.type_of(item.word(3)));
        when(!packed && differ(input, k), "the input does not have K components")
    })
}

const GROUPS: [u16; 3] = [
    op::TYPE_COOPERATIVE_MATRIX_NV,
    op::TYPE_COOPERATIVE_MATRIX_KHR,
    op::TYPE_COOPERATIVE_VECTOR_NV,
];

/// Whether two types are cooperative matrices or vectors of one kind and, as far as known, of one shape, of which the
/// use of a matrix is a part.
fn alike(module: &Checked<'_>, a: u32, b: u32) -> bool {
    let (Some(a), Some(b)) = (module.def(a), module.def(b)) else {
        return false;
    };
    let mut shape = a.words.iter().zip(b.words).skip(3);
    GROUPS.contains(&a.opcode())
        && a.opcode() == b.opcode()
        && shape.all(|(a, b)| !differ(module.known_word(*a), module.known_word(*b)))
}

/// Whether two types are the same, or cooperative ones of one shape and component type.
pub(super) fn equal(module: &Checked<'_>, a: u32, b: u32) -> bool {
    a == b || alike(module, a, b) && module.component(a) == module.component(b)
}

/// Instructions that compute each component alone.
const ELEMENTWISE: [u16; 22] = [
    op::S_NEGATE,
    op::F_NEGATE,
    op::I_ADD,
    op::F_ADD,
    op::I_SUB,
    op::F_SUB,
    op::I_MUL,
    op::F_MUL,
    op::U_DIV,
    op::S_DIV,
    op::F_DIV,
    op::U_MOD,
    op::S_REM,
    op::S_MOD,
    op::F_REM,
    op::F_MOD,
    op::SHIFT_RIGHT_LOGICAL,
    op::SHIFT_RIGHT_ARITHMETIC,
    op::SHIFT_LEFT_LOGICAL,
    op::BITWISE_OR,
    op::BITWISE_XOR,
    op::BITWISE_AND,
];

const CONVERSIONS: [u16; 7] = [
    op::CONVERT_F_TO_U,
    op::CONVERT_F_TO_S,
    op::CONVERT_S_TO_F,
    op::CONVERT_U_TO_F,
    op::U_CONVERT,
    op::S_CONVERT,
    op::F_CONVERT,
];

/// Whether an instruction that computes with cooperative types, if it does, has them, and has operands and result of
/// one shape.
pub(super) fn computes(module: &Checked<'_>, item: &Item<'_>) -> bool {
    let (of, from) = (item.opcode(), module.type_of(item.word(3)));
    let [result, operand] = [item.ty, from].map(|ty| module.opcode(ty));
    if !GROUPS.contains(&result) && !GROUPS.contains(&operand) {
        return true;
    }
    let vector = result == op::TYPE_COOPERATIVE_VECTOR_NV;
    if ELEMENTWISE.contains(&of) || of == op::NOT {
        let has = match of {
            op::U_MOD | op::S_REM | op::S_MOD | op::F_REM | op::F_MOD => false,
            op::I_MUL | op::F_MUL => result != op::TYPE_COOPERATIVE_MATRIX_NV,
            op::NOT | op::SHIFT_RIGHT_LOGICAL..=op::BITWISE_AND => vector,
            _ => true,
        };
        return has && item.args().iter().all(|id| alike(module, item.ty, module.type_of(*id)));
    }
    if of == op::BITCAST {
        return alike(module, item.ty, from) && module.form(item.ty).width == module.form(from).width;
    }
    if CONVERSIONS.contains(&of) {
        let shape = [SCOPE, ROW_COUNT, COLUMN_COUNT];
        let apart = |at| differ(value(module, item.ty, at), value(module, from, at));
        return result == operand && !shape.into_iter().any(apart) && uses_fit(module, item.ty, from);
    }
    true
}

/// Matrices of a workgroup need its size, in constants that are declared before their types.
pub(super) fn workgroups(module: &mut Checked<'_>) {
    const WORKGROUP: u32 = 2;
    let mut sized = HashSet::new();
    let mut constants = 0;
    for item in module.items.iter().take_while(|item| item.opcode() != op::FUNCTION) {
        match (item.opcode(), item.word(2)) {
            (op::EXECUTION_MODE, mode::LOCAL_SIZE) => {
                sized.insert(item.word(1));
            }
            (op::EXECUTION_MODE_ID, mode::LOCAL_SIZE_ID) => {
                sized.insert(item.word(1));
                let defined = item.words.iter().skip(3).filter_map(|id| module.def(*id));
                constants = defined.map(|item| item.position).max().unwrap_or(0).max(constants);
            }
            _ => {}
        }
    }
    let mut entries = module.items.iter().filter(|item| item.opcode() == op::ENTRY_POINT);
    let unsized_entry = entries.any(|item| !sized.contains(&item.word(2)));
    for at in 0..module.first_function.min(module.items.len()) {
        let item = module.items[at];
        let matrix = matches!(
            item.opcode(),
            op::TYPE_COOPERATIVE_MATRIX_NV | op::TYPE_COOPERATIVE_MATRIX_KHR
        );
        if !matrix || module.known_word(item.word(SCOPE)) != Some(WORKGROUP) {
            continue;
        }
        if unsized_entry || constants > item.position {
            let why = "a workgroup's matrices need LocalSize or LocalSizeId by constants before them";
            module.fail("type", &item, why);
        }
    }
}
