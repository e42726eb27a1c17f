//! One open device: its handles, addresses, contexts and fences, and what every ioctl does to them.

use crate::abi::{EXPLICIT_FENCE, GP_FRAME, HEAP, PP_FRAME_400, PP_FRAME_450, errno, number};
use crate::job::{self, Request};
use crate::object::Object;
use crate::server::{Hardware, Options};
use crate::space::{self, Space};
use crate::wire::{Answer, What};
use crate::{Event, Pipe, Watch};
use emulator::gpu::Gpu;
use emulator::gpu::memory::{Memory, PAGE};
use std::collections::{BTreeMap, BTreeSet};
use std::os::fd::OwnedFd;
use std::sync::Arc;

/// Bytes of all of a device's objects at most: its address space.
const MEMORY: u64 = 1 << 32;

/// Bytes of the lists of tiles that a Mali-450 makes for itself: two commands of eight bytes for each of 256 x 256, an end.
const TILE_LISTS: u32 = 0x20_0000;

/// Handles of a kind at most.
const MAX_HANDLES: usize = 1 << 20;

/// Where the offsets to map objects at begin.
const OFFSETS: u64 = 1 << 32;

/// What an ioctl that goes wrong gives.
type Result<T, E = i32> = std::result::Result<T, E>;

/// A handle.
struct Handle {
    object: Arc<Object>,
    address: u32,
    flags: u32,
}

/// An open device.
pub struct Device {
    options: Arc<Options>,
    /// The GPU it is.
    pub gpu: Gpu,
    /// Who watches.
    pub watch: Box<dyn Watch>,
    /// Jobs so far.
    pub jobs: u64,
    handles: BTreeMap<u32, Handle>,
    space: Space,
    contexts: BTreeSet<u32>,
    /// Fences, and whether they are signalled.
    fences: BTreeMap<u32, bool>,
}

/// An ioctl's struct.
struct Struct<'a>(&'a mut Vec<u8>);

impl Struct<'_> {
    /// The word at byte `at`; what the program did not give is zero, as the kernel has it.
    fn word(&self, at: usize) -> u32 {
        let mut bytes = [0; 4];
        if let Some(given) = self.0.get(at..at + 4) {
            bytes.copy_from_slice(given);
        }
        u32::from_ne_bytes(bytes)
    }

    fn set(&mut self, at: usize, word: u32) {
        if let Some(bytes) = self.0.get_mut(at..at + 4) {
            bytes.copy_from_slice(&word.to_ne_bytes());
        }
    }

    fn set_long(&mut self, at: usize, long: u64) {
        if let Some(bytes) = self.0.get_mut(at..at + 8) {
            bytes.copy_from_slice(&long.to_ne_bytes());
        }
    }
}

fn words(bytes: &[u8]) -> Vec<u32> {
    let word = |word: &[u8]| u32::from_ne_bytes([word[0], word[1], word[2], word[3]]);
    bytes.chunks_exact(4).map(word).collect()
}

/// The lowest number from `first` on that is free.
fn free_number<T>(map: &BTreeMap<u32, T>, first: u32) -> u32 {
    let mut number = first;
    for taken in map.keys() {
        if *taken != number {
            break;
        }
        number += 1;
    }
    number
}

impl Device {
    /// A device that was opened just now.
    pub fn new(options: Arc<Options>, watch: Box<dyn Watch>) -> Self {
        let mut gpu = Gpu::new((options.engine)()).with_threads(options.threads);
        gpu.memory = Memory::with_limit(MEMORY);
        let mut device = Self {
            options,
            gpu,
            watch,
            jobs: 0,
            handles: BTreeMap::new(),
            space: Space::default(),
            contexts: BTreeSet::new(),
            fences: BTreeMap::new(),
        };
        if device.hardware() == Hardware::Mali450 {
            device.map_tile_lists();
        }
        device
    }

    /// A Mali-450's own memory, where it lists tiles.
    fn map_tile_lists(&mut self) {
        let (address, size, flags) = (space::END, TILE_LISTS, 0);
        if self.gpu.memory.map(address, size).is_ok() {
            self.tell(&Event::Created { address, size, flags });
        }
    }

    /// Tells who watches.
    pub fn tell(&mut self, event: &Event<'_>) {
        self.watch.event(&self.gpu.memory, event);
    }

