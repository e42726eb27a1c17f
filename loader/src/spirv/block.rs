//! The members of a block's struct as the code declares them: where each number lies and what it is.

use super::{decoration, instructions, op};
use std::collections::HashMap;

/// Deepest nesting of types that is followed.
const MAX_DEPTH: u32 = 16;

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
    /// Bytes from one column to the next; 0 for what is no matrix.
    pub matrix_stride: u32,
    /// Elements of an array; 1 when it is none.
    pub count: u32,
    /// Bytes from one element to the next; 0 for what is no array.
    pub array_stride: u32,
}

/// Types, constants and decorations of a module, by id; borrowed from its words.
#[derive(Debug, Default)]
struct Types<'a> {
    defined: HashMap<u32, (u16, &'a [u32])>,
    decorated: HashMap<(u32, u32), u32>,
    members: HashMap<(u32, u32, u32), u32>,
    variables: Vec<(u32, u32)>,
}

/// The fields of the struct behind the variable at this descriptor set and binding: the element of a block that is
/// one runtime array (VBC's buffers), or the block itself.
///
/// `None` where no variable or no struct is there. What is not a 32-bit number is left out.
pub fn fields(words: &[u32], set: u32, binding: u32) -> Option<Vec<Field>> {
    let types = Types::of(words);
    let place = |id: u32, kind: u32| types.decorated.get(&(id, kind)).copied();
    let (pointer, _) = *types.variables.iter().find(|(_, id)| {
        place(*id, decoration::DESCRIPTOR_SET) == Some(set) && place(*id, decoration::BINDING) == Some(binding)
    })?;
    let mut at = types.pointee(pointer)?;
    // Through the array of descriptors, the block, and the block's only member where that is an array of structs.
    for _ in 0..MAX_DEPTH {
        match types.defined.get(&at)? {
            (op::TYPE_ARRAY | op::TYPE_RUNTIME_ARRAY, operands) => at = *operands.first()?,
            (op::TYPE_STRUCT, [only]) if types.is(*only, op::TYPE_RUNTIME_ARRAY) => at = *only,
            (op::TYPE_STRUCT, _) => {
                let mut found = Vec::new();
                types.flatten(at, 0, 0, &mut found);
                return Some(found);
            }
            _ => return None,
        }
    }
    None
}

/// Scalar components of all variables in a storage class, built-in blocks included; saturating. `per_vertex` takes one
/// vertex's share of variables that lie in an array over a primitive's vertices.
pub fn components(words: &[u32], class: u32, per_vertex: bool) -> u32 {
    let types = Types::of(words);
    let of_variable = |(pointer, _): &(u32, u32)| -> u32 {
        let (Some((op::TYPE_POINTER, [found, ..])), Some(pointee)) =
            (types.defined.get(pointer), types.pointee(*pointer))
        else {
            return 0;
        };
        let one = match types.defined.get(&pointee) {
            Some((op::TYPE_ARRAY, [element, ..])) if per_vertex => *element,
            _ => pointee,
        };
        if *found == class { types.components(one, 0) } else { 0 }
    };
    types.variables.iter().map(of_variable).fold(0, u32::saturating_add)
}

impl<'a> Types<'a> {
    /// Scalars in a type; an array of no known length counts as endless.
    fn components(&self, id: u32, depth: u32) -> u32 {
        if depth >= MAX_DEPTH {
            return u32::MAX;
        }
        let of = |id: &u32| self.components(*id, depth + 1);
        match self.defined.get(&id) {
            Some((op::TYPE_VECTOR | op::TYPE_MATRIX, [element, count])) => of(element).saturating_mul(*count),
            Some((op::TYPE_ARRAY, [element, length])) => {
                of(element).saturating_mul(self.constant(*length).unwrap_or(u32::MAX))
            }
            Some((op::TYPE_STRUCT, members)) => members.iter().map(of).fold(0, u32::saturating_add),
            _ => 1,
        }
    }

    fn of(words: &'a [u32]) -> Self {
        let mut types = Self::default();
        for instruction in instructions(words).flatten() {
            match (instruction.opcode, instruction.operands()) {
                (op::TYPE_INT..=op::TYPE_POINTER, [id, rest @ ..]) => {
                    types.defined.insert(*id, (instruction.opcode, rest));
                }
                (op::CONSTANT, [_, id, rest @ ..]) => {
                    types.defined.insert(*id, (op::CONSTANT, rest));
                }
                (op::VARIABLE, [pointer, id, ..]) => types.variables.push((*pointer, *id)),
                (op::DECORATE, [id, kind, value, ..]) => {
                    types.decorated.insert((*id, *kind), *value);
                }
                (op::MEMBER_DECORATE, [id, member, kind, value, ..]) => {
                    types.members.insert((*id, *member, *kind), *value);
                }
                _ => {}
            }
        }
        types
    }

    fn is(&self, id: u32, opcode: u16) -> bool {
        self.defined.get(&id).is_some_and(|(found, _)| *found == opcode)
    }

    fn pointee(&self, pointer: u32) -> Option<u32> {
        match self.defined.get(&pointer)? {
            (op::TYPE_POINTER, [_, pointee]) => Some(*pointee),
            _ => None,
        }
    }

    fn constant(&self, id: u32) -> Option<u32> {
        match self.defined.get(&id)? {
            (op::CONSTANT, [value]) => Some(*value),
            _ => None,
        }
    }

    /// Appends the fields of a struct that begins at `base`.
    fn flatten(&self, id: u32, base: u32, depth: u32, found: &mut Vec<Field>) {
        let Some((op::TYPE_STRUCT, members)) = self.defined.get(&id) else {
            return;
        };
        if depth >= MAX_DEPTH {
            return;
        }
        for (member, ty) in (0u32..).zip(*members) {
            let get = |kind| self.members.get(&(id, member, kind)).copied().unwrap_or(0);
            let offset = base.saturating_add(get(decoration::OFFSET));
            if self.is(*ty, op::TYPE_STRUCT) {
                self.flatten(*ty, offset, depth + 1, found);
            } else if let Some(mut field) = self.number(*ty, 0) {
                field.offset = offset;
                if field.columns > 1 {
                    field.matrix_stride = get(decoration::MATRIX_STRIDE);
                }
                found.push(field);
            }
        }
    }

    /// A scalar, vector, matrix or array of them, at offset 0.
    fn number(&self, id: u32, depth: u32) -> Option<Field> {
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
        Some(match self.defined.get(&id)? {
            (op::TYPE_INT, [32, 0, ..]) => scalar(Class::Uint),
            (op::TYPE_INT, [32, ..]) => scalar(Class::Int),
            (op::TYPE_FLOAT, [32, ..]) => scalar(Class::Float),
            (op::TYPE_VECTOR, [ty, rows]) => Field {
                rows: *rows,
                ..self.number(*ty, depth + 1)?
            },
            (op::TYPE_MATRIX, [ty, columns]) => Field {
                columns: *columns,
                ..self.number(*ty, depth + 1)?
            },
            (op::TYPE_ARRAY, [ty, length]) => {
                let array_stride = self
                    .decorated
                    .get(&(id, decoration::ARRAY_STRIDE))
                    .copied()
                    .unwrap_or(0);
                Field {
                    count: self.constant(*length)?,
                    array_stride,
                    ..self.number(*ty, depth + 1)?
                }
            }
            _ => return None,
        })
    }
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
        let found = fields(&words, 0, 2).unwrap();
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
        assert_eq!(fields(&words, 0, 3), None);
    }
}
