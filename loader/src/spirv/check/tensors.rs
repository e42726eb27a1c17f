//! Layouts and views of tensors, and the loads and stores of matrices that use them.

use super::access::place;
use super::form::{Form, Why, when};
use super::shapes::{self, Row, Want};
use super::{Checked, Item};
use crate::spirv::operand::access_words;
use crate::spirv::{class, op};

const LAYOUT: Want = Want::Of(op::TYPE_TENSOR_LAYOUT_NV);
const VIEW: Want = Want::Of(op::TYPE_TENSOR_VIEW_NV);

const ROWS: [Row; 12] = [
    (op::TYPE_TENSOR_LAYOUT_NV, &[Want::Word, Want::Word]),
    (op::TYPE_TENSOR_VIEW_NV, &[Want::Word, Want::Bool]),
    (op::CREATE_TENSOR_LAYOUT_NV, &[LAYOUT]),
    (op::CREATE_TENSOR_VIEW_NV, &[VIEW]),
    (op::TENSOR_LAYOUT_SET_DIMENSION_NV, &[LAYOUT, LAYOUT]),
    (op::TENSOR_LAYOUT_SET_STRIDE_NV, &[LAYOUT, LAYOUT]),
    (op::TENSOR_LAYOUT_SET_BLOCK_SIZE_NV, &[LAYOUT, LAYOUT]),
    (op::TENSOR_LAYOUT_SLICE_NV, &[LAYOUT, LAYOUT]),
    (op::TENSOR_LAYOUT_SET_CLAMP_VALUE_NV, &[LAYOUT, LAYOUT]),
    (op::TENSOR_VIEW_SET_DIMENSION_NV, &[VIEW, VIEW]),
    (op::TENSOR_VIEW_SET_STRIDE_NV, &[VIEW, VIEW]),
    (op::TENSOR_VIEW_SET_CLIP_NV, &[VIEW, VIEW]),
];

/// Checks a type, a layout or a view of tensors.
pub(super) fn check(module: &Checked<'_>, item: &Item<'_>) -> Why {
    shapes::check(module, item, &ROWS).or_else(|| match item.opcode() {
        op::TYPE_TENSOR_LAYOUT_NV => {
            const REPEAT_MIRRORED: u32 = 4;
            let clamp = module.known_word(item.word(3));
            dimensions(module, item).or_else(|| {
                when(
                    clamp.is_some_and(|clamp| clamp > REPEAT_MIRRORED),
                    "there is no such clamp mode",
                )
            })
        }
        op::TYPE_TENSOR_VIEW_NV => dimensions(module, item).or_else(|| permuted(module, item)),
        op::CREATE_TENSOR_LAYOUT_NV | op::CREATE_TENSOR_VIEW_NV => None,
        _ => values(module, item),
    })
}

/// The number of dimensions of a layout's or view's type, if known.
fn dimension(module: &Checked<'_>, ty: u32) -> Option<u32> {
    module.known_word(module.def(ty)?.word(2))
}

fn dimensions(module: &Checked<'_>, item: &Item<'_>) -> Why {
    let dimension = dimension(module, item.result);
    when(
        dimension.is_some_and(|dimension| !(1..=5).contains(&dimension)),
        "a tensor has 1 to 5 dimensions",
    )
}

/// A view has each dimension once, in any order.
fn permuted(module: &Checked<'_>, item: &Item<'_>) -> Why {
    let order = item.words.get(4..).unwrap_or(&[]);
    let known: Vec<Option<u32>> = order.iter().map(|id| module.known_word(*id)).collect();
    let fits = |count: u32| count as usize == order.len();
    when(
        !dimension(module, item.result).is_none_or(fits),
        "the order has another number of dimensions",
    )
    .or_else(|| words(module, order))
    .or_else(|| {
        let mut seen = [false; 5];
        let fresh = |at: &u32| {
            seen.get_mut(*at as usize)
                .is_some_and(|seen| !std::mem::replace(seen, true))
        };
        let inside = |at: &u32| (*at as usize) < order.len();
        when(
            !known.iter().flatten().all(inside) || !known.iter().flatten().all(fresh),
            "the order does not name each dimension once",
        )
    })
}

/// The values that an instruction gives to a layout or view.
fn values(module: &Checked<'_>, item: &Item<'_>) -> Why {
    let given = item.words.get(4..).unwrap_or(&[]);
    let wanted = match item.opcode() {
        op::TENSOR_LAYOUT_SET_CLAMP_VALUE_NV => Some(1),
        op::TENSOR_VIEW_SET_CLIP_NV => Some(4),
        op::TENSOR_LAYOUT_SLICE_NV => dimension(module, item.ty).map(|count| count.saturating_mul(2)),
        op::TENSOR_LAYOUT_SET_DIMENSION_NV
        | op::TENSOR_LAYOUT_SET_STRIDE_NV
        | op::TENSOR_LAYOUT_SET_BLOCK_SIZE_NV
        | op::TENSOR_VIEW_SET_DIMENSION_NV
        | op::TENSOR_VIEW_SET_STRIDE_NV => dimension(module, item.ty),
        _ => return None,
    };
    when(
        module.type_of(item.word(3)) != item.ty,
        "the operand is not of the result type",
    )
    .or_else(|| {
        when(
            wanted.is_some_and(|wanted| wanted as usize != given.len()),
            "the number of values does not fit the dimensions",
        )
    })
    .or_else(|| words(module, given))
}

fn words(module: &Checked<'_>, ids: &[u32]) -> Why {
    let other = ids.iter().find(|id| module.of(**id) != Form::WORD)?;
    Some(format!("%{other} is not a 32-bit integer"))
}

/// The tensor operands of a load or store of a matrix of a type, after the memory operands.
pub(super) fn addressing(module: &Checked<'_>, item: &Item<'_>, matrix: u32, layout: u32) -> Why {
    const VIEWED: u32 = 1;
    const DECODED: u32 = 2;
    let at = place(module, item)?;
    let at = at + access_words(item.word(at));
    let mask = item.word(at);
    let mut ids = item.words.get(at + 1..).unwrap_or(&[]).iter();
    let view = (mask & VIEWED != 0).then(|| ids.next()).flatten();
    let decode = (mask & DECODED != 0).then(|| ids.next()).flatten();
    when(
        view.is_some_and(|id| module.opcode(module.type_of(*id)) != op::TYPE_TENSOR_VIEW_NV),
        "the view is none of a tensor",
    )
    .or_else(|| {
        let id = *decode?;
        let stores = item.opcode() == op::COOPERATIVE_MATRIX_STORE_TENSOR_NV;
        let wanted = dimension(module, module.type_of(layout));
        let place = |ty: &u32| {
            let array = module.def(*ty).filter(|ty| ty.opcode() == op::TYPE_ARRAY);
            array.is_some_and(|array| {
                let length = module.known_word(array.word(3));
                length.is_none() || wanted.is_none() || length == wanted
            })
        };
        let fits = match module.signature(id) {
            Some([result, from, block, within, ..]) => {
                let physical = module.class_of(*from) == Some(class::PHYSICAL_STORAGE_BUFFER);
                *result == module.component(matrix) && physical && place(block) && place(within)
            }
            _ => false,
        };
        when(stores, "stores decode nothing").or_else(|| {
            when(
                !fits,
                "the function does not decode a component at places in a physical storage buffer",
            )
        })
    })
}
