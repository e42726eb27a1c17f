//! Writes a model in the current dialect.

use super::model::{Model, UniformMember, UniformModel};
use super::types::{Binding, Shape, Stage, Variable};
use super::{FORMAT, HEADER_BYTES, MAGIC, SHADER_TYPE_GRAPHICS, VERSION};
use crate::{Error, Result};

/// Writes a file of the current dialect.
///
/// # Errors
/// Unsupported if a value does not fit the format: a stage of more than 65535 words, a uniform size, member offset or
/// member name beyond its field, a binding whose shape does not match its base type. Other meaningless values are
/// written unchanged.
pub fn write(model: &Model) -> Result<Vec<u8>> {
    let words: usize = model.code.iter().map(Vec::len).sum();
    let mut out = Vec::with_capacity(HEADER_BYTES + 4 * words + 1024);
    out.extend(MAGIC);
    out.extend([VERSION, SHADER_TYPE_GRAPHICS]);
    for stage in Stage::ALL {
        let count = fit(model.code(stage).len(), "words").map_err(|error| error.within(stage))?;
        out.extend(u16::to_le_bytes(count));
    }
    out.extend(model.tables.sizes().iter().flat_map(|size| size.to_le_bytes()));
    put_variables(&mut out, &model.inputs)?;
    put_variables(&mut out, &model.outputs)?;
    put_count(&mut out, model.bindings.len())?;
    for (i, binding) in model.bindings.iter().enumerate() {
        put_binding(&mut out, binding).map_err(|error| error.within(format_args!("binding {i}")))?;
    }
    match &model.uniform {
        None => out.extend(0u16.to_le_bytes()),
        Some(uniform) => put_uniform(&mut out, uniform).map_err(|error| error.within("uniform"))?,
    }
    put_count(&mut out, model.subpass_inputs.len())?;
    for input in &model.subpass_inputs {
        out.extend([input.texel.0, input.components, 0, 0]);
    }
    for code in &model.code {
        out.extend(code.iter().flat_map(|word| word.to_le_bytes()));
    }
    Ok(out)
}

/// Converts a value to the width of its field.
fn fit<T: TryFrom<u64>>(value: impl TryInto<u64>, what: &str) -> Result<T> {
    let value = value.try_into().unwrap_or(u64::MAX);
    T::try_from(value).map_err(|_| {
        let bits = 8 * size_of::<T>();
        Error::unsupported(
            FORMAT,
            format!("{value} {what} do not fit the format's {bits}-bit field"),
        )
    })
}

fn put_count(out: &mut Vec<u8>, count: usize) -> Result<()> {
    let count: u32 = fit(count, "records")?;
    out.extend(count.to_le_bytes());
    Ok(())
}

fn put_variables(out: &mut Vec<u8>, variables: &[Variable]) -> Result<()> {
    put_count(out, variables.len())?;
    for &Variable {
        location,
        base,
        dims: [rows, columns],
        array,
    } in variables
    {
        out.extend([location, base.0, rows, columns, array, 0, 0, 0]);
    }
    Ok(())
}

fn put_binding(out: &mut Vec<u8>, binding: &Binding) -> Result<()> {
    let [s0, s1] = binding.stages.0.to_le_bytes();
    let shape = match binding.shape {
        Shape::Buffer { size } => {
            let [low, high] = size.to_le_bytes();
            [low, high, 0, 0]
        }
        Shape::Texel {
            rank,
            texel,
            size,
            components,
        } => [rank.0, texel.0, size, components],
    };
    if matches!(binding.shape, Shape::Buffer { .. }) != binding.base.is_buffer() {
        let message = format!("a {} binding with the other kind of shape", binding.base);
        return Err(Error::unsupported(FORMAT, message));
    }
    out.extend([binding.slot, binding.base.0, s0, s1]);
    out.extend(shape);
    Ok(())
}

fn put_uniform(out: &mut Vec<u8>, uniform: &UniformModel) -> Result<()> {
    if uniform.size == 0 {
        return Err(Error::unsupported(
            FORMAT,
            "a size of 0, which means that there is no uniform",
        ));
    }
    let size: u16 = fit(uniform.size, "bytes")?;
    out.extend(size.to_le_bytes());
    out.extend(uniform.stages.0.to_le_bytes());
    put_count(out, uniform.members.len())?;
    for (i, member) in uniform.members.iter().enumerate() {
        put_member(out, member).map_err(|error| error.within(format_args!("member {i}")))?;
    }
    Ok(())
}

fn put_member(out: &mut Vec<u8>, member: &UniformMember) -> Result<()> {
    let length: u8 = fit(member.name.len(), "bytes of name")?;
    let offset: u16 = fit(member.offset, "bytes of offset")?;
    let [rows, columns] = member.dims;
    out.push(length);
    out.extend(&member.name);
    out.extend(offset.to_le_bytes());
    out.extend([member.base.0, rows, columns, member.array]);
    Ok(())
}
