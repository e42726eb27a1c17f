//! The server: a socket in a folder, the device's files beside it, a thread for every open device.

use crate::connection;
use crate::device::Device;
use crate::object::Registry;
use crate::{Event, Watch};
use emulator::exec::Engine;
use emulator::gpu::memory::Memory;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

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

/// How devices are.
pub struct Options {
    /// Which GPU.
    pub hardware: Hardware,
    /// Pixel processors it says it has.
    pub pps: u32,
    /// Threads that paint tiles.
    pub threads: usize,
    /// What runs the programs.
    pub engine: Box<dyn Fn() -> Box<dyn Engine> + Send + Sync>,
    /// Who watches.
    pub watcher: Box<Watcher>,
    /// All objects of all devices.
    pub registry: Registry,
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
            engine: Box::new(engine),
            watcher: Box::new(|_| Box::new(Nobody)),
            registry: Registry::default(),
        }
    }
}

/// A running server; its folder is emptied when it goes.
#[derive(Debug)]
pub struct Server {
    folder: PathBuf,
    open: Arc<AtomicU64>,
}

impl Server {
    /// Starts a server in `folder`, which must be there, on a thread of its own.
    ///
    /// # Errors
    /// What the system says, for instance that the folder's path is too long for a socket.
    pub fn start(folder: &Path, options: Options) -> io::Result<Self> {
        node(folder, options.hardware)?;
        let socket = rustix::net::socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
        let path = folder.join("socket");
        rustix::net::bind(&socket, &SocketAddrUnix::new(&path)?)?;
        rustix::net::listen(&socket, 128)?;
        let open = Arc::new(AtomicU64::new(0));
        let counter = open.clone();
        std::thread::Builder::new()
            .name("mali".into())
            .spawn(move || accept(&socket, &Arc::new(options), &counter))?;
        Ok(Self {
            folder: folder.to_owned(),
            open,
        })
    }

    /// Devices that are open now.
    pub fn open_devices(&self) -> u64 {
        self.open.load(Ordering::Acquire)
    }

    /// What the front reads: names and values.
    pub fn environment(&self) -> [(&'static str, PathBuf); 2] {
        [
            ("SKRYMIR_SOCKET", self.folder.join("socket")),
            ("SKRYMIR_ROOT", self.folder.clone()),
        ]
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        for name in ["dev", "sys"] {
            let _ = fs::remove_dir_all(self.folder.join(name));
        }
        let _ = fs::remove_file(self.folder.join("socket"));
    }
}

/// The node and its sysfs files (facts/mali/lima-uapi.md, 1).
fn node(folder: &Path, hardware: Hardware) -> io::Result<()> {
    let number = match hardware {
        Hardware::Mali400 => 400,
        Hardware::Mali450 => 450,
    };
    let device = folder.join("sys/devices/mali");
    let char_device = folder.join("sys/dev/char/226:128");
    let class = folder.join("sys/class/drm/renderD128");
    let drm = device.join("drm/renderD128");
    for directory in [&folder.join("dev/dri"), &drm, &char_device, &class] {
        fs::create_dir_all(directory)?;
    }
    fs::create_dir_all(folder.join("sys/bus/platform"))?;
    fs::write(folder.join("dev/dri/renderD128"), "")?;
    fs::write(
        device.join("uevent"),
        format!(
            "DRIVER=lima\nOF_NAME=gpu\nOF_FULLNAME=/soc/mali\nOF_COMPATIBLE_0=arm,mali-{number}\nOF_COMPATIBLE_N=1\n"
        ),
    )?;
    let uevent = "MAJOR=226\nMINOR=128\nDEVNAME=dri/renderD128\nDEVTYPE=drm_minor\n";
    for place in [&drm, &char_device, &class] {
        fs::write(place.join("uevent"), uevent)?;
        symlink(&device, place.join("device"))?;
    }
    symlink(folder.join("sys/bus/platform"), device.join("subsystem"))
}

fn accept(socket: &OwnedFd, options: &Arc<Options>, open: &Arc<AtomicU64>) {
    for number in 0.. {
        let client = match rustix::net::accept_with(socket, SocketFlags::CLOEXEC) {
            Ok(client) => client,
            Err(rustix::io::Errno::INTR | rustix::io::Errno::CONNABORTED) => continue,
            Err(rustix::io::Errno::MFILE | rustix::io::Errno::NFILE | rustix::io::Errno::NOMEM) => {
                // Others will close theirs.
                std::thread::sleep(std::time::Duration::from_millis(10));
                continue;
            }
            Err(_) => break,
        };
        let (options, count) = (options.clone(), open.clone());
        count.fetch_add(1, Ordering::AcqRel);
        let serve = move || {
            let watch = (options.watcher)(number);
            connection::serve(&client, &mut Device::new(options, watch));
            count.fetch_sub(1, Ordering::AcqRel);
        };
        if std::thread::Builder::new()
            .name(format!("mali {number}"))
            .spawn(serve)
            .is_err()
        {
            open.fetch_sub(1, Ordering::AcqRel);
        }
    }
}
