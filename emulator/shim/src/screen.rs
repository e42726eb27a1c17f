//! The screen: the displayed picture, its timing, and events to programs.

use crate::fence::Signal;
use crate::object::Object;
use crate::quota::Charge;
use crate::shared::Mapping;
use emulator::memory::Backing;
use rustix::net::{SendFlags, send};
use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Ids of the display's objects in the interface.
pub(crate) mod id {
    /// The CRTC.
    pub(crate) const CRTC: u32 = 40;
    /// The encoder.
    pub(crate) const ENCODER: u32 = 41;
    /// The connector.
    pub(crate) const CONNECTOR: u32 = 42;
    /// The primary plane.
    pub(crate) const PLANE: u32 = 43;
}

/// Pixel formats by their fourcc, with bytes per pixel.
const FORMATS: [(&[u8; 4], u32); 5] = [(b"XR24", 4), (b"AR24", 4), (b"XB24", 4), (b"AB24", 4), (b"RG16", 2)];

/// The formats' codes.
pub(crate) fn formats() -> impl Iterator<Item = u32> {
    FORMATS.iter().map(|(code, _)| u32::from_le_bytes(**code))
}

/// Bytes per pixel of a format.
pub(crate) fn pixel_bytes(format: u32) -> Option<u32> {
    let found = FORMATS.iter().find(|(code, _)| u32::from_le_bytes(**code) == format);
    found.map(|(_, bytes)| *bytes)
}

/// A framebuffer.
#[derive(Debug)]
pub struct FrameBuffer {
    /// Its bytes.
    pub object: Arc<Object>,
    /// Its memory.
    pub mapping: Mapping,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Stride in bytes.
    pub pitch: u32,
    /// Offset of the first row in bytes.
    pub offset: u32,
    /// The format's code.
    pub format: u32,
    /// What the program that made it holds for it.
    pub(crate) _charges: [Charge; 2],
}

impl FrameBuffer {
    /// Whether the object contains all rows, and the format is supported.
    pub fn is_whole(&self) -> bool {
        let Some(bytes) = pixel_bytes(self.format) else {
            return false;
        };
        let row = u64::from(self.width) * u64::from(bytes);
        let end = u64::from(self.offset) + u64::from(self.pitch) * u64::from(self.height.saturating_sub(1)) + row;
        self.width > 0 && self.height > 0 && row <= u64::from(self.pitch) && end <= u64::from(self.object.size())
    }

    /// RGBA rows from the top, opaque; `width` x `height` pixels starting at a place, black outside.
    pub fn picture(&self, (left, top): (u32, u32), width: u32, height: u32) -> Vec<u8> {
        let bytes = pixel_bytes(self.format).unwrap_or(4);
        let mut rgba = [0, 0, 0, 255].repeat(width as usize * height as usize);
        let columns = width.min(self.width.saturating_sub(left));
        let mut row = vec![0; (columns * bytes) as usize];
        for (y, out) in rgba.chunks_exact_mut(4 * width as usize).enumerate() {
            let y = top as usize + y;
            if y >= self.height as usize || row.is_empty() {
                break;
            }
            let start = self.offset as usize + y * self.pitch as usize + (left * bytes) as usize;
            self.mapping.read(start, &mut row);
            for (pixel, out) in row.chunks_exact(bytes as usize).zip(out.chunks_exact_mut(4)) {
                out[..3].copy_from_slice(&color(self.format, pixel));
            }
        }
        rgba
    }
}

fn color(format: u32, pixel: &[u8]) -> [u8; 3] {
    match &format.to_le_bytes() {
        b"XB24" | b"AB24" => [pixel[0], pixel[1], pixel[2]],
        b"RG16" => {
            let word = u32::from(pixel[0]) | u32::from(pixel[1]) << 8;
            let wide = |value: u32, bits: u32| (value << (8 - bits) | value >> (2 * bits - 8)) as u8;
            [wide(word >> 11, 5), wide(word >> 5 & 63, 6), wide(word & 31, 5)]
        }
        _ => [pixel[2], pixel[1], pixel[0]],
    }
}

/// A displayed picture.
#[derive(Debug)]
pub struct Shown {
    /// Its number, from 0.
    pub number: u32,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// RGBA rows from the top.
    pub rgba: Vec<u8>,
}

/// Receives every displayed picture.
pub type Sink = dyn Fn(&Shown) + Send + Sync;

/// Recipient of a flip event: the open device, and the program's user data.
pub(crate) type FlipEvent = (Arc<OwnedFd>, u64);

/// A new state to display.
#[derive(Debug)]
pub struct Flip {
    /// The framebuffer; black if `None`.
    pub buffer: Option<Arc<FrameBuffer>>,
    /// The screen's origin in it.
    pub place: (u32, u32),
    /// The cursor.
    pub cursor: Cursor,
    /// Recipient of the flip event.
    pub event: Option<FlipEvent>,
    /// Signalled when it is displayed.
    pub seen: Vec<Signal>,
}

/// A cursor image.
#[derive(Clone, Debug, Default)]
pub struct Cursor {
    /// Its pixels, with premultiplied alpha.
    pub picture: Option<Arc<FrameBuffer>>,
    /// Its position on the screen.
    pub place: (i32, i32),
}

/// A screen of one size.
pub struct Screen {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Refresh rate in Hz; 0 displays frames as they come.
    pub rate: u32,
    /// Number of displayed pictures.
    shown: AtomicU32,
    /// Time of the first refresh, on the monotonic clock.
    start: i64,
    /// Whether a flip is pending.
    pending: AtomicBool,
    cursor: Mutex<Cursor>,
    flips: Mutex<Sender<Flip>>,
}

