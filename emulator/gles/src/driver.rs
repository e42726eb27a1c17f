//! Dependencies of programs: Debian's packages for ARM, and the front built for each machine.

use crate::error::{Error, Result, Within};
use std::ffi::OsString;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The script that fetches Debian's packages.
const PREPARE: &str = include_str!("../scripts/prepare.sh");

/// The functions that it sources.
const APT: &str = include_str!("../scripts/apt.sh");

/// Runs ARM programs on other machines.
const QEMU: &str = "qemu-aarch64-static";

/// Commands for ARM programs, with the Debian packages that contain them. An ARM machine runs the programs itself, with its
/// own libraries.
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

/// The machine of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Machine {
    /// 64-bit ARM, which runs in qemu unless this is one.
    Arm64,
    /// The machine that this program runs on.
    Native,
}

impl Machine {
    /// Where ARM programs run.
    pub const ARM: Self = if HOST_IS_ARM { Self::Native } else { Self::Arm64 };

    /// The machine of a program's ELF header; scripts are native.
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

/// Describes a library that the program is linked with and that is missing here; the program's own message is misleading.
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

/// The bytes of an ELF file, up to a size limit.
fn elf(program: &Path) -> Option<Vec<u8>> {
    const MOST: u64 = 64 << 20;
    let mut bytes = Vec::new();
    fs::File::open(program).ok()?.take(MOST).read_to_end(&mut bytes).ok()?;
    bytes.starts_with(b"\x7fELF").then_some(bytes)
}

fn names(bytes: &[u8], name: &[u8]) -> bool {
    bytes.windows(name.len()).any(|window| window == name)
}

/// The folders of this machine's Mesa drivers, in Mesa's search order.
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

/// Rejects a native program that uses OpenGL ES if this machine's Mesa lacks the lima driver: it would draw with llvmpipe
/// instead of the emulator.
///
/// # Errors
/// The alternatives.
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

/// Prepared dependencies of native programs and of those for 64-bit ARM.
#[derive(Clone, Debug)]
pub struct Driver {
    machine: Machine,
    /// The front for native programs, if it could be built.
    native: Option<PathBuf>,
    arm: Option<Arm>,
}

/// Dependencies of ARM programs on other machines.
#[derive(Clone, Debug)]
struct Arm {
    front: PathBuf,
    root: PathBuf,
    qemu: PathBuf,
}

/// The command that installs missing tools, if any are missing.
pub fn missing_tools() -> Option<String> {
    // The front of a release needs no compiler.
    let needed = |tool: &str| tool != Machine::ARM.compiler() || bundled(Machine::ARM).is_none();
    let missing = TOOLS
        .iter()
        .filter(|tool| needed(tool.0) && find_tool(tool.0).is_none());
    let missing: Vec<&str> = missing.map(|tool| tool.1).collect();
    (!missing.is_empty()).then(|| format!("apt-get install {}", missing.join(" ")))
}

/// The path of a command.
fn find_tool(name: &str) -> Option<PathBuf> {
    which::which(name).ok()
}

/// The cache folder: `$XDG_CACHE_HOME/skrymir/gles`, or `~/.cache/skrymir/gles`.
///
/// # Errors
/// When there is no home.
pub fn cache() -> Result<PathBuf> {
    let cache = dirs::cache_dir().ok_or_else(|| Error::machine("neither XDG_CACHE_HOME nor HOME is set"))?;
    Ok(cache.join("skrymir/gles"))
}

impl Driver {
    /// Prepares the dependencies of programs for `machine`; cached.
    ///
    /// # Errors
    /// Missing tools, and failed commands.
    pub fn prepare(machine: Machine) -> Result<Self> {
        Self::prepare_with(machine, None)
    }

    /// As [`Driver::prepare`], with `root` as the root folder of ARM programs: their libraries and driver.
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
            // Its children may be native programs; without a compiler they have no device.
            let native = front(Machine::Native).ok();
            return Ok(Self { machine, native, arm });
        }
        // A native program may start ARM programs, if the tools for these are installed.
        let arm = if HOST_IS_ARM || missing_tools().is_some() {
            None
        } else {
            let arm = root().and_then(Arm::prepare);
            arm.inspect_err(|error| log::error!("ARM programs will not run: {error}"))
                .ok()
        };
        let native = Some(front(Machine::Native)?);
        Ok(Self { machine, native, arm })
    }

    /// Compiles a C program for OpenGL ES 2.
    ///
    /// # Errors
    /// When the compiler fails.
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

    /// Environment variables that the front reads.
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

    /// `LD_PRELOAD` of native programs: the front, then the user's libraries.
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

/// Unpacks Debian packages into a folder's `root`: Mesa, or a named set.
///
/// # Errors
/// When a command fails.
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

/// The front of a release, which needs no compiler.
fn bundled(machine: Machine) -> Option<&'static [u8]> {
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

/// Builds the front, unless these very sources have been built, or takes that of the release.
fn front(machine: Machine) -> Result<PathBuf> {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let cache = cache()?;
    fs::create_dir_all(&cache).within(|| format!("cannot make {}", cache.display()))?;
    let mut hasher = DefaultHasher::new();
    // Machines of several architectures may share a home folder.
    (
        shim::FRONT,
        machine.compiler(),
        std::env::consts::ARCH,
        bundled(machine),
    )
        .hash(&mut hasher);
    let library = cache.join(format!("front-{:016x}.so", hasher.finish()));
    if library.is_file() {
        return Ok(library);
    }
    if let Some(bytes) = bundled(machine) {
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
    // A concurrent build has the same result.
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
