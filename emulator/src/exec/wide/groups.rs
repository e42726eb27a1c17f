//! Lanes that part at branches and meet again.

use crate::exec::lanes::Mask;

/// Lanes that are at the same instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Group {
    /// Number of the instruction.
    pub at: usize,
    /// The lanes.
    pub lanes: Mask,
}

/// Groups of lanes, each at its own instruction: the one that was put last, and the others.
pub(super) struct Groups {
    last: Option<Group>,
    others: Vec<Group>,
}

impl Groups {
    /// All at the first instruction.
    pub(super) fn new(lanes: Mask) -> Self {
        Self {
            last: Some(Group { at: 0, lanes }),
            others: Vec::new(),
        }
    }

    /// No lanes are left to be taken.
    #[inline(always)]
    pub(super) fn is_empty(&self) -> bool {
        self.last.is_none() && self.others.is_empty()
    }

    /// Takes the group that is furthest behind; `order` gives an instruction's place in memory.
    #[inline(always)]
    pub(super) fn take(&mut self, order: impl Fn(usize) -> u32) -> Option<Group> {
        // Where lanes never part there is only one group.
        if self.others.is_empty() {
            return self.last.take();
        }
        self.take_of_many(order)
    }

    fn take_of_many(&mut self, order: impl Fn(usize) -> u32) -> Option<Group> {
        self.others.extend(self.last.take());
        let first = (0..self.others.len()).min_by_key(|group| order(self.others[*group].at))?;
        Some(self.others.swap_remove(first))
    }

    /// Lanes go on at an instruction, together with those that are there.
    #[inline(always)]
    pub(super) fn put(&mut self, at: usize, lanes: Mask) {
        if lanes == 0 {
            return;
        }
        if self.others.is_empty() && self.last.is_none() {
            self.last = Some(Group { at, lanes });
            return;
        }
        self.join(at, lanes);
    }

    fn join(&mut self, at: usize, lanes: Mask) {
        match self
            .others
            .iter_mut()
            .chain(&mut self.last)
            .find(|group| group.at == at)
        {
            Some(group) => group.lanes |= lanes,
            None => self.others.push(Group { at, lanes }),
        }
    }
}