impl Screen {
    /// A screen with its own display thread.
    ///
    /// # Errors
    /// If the thread cannot be created.
    pub fn new(width: u32, height: u32, rate: u32, sink: Box<Sink>) -> io::Result<Arc<Self>> {
        let (flips, queue) = channel();
        let screen = Arc::new(Self {
            width,
            height,
            rate,
            shown: AtomicU32::new(0),
            start: crate::abi::now(),
            pending: AtomicBool::new(false),
            cursor: Mutex::default(),
            flips: Mutex::new(flips),
        });
        let here = Arc::downgrade(&screen);
        std::thread::Builder::new().name("screen".into()).spawn(move || {
            for flip in queue {
                let Some(screen) = here.upgrade() else { break };
                screen.wait_for_refresh();
                screen.show(flip, &sink);
            }
        })?;
        Ok(screen)
    }

    fn flips(&self) -> MutexGuard<'_, Sender<Flip>> {
        self.flips.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Displays a new state at the next refresh. Fails if it has an event and another flip is pending.
    pub fn flip(&self, flip: Flip) -> bool {
        if flip.event.is_some() && self.pending.swap(true, Ordering::AcqRel) {
            return false;
        }
        self.flips().send(flip).is_ok()
    }

    /// The cursor.
    pub fn cursor(&self) -> Cursor {
        self.cursor.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Sets the cursor; it is displayed with the next picture.
    pub fn set_cursor(&self, cursor: Cursor) {
        *self.cursor.lock().unwrap_or_else(PoisonError::into_inner) = cursor;
    }

    /// Refresh interval in nanoseconds, if there is a fixed rate.
    fn period(&self) -> Option<i64> {
        (self.rate > 0).then(|| 1_000_000_000 / i64::from(self.rate))
    }

    /// The number of the last refresh; without a fixed rate, of the last picture.
    pub fn refresh(&self) -> u32 {
        match self.period() {
            Some(period) => ((crate::abi::now() - self.start) / period) as u32,
            None => self.shown.load(Ordering::Acquire),
        }
    }

    /// The time of the refresh `ahead` after number `now`, in nanoseconds on the monotonic clock.
    pub fn refresh_time(&self, now: u32, ahead: u32) -> i64 {
        match self.period() {
            Some(period) => self.start + (i64::from(now) + i64::from(ahead)) * period,
            None => crate::abi::now(),
        }
    }

    fn wait_for_refresh(&self) {
        if let Some(period) = self.period() {
            let passed = (crate::abi::now() - self.start) % period;
            std::thread::sleep(Duration::from_nanos((period - passed) as u64));
        }
    }

    fn show(&self, flip: Flip, sink: &Sink) {
        // Wait for jobs that draw into it, as hardware does.
        let fences = flip.buffer.iter().flat_map(|buffer| buffer.object.fences(false));
        fences.for_each(|fence| fence.wait());
        let number = self.shown.fetch_add(1, Ordering::AcqRel);
        let (width, height) = (self.width, self.height);
        let mut rgba = match &flip.buffer {
            Some(buffer) => buffer.picture(flip.place, width, height),
            None => [0, 0, 0, 255].repeat(width as usize * height as usize),
        };
        flip.cursor.paint(&mut rgba, width, height);
        sink(&Shown {
            number,
            width,
            height,
            rgba,
        });
        let Flip {
            event: recipient, seen, ..
        } = flip;
        drop(seen);
        if let Some((device, user)) = recipient {
            self.pending.store(false, Ordering::Release);
            // A client that is gone or does not read misses the event.
            let now = self.refresh();
            let _ = send(
                &*device,
                &event(user, now, self.refresh_time(now, 0)),
                SendFlags::NOSIGNAL | SendFlags::DONTWAIT,
            );
        }
    }
}

impl Cursor {
    /// Draws it over a picture.
    fn paint(&self, rgba: &mut [u8], width: u32, height: u32) {
        let Some(picture) = &self.picture else { return };
        let mut row = vec![0; 4 * picture.width as usize];
        for y in 0..picture.height {
            let down = i64::from(self.place.1) + i64::from(y);
            if !(0..i64::from(height)).contains(&down) {
                continue;
            }
            picture
                .mapping
                .read((picture.offset + y * picture.pitch) as usize, &mut row);
            for (across, pixel) in (i64::from(self.place.0)..).zip(row.chunks_exact(4)) {
                if !(0..i64::from(width)).contains(&across) {
                    continue;
                }
                let at = 4 * (down as usize * width as usize + across as usize);
                let rest = 255 - u32::from(pixel[3]);
                for (out, over) in rgba[at..at + 3].iter_mut().zip(color(picture.format, pixel)) {
                    *out = (u32::from(over) + (u32::from(*out) * rest + 127) / 255).min(255) as u8;
                }
            }
        }
    }
}

/// The interface's event of a completed flip. It has the time of its refresh, not the current time, so that a later
/// query of the last refresh never returns an earlier time.
fn event(user: u64, sequence: u32, at: i64) -> Vec<u8> {
    let (seconds, micros) = ((at / 1_000_000_000) as u32, (at % 1_000_000_000 / 1000) as u32);
    let words = [
        2,
        32,
        user as u32,
        (user >> 32) as u32,
        seconds,
        micros,
        sequence,
        id::CRTC,
    ];
    words.map(u32::to_ne_bytes).concat()
}
