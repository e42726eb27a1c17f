//! The C interface; cbindgen generates `include/skrymir_board.h` from this file.
#![allow(unsafe_code)]

use crate::bus::{Bus, Ram};
use crate::device::{Device, Options};
use crate::layout::{Model, Product};
use crate::record::Recording;
use crate::trace::Log;
use emulator::exec::Engine;
use emulator::exec::native::Native;
use emulator::exec::scalar::Scalar;
use emulator::exec::wide::Wide;
use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char, c_void};
use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// A Mali-400 or Mali-450 on a bus.
pub struct Board(Device);

/// Receives a line's new level: the caller's pointer, the line's number, the level. It is called from any thread, also
/// during reads, writes and resets, and must return quickly and not use the device.
pub type LineChanged = Option<unsafe extern "C" fn(user: *mut c_void, line: u32, level: bool)>;

/// Configuration of a device.
#[repr(C)]
pub struct BoardConfig {
    /// 400 or 450.
    pub product: u32,
    /// Pixel processors: 1 to 4 of a Mali-400, 1 to 8 of a Mali-450.
    pub pixel_processors: u32,
    /// Threads that shade tiles; 0 for one per CPU.
    pub threads: u32,
    /// "scalar", "wide" or "native"; NULL for the fastest.
    pub engine: *const c_char,
    /// The guest's memory, aligned to 8 bytes.
    pub memory: *mut c_void,
    /// Its physical address.
    pub memory_address: u64,
    /// Its bytes, a multiple of 8.
    pub memory_size: u64,
    /// Receives the interrupt lines' levels; may be NULL.
    pub line_changed: LineChanged,
    /// Passed to `line_changed`.
    pub user: *mut c_void,
    /// A folder for recordings of jobs, one file for each address space; NULL for none.
    pub record: *const c_char,
    /// A file for a trace of register accesses, interrupt lines and the memory that jobs read; NULL for none. With it,
    /// a job runs within the write that starts it.
    pub registers: *const c_char,
}

/// The line of the geometry processor.
pub const BOARD_LINE_GP: u32 = 0;
/// The line of the geometry processor's MMU.
pub const BOARD_LINE_GP_MMU: u32 = 1;
/// The line of the power unit.
pub const BOARD_LINE_PMU: u32 = 2;
/// The line of all pixel processors of a Mali-450.
pub const BOARD_LINE_ALL_PPS: u32 = 3;
/// The line of the first pixel processor; that of its MMU follows, then those of the other processors.
pub const BOARD_LINE_PP0: u32 = 4;
/// Maximum number of lines.
pub const BOARD_LINES: u32 = 20;

thread_local! {
    static MESSAGE: RefCell<CString> = RefCell::default();
}

fn fail(message: impl Into<String>) {
    let mut text = message.into();
    text.retain(|letter| letter != '\0');
    MESSAGE.with(|place| *place.borrow_mut() = CString::new(text).unwrap_or_default());
}

/// Why the last failed call on this thread failed, in UTF-8; empty if none failed.
#[unsafe(no_mangle)]
pub extern "C" fn skrymir_board_error() -> *const c_char {
    MESSAGE.with(|place| place.borrow().as_ptr())
}

/// Guest memory that the caller owns.
struct Words {
    start: *const AtomicU64,
    length: usize,
}

// SAFETY: the words are accessed as atomics only, by any number of threads.
unsafe impl Send for Words {}
// SAFETY: as above.
unsafe impl Sync for Words {}

impl AsRef<[AtomicU64]> for Words {
    fn as_ref(&self) -> &[AtomicU64] {
        // SAFETY: `skrymir_board_create`'s caller keeps this many words at an aligned address for the device's life.
        // The guest writes them concurrently, as device memory; our accesses are atomic whole words.
        unsafe { std::slice::from_raw_parts(self.start, self.length) }
    }
}

/// The receiver of line changes.
struct Listener {
    changed: unsafe extern "C" fn(*mut c_void, u32, bool),
    user: *mut c_void,
}

// SAFETY: the caller of `skrymir_board_create` promises that the function may be called with the pointer from any thread.
unsafe impl Send for Listener {}
// SAFETY: as above.
unsafe impl Sync for Listener {}

impl Listener {
    fn tell(&self, line: u32, level: bool) {
        // SAFETY: guaranteed by `skrymir_board_create`'s caller.
        unsafe { (self.changed)(self.user, line, level) }
    }
}

/// A text passed by the caller, if any.
///
/// # Safety
/// NULL or a C string.
unsafe fn text<'a>(text: *const c_char) -> Result<Option<&'a str>, String> {
    if text.is_null() {
        return Ok(None);
    }
    // SAFETY: guaranteed by the caller.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str().map(Some).map_err(|_| "a text is not UTF-8".to_owned())
}

fn engine(name: Option<&str>) -> Result<Box<dyn Fn() -> Box<dyn Engine> + Send + Sync>, String> {
    Ok(match name {
        None | Some("native") => Box::new(|| Box::<Native>::default()),
        Some("wide") => Box::new(|| Box::<Wide>::default()),
        Some("scalar") => Box::new(|| Box::new(Scalar)),
        Some(other) => return Err(format!("unknown engine {other}: expected scalar, wide or native")),
    })
}

