//! Programs that are one piece of machine code, from the places of fragments to the words of the picture.
//!
//! In: fragments of one primitive ([`straight`], [`branching`]) or of many ([`batched`]). Out: their words.

pub(crate) mod batched;
pub(crate) mod branching;
pub(crate) mod straight;
