//! Memory with machine code in it, and calls of it: all that is unsafe about the compiler.
//!
//! Memory is never writable and executable at once: bytes are written, then the memory is made executable, then the
//! instruction cache is invalidated.

use crate::call::{Args, Bailout, Call, Emitted, MAX_TEXTURES, Needs, ROUNDINGS, UNIFORMS};
use num::rows::LANES;
use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect, munmap};
use std::borrow::Cow;
use std::ffi::c_void;

/// Machine code that can be called.
#[derive(Debug)]
pub(crate) struct Code {
    memory: *mut c_void,
    length: usize,
    emitted: Emitted,
}

// SAFETY: the memory is this value's own, and is not written after `new`.
unsafe impl Send for Code {}
// SAFETY: as above.
unsafe impl Sync for Code {}

impl Code {
    /// Makes code executable; nothing where the system gives no memory for it, or the processor lacks the instruction set.
    pub(crate) fn new(emitted: Emitted) -> Option<Self> {
        if !emitted.isa.is_supported() {
            return None;
        }
        let length = emitted.bytes.len().next_multiple_of(4096);
        // SAFETY: new memory at an address of the system's choice overlaps no other.
        let memory = unsafe {
            mmap_anonymous(
                std::ptr::null_mut(),
                length,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::PRIVATE,
            )
        }
        .ok()?;
        let code = Self {
            memory,
            length,
            emitted,
        };
        // SAFETY: the memory is as long as the bytes at least, writable, and this value's own.
        unsafe { std::ptr::copy_nonoverlapping(code.emitted.bytes.as_ptr(), memory.cast(), code.emitted.bytes.len()) };
        // SAFETY: the memory is this value's own.
        unsafe { mprotect(memory, length, MprotectFlags::READ | MprotectFlags::EXEC) }.ok()?;
        #[cfg(target_arch = "aarch64")]
        forget_instructions(memory as usize, length);
        Some(code)
    }

    /// Runs it, and reports what it leaves undone.
    ///
    /// # Panics
    /// When the call has less than the code needs.
    pub(crate) fn run(&self, call: &mut Call<'_>) -> Bailout {
        let needs = &self.emitted.needs;
        let step = self.emitted.lanes;
        let steps = call.lanes / step;
        assert!(steps > 0 && call.lanes.is_multiple_of(step) && call.lanes <= self.emitted.most);
        assert!(call.rows.len() >= needs.rows && call.inputs.size() >= needs.inputs);
        assert!(call.textures.len() >= needs.textures.len());
        assert!(
            needs
                .textures
                .iter()
                .zip(call.textures)
                .all(|(need, have)| !need || !have.words.is_empty())
        );
        assert!(!needs.words || call.words.len() >= call.lanes);
        let mut textures = [std::ptr::null(); MAX_TEXTURES + 1];
        let (mut last, mut largest) = ([0; MAX_TEXTURES + 1], [0.0; MAX_TEXTURES]);
        let last_of = |count: usize| (count.min(1 << 30) as u32).saturating_sub(1);
        for (number, texels) in call.textures.iter().enumerate().take(MAX_TEXTURES) {
            textures[number] = texels.words.as_ptr();
            last[number] = last_of(texels.words.len());
            largest[number] = texels.largest;
        }
        let uniforms = padded(call.uniforms, needs);
        textures[usize::from(UNIFORMS)] = uniforms.as_ptr().cast();
        last[usize::from(UNIFORMS)] = last_of(uniforms.len());
        let masks = call.mask.map_or([0xff; LANES / 8], |mask| mask.to_le_bytes());
        let lanes = self.emitted.mask_lanes.then(|| words(&masks));
        let pool = self.emitted.pool;
        let mut args = Args {
            rows: call.rows.as_mut_ptr().cast(),
            uniforms: uniforms.as_ptr(),
            inputs: call.inputs.start(),
            // SAFETY: the pool is within the bytes.
            pool: unsafe { self.memory.cast::<u8>().add(pool) },
            masks: lanes.as_ref().map_or(masks.as_ptr(), |lanes| lanes.as_ptr().cast()),
            words: call.words.as_mut_ptr(),
            textures,
            last,
            largest,
            steps: steps as u32,
            left: 0,
        };
        // SAFETY: the bytes are a function of this signature, made by this crate's emitter, of an instruction set that the
        // processor has (`new`). It touches rows, inputs and words below the numbers asserted above, and uniforms below the
        // number padded to, for `steps * step` lanes; texels up to the last of each texture, which was asserted to have one,
        // and uniforms likewise; masks of all lanes, its own pool and stack; and it keeps the registers it has to.
        unsafe {
            let function: extern "C" fn(*mut Args) = std::mem::transmute(self.memory);
            function(&raw mut args);
        }
        match args.left {
            0 => Bailout::Nothing,
            left if left >> ROUNDINGS == 0 => Bailout::Lanes,
            _ => Bailout::Roundings,
        }
    }

