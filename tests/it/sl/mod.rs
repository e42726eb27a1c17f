//! The execution of Swanson SL libraries.

mod memory;
mod run;
