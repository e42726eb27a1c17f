//! Where large shapes begin and end in a row of tiles: tiles of a row follow each other, so that most need not ask a shape's
//! sides.

use super::triangle::{Along, Shape};
use crate::exec::places::SIDE;
use std::ops::Range;

/// Columns of tiles in a row that a shape may touch, and those of them that it covers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Span {
    touched: Range<i64>,
    whole: Range<i64>,
}

/// What a shape has to do with a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// It covers nothing of it.
    Nothing,
    /// It may cover some of it.
    Some,
    /// It covers all of it.
    All,
}

impl Span {
    /// A shape's in a row of tiles.
    pub fn of(shape: &Shape, row: u32) -> Self {
        let bounds = shape.bounds();
        let (first, last) = (row * SIDE, row * SIDE + (SIDE - 1));
        if bounds.min[1] > last || bounds.max[1] < first || (0..2).any(|axis| bounds.min[axis] > bounds.max[axis]) {
            return Self::default();
        }
        let side = i64::from(SIDE);
        let [min, max] = [bounds.min[0], bounds.max[0]].map(i64::from);
        let mut touched = min / side..max / side + 1;
        // Columns all of whose pixels are within bounds, if the row's are.
        let mut whole = match bounds.min[1] <= first && bounds.max[1] >= last {
            true => (min + (side - 1)) / side..(max + 1) / side,
            false => 0..0,
        };
        for along in shape.along(first) {
            let Along { step, least, most } = along;
            touched = both(touched, not_negative(step, most));
            whole = both(whole, not_negative(step, least));
        }
        Self { touched, whole }
    }

    /// What the shape has to do with the tile in a column.
    #[inline]
    pub fn at(&self, column: u32) -> Part {
        let column = i64::from(column);
        match (self.whole.contains(&column), self.touched.contains(&column)) {
            (true, _) => Part::All,
            (_, true) => Part::Some,
            _ => Part::Nothing,
        }
    }

    /// The first column behind one from which on it may have to do something else with tiles.
    pub fn until(&self, column: u32) -> u32 {
        let end = match self.at(column) {
            Part::All => self.whole.end,
            Part::Some => i64::from(column) + 1,
            Part::Nothing if i64::from(column) < self.touched.start => self.touched.start,
            Part::Nothing => i64::MAX,
        };
        u32::try_from(end).unwrap_or(u32::MAX)
    }
}

fn both(a: Range<i64>, b: Range<i64>) -> Range<i64> {
    a.start.max(b.start)..a.end.min(b.end)
}

/// Columns for which `first + column * step` is not negative.
fn not_negative(step: i64, first: i64) -> Range<i64> {
    match (step, first) {
        (0, 0..) => 0..i64::MAX,
        (0, _) => 0..0,
        (1.., 0..) => 0..i64::MAX,
        (1.., _) => -(first.div_euclid(step))..i64::MAX,
        (_, 0..) => 0..first / -step + 1,
        _ => 0..0,
    }
}

#[cfg(test)]
mod tests {
    use super::super::triangle::Coverage;
    use super::*;
    use crate::gpu::primitives::Bounds;
    use crate::gpu::primitives::Primitive;
    use fastrand::Rng;

    /// Spans say of every tile what the shape itself says.
    #[test]
    fn spans_are_what_shapes_cover() {
        let mut random = Rng::with_seed(5);
        let mut seen = [0; 3];
        for round in 0..4000 {
            let size = [40.0, 300.0, 3000.0, 300000.0][round % 4];
            let mut at = || {
                [(); 2].map(|()| {
                    let at = (random.f32() - 0.3) * size;
                    if random.bool() { at } else { (at / 16.0).round() * 16.0 }
                })
            };
            let shape = [at(), at(), at()];
            let bounds = Bounds {
                min: [random.u32(..40), random.u32(..40)],
                max: [random.u32(..400), random.u32(..400)],
            };
            let Some(shape) = Shape::new(&Primitive::covering(shape, [0; 3], 0), bounds) else {
                continue;
            };
            let mut coverage = Coverage::default();
            for row in 0..26 {
                let span = Span::of(&shape, row);
                for column in 0..26 {
                    shape.cover([column * SIDE, row * SIDE], false, &mut coverage);
                    let part = span.at(column);
                    let until = span.until(column);
                    assert!(until > column);
                    (column..until.min(column + 5)).for_each(|column| assert_eq!(span.at(column), part));
                    seen[part as usize] += 1;
                    match coverage.whole() {
                        true => assert_eq!(part, Part::All, "{shape:?} {column} {row}"),
                        false if coverage.is_empty() => assert_ne!(part, Part::All, "{shape:?} {column} {row}"),
                        false => assert_eq!(part, Part::Some, "{shape:?} {column} {row}"),
                    }
                }
            }
        }
        assert!(seen.iter().all(|count| *count > 10000), "{seen:?}");
    }
}
