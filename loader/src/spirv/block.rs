//! The members of a block's struct: offset and type of each number.

use super::{Located, ModuleIndex, decoration, op};
use std::collections::HashMap;

/// Limit on the nesting of types.
const MAX_DEPTH: u32 = 16;

/// Limit on the fields of one block, with nested structs flattened; further ones are dropped. The code refers to each
/// by an index chain, so no real block has as many.
pub const MAX_FIELDS: usize = 1 << 16;

/// Numeric class of a component.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// Signed integer.
    Int,
    /// Unsigned integer.
    Uint,
    /// Floating point.
    Float,
}

/// One member of a struct, flattened out of nested structs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Field {
    /// Bytes from the start of the struct.
    pub offset: u32,
    /// Class of the components.
    pub class: Class,
    /// Rows: the length of a vector, 1 for a scalar.
    pub rows: u32,
    /// Columns of a matrix, else 1.
    pub columns: u32,
    /// Bytes from one column to the next; 0 if it is not a matrix.
    pub matrix_stride: u32,
    /// Elements of an array; 1 if it is not an array.
    pub count: u32,
    /// Bytes from one element to the next; 0 if it is not an array.
    pub array_stride: u32,
}

/// The fields of the struct behind the variable at this descriptor set and binding: the element type of a block that is
/// one runtime array (VBC's buffers), or the block itself.
///
/// `None` if there is no such variable or struct. Members that are not 32-bit numbers are skipped.
pub fn fields(index: &ModuleIndex, set: u32, binding: u32) -> Option<Vec<Field>> {
    let variable = index.globals().find(|v| index.place(v.id) == Some((set, binding)))?;
    fields_of(index, variable.pointee)
}

/// Like [`fields`], for a type: looks through an array of descriptors, the block, and the block's only member if that
/// is an array of structs.
pub fn fields_of(index: &ModuleIndex, ty: u32) -> Option<Vec<Field>> {
    let mut at = ty;
    for _ in 0..MAX_DEPTH {
        let node = index.declaration(at)?;
        let only = (node.operand_count() == 2).then(|| node.operand(1)).flatten();
        match node.opcode {
            op::TYPE_ARRAY | op::TYPE_RUNTIME_ARRAY => at = node.operand(1)?,
            op::TYPE_STRUCT if only.is_some_and(|only| index.opcode(only) == op::TYPE_RUNTIME_ARRAY) => at = only?,
            op::TYPE_STRUCT => {
                let mut found = Vec::new();
                flatten(index, at, 0, 0, &mut found, &mut { MAX_FIELDS });
                return Some(found);
            }
            _ => return None,
        }
    }
    None
}

/// Scalar components of all variables in a storage class, built-in blocks included; saturating. `per_vertex` counts one
/// vertex's share of variables that are arrays over a primitive's vertices.
pub fn components(index: &ModuleIndex, class: u32, per_vertex: bool) -> u32 {
    let mut known = HashMap::new();
    let mut of_variable = |variable: Located| -> u32 {
        let one = match index.operands(variable.pointee, op::TYPE_ARRAY) {
            Some([_, element]) if per_vertex => element,
            _ => variable.pointee,
        };
        components_of(index, one, &mut known, 0)
    };
    let of_class = index.globals().filter(|variable| variable.class == class);
    of_class.map(&mut of_variable).fold(0, u32::saturating_add)
}

/// Scalars in a type; an array of unknown length counts as infinite. Each type is counted once.
fn components_of(index: &ModuleIndex, id: u32, known: &mut HashMap<u32, u32>, depth: u32) -> u32 {
    if depth >= MAX_DEPTH {
        return u32::MAX;
    }
    if let Some(count) = known.get(&id) {
        return *count;
    }
    let mut of = |id: u32| components_of(index, id, known, depth + 1);
    let Some(node) = index.declaration(id) else { return 1 };
    let count = match (node.opcode, node.head()) {
        (op::TYPE_VECTOR | op::TYPE_MATRIX, Some([_, element, count])) => of(element).saturating_mul(count),
        (op::TYPE_ARRAY, Some([_, element, length])) => {
            of(element).saturating_mul(index.constant(length).unwrap_or(u32::MAX))
        }
        (op::TYPE_STRUCT, _) => node.tail(1).map(&mut of).fold(0, u32::saturating_add),
        _ => 1,
    };
    known.insert(id, count);
    count
}

