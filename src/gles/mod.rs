//! Programs for OpenGL ES 2 on the emulator, with the unmodified driver of Mesa.
//!
//! [`Driver`] is what a program needs to find the driver: for ARM programs Debian's own packages, unpacked into a
//! folder, and the front built for ARM; for others the front alone, beside whatever Mesa the machine has. [`run`] starts
//! the server, then the program, and waits for both.

mod watch;

pub use watch::{Record, Show};

use anyhow::{Context, bail};
use shim::{Options, Server};
use std::fs::{self, DirBuilder};
use std::io::Read;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};

/// The front's source.
const FRONT: &str = include_str!("../../emulator/shim/front/front.c");

/// Fetches Debian's packages.
const PREPARE: &str = include_str!("prepare.sh");

/// Debian packages with the commands that are needed for ARM programs.
pub const TOOLS: [(&str, &str); 3] = [
    ("qemu-aarch64-static", "qemu-user-static"),
    ("aarch64-linux-gnu-gcc", "gcc-aarch64-linux-gnu libc6-dev-arm64-cross"),
    ("dpkg-deb", "dpkg"),
];

/// Which machine a program is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Machine {
    /// 64-bit ARM, which runs in qemu unless this is one.
    Arm64,
    /// Whatever runs here.
    Native,
}

impl Machine {
    /// The machine of a program: by the ELF header; scripts are native.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn of(program: &Path) -> anyhow::Result<Self> {
        let mut head = Vec::new();
        let file = fs::File::open(program).with_context(|| format!("cannot read {}", program.display()))?;
        file.take(20).read_to_end(&mut head)?;
        let arm = head.starts_with(b"\x7fELF\x02\x01") && head.get(18..20) == Some(&[183, 0]);
        Ok(if arm && !cfg!(target_arch = "aarch64") {
            Self::Arm64
        } else {
            Self::Native
        })
    }

    fn compiler(self) -> &'static str {
        match self {
            Self::Arm64 => "aarch64-linux-gnu-gcc",
            Self::Native => "cc",
        }
    }
}

/// What a program needs.
#[derive(Clone, Debug)]
pub struct Driver {
    machine: Machine,
    front: PathBuf,
    root: PathBuf,
}

/// Commands that are not there, as a hint what to install.
pub fn missing_tools() -> Option<String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let there = |name: &str| std::env::split_paths(&path).any(|folder| folder.join(name).is_file());
    let missing: Vec<&str> = TOOLS.iter().filter(|tool| !there(tool.0)).map(|tool| tool.1).collect();
    (!missing.is_empty()).then(|| format!("apt-get install {}", missing.join(" ")))
}

