//! `skrymir gles`: OpenGL ES 2 programs on the emulator, with the unmodified driver of Mesa.

use super::engine::{EngineName, SiliconArgs, default_threads};
use crate::cli::cleanup;
use crate::cli::error::{Error, Result, Within};
use crate::cli::log::Waiting;
use crate::cli::outcome::{Failure, Outcome};
use crate::cli::picture::save;
use clap::Args;
use emulator::exec::configured::without_fast_paths;
use emulator::memory::Memory;
use gles::{Desktop, Driver, Machine, Record, Session, Show, frames, view};
use scene::picture::Picture;
use shim::{Event, Hardware, Input, Options, Screen, Server, Shown, Sink, Watch};
use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

/// Arguments of `gles`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  skrymir gles --compile program.c
  skrymir gles --stats -- ./program --frames 10
  skrymir gles --desktop --screenshot out.png -- weston-simple-egl
  skrymir gles --frames pictures -- kmscube
  skrymir gles --view --desktop -- weston-terminal")]
pub(crate) struct GlesArgs {
    /// The program, for 64-bit ARM or this machine, and its arguments
    #[arg(required_unless_present_any = ["serve", "list"], last = true)]
    pub program: Vec<OsString>,
    /// The program is a C file: compile it first, for 64-bit ARM
    #[arg(long)]
    pub compile: bool,
    /// Run a server in this folder until a signal, and print the environment with which programs use it
    #[arg(long, value_name = "DIR", conflicts_with_all = ["program", "compile"])]
    pub serve: Option<PathBuf>,
    /// Use the server in this folder
    #[arg(long, value_name = "DIR", conflicts_with_all = ["serve", "record", "dump_frames", "stats", "dump", "desktop", "silicon"])]
    pub join: Option<PathBuf>,
    /// List the programs that use the server in this folder, with jobs per second
    #[arg(long, value_name = "DIR", conflicts_with_all = ["program", "serve", "join", "compile", "silicon"])]
    pub list: Option<PathBuf>,
    /// Start a Wayland desktop around the program
    #[arg(long, conflicts_with_all = ["serve", "list", "compile", "root"])]
    pub desktop: bool,
    /// Size of the desktop or display
    #[arg(long, value_name = "WIDTHxHEIGHT", value_parser = size, default_value = "1024x640")]
    pub size: (u32, u32),
    /// Take a picture of the desktop, then end the program
    #[arg(long, value_name = "FILE", requires = "desktop")]
    pub screenshot: Option<PathBuf>,
    /// Seconds from the program's start to the picture
    #[arg(long, value_name = "N", default_value_t = 5.0, requires = "screenshot", value_parser = seconds)]
    pub after: f64,
    /// Take the picture when a window is on the desktop, at least --after seconds from the start
    #[arg(long, requires = "screenshot")]
    pub when_shown: bool,
    /// End the program after this many seconds; the exit code is then 124
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub timeout: Option<f64>,
    /// Emulate a display, and write its pictures: numbered PNGs into a folder, or video (YUV4MPEG2) to standard output
    /// with `-`
    #[arg(long, value_name = "DIR|-", conflicts_with_all = ["join", "list"])]
    pub frames: Option<PathBuf>,
    /// Emulate a display, and show it on a page for browsers on this machine, with keyboard and pointer
    #[arg(long, conflicts_with_all = ["join", "list"])]
    pub view: bool,
    /// The display's pictures per second; 0 shows each at once
    #[arg(long, value_name = "N", default_value_t = 60, value_parser = clap::value_parser!(u32).range(0..=1000))]
    pub rate: u32,
    /// The seat of keyboard and pointer [default: seat0]
    #[arg(long, value_name = "NAME", value_parser = seat, conflicts_with = "desktop")]
    pub seat: Option<String>,
    /// A Debian package that the desktop's program needs; may be given several times
    #[arg(long, value_name = "NAME")]
    pub package: Vec<String>,
    /// Limit of a device's buffer objects in MiB; further allocations fail
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub memory: Option<u32>,
    /// Root folder of ARM programs [default: Debian's packages, fetched once]
    #[arg(long, value_name = "FOLDER")]
    pub root: Option<PathBuf>,
    /// Write every device's jobs into this folder, for `replay`
    #[arg(long, value_name = "FOLDER")]
    pub record: Option<PathBuf>,
    /// Write the picture of every pixel job into this folder
    #[arg(long, value_name = "FOLDER")]
    pub dump_frames: Option<PathBuf>,
    /// Print a summary and the time of every job, and sums at the end
    #[arg(long)]
    pub stats: bool,
    /// Write the output of --stats as JSON, a line for each job and each device (`skrymir schema gles`)
    #[arg(long, value_name = "FILE", conflicts_with_all = ["join", "list"])]
    pub report: Option<PathBuf>,
    /// Print the list as JSON (`skrymir schema gles-list`)
    #[arg(long, requires = "list")]
    pub json: bool,
    /// Print every job's streams, states, descriptors and code before it runs
    #[arg(long)]
    pub dump: bool,
    /// Pixel processors of the GPU
    #[arg(long, value_name = "N", env = "SKRYMIR_PPS", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=8))]
    pub pps: u32,
    /// The GPU is a Mali-450
    #[arg(long, env = "SKRYMIR_MALI450", value_parser = clap::builder::FalseyValueParser::new())]
    pub mali450: bool,
    /// The engine that runs the programs
    #[arg(long, value_enum, default_value_t)]
    pub engine: EngineName,
    /// Hypotheses about hardware
    #[command(flatten)]
    pub silicon: SiliconArgs,
    /// Threads that shade tiles [default: one per processor]
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,
    /// Draw every primitive on the general path, without fast paths; pictures are the same, and a difference is a bug
    /// of one of them
    #[arg(long)]
    pub no_fast_paths: bool,
}

