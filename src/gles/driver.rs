//! What programs need: Debian's packages for ARM, and the front built for every machine.

use crate::error::{Error, Result, Within};
use std::ffi::OsString;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Fetches Debian's packages.
const PREPARE: &str = include_str!("prepare.sh");

/// What that sources.
const APT: &str = include_str!("apt.sh");

/// What runs ARM programs on other machines.
const QEMU: &str = "qemu-aarch64-static";

/// Commands that are needed for ARM programs, with Debian's packages that have them. An ARM machine runs them itself, with
/// its own libraries.
pub const TOOLS: &[(&str, &str)] = if HOST_IS_ARM {
    &[("cc", "gcc libc6-dev")]
} else {
    &[
        (QEMU, "qemu-user-static"),
        ("aarch64-linux-gnu-gcc", "gcc-aarch64-linux-gnu libc6-dev-arm64-cross"),
        ("dpkg-deb", "dpkg"),
    ]
};

/// Whether this is a 64-bit ARM machine.
const HOST_IS_ARM: bool = cfg!(target_arch = "aarch64");

/// Which machine a program is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Machine {
    /// 64-bit ARM, which runs in qemu unless this is one.
    Arm64,
    /// Whatever runs here.
    Native,
}

impl Machine {
    /// Where ARM programs run.
    pub const ARM: Self = if HOST_IS_ARM { Self::Native } else { Self::Arm64 };

    /// The machine of a program: by the ELF header; scripts are native.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn of(program: &Path) -> Result<Self> {
        let mut head = Vec::new();
        let file = fs::File::open(program).within(|| format!("cannot read {}", program.display()))?;
        file.take(20).read_to_end(&mut head)?;
        let arm = head.starts_with(b"\x7fELF\x02\x01") && head.get(18..20) == Some(&[183, 0]);
        if let Some(other) = other_machine(&head) {
            return Err(Error::machine(format_args!(
                "{} is a program for {other}; only those for 64-bit ARM and for this machine run",
                program.display()
            )));
        }
        Ok(if arm { Self::ARM } else { Self::Native })
    }

    fn compiler(self) -> &'static str {
        match self {
            Self::Arm64 => "aarch64-linux-gnu-gcc",
            Self::Native => "cc",
        }
    }
}

/// What a program is linked with that is not here, in words for somebody whom it told something else.
pub fn missing_library(program: &Path) -> Option<&'static str> {
    const LIBRARIES: [(&[u8], &str); 3] = [
        (b"\0libX11.so.6\0", X11),
        (b"\0libxcb.so.1\0", X11),
        (
            b"\0libvulkan.so.1\0",
            "it is linked with Vulkan, and this GPU has OpenGL ES 2.0",
        ),
    ];
    const X11: &str = "it is linked with X11, and there is no X server: only Wayland (--desktop), a bare screen (--frames), \
                       GBM and contexts without a window";
    let bytes = elf(program)?;
    let found = LIBRARIES.iter().find(|(name, _)| names(&bytes, name));
    found.map(|(_, words)| *words)
}

/// The bytes of an ELF file that is not too large to be looked through.
fn elf(program: &Path) -> Option<Vec<u8>> {
    const MOST: u64 = 64 << 20;
    let mut bytes = Vec::new();
    fs::File::open(program).ok()?.take(MOST).read_to_end(&mut bytes).ok()?;
    bytes.starts_with(b"\x7fELF").then_some(bytes)
}

fn names(bytes: &[u8], name: &[u8]) -> bool {
    bytes.windows(name.len()).any(|window| window == name)
}

/// Where this machine's Mesa has its drivers, as Mesa looks for them.
fn driver_folders() -> Vec<PathBuf> {
    match std::env::var_os("LIBGL_DRIVERS_PATH") {
        Some(folders) => std::env::split_paths(&folders).collect(),
        None => {
            let triplet = format!("/usr/lib/{}-linux-gnu/dri", std::env::consts::ARCH);
            [&triplet, "/usr/lib64/dri", "/usr/lib/dri", "/usr/local/lib/dri"]
                .map(PathBuf::from)
                .into()
        }
    }
}

