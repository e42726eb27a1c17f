//! The display's device node: the kernel mode setting interface, as far as programs without a window system use it.

use crate::abi::{MODIFIERS, Struct, capability, client_capability, errno, free_number, number, system, words};
use crate::connection::Node;
use crate::fence::{self, Signal};
use crate::object::{Object, Registry};
use crate::options::Options;
use crate::properties::{Property, Row, State, name};
use crate::quota::{Account, Charge, Resource};
use crate::screen::{Flip, FrameBuffer, Screen, formats, id, pixel_bytes};
use crate::wire::{Answer, What};
use emulator::memory::PAGE;
use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::sync::Arc;

pub(crate) type Result<T = (), E = i32> = std::result::Result<T, E>;

/// First mmap offset of objects.
const OFFSETS: u64 = 1 << 32;

/// Limit on handles, and on framebuffers.
const MAX: usize = 1 << 16;

/// Bytes of a mode.
const MODE: usize = 68;

/// The blob of the only mode.
const MODE_BLOB: u32 = 1 << 20;

/// Limit on the size of a blob: the capacity of an answer.
const BLOB: usize = 4096;

/// The framebuffer shown before the first program sets one, like a board's console: black.
const CONSOLE: u32 = 39;

/// Width and height of the cursor.
const CURSOR: u32 = 64;

/// An open display device.
pub(crate) struct Card {
    options: Arc<Options>,
    pub(crate) screen: Arc<Screen>,
    socket: Arc<OwnedFd>,
    /// Of the process that opened it.
    pub(crate) account: Account,
    handles: BTreeMap<u32, (Arc<Object>, [Charge; 2])>,
    buffers: BTreeMap<u32, Arc<FrameBuffer>>,
    /// Blobs created by programs, besides [`MODE_BLOB`].
    blobs: BTreeMap<u32, (Vec<u8>, Charge)>,
    /// The values of all properties, whichever interface set them.
    pub(crate) state: State,
    /// Whether the program sees planes other than overlays, and whether it uses atomic changes.
    universal: bool,
    atomic: bool,
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
    /// A newly opened display device.
    pub(crate) fn new(options: Arc<Options>, screen: Arc<Screen>, socket: Arc<OwnedFd>, account: Account) -> Self {
        let mut state = State::default();
        state.show(MODE_BLOB, CONSOLE, (0, 0), (screen.width, screen.height));
        Self {
            options,
            screen,
            socket,
            account,
            handles: BTreeMap::new(),
            buffers: BTreeMap::new(),
            blobs: BTreeMap::new(),
            state,
            universal: false,
            atomic: false,
        }
    }

