//! Atomic mode setting: many properties at once, all or none.

use crate::abi::{Struct, errno, system, words};
use crate::card::{Card, Result};
use crate::fence::{self, Signal};
use crate::properties::{Property, Row, State};
use crate::screen::id;
use std::os::fd::OwnedFd;

/// Flags of a change.
mod flag {
    /// Send an event when it is displayed.
    pub(crate) const EVENT: u32 = 1;
    /// Only check whether it is possible.
    pub(crate) const TEST_ONLY: u32 = 0x100;
    /// Do not wait until it is displayed.
    pub(crate) const NONBLOCK: u32 = 0x200;
    /// The mode may change.
    pub(crate) const ALLOW_MODESET: u32 = 0x400;
}

/// A requested change.
struct Change {
    flags: u32,
    user: u64,
    state: State,
    /// Whether a fence descriptor for its display is requested.
    out_fence: bool,
}

impl Card {
    /// Makes a change. Returns a descriptor if there is something to wait for: a requested out-fence, or the completion
    /// of a blocking change.
    pub(crate) fn commit(
        &mut self,
        data: &Struct<'_>,
        behind: &[u8],
        fence: Option<OwnedFd>,
    ) -> Result<Option<OwnedFd>> {
        if !self.is_atomic() {
            return Err(errno::EINVAL);
        }
        let change = self.change(data, behind)?;
        let Change { flags, user, state, .. } = &change;
        if state.is_other_mode(&self.state) && flags & flag::ALLOW_MODESET == 0 {
            return Err(errno::EINVAL);
        }
        let active = state.get(Row::Active) == 1;
        self.check(state)?;
        if flags & flag::EVENT != 0 && (!active || flags & flag::TEST_ONLY != 0) {
            return Err(errno::EINVAL);
        }
        if flags & flag::TEST_ONLY != 0 {
            return Ok(None);
        }
        let waits = change.out_fence || flags & flag::NONBLOCK == 0;
        let (signal, seen) = Signal::new();
        let end = match waits {
            true if change.out_fence => Some(
                self.registry()
                    .exported()
                    .export(&[seen], &self.account)
                    .map_err(system)?,
            ),
            true => Some(fence::all(&[seen], &self.account).map_err(system)?),
            false => None,
        };
        let shown = state.shown();
        let buffer = match shown {
            Some((buffer, place)) => self.picture(buffer, place)?,
            None => None,
        };
        if let (Some(fence), Some(buffer)) = (fence, &buffer) {
            let fences = self.registry().exported().import(fence).map_err(system)?;
            fences.iter().for_each(|fence| buffer.object.used(fence, true));
        }
        if active {
            let event = (flags & flag::EVENT != 0).then_some(*user);
            self.flip(buffer, shown.unwrap_or_default().1, event, vec![signal])?;
        }
        self.state = change.state;
        Ok(end)
    }

    /// Reads a change: property counts per object, objects, properties, values.
    fn change(&self, data: &Struct<'_>, behind: &[u8]) -> Result<Change> {
        const FLAGS: u32 = flag::EVENT | flag::TEST_ONLY | flag::NONBLOCK | flag::ALLOW_MODESET;
        let flags = data.word(0);
        if flags & !FLAGS != 0 || data.long(40) != 0 {
            return Err(errno::EINVAL);
        }
        let objects = data.word(4) as usize;
        // The front end sends only what it can read.
        let (counts, rest) = behind.split_at_checked(4 * objects).ok_or(errno::EFAULT)?;
        let (parts, rest) = rest.split_at_checked(4 * objects).ok_or(errno::EFAULT)?;
        let counts = words(counts);
        let whole: u64 = counts.iter().map(|count| u64::from(*count)).sum();
        let whole = usize::try_from(whole).map_err(|_| errno::EINVAL)?;
        let ids = whole.checked_mul(4).and_then(|bytes| rest.split_at_checked(bytes));
        let (ids, values) = ids.ok_or(errno::EFAULT)?;
        let (values, _) = values.as_chunks::<8>();
        if values.len() < whole {
            return Err(errno::EFAULT);
        }
        let mut change = Change {
            flags,
            user: data.long(48),
            state: self.state.clone(),
            out_fence: false,
        };
        let parts = counts.iter().zip(words(parts));
        let parts = parts.flat_map(|(count, part)| std::iter::repeat_n(part, *count as usize));
        for ((part, number), value) in parts.zip(words(ids)).zip(values) {
            change.set(part, number, u64::from_ne_bytes(*value))?;
        }
        Ok(change)
    }

    /// Whether the display supports the state: one picture of the mode's size, unscaled.
    fn check(&self, state: &State) -> Result {
        let crtc = u64::from(id::CRTC);
        let get = |row| state.get(row);
        let mode = get(Row::Mode);
        // The blob of the current mode may have been destroyed.
        if mode != 0 && mode != self.state.get(Row::Mode) {
            let mode = self.blob(mode as u32).map_err(|_| errno::EINVAL)?;
            if !self.is_our_mode(&mode) {
                return Err(errno::EINVAL);
            }
        }
        if get(Row::Active) == 1 && (mode == 0 || get(Row::ConnectorCrtc) != crtc) {
            return Err(errno::EINVAL);
        }
        let buffer = get(Row::FrameBuffer);
        if (buffer == 0) != (get(Row::PlaneCrtc) == 0) {
            return Err(errno::EINVAL);
        }
        if buffer == 0 {
            return Ok(());
        }
        let mut as_it_is = state.clone();
        as_it_is.set_picture(buffer as u32, state.place(), (self.screen.width, self.screen.height));
        if as_it_is != *state {
            return Err(errno::EINVAL);
        }
        self.picture(buffer as u32, state.place()).map(|_| ())
    }
}

impl Change {
    fn set(&mut self, part: u32, number: u32, value: u64) -> Result {
        let property = Property::by_id(number)?;
        if part != property.part {
            return Err(errno::ENOENT);
        }
        if property.is_immutable() || !property.takes(value) {
            return Err(errno::EINVAL);
        }
        match property.row {
            Row::OutFence => self.out_fence = value != 0,
            // It was sent as a descriptor beside the request.
            Row::InFence => {}
            row => self.state.set(&[(row, value)]),
        }
        Ok(())
    }
}