/// The printer and the recorder of a device.
struct Both(Show, Option<Record>);

impl Watch for Both {
    fn event(&mut self, memory: &Memory, event: &Event<'_>) {
        if let Some(record) = &mut self.1 {
            record.event(memory, event);
        }
        self.0.event(memory, event);
    }

    fn wants_writes(&self) -> bool {
        self.1.as_ref().is_some_and(Record::wants_writes)
    }
}

impl GlesArgs {
    /// Whether there is a display that is shown.
    fn has_display(&self) -> bool {
        self.frames.is_some() || self.view
    }

    /// Whether there is a display: programs on a desktop need a seat, which the compositor has on a display only.
    fn needs_display(&self) -> bool {
        self.has_display() || self.desktop
    }
}

/// Flags of a device that this process makes.
const DEVICE: &[&str] = &[
    "memory",
    "record",
    "dump-frames",
    "stats",
    "report",
    "dump",
    "pps",
    "mali450",
    "engine",
    "silicon",
    "threads",
    "no-fast-paths",
];

/// Flags of a display.
const DISPLAY: &[&str] = &["frames", "view", "rate", "seat", "size"];

impl GlesArgs {
    /// What the command does, in words, and the flags that have a use for it.
    fn mode(&self) -> (&'static str, Vec<&'static [&'static str]>) {
        match self {
            Self { list: Some(_), .. } => ("the list of a server's programs", vec![&["list", "json"]]),
            Self { serve: Some(_), .. } => ("a server", vec![&["serve", "root"], DEVICE, DISPLAY]),
            Self { join: Some(_), .. } => (
                "a program that uses a server",
                vec![&["join", "root", "compile", "timeout"]],
            ),
            Self { desktop: true, .. } => (
                "a desktop",
                vec![
                    &["desktop", "screenshot", "after", "when-shown", "timeout", "package"],
                    DEVICE,
                    DISPLAY,
                ],
            ),
            _ => (
                "a program",
                vec![&["root", "compile", "timeout", "package"], DEVICE, DISPLAY],
            ),
        }
    }

    /// Rejects flags without a use.
    fn reject_others(&self, typed: &[String]) -> Outcome {
        let (mode, taken) = self.mode();
        let stray = |flag: &&String| !taken.iter().any(|flags| flags.contains(&flag.as_str()));
        if let Some(flag) = typed.iter().find(stray) {
            return Err(Failure::usage(format_args!("gles --{flag} means nothing for {mode}")));
        }
        let has = |flag: &str| typed.iter().any(|typed| typed == flag);
        let of_display = ["rate", "seat", "size"].into_iter().find(|flag| has(flag));
        match of_display.filter(|flag| !(self.has_display() || *flag == "size" && self.desktop)) {
            Some("size") => Err(Failure::usage(
                "--size is a desktop's or a display's: --desktop, --frames or --view",
            )),
            Some(flag) => Err(Failure::usage(format_args!(
                "--{flag} is a display's: --frames or --view"
            ))),
            None if has("package") && (self.compile || !self.desktop && !self.has_display()) => Err(no_package()),
            None => Ok(()),
        }
    }
}

/// The error of `--package` where nothing of Debian's runs.
fn no_package() -> Failure {
    Failure::usage("--package is for Debian's programs on a desktop or a display: --desktop, --frames or --view")
}

/// Runs the command; the exit code is that of the program. `typed` are the flags on the command line.
pub(crate) fn run(args: &GlesArgs, typed: &[String]) -> Outcome {
    args.reject_others(typed)?;
    if !args.mali450 && args.pps > 4 {
        return Err(Failure::usage("a Mali-400 has at most 4 pixel processors"));
    }
    for folder in [&args.record, &args.dump_frames].into_iter().flatten() {
        std::fs::create_dir_all(folder).within(|| format!("cannot make {}", folder.display()))?;
    }
    if let Some(folder) = &args.list {
        return Ok(list(folder, args.json)?);
    }
    if let Some(folder) = &args.serve {
        return Ok(serve(args, folder)?);
    }
    gles::adopt();
    if args.desktop {
        return finish(desktop(args).inspect_err(|_| gles::end_adopted())?);
    }
    stop_on_signals()?;
    let mut program = args.program.clone();
    let (driver, built) = if args.compile {
        let driver = Driver::prepare_with(Machine::ARM, args.root.as_deref())?;
        let built = tempfile::tempdir().within(|| "no folder for the program")?;
        let path = built.path().join("program");
        driver.compile(Path::new(&program[0]), &path)?;
        program[0] = path.into();
        (driver, Some(built))
    } else if let Some(place) = known(args)? {
        // One of Debian's programs that draw to a display without a compositor.
        program[0] = place.path.into();
        program.splice(1..1, place.arguments);
        (gles::prepare_bare(&args.package)?, None)
    } else {
        program[0] = match find(&program[0]) {
            Err(error) if args.has_display() => return Err(hinted(error).into()),
            found => found?.into(),
        };
        if !args.package.is_empty() {
            return Err(no_package());
        }
        let machine = Machine::of(Path::new(&program[0]))?;
        if machine == Machine::Native {
            gles::needs_lima(Path::new(&program[0]))?;
        }
        (Driver::prepare_with(machine, args.root.as_deref())?, None)
    };
    let status = session(args, &driver).and_then(|session| {
        let mut command = session.command(&program);
        if args.has_display() {
            gles::on_display(&mut command, driver.root());
        }
        if args.frames.as_deref() == Some(Path::new("-")) {
            // Standard output carries only the video.
            command.stdout(std::io::stderr());
        }
        let status = wait(command, args.timeout.map(Duration::from_secs_f64))?;
        session.settle();
        Ok(status)
    });
    drop(built);
    let status = status?;
    let failed = status.is_some_and(|status| !status.success());
    if let Some(words) = failed.then(|| gles::missing_library(Path::new(&program[0]))).flatten() {
        crate::cli::log::message(format_args!("skrymir: {}: {words}", program[0].to_string_lossy()));
    }
    let shown = args.desktop || args.has_display();
    if failed && !shown && std::env::var_os("EGL_PLATFORM").is_none() {
        crate::cli::log::note("skrymir: if EGL found no display: EGL_PLATFORM=surfaceless does without one");
    }
    finish(status)
}

fn session<'a>(args: &GlesArgs, driver: &'a Driver) -> Result<Session<'a>> {
    match &args.join {
        Some(folder) => Ok(Session::join(driver, folder)?),
        None => Ok(Session::start(driver, options(args)?)?),
    }
}

