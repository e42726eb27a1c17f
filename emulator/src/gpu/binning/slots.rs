//! The vertices of a draw: consecutive ones, or by indices in memory.

use crate::fault::Result;
use crate::memory::Memory;
use crate::simd::{Found, dispatch};
use num::lanes::QuadLanes;
use std::borrow::Cow;
use utgard::stream::PrimitiveSetup;

/// Slots of a draw's vertices in its arrays, by their numbers in the draw.
pub(crate) struct Slots<'a> {
    /// The indices as bytes, if there are any, and the size of each.
    indices: Option<(Cow<'a, [u8]>, u32)>,
    /// The arrays begin with the vertex of this number.
    start: u32,
}

impl<'a> Slots<'a> {
    /// Slots of the vertices with `count` indices in memory, of the size the set-up says.
    ///
    /// # Errors
    /// When they are in no buffer object.
    pub(crate) fn indexed(
        memory: &'a Memory,
        setup: &PrimitiveSetup,
        address: u32,
        count: u32,
        start: u32,
    ) -> Result<Self> {
        let bytes = match (setup.indices_32, setup.indices_16) {
            (true, _) => 4,
            (false, true) => 2,
            (false, false) => 1,
        };
        let data = memory.bytes(address, count.saturating_mul(bytes))?;
        Ok(Self {
            indices: Some((data, bytes)),
            start,
        })
    }

    /// Slots of vertices in their order.
    pub(crate) fn in_order() -> Self {
        Self {
            indices: None,
            start: 0,
        }
    }

    /// Whether every vertex's slot is its number.
    pub(crate) fn is_in_order(&self) -> bool {
        self.indices.is_none()
    }

    /// The slot of a vertex; 0 where there is no index for it.
    #[inline]
    pub(crate) fn slot(&self, number: u32) -> u32 {
        let Some((data, bytes)) = &self.indices else {
            return number;
        };
        let at = number as usize;
        let index = match bytes {
            1 => data.get(at).copied().map(u32::from),
            2 => data
                .as_chunks()
                .0
                .get(at)
                .map(|index| u16::from_le_bytes(*index).into()),
            _ => data.as_chunks().0.get(at).map(|index| u32::from_le_bytes(*index)),
        };
        index.map_or(0, |index| index.wrapping_sub(self.start))
    }

    /// How many indices there are in memory.
    pub(crate) fn count(&self) -> u32 {
        self.indices
            .as_ref()
            .map_or(0, |(data, bytes)| data.len() as u32 / bytes)
    }

    /// The number of slots up to the last that one of `count` vertices has.
    pub(crate) fn up_to_last(&self, count: u32) -> u32 {
        let Some((data, bytes)) = &self.indices else {
            return count;
        };
        let (data, bytes, start) = (&**data, *bytes, self.start);
        match data.is_empty() {
            true => 0,
            false => dispatch!(last(data: &[u8], bytes: u32, start: u32) -> u32, Found::best()).saturating_add(1),
        }
    }

    /// Bytes that were copied out of memory, which others may write.
    pub(crate) fn held(&self) -> usize {
        match &self.indices {
            Some((Cow::Owned(data), _)) => data.len(),
            _ => 0,
        }
    }
}

/// The last slot of indices of `bytes` bytes each; compiled for each instruction set.
#[inline(always)]
#[expect(
    clippy::extra_unused_type_parameters,
    reason = "its loops become as wide as the lanes are"
)]
fn last<L: QuadLanes>(data: &[u8], bytes: u32, start: u32) -> u32 {
    let mut last = 0;
    match bytes {
        1 => {
            for index in data {
                last = last.max(u32::from(*index).wrapping_sub(start));
            }
        }
        2 => {
            for index in data.as_chunks().0 {
                last = last.max(u32::from(u16::from_le_bytes(*index)).wrapping_sub(start));
            }
        }
        _ => {
            for index in data.as_chunks().0 {
                last = last.max(u32::from_le_bytes(*index).wrapping_sub(start));
            }
        }
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Indices of every size, one of them in front of where the arrays begin.
    #[test]
    fn indices_name_slots() {
        let mut memory = Memory::default();
        memory.map(0x1000, 0x1000).unwrap();
        let numbers = [9u32, 200, 7, 8, 250, 12, 6];
        for (bytes, (indices_32, indices_16)) in [(1, (false, false)), (2, (false, true)), (4, (true, false))] {
            let data: Vec<u8> = numbers
                .iter()
                .flat_map(|number| number.to_le_bytes()[..bytes].to_vec())
                .collect();
            memory.write(0x1010, &data).unwrap();
            let setup = PrimitiveSetup {
                indices_32,
                indices_16,
                ..PrimitiveSetup::default()
            };
            let slots = |count, start| Slots::indexed(&memory, &setup, 0x1010, count, start).unwrap();
            let all = slots(6, 7);
            assert_eq!([0, 1, 2, 3, 4, 5, 6].map(|at| all.slot(at)), [2, 193, 0, 1, 243, 5, 0]);
            assert_eq!(
                (all.up_to_last(6), slots(3, 0).up_to_last(3), slots(0, 0).up_to_last(0)),
                (244, 201, 0)
            );
            assert_eq!((slots(7, 7).up_to_last(7), slots(7, 7).slot(6)), (u32::MAX, u32::MAX));
            assert!(Slots::indexed(&memory, &setup, 0x1ffe, 3, 0).is_err());
        }
        let all = Slots::in_order();
        assert_eq!((all.slot(5), all.up_to_last(8), all.held()), (5, 8, 0));
    }
}
