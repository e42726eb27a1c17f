//! A desktop: Debian's Wayland compositor on the emulated device, and programs with windows.

use crate::driver::{Driver, Machine, cache, missing_tools, packages};
use crate::error::{Error, Result, Within};
use crate::processes::{end, reap};
use crate::session::Session;
use std::ffi::OsString;
use std::fs::{self, DirBuilder, File};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Packages of the compositor, with all their dependencies.
const WESTON: (&str, &[&str]) = (
    "weston",
    &[
        "weston",
        "libegl1",
        "libgles2",
        "libgl1-mesa-dri",
        "libegl-mesa0",
        "libgbm1",
    ],
);

/// Packages for programs without a compositor.
const MESA: (&str, &[&str]) = (
    "mesa",
    &["libegl1", "libgles2", "libgl1-mesa-dri", "libegl-mesa0", "libgbm1"],
);

/// Programs whose packages are fetched on demand: name, place in the root folder, packages.
const PROGRAMS: [(&str, &str, &[&str]); 12] = [
    ("glmark2-es2-wayland", "usr/bin", &["glmark2-es2-wayland"]),
    ("glmark2-es2-drm", "usr/bin", &["glmark2-es2-drm"]),
    ("kmscube", "usr/bin", &["kmscube"]),
    ("chocolate-doom", "usr/games", &["chocolate-doom", "freedoom"]),
    ("foot", "usr/bin", &["foot"]),
    ("gtk3-demo", "usr/bin", &["gtk-3-examples"]),
    ("gtk3-demo-application", "usr/bin", &["gtk-3-examples"]),
    ("gtk3-widget-factory", "usr/bin", &["gtk-3-examples"]),
    ("mpv", "usr/bin", &["mpv"]),
    ("neverball", "usr/games", &["neverball"]),
    (
        "hellowindow",
        "usr/lib/aarch64-linux-gnu/qt5/examples/opengl/hellowindow",
        &["qtbase5-examples", "qtwayland5"],
    ),
    (
        "analogclock",
        "usr/lib/aarch64-linux-gnu/qt5/examples/gui/analogclock",
        &["qtbase5-examples", "qtwayland5"],
    ),
];

/// The seat of a compositor that has a display.
pub const SEAT: &str = "seat-skrymir";

/// The display's name.
const DISPLAY: &str = "skrymir";

/// Time limit for the compositor's start.
const START: Duration = Duration::from_secs(120);

/// Where the packages of desktop programs are unpacked.
fn folder() -> Result<PathBuf> {
    Ok(cache()?.join("desktop"))
}

/// Fetches the compositor, and other packages of Debian's; quick when it was done before.
///
/// # Errors
/// When a package cannot be fetched or unpacked.
pub fn prepare(others: &[String]) -> Result<Driver> {
    prepare_root(others, true)
}

/// As [`prepare`], without the compositor.
///
/// # Errors
/// When a package cannot be fetched or unpacked.
pub fn prepare_bare(others: &[String]) -> Result<Driver> {
    prepare_root(others, false)
}

fn prepare_root(others: &[String], compositor: bool) -> Result<Driver> {
    if Machine::ARM == Machine::Native {
        if !others.is_empty() {
            return Err(Error::usage(
                "--package fetches ARM programs for other machines: here they are installed as any program is",
            ));
        }
        return Driver::prepare(Machine::Native);
    }
    if let Some(hint) = missing_tools() {
        return Err(Error::machine(format_args!(
            "a desktop needs tools that are not here: {hint}"
        )));
    }
    let folder = folder()?;
    if compositor {
        packages(&folder, Some(WESTON))?;
    } else {
        packages(&folder, Some(MESA))?;
    }
    for package in others {
        packages(&folder, Some((package, &[package])))?;
    }
    Driver::prepare_with(Machine::Arm64, Some(&folder.join("root")))
}

/// A program's location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its file.
    pub path: PathBuf,
    /// Arguments it needs to find its own files under the root folder.
    pub arguments: Vec<OsString>,
}