    pub(crate) fn registry(&self) -> &Registry {
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
            number::SET_CLIENT_CAP => self.client_capability(data.long(0), data.long(8))?,
            number::WAIT_VBLANK => self.vblank(data)?,
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
            number::MODE_SETCRTC => return self.set_crtc(data, behind),
            number::MODE_CURSOR | number::MODE_CURSOR2 => self.cursor(data)?,
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
            number::MODE_GETPLANERESOURCES => {
                let planes: &[u32] = if self.universal { &[id::PLANE] } else { &[] };
                list(data, tail, 8, planes);
            }
            number::MODE_GETPLANE => self.plane(data, tail)?,
            number::MODE_OBJ_GETPROPERTIES => self.properties(data, tail)?,
            number::MODE_GETPROPERTY => property(data, tail)?,
            number::MODE_SETPROPERTY | number::MODE_OBJ_SETPROPERTY => {
                self.set_property(data.word(12), data.word(8), data.long(0))?;
            }
            number::MODE_GETPROPBLOB => self.get_blob(data, tail)?,
            number::MODE_CREATEPROPBLOB => self.create_blob(data, behind)?,
            number::MODE_DESTROYPROPBLOB => _ = self.blobs.remove(&data.word(0)).ok_or(errno::ENOENT)?,
            number::MODE_ATOMIC => return self.commit(data, behind, fd),
            _ => return Err(errno::EINVAL),
        }
        Ok(None)
    }

    fn object(&self, handle: u32) -> Result<&Arc<Object>> {
        let handle = self.handles.get(&handle).ok_or(errno::ENOENT)?;
        Ok(&handle.0)
    }

    /// The object's handle; created on first use.
    fn handle(&mut self, object: Arc<Object>) -> Result<u32> {
        if let Some((handle, _)) = self.handles.iter().find(|(_, (have, _))| Arc::ptr_eq(have, &object)) {
            return Ok(*handle);
        }
        if self.handles.len() >= MAX {
            return Err(errno::ENOMEM);
        }
        let handle = free_number(&self.handles, 1);
        let charges = self.account.charge_object(object.size()).ok_or(errno::ENOMEM)?;
        self.handles.insert(handle, (object, charges));
        Ok(handle)
    }

    fn map(&self, offset: u64, length: u64) -> Result<Answer> {
        let offset = offset.checked_sub(OFFSETS).ok_or(errno::EINVAL)?;
        let page = u64::from(PAGE);
        let handle = u32::try_from(offset / page).map_err(|_| errno::EINVAL)?;
        let (object, _) = self.handles.get(&handle).ok_or(errno::EINVAL)?;
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
        let active = self.state.get(Row::Active) == 1;
        let (buffer, (x, y)) = self.state.shown().unwrap_or_default();
        data.set_all(&[(16, buffer), (20, x), (24, y), (28, 0), (32, active.into())]);
        for (at, word) in words(&self.mode()).into_iter().enumerate() {
            data.set(36 + 4 * at, if active { word } else { 0 });
        }
        Ok(())
    }

    /// Sets a picture, or none; the returned descriptor becomes readable when it is displayed.
    fn set_crtc(&mut self, data: &Struct<'_>, connectors: &[u8]) -> Result<Option<OwnedFd>> {
        known(data.word(12), id::CRTC)?;
        if data.word(32) == 0 {
            self.state = State::default();
            return Ok(None);
        }
        if words(connectors) != [id::CONNECTOR] {
            return Err(errno::EINVAL);
        }
        let mode: Vec<u8> = (36..36 + MODE)
            .step_by(4)
            .flat_map(|at| data.word(at).to_ne_bytes())
            .collect();
        if !self.is_our_mode(&mode) {
            return Err(errno::EINVAL);
        }
        let buffer = match (data.word(16), self.state.shown()) {
            (u32::MAX, Some((buffer, _))) => buffer,
            (buffer, _) => buffer,
        };
        let (signal, seen) = Signal::new();
        let end = fence::all(&[seen], &self.account).map_err(system)?;
        self.show(buffer, (data.word(20), data.word(24)), None, vec![signal])?;
        Ok(Some(end))
    }

    /// Whether a mode has the screen's size.
    pub(crate) fn is_our_mode(&self, mode: &[u8]) -> bool {
        let half = |at: usize| {
            mode.get(at..at + 2)
                .map(|bytes| u32::from(bytes[0]) | u32::from(bytes[1]) << 8)
        };
        mode.len() == MODE && half(4) == Some(self.screen.width) && half(14) == Some(self.screen.height)
    }

    /// The framebuffer with this number, if it contains the screen's picture at a place; `None` for the console's.
    pub(crate) fn picture(&self, buffer: u32, place: (u32, u32)) -> Result<Option<Arc<FrameBuffer>>> {
        if buffer == CONSOLE {
            return Ok(None);
        }
        let frame = self.buffers.get(&buffer).ok_or(errno::ENOENT)?;
        let fits = |from: u32, length: u32, whole: u32| u64::from(from) + u64::from(length) <= u64::from(whole);
        if !fits(place.0, self.screen.width, frame.width) || !fits(place.1, self.screen.height, frame.height) {
            return Err(errno::ENOSPC);
        }
        Ok(Some(frame.clone()))
    }

    /// Shows a framebuffer without atomic changes; `user` requests an event with this value.
    fn show(&mut self, buffer: u32, place: (u32, u32), user: Option<u64>, seen: Vec<Signal>) -> Result {
        let frame = self.picture(buffer, place)?;
        self.flip(frame, place, user, seen)?;
        let size = (self.screen.width, self.screen.height);
        self.state.show(MODE_BLOB, buffer, place, size);
        Ok(())
    }

    /// Queues a new state; fails while a flip with an event is pending.
    pub(crate) fn flip(
        &self,
        buffer: Option<Arc<FrameBuffer>>,
        place: (u32, u32),
        user: Option<u64>,
        seen: Vec<Signal>,
    ) -> Result {
        let flip = Flip {
            buffer,
            place,
            cursor: self.screen.cursor(),
            event: user.map(|user| (self.socket.clone(), user)),
            seen,
        };
        if self.screen.flip(flip) {
            Ok(())
        } else {
            Err(errno::EBUSY)
        }
    }

    fn page_flip(&mut self, data: &Struct<'_>) -> Result {
        known(data.word(0), id::CRTC)?;
        // An event, or none; no asynchronous flips.
        if data.word(8) & !1 != 0 || data.word(12) != 0 {
            return Err(errno::EINVAL);
        }
        let (_, place) = self.state.shown().ok_or(errno::EBUSY)?;
        let user = (data.word(8) & 1 == 1).then(|| data.long(16));
        self.show(data.word(4), place, user, Vec::new())
    }

    /// Redisplays a framebuffer that was drawn to.
    fn show_again(&mut self, buffer: u32) -> Result {
        match self.state.shown() {
            Some((shown, place)) if shown == buffer => self.show(buffer, place, None, Vec::new()),
            _ if self.buffers.contains_key(&buffer) => Ok(()),
            _ => Err(errno::ENOENT),
        }
    }

    /// Sets the cursor's picture, or none, or its position.
    fn cursor(&mut self, data: &Struct<'_>) -> Result {
        const PICTURE: u32 = 1;
        const MOVE: u32 = 2;
        known(data.word(4), id::CRTC)?;
        let flags = data.word(0);
        if flags & !(PICTURE | MOVE) != 0 || flags == 0 {
            return Err(errno::EINVAL);
        }
        let (width, height, handle) = (data.word(16), data.word(20), data.word(24));
        let mut cursor = self.screen.cursor();
        if flags & PICTURE != 0 && handle == 0 {
            cursor.picture = None;
        } else if flags & PICTURE != 0 {
            if width == 0 || height == 0 || width > CURSOR || height > CURSOR {
                return Err(errno::EINVAL);
            }
            let size = [width, height, 4 * width, 0];
            cursor.picture = Some(Arc::new(self.frame_buffer(
                handle,
                size,
                u32::from_le_bytes(*b"AR24"),
            )?));
        }
        if flags & MOVE != 0 {
            cursor.place = (data.word(8) as i32, data.word(12) as i32);
        }
        self.screen.set_cursor(cursor);
        match self.state.shown() {
            Some((buffer, place)) => self.show(buffer, place, None, Vec::new()),
            None => Ok(()),
        }
    }

    /// The current refresh, or a later one to wait for.
    fn vblank(&self, data: &mut Struct<'_>) -> Result {
        const RELATIVE: u32 = 1;
        // No events, and one CRTC.
        if data.word(0) & !RELATIVE != 0 {
            return Err(errno::EINVAL);
        }
        let now = self.screen.refresh();
        let wanted = data
            .word(4)
            .wrapping_add(if data.word(0) & RELATIVE != 0 { now } else { 0 });
        let ahead = wanted.wrapping_sub(now);
        // A past refresh is already over.
        let ahead = if ahead > u32::MAX / 2 { 0 } else { ahead };
        let at = self.screen.refresh_time(now, ahead);
        data.set(4, now.wrapping_add(ahead));
        data.set_long(8, (at / 1_000_000_000) as u64);
        data.set_long(16, (at % 1_000_000_000 / 1000) as u64);
        Ok(())
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
        let [crtc, buffer] = [Row::PlaneCrtc, Row::FrameBuffer].map(|row| self.state.get(row) as u32);
        data.set_all(&[(4, crtc), (8, buffer), (12, 1), (16, 0)]);
        list(data, tail, 20, &formats().collect::<Vec<u32>>());
        Ok(())
    }

    fn properties(&self, data: &mut Struct<'_>, tail: &mut Vec<u8>) -> Result {
        let part = data.word(20);
        if !PARTS.contains(&part) {
            return Err(errno::ENOENT);
        }
        let properties: Vec<&Property> = Property::of(part, self.atomic).collect();
        let ids: Vec<u32> = properties.iter().map(|property| property.id()).collect();
        list(data, tail, 16, &ids);
        let values = properties.iter().map(|property| self.state.get(property.row));
        tail.extend(values.flat_map(u64::to_ne_bytes));
        Ok(())
    }

    /// Sets one property without an atomic change: only the power state can be set.
    fn set_property(&mut self, part: u32, number: u32, value: u64) -> Result {
        let property = Property::by_id(number)?;
        known(part, property.part)?;
        if property.row != Row::Dpms || !property.takes(value) {
            return Err(errno::EINVAL);
        }
        self.state.set(&[(Row::Dpms, value)]);
        Ok(())
    }

    /// Contents of a blob.
    pub(crate) fn blob(&self, number: u32) -> Result<Vec<u8>> {
        match number {
            MODE_BLOB => Ok(self.mode()),
            _ => self
                .blobs
                .get(&number)
                .map(|(bytes, _)| bytes.clone())
                .ok_or(errno::ENOENT),
        }
    }

    fn get_blob(&self, data: &mut Struct<'_>, tail: &mut Vec<u8>) -> Result {
        let bytes = self.blob(data.word(0))?;
        data.set(4, bytes.len() as u32);
        tail.extend(bytes);
        Ok(())
    }

    fn create_blob(&mut self, data: &mut Struct<'_>, bytes: &[u8]) -> Result {
        let length = data.word(8) as usize;
        if length == 0 || length > BLOB {
            return Err(errno::EINVAL);
        }
        // The front end sends only what it can read.
        let bytes = bytes.get(..length).ok_or(errno::EFAULT)?.to_vec();
        if self.blobs.len() >= MAX {
            return Err(errno::ENOMEM);
        }
        let number = free_number(&self.blobs, MODE_BLOB + 1);
        let charge = self.account.charge(Resource::Memory, bytes.len() as u64);
        self.blobs.insert(number, (bytes, charge.ok_or(errno::ENOMEM)?));
        data.set(12, number);
        Ok(())
    }

    fn client_capability(&mut self, number: u64, value: u64) -> Result {
        // Unsupported: stereo, aspect ratios, write-back.
        match (number, value) {
            (client_capability::UNIVERSAL_PLANES, 0 | 1) => self.universal = value == 1,
            (client_capability::ATOMIC, 0..=2) => {
                (self.atomic, self.universal) = (value > 0, value > 0 || self.universal)
            }
            _ => return Err(errno::EINVAL),
        }
        Ok(())
    }

    /// Whether the program uses atomic changes.
    pub(crate) fn is_atomic(&self) -> bool {
        self.atomic
    }

    /// The only mode, in the interface's layout.
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
        // The driver's tiled layout requires rows of whole tiles.
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
        // With modifiers: linear, which means none.
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
        let buffer = self.frame_buffer(handle, [width, height, pitch, offset], format)?;
        let number = free_number(&self.buffers, 100);
        self.buffers.insert(number, Arc::new(buffer));
        Ok(number)
    }

    fn frame_buffer(&self, handle: u32, [width, height, pitch, offset]: [u32; 4], format: u32) -> Result<FrameBuffer> {
        let object = self.object(handle)?.clone();
        let charges = self.account.charge_object(object.size()).ok_or(errno::ENOMEM)?;
        let buffer = FrameBuffer {
            mapping: object.clone().map().map_err(system)?,
            object,
            width,
            height,
            pitch,
            offset,
            format,
            _charges: charges,
        };
        if !buffer.is_whole() {
            return Err(errno::EINVAL);
        }
        Ok(buffer)
    }

    fn remove_buffer(&mut self, number: u32) -> Result {
        self.buffers.remove(&number).ok_or(errno::ENOENT)?;
        if self.state.get(Row::FrameBuffer) == u64::from(number) {
            self.state.set(&[(Row::FrameBuffer, 0), (Row::PlaneCrtc, 0)]);
        }
        Ok(())
    }
}

