//! The server: a socket in a folder with the device's files, and a thread for every open device.

use crate::abi::errno;
use crate::card::Card;
use crate::connection::{self, Node};
use crate::device::Device;
use crate::input;
use crate::options::Options;
use crate::quota::{Account, Charge, Resource};
use crate::stats::Client;
use crate::sysfs;
use crate::wire::{Answer, What};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SendFlags, SocketAddrUnix, SocketFlags, SocketType};
use std::fs;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A running server; its files are removed when it is dropped.
pub struct Server {
    folder: PathBuf,
    options: Arc<Options>,
}

/// Name of the GPU's node, and of its socket in the server's folder.
pub const RENDER: &str = "renderD128";

/// Name of the display node's socket in the folder.
const CARD: &str = "card0";

/// Names of the input nodes' sockets: keyboard and pointer.
const INPUT: [&str; 2] = ["event0", "event1"];

/// Socket for joining fences.
const FENCES: &str = "fences";

/// Socket for listing open devices.
const LIST: &str = "list";

impl Server {
    /// Starts a server in the existing folder `folder`, on threads of its own.
    ///
    /// # Errors
    /// The system's error, for example if the folder's path is too long for a socket.
    pub fn start(folder: &Path, options: Options) -> io::Result<Self> {
        check_folder(folder)?;
        sysfs::gpu(folder, RENDER, options.hardware)?;
        let options = Arc::new(options);
        let numbers = AtomicU64::new(0);
        listen(folder, RENDER, options.clone(), move |options, client| {
            render(&options, numbers.fetch_add(1, Ordering::Relaxed), client)
        })?;
        if let Some(screen) = options.screen.clone() {
            sysfs::display(folder, CARD)?;
            listen(folder, CARD, options.clone(), move |options, client| {
                let screen = screen.clone();
                attend(CARD, options.clone(), client, move |client, account| {
                    Card::new(options, screen, client, account)
                })
            })?;
        }
        for (device, name) in options.input.iter().flat_map(|input| input.devices()).zip(INPUT) {
            sysfs::input(folder, name, device, &options.seat)?;
            let device = device.clone();
            listen(folder, name, options.clone(), move |options, client| {
                let device = device.clone();
                attend("input", options, client, move |client, _| {
                    input::Open::new(device, client)
                })
            })?;
        }
        sysfs::others(folder)?;
        listen(folder, FENCES, options.clone(), |options, client| {
            attend(FENCES, options, client, |_, _| Nothing)
        })?;
        listen(folder, LIST, options.clone(), |options, client| {
            tell_list(&options, &client);
            Ok(())
        })?;
        Ok(Self {
            folder: folder.to_owned(),
            options,
        })
    }

    /// Number of open devices.
    pub fn open_devices(&self) -> u64 {
        self.options.clients.len()
    }

    /// The open devices of a server of another process in `folder`.
    ///
    /// # Errors
    /// If there is none.
    pub fn list(folder: &Path) -> io::Result<Vec<Client>> {
        let mut text = String::new();
        UnixStream::connect(folder.join(LIST))?.read_to_string(&mut text)?;
        serde_json::from_str(&text).map_err(io::Error::other)
    }

    /// The environment variable for the front end.
    pub fn environment(folder: &Path) -> (&'static str, PathBuf) {
        ("SKRYMIR_SERVER", folder.to_owned())
    }
}

