//! `run` for test scripts (AmberScript, VkScript): a verdict for each on one device, or the differences between engines.

use crate::cli::args::RunArgs;
use crate::cli::cleanup::Limit;
use crate::cli::error::{Cause, Error, Within};
use crate::cli::log::Progress;
use crate::cli::outcome::{Failure, Outcome, print, print_json, write};
use crate::cli::picture::save;
use runner::script::{Compiler, Engine, Mali, Through};
use scene::picture::Picture;
use script::run::{Compile, Report, Verdict};
use script::{Place, Script};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};
use vulkan::work::{Resource, Work};
use vulkan::{Context, Options, Validation};

/// Default time limit of one use of the device.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Extensions of scripts.
const ENDINGS: [&str; 3] = ["amber", "vkscript", "shader_test"];

/// Whether a path has the extension of a script.
pub(crate) fn is_script(path: &Path) -> bool {
    path.extension()
        .is_some_and(|ending| ENDINGS.iter().any(|known| ending == *known))
}

/// A script's result: a row of the JSON document.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Row {
    file: PathBuf,
    verdict: String,
    /// Whether the verdict is the expected one.
    right: bool,
    line: Option<u32>,
    reason: Option<String>,
    seconds: f64,
    timed: Vec<Timed>,
    validation: Vec<String>,
    /// Guarantees that the script requires and the device lacks.
    without: Vec<String>,
    /// Peak memory of the process that ran it, in bytes, if the system reports it.
    memory: Option<u64>,
}

/// Device time of one use of a pipeline.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Timed {
    line: u32,
    milliseconds: f64,
}

/// Whether the file name marks a script that has to fail, as test suites do.
fn is_to_fail(path: &Path) -> bool {
    path.file_name()
        .is_some_and(|name| name.to_string_lossy().contains(".expect_fail."))
}

impl Row {
    fn new(path: &Path, report: &Report, time: Duration, validation: Vec<String>) -> Self {
        let right = match report.verdict {
            Verdict::Holds => !is_to_fail(path),
            Verdict::Fails(..) | Verdict::Invalid(_) => is_to_fail(path),
            Verdict::Unsupported(_) | Verdict::NoFile(..) | Verdict::Device(_) => false,
        };
        let timed = report.timed.iter().map(|(line, time)| Timed {
            line: *line,
            milliseconds: time.as_secs_f64() * 1e3,
        });
        Self {
            file: path.to_owned(),
            verdict: report.verdict.name().to_owned(),
            right: right && validation.is_empty(),
            line: match &report.verdict {
                Verdict::Fails(place, _) | Verdict::NoFile(place, _) => Some(place.line),
                _ => None,
            },
            reason: report.verdict.reason(),
            seconds: time.as_secs_f64(),
            timed: timed.collect(),
            validation,
            without: report.without.clone(),
            memory: None,
        }
    }

    /// A script whose process ended.
    fn ended(path: &Path, why: String, time: Duration) -> Self {
        let report = Report {
            verdict: Verdict::Device(why),
            timed: Vec::new(),
            kept: Vec::new(),
            without: Vec::new(),
        };
        Self::new(path, &report, time, Vec::new())
    }

    fn unsupported(&self) -> bool {
        self.verdict == Verdict::Unsupported(String::new()).name()
    }

    /// Whether a file of the script cannot be read.
    fn lacks_file(&self) -> bool {
        self.verdict == Verdict::NoFile(Place::default(), String::new()).name()
    }

    /// The verdict and its reason in a line.
    fn text(&self) -> String {
        let mut text = self.verdict.clone();
        if is_to_fail(&self.file) {
            text += if self.right {
                ", as it has to"
            } else {
                ", and has to fail"
            };
        }
        if let Some(reason) = &self.reason {
            let _ = write!(text, ": {reason}");
        } else if !self.without.is_empty() {
            let _ = write!(
                text,
                ", without what the device does not promise: {}",
                self.without.join(", ")
            );
        }
        if let Some(first) = self.validation.first() {
            let _ = write!(
                text,
                "; {} messages of the validation layer: {first}",
                self.validation.len()
            );
        }
        text
    }
}

