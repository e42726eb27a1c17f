//! Helpers of the tests in this folder.

use skrymir::gles::{Driver, Machine};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The driver, or a message about why it is missing.
pub(crate) fn driver() -> Option<&'static Driver> {
    static DRIVER: OnceLock<Option<Driver>> = OnceLock::new();
    let prepare = || match Driver::prepare(Machine::ARM) {
        Ok(driver) => Some(driver),
        Err(error) => {
            assert!(std::env::var_os("SKRYMIR_NEED_GLES").is_none(), "{error:#}");
            eprintln!("NOT TESTED, the ARM driver is missing: {error:#}");
            None
        }
    };
    DRIVER.get_or_init(prepare).as_ref()
}

/// Whether a set of Debian's packages is present or may be fetched (`SKRYMIR_NEED_DESKTOP`); prints a message if not.
pub(crate) fn fetched(set: &str) -> bool {
    let there = skrymir::gles::cache().is_ok_and(|cache| cache.join(format!("desktop/done-{set}")).is_file());
    if driver().is_some() && (there || std::env::var_os("SKRYMIR_NEED_DESKTOP").is_some()) {
        return true;
    }
    eprintln!("NOT TESTED, Debian's packages of {set} are not there");
    false
}

/// A program of `tests/gles`, built.
pub(crate) fn program(driver: &Driver, name: &str) -> PathBuf {
    built(driver, "gles", name)
}

/// A program of a folder of `tests`, built.
pub(crate) fn built(driver: &Driver, folder: &str, name: &str) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/{folder}/{name}.c"));
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{number}"));
    driver.compile(&source, &program).expect("the program compiles");
    program
}

/// Runs `skrymir gles` with arguments.
pub(crate) fn gles(options: &[&str], program: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_skrymir"));
    command.arg("gles").args(options).arg("--").arg(program).args(arguments);
    command.output().expect("the command runs")
}

pub(crate) fn text(output: &Output) -> String {
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

/// A program of `tests/gles` that needs no driver, built for this machine.
pub(crate) fn native(name: &str) -> PathBuf {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-native-{number}"));
    let compiler = Command::new("cc")
        .args(["-std=gnu11", "-O1", "-o"])
        .arg(&program)
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/gles/{name}.c")))
        .arg("-lpthread")
        .status();
    assert!(compiler.expect("a C compiler").success());
    program
}

/// A server that ends with its test.
pub(crate) struct Served(Child);

impl std::ops::Deref for Served {
    type Target = Child;

    fn deref(&self) -> &Child {
        &self.0
    }
}

impl std::ops::DerefMut for Served {
    fn deref_mut(&mut self) -> &mut Child {
        &mut self.0
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // It has already ended if the test got that far.
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// A server in a folder, and the environment it printed.
pub(crate) fn server(place: &Path) -> (Served, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_skrymir"));
    let mut server = command
        .args(["gles", "--serve"])
        .arg(place)
        .stdout(Stdio::piped())
        .spawn()
        .expect("the command runs");
    let mut out = BufReader::new(server.stdout.take().expect("its output"));
    let mut exports = String::new();
    while !exports.contains("LD_PRELOAD") {
        assert_ne!(out.read_line(&mut exports).expect("text"), 0, "{exports}");
    }
    (Served(server), exports)
}