/// Exits with the program's exit code, as a shell reports it.
fn finish(status: Option<ExitStatus>) -> Outcome {
    match status.map(ExitStatus::into_raw) {
        Some(0) => Ok(()),
        None => std::process::exit(TIMED_OUT),
        Some(raw) => {
            let signal = raw & 0x7f;
            std::process::exit(if signal == 0 { raw >> 8 & 0xff } else { 128 + signal })
        }
    }
}

/// The signal received, or 0.
static SIGNAL: LazyLock<Arc<AtomicUsize>> = LazyLock::new(Arc::default);

/// Installs signal handlers: the first signal ends the program in order, the second one exits at once.
fn stop_on_signals() -> Result<()> {
    let second = Arc::new(AtomicBool::new(false));
    for signal in cleanup::SIGNALS {
        signal_hook::flag::register_conditional_shutdown(signal, 128 + signal, second.clone())?;
        signal_hook::flag::register(signal, second.clone())?;
        signal_hook::flag::register_usize(signal, SIGNAL.clone(), signal as usize)?;
    }
    Ok(())
}

/// The exit status of a received signal.
fn signalled() -> Option<ExitStatus> {
    let signal = SIGNAL.load(Ordering::Relaxed);
    (signal != 0).then(|| ExitStatus::from_raw(signal as i32))
}