    /// The device is closed.
    pub fn close(&mut self) {
        let event = Event::Closed { notes: &self.gpu.notes };
        self.watch.event(&self.gpu.memory, &event);
    }

    /// Answers a question, or an `errno`.
    pub fn ask(&mut self, what: What, fd: Option<OwnedFd>) -> Result<Answer> {
        match what {
            What::Map { offset, length } => self.map(offset, length),
            What::Ioctl {
                number,
                mut data,
                behind,
            } => {
                let fd = self.ioctl(number, Struct(&mut data), &behind, fd)?;
                Ok(Answer { data, fd })
            }
        }
    }

    fn ioctl(
        &mut self,
        number: u32,
        mut data: Struct<'_>,
        behind: &[u8],
        fd: Option<OwnedFd>,
    ) -> Result<Option<OwnedFd>> {
        match number {
            number::GET_CAP => data.set_long(8, capability(data.word(0))),
            number::SET_CLIENT_CAP => return Err(errno::EINVAL),
            number::GET_PARAM => self.parameter(&mut data)?,
            number::GEM_CREATE => self.create(&mut data)?,
            number::GEM_INFO => self.info(&mut data)?,
            number::GEM_CLOSE => self.close_handle(data.word(0))?,
            number::GEM_FLINK => self.name(&mut data)?,
            number::GEM_OPEN => self.open_name(&mut data)?,
            number::GEM_SUBMIT => self.submit(&data, behind)?,
            number::GEM_WAIT => self.wait(&data)?,
            number::CTX_CREATE => self.create_context(&mut data)?,
            number::CTX_FREE => self.free_context(&data)?,
            number::PRIME_HANDLE_TO_FD => return self.export(&data).map(Some),
            number::PRIME_FD_TO_HANDLE => self.import(&mut data, fd)?,
            number::SYNCOBJ_CREATE => self.create_fence(&mut data)?,
            number::SYNCOBJ_DESTROY => self.destroy_fence(&data)?,
            number::SYNCOBJ_HANDLE_TO_FD => return self.fence_to_fd(&data).map(Some),
            number::SYNCOBJ_FD_TO_HANDLE => self.fd_to_fence(&mut data, fd)?,
            number::SYNCOBJ_WAIT => self.wait_fences(&mut data, behind)?,
            number::SYNCOBJ_RESET => self.set_fences(behind, false)?,
            number::SYNCOBJ_SIGNAL => self.set_fences(behind, true)?,
            _ => return Err(errno::EINVAL),
        }
        Ok(None)
    }

    fn parameter(&self, data: &mut Struct<'_>) -> Result<()> {
        if data.word(4) != 0 {
            return Err(errno::EINVAL);
        }
        let is_450 = self.options.hardware == Hardware::Mali450;
        let value = match data.word(0) {
            0 => 1 + u64::from(is_450),
            1 => u64::from(self.options.pps),
            2 => {
                if is_450 {
                    0x0d07_0000
                } else {
                    0x0b07_0101
                }
            }
            3 => {
                if is_450 {
                    0xcf07_0000
                } else {
                    0xcd07_0101
                }
            }
            _ => return Err(errno::EINVAL),
        };
        data.set_long(8, value);
        Ok(())
    }

    fn create(&mut self, data: &mut Struct<'_>) -> Result<()> {
        let (size, flags) = (data.word(0), data.word(4));
        if data.word(12) != 0 || size == 0 || flags & !HEAP != 0 {
            return Err(errno::EINVAL);
        }
        let size = size.checked_next_multiple_of(PAGE).ok_or(errno::ENOMEM)?;
        let object = self.options.registry.create(size).map_err(system)?;
        let handle = self.insert(object, flags)?;
        data.set(8, handle);
        Ok(())
    }

    /// A new handle on an object, at a new address.
    fn insert(&mut self, object: Arc<Object>, flags: u32) -> Result<u32> {
        if self.handles.len() >= MAX_HANDLES {
            return Err(errno::ENOMEM);
        }
        let size = object.size();
        let mapping = object.clone().map().map_err(system)?;
        let address = self.space.take(size).ok_or(errno::ENOMEM)?;
        if self.gpu.memory.map_backed(address, Box::new(mapping)).is_err() {
            self.space.give(address);
            return Err(errno::ENOMEM);
        }
        let number = free_number(&self.handles, 1);
        self.handles.insert(number, Handle { object, address, flags });
        self.tell(&Event::Created { address, size, flags });
        Ok(number)
    }