/// Appends words to the struct's tail, and sets their count.
fn list(data: &mut Struct<'_>, tail: &mut Vec<u8>, count_at: usize, words: &[u32]) {
    data.set(count_at, words.len() as u32);
    tail.extend(words.iter().flat_map(|word| word.to_ne_bytes()));
}

/// Objects with properties.
const PARTS: [u32; 4] = [id::CRTC, id::CONNECTOR, id::PLANE, id::ENCODER];

/// The metadata of a property.
fn property(data: &mut Struct<'_>, tail: &mut Vec<u8>) -> Result {
    let property = Property::by_id(data.word(16))?;
    data.set(20, property.flags());
    for (at, word) in words(&name(property.name)).into_iter().enumerate() {
        data.set(24 + 4 * at, word);
    }
    let values = property.values();
    data.set_all(&[(56, values.len() as u32), (60, property.names().len() as u32)]);
    tail.extend(values.iter().flat_map(|value| value.to_ne_bytes()));
    for (value, text) in (0u64..).zip(property.names()) {
        tail.extend(value.to_ne_bytes());
        tail.extend(name(text));
    }
    Ok(())
}

fn known(asked: u32, there: u32) -> Result {
    if asked == there { Ok(()) } else { Err(errno::ENOENT) }
}

fn capability(number: u64) -> Result<u64> {
    Ok(match number {
        capability::DUMB_BUFFER | capability::TIMESTAMP_MONOTONIC | capability::CRTC_IN_VBLANK_EVENT => 1,
        capability::DUMB_PREFERRED_DEPTH => 24,
        capability::PRIME => capability::IMPORT | capability::EXPORT,
        capability::CURSOR_WIDTH | capability::CURSOR_HEIGHT => CURSOR.into(),
        _ => 0,
    })
}
