//! The repository itself: what it says of itself is true.

mod book;
mod circles;
mod links;
mod packages;
mod signatures;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod vectors;
mod words;
