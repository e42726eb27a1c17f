//! Properties of the types contained in a type: small numbers, runtime arrays, opaque types.

use super::{Checked, Item};
use crate::spirv::ids::Ids;
use crate::spirv::{capability, class, op};

/// An 8-bit integer.
pub(super) const INT_8: u16 = 1;
/// A 16-bit integer.
pub(super) const INT_16: u16 = 2;
/// A 16-bit float.
pub(super) const FLOAT_16: u16 = 4;
/// A 32-bit integer.
pub(super) const INT_32: u16 = 8;
/// An array of unknown length; not through pointers.
pub(super) const RUNTIME_ARRAY: u16 = 16;
/// An opaque type, accessed by handle; not through pointers.
pub(super) const OPAQUE: u16 = 32;
/// A bool; not through pointers.
pub(super) const BOOL: u16 = 64;

/// A pointer to a physical storage buffer; not through pointers.
pub(super) const ADDRESS: u16 = 128;
/// A cooperative matrix or vector; not through pointers.
pub(super) const COOPERATIVE: u16 = 256;

/// Properties that a pointer does not inherit from its pointee.
const NOT_THROUGH_POINTERS: u16 = RUNTIME_ARRAY | OPAQUE | BOOL | ADDRESS | COOPERATIVE;

/// The contents of each type, in one pass over the declarations.
pub(super) fn of_types(module: &Checked<'_>) -> Ids<u16> {
    let mut held = Ids::new(module.words.len(), module.words[3], 0);
    let mut forward = std::collections::HashSet::new();
    let first = module.first_function.min(module.items.len());
    for item in &module.items[..first] {
        let of = item.opcode();
        if of == op::TYPE_FORWARD_POINTER {
            forward.insert(item.word(1));
            if item.word(2) == class::PHYSICAL_STORAGE_BUFFER {
                held.set(item.word(1), ADDRESS);
            }
        }
        if item.row.is_type() {
            let through = !forward.contains(&item.result);
            held.set(item.result, of_type(item, &held, through));
        }
    }
    held
}

fn of_type(item: &Item<'_>, held: &Ids<u16>, through: bool) -> u16 {
    match item.opcode() {
        op::TYPE_BOOL => BOOL,
        op::TYPE_INT => match item.word(2) {
            8 => INT_8,
            16 => INT_16,
            32 => INT_32,
            _ => 0,
        },
        op::TYPE_FLOAT if item.word(2) == 16 => FLOAT_16,
        op::TYPE_VECTOR | op::TYPE_MATRIX | op::TYPE_ARRAY => held.get(item.word(2)),
        op::TYPE_COOPERATIVE_MATRIX_NV | op::TYPE_COOPERATIVE_MATRIX_KHR | op::TYPE_COOPERATIVE_VECTOR_NV => {
            held.get(item.word(2)) | COOPERATIVE
        }
        op::TYPE_IMAGE | op::TYPE_SAMPLED_IMAGE => held.get(item.word(2)) | OPAQUE,
        op::TYPE_SAMPLER
        | op::TYPE_OPAQUE
        | op::TYPE_EVENT
        | op::TYPE_DEVICE_EVENT
        | op::TYPE_RESERVE_ID
        | op::TYPE_QUEUE
        | op::TYPE_PIPE
        | op::TYPE_PIPE_STORAGE
        | op::TYPE_NAMED_BARRIER => OPAQUE,
        op::TYPE_RUNTIME_ARRAY => held.get(item.word(2)) | RUNTIME_ARRAY,
        op::TYPE_POINTER => {
            let address = if item.word(2) == class::PHYSICAL_STORAGE_BUFFER {
                ADDRESS
            } else {
                0
            };
            let behind = if through { held.get(item.word(3)) } else { 0 };
            behind & !NOT_THROUGH_POINTERS | address
        }
        op::TYPE_STRUCT => item.args().iter().fold(0, |all, id| all | held.get(*id)),
        op::TYPE_FUNCTION => item.args().iter().fold(0, |all, id| all | held.get(*id)) & !NOT_THROUGH_POINTERS,
        _ => 0,
    }
}

/// Bytes of the largest scalar in each type; pointers are 8-byte addresses.
pub(super) fn widest(module: &Checked<'_>) -> Ids<u8> {
    let mut widest = Ids::new(module.words.len(), module.words[3], 0);
    let first = module.first_function.min(module.items.len());
    for item in &module.items[..first] {
        let bytes = match item.opcode() {
            op::TYPE_INT | op::TYPE_FLOAT => (item.word(2) / 8).min(255) as u8,
            op::TYPE_POINTER | op::TYPE_UNTYPED_POINTER_KHR => 8,
            op::TYPE_VECTOR | op::TYPE_MATRIX | op::TYPE_ARRAY | op::TYPE_RUNTIME_ARRAY => widest.get(item.word(2)),
            op::TYPE_STRUCT => item.args().iter().map(|id| widest.get(*id)).max().unwrap_or(0),
            // Declared later.
            op::TYPE_FORWARD_POINTER => {
                widest.set(item.word(1), 8);
                continue;
            }
            _ => continue,
        };
        widest.set(item.result, bytes);
    }
    widest
}

impl Checked<'_> {
    /// Whether a type contains any of these.
    pub(super) fn holds(&self, ty: u32, any: u16) -> bool {
        self.held.get(ty) & any != 0
    }

    /// Whether a shader's type contains numbers that may only be stored and converted, because the capability for
    /// arithmetic on them is missing.
    pub(super) fn limited(&self, ty: u32) -> bool {
        const ROWS: [(u16, u32); 3] = [
            (INT_8, capability::INT_8),
            (INT_16, capability::INT_16),
            (FLOAT_16, capability::FLOAT_16),
        ];
        let held = self.held.get(ty) & (INT_8 | INT_16 | FLOAT_16);
        held != 0
            && self.shader
            && ROWS
                .iter()
                .any(|(kind, capability)| held & kind != 0 && !self.capabilities.contains(capability))
    }
}
