//! The repository itself: what it says of itself is true.

mod book;
mod circles;
mod links;
mod packages;
mod signatures;
mod words;
