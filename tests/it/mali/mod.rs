//! Mali-400 programs and jobs.

mod cli;
mod draw;
mod engines;
mod fuzz;
mod observe;
mod pairs;
mod random;
mod replay;
mod text;