/// The program of a name among Debian's packages; fetches those of a few known programs.
///
/// # Errors
/// When a package cannot be fetched or unpacked.
pub fn place(name: &str) -> Result<Option<Place>> {
    if Machine::ARM == Machine::Native {
        return Ok(None);
    }
    let root = folder()?.join("root");
    let known = PROGRAMS.iter().find(|(known, ..)| *known == name);
    if let Some((name, _, needed)) = known {
        packages(&folder()?, Some((needed.first().unwrap_or(name), needed)))?;
    }
    let folders: &[&str] = match known {
        Some((_, place, _)) => &[place],
        None => &["usr/bin", "usr/games"],
    };
    let mut paths = folders.iter().map(|folder| root.join(folder).join(name));
    let data = [
        ("glmark2", "--data-path", "usr/share/glmark2"),
        ("chocolate-doom", "-iwad", "usr/share/games/doom/freedoom1.wad"),
        ("never", "--data", "usr/share/games/neverball"),
    ];
    let data = data.iter().find(|(program, ..)| name.starts_with(program));
    let arguments = data.map_or_else(Vec::new, |(_, flag, path)| vec![(*flag).into(), root.join(path).into()]);
    Ok(paths.find(|path| path.is_file()).map(|path| Place { path, arguments }))
}

/// A running compositor.
pub struct Desktop<'a> {
    session: &'a Session<'a>,
    /// Where programs lie, unless they are the machine's own.
    root: Option<PathBuf>,
    run: PathBuf,
    compositor: Child,
}

impl<'a> Desktop<'a> {
    /// Starts the compositor with a screen of this size: its own, or the session's display.
    ///
    /// # Errors
    /// When it does not start; with its log.
    pub fn start(session: &'a Session<'a>, driver: &Driver, size: (u32, u32), on_display: bool) -> Result<Self> {
        let root = driver.root().map(Path::to_owned);
        let run = session.folder().join("desktop");
        DirBuilder::new()
            .mode(0o700)
            .create(&run)
            .within(|| format!("cannot make {}", run.display()))?;
        let configuration = run.join("weston.ini");
        fs::write(
            &configuration,
            // Without a display, the repaint window covers the whole frame time.
            "[core]\nidle-time=0\nrepaint-window=16\n[shell]\nlocking=false\nanimation=none\nstartup-animation=none\n\
             background-color=0xff204060\npanel-position=top\nclock-format=none\n",
        )?;
        let mut options: Vec<OsString> = vec![program(root.as_deref(), "weston")?.into()];
        let screen = if on_display {
            vec![
                "--backend=drm-backend.so".to_owned(),
                "--drm-device=card0".to_owned(),
                // Only seat0 needs a virtual terminal.
                format!("--seat={SEAT}"),
                "--continue-without-input".to_owned(),
            ]
        } else {
            vec![
                "--backend=headless-backend.so".to_owned(),
                "--use-gl".to_owned(),
                format!("--width={}", size.0),
                format!("--height={}", size.1),
            ]
        };
        options.extend(screen.into_iter().map(OsString::from));
        options.extend(
            [
                format!("--socket={DISPLAY}"),
                format!("--config={}", configuration.display()),
                // Allows screenshots by any client.
                "--debug".to_owned(),
            ]
            .map(OsString::from),
        );
        let log = File::create(run.join("weston.log"))?;
        let mut command = session.command_for(&options, Machine::ARM);
        environment(&mut command, root.as_deref(), &run);
        command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
        let compositor = command.spawn().within(|| "cannot run the compositor")?;
        let mut desktop = Self {
            session,
            root,
            run,
            compositor,
        };
        desktop.wait_for_display()?;
        Ok(desktop)
    }

