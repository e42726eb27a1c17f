//! An open device: its handles, addresses, contexts and fences, and the implementation of every ioctl.

use crate::abi::{EXPLICIT_FENCE, GP_FRAME, HEAP, PP_FRAME_400, PP_FRAME_450, Struct, errno, number};
use crate::abi::{access, capability, free_number, gpu, parameter, pipe, system, words};
use crate::connection::Node;
use crate::event::Pipe;
use crate::fence::{Signal, Waits};
use crate::job::{self, Request};
use crate::object::Object;
use crate::options::{Hardware, Options};
use crate::queue::{Command, Queue};
use crate::quota::{Account, Charge, Resource};
use crate::space::Space;
use crate::stats::{Clock, Counters};
use crate::syncobj::SyncObjects;
use crate::wire::{Answer, What};
use emulator::memory::PAGE;
use std::collections::BTreeMap;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;
use utgard::frame::version;

/// Limit on contexts.
const MAX_CONTEXTS: usize = 1 << 12;

/// First mmap offset of objects.
const OFFSETS: u64 = 1 << 32;

/// Result of an ioctl; the error is an `errno`.
type Result<T, E = i32> = std::result::Result<T, E>;

/// A handle.
struct Handle {
    object: Arc<Object>,
    address: u32,
    flags: u32,
    _charges: [Charge; 2],
}

/// An open device.
pub(crate) struct Device {
    options: Arc<Options>,
    queue: Queue,
    counters: Arc<Counters>,
    clock: Clock,
    handles: BTreeMap<u32, Handle>,
    space: Space,
    /// Total bytes of all handles' objects.
    used: u64,
    contexts: BTreeMap<u32, Charge>,
    sync: SyncObjects,
    waits: Waits,
    /// Of the process that opened it.
    account: Account,
}

impl Drop for Device {
    fn drop(&mut self) {
        self.waits.end();
    }
}

impl Device {
    /// A newly opened device with this number.
    ///
    /// # Errors
    /// If its thread cannot be created.
    pub(crate) fn new(options: Arc<Options>, number: u64, counters: Arc<Counters>, process: u32) -> io::Result<Self> {
        let account = Account::new(&options.registry.quotas, process);
        Ok(Self {
            queue: Queue::new(options.clone(), number, counters.clone())?,
            options,
            clock: Clock::new(counters.clone(), process),
            counters,
            handles: BTreeMap::new(),
            space: Space::default(),
            used: 0,
            contexts: BTreeMap::new(),
            sync: SyncObjects::new(account.clone()),
            waits: Waits::new(account.clone()),
            account,
        })
    }