    /// Lanes it takes at a time.
    pub(crate) fn lanes(&self) -> usize {
        self.emitted.lanes
    }

    /// Bytes of instructions and constants.
    pub(crate) fn size(&self) -> usize {
        self.emitted.bytes.len()
    }
}

/// What was written becomes what is run: ARM's caches of data and of instructions do not know of each other.
#[cfg(target_arch = "aarch64")]
fn forget_instructions(start: usize, length: usize) {
    use rustix::thread::{MembarrierCommand, membarrier};
    use std::arch::asm;
    use std::sync::LazyLock;
    static HAS_BARRIER: LazyLock<bool> =
        LazyLock::new(|| membarrier(MembarrierCommand::RegisterPrivateExpeditedSyncCore).is_ok());
    let types: usize;
    // SAFETY: programs may read this register of every processor of 64 bits, and reading it changes nothing.
    unsafe { asm!("mrs {}, ctr_el0", out(reg) types, options(nomem, nostack, preserves_flags)) };
    // Bytes of a line: the register has the logarithm of words of four.
    let line = |bits: usize| 4usize << (bits & 15);
    for address in (start..start + length).step_by(line(types >> 16)) {
        // SAFETY: this cleans the line to where instructions are fetched from; no value in memory changes.
        unsafe { asm!("dc cvau, {}", in(reg) address, options(nostack, preserves_flags)) };
    }
    // SAFETY: this waits for that, and does nothing else.
    unsafe { asm!("dsb ish", options(nostack, preserves_flags)) };
    for address in (start..start + length).step_by(line(types)) {
        // SAFETY: this invalidates the line in the instruction cache; no thread runs the code yet.
        unsafe { asm!("ic ivau, {}", in(reg) address, options(nostack, preserves_flags)) };
    }
    // SAFETY: this waits for that, and has this processor fetch again what it fetched ahead.
    unsafe { asm!("dsb ish", "isb", options(nostack, preserves_flags)) };
    // The other threads' processors, too, where the system has a way: Linux since 4.16.
    if *HAS_BARRIER {
        let _ = membarrier(MembarrierCommand::PrivateExpeditedSyncCore);
    }
}

/// As many uniforms as code needs: missing ones are zero, and so is the last one where code reads them by computed indices.
fn padded<'a>(uniforms: &'a [f32], needs: &Needs) -> Cow<'a, [f32]> {
    let wanted = match needs.any_uniform {
        true => needs.uniforms.max(uniforms.len() + 1),
        false => needs.uniforms,
    };
    if uniforms.len() >= wanted {
        return Cow::Borrowed(uniforms);
    }
    let mut all = uniforms.to_vec();
    all.resize(wanted, 0.0);
    Cow::Owned(all)
}

/// A word for each bit: all ones or nothing.
fn words(masks: &[u8; LANES / 8]) -> [u32; LANES] {
    std::array::from_fn(|lane| {
        if masks[lane / 8] >> (lane % 8) & 1 == 1 {
            u32::MAX
        } else {
            0
        }
    })
}

impl Drop for Code {
    fn drop(&mut self) {
        // SAFETY: the memory is this value's own, of this length, and no call of it is under way: calls borrow the value.
        let _ = unsafe { munmap(self.memory, self.length) };
    }
}
