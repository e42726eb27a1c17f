//! The native engine beside the scalar one.

pub(super) mod lockstep;
mod sampled;
#[cfg(any(all(target_arch = "x86_64", unix), all(target_arch = "aarch64", target_os = "linux")))]
mod words;
