//! Where fragments are: in the picture, and seen from where the planes of their primitive have their base, which is
//! [`Inputs::offset`] of each.

use super::inputs::Inputs;
use super::{MAX_FRAGMENTS, Quad};
use num::lanes::Lanes;

/// Pixels of a tile's side.
pub const SIDE: u32 = 16;

/// Columns and rows of a tile's fragments from its first one, quad beside quad, row by row.
static TILE: [[f32; MAX_FRAGMENTS]; 2] = {
    let mut places = [[0.0; MAX_FRAGMENTS]; 2];
    let mut number = 0;
    while number < MAX_FRAGMENTS {
        let quad = number / 4;
        places[0][number] = (quad % 8 * 2 + number % 2) as f32;
        places[1][number] = (quad / 8 * 2 + number % 4 / 2) as f32;
        number += 1;
    }
    places
};

/// Whether these are a tile's quads, row by row, from its `from`th on.
pub(crate) fn is_of_tile(quads: &[Quad], from: usize) -> bool {
    let Some(first) = quads.first() else {
        return false;
    };
    let [left, top] = [first.x & !15, first.y & !15];
    (from..).zip(quads).all(|(number, quad)| {
        let number = number as u32;
        (quad.x, quad.y) == (left + number % 8 * 2, top + number / 8 * 2)
    })
}

/// Columns and rows of as many of a tile's fragments as there is room for, from the `from`th on: those from `first`, seen
/// from `origin`.
#[inline(always)]
pub(crate) fn of_tile<L: Lanes>(first: [f32; 2], from: usize, origin: [f32; 2], into: [&mut [f32]; 2]) {
    for (axis, into) in into.into_iter().enumerate() {
        of_axis::<L>(axis, first[axis], from, origin[axis], into);
    }
}

/// The same on one axis.
#[inline(always)]
pub(crate) fn of_axis<L: Lanes>(axis: usize, first: f32, from: usize, origin: f32, into: &mut [f32]) {
    let (start, origin) = (L::splat(first), L::splat(origin));
    let pattern = &TILE[axis][from..from + into.len()];
    let mut at = 0;
    while at < into.len() {
        // The first sum is exact.
        let place = L::sub(L::add(L::load(&pattern[at..]), start), origin);
        L::store(&mut into[at..], place);
        at += L::COUNT;
    }
}

/// The middle of a pixel.
#[inline(always)]
pub(crate) fn middle([column, row]: [u32; 2]) -> [f32; 2] {
    [column as f32 + 0.5, row as f32 + 0.5]
}

/// Columns and rows of the pixels of quads; where there is room for more, those of the last once more.
pub(crate) fn pixels(quads: &[Quad], [columns, rows]: [&mut [f32]; 2]) {
    let Some(last) = quads.last() else { return };
    let (columns, rows) = (columns.as_chunks_mut::<4>().0, rows.as_chunks_mut::<4>().0);
    for (number, (columns, rows)) in columns.iter_mut().zip(rows).enumerate() {
        let quad = quads.get(number).unwrap_or(last);
        let [column, row] = [quad.x as f32, quad.y as f32];
        *columns = [column, column + 1.0, column, column + 1.0];
        *rows = [row, row, row + 1.0, row + 1.0];
    }
}

/// Columns and rows of the fragments of a quad.
#[inline(always)]
pub(crate) fn of_quad(quad: &Quad, inputs: &Inputs) -> [[f32; 4]; 2] {
    let ([left, upper], [right, lower]) = (inputs.offset(quad.x, quad.y), inputs.offset(quad.x + 1, quad.y + 1));
    [[left, right, left, right], [upper, upper, lower, lower]]
}

/// Columns and rows of the fragments of quads; where there is room for more, those of the last once more.
pub(crate) fn of_quads(quads: &[Quad], inputs: &Inputs, [columns, rows]: [&mut [f32]; 2]) {
    let Some(last) = quads.last() else { return };
    let (columns, rows) = (columns.as_chunks_mut::<4>().0, rows.as_chunks_mut::<4>().0);
    for (number, (columns, rows)) in columns.iter_mut().zip(rows).enumerate() {
        let quad = quads.get(number).unwrap_or(last);
        [*columns, *rows] = of_quad(quad, inputs);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use num::lanes::One;

    #[test]
    fn a_tile_is_its_quads() {
        let quads: Vec<Quad> = (0..64)
            .map(|number| Quad {
                x: 48 + number % 8 * 2,
                y: 32 + number / 8 * 2,
                live: 15,
            })
            .collect();
        assert!(is_of_tile(&quads, 0) && is_of_tile(&quads[32..], 32));
        assert!(!is_of_tile(&quads[32..], 0) && !is_of_tile(&quads[1..], 0) && !is_of_tile(&[], 0));
        let inputs = Inputs {
            origin: [50.3, -7.1],
            ..Inputs::default()
        };
        let mut wanted = [[0.0; 256]; 2];
        let [columns, rows] = &mut wanted;
        of_quads(&quads, &inputs, [columns, rows]);
        for from in [0, 128] {
            let mut have = [[0.0; 128]; 2];
            let [columns, rows] = &mut have;
            of_tile::<One>(middle([48, 32]), from, inputs.origin, [columns, rows]);
            assert_eq!(
                have.each_ref().map(|row| &row[..]),
                wanted.each_ref().map(|row| &row[from..from + 128])
            );
        }
    }
}