/// Runs scripts: the files given and those in the folders given.
///
/// # Errors
/// Bad where one does not hold, trouble where there is no device or a file cannot be read.
pub(crate) fn run(args: &RunArgs) -> Outcome {
    let given = [&args.file].into_iter().chain(&args.fragment).chain(&args.script.more);
    let mut paths = Vec::new();
    for path in given {
        match path.is_dir() {
            true => paths.extend(scripts_in(path)?),
            false => paths.push(path.clone()),
        }
    }
    if let Some(filter) = &args.script.filter {
        paths.retain(|path| path.to_string_lossy().contains(filter.as_str()));
    }
    if paths.is_empty() {
        return Err(Failure::usage(
            "no scripts: none of the files and folders given has one of that name",
        ));
    }
    if args.script.lines {
        return run_here(args, &paths);
    }
    if args.script.engines {
        return on_engines(args, &paths);
    }
    let start = Instant::now();
    let rows = run_all(args, &engine(args), &paths, !args.json)?;
    if let Some(path) = &args.script.junit {
        write(path, junit(&rows))?;
    }
    let counts = Counts::of(&rows);
    let Counts {
        right,
        unsupported,
        no_file,
        wrong,
    } = counts;
    let seconds = start.elapsed().as_secs_f64();
    let memory = rows.iter().filter_map(|row| row.memory).max();
    if args.json {
        print_json(&json!({
            "scripts": rows,
            "right": right,
            "unsupported": unsupported,
            "no_file": no_file,
            "wrong": wrong,
            "seconds": seconds,
            "memory": memory,
        }))?;
    } else {
        let memory = memory.map_or(String::new(), |bytes| {
            format!(", at most {} MiB a process", bytes >> 20)
        });
        print(&format!("{counts} of {} in {seconds:.1} s{memory}\n", rows.len()))?;
    }
    match wrong + no_file > 0 || args.script.strict && unsupported > 0 {
        true => Err(Failure::Reported(Cause::Bad)),
        false => Ok(()),
    }
}

/// Scripts by result.
#[derive(Clone, Copy, Debug)]
struct Counts {
    right: usize,
    unsupported: usize,
    no_file: usize,
    wrong: usize,
}

impl Counts {
    fn of(rows: &[Row]) -> Self {
        let right = rows.iter().filter(|row| row.right).count();
        let unsupported = rows.iter().filter(|row| row.unsupported()).count();
        let no_file = rows.iter().filter(|row| row.lacks_file()).count();
        Self {
            right,
            unsupported,
            no_file,
            wrong: rows.len() - right - unsupported - no_file,
        }
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            right,
            unsupported,
            no_file,
            wrong,
        } = self;
        write!(
            f,
            "{right} right, {unsupported} unsupported, {no_file} without a file, {wrong} wrong"
        )
    }
}

/// The engine of the arguments.
fn engine(args: &RunArgs) -> Engine {
    Engine {
        name: String::new(),
        device: args.device.clone(),
        through: args.script.through.map(Into::into),
    }
}

/// Runs scripts on every engine, and prints those with different verdicts.
fn on_engines(args: &RunArgs, paths: &[PathBuf]) -> Outcome {
    let engines = Engine::all(args.device.as_deref());
    if engines.is_empty() {
        return Err(Failure::usage("no engine has that name"));
    }
    let mut all = Vec::new();
    for engine in &engines {
        let start = Instant::now();
        let rows = run_all(args, engine, paths, false)?;
        all.push((rows, start.elapsed().as_secs_f64()));
    }
    let ran = |row: &&Row| !row.unsupported() && !row.lacks_file();
    let mut disagree = Vec::new();
    for (at, path) in paths.iter().enumerate() {
        let mut verdicts = all.iter().filter_map(|(rows, _)| rows.get(at)).filter(ran);
        let first = verdicts.next().map(|row| row.verdict.clone());
        if !verdicts.all(|row| Some(&row.verdict) == first.as_ref()) {
            disagree.push((at, path));
        }
    }
    let wrong: usize = all.iter().map(|(rows, _)| Counts::of(rows).wrong).sum();
    if args.json {
        let rows = engines.iter().zip(&all).map(|(engine, (rows, seconds))| {
            let counts = Counts::of(rows);
            json!({
                "engine": engine.name,
                "scripts": rows,
                "right": counts.right,
                "unsupported": counts.unsupported,
                "no_file": counts.no_file,
                "wrong": counts.wrong,
                "seconds": seconds,
            })
        });
        let rows: Vec<_> = rows.collect();
        let files: Vec<_> = disagree.iter().map(|(_, path)| path).collect();
        print_json(&json!({ "engines": rows, "disagree": files }))?;
    } else {
        let mut text = String::new();
        let width = engines
            .iter()
            .map(|engine| engine.name.chars().count())
            .max()
            .unwrap_or(0);
        for (at, path) in &disagree {
            let _ = writeln!(text, "{}:", path.display());
            for (engine, (rows, _)) in engines.iter().zip(&all) {
                if let Some(row) = rows.get(*at) {
                    let _ = writeln!(text, "  {:width$}  {}", engine.name, row.text());
                }
            }
        }
        for (engine, (rows, seconds)) in engines.iter().zip(&all) {
            let _ = writeln!(text, "{:width$}  {} in {seconds:.1} s", engine.name, Counts::of(rows));
        }
        let _ = writeln!(
            text,
            "{} of {} scripts are not the same everywhere",
            disagree.len(),
            paths.len()
        );
        print(&text)?;
    }
    match wrong > 0 || !disagree.is_empty() {
        true => Err(Failure::Reported(Cause::Bad)),
        false => Ok(()),
    }
}