/// Refuses a program of this machine that draws with OpenGL ES where Mesa has no driver for the GPU: it would draw with
/// llvmpipe, and nothing of it would reach the emulator.
///
/// # Errors
/// What to do instead.
pub fn needs_lima(program: &Path) -> Result<()> {
    const LIBRARIES: [&[u8]; 2] = [b"libEGL.so.1\0", b"libGLESv2.so.2\0"];
    const DRIVER: &str = "lima_dri.so";
    let draws = elf(program).is_some_and(|bytes| LIBRARIES.iter().any(|name| names(&bytes, name)));
    let folders = driver_folders();
    if !draws || folders.iter().any(|folder| folder.join(DRIVER).exists()) {
        return Ok(());
    }
    let folders: Vec<String> = folders.iter().map(|folder| folder.display().to_string()).collect();
    Err(Error::machine(format_args!(
        "{} draws with OpenGL ES, and this machine's Mesa has no driver for the GPU ({DRIVER} in {}): it would draw \
         without it. Build the program for 64-bit ARM, which runs with a Mesa that has the driver, or name the folder of \
         one by LIBGL_DRIVERS_PATH",
        program.display(),
        folders.join(", ")
    )))
}

/// The machine of an ELF file that is neither 64-bit ARM nor this machine, by name or number.
fn other_machine(head: &[u8]) -> Option<String> {
    let own: &[u16] = if cfg!(target_arch = "x86_64") { &[3, 62] } else { &[] };
    let number = match head {
        [0x7f, b'E', b'L', b'F', _, 1, .., low, high] => u16::from_le_bytes([*low, *high]),
        [0x7f, b'E', b'L', b'F', _, 2, .., high, low] => u16::from_le_bytes([*low, *high]),
        _ => return None,
    };
    let name = match number {
        183 => return None,
        number if own.contains(&number) => return None,
        3 => "32-bit x86",
        8 => "MIPS",
        20 | 21 => "PowerPC",
        22 => "S/390",
        40 => "32-bit ARM",
        62 => "64-bit x86",
        243 => "RISC-V",
        258 => "LoongArch",
        number => return Some(format!("ELF machine {number}")),
    };
    Some(name.to_owned())
}

/// What programs need: this machine's own, and those for 64-bit ARM.
#[derive(Clone, Debug)]
pub struct Driver {
    machine: Machine,
    /// The front for programs of this machine, where there is a compiler.
    native: Option<PathBuf>,
    arm: Option<Arm>,
}

/// What ARM programs need on other machines.
#[derive(Clone, Debug)]
struct Arm {
    front: PathBuf,
    root: PathBuf,
    qemu: PathBuf,
}

/// Commands that are not there, as a hint what to install.
pub fn missing_tools() -> Option<String> {
    // What a release brings needs no compiler.
    let needed = |tool: &str| tool != Machine::ARM.compiler() || brought(Machine::ARM).is_none();
    let missing = TOOLS
        .iter()
        .filter(|tool| needed(tool.0) && find_tool(tool.0).is_none());
    let missing: Vec<&str> = missing.map(|tool| tool.1).collect();
    (!missing.is_empty()).then(|| format!("apt-get install {}", missing.join(" ")))
}

/// Where a command is.
fn find_tool(name: &str) -> Option<PathBuf> {
    which::which(name).ok()
}

/// Where prepared things are kept: `$XDG_CACHE_HOME/skrymir/gles`, or `~/.cache/skrymir/gles`.
///
/// # Errors
/// When there is no home.
pub fn cache() -> Result<PathBuf> {
    let cache = dirs::cache_dir().ok_or_else(|| Error::machine("neither XDG_CACHE_HOME nor HOME is set"))?;
    Ok(cache.join("skrymir/gles"))
}

impl Driver {
    /// Prepares what programs for `machine` need; quick when it was done before.
    ///
    /// # Errors
    /// What is missing, and what commands that failed said.
    pub fn prepare(machine: Machine) -> Result<Self> {
        Self::prepare_with(machine, None)
    }

