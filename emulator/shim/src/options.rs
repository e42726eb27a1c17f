//! Options of devices.

use crate::event::{Event, Watch};
use crate::input::Input;
use crate::object::Registry;
use crate::screen::Screen;
use crate::stats::Clients;
use emulator::exec::Engine;
use emulator::memory::Memory;
use std::sync::Arc;
use std::time::Duration;

/// The GPU that a device reports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Hardware {
    /// Mali-400, 1 to 4 pixel processors.
    #[default]
    Mali400,
    /// Mali-450, 1 to 8 pixel processors.
    Mali450,
}

/// Creates an observer for every open device, given its number.
pub type Watcher = dyn Fn(u64) -> Box<dyn Watch> + Send + Sync;

/// Maximum total bytes of a device's objects: its address space.
pub(crate) const ADDRESS_SPACE: u64 = 1 << 32;

/// How long the jobs of a closed device wait for other devices' fences, as in the kernel.
pub(crate) const GRACE: Duration = Duration::from_secs(1);

/// Options of devices.
pub struct Options {
    /// The reported GPU.
    pub hardware: Hardware,
    /// The reported number of pixel processors.
    pub pps: u32,
    /// Threads that shade tiles.
    pub threads: usize,
    /// Limit on the total bytes of a device's objects; allocations beyond it fail as if out of memory.
    pub memory: u64,
    /// Creates the engine that runs programs.
    pub engine: Box<dyn Fn() -> Box<dyn Engine> + Send + Sync>,
    /// Creates the observers.
    pub watcher: Box<Watcher>,
    /// How long a closed device's jobs may still run, and wait for fences of other devices; without it they run to their
    /// end, and wait for at most a second.
    pub grace: Option<Duration>,
    /// All objects of all devices.
    pub registry: Registry,
    /// All open devices.
    pub clients: Clients,
    /// The screen of the display device, if any.
    pub screen: Option<Arc<Screen>>,
    /// Keyboard and pointer, if any.
    pub input: Option<Arc<Input>>,
    /// Their seat.
    pub seat: String,
}

/// An observer that ignores all events.
struct IgnoreEvents;

impl Watch for IgnoreEvents {
    fn event(&mut self, _: &Memory, _: &Event<'_>) {}
}

impl Options {
    /// A Mali-400 with one pixel processor, and a second of grace; `engine` is called for every device.
    pub fn new(engine: impl Fn() -> Box<dyn Engine> + Send + Sync + 'static) -> Self {
        Self {
            hardware: Hardware::default(),
            pps: 1,
            threads: 1,
            memory: ADDRESS_SPACE,
            engine: Box::new(engine),
            watcher: Box::new(|_| Box::new(IgnoreEvents)),
            grace: Some(GRACE),
            registry: Registry::default(),
            clients: Clients::default(),
            screen: None,
            input: None,
            seat: "seat0".into(),
        }
    }
}
