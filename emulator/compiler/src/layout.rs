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

#[cfg(test)]
mod tests {
    use super::*;

    fn variable(name: &str, kind: SymbolType, [rows, columns, entries]: [u32; 3], first: u32) -> Variable {
        Variable {
            name: name.to_owned(),
            kind,
            rows,
            columns,
            entries,
            first,
            span: None,
        }
    }

    fn places(kind: SymbolType, shape: [u32; 3], class: StorageClass) -> Vec<u32> {
        let table = lay_out(&[variable("a", kind, shape, 0)], class).expect("a table");
        assert_eq!(table.symbols.len(), 1);
        assert!(table.space > *table.places.last().expect("places"));
        table.places
    }

    /// Columns of matrices and elements of arrays of a vertex program are vec4s apart: docs/spec/mbs.md, section 4.
    #[test]
    fn scalars_have_places() {
        let (float, matrix) = (SymbolType::FLOAT, SymbolType::MATRIX);
        for class in [StorageClass::GpUniform, StorageClass::Attribute] {
            assert_eq!(places(float, [4, 1, 0], class), [0, 1, 2, 3]);
            assert_eq!(places(float, [3, 1, 0], class), [0, 1, 2]);
            assert_eq!(places(matrix, [4, 4, 0], class), (0..16).collect::<Vec<_>>());
            assert_eq!(places(matrix, [3, 3, 0], class), [0, 1, 2, 4, 5, 6, 8, 9, 10]);
        }
        assert_eq!(
            places(float, [4, 1, 2], StorageClass::GpUniform),
            (0..8).collect::<Vec<_>>()
        );
        let list = places(matrix, [4, 4, 2], StorageClass::GpUniform);
        assert_eq!((list.len(), list[16], list[31]), (32, 16, 31));
        // Variables do not share places.
        let many = [
            variable("a", float, [3, 1, 0], 0),
            variable("b", float, [1, 1, 5], 3),
            variable("c", matrix, [2, 2, 3], 8),
            variable("d", float, [2, 1, 0], 20),
        ];
        let table = lay_out(&many, StorageClass::GpUniform).expect("a table");
        let mut distinct = table.places.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!((distinct.len(), table.places.len()), (22, 22));
    }

    #[test]
    fn strides_are_those_of_elements_that_lie_evenly() {
        let table = Table {
            places: vec![0, 1, 4, 5, 8, 9, 20, 3],
            ..Table::default()
        };
        assert_eq!(table.stride(0, 2, 3), Some((0, 4)));
        assert_eq!(table.stride(1, 2, 3), Some((1, 4)));
        assert_eq!(table.stride(0, 1, 2), Some((0, 1)));
        assert_eq!(table.stride(0, 2, 4), None, "the last is further away");
        assert_eq!(table.stride(6, 1, 2), None, "it lies before the first");
        assert_eq!(table.stride(6, 1, 1), Some((20, 0)));
        assert_eq!(table.stride(4, 2, 3), None, "there are no more");
        assert_eq!(table.stride(8, 1, 1), None);
    }

    #[test]
    fn symbols_reach_so_far() {
        let long = |entries: u32| {
            lay_out(
                &[variable("a", SymbolType::FLOAT, [4, 1, entries], 0)],
                StorageClass::GpUniform,
            )
        };
        assert!(long(16_000).is_ok());
        let error = long(16_384).unwrap_err();
        assert!(error.message().contains("65,534"), "{error:?}");
    }
}
