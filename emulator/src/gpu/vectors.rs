//! Vectors of four floats as vertices have them: from memory, and transposed into rows for code that works on many at a
//! time.

/// A vector as it lies in memory.
#[inline(always)]
pub(crate) fn of_bytes(bytes: &[u8; 16]) -> [f32; 4] {
    let words = bytes.as_chunks::<4>().0;
    [
        f32::from_le_bytes(words[0]),
        f32::from_le_bytes(words[1]),
        f32::from_le_bytes(words[2]),
        f32::from_le_bytes(words[3]),
    ]
}

/// Vectors become rows of numbers. A plain loop, which becomes as wide as what it is compiled for.
#[inline(always)]
pub(crate) fn turn<const N: usize>(vectors: &[[f32; 4]; N], [x, y, z, w]: [&mut [f32; N]; 4]) {
    for at in 0..N {
        [x[at], y[at], z[at], w[at]] = vectors[at];
    }
}
