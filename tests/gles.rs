//! OpenGL ES 2 programs on Mesa's unmodified driver for the Mali-400, on the emulator.
//!
//! They need Debian's arm64 packages, which are fetched once, and the tools to build and run ARM programs
//! (`tests/setup.sh` installs them). Where these are missing the tests say so; with `SKRYMIR_NEED_GLES` set, as
//! `tests/run.sh` sets it, they fail.

use skrymir::gles::{Driver, Machine};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// The driver, or a loud word why it is not here.
fn driver() -> Option<&'static Driver> {
    static DRIVER: OnceLock<Option<Driver>> = OnceLock::new();
    let prepare = || match Driver::prepare(Machine::Arm64) {
        Ok(driver) => Some(driver),
        Err(error) => {
            assert!(std::env::var_os("SKRYMIR_NEED_GLES").is_none(), "{error:#}");
            eprintln!("NOT TESTED, the ARM driver is missing: {error:#}");
            None
        }
    };
    DRIVER.get_or_init(prepare).as_ref()
}

/// A program of `tests/gles`, built.
fn program(driver: &Driver, name: &str) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/gles/{name}.c"));
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    driver.compile(&source, &program).expect("the program compiles");
    program
}

/// Runs `skrymir gles` with arguments.
fn gles(options: &[&str], program: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_skrymir"));
    command.arg("gles").args(options).arg("--").arg(program).args(arguments);
    command.output().expect("the command runs")
}

fn text(output: &Output) -> String {
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

#[test]
fn every_pixel_is_right() {
    let Some(driver) = driver() else { return };
    let output = gles(&[], &program(driver, "gles"), &[]);
    let text = text(&output);
    print!("{text}");
    assert!(output.status.success(), "{text}");
    assert!(
        text.starts_with("Mali400, OpenGL ES 2.0 Mesa 22.3.6, 19 configurations\n"),
        "{text}"
    );
    assert!(text.contains(" checks, 0 failed\n"), "{text}");
}
