//! Where the source's variables are: which scalars a pointer names.

use super::builder::Var;
use crate::error::{Error, Result};
use crate::ir::Value;
use naga::{ArraySize, Handle, Module, Type, TypeInner};

/// What a pointer points into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Root {
    /// Scalar variables, the first of them.
    Vars(Var),
    /// Local memory, its first scalar.
    Memory(u32),
    /// Uniforms, the first scalar.
    Uniforms(u32),
}

/// An index that is not known while compiling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dynamic {
    /// The index.
    pub index: Value,
    /// Scalars from one index to the next.
    pub stride: u32,
    /// Indices there are.
    pub count: u32,
}

/// Scalars that a pointer names.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// What it points into.
    pub root: Root,
    /// Scalars from there on.
    pub offset: u32,
    /// Indices that are not known.
    pub dynamic: Vec<Dynamic>,
    /// Whose variable it is, for the list of those that must be in memory.
    pub owner: Owner,
}

/// A variable of the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Owner {
    /// A function's local variable.
    Local(Option<Handle<naga::Function>>, Handle<naga::LocalVariable>),
    /// A global variable.
    Global(Handle<naga::GlobalVariable>),
}

/// Most scalars of a type.
const MAX_SCALARS: u32 = 1 << 14;

/// Most named parts of a variable.
const MAX_ROWS: usize = 256;

/// Scalars that a type takes; textures and samplers take none.
pub fn scalars(module: &Module, ty: Handle<Type>) -> Result<u32> {
    inner_scalars(module, &module.types[ty].inner)
}

/// The numbers and vectors that a variable is made of, in the order of its scalars, with their names and components.
pub fn rows(module: &Module, ty: Handle<Type>, name: &str, rows: &mut Vec<(String, u32)>) {
    if rows.len() >= MAX_ROWS {
        return;
    }
    match module.types[ty].inner {
        TypeInner::Scalar(_) => rows.push((name.to_owned(), 1)),
        TypeInner::Vector { size, .. } => rows.push((name.to_owned(), size as u32)),
        TypeInner::Matrix {
            columns, rows: height, ..
        } => rows.extend((0..columns as u32).map(|column| (format!("{name}[{column}]"), height as u32))),
        TypeInner::Array {
            base,
            size: ArraySize::Constant(count),
            ..
        } => {
            for element in 0..count.get().min(MAX_ROWS as u32) {
                self::rows(module, base, &format!("{name}[{element}]"), rows);
            }
        }
        TypeInner::Struct { ref members, .. } => {
            for (number, member) in members.iter().enumerate() {
                let of = match &member.name {
                    Some(member) => format!("{name}.{member}"),
                    None => format!("{name}.{number}"),
                };
                self::rows(module, member.ty, &of, rows);
            }
        }
        _ => {}
    }
}

/// The same of a type without a handle; of pointers what they point to.
pub fn inner_scalars(module: &Module, inner: &TypeInner) -> Result<u32> {
    let count = match *inner {
        TypeInner::Scalar(_) => 1,
        TypeInner::Vector { size, .. } => size as u32,
        TypeInner::Matrix { columns, rows, .. } => columns as u32 * rows as u32,
        TypeInner::Array { base, size, .. } => {
            let ArraySize::Constant(count) = size else {
                return Err(Error::unsupported("an array whose length is not known"));
            };
            scalars(module, base)?.saturating_mul(count.get())
        }
        TypeInner::Struct { ref members, .. } => {
            let mut sum = 0u32;
            for member in members {
                sum = sum.saturating_add(scalars(module, member.ty)?);
            }
            sum
        }
        TypeInner::Pointer { base, .. } => scalars(module, base)?,
        TypeInner::ValuePointer { size, .. } => size.map_or(1, |size| size as u32),
        TypeInner::Image { .. } | TypeInner::Sampler { .. } => 0,
        TypeInner::Atomic(_) => return Err(Error::unsupported("atomic variables")),
        _ => return Err(Error::unsupported("a type that shaders of this hardware do not have")),
    };
    if count > MAX_SCALARS {
        return Err(Error::limit(format!("a type of {count} numbers")));
    }
    Ok(count)
}

/// Where a part of a composite begins, how many scalars it takes, and how many parts there are.
pub fn part(module: &Module, inner: &TypeInner, index: u32) -> Result<(u32, u32, u32)> {
    Ok(match *inner {
        TypeInner::Pointer { base, .. } => return part(module, &module.types[base].inner, index),
        TypeInner::Vector { size, .. } => (index, 1, size as u32),
        TypeInner::ValuePointer { size, .. } => (index, 1, size.map_or(1, |size| size as u32)),
        TypeInner::Matrix { columns, rows, .. } => (index * rows as u32, rows as u32, columns as u32),
        TypeInner::Array { base, size, .. } => {
            let stride = scalars(module, base)?;
            let count = match size {
                ArraySize::Constant(count) => count.get(),
                _ => return Err(Error::unsupported("an array whose length is not known")),
            };
            (index.saturating_mul(stride), stride, count)
        }
        TypeInner::Struct { ref members, .. } => {
            let mut offset = 0;
            for member in members.iter().take(index as usize) {
                offset += scalars(module, member.ty)?;
            }
            let member = members
                .get(index as usize)
                .ok_or_else(|| Error::invalid("a member that is not there"))?;
            (offset, scalars(module, member.ty)?, members.len() as u32)
        }
        _ => return Err(Error::unsupported("an index into something that has no parts")),
    })
}
