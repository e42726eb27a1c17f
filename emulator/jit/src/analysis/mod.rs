//! What is known of a graph before there is code of it.
//!
//! In: a graph. Out: what its values may come to ([`ranges`]), which rows of lanes share them ([`uniformity`]), and in which
//! order they are computed and used ([`schedule`]).

pub(crate) mod ranges;
pub(crate) mod schedule;
pub(crate) mod uniformity;