    /// As [`Driver::prepare`], but ARM programs take `root` for their root: a folder with libraries and a driver of one's own.
    ///
    /// # Errors
    /// As [`Driver::prepare`].
    pub fn prepare_with(machine: Machine, root: Option<&Path>) -> Result<Self> {
        if HOST_IS_ARM && root.is_some() {
            return Err(Error::usage(
                "--root is for ARM programs on other machines: here they have the machine's own libraries",
            ));
        }
        let root = || match root {
            Some(root) => Ok(std::path::absolute(root)?),
            None => {
                let folder = cache()?.join("arm64");
                packages(&folder, None)?;
                Ok(folder.join("root"))
            }
        };
        if machine == Machine::Arm64 {
            let arm = Some(Arm::prepare(root()?)?);
            // Its children may be this machine's; without a compiler they do without the device.
            let native = front(Machine::Native).ok();
            return Ok(Self { machine, native, arm });
        }
        // So may a program of this machine start ARM programs, where there are the tools for these.
        let arm = if HOST_IS_ARM || missing_tools().is_some() {
            None
        } else {
            let arm = root().and_then(Arm::prepare);
            arm.inspect_err(|error| crate::say::say(format_args!("skrymir: ARM programs will not run: {error}")))
                .ok()
        };
        let native = Some(front(Machine::Native)?);
        Ok(Self { machine, native, arm })
    }

    /// Compiles a C program for OpenGL ES 2.
    ///
    /// # Errors
    /// What the compiler said.
    pub fn compile(&self, source: &Path, program: &Path) -> Result<()> {
        let mut compiler = Command::new(self.machine.compiler());
        compiler.args(["-std=gnu11", "-O1", "-Wall", "-Wextra", "-DEGL_NO_X11", "-o"]);
        compiler.arg(program).arg(source);
        if self.machine == Machine::Arm64 {
            let root = &self
                .arm
                .as_ref()
                .ok_or_else(|| Error::machine("there is no root folder for ARM programs"))?
                .root;
            let libraries = root.join("usr/lib/aarch64-linux-gnu");
            compiler.arg("-I").arg(root.join("usr/include"));
            compiler
                .args(["-l:libEGL.so.1", "-l:libGLESv2.so.2", "-L"])
                .arg(&libraries);
            compiler.arg("-Wl,--allow-shlib-undefined");
        } else {
            compiler.args(["-lEGL", "-lGLESv2"]);
        }
        command(compiler.args(["-lm", "-lpthread"]))
    }

    /// The machine it was prepared for.
    pub fn machine(&self) -> Machine {
        self.machine
    }

    /// The root folder of ARM programs.
    pub fn root(&self) -> Option<&Path> {
        self.arm.as_ref().map(|arm| arm.root.as_path())
    }

    /// What the front reads, and a native program's preloaded library: names and values.
    pub fn environment(&self) -> Vec<(&'static str, OsString)> {
        let mut all = Vec::new();
        if let Some(arm) = &self.arm {
            all.push(("SKRYMIR_PREFIX", arm.root.clone().into()));
            all.push(("SKRYMIR_QEMU", arm.qemu.clone().into()));
            all.push(("SKRYMIR_FRONT_ARM64", arm.front.clone().into()));
        }
        if let Some(front) = &self.native {
            let name = if HOST_IS_ARM {
                "SKRYMIR_FRONT_ARM64"
            } else {
                "SKRYMIR_FRONT_NATIVE"
            };
            all.push((name, front.clone().into()));
        }
        all
    }

    /// The libraries for a program of this machine: what else is to be loaded comes behind the front.
    pub fn preload(&self) -> OsString {
        let mut libraries = self.native.clone().unwrap_or_default().into_os_string();
        if let Some(others) = std::env::var_os("LD_PRELOAD").filter(|others| !others.is_empty()) {
            libraries.push(":");
            libraries.push(others);
        }
        libraries
    }

    /// The command that runs a program with the front in it.
    pub fn command(&self, program: &[OsString], machine: Machine) -> Command {
        let mut command = match (&self.arm, machine) {
            (Some(arm), Machine::Arm64) => {
                let mut command = Command::new(&arm.qemu);
                command.arg("-L").arg(&arm.root);
                command.arg("-E").arg(format!("LD_PRELOAD={}", arm.front.display()));
                command.args(program);
                command
            }
            _ => {
                let mut command = Command::new(&program[0]);
                command.args(&program[1..]).env("LD_PRELOAD", self.preload());
                command
            }
        };
        command.envs(self.environment());
        command
    }
}