/// Scripts below a folder, in order.
fn scripts_in(folder: &Path) -> Outcome<Vec<PathBuf>> {
    let (mut found, mut open) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = open.pop() {
        let entries = std::fs::read_dir(&folder).within(|| format!("cannot read {}", folder.display()))?;
        for entry in entries.flatten() {
            let path = entry.path();
            // A link to a folder may be a cycle.
            if path.is_dir() && !path.is_symlink() {
                open.push(path);
            } else if path.is_file() && is_script(&path) {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Opens the device of the arguments with every extension that the scripts can require.
fn open(args: &RunArgs, scripts: &[(&Path, script::Result<Script>)]) -> Outcome<Context> {
    let good = scripts.iter().filter_map(|(_, script)| script.as_ref().ok());
    let mut extensions: Vec<String> = good.flat_map(script::run::extensions).collect();
    extensions.sort();
    extensions.dedup();
    let options = Options {
        device: args.device.clone(),
        validation: if args.validation {
            Validation::Core
        } else {
            Validation::Off
        },
        timeout: timeout(args),
        everything: Some(extensions),
    };
    Ok(Context::new(&options).map_err(Error::from)?)
}

/// Time limit of one use of the device.
fn timeout(args: &RunArgs) -> Duration {
    args.timeout.map_or(TIMEOUT, Duration::from_secs)
}

/// An engine with a time limit for each use, which includes the driver's compiler. At its end the process prints the script's
/// row and exits; the parent continues with the next script in another process.
struct Limited<'a> {
    engine: &'a dyn script::run::Engine,
    path: &'a Path,
    start: Instant,
    limit: Duration,
}

impl script::run::Engine for Limited<'_> {
    fn has_feature(&self, name: &str) -> Option<bool> {
        self.engine.has_feature(name)
    }

    fn has_extension(&self, name: &str) -> bool {
        self.engine.has_extension(name)
    }

    fn version(&self) -> [u32; 3] {
        self.engine.version()
    }

    fn properties(&self) -> vulkan::ShaderProperties {
        self.engine.properties()
    }

    fn execute(&self, work: &Work<'_>, resources: &mut [Resource]) -> vulkan::Result<Option<Duration>> {
        let (path, start, limit) = (self.path.to_owned(), self.start, self.limit);
        let _limit = Limit::with_exit(limit, 0, move || {
            let why = format!(
                "the device or its compiler did not respond within {} s",
                limit.as_secs()
            );
            let row = Row {
                memory: peak(),
                ..Row::ended(&path, why, start.elapsed())
            };
            let _ = print_row(&row);
        });
        self.engine.execute(work, resources)
    }
}

/// Prints a row as a line of JSON.
fn print_row(row: &Row) -> Outcome {
    print(&(serde_json::to_string(row).map_err(Error::from)? + "\n"))
}

/// Runs scripts one by one in this process, and prints the row of each in a line of JSON.
fn run_here(args: &RunArgs, paths: &[PathBuf]) -> Outcome {
    let scripts = paths.iter().map(|path| {
        let text = crate::cli::outcome::read(path)?;
        Ok((path.as_path(), script::parse(&String::from_utf8_lossy(&text))))
    });
    let scripts = scripts.collect::<Outcome<Vec<_>>>()?;
    let emulated = args.device.as_deref().and_then(Mali::named);
    let context = match emulated {
        Some(_) => None,
        None => Some(open(args, &scripts)?),
    };
    let engine: &dyn script::run::Engine = match (&emulated, &context) {
        (Some(mali), _) => mali,
        (_, Some(context)) => context,
        _ => return Ok(()),
    };
    let through = args
        .script
        .through
        .map(|through| Through::new(Compiler, through.into()));
    let compiler: &dyn Compile = match &through {
        Some(through) => through,
        None => &Compiler,
    };
    let messages = || context.as_ref().map_or_else(Vec::new, Context::messages);
    for (path, script) in &scripts {
        let start = Instant::now();
        let before = messages().len();
        let limited = Limited {
            engine,
            path,
            start,
            // The device's own time-out is the better report.
            limit: timeout(args).saturating_add(Duration::from_secs(1)),
        };
        let report = match script {
            Ok(script) => script::run::run(&limited, compiler, script, path),
            Err(error) => Report {
                verdict: match error.kind {
                    script::ErrorKind::Invalid => Verdict::Invalid(error.to_string()),
                    script::ErrorKind::Unsupported => Verdict::Unsupported(error.message.clone()),
                },
                timed: Vec::new(),
                kept: Vec::new(),
                without: Vec::new(),
            },
        };
        if let Some(folder) = &args.script.keep {
            keep(folder, path, &report)?;
        }
        let row = Row {
            memory: peak(),
            ..Row::new(path, &report, start.elapsed(), messages().split_off(before))
        };
        print_row(&row)?;
        if matches!(report.verdict, Verdict::Device(_)) {
            // Closing the device could wait forever; the next process opens its own.
            crate::cli::cleanup::leave(0);
        }
    }
    Ok(())
}

/// Peak memory of this process, in bytes.
fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kib * 1024)
}