    fn handle(&self, number: u32) -> Result<&Handle> {
        self.handles.get(&number).ok_or(errno::ENOENT)
    }

    fn info(&self, data: &mut Struct<'_>) -> Result<()> {
        let number = data.word(0);
        let address = self.handle(number)?.address;
        data.set(4, address);
        data.set_long(8, OFFSETS + u64::from(number) * u64::from(PAGE));
        Ok(())
    }

    fn map(&self, offset: u64, length: u64) -> Result<Answer> {
        let number = offset
            .checked_sub(OFFSETS)
            .filter(|offset| offset.is_multiple_of(u64::from(PAGE)));
        let number = number.and_then(|offset| u32::try_from(offset / u64::from(PAGE)).ok());
        let handle = number
            .and_then(|number| self.handles.get(&number))
            .ok_or(errno::EINVAL)?;
        if handle.flags & HEAP != 0 || length > u64::from(handle.object.size()) {
            return Err(errno::EINVAL);
        }
        Ok(Answer {
            fd: Some(duplicate(&handle.object)?),
            ..Answer::default()
        })
    }

    fn close_handle(&mut self, number: u32) -> Result<()> {
        let handle = self.handles.remove(&number).ok_or(errno::EINVAL)?;
        let address = handle.address;
        self.tell(&Event::Freed { address });
        // It is there: every handle is mapped.
        let _ = self.gpu.memory.unmap(address);
        self.space.give(address);
        Ok(())
    }

    fn name(&self, data: &mut Struct<'_>) -> Result<()> {
        let object = &self.handle(data.word(0))?.object;
        data.set(4, self.options.registry.name(object));
        Ok(())
    }

    fn open_name(&mut self, data: &mut Struct<'_>) -> Result<()> {
        let object = self.options.registry.named(data.word(0)).ok_or(errno::ENOENT)?;
        let size = object.size();
        let handle = self.insert(object, 0)?;
        data.set(4, handle);
        data.set_long(8, u64::from(size));
        Ok(())
    }

    fn export(&self, data: &Struct<'_>) -> Result<OwnedFd> {
        duplicate(&self.handle(data.word(0))?.object)
    }

    fn import(&mut self, data: &mut Struct<'_>, fd: Option<OwnedFd>) -> Result<()> {
        let fd = fd.ok_or(errno::EBADF)?;
        let object = self.options.registry.find(&fd).ok_or(errno::EINVAL)?;
        let have = self
            .handles
            .iter()
            .find(|(_, handle)| Arc::ptr_eq(&handle.object, &object));
        let handle = match have.map(|(number, _)| *number) {
            Some(number) => number,
            None => self.insert(object, 0)?,
        };
        data.set(0, handle);
        Ok(())
    }

    fn wait(&self, data: &Struct<'_>) -> Result<()> {
        if data.word(4) & !3 != 0 {
            return Err(errno::EINVAL);
        }
        // Every job has run when its submit returns.
        self.handle(data.word(0)).map(|_| ())
    }

    fn create_context(&mut self, data: &mut Struct<'_>) -> Result<()> {
        if data.word(4) != 0 {
            return Err(errno::EINVAL);
        }
        if self.contexts.len() >= MAX_HANDLES {
            return Err(errno::ENOMEM);
        }
        let free = self
            .contexts
            .iter()
            .zip(0u32..)
            .find(|(have, number)| **have != *number);
        let number = free.map_or(self.contexts.len() as u32, |(_, number)| number);
        self.contexts.insert(number);
        data.set(0, number);
        Ok(())
    }

    fn free_context(&mut self, data: &Struct<'_>) -> Result<()> {
        match data.word(4) == 0 && self.contexts.remove(&data.word(0)) {
            true => Ok(()),
            false => Err(errno::EINVAL),
        }
    }

