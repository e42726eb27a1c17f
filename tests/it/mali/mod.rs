//! Mali-400 programs and jobs.

mod animation;
mod browser;
mod cli;
mod conformance;
pub(crate) mod devtools;
mod diff;
mod draw;
mod engines;
mod field;
mod fuzz;
mod glsl;
mod inspect;
mod levels;
mod lift;
mod meshes;
mod observe;
mod pairs;
mod random;
mod reach;
mod replay;
mod silicon;
mod trim;
