//! A server with the programs that use it.

use crate::driver::{Driver, Machine};
use crate::error::{Error, Result, Within};
use shim::{Options, Server};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A temporary folder with a short path: a socket's path is limited to 107 bytes.
fn folder() -> Result<TempDir> {
    sweep(&std::env::temp_dir());
    let prefix = format!("skrymir-gles-{}-", std::process::id());
    Ok(tempfile::Builder::new().prefix(&prefix).rand_bytes(4).tempdir()?)
}

/// Removes the folders of killed processes.
fn sweep(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let process = name
            .to_str()
            .and_then(|name| name.strip_prefix("skrymir-gles-")?.split('-').next());
        if process.is_some_and(|process| process.parse::<u32>().is_ok() && !Path::new("/proc").join(process).exists()) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// A server of this process, or one that runs already.
pub struct Session<'a> {
    driver: &'a Driver,
    folder: PathBuf,
    /// Dropped before its folder.
    server: Option<Server>,
    _own: Option<TempDir>,
}

impl<'a> Session<'a> {
    /// Starts a server in a folder of its own.
    ///
    /// # Errors
    /// When it cannot start.
    pub fn start(driver: &'a Driver, options: Options) -> Result<Self> {
        let own = folder()?;
        Ok(Self {
            driver,
            folder: own.path().to_owned(),
            server: Some(Server::start(own.path(), options).within(|| "cannot start the server")?),
            _own: Some(own),
        })
    }

    /// Starts a server in a given folder.
    ///
    /// # Errors
    /// When it cannot start, for example because one runs there.
    pub fn serve(driver: &'a Driver, options: Options, folder: &Path) -> Result<Self> {
        fs::create_dir_all(folder).within(|| format!("cannot make {}", folder.display()))?;
        let folder = fs::canonicalize(folder)?;
        if Server::list(&folder).is_ok() {
            return Err(Error::machine(format_args!("a server runs in {}", folder.display())));
        }
        Server::sweep(&folder);
        let server = Server::start(&folder, options);
        Ok(Self {
            driver,
            server: Some(server.within(|| format!("cannot start a server in {}", folder.display()))?),
            folder,
            _own: None,
        })
    }

    /// Uses a running server in a folder.
    ///
    /// # Errors
    /// When there is none.
    pub fn join(driver: &'a Driver, folder: &Path) -> Result<Self> {
        let found = fs::canonicalize(folder).and_then(|folder| Server::list(&folder).map(|_| folder));
        Ok(Self {
            driver,
            folder: found.within(|| format!("no server runs in {}", folder.display()))?,
            server: None,
            _own: None,
        })
    }

    /// A folder for the desktop's files.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Environment variables with which programs use this server.
    pub fn environment(&self) -> Vec<(&'static str, OsString)> {
        let mut all = self.driver.environment();
        let (name, folder) = Server::environment(&self.folder);
        all.push((name, folder.into()));
        all
    }

    /// The command that runs a program of the driver's machine.
    pub fn command(&self, program: &[OsString]) -> Command {
        self.command_for(program, self.driver.machine())
    }

    /// The command that runs a program of any machine.
    pub fn command_for(&self, program: &[OsString], machine: Machine) -> Command {
        let mut command = self.driver.command(program, machine);
        command.envs(self.environment());
        if let Some(root) = self.driver.root() {
            // Child processes find the packages' programs by name.
            let mut path = std::env::var_os("PATH").unwrap_or_else(|| "/bin:/usr/bin".into());
            path.push(":");
            path.push(root.join("usr/bin"));
            command.env("PATH", path);
        }
        command
    }

    /// Waits until no device is open, up to a time limit: processes that are still running may draw.
    pub fn settle(&self) {
        let end = Instant::now() + Duration::from_secs(10);
        while self.server.as_ref().is_some_and(|server| server.open_devices() > 0) && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}
