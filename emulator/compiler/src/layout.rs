//! Where uniforms, attributes and varyings lie: the symbols' offsets, and the place of each scalar.

use crate::error::{Error, Result};
use crate::interface::Variable;
use crate::ir::range;
use loader::mbs::layout::{Declaration, StorageClass, Type, layout};
use loader::mbs::{Symbol, SymbolType};

/// A table of symbols, and where the scalars of its variables lie.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// The symbols, one for each variable.
    pub symbols: Vec<Symbol>,
    /// Floats they take.
    pub space: u32,
    /// Place of each scalar, in floats.
    pub places: Vec<u32>,
}

/// Lays variables out by the rules of a storage class.
///
/// # Errors
/// When they take more than symbols can say.
pub fn lay_out(variables: &[Variable], class: StorageClass) -> Result<Table> {
    let declarations: Vec<Declaration> = variables
        .iter()
        .map(|variable| Declaration {
            name: variable.name.clone(),
            ty: match variable.kind {
                SymbolType::MATRIX => Type::Matrix(variable.rows as u16),
                kind => Type::Vector(kind, variable.rows as u16),
            },
            entries: variable.entries.min(u32::from(u16::MAX)) as u16,
        })
        .collect();
    let (symbols, space) = layout(&declarations, class);
    if space >= 0xffff {
        return Err(
            Error::unsupported(format!("{space} numbers of uniforms or varyings: symbols reach 65,534"))
                .at(range(variables.last().and_then(|variable| variable.span))),
        );
    }
    let mut places = Vec::new();
    for (variable, symbol) in variables.iter().zip(&symbols) {
        let column = u32::from(symbol.stride) / variable.columns.max(1);
        for element in 0..variable.entries.max(1) {
            for at in 0..variable.columns * variable.rows {
                let (c, r) = (at / variable.rows, at % variable.rows);
                let start = u32::from(symbol.offset) + element * u32::from(symbol.stride);
                places.push(start + c * column + r);
            }
        }
    }
    Ok(Table { symbols, space, places })
}

impl Table {
    /// Place at index 0 and floats from one index to the next, when the elements lie evenly.
    pub fn stride(&self, base: u32, stride: u32, count: u32) -> Option<(u32, u32)> {
        let place = |index: u32| self.places.get((base + index * stride) as usize).copied();
        let first = place(0)?;
        if count < 2 {
            return Some((first, 0));
        }
        let step = place(1)?.checked_sub(first)?;
        let even = (0..count).all(|index| place(index) == Some(first + index * step));
        even.then_some((first, step))
    }
}