    fn ioctl(
        &mut self,
        number: u32,
        mut data: Struct<'_>,
        behind: &[u8],
        fd: Option<OwnedFd>,
    ) -> Result<Option<OwnedFd>> {
        match number {
            number::GET_CAP => data.set_long(8, capability(data.long(0))),
            number::SET_CLIENT_CAP => return Err(errno::EINVAL),
            number::GET_PARAM => self.parameter(&mut data)?,
            number::GEM_CREATE => self.create(&mut data)?,
            number::GEM_INFO => self.info(&mut data)?,
            number::GEM_CLOSE => self.close_handle(data.word(0))?,
            // A render node shares objects only by descriptor: a global name could be guessed.
            number::GEM_FLINK | number::GEM_OPEN => return Err(errno::EACCES),
            number::GEM_SUBMIT => self.submit(&data, behind)?,
            number::GEM_WAIT => return self.wait(&data),
            number::CTX_CREATE => self.create_context(&mut data)?,
            number::CTX_FREE => self.free_context(&data)?,
            number::PRIME_HANDLE_TO_FD => return self.export(&data).map(Some),
            number::PRIME_FD_TO_HANDLE => self.import(&mut data, fd)?,
            number::SYNCOBJ_CREATE => self.sync.create(&mut data)?,
            number::SYNCOBJ_DESTROY => self.sync.destroy(&data)?,
            number::SYNCOBJ_HANDLE_TO_FD => return self.sync.export(&data, &self.options.registry).map(Some),
            number::SYNCOBJ_FD_TO_HANDLE => self.sync.import(&mut data, fd, &self.options.registry)?,
            number::SYNCOBJ_WAIT => return self.sync.wait(&mut data, behind, &mut self.waits),
            number::SYNCOBJ_RESET => self.sync.set(behind, false)?,
            number::SYNCOBJ_SIGNAL => self.sync.set(behind, true)?,
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
            parameter::GPU_ID if is_450 => gpu::MALI_450,
            parameter::GPU_ID => gpu::MALI_400,
            parameter::PIXEL_PROCESSORS => self.options.pps.into(),
            parameter::GP_VERSION if is_450 => version::GP_450.into(),
            parameter::GP_VERSION => version::GP_400.into(),
            parameter::PP_VERSION if is_450 => version::PP_450.into(),
            parameter::PP_VERSION => version::PP_400.into(),
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

    /// A new handle for an object, at a new address.
    fn insert(&mut self, object: Arc<Object>, flags: u32) -> Result<u32> {
        let size = object.size();
        let charges = self.account.charge_object(size).ok_or(errno::ENOMEM)?;
        let used = self.used + u64::from(size);
        if used > self.options.memory {
            return Err(errno::ENOMEM);
        }
        let mapping = object.clone().map().map_err(system)?;
        let address = self.space.take(size).ok_or(errno::ENOMEM)?;
        self.queue.send(Command::Map {
            address,
            mapping,
            flags,
        });
        self.set_used(used);
        let number = free_number(&self.handles, 1);
        let handle = Handle {
            object,
            address,
            flags,
            _charges: charges,
        };
        self.handles.insert(number, handle);
        Ok(number)
    }

    fn set_used(&mut self, used: u64) {
        self.used = used;
        self.counters.memory.store(used, Ordering::Relaxed);
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
        // Jobs that use it precede this in the queue.
        self.queue.send(Command::Unmap(handle.address));
        self.space.give(handle.address);
        self.set_used(self.used - u64::from(handle.object.size()));
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

    /// GEM_WAIT: done, or a descriptor to wait for; the client handles the timeout.
    fn wait(&mut self, data: &Struct<'_>) -> Result<Option<OwnedFd>> {
        let (op, timeout) = (data.word(4), data.long(8) as i64);
        if op & !(access::READ | access::WRITE) != 0 {
            return Err(errno::EINVAL);
        }
        let object = &self.handle(data.word(0))?.object;
        let fences = match op {
            0 => Vec::new(),
            op => object.fences(op & access::WRITE != 0),
        };
        if fences.is_empty() {
            return Ok(None);
        }
        if timeout <= crate::abi::now() {
            return Err(errno::EBUSY);
        }
        self.waits.all(&fences).map(Some).map_err(system)
    }

    fn create_context(&mut self, data: &mut Struct<'_>) -> Result<()> {
        if data.word(4) != 0 {
            return Err(errno::EINVAL);
        }
        if self.contexts.len() >= MAX_CONTEXTS {
            return Err(errno::ENOMEM);
        }
        let free = self
            .contexts
            .iter()
            .zip(0u32..)
            .find(|((have, _), number)| **have != *number);
        let number = free.map_or(self.contexts.len() as u32, |(_, number)| number);
        let charge = self.account.charge(Resource::Contexts, 1).ok_or(errno::ENOMEM)?;
        self.contexts.insert(number, charge);
        data.set(0, number);
        Ok(())
    }

    fn free_context(&mut self, data: &Struct<'_>) -> Result<()> {
        match data.word(4) == 0 && self.contexts.remove(&data.word(0)).is_some() {
            true => Ok(()),
            false => Err(errno::EINVAL),
        }
    }

    fn submit(&mut self, data: &Struct<'_>, behind: &[u8]) -> Result<()> {
        let (context, pipe, count, size) = (data.word(0), data.word(4), data.word(8), data.word(12) as usize);
        let pp_frame = match self.hardware() {
            Hardware::Mali400 => PP_FRAME_400,
            Hardware::Mali450 => PP_FRAME_450,
        };
        let (pipe, frame_size) = match pipe {
            pipe::GP => (Pipe::Gp, GP_FRAME),
            pipe::PP => (Pipe::Pp, pp_frame),
            _ => return Err(errno::EINVAL),
        };
        if count == 0 || data.word(32) & !EXPLICIT_FENCE != 0 || size != frame_size {
            return Err(errno::EINVAL);
        }
        // The front end sends only what it can read.
        let whole = size + count as usize * 8;
        let behind = behind.get(..whole).ok_or(errno::EFAULT)?;
        let (frame, list) = behind.split_at(size);
        let frame = words(frame);
        job::check(pipe, &frame, self.options.hardware, self.options.pps)?;
        if !self.contexts.contains_key(&context) {
            return Err(errno::ENOENT);
        }
        let list = words(list);
        let objects = list
            .chunks_exact(2)
            .map(|pair| {
                let handle = self.handle(pair[0])?;
                Ok((handle.object.clone(), handle.address, pair[1]))
            })
            .collect::<Result<Vec<(Arc<Object>, u32, u32)>>>()?;
        let (out, waits) = (data.word(36), [data.word(40), data.word(44)]);
        if waits
            .iter()
            .chain([&out])
            .any(|sync| *sync != 0 && !self.sync.has(*sync))
        {
            return Err(errno::ENOENT);
        }
        let mut after = Vec::new();
        for sync in waits.into_iter().filter(|sync| *sync != 0) {
            after.extend(self.sync.fences(sync)?);
        }
        let (done, fence) = Signal::new();
        let explicit = data.word(32) & EXPLICIT_FENCE != 0;
        let submitting = self.options.registry.submitting();
        for (object, _, flags) in objects.iter().filter(|_| !explicit) {
            after.extend(object.fences(flags & access::WRITE != 0));
        }
        for (object, _, flags) in &objects {
            object.used(&fence, flags & access::WRITE != 0);
        }
        drop(submitting);
        let objects = objects.into_iter().map(|(_, address, flags)| (address, flags));
        let request = Request {
            pipe,
            frame,
            objects: objects.collect(),
        };
        if out != 0 {
            self.sync.replace(out, fence);
        }
        self.queue.send(Command::Run { request, after, done });
        Ok(())
    }

    /// Runs queued jobs and closes the device; returns whether nothing failed.
    pub(crate) fn close(&mut self) -> bool {
        self.clock.look();
        self.waits.end();
        self.queue.finish()
    }

    /// The GPU's product.
    fn hardware(&self) -> Hardware {
        self.options.hardware
    }
}

impl Node for Device {
    fn ask(&mut self, what: What, fd: Option<OwnedFd>) -> Result<Answer> {
        let start = Instant::now();
        let answer = self.answer(what, fd);
        self.clock.answered(start);
        answer
    }
}

impl Device {
    fn answer(&mut self, what: What, fd: Option<OwnedFd>) -> Result<Answer> {
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
            What::Merge => Err(errno::EINVAL),
        }
    }
}

fn capability(number: u64) -> u64 {
    match number {
        capability::PRIME => capability::IMPORT | capability::EXPORT,
        capability::SYNCOBJ => 1,
        _ => 0,
    }
}

fn duplicate(object: &Object) -> Result<OwnedFd> {
    object.fd().try_clone_to_owned().map_err(|_| errno::EMFILE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Event, Watch};
    use emulator::exec::scalar::Scalar;
    use emulator::memory::Memory;
    use std::collections::BTreeSet;

    /// Checks that events are consistent.
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

    /// Mostly plausible handles and flags.
    fn word(random: &mut fastrand::Rng, addresses: &[u32]) -> u32 {
        match random.u32(..8) {
            0 => random.u32(..),
            1 => 4096 * random.u32(..20),
            2 if !addresses.is_empty() => addresses[random.usize(..addresses.len())],
            _ => random.u32(..4),
        }
    }

    fn asked(device: &mut Device, number: u32, words: &[u32]) -> Result<Vec<u32>> {
        let data = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        let behind = Vec::new();
        let answer = device.ask(What::Ioctl { number, data, behind }, None)?;
        Ok(super::words(&answer.data))
    }

    #[test]
    fn clients_are_isolated_and_leave_nothing_behind() {
        let options = Arc::new(Options::new(|| Box::new(Scalar)));
        let open = |number, process| Device::new(options.clone(), number, Arc::default(), process).unwrap();
        let mut victim = open(0, 1);
        let handle = asked(&mut victim, number::GEM_CREATE, &[4096, 0, 0, 0]).unwrap()[2];
        assert_eq!(asked(&mut victim, number::GEM_FLINK, &[handle, 0]), Err(errno::EACCES));
        let mut hostile = open(1, 2);
        for guess in 0..1000 {
            let opened = asked(&mut hostile, number::GEM_OPEN, &[guess, 0, 0, 0]);
            assert_eq!(opened, Err(errno::EACCES));
            assert_eq!(
                asked(&mut hostile, number::GEM_INFO, &[guess, 0, 0, 0]),
                Err(errno::ENOENT)
            );
        }
        // A socket pair created by the client is not a fence.
        let (end, _other) = rustix::net::socketpair(
            rustix::net::AddressFamily::UNIX,
            rustix::net::SocketType::STREAM,
            rustix::net::SocketFlags::CLOEXEC,
            None,
        )
        .unwrap();
        let what = What::Ioctl {
            number: number::SYNCOBJ_FD_TO_HANDLE,
            data: vec![0; 16],
            behind: Vec::new(),
        };
        assert_eq!(hostile.ask(what, Some(end)).err(), Some(errno::EINVAL));
        let contexts = (0..10_000).take_while(|_| asked(&mut hostile, number::CTX_CREATE, &[0, 0]).is_ok());
        assert_eq!(contexts.count(), MAX_CONTEXTS);
        // Its share is available again for its next device.
        let most = (0..200).filter(|_| asked(&mut hostile, number::GEM_CREATE, &[4096, 0, 0, 0]).is_ok());
        assert_eq!(most.count(), 200);
        assert!(hostile.close());
        drop(hostile);
        let held = |process| options.registry.quotas.held_by(process);
        assert_eq!(held(2), Vec::new());
        let victims = [(Resource::Descriptors, 1), (Resource::Memory, 4096)];
        assert_eq!(held(1), victims, "the other's is as it was");
        assert!(asked(&mut victim, number::GEM_INFO, &[handle, 0, 0, 0]).is_ok());
    }

    #[test]
    fn every_request_is_answered() {
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
            options.watcher = Box::new(|_| Box::<Auditor>::default());
            let mut device = Device::new(Arc::new(options), 0, Arc::default(), std::process::id()).unwrap();
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
            assert!(device.close(), "the events are inconsistent");
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
