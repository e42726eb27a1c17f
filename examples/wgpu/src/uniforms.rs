//! The uniform block: members by the file's names, at their offsets in WGSL.

use crate::stage::Stage;
use crate::{Error, Result};
use loader::reflect::UniformLayout;
use translate::naga::{ArraySize, Handle, Module, ScalarKind, Type, TypeInner};

/// A member that the application sets.
#[derive(Clone, Debug, PartialEq)]
struct Member {
    name: String,
    kind: ScalarKind,
    /// Byte offset of each value in the block: columns of matrices and elements of arrays in order.
    places: Vec<u32>,
}

/// The block's members and bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct Uniforms {
    members: Vec<Member>,
    bytes: Vec<u8>,
}

impl Uniforms {
    /// The stages' uniform block, initially zero; `None` if they have none.
    pub(crate) fn of(stages: &[&Stage], layout: Option<&UniformLayout>) -> Result<Option<Self>> {
        let mut found: Option<Self> = None;
        for stage in stages {
            let Some(variable) = stage.uniform else { continue };
            let module = &stage.shader.module;
            let block = Self::read(module, module.global_variables[variable].ty, layout)?;
            if found.as_ref().is_some_and(|other| *other != block) {
                return Err(Error::Unsupported(
                    "stages that lay out their uniform block differently".to_owned(),
                ));
            }
            found = Some(block);
        }
        Ok(found)
    }

    fn read(module: &Module, mut ty: Handle<Type>, layout: Option<&UniformLayout>) -> Result<Self> {
        // VBC's block is a struct in a struct.
        let (members, span) = loop {
            match &module.types[ty].inner {
                TypeInner::Struct { members, span } => match &members[..] {
                    [only] if only.name.is_none() => ty = only.ty,
                    _ => break (members, *span),
                },
                _ => return Err(Error::Unsupported("a uniform that is not a block".to_owned())),
            }
        };
        let mut block = Self {
            members: Vec::new(),
            // Uniform buffers are bound in units of 16 bytes.
            bytes: vec![0; span.next_multiple_of(16) as usize],
        };
        for member in members {
            let Some(name) = member.name.clone() else { continue };
            let mut places = Vec::new();
            let Some(kind) = numbers(module, member.ty, member.offset, &mut places) else {
                return Err(Error::Unsupported(format!("the type of the uniform member {name}")));
            };
            // Both sources of the number of values must agree.
            let declared = layout.and_then(|layout| layout.members.iter().find(|member| member.name == name));
            if declared.is_none_or(|member| member.rows * member.columns * member.array != places.len() as u32) {
                return Err(Error::Unsupported(format!(
                    "the uniform member {name}: reflection and code disagree"
                )));
            }
            block.members.push(Member { name, kind, places });
        }
        Ok(block)
    }

    /// Names of the members, each with its number of values.
    pub fn members(&self) -> impl Iterator<Item = (&str, usize)> {
        self.members
            .iter()
            .map(|member| (&member.name[..], member.places.len()))
    }

    /// Sets a member; matrices column by column.
    ///
    /// # Errors
    /// If there is no such member, or it has another number of values.
    pub fn set(&mut self, name: &str, values: &[f32]) -> Result<()> {
        let Some(member) = self.members.iter().find(|member| member.name == name) else {
            let names: Vec<_> = self.members().map(|(name, _)| name).collect();
            let message = format!("no uniform member \"{name}\"; there are: {}", names.join(", "));
            return Err(Error::Input(message));
        };
        if member.places.len() != values.len() {
            let (has, given) = (member.places.len(), values.len());
            return Err(Error::Input(format!(
                "the uniform member {name} has {has} numbers, not {given}"
            )));
        }
        for (place, value) in member.places.iter().zip(values) {
            let word = match member.kind {
                ScalarKind::Float => value.to_bits(),
                ScalarKind::Sint => (*value as i32).cast_unsigned(),
                _ => *value as u32,
            };
            self.bytes[*place as usize..][..4].copy_from_slice(&word.to_le_bytes());
        }
        Ok(())
    }

    /// The buffer's contents.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// Byte offsets of a value's scalars, and their kind; `None` for types that are not numeric.
fn numbers(module: &Module, ty: Handle<Type>, at: u32, places: &mut Vec<u32>) -> Option<ScalarKind> {
    match &module.types[ty].inner {
        TypeInner::Scalar(scalar) if scalar.width == 4 => {
            places.push(at);
            Some(scalar.kind)
        }
        TypeInner::Vector { size, scalar } if scalar.width == 4 => {
            places.extend((0..*size as u32).map(|row| at + 4 * row));
            Some(scalar.kind)
        }
        TypeInner::Matrix { columns, rows, scalar } if scalar.width == 4 => {
            let step = if *rows as u32 == 2 { 8 } else { 16 };
            for column in 0..*columns as u32 {
                places.extend((0..*rows as u32).map(|row| at + step * column + 4 * row));
            }
            Some(scalar.kind)
        }
        TypeInner::Array {
            base,
            size: ArraySize::Constant(size),
            stride,
        } => {
            let mut kind = None;
            for element in 0..size.get() {
                kind = Some(numbers(module, *base, at + stride * element, places)?);
            }
            kind
        }
        _ => None,
    }
}
