//! The display's device node: the interface for kernel mode setting, as far as programs for bare screens use it.

use crate::abi::{MODIFIERS, Struct, capability, client_capability, errno, free_number, number, system, words};
use crate::connection::Node;
use crate::object::{Object, Registry};
use crate::options::Options;
use crate::screen::{FrameBuffer, Screen, Told, formats, id, pixel_bytes};
use crate::wire::{Answer, What};
use emulator::memory::PAGE;
use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::sync::Arc;

type Result<T = (), E = i32> = std::result::Result<T, E>;

/// Where the offsets to map objects at begin.
const OFFSETS: u64 = 1 << 32;

/// Handles, and framebuffers, at most.
const MAX: usize = 1 << 16;

/// Bytes of a mode.
const MODE: usize = 68;

/// An open display device.
pub struct Card {
    options: Arc<Options>,
    screen: Arc<Screen>,
    socket: Arc<OwnedFd>,
    handles: BTreeMap<u32, Arc<Object>>,
    buffers: BTreeMap<u32, Arc<FrameBuffer>>,
    /// What the CRTC shows, and from where on.
    shown: Option<(u32, (u32, u32))>,
}

impl Node for Card {
    fn ask(&mut self, what: What, fd: Option<OwnedFd>) -> Result<Answer> {
        match what {
            What::Map { offset, length } => self.map(offset, length),
            What::Ioctl {
                number,
                mut data,
                behind,
            } => {
                let mut tail = Vec::new();
                let fd = self.ioctl(number, &mut Struct(&mut data), &behind, fd, &mut tail)?;
                data.extend(tail);
                Ok(Answer { data, fd })
            }
            What::Merge => Err(errno::EINVAL),
        }
    }
}

impl Card {
    /// A display device that was opened just now.
    pub fn new(options: Arc<Options>, screen: Arc<Screen>, socket: Arc<OwnedFd>) -> Self {
        Self {
            options,
            screen,
            socket,
            handles: BTreeMap::new(),
            buffers: BTreeMap::new(),
            shown: None,
        }
    }

    fn registry(&self) -> &Registry {
        &self.options.registry
    }

    fn ioctl(
        &mut self,
        number: u32,
        data: &mut Struct<'_>,
        behind: &[u8],
        fd: Option<OwnedFd>,
        tail: &mut Vec<u8>,
    ) -> Result<Option<OwnedFd>> {
        match number {
            number::GET_UNIQUE => data.set_long(0, 0),
            number::GET_MAGIC => data.set(0, 1),
            number::AUTH_MAGIC | number::SET_MASTER | number::DROP_MASTER | number::SET_VERSION => {}
            number::GET_CAP => data.set_long(8, capability(data.long(0))?),
            number::SET_CLIENT_CAP => client_capability(data.long(0), data.long(8))?,
            number::GEM_CLOSE => _ = self.handles.remove(&data.word(0)).ok_or(errno::EINVAL)?,
            number::PRIME_HANDLE_TO_FD => {
                let object = self.object(data.word(0))?;
                return object.fd().try_clone_to_owned().map(Some).map_err(system);
            }
            number::PRIME_FD_TO_HANDLE => {
                let object = self.registry().find(&fd.ok_or(errno::EBADF)?).ok_or(errno::EINVAL)?;
                let handle = self.handle(object)?;
                data.set(0, handle);
            }
            number::MODE_GETRESOURCES => self.resources(data, tail),
            number::MODE_GETCRTC => self.crtc(data)?,
            number::MODE_SETCRTC => self.set_crtc(data, behind)?,
            number::MODE_CURSOR | number::MODE_CURSOR2 => known(data.word(4), id::CRTC)?,
            number::MODE_GETENCODER => {
                known(data.word(0), id::ENCODER)?;
                // TMDS.
                data.set_all(&[(4, 2), (8, id::CRTC), (12, 1), (16, 0)]);
            }
            number::MODE_GETCONNECTOR => self.connector(data, tail)?,
            number::MODE_ADDFB => self.add_old_buffer(data)?,
            number::MODE_ADDFB2 => self.add_buffer(data)?,
            number::MODE_RMFB => self.remove_buffer(data.word(0))?,
            number::MODE_PAGE_FLIP => self.page_flip(data)?,
            number::MODE_DIRTYFB => self.show_again(data.word(0))?,
            number::MODE_CREATE_DUMB => self.create_dumb(data)?,
            number::MODE_MAP_DUMB => {
                self.object(data.word(0))?;
                data.set_long(8, OFFSETS + u64::from(data.word(0)) * u64::from(PAGE));
            }
            number::MODE_DESTROY_DUMB => _ = self.handles.remove(&data.word(0)).ok_or(errno::EINVAL)?,
            number::MODE_GETPLANERESOURCES => list(data, tail, 8, &[id::PLANE]),
            number::MODE_GETPLANE => self.plane(data, tail)?,
            number::MODE_OBJ_GETPROPERTIES => self.properties(data)?,
            _ => return Err(errno::EINVAL),
        }
        Ok(None)
    }