impl Arm {
    fn prepare(root: PathBuf) -> Result<Self> {
        if let Some(hint) = missing_tools() {
            return Err(Error::machine(format_args!(
                "ARM programs need tools that are not here: {hint}"
            )));
        }
        let qemu = find_tool(QEMU).ok_or_else(|| Error::machine("there is no qemu"))?;
        let front = front(Machine::Arm64)?;
        Ok(Self { front, root, qemu })
    }
}

/// Unpacks Debian's packages into a folder's `root`: Mesa, or a set of them with a name.
///
/// # Errors
/// What failed on the way.
pub fn packages(folder: &Path, set: Option<(&str, &[&str])>) -> Result<()> {
    fs::create_dir_all(folder).within(|| format!("cannot make {}", folder.display()))?;
    write(&cache()?.join("apt.sh"), APT)?;
    let script = write(&cache()?.join("prepare.sh"), PREPARE)?;
    let mut fetch = Command::new("bash");
    fetch.arg(script).arg(folder);
    if let Some((name, packages)) = set {
        fetch.args(["--set", name]).args(packages);
    }
    command(&mut fetch)
}

/// The front that a release brings, built with it: nobody who has one needs a compiler.
fn brought(machine: Machine) -> Option<&'static [u8]> {
    #[cfg(skrymir_fronts)]
    {
        const ARM64: &[u8] = include_bytes!(concat!(env!("SKRYMIR_FRONTS"), "/arm64.so"));
        const NATIVE: &[u8] = include_bytes!(concat!(env!("SKRYMIR_FRONTS"), "/native.so"));
        Some(match machine {
            Machine::Arm64 => ARM64,
            Machine::Native => NATIVE,
        })
    }
    #[cfg(not(skrymir_fronts))]
    {
        let _ = machine;
        None
    }
}

/// Builds the front, unless these very sources have been built, or takes the one that was brought.
fn front(machine: Machine) -> Result<PathBuf> {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let cache = cache()?;
    fs::create_dir_all(&cache).within(|| format!("cannot make {}", cache.display()))?;
    let mut hasher = DefaultHasher::new();
    // One home may serve machines of several kinds, each with a compiler of that name.
    (
        shim::FRONT,
        machine.compiler(),
        std::env::consts::ARCH,
        brought(machine),
    )
        .hash(&mut hasher);
    let library = cache.join(format!("front-{:016x}.so", hasher.finish()));
    if library.is_file() {
        return Ok(library);
    }
    if let Some(bytes) = brought(machine) {
        return write(&library, bytes);
    }
    let sources = cache.join(format!("front-{:016x}-{}", hasher.finish(), std::process::id()));
    fs::create_dir_all(&sources).within(|| format!("cannot make {}", sources.display()))?;
    let built = sources.join("front.so");
    let mut compiler = Command::new(machine.compiler());
    compiler.args(["-std=gnu11", "-O2", "-fPIC", "-fvisibility=hidden", "-shared"]);
    compiler.args(["-fno-delete-null-pointer-checks", "-o"]).arg(&built);
    for (name, text) in shim::FRONT {
        let source = write(&sources.join(name), text)?;
        if name.ends_with(".c") {
            compiler.arg(source);
        }
    }
    let done = command(compiler.args(["-ldl", "-lpthread"])).within(|| "cannot build the front");
    // Whoever builds it at the same time builds the same.
    let done = done.and_then(|()| Ok(fs::rename(&built, &library)?));
    let _ = fs::remove_dir_all(&sources);
    done.map(|()| library)
}

fn write(path: &Path, text: impl AsRef<[u8]>) -> Result<PathBuf> {
    let passing = path.with_extension(format!("{}", std::process::id()));
    fs::write(&passing, text)
        .and_then(|()| fs::rename(&passing, path))
        .within(|| format!("cannot write {}", path.display()))?;
    Ok(path.to_owned())
}

fn command(command: &mut Command) -> Result<()> {
    let name = command.get_program().to_string_lossy().into_owned();
    let status = command.status().within(|| format!("cannot run {name}"))?;
    if !status.success() {
        return Err(Error::machine(format_args!("{name} failed: {status}")));
    }
    Ok(())
}
