//! Machine code in memory that can be run.
//!
//! In: a graph. Out: code for each kind of call, compiled on demand ([`variants`]); [`code`] has all that is unsafe.

#[cfg(any(all(target_arch = "x86_64", unix), all(target_arch = "aarch64", target_os = "linux")))]
pub(crate) mod code;
#[cfg(not(any(all(target_arch = "x86_64", unix), all(target_arch = "aarch64", target_os = "linux"))))]
#[path = "unsupported.rs"]
pub(crate) mod code;
pub(crate) mod variants;
