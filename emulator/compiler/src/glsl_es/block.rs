//! Uniforms as members of one block: a block for Vulkan, and a VBC's above all, takes numbers, vectors, matrices and arrays
//! of them. Structs become a member for each of theirs (`light.colour` is `light_colour`), arrays of structs arrays of each
//! member, arrays of arrays one array; truth values become integers, matrices of two rows arrays of columns.

use crate::error::{Error, Result};
use naga::{ArraySize, Handle, Module, Scalar, ScalarKind, Span, StructMember, Type, TypeInner, VectorSize};

/// Elements that all arrays of a uniform may have together: far more than a Mali-400 has room for.
const MOST: u32 = 1024;

/// A member of the block, whichever module it is in.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Leaf {
    /// A number, vector or matrix.
    pub inner: TypeInner,
    /// How many, where it is an array.
    pub count: Option<u32>,
}

impl Leaf {
    /// The type in a module. Elements are at multiples of 16 bytes, which every rule of layout takes.
    pub(super) fn insert(&self, module: &mut Module) -> Handle<Type> {
        let add = |module: &mut Module, inner| module.types.insert(Type { name: None, inner }, Span::UNDEFINED);
        let base = add(module, self.inner.clone());
        let Some(count) = self.count.and_then(std::num::NonZeroU32::new) else {
            return base;
        };
        let stride = self.inner.size(module.to_ctx()).next_multiple_of(16);
        let size = ArraySize::Constant(count);
        add(module, TypeInner::Array { base, size, stride })
    }
}

/// The name of a struct's member behind that of the struct.
pub(super) fn below(name: &str, member: &StructMember, number: usize) -> String {
    match &member.name {
        Some(member) => format!("{name}_{member}"),
        None => format!("{name}_{number}"),
    }
}

/// The elements of an array whose size is a number.
pub(super) fn fixed(size: ArraySize) -> Option<u32> {
    match size {
        ArraySize::Constant(count) => Some(count.get()),
        _ => None,
    }
}

/// The members that a uniform becomes, with their names.
///
/// # Errors
/// Unsupported, for what is neither a number nor made of numbers, and for more elements than any program has.
pub(super) fn leaves(name: &str, module: &Module, ty: Handle<Type>) -> Result<Vec<(String, Leaf)>> {
    let mut found = Vec::new();
    add(name, module, ty, None, &mut found)?;
    Ok(found)
}

fn add(
    name: &str,
    module: &Module,
    ty: Handle<Type>,
    count: Option<u32>,
    found: &mut Vec<(String, Leaf)>,
) -> Result<()> {
    let leaf = |inner, count| (name.to_owned(), Leaf { inner, count });
    let integer = Scalar {
        kind: ScalarKind::Sint,
        width: 4,
    };
    let is_bool = |scalar: Scalar| scalar.kind == ScalarKind::Bool;
    found.push(match module.types[ty].inner.clone() {
        TypeInner::Scalar(scalar) if is_bool(scalar) => leaf(TypeInner::Scalar(integer), count),
        TypeInner::Vector { size, scalar } if is_bool(scalar) => {
            leaf(TypeInner::Vector { size, scalar: integer }, count)
        }
        TypeInner::Matrix {
            columns,
            rows: rows @ VectorSize::Bi,
            scalar,
        } => {
            let columns = columns as u32 * count.unwrap_or(1);
            leaf(TypeInner::Vector { size: rows, scalar }, Some(columns))
        }
        inner @ (TypeInner::Scalar(_) | TypeInner::Vector { .. } | TypeInner::Matrix { .. }) => leaf(inner, count),
        TypeInner::Struct { members, .. } => {
            for (number, member) in members.iter().enumerate() {
                add(&below(name, member, number), module, member.ty, count, found)?;
            }
            return Ok(());
        }
        TypeInner::Array { base, size, .. } => {
            let all = fixed(size).and_then(|size| size.checked_mul(count.unwrap_or(1)));
            let Some(all) = all.filter(|all| *all <= MOST) else {
                return Err(Error::unsupported(format!(
                    "the uniform {name}: arrays of a block for Vulkan have {MOST} elements at most"
                )));
            };
            return add(name, module, base, Some(all), found);
        }
        _ => {
            return Err(Error::unsupported(format!(
                "the uniform {name}: a block for Vulkan takes numbers, vectors, matrices, arrays and structs of them"
            )));
        }
    });
    Ok(())
}
