//! Binds the resources of a draw in an engine's own command buffer.

use crate::error::{Error, Result};
use crate::program::Program;
use crate::tables::{Handle, TABLE_PUSH, Tables};
use ash::vk;

/// The bindings and push constants of one command buffer, so that only changes are recorded.
#[derive(Clone, Copy, Debug)]
pub struct Binder {
    page: Option<u16>,
    indices: [u16; 32],
    /// Whether the command buffer has the indices.
    pushed: bool,
}

impl Default for Binder {
    /// A fresh command buffer: nothing bound.
    fn default() -> Self {
        Self {
            page: None,
            indices: [0; 32],
            pushed: false,
        }
    }
}

impl Binder {
    /// Binds these resources to slots for the next draws. Records a set binding only if the page changes, and pushes
    /// only indices that changed.
    ///
    /// # Errors
    /// [`ErrorKind::Data`](crate::ErrorKind::Data) for resources on different pages or a slot past 31.
    ///
    /// # Safety
    /// The command buffer is recording and belongs to the tables' device; no other binder or binding of set 0 is used
    /// with it.
    pub unsafe fn bind(
        &mut self,
        commands: vk::CommandBuffer,
        program: &Program,
        tables: &Tables,
        slots: &[(u8, Handle)],
    ) -> Result<()> {
        let layout = program.layout();
        let device = &tables.context().device;
        if let Some(((_, first), rest)) = slots.split_first() {
            if rest.iter().any(|(_, handle)| handle.page() != first.page()) {
                return Err(Error::data("resources of one draw on different pages"));
            }
            if self.page != Some(first.page()) {
                let sets = [tables.set(*first)];
                // SAFETY: guaranteed by the caller; the set has the program's layout for set 0.
                unsafe {
                    let point = vk::PipelineBindPoint::GRAPHICS;
                    device.cmd_bind_descriptor_sets(commands, point, layout, 0, &sets, &[]);
                }
                self.page = Some(first.page());
            }
        }
        let mut changed = if self.pushed { (32, 0) } else { (0, 32) };
        for (slot, handle) in slots {
            let place = self.indices.get_mut(usize::from(*slot));
            let place = place.ok_or_else(|| Error::data(format!("slot {slot}; there are 0 to 31")))?;
            if *place != handle.entry() {
                *place = handle.entry();
                changed = (changed.0.min(usize::from(*slot)), changed.1.max(usize::from(*slot) + 1));
            }
        }
        if changed.0 < changed.1 {
            // Push constants are written in words of two slots.
            let (start, end) = (changed.0 & !1, (changed.1 + 1) & !1);
            let mut bytes = [0u8; 64];
            for (pair, index) in bytes.chunks_exact_mut(2).zip(self.indices) {
                pair.copy_from_slice(&index.to_le_bytes());
            }
            // SAFETY: guaranteed by the caller; the range is within the layout's.
            unsafe {
                let stages = TABLE_PUSH.stage_flags;
                device.cmd_push_constants(commands, layout, stages, start as u32 * 2, &bytes[start * 2..end * 2]);
            }
            self.pushed = true;
        }
        Ok(())
    }
}
