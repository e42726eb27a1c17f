//! Rows of lanes in memory: where engines that work on many lanes at a time have their values.

/// Lanes of a row.
pub const LANES: usize = 128;

/// A number for every lane, aligned for vector units.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(64))]
pub struct Row(pub [f32; LANES]);

impl Row {
    /// The same number for every lane.
    pub const fn splat(value: f32) -> Self {
        Self([value; LANES])
    }
}

impl std::ops::Deref for Row {
    type Target = [f32; LANES];

    #[inline(always)]
    fn deref(&self) -> &[f32; LANES] {
        &self.0
    }
}

impl std::ops::DerefMut for Row {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [f32; LANES] {
        &mut self.0
    }
}

/// A bit for every lane, lane 0 in the lowest.
pub type Mask = u128;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_their_lanes() {
        let mut row = Row::splat(2.5);
        row[7] = 3.5;
        assert_eq!((row.0[7], row.0[8], row[7], row[8]), (3.5, 2.5, 3.5, 2.5));
    }
}