/// Where prepared things are kept: `$XDG_CACHE_HOME/skrymir/gles`, or `~/.cache/skrymir/gles`.
///
/// # Errors
/// When there is no home.
pub fn cache() -> anyhow::Result<PathBuf> {
    let named = |name| {
        std::env::var_os(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    let cache = named("XDG_CACHE_HOME").or_else(|| Some(named("HOME")?.join(".cache")));
    Ok(cache
        .context("neither XDG_CACHE_HOME nor HOME is set")?
        .join("skrymir/gles"))
}

impl Driver {
    /// Prepares what programs for `machine` need; quick when it was done before.
    ///
    /// # Errors
    /// What is missing, and what commands that failed said.
    pub fn prepare(machine: Machine) -> anyhow::Result<Self> {
        Self::prepare_with(machine, None)
    }

    /// As [`Driver::prepare`], but ARM programs take `root` for their root: a folder with libraries and a driver of one's own.
    ///
    /// # Errors
    /// As [`Driver::prepare`].
    pub fn prepare_with(machine: Machine, root: Option<&Path>) -> anyhow::Result<Self> {
        let cache = cache()?;
        fs::create_dir_all(&cache).with_context(|| format!("cannot make {}", cache.display()))?;
        if machine == Machine::Arm64
            && let Some(hint) = missing_tools()
        {
            bail!("ARM programs need tools that are not here: {hint}");
        }
        let root = match root {
            Some(root) => std::path::absolute(root)?,
            None if machine == Machine::Arm64 => {
                let folder = cache.join("arm64");
                let script = write(&cache.join("prepare.sh"), PREPARE)?;
                command(Command::new("bash").arg(script).arg(&folder))?;
                folder.join("root")
            }
            None => PathBuf::from("/"),
        };
        let front = front(&cache, machine)?;
        Ok(Self { machine, front, root })
    }

    /// Compiles a C program for OpenGL ES 2.
    ///
    /// # Errors
    /// What the compiler said.
    pub fn compile(&self, source: &Path, program: &Path) -> anyhow::Result<()> {
        let mut compiler = Command::new(self.machine.compiler());
        compiler.args(["-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-DEGL_NO_X11", "-o"]);
        compiler.arg(program).arg(source);
        if self.machine == Machine::Arm64 {
            let libraries = self.root.join("usr/lib/aarch64-linux-gnu");
            compiler.arg("-I").arg(self.root.join("usr/include"));
            compiler
                .args(["-l:libEGL.so.1", "-l:libGLESv2.so.2", "-L"])
                .arg(&libraries);
            compiler.arg("-Wl,--allow-shlib-undefined");
        } else {
            compiler.args(["-lEGL", "-lGLESv2"]);
        }
        command(compiler.args(["-lm", "-lpthread"]))
    }

    /// The command that runs a program with the front in it.
    fn command(&self, program: &[std::ffi::OsString]) -> Command {
        match self.machine {
            Machine::Native => {
                let mut command = Command::new(&program[0]);
                // What else is to be loaded comes behind the front.
                let mut libraries = self.front.clone().into_os_string();
                if let Some(others) = std::env::var_os("LD_PRELOAD").filter(|others| !others.is_empty()) {
                    libraries.push(":");
                    libraries.push(others);
                }
                command.args(&program[1..]).env("LD_PRELOAD", libraries);
                command
            }
            Machine::Arm64 => {
                let mut command = Command::new("qemu-aarch64-static");
                command.arg("-L").arg(&self.root);
                command.arg("-E").arg(format!("LD_PRELOAD={}", self.front.display()));
                command.args(program);
                command
            }
        }
    }
}

/// Builds the front, unless this very source has been built.
fn front(cache: &Path, machine: Machine) -> anyhow::Result<PathBuf> {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut hasher = DefaultHasher::new();
    (FRONT, machine.compiler()).hash(&mut hasher);
    let library = cache.join(format!("front-{:016x}.so", hasher.finish()));
    if library.is_file() {
        return Ok(library);
    }
    let stem = format!("front-{:016x}-{}", hasher.finish(), std::process::id());
    let source = write(&cache.join(format!("{stem}.c")), FRONT)?;
    let built = cache.join(format!("{stem}.so"));
    let mut compiler = Command::new(machine.compiler());
    compiler.args(["-std=gnu11", "-O2", "-fPIC", "-fvisibility=hidden", "-shared"]);
    compiler.args(["-fno-delete-null-pointer-checks", "-o"]);
    let done = command(compiler.arg(&built).arg(&source).arg("-ldl"));
    let _ = fs::remove_file(&source);
    done.context("cannot build the front")?;
    // Whoever builds it at the same time builds the same.
    fs::rename(&built, &library)?;
    Ok(library)
}

fn write(path: &Path, text: &str) -> anyhow::Result<PathBuf> {
    let passing = path.with_extension(format!("{}", std::process::id()));
    fs::write(&passing, text)
        .and_then(|()| fs::rename(&passing, path))
        .with_context(|| format!("cannot write {}", path.display()))?;
    Ok(path.to_owned())
}

fn command(command: &mut Command) -> anyhow::Result<()> {
    let name = command.get_program().to_string_lossy().into_owned();
    let status = command.status().with_context(|| format!("cannot run {name}"))?;
    if !status.success() {
        bail!("{name} failed: {status}");
    }
    Ok(())
}

/// A folder that is gone when this is.
struct Folder(PathBuf);

impl Folder {
    fn new() -> anyhow::Result<Self> {
        // Short, for a socket's path may have 107 bytes.
        let parent = std::env::temp_dir();
        sweep(&parent);
        for number in 0..100 {
            let path = parent.join(format!("skrymir-gles-{}-{number}", std::process::id()));
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok(Self(path)),
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error).with_context(|| format!("cannot make {}", path.display())),
            }
        }
        bail!("cannot make a folder in {}", parent.display())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Takes away the folders of those that were killed.
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

/// Runs a program and its arguments; comes back when it has ended and its devices are closed.
///
/// # Errors
/// When the server or the program cannot be started.
pub fn run(driver: &Driver, options: Options, program: &[std::ffi::OsString]) -> anyhow::Result<ExitStatus> {
    let folder = Folder::new()?;
    let server = Server::start(&folder.0, options).context("cannot start the server")?;
    let mut command = driver.command(program);
    let status = command.envs(server.environment()).status();
    let status = status.with_context(|| format!("cannot run {}", command.get_program().to_string_lossy()))?;
    // What it left running may draw on, but not for ever.
    let end = Instant::now() + Duration::from_secs(10);
    while server.open_devices() > 0 && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(1));
    }
    Ok(status)
}