impl Server {
    /// Removes the files of a killed server from a folder.
    pub fn sweep(folder: &Path) {
        for name in ["dev", "sys", "run"] {
            let _ = fs::remove_dir_all(folder.join(name));
        }
        for name in [RENDER, CARD, FENCES, LIST].iter().chain(&INPUT) {
            let _ = fs::remove_file(folder.join(name));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        Self::sweep(&self.folder);
    }
}

/// Listens on a socket in the folder, with a thread per connection.
fn listen(
    folder: &Path,
    name: &str,
    options: Arc<Options>,
    serve: impl Fn(Arc<Options>, OwnedFd) -> io::Result<()> + Send + 'static,
) -> io::Result<()> {
    let kind = if name == LIST {
        SocketType::STREAM
    } else {
        SocketType::SEQPACKET
    };
    let socket = rustix::net::socket_with(AddressFamily::UNIX, kind, SocketFlags::CLOEXEC, None)?;
    rustix::net::bind(&socket, &SocketAddrUnix::new(folder.join(name))?)?;
    fs::set_permissions(folder.join(name), fs::Permissions::from_mode(0o600))?;
    rustix::net::listen(&socket, 128)?;
    let accept = move || {
        loop {
            let client = match rustix::net::accept_with(&socket, SocketFlags::CLOEXEC) {
                Ok(client) => client,
                Err(Errno::INTR | Errno::CONNABORTED) => continue,
                Err(Errno::MFILE | Errno::NFILE | Errno::NOMEM) => {
                    // Other connections will close.
                    std::thread::sleep(Duration::from_millis(10));
                    continue;
                }
                Err(_) => break,
            };
            if !is_ours(&client) {
                continue;
            }
            // Without a thread the connection is closed, and opening the device fails.
            let _ = serve(options.clone(), client);
        }
    };
    std::thread::Builder::new().name(name.to_owned()).spawn(accept)?;
    Ok(())
}

/// Whether the peer's user may use the server: the same user, or root.
fn is_ours(client: &OwnedFd) -> bool {
    let user = rustix::net::sockopt::socket_peercred(client).map(|peer| peer.uid);
    user.is_ok_and(|user| user.is_root() || user == rustix::process::geteuid())
}

/// A server's folder must not be a link, and must not be writable by other users.
fn check_folder(folder: &Path) -> io::Result<()> {
    let found = fs::symlink_metadata(folder)?;
    let own = found.is_dir() && found.uid() == rustix::process::geteuid().as_raw();
    if own && found.mode() & 0o022 == 0 {
        return Ok(());
    }
    let why = format!("{} must be a folder that its user alone writes to", folder.display());
    Err(io::Error::new(io::ErrorKind::PermissionDenied, why))
}

/// Serves an open render node on its own thread.
fn render(options: &Arc<Options>, number: u64, client: OwnedFd) -> io::Result<()> {
    let (process, account) = peer(options, &client)?;
    let charges = charge_connection(&account)?;
    let counters = options.clients.add(number, process);
    let shared = options.clone();
    let serve = move || {
        if let Ok(mut device) = Device::new(shared.clone(), number, counters, process) {
            connection::serve(&client, &mut device, &shared.registry, &account);
            if !device.close() {
                eprintln!("skrymir: device {number}: the emulator failed");
            }
        }
        shared.clients.remove(number);
        drop(charges);
    };
    let thread = std::thread::Builder::new().name(format!("ask {number}")).spawn(serve);
    if thread.is_err() {
        options.clients.remove(number);
    }
    thread.map(|_| ())
}

/// A connection that only joins fences.
struct Nothing;

impl Node for Nothing {
    fn ask(&mut self, _: What, _: Option<OwnedFd>) -> Result<Answer, i32> {
        Err(errno::EINVAL)
    }
}

/// The process at the other end of a connection, and its account.
fn peer(options: &Options, client: &OwnedFd) -> io::Result<(u32, Account)> {
    let process = rustix::net::sockopt::socket_peercred(client)?.pid.as_raw_nonzero();
    let process = process.get().unsigned_abs();
    Ok((process, Account::new(&options.registry.quotas, process)))
}

/// Takes what a connection needs.
fn charge_connection(account: &Account) -> io::Result<[Charge; 2]> {
    let charge = |resource| account.charge(resource, 1).ok_or(Errno::MFILE);
    Ok([charge(Resource::Connections)?, charge(Resource::Descriptors)?])
}

/// Serves a connection to a new node on its own thread.
fn attend<N: Node + Send + 'static>(
    name: &str,
    options: Arc<Options>,
    client: OwnedFd,
    node: impl FnOnce(Arc<OwnedFd>, Account) -> N,
) -> io::Result<()> {
    let (_, account) = peer(&options, &client)?;
    let charges = charge_connection(&account)?;
    let client = Arc::new(client);
    let mut node = node(client.clone(), account.clone());
    let serve = move || {
        connection::serve(&client, &mut node, &options.registry, &account);
        drop((node, charges));
    };
    std::thread::Builder::new().name(name.into()).spawn(serve).map(|_| ())
}

fn tell_list(options: &Options, client: &OwnedFd) {
    let text = serde_json::to_string(&options.clients.list()).unwrap_or_default();
    let mut rest = text.as_bytes();
    while !rest.is_empty() {
        match rustix::net::send(client, rest, SendFlags::NOSIGNAL) {
            Ok(sent) => rest = &rest[sent..],
            Err(Errno::INTR) => {}
            Err(_) => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use emulator::exec::scalar::Scalar;

    fn options() -> Options {
        Options::new(|| Box::new(Scalar))
    }

    #[test]
    fn only_the_user_may_write_to_the_folder() {
        let folder = std::env::temp_dir().join(format!("skrymir-folder-{}", std::process::id()));
        let link = folder.with_extension("link");
        fs::create_dir(&folder).unwrap();
        std::os::unix::fs::symlink(&folder, &link).unwrap();
        for (path, mode, good) in [(&folder, 0o700, true), (&folder, 0o777, false), (&link, 0o700, false)] {
            fs::set_permissions(&folder, fs::Permissions::from_mode(mode)).unwrap();
            let server = Server::start(path, options());
            assert_eq!(server.is_ok(), good, "{} {mode:o}", path.display());
            if server.is_ok() {
                for socket in [RENDER, FENCES, LIST] {
                    let mode = fs::metadata(folder.join(socket)).unwrap().mode();
                    assert_eq!(mode & 0o777, 0o600, "{socket}");
                }
                assert!(Server::list(&folder).unwrap().is_empty());
            }
        }
        fs::remove_file(link).unwrap();
        fs::remove_dir_all(folder).unwrap();
    }
}
