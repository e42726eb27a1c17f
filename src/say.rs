//! What is said on standard error, and how much of it.

use std::fmt;
use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How much is said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Level {
    /// Only what went wrong.
    Quiet,
    /// Notes and progress too.
    #[default]
    Normal,
    /// Every file that is read and written, and how long all took.
    Verbose,
}

static LEVEL: AtomicU8 = AtomicU8::new(Level::Normal as u8);

/// Sets how much is said from now on.
pub fn set_level(level: Level) {
    LEVEL.store(level as u8, Ordering::Relaxed);
}

fn is(level: Level) -> bool {
    LEVEL.load(Ordering::Relaxed) >= level as u8
}

/// Whether only what went wrong is said.
pub fn is_quiet() -> bool {
    !is(Level::Normal)
}

/// Says a line on standard error; where nothing can be written to that, nobody is to be told, and the rest goes on.
pub fn say(line: impl fmt::Display) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Says what is worth knowing and not wrong.
pub fn note(line: impl fmt::Display) {
    if is(Level::Normal) {
        say(line);
    }
}

/// Says what only helps to find out what was done.
pub fn detail(line: impl fmt::Display) {
    if is(Level::Verbose) {
        say(format_args!("skrymir: {line}"));
    }
}

/// Work that takes no longer shows no bar.
const PATIENCE: Duration = Duration::from_secs(1);

/// A bar on a terminal for work that takes more than a second; nothing elsewhere, and nothing when quiet.
pub struct Progress {
    bar: indicatif::ProgressBar,
    start: Instant,
    shown: bool,
}

impl Progress {
    /// Work of so many steps, none of which is done.
    pub fn new(what: &'static str, steps: u64) -> Self {
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

    /// Does something that prints, without the bar in its way.
    pub fn aside<T>(&self, work: impl FnOnce() -> T) -> T {
        self.bar.suspend(work)
    }

    /// One more step is done.
    pub fn step(&mut self) {
        if !self.shown && self.start.elapsed() > PATIENCE {
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

/// Whether somebody looks on who wants to know how far things are.
fn on_terminal() -> bool {
    is(Level::Normal) && std::io::stderr().is_terminal()
}

/// How often the time is shown anew.
const TICK: Duration = Duration::from_millis(100);

/// What is being done and since when, on a terminal, for work of one piece that takes more than a second; gone when
/// dropped.
pub struct Waiting(Option<(Sender<()>, JoinHandle<()>)>);

impl Waiting {
    /// The work begins now.
    pub fn new(what: impl Into<String>) -> Self {
        if !on_terminal() {
            return Self(None);
        }
        let (done, end) = channel();
        let what = what.into();
        let start = Instant::now();
        let shown = move || {
            if end.recv_timeout(PATIENCE) != Err(RecvTimeoutError::Timeout) {
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
