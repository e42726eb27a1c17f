//! Keyboard and pointer: event devices (`/dev/input/event0` and `event1`) with the kernel's interface. Events are sent
//! to every reader, one per message, so that readers of any buffer size get whole events.

use crate::abi::{Struct, errno};
use crate::connection::Node;
use crate::wire::{Answer, What};
use rustix::net::{SendFlags, send};
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// Event types.
mod event {
    pub(crate) const SYN: u16 = 0;
    pub(crate) const KEY: u16 = 1;
    pub(crate) const REL: u16 = 2;
    pub(crate) const ABS: u16 = 3;
}

/// Event codes.
mod code {
    /// The last keyboard key; later codes are buttons.
    pub(crate) const LAST_KEY: u16 = 248;
    /// The left button; right and middle follow.
    pub(crate) const BUTTONS: std::ops::RangeInclusive<u16> = 0x110..=0x112;
    /// Wheels: horizontal and vertical.
    pub(crate) const WHEELS: [u16; 2] = [6, 8];
    /// Axes: horizontal and vertical.
    pub(crate) const PLACES: [u16; 2] = [0, 1];
}

/// Request numbers of the interface.
mod number {
    pub(crate) const VERSION: u32 = 0x01;
    pub(crate) const ID: u32 = 0x02;
    pub(crate) const NAME: u32 = 0x06;
    /// Physical path and serial number: none.
    pub(crate) const WHERE: std::ops::RangeInclusive<u32> = 0x07..=0x08;
    pub(crate) const PROPERTIES: u32 = 0x09;
    pub(crate) const KEYS: u32 = 0x18;
    /// LEDs, sounds, switches: none.
    pub(crate) const NONE: std::ops::RangeInclusive<u32> = 0x19..=0x1b;
    /// Supported codes of an event type, which is added.
    pub(crate) const BITS: std::ops::RangeInclusive<u32> = 0x20..=0x3f;
    /// Limits of an axis, which is added.
    pub(crate) const PLACES: std::ops::RangeInclusive<u32> = 0x40..=0x7f;
    pub(crate) const GRAB: u32 = 0x90;
    pub(crate) const REVOKE: u32 = 0x91;
    pub(crate) const CLOCK: u32 = 0xa0;
}

/// Size of the key bitmap in bytes.
const KEY_BYTES: usize = 96;

/// The interface's version.
const VERSION: u32 = 0x01_0001;

/// The kind of device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Keyboard,
    /// With the last column and row.
    Pointer([i32; 2]),
}

/// An event device.
#[derive(Debug)]
pub struct Device {
    kind: Kind,
    state: Mutex<State>,
}

/// A device's current state, and its readers.
#[derive(Debug)]
struct State {
    open: Vec<Weak<Reader>>,
    pressed: [u8; KEY_BYTES],
    place: [i32; 2],
}

/// An open file of a device.
#[derive(Debug)]
struct Reader {
    socket: Arc<OwnedFd>,
    monotonic: AtomicBool,
}

/// Keyboard and pointer.
#[derive(Debug)]
pub struct Input {
    keyboard: Arc<Device>,
    pointer: Arc<Device>,
}

impl Input {
    /// For a screen of this size.
    pub fn new(width: u32, height: u32) -> Arc<Self> {
        let last = [width, height].map(|size| i32::try_from(size).unwrap_or(i32::MAX) - 1);
        Arc::new(Self {
            keyboard: Arc::new(Device::new(Kind::Keyboard)),
            pointer: Arc::new(Device::new(Kind::Pointer(last))),
        })
    }

    /// Both devices.
    pub fn devices(&self) -> [&Arc<Device>; 2] {
        [&self.keyboard, &self.pointer]
    }

    /// Presses or releases a key by its code (`KEY_A` is 30); pointer buttons are 0x110 (left) to 0x112 (middle).
    /// Unknown keys and repeated states are ignored.
    pub fn key(&self, code: u16, down: bool) {
        let device = if code::BUTTONS.contains(&code) {
            &self.pointer
        } else if (1..=code::LAST_KEY).contains(&code) {
            &self.keyboard
        } else {
            return;
        };
        let mut state = device.state();
        let (byte, bit) = (&mut state.pressed[usize::from(code / 8)], 1 << (code % 8));
        if (*byte & bit != 0) != down {
            *byte ^= bit;
            state.send(&[(event::KEY, code, i32::from(down))]);
        }
    }

    /// Moves the pointer to a pixel of the screen.
    pub fn point(&self, x: i32, y: i32) {
        let Kind::Pointer(last) = self.pointer.kind else { return };
        let place = [x.clamp(0, last[0]), y.clamp(0, last[1])];
        let mut state = self.pointer.state();
        let events: Vec<_> = (0..2)
            .filter(|axis| state.place[*axis] != place[*axis])
            .map(|axis| (event::ABS, code::PLACES[axis], place[axis]))
            .collect();
        state.place = place;
        state.send(&events);
    }

    /// Turns the wheel by notches, to the right and up.
    pub fn wheel(&self, right: i32, up: i32) {
        let turned = code::WHEELS.into_iter().zip([right, up]);
        let events: Vec<_> = turned
            .filter(|(_, by)| *by != 0)
            .map(|(code, by)| (event::REL, code, by))
            .collect();
        self.pointer.state().send(&events);
    }
}

