//! Messages and progress on standard error, by verbosity.

use std::fmt;
use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The verbosity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum Level {
    /// Errors only.
    Quiet,
    /// Errors, notes and progress.
    #[default]
    Normal,
    /// Also every file read and written, and the total time.
    Verbose,
}

static LEVEL: AtomicU8 = AtomicU8::new(Level::Normal as u8);

/// Sets the verbosity, and prints messages of the libraries.
pub(crate) fn set_level(level: Level) {
    LEVEL.store(level as u8, Ordering::Relaxed);
    // A second logger, as of a test, changes nothing.
    if log::set_logger(&Libraries).is_ok() {
        log::set_max_level(log::LevelFilter::Debug);
    }
}

/// Messages of the libraries: errors, notes (info) and details (debug).
struct Libraries;

impl log::Log for Libraries {
    fn enabled(&self, metadata: &log::Metadata<'_>) -> bool {
        // Other crates log for their own developers.
        metadata.target().starts_with("skrymir")
    }

    fn log(&self, record: &log::Record<'_>) {
        if !self.enabled(record.metadata()) {
            return;
        }
        match record.level() {
            log::Level::Error | log::Level::Warn => message(format_args!("skrymir: {}", record.args())),
            log::Level::Info => note(format_args!("skrymir: {}", record.args())),
            log::Level::Debug | log::Level::Trace => detail(record.args()),
        }
    }

    fn flush(&self) {}
}

fn is(level: Level) -> bool {
    LEVEL.load(Ordering::Relaxed) >= level as u8
}

/// Whether only errors are printed.
pub(crate) fn is_quiet() -> bool {
    !is(Level::Normal)
}

/// Prints a line to standard error; a write error is ignored.
pub(crate) fn message(line: impl fmt::Display) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Prints a note, unless quiet.
pub(crate) fn note(line: impl fmt::Display) {
    if is(Level::Normal) {
        message(line);
    }
}

/// Prints a detail, if verbose.
pub(crate) fn detail(line: impl fmt::Display) {
    if is(Level::Verbose) {
        message(format_args!("skrymir: {line}"));
    }
}

/// Delay before progress is shown.
const SHOW_AFTER: Duration = Duration::from_secs(1);

/// A progress bar on a terminal, shown after a second; none elsewhere or when quiet.
pub(crate) struct Progress {
    bar: indicatif::ProgressBar,
    start: Instant,
    shown: bool,
}

impl Progress {
    /// Starts work of `steps` steps.
    pub(crate) fn new(what: &'static str, steps: u64) -> Self {
        let bar = indicatif::ProgressBar::with_draw_target(Some(steps), indicatif::ProgressDrawTarget::hidden());
        let style = indicatif::ProgressStyle::with_template("{prefix} {wide_bar} {pos}/{len} {eta}");
        if let Ok(style) = style {
            bar.set_style(style);
        }
        bar.set_prefix(what);
        Self {
            bar,
            start: Instant::now(),
            shown: !on_terminal(),
        }
    }

    /// Runs `work`, which prints, with the bar hidden.
    pub(crate) fn aside<T>(&self, work: impl FnOnce() -> T) -> T {
        self.bar.suspend(work)
    }

    /// Counts one step.
    pub(crate) fn step(&mut self) {
        if !self.shown && self.start.elapsed() > SHOW_AFTER {
            self.bar.set_draw_target(indicatif::ProgressDrawTarget::stderr());
            self.shown = true;
        }
        self.bar.inc(1);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// Whether progress goes to a terminal.
fn on_terminal() -> bool {
    is(Level::Normal) && std::io::stderr().is_terminal()
}

/// Interval at which the time is updated.
const TICK: Duration = Duration::from_millis(100);

/// A spinner with the elapsed time on a terminal, shown after a second and removed on drop.
pub(crate) struct Waiting(Option<(Sender<()>, JoinHandle<()>)>);

impl Waiting {
    /// Starts the work.
    pub(crate) fn new(what: impl Into<String>) -> Self {
        if !on_terminal() {
            return Self(None);
        }
        let (done, end) = channel();
        let what = what.into();
        let start = Instant::now();
        let shown = move || {
            if end.recv_timeout(SHOW_AFTER) != Err(RecvTimeoutError::Timeout) {
                return;
            }
            let bar = indicatif::ProgressBar::new_spinner()
                .with_message(what)
                .with_elapsed(start.elapsed());
            if let Ok(style) = indicatif::ProgressStyle::with_template("{spinner} {msg} {elapsed}") {
                bar.set_style(style);
            }
            while end.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                bar.tick();
            }
            bar.finish_and_clear();
        };
        Self(Some((done, std::thread::spawn(shown))))
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if let Some((done, thread)) = self.0.take() {
            drop(done);
            let _ = thread.join();
        }
    }
}