/// Appends the fields of a struct at offset `base`; each member takes one unit of the budget.
fn flatten(index: &ModuleIndex, id: u32, base: u32, depth: u32, found: &mut Vec<Field>, budget: &mut usize) {
    let Some(members) = index.members(id).filter(|_| depth < MAX_DEPTH) else {
        return;
    };
    for (member, ty) in (0u32..).zip(members) {
        let Some(left) = budget.checked_sub(1) else { return };
        *budget = left;
        let get = |kind| index.member_decoration(id, member, kind).unwrap_or(0);
        let offset = base.saturating_add(get(decoration::OFFSET));
        if index.opcode(ty) == op::TYPE_STRUCT {
            flatten(index, ty, offset, depth + 1, found, budget);
        } else if let Some(mut field) = number(index, ty, 0) {
            field.offset = offset;
            if field.columns > 1 {
                field.matrix_stride = get(decoration::MATRIX_STRIDE);
            }
            found.push(field);
        }
    }
}

/// A scalar, vector, matrix or array of them, at offset 0.
fn number(index: &ModuleIndex, id: u32, depth: u32) -> Option<Field> {
    if depth >= MAX_DEPTH {
        return None;
    }
    let scalar = |class| Field {
        offset: 0,
        class,
        rows: 1,
        columns: 1,
        matrix_stride: 0,
        count: 1,
        array_stride: 0,
    };
    let node = index.declaration(id)?;
    let operand = |at: usize| node.operand(at);
    Some(match (node.opcode, operand(1)?) {
        (op::TYPE_INT, 32) if operand(2) == Some(0) => scalar(Class::Uint),
        (op::TYPE_INT, 32) => scalar(Class::Int),
        (op::TYPE_FLOAT, 32) => scalar(Class::Float),
        (op::TYPE_VECTOR, ty) => Field {
            rows: operand(2)?,
            ..number(index, ty, depth + 1)?
        },
        (op::TYPE_MATRIX, ty) => Field {
            columns: operand(2)?,
            ..number(index, ty, depth + 1)?
        },
        (op::TYPE_ARRAY, ty) => Field {
            count: index.constant(operand(2)?)?,
            array_stride: index.decoration(id, decoration::ARRAY_STRIDE).unwrap_or(0),
            ..number(index, ty, depth + 1)?
        },
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Words of one instruction.
    fn op(opcode: u16, operands: &[u32]) -> Vec<u32> {
        let mut words = vec![(operands.len() as u32 + 1) << 16 | u32::from(opcode)];
        words.extend_from_slice(operands);
        words
    }

    #[test]
    fn finds_the_element_of_a_table_of_buffers() {
        let words = [
            vec![super::super::MAGIC, 0x1_0500, 0, 20, 0],
            op(op::DECORATE, &[1, decoration::DESCRIPTOR_SET, 0]),
            op(op::DECORATE, &[1, decoration::BINDING, 2]),
            op(op::DECORATE, &[14, decoration::ARRAY_STRIDE, 4]),
            op(op::MEMBER_DECORATE, &[8, 1, decoration::OFFSET, 36]),
            op(op::MEMBER_DECORATE, &[8, 0, decoration::MATRIX_STRIDE, 12]),
            op(op::MEMBER_DECORATE, &[8, 2, decoration::OFFSET, 48]),
            op(op::TYPE_FLOAT, &[2, 32]),
            op(op::TYPE_VECTOR, &[3, 2, 3]),
            op(op::TYPE_MATRIX, &[4, 3, 3]),
            op(op::TYPE_INT, &[5, 32, 0]),
            op(op::CONSTANT, &[5, 6, 3]),
            op(op::TYPE_ARRAY, &[14, 5, 6]),
            op(op::TYPE_STRUCT, &[8, 4, 3, 14]),
            op(op::TYPE_RUNTIME_ARRAY, &[9, 8]),
            op(op::TYPE_STRUCT, &[10, 9]),
            op(op::TYPE_ARRAY, &[11, 10, 6]),
            op(op::TYPE_POINTER, &[12, 12, 11]),
            op(op::VARIABLE, &[12, 1, 12]),
        ]
        .concat();
        let index = ModuleIndex::new(&words).unwrap();
        let found = fields(&index, 0, 2).unwrap();
        let field = |offset, class, rows, columns, matrix_stride, count, array_stride| Field {
            offset,
            class,
            rows,
            columns,
            matrix_stride,
            count,
            array_stride,
        };
        assert_eq!(
            found,
            [
                field(0, Class::Float, 3, 3, 12, 1, 0),
                field(36, Class::Float, 3, 1, 0, 1, 0),
                field(48, Class::Uint, 1, 1, 0, 3, 4),
            ]
        );
        assert_eq!(fields(&index, 0, 3), None);
    }
}
