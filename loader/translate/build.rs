//! Says by `cfg(watched)` whether a sanitizer is on: it knows the stacks of threads only, and reports crashes itself.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(watched)");
    if std::env::var_os("CARGO_CFG_SANITIZE").is_some() {
        println!("cargo::rustc-cfg=watched");
    }
}
