//! The primitives of a job: what of each is kept from the polygon list builder to the tiles, in few bytes, for a mesh has many.

use std::num::NonZero;

/// A rectangle of pixels, its last ones included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bounds {
    /// First column and row.
    pub min: [u32; 2],
    /// Last column and row.
    pub max: [u32; 2],
}

/// A corner of the triangle that values are interpolated over.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Corner {
    /// Window column and row in pixels, depth, 1/w.
    pub position: [f32; 4],
    /// How much of each of the primitive's vertices is in this corner.
    pub weights: [f32; 3],
}

/// A triangle of pixels; lines, points and rectangles are two of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Primitive {
    /// Number of its draw.
    pub draw: u32,
    /// The corners of the triangle that is covered: column and row in the window; and where they are the vertices, depth
    /// and 1/w. As vertices have them, for whole vectors are soon copied.
    positions: [[f32; 4]; 3],
    /// Slots of its vertices in the varyings.
    pub vertices: [u32; 3],
    /// Where its piece says what is interpolated over it, one more than the number; nothing where its corners are the
    /// vertices, as those of nearly all triangles are, of which there are many.
    odd: Option<NonZero<u32>>,
    /// Twice the area is negative: it turns counter-clockwise in the picture's rows.
    pub ccw: bool,
}

/// What is interpolated over a primitive whose corners are not its vertices.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Odd {
    /// The corners of the triangle that values are interpolated over.
    pub corners: [Corner; 3],
    /// Left, top and size of a point.
    pub point: Option<[f32; 3]>,
}

impl Primitive {
    /// The triangle whose corners are its vertices, which have these positions and slots.
    #[inline]
    pub(crate) fn of_vertices(positions: [[f32; 4]; 3], vertices: [u32; 3], draw: u32, ccw: bool) -> Self {
        Self {
            draw,
            positions,
            vertices,
            odd: None,
            ccw,
        }
    }

    /// A triangle that covers a shape, over which something of its own is interpolated.
    pub(crate) fn covering(shape: [[f32; 2]; 3], vertices: [u32; 3], draw: u32) -> Self {
        Self {
            draw,
            positions: shape.map(|[x, y]| [x, y, 0.0, 0.0]),
            vertices,
            odd: None,
            ccw: false,
        }
    }

    /// Whether its corners are its vertices.
    #[inline]
    pub(crate) fn is_plain(&self) -> bool {
        self.odd.is_none()
    }

    /// The triangle that is covered, in window pixels.
    #[inline]
    pub fn shape(&self) -> [[f32; 2]; 3] {
        let [a, b, c] = &self.positions;
        [[a[0], a[1]], [b[0], b[1]], [c[0], c[1]]]
    }

    /// Column, row, depth and 1/w of its vertices, where they are its corners.
    #[inline]
    pub(crate) fn positions(&self) -> [[f32; 4]; 3] {
        self.positions
    }
}

/// Some primitives.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Piece {
    primitives: Vec<Primitive>,
    odd: Vec<Odd>,
}

impl Piece {
    /// Adds a triangle whose corners are its vertices.
    #[inline]
    pub(crate) fn push(&mut self, primitive: Primitive) {
        self.primitives.push(primitive);
    }

    /// Adds a primitive over which something else is interpolated.
    pub(crate) fn push_odd(&mut self, primitive: Primitive, odd: Odd) {
        self.odd.push(odd);
        let odd = NonZero::new(self.odd.len() as u32);
        self.primitives.push(Primitive { odd, ..primitive });
    }

    /// What is interpolated over one of its primitives, if it is not what the vertices have.
    #[inline]
    pub fn odd(&self, primitive: &Primitive) -> Option<&Odd> {
        self.odd.get(primitive.odd?.get() as usize - 1)
    }

    pub(crate) fn clear(&mut self) {
        self.primitives.clear();
        self.odd.clear();
    }
}

impl std::ops::Deref for Piece {
    type Target = [Primitive];

    #[inline]
    fn deref(&self) -> &[Primitive] {
        &self.primitives
    }
}

/// Primitives in pieces, so that several threads can make them; a primitive's number says which piece and where in it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Primitives {
    pieces: Vec<Piece>,
}

/// Bits of a primitive's number that say where in its piece it is.
const IN_PIECE: u32 = 16;

/// What a triangle becomes at most: clipped by seven planes, it has ten corners.
const MOST_OF_ONE: usize = 8;

/// Points, lines or triangles whose primitives are all in one piece.
pub const PIECE: u32 = (1 << IN_PIECE) / MOST_OF_ONE as u32;

/// Primitives that room is kept for from one job to the next.
const MOST_SPARE: usize = 1 << 18;

impl Primitives {
    /// The primitive with a number.
    #[inline]
    pub fn get(&self, number: u32) -> Option<&Primitive> {
        let (piece, at) = Self::place(number);
        self.pieces.get(piece)?.get(at)
    }

    /// Piece of a number, and place in the piece.
    #[inline]
    pub fn place(number: u32) -> (usize, usize) {
        ((number >> IN_PIECE) as usize, (number & ((1 << IN_PIECE) - 1)) as usize)
    }

    /// The pieces.
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// All with their numbers, in their order.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &Primitive)> {
        let numbered = |(piece, all): (u32, &'_ Piece)| piece << IN_PIECE..(piece << IN_PIECE) + all.len() as u32;
        let pieces = (0..).zip(&self.pieces);
        pieces.flat_map(move |(piece, all)| numbered((piece, all)).zip(all.iter()))
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.pieces.iter().map(|piece| piece.len()).sum()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.pieces.iter().all(|piece| piece.is_empty())
    }

    /// How many come before a number.
    pub fn position(&self, number: u32) -> usize {
        let (piece, at) = Self::place(number);
        let before = self.pieces.iter().take(piece).map(|piece| piece.len());
        before.sum::<usize>() + at
    }

    /// Empty pieces for others to fill, but no more room than one job in many needs.
    pub(crate) fn into_spare(self) -> Vec<Piece> {
        let (mut spare, mut room) = (self.pieces, 0);
        spare.retain_mut(|piece| {
            piece.clear();
            room += piece.primitives.capacity();
            room <= MOST_SPARE
        });
        spare
    }

    /// Adds a piece; the number of its first.
    pub(crate) fn push(&mut self, piece: Piece) -> u32 {
        self.pieces.push(piece);
        (self.pieces.len() as u32 - 1) << IN_PIECE
    }
}
