//! OpenGL ES 2 programs with Mesa's driver on the emulated device.

mod children;
mod desktop;
mod display;
mod faults;
mod programs;
pub(crate) mod support;
mod toolkits;
