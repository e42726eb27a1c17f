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

/// Prints a line to standard error, in colours on a terminal; a write error is ignored.
pub(crate) fn message(line: impl fmt::Display) {
    let line = line.to_string();
    let line = if has_colours() { coloured(&line) } else { line };
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Whether standard error is a terminal with colours, which `NO_COLOR` (no-color.org) turns off.
fn has_colours() -> bool {
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    std::io::stderr().is_terminal()
        && !is_set("NO_COLOR")
        && std::env::var_os("TERM").is_some_and(|term| term != "dumb")
}

/// A message with its first word, the margin of an excerpt and its marks in colours.
fn coloured(text: &str) -> String {
    let [red, cyan, blue, plain] = ["1;31", "1;36", "1;34", "0"].map(|code| format!("\x1b[{code}m"));
    let line = |line: &str| {
        for (word, colour) in [("skrymir:", &red), ("note:", &cyan)] {
            if let Some(rest) = line.strip_prefix(word) {
                return format!("{colour}{word}{plain}{rest}");
            }
        }
        let is_margin = |margin: &str| margin.ends_with(' ') && margin.chars().all(|c| c == ' ' || c.is_ascii_digit());
        match line.split_once('|').filter(|(margin, _)| is_margin(margin)) {
            Some((margin, rest)) if rest.trim_start().starts_with('^') => {
                format!("{blue}{margin}|{red}{rest}{plain}")
            }
            Some((margin, rest)) => format!("{blue}{margin}|{plain}{rest}"),
            None => line.to_owned(),
        }
    };
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_margins_and_marks_have_colours() {
        let text = coloured("skrymir: a.frag:2:3: no\n  |\n2 | a || b\n  |   ^^\nexpected a | b");
        let wanted = "\x1b[1;31mskrymir:\x1b[0m a.frag:2:3: no\n\x1b[1;34m  |\x1b[0m\n\x1b[1;34m2 |\x1b[0m a || b\n\
                      \x1b[1;34m  |\x1b[1;31m   ^^\x1b[0m\nexpected a | b";
        assert_eq!(text, wanted);
        assert_eq!(coloured("note: b"), "\x1b[1;36mnote:\x1b[0m b");
    }
}