    fn submit(&mut self, data: &Struct<'_>, behind: &[u8]) -> Result<()> {
        let (context, pipe, count, size) = (data.word(0), data.word(4), data.word(8), data.word(12) as usize);
        let pp_frame = match self.options.hardware {
            Hardware::Mali400 => PP_FRAME_400,
            Hardware::Mali450 => PP_FRAME_450,
        };
        let (pipe, frame_size) = match pipe {
            0 => (Pipe::Gp, GP_FRAME),
            1 => (Pipe::Pp, pp_frame),
            _ => return Err(errno::EINVAL),
        };
        if count == 0 || data.word(32) & !EXPLICIT_FENCE != 0 || size != frame_size {
            return Err(errno::EINVAL);
        }
        // What the front cannot read it cannot send.
        let whole = size + count as usize * 8;
        let behind = behind.get(..whole).ok_or(errno::EFAULT)?;
        let (frame, list) = behind.split_at(size);
        let frame = words(frame);
        job::check(pipe, &frame, self.options.hardware, self.options.pps)?;
        if !self.contexts.contains(&context) {
            return Err(errno::ENOENT);
        }
        let list = words(list);
        let objects = list
            .chunks_exact(2)
            .map(|pair| Ok((self.handle(pair[0])?.address, pair[1])));
        let objects = objects.collect::<Result<Vec<(u32, u32)>>>()?;
        let (out, waits) = (data.word(36), [data.word(40), data.word(44)]);
        let known = |fence: &u32| *fence == 0 || self.fences.contains_key(fence);
        if !waits.iter().chain([&out]).all(known) {
            return Err(errno::ENOENT);
        }
        job::run(self, &Request { pipe, frame, objects });
        if out != 0 {
            self.fences.insert(out, true);
        }
        Ok(())
    }

    fn create_fence(&mut self, data: &mut Struct<'_>) -> Result<()> {
        if data.word(4) & !1 != 0 {
            return Err(errno::EINVAL);
        }
        if self.fences.len() >= MAX_HANDLES {
            return Err(errno::ENOMEM);
        }
        let number = free_number(&self.fences, 1);
        self.fences.insert(number, data.word(4) & 1 == 1);
        data.set(0, number);
        Ok(())
    }

    fn destroy_fence(&mut self, data: &Struct<'_>) -> Result<()> {
        match self.fences.remove(&data.word(0)) {
            Some(_) => Ok(()),
            None => Err(errno::EINVAL),
        }
    }

    /// A descriptor that can be read, for that is how a fence that is done looks.
    fn fence_to_fd(&self, data: &Struct<'_>) -> Result<OwnedFd> {
        let signalled = self.fences.get(&data.word(0)).ok_or(errno::ENOENT)?;
        if !signalled {
            return Err(errno::EINVAL);
        }
        rustix::event::eventfd(1, rustix::event::EventfdFlags::CLOEXEC).map_err(|error| error.raw_os_error())
    }

    fn fd_to_fence(&mut self, data: &mut Struct<'_>, fd: Option<OwnedFd>) -> Result<()> {
        // All fences there are were done when they became descriptors.
        fd.ok_or(errno::EBADF)?;
        if data.word(4) & 1 == 0 {
            let number = free_number(&self.fences, 1);
            self.fences.insert(number, true);
            data.set(0, number);
            return Ok(());
        }
        let fence = self.fences.get_mut(&data.word(0)).ok_or(errno::ENOENT)?;
        *fence = true;
        Ok(())
    }

    /// Jobs do not signal later, so a wait is over at once, one way or the other.
    fn wait_fences(&self, data: &mut Struct<'_>, behind: &[u8]) -> Result<()> {
        let wanted = words(behind);
        let states = wanted
            .iter()
            .map(|fence| self.fences.get(fence).copied().ok_or(errno::ENOENT));
        let states = states.collect::<Result<Vec<bool>>>()?;
        let all = data.word(20) & 1 == 1;
        let first = states.iter().position(|signalled| *signalled);
        match (all, first) {
            (true, _) if states.iter().all(|signalled| *signalled) => data.set(24, 0),
            (false, Some(first)) => data.set(24, first as u32),
            _ => return Err(errno::ETIME),
        }
        Ok(())
    }

    fn set_fences(&mut self, behind: &[u8], signalled: bool) -> Result<()> {
        let wanted = words(behind);
        if wanted.is_empty() {
            return Err(errno::EINVAL);
        }
        if !wanted.iter().all(|fence| self.fences.contains_key(fence)) {
            return Err(errno::ENOENT);
        }
        self.fences.extend(wanted.into_iter().map(|fence| (fence, signalled)));
        Ok(())
    }

    /// The GPU's hardware.
    pub fn hardware(&self) -> Hardware {
        self.options.hardware
    }
}

fn capability(number: u32) -> u64 {
    match number {
        // PRIME: import and export.
        5 => 3,
        // Fences as objects.
        0x13 => 1,
        _ => 0,
    }
}

