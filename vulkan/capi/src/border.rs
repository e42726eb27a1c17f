//! The C boundary: results, messages, panics, pointers.

use std::any::Any;
use std::cell::RefCell;
use std::ffi::{CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The result of a call.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Result {
    /// Success.
    Ok = 0,
    /// A list has more elements than fit; those that fit were written.
    Incomplete = 1,
    /// An argument is NULL, an unknown enumerant, or inconsistent with the others.
    Argument = 2,
    /// The file breaks its format.
    Invalid = 3,
    /// The file is valid, but this library or the device does not support it.
    Unsupported = 4,
    /// The requested item is not in the file.
    NotFound = 5,
    /// A Vulkan call failed.
    Vulkan = 6,
    /// Out of device memory.
    Memory = 7,
    /// A bug in this library; the objects involved should be destroyed.
    Panic = 8,
}

/// Why a call failed: result and message.
pub(crate) struct Failure(pub Result, pub String);

impl Failure {
    pub(crate) fn argument(message: impl Into<String>) -> Self {
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
    /// This thread's last error message.
    static MESSAGE: RefCell<CString> = RefCell::default();
}

/// A C string of any text, cut at the first NUL.
pub(crate) fn c_string(text: String) -> CString {
    let end = text.bytes().position(|byte| byte == 0).unwrap_or(text.len());
    CString::new(&text.as_bytes()[..end]).unwrap_or_default()
}

fn said(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no words")
}

/// Runs the body of a function: a failure sets the thread's message, a panic becomes a result.
pub(crate) fn border(body: impl FnOnce() -> std::result::Result<(), Failure>) -> Result {
    // A panic can only leave an object under construction unfinished, which the caller never receives.
    let ended = catch_unwind(AssertUnwindSafe(body));
    let Failure(result, message) = match ended {
        Ok(Ok(())) => return Result::Ok,
        Ok(Err(failure)) => failure,
        Err(payload) => Failure(Result::Panic, format!("a mistake in this library: {}", said(&*payload))),
    };
    MESSAGE.with(|place| *place.borrow_mut() = c_string(message));
    result
}

/// The last error message on this thread, in UTF-8; empty before the first error. It is valid until the next failing
/// call on this thread.
#[unsafe(no_mangle)]
pub extern "C" fn skrymir_error_message() -> *const c_char {
    MESSAGE.with(|place| place.borrow().as_ptr())
}

/// The library's version, such as "0.1.0".
#[unsafe(no_mangle)]
pub extern "C" fn skrymir_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// Frees a string returned by a function of this library.
///
/// # Safety
/// NULL, or such a string that has not been freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skrymir_string_free(text: *mut c_char) {
    if !text.is_null() {
        // SAFETY: the caller guarantees that it came from `CString::into_raw` and has not been freed.
        drop(unsafe { CString::from_raw(text) });
    }
}

/// Dereferences a pointer argument.
///
/// # Safety
/// NULL, or alive and unchanged for as long as the result is used.
pub(crate) unsafe fn given<'a, T>(pointer: *const T, name: &str) -> std::result::Result<&'a T, Failure> {
    // SAFETY: guaranteed by the caller.
    unsafe { pointer.as_ref() }.ok_or_else(|| Failure::argument(format!("{name} is NULL")))
}

/// The elements at a pointer argument with a count.
///
/// # Safety
/// See [`given`], for `count` elements; NULL only if `count` is 0.
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
        return Err(Failure::argument(format!("{name} has too many elements: {count}")));
    }
    // SAFETY: guaranteed by the caller; the length was checked above.
    Ok(unsafe { std::slice::from_raw_parts(pointer, count) })
}

/// Writes a function's result.
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
    // SAFETY: guaranteed by the caller.
    unsafe { place.write(value) };
    Ok(())
}

/// Writes a new object's pointer for the caller.
///
/// # Safety
/// See [`put`].
pub(crate) unsafe fn put_object<T>(
    place: *mut *mut T,
    name: &str,
    object: impl FnOnce() -> std::result::Result<T, Failure>,
) -> std::result::Result<(), Failure> {
    // SAFETY: guaranteed by the caller.
    unsafe { put(place, name, || Ok(Box::into_raw(Box::new(object()?)))) }
}

/// Destroys an object; a panic in its destructor is caught.
///
/// # Safety
/// NULL, or a pointer from [`put_object`] that has not been destroyed.
pub(crate) unsafe fn destroy<T>(object: *mut T) {
    if !object.is_null() {
        // SAFETY: guaranteed by the caller.
        let object = unsafe { Box::from_raw(object) };
        let _ = catch_unwind(AssertUnwindSafe(|| drop(object)));
    }
}

/// Returns a list as Vulkan does: without an array, only its length; else as many elements as fit, and their number.
///
/// # Safety
/// `count` is NULL or valid for reads and writes; `place` is NULL or valid for writes of `*count` elements.
pub(crate) unsafe fn list<T: Copy>(
    all: &[T],
    count: *mut u32,
    place: *mut T,
    name: &str,
) -> std::result::Result<(), Failure> {
    // SAFETY: guaranteed by the caller.
    let count = unsafe { count.as_mut() }.ok_or_else(|| Failure::argument(format!("the count of {name} is NULL")))?;
    let room = match place.is_null() {
        true => all.len(),
        false => all.len().min(*count as usize),
    };
    *count = room as u32;
    if !place.is_null() {
        // SAFETY: guaranteed by the caller: there is space for `room` elements, at most `*count`.
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
