//! From programs to machine code: a program is cut into regions that run from their first instruction to their last.
//!
//! In: a program as the wide engine has it. Out: code for each region, with the few operations in between that are left to the
//! wide engine ([`fragment`], [`vertex`]), and the [`paths`] through a program that branches.

pub(crate) mod fragment;
pub(crate) mod paths;
pub(crate) mod vertex;