fn system(error: std::io::Error) -> i32 {
    error.raw_os_error().unwrap_or(errno::ENOMEM)
}

fn duplicate(object: &Object) -> Result<OwnedFd> {
    object.fd().try_clone_to_owned().map_err(|_| errno::EMFILE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use emulator::exec::scalar::Scalar;

    /// Sees that what is told fits together.
    #[derive(Default)]
    struct Auditor {
        objects: BTreeSet<u32>,
    }

    impl Watch for Auditor {
        fn event(&mut self, memory: &Memory, event: &Event<'_>) {
            match event {
                Event::Created { address, .. } => assert!(self.objects.insert(*address)),
                Event::Freed { address } => assert!(self.objects.remove(address)),
                Event::Submitted(_) | Event::Done { .. } => {
                    let there: BTreeSet<u32> = memory.objects().map(|(address, _)| address).collect();
                    assert_eq!(there, self.objects);
                    if let Event::Done {
                        outcome: Err(fault), ..
                    } = event
                    {
                        assert!(!fault.message.contains(job::FAILED), "{fault}");
                    }
                }
                Event::Closed { .. } => {}
            }
        }
    }

    /// Mostly what could be a handle or a flag.
    fn word(random: &mut fastrand::Rng, addresses: &[u32]) -> u32 {
        match random.u32(..8) {
            0 => random.u32(..),
            1 => 4096 * random.u32(..20),
            2 if !addresses.is_empty() => addresses[random.usize(..addresses.len())],
            _ => random.u32(..4),
        }
    }

    #[test]
    fn any_question_has_an_answer() {
        let numbers = [0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x2d, 0x2e]
            .into_iter()
            .chain(0x40..0x48)
            .chain(0xbe..0xc8);
        let numbers: Vec<u32> = numbers.collect();
        let (mut random, mut good) = (fastrand::Rng::with_seed(0x5eed), [0u32; 256]);
        for _ in 0..200 {
            let mut options = Options::new(|| Box::new(Scalar));
            if random.bool() {
                (options.hardware, options.pps) = (Hardware::Mali450, 4);
            }
            let mut device = Device::new(Arc::new(options), Box::<Auditor>::default());
            let (mut addresses, mut exported) = (Vec::new(), None);
            for _ in 0..300 {
                let number = numbers[random.usize(..numbers.len())];
                let mut data: Vec<u8> = (0..random.u32(..14))
                    .flat_map(|_| word(&mut random, &addresses).to_ne_bytes())
                    .collect();
                let mut behind = Vec::new();
                if number == number::GEM_SUBMIT && random.u32(..4) > 0 {
                    let (pipe, size) = match (random.u32(..2), device.hardware()) {
                        (0, _) => (0, GP_FRAME),
                        (_, Hardware::Mali400) => (1, PP_FRAME_400),
                        (_, Hardware::Mali450) => (1, PP_FRAME_450),
                    };
                    let head = [random.u32(..2), pipe, 1, size as u32, 0, 0, 0, 0, 0, 0, 0, 0];
                    data = head.into_iter().flat_map(u32::to_ne_bytes).collect();
                    let words = (0..size / 4 + 2).map(|_| word(&mut random, &addresses));
                    behind = words.flat_map(u32::to_ne_bytes).collect();
                } else if random.bool() {
                    let words = (0..random.u32(..100)).map(|_| word(&mut random, &addresses));
                    behind = words.flat_map(u32::to_ne_bytes).collect();
                }
                let fd = exported.as_ref().filter(|_| random.bool());
                let fd = fd.map(|fd: &OwnedFd| fd.try_clone().unwrap());
                let answer = device.ask(What::Ioctl { number, data, behind }, fd);
                let (offset, length) = (
                    OFFSETS + u64::from(word(&mut random, &[])),
                    u64::from(word(&mut random, &[])),
                );
                let _ = device.ask(What::Map { offset, length }, None);
                if let Ok(mut answer) = answer {
                    good[number as usize] += 1;
                    exported = answer.fd.take().or(exported);
                    addresses = device.handles.values().map(|handle| handle.address).collect();
                }
            }
            device.close();
        }
        for number in [
            number::GEM_CREATE,
            number::GEM_SUBMIT,
            number::CTX_CREATE,
            number::PRIME_FD_TO_HANDLE,
        ] {
            assert!(good[number as usize] > 0, "never got through: {number:#x}");
        }
    }
}
