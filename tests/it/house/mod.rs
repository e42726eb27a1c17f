//! Checks of the repository itself.

mod book;
mod circles;
mod links;
mod packages;
mod signatures;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod vectors;
mod words;
