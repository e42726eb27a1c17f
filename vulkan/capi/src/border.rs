//! What every function does at the border: results, messages, panics, pointers.

use std::any::Any;
use std::cell::RefCell;
use std::ffi::{CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// How a call ended.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Result {
    /// It did what it says.
    Ok = 0,
    /// A list has more elements than there was room for; those that fit were written.
    Incomplete = 1,
    /// An argument is NULL, no known number, or does not go with the others.
    Argument = 2,
    /// The file breaks its format.
    Invalid = 3,
    /// The file is good; this library or the device cannot do what it asks for.
    Unsupported = 4,
    /// What is asked for is not in the file.
    NotFound = 5,
    /// A call of Vulkan failed.
    Vulkan = 6,
    /// There is no memory on the device.
    Memory = 7,
    /// A mistake in this library; the objects involved are best destroyed.
    Panic = 8,
}

/// Why a call failed: code and words.
pub(crate) struct Failure(pub Result, pub String);

impl Failure {
    pub fn argument(message: impl Into<String>) -> Self {
        Self(Result::Argument, message.into())
    }
}

impl From<loader::Error> for Failure {
    fn from(error: loader::Error) -> Self {
        let result = match error.kind() {
            loader::ErrorKind::Invalid => Result::Invalid,
            loader::ErrorKind::Unsupported => Result::Unsupported,
        };
        Self(result, error.to_string())
    }
}

impl From<vulkan::Error> for Failure {
    fn from(error: vulkan::Error) -> Self {
        use vulkan::ErrorKind;
        let result = match error.kind() {
            ErrorKind::Load(error) => return error.clone().into(),
            ErrorKind::Unsupported(_) | ErrorKind::NoDevice(_) => Result::Unsupported,
            ErrorKind::Data(_) => Result::Argument,
            ErrorKind::Memory(_) => Result::Memory,
            _ => Result::Vulkan,
        };
        Self(result, error.to_string())
    }
}

thread_local! {
    /// The words of this thread's last failure.
    static MESSAGE: RefCell<CString> = RefCell::default();
}

/// A C string of any text; NUL ends it early.
pub(crate) fn c_string(text: String) -> CString {
    let end = text.bytes().position(|byte| byte == 0).unwrap_or(text.len());
    CString::new(&text.as_bytes()[..end]).unwrap_or_default()
}

fn said(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no words")
}

/// Runs the body of a function: its failure becomes the thread's message, a panic a result.
pub(crate) fn border(body: impl FnOnce() -> std::result::Result<(), Failure>) -> Result {
    // What a panic leaves half done is the caller's object under construction, which it never gets.
    let ended = catch_unwind(AssertUnwindSafe(body));
    let Failure(result, message) = match ended {
        Ok(Ok(())) => return Result::Ok,
        Ok(Err(failure)) => failure,
        Err(payload) => Failure(Result::Panic, format!("a mistake in this library: {}", said(&*payload))),
    };
    MESSAGE.with(|place| *place.borrow_mut() = c_string(message));
    result
}

/// The words of the last failure on this thread, in UTF-8; empty before the first. They stay until the next call on
/// this thread that fails.
#[unsafe(no_mangle)]
pub extern "C" fn skrymir_error_message() -> *const c_char {
    MESSAGE.with(|place| place.borrow().as_ptr())
}

/// The library's version, such as "0.1.0".
#[unsafe(no_mangle)]
pub extern "C" fn skrymir_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// Frees a text that a function of this library gave.
///
/// # Safety
/// NULL, or such a text that has not been freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skrymir_string_free(text: *mut c_char) {
    if !text.is_null() {
        // SAFETY: the caller's word: it came from `CString::into_raw` and has not been taken back.
        drop(unsafe { CString::from_raw(text) });
    }
}

/// What a pointer argument points to.
///
/// # Safety
/// NULL, or alive and unchanged for as long as the result is used.
pub(crate) unsafe fn given<'a, T>(pointer: *const T, name: &str) -> std::result::Result<&'a T, Failure> {
    // SAFETY: the caller's.
    unsafe { pointer.as_ref() }.ok_or_else(|| Failure::argument(format!("{name} is NULL")))
}

/// The bytes or elements that pointer and count say.
///
/// # Safety
/// As [`given`], for `count` elements; NULL only where `count` is 0.
pub(crate) unsafe fn slice<'a, T>(
    pointer: *const T,
    count: usize,
    name: &str,
) -> std::result::Result<&'a [T], Failure> {
    if count == 0 {
        return Ok(&[]);
    }
    if pointer.is_null() {
        return Err(Failure::argument(format!("{name} is NULL")));
    }
    if count > isize::MAX as usize / size_of::<T>().max(1) {
        return Err(Failure::argument(format!(
            "{count} elements of {name} are more than there can be"
        )));
    }
    // SAFETY: the caller's; the length was checked just now.
    Ok(unsafe { std::slice::from_raw_parts(pointer, count) })
}

/// Where a function puts its result.
///
/// # Safety
/// NULL, or valid for a write.
pub(crate) unsafe fn put<T>(
    place: *mut T,
    name: &str,
    value: impl FnOnce() -> std::result::Result<T, Failure>,
) -> std::result::Result<(), Failure> {
    if place.is_null() {
        return Err(Failure::argument(format!("{name} is NULL")));
    }
    let value = value()?;
    // SAFETY: the caller's.
    unsafe { place.write(value) };
    Ok(())
}

/// An object for the caller to keep.
///
/// # Safety
/// As [`put`].
pub(crate) unsafe fn put_object<T>(
    place: *mut *mut T,
    name: &str,
    object: impl FnOnce() -> std::result::Result<T, Failure>,
) -> std::result::Result<(), Failure> {
    // SAFETY: the caller's.
    unsafe { put(place, name, || Ok(Box::into_raw(Box::new(object()?)))) }
}

/// Takes an object back and drops it; a panic on the way ends there.
///
/// # Safety
/// NULL, or what [`put_object`] gave and nobody took back.
pub(crate) unsafe fn destroy<T>(object: *mut T) {
    if !object.is_null() {
        // SAFETY: the caller's.
        let object = unsafe { Box::from_raw(object) };
        let _ = catch_unwind(AssertUnwindSafe(|| drop(object)));
    }
}

/// A list as Vulkan gives lists: without a place only its length; else as many as there is room for, and how many that
/// was.
///
/// # Safety
/// `count` is NULL or valid for reads and writes; `place` is NULL or valid for writes of `*count` elements.
pub(crate) unsafe fn list<T: Copy>(
    all: &[T],
    count: *mut u32,
    place: *mut T,
    name: &str,
) -> std::result::Result<(), Failure> {
    // SAFETY: the caller's.
    let count = unsafe { count.as_mut() }.ok_or_else(|| Failure::argument(format!("the count of {name} is NULL")))?;
    let room = match place.is_null() {
        true => all.len(),
        false => all.len().min(*count as usize),
    };
    *count = room as u32;
    if !place.is_null() {
        // SAFETY: the caller's: there is room for `room` elements, which are at most `*count`.
        unsafe { place.copy_from_nonoverlapping(all.as_ptr(), room) };
    }
    match room < all.len() {
        true => Err(Failure(
            Result::Incomplete,
            format!("{} {name}, room for {room}", all.len()),
        )),
        false => Ok(()),
    }
}