/// Scripts per process: few enough to keep all processors busy to the end.
const SHARE: usize = 24;

/// Runs all scripts in child processes, because a driver may crash. Prints each
/// verdict in the order of the scripts if `print_rows`.
fn run_all(args: &RunArgs, engine: &Engine, paths: &[PathBuf], print_rows: bool) -> Outcome<Vec<Row>> {
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let share = paths.len().div_ceil(threads).clamp(1, SHARE);
    let shares: Vec<&[PathBuf]> = paths.chunks(share).collect();
    let next = AtomicUsize::new(0);
    let (sender, receiver) = mpsc::channel();
    let mut progress = Progress::new("scripts", paths.len() as u64);
    let mut rows: Vec<Row> = Vec::new();
    std::thread::scope(|scope| {
        for _ in 0..threads.min(shares.len()) {
            let (sender, next, shares) = (sender.clone(), &next, &shares);
            scope.spawn(move || {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(paths) = shares.get(at) else { return };
                    let mut done = at * share;
                    let each = |row| {
                        let sent = sender.send(Ok((done, row)));
                        done += 1;
                        sent.is_ok()
                    };
                    if let Err(error) = run_share(args, engine, paths, each) {
                        let _ = sender.send(Err(error));
                        return;
                    }
                }
            });
        }
        drop(sender);
        let mut early: BTreeMap<usize, Row> = BTreeMap::new();
        for row in receiver {
            let (at, row) = row?;
            progress.step();
            early.insert(at, row);
            while let Some(row) = early.remove(&rows.len()) {
                if print_rows {
                    let mut text = format!("{}: {}\n", row.file.display(), row.text());
                    for Timed { line, milliseconds } in &row.timed {
                        let _ = writeln!(text, "  line {line}: {milliseconds:.3} ms on the device");
                    }
                    progress.aside(|| print(&text))?;
                }
                rows.push(row);
            }
        }
        Ok(rows)
    })
}