    fn object(&self, handle: u32) -> Result<&Arc<Object>> {
        self.handles.get(&handle).ok_or(errno::ENOENT)
    }

    /// The object's handle; the first asks for it gives it one.
    fn handle(&mut self, object: Arc<Object>) -> Result<u32> {
        if let Some((handle, _)) = self.handles.iter().find(|(_, have)| Arc::ptr_eq(have, &object)) {
            return Ok(*handle);
        }
        if self.handles.len() >= MAX {
            return Err(errno::ENOMEM);
        }
        let handle = free_number(&self.handles, 1);
        self.handles.insert(handle, object);
        Ok(handle)
    }

    fn map(&self, offset: u64, length: u64) -> Result<Answer> {
        let offset = offset.checked_sub(OFFSETS).ok_or(errno::EINVAL)?;
        let page = u64::from(PAGE);
        let handle = u32::try_from(offset / page).map_err(|_| errno::EINVAL)?;
        let object = self.handles.get(&handle).ok_or(errno::EINVAL)?;
        if !offset.is_multiple_of(page) || length > u64::from(object.size()) {
            return Err(errno::EINVAL);
        }
        Ok(Answer {
            fd: Some(object.fd().try_clone_to_owned().map_err(system)?),
            ..Answer::default()
        })
    }

    fn resources(&self, data: &mut Struct<'_>, tail: &mut Vec<u8>) {
        let buffers: Vec<u32> = self.buffers.keys().copied().collect();
        list(data, tail, 32, &buffers);
        list(data, tail, 36, &[id::CRTC]);
        list(data, tail, 40, &[id::CONNECTOR]);
        list(data, tail, 44, &[id::ENCODER]);
        data.set_all(&[(48, 1), (52, 4096), (56, 1), (60, 4096)]);
    }

    fn crtc(&self, data: &mut Struct<'_>) -> Result {
        known(data.word(12), id::CRTC)?;
        let (buffer, (x, y)) = self.shown.unwrap_or_default();
        data.set_all(&[(16, buffer), (20, x), (24, y), (28, 0)]);
        data.set(32, u32::from(self.shown.is_some()));
        for (at, word) in words(&self.mode()).into_iter().enumerate() {
            data.set(36 + 4 * at, if self.shown.is_some() { word } else { 0 });
        }
        Ok(())
    }

    fn set_crtc(&mut self, data: &Struct<'_>, connectors: &[u8]) -> Result {
        known(data.word(12), id::CRTC)?;
        if data.word(32) == 0 {
            self.shown = None;
            return Ok(());
        }
        if words(connectors) != [id::CONNECTOR] {
            return Err(errno::EINVAL);
        }
        let size = data.word(40) & 0xffff | (data.word(48) >> 16) << 16;
        if size != (self.screen.width | self.screen.height << 16) {
            return Err(errno::EINVAL);
        }
        let (buffer, place) = match (data.word(16), self.shown) {
            (u32::MAX, Some((buffer, _))) => (buffer, (data.word(20), data.word(24))),
            (buffer, _) => (buffer, (data.word(20), data.word(24))),
        };
        self.show(buffer, place, None)
    }

