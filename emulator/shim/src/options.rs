//! How devices are.

use crate::event::{Event, Watch};
use crate::input::Input;
use crate::object::Registry;
use crate::screen::Screen;
use crate::stats::Clients;
use emulator::exec::Engine;
use emulator::memory::Memory;
use std::sync::Arc;

/// Which GPU a device says it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Hardware {
    /// Mali-400, 1 to 4 pixel processors.
    #[default]
    Mali400,
    /// Mali-450, 1 to 8.
    Mali450,
}

/// Makes a watcher for every open device, by its number from 0.
pub type Watcher = dyn Fn(u64) -> Box<dyn Watch> + Send + Sync;

/// Bytes of all of a device's objects at most: its address space.
pub const ADDRESS_SPACE: u64 = 1 << 32;

/// How devices are.
pub struct Options {
    /// Which GPU.
    pub hardware: Hardware,
    /// Pixel processors it says it has.
    pub pps: u32,
    /// Threads that paint tiles.
    pub threads: usize,
    /// Bytes of all of a device's objects at most; what is asked for beyond is refused as by a machine without memory.
    pub memory: u64,
    /// What runs the programs.
    pub engine: Box<dyn Fn() -> Box<dyn Engine> + Send + Sync>,
    /// Who watches.
    pub watcher: Box<Watcher>,
    /// All objects of all devices.
    pub registry: Registry,
    /// All open devices.
    pub clients: Clients,
    /// The screen of the display device, if there is one.
    pub screen: Option<Arc<Screen>>,
    /// Keyboard and pointer, if there are any.
    pub input: Option<Arc<Input>>,
    /// The seat they belong to.
    pub seat: String,
}

/// Somebody who does not care.
struct Nobody;

impl Watch for Nobody {
    fn event(&mut self, _: &Memory, _: &Event<'_>) {}
}

impl Options {
    /// A Mali-400 with one pixel processor; an engine for every device.
    pub fn new(engine: impl Fn() -> Box<dyn Engine> + Send + Sync + 'static) -> Self {
        Self {
            hardware: Hardware::default(),
            pps: 1,
            threads: 1,
            memory: ADDRESS_SPACE,
            engine: Box::new(engine),
            watcher: Box::new(|_| Box::new(Nobody)),
            registry: Registry::default(),
            clients: Clients::default(),
            screen: None,
            input: None,
            seat: "seat0".into(),
        }
    }
}
