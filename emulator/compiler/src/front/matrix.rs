//! Matrices: products, transposes, determinants, inverses.

use super::{Frame, Front, Walk};
use crate::error::Error;
use crate::ir::{Op, Value};
use naga::{BinaryOperator, Expression, Handle, MathFunction, TypeInner};

impl<'a> Front<'a> {
    /// A product with a matrix in it; nothing when there is none.
    pub(super) fn matrix_product(
        &mut self,
        frame: &mut Frame<'a>,
        left: Handle<Expression>,
        right: Handle<Expression>,
    ) -> Walk<Option<Vec<Value>>> {
        let shape = |inner: &TypeInner| match *inner {
            TypeInner::Matrix { columns, rows, .. } => Some((columns as usize, rows as usize)),
            _ => None,
        };
        let vector = |inner: &TypeInner| matches!(inner, TypeInner::Vector { .. });
        let (a, b) = (self.inner(frame, left), self.inner(frame, right));
        let product = match (shape(a), shape(b)) {
            (Some(shape), None) if vector(b) => {
                let vector = self.flat(frame, right)?;
                self.times_vector(frame, left, shape, &vector)?
            }
            (None, Some((columns, rows))) if vector(a) => {
                let (vector, matrix) = (self.flat(frame, left)?, self.flat(frame, right)?);
                let column = |at: usize| &matrix[at * rows..(at + 1) * rows];
                (0..columns).map(|at| self.dot(&vector, column(at))).collect()
            }
            (Some((inner, rows)), Some((columns, _))) => {
                let (a, b) = (self.flat(frame, left)?, self.flat(frame, right)?);
                let column = |at: usize| &b[at * inner..(at + 1) * inner];
                let mut values = Vec::new();
                for at in 0..columns {
                    values.extend(self.columns(&a, rows, column(at)));
                }
                values
            }
            _ => return Ok(None),
        };
        Ok(Some(product))
    }

    /// Matrix times vector; a product of matrices in front of it is taken apart, which saves most of the work.
    fn times_vector(
        &mut self,
        frame: &mut Frame<'a>,
        matrix: Handle<Expression>,
        (_, rows): (usize, usize),
        vector: &[Value],
    ) -> Walk<Vec<Value>> {
        if let Expression::Binary {
            op: BinaryOperator::Multiply,
            left,
            right,
        } = frame.function.expressions[matrix]
            && let (TypeInner::Matrix { rows: outer, .. }, TypeInner::Matrix { rows: inner, .. }) =
                (self.inner(frame, left), self.inner(frame, right))
        {
            let (outer, inner) = (*outer as usize, *inner as usize);
            let vector = self.times_vector(frame, right, (0, inner), vector)?;
            return self.times_vector(frame, left, (0, outer), &vector);
        }
        let matrix = self.flat(frame, matrix)?;
        Ok(self.columns(&matrix, rows, vector))
    }

    /// The columns of a matrix, each times a number, summed up.
    fn columns(&mut self, matrix: &[Value], rows: usize, vector: &[Value]) -> Vec<Value> {
        let mut sum: Vec<Value> = Vec::new();
        // The last column first: of positions it is the one that is only added.
        for (at, factor) in vector.iter().enumerate().rev() {
            self.b.tag = self.b.fresh_tag();
            let column: Vec<Value> = matrix[at * rows..(at + 1) * rows]
                .iter()
                .map(|value| self.b.op(Op::Mul, &[*value, *factor]))
                .collect();
            if sum.is_empty() {
                sum = column;
                continue;
            }
            self.b.tag = self.b.fresh_tag();
            sum = column
                .into_iter()
                .zip(sum)
                .map(|(a, b)| self.b.op(Op::Add, &[a, b]))
                .collect();
        }
        sum
    }

    pub(super) fn matrix_function(
        &mut self,
        frame: &Frame<'a>,
        fun: MathFunction,
        arg: Handle<Expression>,
        a: &[Value],
    ) -> Walk<Vec<Value>> {
        let TypeInner::Matrix { columns, rows, .. } = *self.inner(frame, arg) else {
            return Err(Error::invalid("a matrix is wanted").into());
        };
        let (columns, rows) = (columns as usize, rows as usize);
        if fun == MathFunction::Transpose {
            return Ok((0..rows)
                .flat_map(|row| (0..columns).map(move |column| a[column * rows + row]))
                .collect());
        }
        let indices: Vec<usize> = (0..columns).collect();
        let determinant = self.minor(a, rows, &indices, &indices);
        if fun == MathFunction::Determinant {
            return Ok(vec![determinant]);
        }
        let inverse = self.b.op(Op::Rcp, &[determinant]);
        let mut values = Vec::new();
        for column in 0..columns {
            for row in 0..rows {
                let without =
                    |skip: usize| -> Vec<usize> { indices.iter().copied().filter(|at| *at != skip).collect() };
                let minor = self.minor(a, rows, &without(row), &without(column));
                let scaled = self.b.op(Op::Mul, &[minor, inverse]);
                values.push(if (row + column) % 2 == 1 {
                    self.b.op(Op::Neg, &[scaled])
                } else {
                    scaled
                });
            }
        }
        Ok(values)
    }

    /// The determinant of some columns and rows.
    fn minor(&mut self, a: &[Value], rows: usize, of_columns: &[usize], of_rows: &[usize]) -> Value {
        let Some((column, columns)) = of_columns.split_first() else {
            return self.b.number(1.0);
        };
        let mut sum = self.b.number(0.0);
        for (at, row) in of_rows.iter().enumerate() {
            let rest: Vec<usize> = of_rows.iter().copied().filter(|other| other != row).collect();
            let minor = self.minor(a, rows, columns, &rest);
            let product = self.b.op(Op::Mul, &[a[column * rows + row], minor]);
            sum = if at % 2 == 0 {
                self.b.op(Op::Add, &[sum, product])
            } else {
                self.subtract(sum, product)
            };
        }
        sum
    }
}