/// Exit code of a timeout, as of `timeout`.
const TIMED_OUT: i32 = 124;

/// Interval for reaping adopted processes.
const REAP_INTERVAL: Duration = Duration::from_secs(1);

/// Runs a program to its end or its timeout, then ends its descendants.
fn wait(mut command: std::process::Command, time: Option<Duration>) -> Result<Option<ExitStatus>> {
    let name = command.get_program().to_string_lossy().into_owned();
    let mut child = command.spawn().within(|| format!("cannot run {name}"))?;
    let start = Instant::now();
    let mut last_reap = start;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        let signalled = signalled();
        if signalled.is_some() || time.is_some_and(|time| start.elapsed() >= time) {
            gles::end(&mut child);
            gles::end_adopted();
            return Ok(signalled);
        }
        if last_reap.elapsed() >= REAP_INTERVAL {
            gles::reap(&[&child]);
            last_reap = Instant::now();
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Starts a desktop with the program on it, and takes its picture.
fn desktop(args: &GlesArgs) -> Result<Option<ExitStatus>> {
    let driver = gles::prepare(&args.package)?;
    let mut program = args.program.clone();
    let place = program[0].to_str().map(gles::place).transpose()?.flatten();
    match place {
        Some(place) => {
            program[0] = place.path.into();
            program.splice(1..1, place.arguments);
        }
        None => program[0] = find(&program[0]).map_err(hinted)?.into(),
    }
    let machine = Machine::of(Path::new(&program[0]))?;
    let session = Session::start(&driver, options(args)?)?;
    let starting = Waiting::new("starting the compositor");
    let mut desktop = Desktop::start(&session, &driver, args.size, args.needs_display())?;
    drop(starting);
    let mut child = desktop
        .command(&program, machine)
        .spawn()
        .within(|| "cannot run the program")?;
    let start = Instant::now();
    let mut last_reap = start;
    let passed = |seconds: f64| start.elapsed().as_secs_f64() >= seconds;
    let mut take_at = args.after;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            if args.screenshot.is_some() {
                return Err(Error::machine(format_args!(
                    "the program ended before its picture was taken: {status}"
                )));
            }
            break Some(status);
        }
        if let Some(status) = signalled() {
            gles::end(&mut child);
            break Some(status);
        }
        if !desktop.is_alive()? {
            gles::end(&mut child);
            return Err(Error::machine(format_args!("the desktop ended:\n{}", desktop.log())));
        }
        if let Some(path) = args.screenshot.as_ref().filter(|_| passed(take_at)) {
            let taken: Result<bool> = desktop
                .screenshot(path)
                .map_err(Error::from)
                .and_then(|()| Ok(is_empty(&Picture::load(path)?)));
            let waits = args.when_shown && matches!(taken, Ok(true)) && !args.timeout.is_some_and(passed);
            if waits && !passed(args.after + SHOWN_WITHIN) {
                take_at = start.elapsed().as_secs_f64() + SHOWN_INTERVAL;
                continue;
            }
            gles::end(&mut child);
            if taken? {
                return Err(Error::machine(format_args!(
                    "no window is on the desktop after {:.0} s: --after N waits longer, --when-shown until there is one",
                    start.elapsed().as_secs_f64()
                )));
            }
            break Some(ExitStatus::from_raw(0));
        }
        if args.timeout.is_some_and(passed) {
            gles::end(&mut child);
            break None;
        }
        if last_reap.elapsed() >= REAP_INTERVAL {
            desktop.reap(&child);
            last_reap = Instant::now();
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    drop(desktop);
    gles::end_adopted();
    session.settle();
    Ok(status)
}

/// Seconds between pictures while no window is there, and after which none is waited for any more.
const SHOWN_INTERVAL: f64 = 2.0;
const SHOWN_WITHIN: f64 = 300.0;

/// Whether a picture of the desktop has no window: below the panel, all but a pointer is of one colour.
fn is_empty(picture: &Picture) -> bool {
    const PANEL: u32 = 40;
    const POINTER: usize = 48 * 48;
    let start = picture.width as usize * PANEL.min(picture.height) as usize;
    let pixels = picture.rgba.as_chunks::<4>().0.get(start..).unwrap_or_default();
    let Some(background) = pixels.last() else {
        return false;
    };
    pixels.iter().filter(|pixel| *pixel != background).count() <= POINTER
}

/// The error of a program that is not found, with where Debian's come from.
fn hinted(error: Error) -> Error {
    Error::machine(format_args!(
        "{error}; one of Debian's needs --package with the name of its package"
    ))
}

/// Runs a server until a signal.
fn serve(args: &GlesArgs, folder: &Path) -> Result<()> {
    let driver = Driver::prepare_with(Machine::Native, args.root.as_deref())?;
    let mut signals = signal_hook::iterator::Signals::new(cleanup::SIGNALS)?;
    let session = Session::serve(&driver, options(args)?, folder)?;
    let mut lines = session.environment();
    lines.push(("LD_PRELOAD", driver.preload()));
    for (name, value) in lines {
        let value = value.to_string_lossy().replace('\'', "'\\''");
        println!("export {name}='{value}'");
    }
    signals.forever().next();
    Ok(())
}

/// Prints the clients of a server, and their load in one second.
fn list(folder: &Path, json: bool) -> Result<()> {
    let ask = || Server::list(folder).within(|| format!("no server runs in {}", folder.display()));
    ask()?;
    std::thread::sleep(Duration::from_secs(1));
    if json {
        println!("{}", serde_json::to_string_pretty(&ask()?)?);
        return Ok(());
    }
    println!("device process  jobs/s  busy    GP jobs    PP jobs waiting  MiB program");
    for client in ask()? {
        println!(
            "{:6} {:7} {:7.1} {:4.0}% {:10} {:10} {:7} {:4} {}",
            client.device,
            client.process,
            client.jobs_per_second,
            100.0 * client.busy,
            client.gp_jobs,
            client.pp_jobs,
            client.waiting,
            client.memory >> 20,
            client.name
        );
    }
    Ok(())
}

/// Width and height as `WIDTHxHEIGHT`.
fn size(text: &str) -> Result<(u32, u32), String> {
    let number = |text: &str| text.parse().ok().filter(|number| (16..=4096).contains(number));
    let parts = text.split_once('x');
    parts
        .and_then(|(width, height)| Some((number(width)?, number(height)?)))
        .ok_or_else(|| "a size is WIDTHxHEIGHT, each from 16 to 4096".to_owned())
}

/// A time in seconds.
fn seconds(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|seconds| (0.0..=1e6).contains(seconds));
    number.ok_or_else(|| "a time is a number of seconds up to a million".to_owned())
}

/// A program with the screen to itself that is one of Debian's packages, unless it is here.
fn known(args: &GlesArgs) -> Result<Option<gles::Place>> {
    let name = args.program[0]
        .to_str()
        .filter(|_| args.has_display() && args.root.is_none());
    match name {
        Some(name) if find(&args.program[0]).is_err() => Ok(gles::place(name)?),
        _ => Ok(None),
    }
}

/// A program by its path, or by its name as the shell finds it.
fn find(program: &OsString) -> Result<PathBuf> {
    let path = PathBuf::from(program);
    if path.components().count() > 1 || path.is_file() {
        return Ok(std::path::absolute(path)?);
    }
    which::which(program).map_err(|_| Error::machine(format_args!("no program {}", path.display())))
}

fn options(args: &GlesArgs) -> Result<Options> {
    let engine = args.engine;
    if engine.patient().is_none() {
        return Err(Error::usage(
            "--engine vulkan draws pairs; devices run on scalar, wide or native",
        ));
    }
    let silicon = args.silicon.clone();
    let plain = || Box::new(emulator::exec::scalar::Scalar) as _;
    let no_fast_paths = args.no_fast_paths;
    let mut options = Options::new(move || {
        let engine = silicon.around(engine.patient().unwrap_or_else(plain));
        match no_fast_paths {
            true => without_fast_paths(engine),
            false => engine,
        }
    });
    options.threads = args.threads.unwrap_or_else(default_threads);
    options.pps = args.pps;
    if let Some(mib) = args.memory {
        options.memory = u64::from(mib) << 20;
    }
    if args.mali450 {
        options.hardware = Hardware::Mali450;
    }
    // Recordings and pictures of one program have everything that it drew.
    if args.serve.is_none() {
        options.grace = None;
    }
    let (record, frames) = (args.record.clone(), args.dump_frames.clone());
    let (stats, dump) = (args.stats, args.dump);
    let report = args.report.as_deref().map(gles::Report::create).transpose()?;
    let (gpu, pps) = (1 + u32::from(args.mali450), args.pps);
    options.watcher = Box::new(move |device| {
        let path = record
            .as_ref()
            .map(|folder| folder.join(format!("device{device}.trace")));
        let record = path.and_then(|path| {
            let record = Record::create(&path, gpu, pps);
            record
                .map_err(|error| crate::cli::log::message(format_args!("skrymir: {error}")))
                .ok()
        });
        let mut show = Show::new(device);
        (show.stats, show.dump) = (stats, dump);
        show.frames = frames.clone().map(|folder| job_pictures(folder, device));
        show.report.clone_from(&report);
        Box::new(Both(show, record))
    });
    if args.needs_display() {
        display(args, &mut options)?;
    }
    Ok(options)
}

/// Adds a display with keyboard and pointer, and its outputs.
fn display(args: &GlesArgs, options: &mut Options) -> Result<()> {
    let (width, height) = args.size;
    let input = Input::new(width, height);
    let mut sinks = Vec::new();
    if let Some(to) = &args.frames {
        sinks.push(match to.to_str() {
            Some("-") => frames::video(std::io::stdout(), args.rate),
            _ => pictures(to)?,
        });
    }
    if args.view {
        let page = view::open(input.clone())?;
        crate::cli::log::message(format_args!("{}", page.url));
        sinks.push(page.sink);
    }
    let sink = move |shown: &Shown| sinks.iter().for_each(|sink| sink(shown));
    options.screen = Some(Screen::new(width, height, args.rate, Box::new(sink))?);
    options.input = Some(input);
    options.seat = match &args.seat {
        Some(seat) => seat.clone(),
        None if args.desktop => gles::SEAT.to_owned(),
        None => "seat0".to_owned(),
    };
    Ok(())
}

/// Writes the picture of every pixel job into a folder.
fn job_pictures(folder: PathBuf, device: u64) -> Box<gles::Pictures> {
    Box::new(move |number, [width, height], rgba| {
        let path = folder.join(format!("device{device}-job{number:05}.png"));
        save_or_report(&Picture { width, height, rgba }, &path);
    })
}

/// Writes every picture of the display as `frame00000.png` and so on into a folder.
fn pictures(folder: &Path) -> Result<Box<Sink>> {
    std::fs::create_dir_all(folder).within(|| format!("cannot make {}", folder.display()))?;
    let folder = folder.to_owned();
    Ok(Box::new(move |shown: &Shown| {
        let picture = Picture {
            width: shown.width,
            height: shown.height,
            rgba: shown.rgba.clone(),
        };
        save_or_report(&picture, &folder.join(format!("frame{:05}.png", shown.number)));
    }))
}

/// Writes a picture; a failure is printed and does not stop the program.
fn save_or_report(picture: &Picture, path: &Path) {
    if let Err(error) = save(picture, path) {
        crate::cli::log::message(format_args!("skrymir: {error}"));
    }
}

/// A seat's name.
fn seat(text: &str) -> Result<String, String> {
    let plain = |character: char| character.is_ascii_alphanumeric() || "-_".contains(character);
    match text.starts_with("seat") && text.chars().all(plain) {
        true => Ok(text.to_owned()),
        false => Err("a seat's name begins with \"seat\"; letters, digits, - and _ follow".to_owned()),
    }
}
