//! A Mali-400 or Mali-450 as a device on a bus: registers, page tables and interrupts in front of the emulator.
//!
//! Whole-system emulators map it at the address of the system's GPU. The guest's own driver (Linux's lima) sees the
//! expected versions, resets and interrupts, and its jobs run on the device's threads. Addresses are translated by the
//! guest's page tables, and guest memory is accessed in place.
//!
//! A bus with memory at 0x40000000, a GPU, and a driver's first accesses:
//!
//! ```
//! # use emulator as skrymir_emulator;
//! use skrymir_emulator::exec::wide::Wide;
//! use skrymir_board::{Device, Line, Model, Options, Product, Ram};
//! use std::sync::Arc;
//! use std::sync::atomic::{AtomicU32, Ordering};
//!
//! # fn main() -> std::io::Result<()> {
//! let ram = Arc::new(Ram::zeroed(0x4000_0000, 1 << 20));
//! let lines = Arc::new(AtomicU32::new(0));
//! let mut options = Options::new(|| Box::<Wide>::default());
//! options.model = Model::new(Product::Mali400, 2).expect("MP2 exists");
//! let levels = lines.clone();
//! options.line = Box::new(move |line: Line, level| {
//!     let bit = 1 << line.number();
//!     if level { levels.fetch_or(bit, Ordering::SeqCst) } else { levels.fetch_and(!bit, Ordering::SeqCst) };
//! });
//! let gpu = Device::new(ram, options)?;
//!
//! assert_eq!(gpu.read32(0x006c), 0x0b07_0101, "the geometry processor of a Mali-400");
//! gpu.write32(0x002c, 1 << 19); // unmask the end of a reset
//! gpu.write32(0x0020, 1 << 10); // soft reset
//! assert_eq!(gpu.read32(0x0030), 1 << 19);
//! assert_eq!(lines.load(Ordering::SeqCst), 1 << Line::Gp.number());
//! gpu.write32(0x0028, 1 << 19);
//! assert_eq!(lines.load(Ordering::SeqCst), 0);
//! println!("{}", gpu.model().describe(0x0028, 1 << 19));
//! # Ok(())
//! # }
//! ```
//!
//! [`c`] is the same for C; `qemu/` has a QEMU device that uses it. [`trace`] records and replays the register accesses
//! of a driver.

mod bus;
pub mod c;
mod device;
mod job;
mod layout;
mod mmu;
pub mod play;
mod record;
pub mod registers;
mod state;
pub mod trace;

pub use bus::{Bus, Ram};
pub use device::{BUDGET, Device, LineChanged, Options, Report};
pub use layout::{Line, Model, Placed, Product, Row, SIZE_400, SIZE_450, Unit};
pub use record::{Open, Recording};