    fn show(&mut self, buffer: u32, place: (u32, u32), told: Option<Told>) -> Result {
        let frame = self.buffers.get(&buffer).ok_or(errno::ENOENT)?;
        let fits = |from: u32, length: u32, whole: u32| u64::from(from) + u64::from(length) <= u64::from(whole);
        if !fits(place.0, self.screen.width, frame.width) || !fits(place.1, self.screen.height, frame.height) {
            return Err(errno::ENOSPC);
        }
        if !self.screen.flip(frame.clone(), place, told) {
            return Err(errno::EBUSY);
        }
        self.shown = Some((buffer, place));
        Ok(())
    }

    fn page_flip(&mut self, data: &Struct<'_>) -> Result {
        known(data.word(0), id::CRTC)?;
        // An event, or none; no flips in the middle of a picture.
        if data.word(8) & !1 != 0 || data.word(12) != 0 {
            return Err(errno::EINVAL);
        }
        let (_, place) = self.shown.ok_or(errno::EBUSY)?;
        let told = (data.word(8) & 1 == 1).then(|| (self.socket.clone(), data.long(16)));
        self.show(data.word(4), place, told)
    }

    /// What is drawn into a buffer that is shown already.
    fn show_again(&mut self, buffer: u32) -> Result {
        match self.shown {
            Some((shown, place)) if shown == buffer => self.show(buffer, place, None),
            _ if self.buffers.contains_key(&buffer) => Ok(()),
            _ => Err(errno::ENOENT),
        }
    }

    fn connector(&self, data: &mut Struct<'_>, tail: &mut Vec<u8>) -> Result {
        known(data.word(48), id::CONNECTOR)?;
        list(data, tail, 40, &[id::ENCODER]);
        data.set(32, 1);
        tail.extend(self.mode());
        data.set(36, 0);
        // HDMI, connected; four pixels to the millimetre.
        let size = [self.screen.width / 4, self.screen.height / 4];
        let values = [id::ENCODER, id::CONNECTOR, 11, 1, 1, size[0], size[1], 1, 0];
        for (at, value) in values.into_iter().enumerate() {
            data.set(44 + 4 * at, value);
        }
        Ok(())
    }

    fn plane(&self, data: &mut Struct<'_>, tail: &mut Vec<u8>) -> Result {
        known(data.word(0), id::PLANE)?;
        let buffer = self.shown.map_or(0, |(buffer, _)| buffer);
        data.set_all(&[(4, id::CRTC), (8, buffer), (12, 1), (16, 0)]);
        list(data, tail, 20, &formats().collect::<Vec<u32>>());
        Ok(())
    }

    /// There are no properties: whoever needs them for atomic changes is told that there are none of these either.
    fn properties(&self, data: &mut Struct<'_>) -> Result {
        if ![id::CRTC, id::CONNECTOR, id::PLANE, id::ENCODER].contains(&data.word(20)) {
            return Err(errno::ENOENT);
        }
        data.set(16, 0);
        Ok(())
    }

    /// The one mode, as the interface has it.
    fn mode(&self) -> Vec<u8> {
        let (width, height) = (self.screen.width as u16, self.screen.height as u16);
        let rate = if self.screen.rate == 0 { 60 } else { self.screen.rate };
        let (total_width, total_height) = (width + 160, height + 40);
        let clock = u32::from(total_width) * u32::from(total_height) / 1000 * rate;
        let mut mode = clock.to_ne_bytes().to_vec();
        let across = [width, width + 48, width + 80, total_width, 0];
        let down = [height, height + 3, height + 8, total_height, 0];
        mode.extend([across, down].concat().into_iter().flat_map(u16::to_ne_bytes));
        // Preferred, from the driver.
        mode.extend([rate, 0, 0x48].map(u32::to_ne_bytes).concat());
        mode.extend(format!("{width}x{height}").bytes());
        mode.resize(MODE, 0);
        mode
    }

