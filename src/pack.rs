//! What the code of a VBC's stages cannot say, from a file.

use crate::error::{Error, Result};
use loader::vbc::pack::Names;
use loader::vbc::{BaseType, Tables, Variable};
use serde::Deserialize;
use std::collections::BTreeMap;

/// What a names file (TOML) can say:
///
/// ```toml
/// uniform = ["mvp", "tint"]                  # names of the uniform's members, in order
/// tables = { samplers = 16 }                 # table sizes
/// [unused-inputs]                            # inputs the code does not read: location = type, columns x rows
/// 3 = "float2"
/// 4 = "float4x4"
/// 8 = "int[3]"
/// ```
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
struct NamesFile {
    uniform: Vec<String>,
    tables: BTreeMap<String, u16>,
    unused_inputs: BTreeMap<String, String>,
}

/// Reads a names file.
///
/// # Errors
/// Syntax, unknown keys and types.
pub fn names(text: &str) -> Result<Names> {
    let file: NamesFile = toml::from_str(text)?;
    let mut sizes = Tables::default().sizes();
    for (name, size) in &file.tables {
        let table = Tables::NAMES.iter().position(|known| known == name);
        let table = table.ok_or_else(|| {
            Error::usage(format_args!(
                "no table \"{name}\"; there are {}",
                Tables::NAMES.join(", ")
            ))
        })?;
        sizes[table] = *size;
    }
    let unused = file.unused_inputs.iter().map(|(location, ty)| {
        let location = location
            .parse()
            .map_err(|_| Error::usage(format_args!("\"{location}\" is no location")))?;
        variable(location, ty).ok_or_else(|| Error::usage(format_args!("\"{ty}\" is no type of vertex inputs")))
    });
    let unused_inputs = unused.collect::<Result<_>>()?;
    Ok(Names {
        uniform: file.uniform,
        unused_inputs,
        tables: Tables::from_sizes(sizes),
    })
}

/// A vertex input by the name of its type in VSL.
fn variable(location: u8, ty: &str) -> Option<Variable> {
    let (ty, array) = match ty.split_once('[') {
        Some((ty, count)) => (ty, count.strip_suffix(']')?.parse().ok()?),
        None => (ty, 1),
    };
    let split = ty.find(|c: char| c.is_ascii_digit()).unwrap_or(ty.len());
    let base = BaseType::from_name(&ty[..split]).filter(|base| base.is_numeric())?;
    let dims = match ty[split..].split_once('x') {
        Some((columns, rows)) => [rows.parse().ok()?, columns.parse().ok()?],
        None if split == ty.len() => [1, 1],
        None => [ty[split..].parse().ok()?, 1],
    };
    Some(Variable {
        location,
        base,
        dims,
        array,
    })
}
