//! The repository itself: what it says of itself is true.

mod links;