/// Runs scripts in a child process; after a crash, another one continues behind the script that caused it.
fn run_share(args: &RunArgs, engine: &Engine, paths: &[PathBuf], mut each: impl FnMut(Row) -> bool) -> Outcome {
    let mut rest = paths;
    while !rest.is_empty() {
        let start = Instant::now();
        let mut child = child(args, engine, rest)?;
        let lines = child.stdout.take().map(std::io::BufReader::new);
        let (sender, receiver) = mpsc::channel();
        let reader = std::thread::spawn(move || {
            for line in lines
                .into_iter()
                .flat_map(std::io::BufRead::lines)
                .map_while(Result::ok)
            {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        // The driver's compiler and the start of the process get as much time as the device.
        let longest = timeout(args).saturating_mul(4).saturating_add(Duration::from_secs(10));
        let (mut late, before) = (false, rest.len());
        loop {
            match receiver.recv_timeout(longest) {
                Ok(line) => {
                    let row: Row = serde_json::from_str(&line).map_err(Error::from)?;
                    rest = &rest[1..];
                    if !each(row) {
                        rest = &[];
                        break;
                    }
                }
                Err(mpsc::RecvTimeoutError::Timeout) => {
                    late = true;
                    break;
                }
                Err(mpsc::RecvTimeoutError::Disconnected) => break,
            }
        }
        // A process that has closed its output is about to exit.
        if late || rest.is_empty() {
            let _ = child.kill();
        }
        let status = child.wait().within(|| "cannot wait for a process".to_owned())?;
        let _ = reader.join();
        // It exited because its device was lost, or it is done.
        if rest.is_empty() || status.success() && rest.len() < before {
            continue;
        }
        if let Some(2) = status.code() {
            return Err(Failure::Reported(Cause::Trouble));
        }
        let why = match late {
            true => format!("no answer within {} s", longest.as_secs()),
            false => format!("the driver ended the process: {status}"),
        };
        if !each(Row::ended(&rest[0], why, start.elapsed())) {
            return Ok(());
        }
        rest = &rest[1..];
    }
    Ok(())
}

/// Starts a child process that runs scripts.
fn child(args: &RunArgs, engine: &Engine, paths: &[PathBuf]) -> Outcome<std::process::Child> {
    let program = std::env::current_exe().within(|| "cannot find this program".to_owned())?;
    let mut command = std::process::Command::new(program);
    command.args(["run", "--as", "script", "--lines"]);
    if let Some(device) = &engine.device {
        command.arg("--device").arg(device);
    }
    if let Some(through) = engine.through {
        command.args(["--through", &through.to_string()]);
    }
    if args.validation {
        command.arg("--validation");
    }
    if let Some(seconds) = args.timeout {
        command.arg("--timeout").arg(seconds.to_string());
    }
    if let Some(folder) = &args.script.keep {
        command.arg("--keep").arg(folder);
    }
    command
        .arg("--")
        .args(paths)
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::piped());
    let child = command.spawn().within(|| "cannot start a process".to_owned())?;
    Ok(child)
}

/// Writes the contents of a script's buffers: all as bytes, pictures also as PNG.
fn keep(folder: &Path, path: &Path, report: &Report) -> Outcome {
    let parts = path.components().filter_map(|part| match part {
        std::path::Component::Normal(part) => Some(part),
        _ => None,
    });
    let folder = folder.join(parts.collect::<PathBuf>());
    std::fs::create_dir_all(&folder).within(|| format!("cannot make {}", folder.display()))?;
    for kept in &report.kept {
        let name: String = kept
            .name
            .chars()
            .map(|c| {
                if c.is_alphanumeric() || "._-".contains(c) {
                    c
                } else {
                    '_'
                }
            })
            .collect();
        write(&folder.join(format!("{name}.bin")), &kept.bytes)?;
        if let Some(([width, height], rgba)) = &kept.picture {
            let picture = Picture {
                width: *width,
                height: *height,
                rgba: rgba.clone(),
            };
            save(&picture, &folder.join(format!("{name}.png")))?;
        }
    }
    Ok(())
}

/// The verdicts as JUnit XML.
fn junit(rows: &[Row]) -> String {
    let escaped = |text: &str| {
        let text = text
            .replace('&', "&amp;")
            .replace('<', "&lt;")
            .replace('>', "&gt;")
            .replace('"', "&quot;");
        text.chars()
            .filter(|c| !c.is_control() || *c == '\n')
            .collect::<String>()
    };
    let skipped = rows.iter().filter(|row| row.unsupported()).count();
    let failures = rows.iter().filter(|row| !row.right).count() - skipped;
    let time: f64 = rows.iter().map(|row| row.seconds).sum();
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"skrymir\" tests=\"{}\" failures=\"{failures}\" \
         skipped=\"{skipped}\" time=\"{time:.3}\">\n",
        rows.len()
    );
    for row in rows {
        let path = row.file.display().to_string();
        let folder = row
            .file
            .parent()
            .map(|folder| folder.display().to_string())
            .unwrap_or_default();
        let _ = write!(
            text,
            "  <testcase name=\"{}\" classname=\"{}\" time=\"{:.3}\"",
            escaped(&path),
            escaped(&folder),
            row.seconds
        );
        let said = escaped(&row.text());
        text += &match (row.unsupported(), row.right) {
            (true, _) => format!("><skipped message=\"{said}\"/></testcase>\n"),
            (_, true) => "/>\n".to_owned(),
            (_, false) => format!("><failure message=\"{said}\"/></testcase>\n"),
        };
    }
    text + "</testsuite>\n"
}
