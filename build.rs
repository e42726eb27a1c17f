//! Finds the C++ library's archive. A program with glslang or SPIRV-Cross that has it inside needs no shared one where it
//! runs, and starts earlier. Without the archive (some systems have it in a package of its own) the shared one is used.

use std::path::PathBuf;
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |variable: &str, value: &str| env::var(variable).is_ok_and(|found| found == value);
    let feature = |name: &str| env::var_os(format!("CARGO_FEATURE_{name}")).is_some();
    let gnu = is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu");
    // Sanitizers intercept functions of the shared one.
    let is_watched = env::var_os("CARGO_CFG_SANITIZE").is_some();
    if !gnu || is_watched || !(feature("GLSLANG") || feature("SPIRV_CROSS")) {
        return;
    }
    let Some((archive, folder)) = archive().zip(env::var_os("OUT_DIR").map(PathBuf::from)) else {
        return;
    };
    // Linkers take the first file of this name, shared or not.
    if fs::copy(archive, folder.join("libstdc++.a")).is_ok() {
        println!("cargo::rustc-link-search=native={}", folder.display());
    }
}

/// The path of the archive; a compiler without it prints a bare name.
fn archive() -> Option<PathBuf> {
    let compiler = cc::Build::new().cpp(true).try_get_compiler().ok()?;
    let mut command = compiler.to_command();
    let said = command.arg("-print-file-name=libstdc++.a").output().ok()?;
    let path = PathBuf::from(String::from_utf8(said.stdout).ok()?.trim());
    (said.status.success() && path.is_absolute()).then_some(path)
}
