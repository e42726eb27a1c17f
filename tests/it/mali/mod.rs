//! Mali-400 programs and jobs.

mod browser;
mod cli;
mod conformance;
mod devtools;
mod diff;
mod draw;
mod engines;
mod fuzz;
mod inspect;
mod levels;
mod lift;
mod meshes;
mod observe;
mod pairs;
mod random;
mod replay;
mod silicon;
mod text;
mod trim;