impl Device {
    fn new(kind: Kind) -> Self {
        let state = State {
            open: Vec::new(),
            pressed: [0; KEY_BYTES],
            place: [0; 2],
        };
        Self {
            kind,
            state: Mutex::new(state),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The node's minor number.
    pub fn minor(&self) -> u32 {
        match self.kind {
            Kind::Keyboard => 64,
            Kind::Pointer(_) => 65,
        }
    }

    /// The properties that udev reports.
    pub fn properties(&self) -> &'static [&'static str] {
        match self.kind {
            Kind::Keyboard => &["ID_INPUT_KEY=1", "ID_INPUT_KEYBOARD=1"],
            Kind::Pointer(_) => &["ID_INPUT_MOUSE=1"],
        }
    }

    fn name(&self) -> &'static str {
        match self.kind {
            Kind::Keyboard => "Skrymir keyboard",
            Kind::Pointer(_) => "Skrymir pointer",
        }
    }

    /// Supported codes of an event type; for type 0, the supported types.
    fn events(&self, kind: u16) -> Vec<u16> {
        match (self.kind, kind) {
            (Kind::Keyboard, event::SYN) => vec![event::SYN, event::KEY],
            (Kind::Keyboard, event::KEY) => (1..=code::LAST_KEY).collect(),
            (Kind::Pointer(_), event::SYN) => vec![event::SYN, event::KEY, event::REL, event::ABS],
            (Kind::Pointer(_), event::KEY) => code::BUTTONS.collect(),
            (Kind::Pointer(_), event::REL) => code::WHEELS.to_vec(),
            (Kind::Pointer(_), event::ABS) => code::PLACES.to_vec(),
            _ => Vec::new(),
        }
    }

    /// The current value of an axis, and its limits.
    fn place(&self, axis: usize) -> Result<Vec<u8>, i32> {
        let Kind::Pointer(last) = self.kind else {
            return Err(errno::EINVAL);
        };
        let last = last.get(axis).ok_or(errno::EINVAL)?;
        let words = [self.state().place[axis], 0, *last, 0, 0, 0];
        Ok(words.map(i32::to_ne_bytes).concat())
    }
}

impl State {
    /// Sends simultaneous events.
    fn send(&mut self, events: &[(u16, u16, i32)]) {
        if events.is_empty() {
            return;
        }
        self.open.retain(|reader| reader.strong_count() > 0);
        for reader in self.open.iter().filter_map(Weak::upgrade) {
            let time = reader.time();
            for (kind, code, value) in events.iter().chain(&[(event::SYN, 0, 0)]) {
                let mut bytes = time.map(i64::to_ne_bytes).concat();
                bytes.extend([*kind, *code].map(u16::to_ne_bytes).concat());
                bytes.extend(value.to_ne_bytes());
                // A reader that is gone or does not read misses the event.
                let _ = send(&*reader.socket, &bytes, SendFlags::NOSIGNAL | SendFlags::DONTWAIT);
            }
        }
    }
}

impl Reader {
    /// Seconds and microseconds on the reader's clock.
    fn time(&self) -> [i64; 2] {
        let clock = match self.monotonic.load(Ordering::Relaxed) {
            true => rustix::time::ClockId::Monotonic,
            false => rustix::time::ClockId::Realtime,
        };
        let now = rustix::time::clock_gettime(clock);
        [now.tv_sec, now.tv_nsec / 1000]
    }
}

/// An open event device.
pub(crate) struct Open {
    device: Arc<Device>,
    reader: Arc<Reader>,
}

impl Open {
    /// A newly opened event device.
    pub(crate) fn new(device: Arc<Device>, socket: Arc<OwnedFd>) -> Self {
        let reader = Arc::new(Reader {
            socket,
            monotonic: AtomicBool::new(false),
        });
        device.state().open.push(Arc::downgrade(&reader));
        Self { device, reader }
    }

    /// The answer to a request, of any length.
    fn ask(&self, number: u32, data: &Struct<'_>) -> Result<Vec<u8>, i32> {
        Ok(match number {
            number::VERSION => VERSION.to_ne_bytes().to_vec(),
            // A virtual device without a vendor.
            number::ID => [6, 0, 0, 1].map(u16::to_ne_bytes).concat(),
            number::NAME => [self.device.name().as_bytes(), &[0]].concat(),
            number if number::WHERE.contains(&number) => return Err(errno::ENOENT),
            number::PROPERTIES => vec![0; 4],
            number::KEYS => self.device.state().pressed.to_vec(),
            number if number::NONE.contains(&number) => vec![0; 8],
            number if number::BITS.contains(&number) => set(&self.device.events((number - 0x20) as u16)),
            number if number::PLACES.contains(&number) => self.device.place((number - 0x40) as usize)?,
            number::GRAB | number::REVOKE => Vec::new(),
            number::CLOCK => {
                let clock = data.word(0);
                if clock > 1 {
                    return Err(errno::EINVAL);
                }
                self.reader.monotonic.store(clock == 1, Ordering::Relaxed);
                Vec::new()
            }
            _ => return Err(errno::EINVAL),
        })
    }
}

impl Node for Open {
    fn ask(&mut self, what: What, _: Option<OwnedFd>) -> Result<Answer, i32> {
        let What::Ioctl { number, mut data, .. } = what else {
            return Err(errno::EINVAL);
        };
        let size = data.len();
        let mut answer = Self::ask(self, number, &Struct(&mut data))?;
        answer.truncate(size);
        Ok(Answer {
            data: answer,
            ..Answer::default()
        })
    }
}

/// A bitmap of codes.
fn set(codes: &[u16]) -> Vec<u8> {
    let mut bytes = vec![0; KEY_BYTES];
    for code in codes {
        bytes[usize::from(code / 8)] |= 1 << (code % 8);
    }
    bytes
}
