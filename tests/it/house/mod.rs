//! The repository itself: what it says of itself is true.

mod links;
mod signatures;
mod words;