    fn wait_for_display(&mut self) -> Result<()> {
        let end = Instant::now() + START;
        while !self.run.join(DISPLAY).exists() {
            if let Some(status) = self.compositor.try_wait()? {
                return Err(Error::machine(format_args!(
                    "the compositor ended ({status}):\n{}",
                    self.log()
                )));
            }
            if Instant::now() > end {
                return Err(Error::machine(format_args!(
                    "the compositor does not start:\n{}",
                    self.log()
                )));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    }

    /// The end of the compositor's log.
    pub fn log(&self) -> String {
        let text = fs::read(self.run.join("weston.log")).unwrap_or_default();
        let text = String::from_utf8_lossy(&text).into_owned();
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(20)..].join("\n")
    }

    /// Whether the compositor still runs.
    ///
    /// # Errors
    /// The system's error.
    pub fn is_alive(&mut self) -> Result<bool> {
        Ok(self.compositor.try_wait()?.is_none())
    }

    /// Reaps adopted processes other than `program` and the compositor.
    pub fn reap(&self, program: &Child) {
        reap(&[program, &self.compositor]);
    }

    /// The command that runs a program with a window.
    pub fn command(&self, program: &[OsString], machine: Machine) -> Command {
        let mut command = self.session.command_for(program, machine);
        environment(&mut command, self.root.as_deref(), &self.run);
        command
    }

    /// Takes a picture of the screen.
    ///
    /// # Errors
    /// When the compositor returns none.
    pub fn screenshot(&self, to: &Path) -> Result<()> {
        let folder = self.run.join("picture");
        fs::create_dir_all(&folder)?;
        let program = program(self.root.as_deref(), "weston-screenshooter")?;
        let output = self
            .command(&[program.into()], Machine::ARM)
            .current_dir(&folder)
            .stdin(Stdio::null())
            .output()
            .within(|| "cannot run weston-screenshooter")?;
        let picture = fs::read_dir(&folder)?
            .flatten()
            .map(|entry| entry.path())
            .find(|path| path.extension().is_some_and(|extension| extension == "png"));
        let Some(picture) = picture else {
            return Err(Error::machine(format_args!(
                "no picture of the screen ({}): {}{}",
                output.status,
                String::from_utf8_lossy(&output.stderr),
                self.log()
            )));
        };
        let copied = fs::copy(&picture, to).map(|_| ());
        fs::remove_dir_all(&folder)?;
        copied.within(|| format!("cannot write {}", to.display()))
    }
}

impl Drop for Desktop<'_> {
    fn drop(&mut self) {
        end(&mut self.compositor);
        let _ = fs::remove_dir_all(&self.run);
    }
}

/// One of the compositor's programs: of the packages, or the machine's own.
fn program(root: Option<&Path>, name: &str) -> Result<PathBuf> {
    match root {
        Some(root) => Ok(root.join("usr/bin").join(name)),
        None => which::which(name)
            .map_err(|_| Error::machine(format_args!("a desktop needs {name}: apt-get install weston"))),
    }
}

/// Environment variables for the data files of Debian's packages below the root folder.
fn data(command: &mut Command, root: &Path) {
    let libraries = root.join("usr/lib/aarch64-linux-gnu");
    for (name, value) in [
        ("XDG_DATA_DIRS", root.join("usr/share")),
        ("QT_PLUGIN_PATH", libraries.join("qt5/plugins")),
        (
            "GDK_PIXBUF_MODULE_FILE",
            libraries.join("gdk-pixbuf-2.0/2.10.0/loaders.cache"),
        ),
    ] {
        command.env(name, value);
    }
}

/// Environment variables of toolkits for a display without a compositor; those that the user has set stay.
pub fn on_display(command: &mut Command, root: Option<&Path>) {
    root.filter(|root| root.join("usr/share").is_dir())
        .into_iter()
        .for_each(|root| data(command, root));
    for (name, value) in [
        ("QT_QPA_PLATFORM", "eglfs"),
        ("QT_QPA_EGLFS_INTEGRATION", "eglfs_kms"),
        ("SDL_VIDEODRIVER", "kmsdrm"),
    ] {
        if std::env::var_os(name).is_none() {
            command.env(name, value);
        }
    }
}

/// Environment variables for programs with windows.
fn environment(command: &mut Command, root: Option<&Path>, run: &Path) {
    command.env("XDG_RUNTIME_DIR", run);
    root.into_iter().for_each(|root| data(command, root));
    for (name, value) in [
        ("WAYLAND_DISPLAY", DISPLAY),
        ("XDG_SESSION_TYPE", "wayland"),
        ("EGL_PLATFORM", "wayland"),
        ("GDK_BACKEND", "wayland"),
        ("GSETTINGS_BACKEND", "memory"),
        ("NO_AT_BRIDGE", "1"),
        ("QT_QPA_PLATFORM", "wayland"),
        ("SDL_VIDEODRIVER", "wayland"),
    ] {
        command.env(name, value);
    }
    command.env_remove("DISPLAY");
}