/// Recordings in a folder, numbered in the order of their address spaces. Unbuffered, with one write per job, because
/// an emulator may exit without destroying its devices.
fn recordings(folder: PathBuf, model: Model) -> Box<crate::record::Open> {
    let next = AtomicU32::new(0);
    let gpu = match model.product() {
        Product::Mali400 => 1,
        Product::Mali450 => 2,
    };
    Box::new(move |_| {
        let path = folder.join(format!("{}.trace", next.fetch_add(1, Ordering::Relaxed)));
        let recording =
            File::create(&path).and_then(|file| Recording::new(Box::new(file), gpu, model.pixel_processors()));
        recording
            .inspect_err(|error| eprintln!("skrymir: cannot write {}: {error}", path.display()))
            .ok()
    })
}

/// # Safety
/// See [`skrymir_board_create`].
unsafe fn create(config: *const BoardConfig) -> Result<Board, String> {
    // SAFETY: guaranteed by the caller.
    let config = unsafe { config.as_ref() }.ok_or("the configuration is NULL")?;
    let product = match config.product {
        400 => Product::Mali400,
        450 => Product::Mali450,
        other => return Err(format!("Mali-{other} is not supported: expected 400 or 450")),
    };
    let model = Model::new(product, config.pixel_processors).ok_or_else(|| {
        format!(
            "no Mali-{} has {} pixel processors",
            config.product, config.pixel_processors
        )
    })?;
    let start: *const AtomicU64 = config.memory.cast_const().cast();
    if start.is_null() || !start.is_aligned() {
        return Err("the guest's memory is NULL or not aligned to 8 bytes".to_owned());
    }
    let length = usize::try_from(config.memory_size / 8).map_err(|_| "the guest's memory is too large")?;
    let words = Words { start, length };
    // SAFETY: guaranteed by the caller.
    let (engine, folder, registers) = unsafe {
        let folder = text(config.record)?;
        (engine(text(config.engine)?)?, folder, text(config.registers)?)
    };
    let mut options = Options::new(engine);
    options.model = model;
    options.threads = match config.threads {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        threads => threads as usize,
    };
    if let Some(changed) = config.line_changed {
        let listener = Listener {
            changed,
            user: config.user,
        };
        options.line = Box::new(move |line, level| listener.tell(line.number(), level));
    }
    options.report = Box::new(|_, fault| eprintln!("skrymir: {fault}"));
    if let Some(folder) = folder {
        std::fs::create_dir_all(folder).map_err(|error| format!("cannot make {folder}: {error}"))?;
        options.record = Some(recordings(Path::new(folder).to_owned(), model));
    }
    let ram = Arc::new(Ram::new(config.memory_address, words));
    if let Some(path) = registers {
        let memory = ram.ram().into_iter().next().unwrap_or_default();
        let log = File::create(path).and_then(|file| Log::new(Box::new(file), model, memory));
        options.log = Some(log.map_err(|error| format!("cannot write {path}: {error}"))?);
    }
    Device::new(ram, options).map(Board).map_err(|error| error.to_string())
}

/// A device in its power-on state, or NULL; `skrymir_board_error` returns the reason.
///
/// # Safety
/// `config` is NULL or a valid configuration: its texts are C strings, its memory has the given size and lives until
/// the device is destroyed, and `line_changed` may be called with `user` from any thread until then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skrymir_board_create(config: *const BoardConfig) -> *mut Board {
    // SAFETY: guaranteed by the caller.
    let made = catch_unwind(AssertUnwindSafe(|| unsafe { create(config) }));
    match made {
        Ok(Ok(board)) => return Box::into_raw(Box::new(board)),
        Ok(Err(message)) => fail(message),
        Err(_) => fail("a mistake in this library"),
    }
    std::ptr::null_mut()
}

/// Destroys a device; a running job writes nothing more.
///
/// # Safety
/// NULL, or a device that no other thread uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skrymir_board_destroy(board: *mut Board) {
    if !board.is_null() {
        // SAFETY: the caller guarantees that it came from `skrymir_board_create` and was not destroyed.
        let board = unsafe { Box::from_raw(board) };
        // A panic must not unwind into C; the device is destroyed either way.
        let _ = catch_unwind(AssertUnwindSafe(move || drop(board)));
    }
}

/// Runs the body of a function on a device; returns `otherwise` on a panic.
///
/// # Safety
/// NULL or a device.
unsafe fn with<T>(board: *const Board, otherwise: T, body: impl FnOnce(&Device) -> T) -> T {
    // SAFETY: guaranteed by the caller.
    let Some(board) = (unsafe { board.as_ref() }) else {
        return otherwise;
    };
    catch_unwind(AssertUnwindSafe(|| body(&board.0))).unwrap_or(otherwise)
}

/// Size of the device's register range in bytes.
///
/// # Safety
/// NULL or a device.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skrymir_board_size(board: *const Board) -> u32 {
    // SAFETY: guaranteed by the caller.
    unsafe { with(board, 0, |device| device.model().size()) }
}

/// Reads the register at a byte offset; 0 if there is none.
///
/// # Safety
/// NULL or a device.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skrymir_board_read(board: *const Board, offset: u32) -> u32 {
    // SAFETY: guaranteed by the caller.
    unsafe { with(board, 0, |device| device.read32(offset)) }
}

/// Writes the register at a byte offset; ignored if there is none.
///
/// # Safety
/// NULL or a device.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skrymir_board_write(board: *const Board, offset: u32, value: u32) {
    // SAFETY: guaranteed by the caller.
    unsafe { with(board, (), |device| device.write32(offset, value)) }
}

/// Asserts the chip's reset line: restores the power-on state.
///
/// # Safety
/// NULL or a device.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skrymir_board_reset(board: *const Board) {
    // SAFETY: guaranteed by the caller.
    unsafe { with(board, (), Device::reset) }
}