    fn create_dumb(&mut self, data: &mut Struct<'_>) -> Result {
        let (height, width, bits) = (data.word(0), data.word(4), data.word(8));
        if width == 0 || height == 0 || bits == 0 || bits > 32 || data.word(12) != 0 {
            return Err(errno::EINVAL);
        }
        // The driver's tiles want rows of whole ones.
        let pitch = u64::from(width) * u64::from(bits.div_ceil(8));
        let pitch = pitch.next_multiple_of(64);
        let size = (pitch * u64::from(height)).next_multiple_of(u64::from(PAGE));
        let size = u32::try_from(size).map_err(|_| errno::ENOMEM)?;
        if u64::from(size) > self.options.memory {
            return Err(errno::ENOMEM);
        }
        let object = self.registry().create(size).map_err(system)?;
        let handle = self.handle(object)?;
        data.set(16, handle);
        data.set(20, pitch as u32);
        data.set_long(24, u64::from(size));
        Ok(())
    }

    fn add_old_buffer(&mut self, data: &mut Struct<'_>) -> Result {
        let format = match (data.word(16), data.word(20)) {
            (32, 24) => *b"XR24",
            (32, 32) => *b"AR24",
            (16, 16) => *b"RG16",
            _ => return Err(errno::EINVAL),
        };
        let [width, height, pitch, handle] = [4, 8, 12, 24].map(|at| data.word(at));
        let format = u32::from_le_bytes(format);
        let number = self.insert_buffer(handle, [width, height, pitch, 0], format)?;
        data.set(0, number);
        Ok(())
    }

    fn add_buffer(&mut self, data: &mut Struct<'_>) -> Result {
        let [width, height, format, flags, handle, pitch, offset] = [4, 8, 12, 16, 20, 36, 52].map(|at| data.word(at));
        // With modifiers: rows, that is none.
        if flags & !MODIFIERS != 0 || (flags & MODIFIERS != 0 && data.long(72) != 0) || pixel_bytes(format).is_none() {
            return Err(errno::EINVAL);
        }
        let number = self.insert_buffer(handle, [width, height, pitch, offset], format)?;
        data.set(0, number);
        Ok(())
    }

    fn insert_buffer(&mut self, handle: u32, [width, height, pitch, offset]: [u32; 4], format: u32) -> Result<u32> {
        if self.buffers.len() >= MAX {
            return Err(errno::ENOMEM);
        }
        let object = self.object(handle)?.clone();
        let buffer = FrameBuffer {
            mapping: object.clone().map().map_err(system)?,
            object,
            width,
            height,
            pitch,
            offset,
            format,
        };
        if !buffer.is_whole() {
            return Err(errno::EINVAL);
        }
        let number = free_number(&self.buffers, 100);
        self.buffers.insert(number, Arc::new(buffer));
        Ok(number)
    }

    fn remove_buffer(&mut self, number: u32) -> Result {
        self.buffers.remove(&number).ok_or(errno::ENOENT)?;
        self.shown = self.shown.filter(|(shown, _)| *shown != number);
        Ok(())
    }
}

/// Words behind the struct, and how many in it.
fn list(data: &mut Struct<'_>, tail: &mut Vec<u8>, count_at: usize, words: &[u32]) {
    data.set(count_at, words.len() as u32);
    tail.extend(words.iter().flat_map(|word| word.to_ne_bytes()));
}

fn known(asked: u32, there: u32) -> Result {
    if asked == there { Ok(()) } else { Err(errno::ENOENT) }
}

fn capability(number: u64) -> Result<u64> {
    Ok(match number {
        capability::DUMB_BUFFER | capability::TIMESTAMP_MONOTONIC | capability::CRTC_IN_VBLANK_EVENT => 1,
        capability::DUMB_PREFERRED_DEPTH => 24,
        capability::PRIME => capability::IMPORT | capability::EXPORT,
        capability::CURSOR_WIDTH | capability::CURSOR_HEIGHT => 64,
        _ => 0,
    })
}

fn client_capability(number: u64, value: u64) -> Result {
    // Universal planes; not: stereo, atomic, aspect ratios, write-back.
    if number == client_capability::UNIVERSAL_PLANES && value <= 1 {
        Ok(())
    } else {
        Err(errno::EINVAL)
    }
}
