//! Whether the build brings the front of `skrymir gles`: `SKRYMIR_FRONTS` is a folder with `arm64.so` and `native.so`,
//! which `release.sh` makes.

fn main() {
    println!("cargo::rustc-check-cfg=cfg(skrymir_fronts)");
    println!("cargo::rerun-if-env-changed=SKRYMIR_FRONTS");
    if std::env::var_os("SKRYMIR_FRONTS").is_some() {
        println!("cargo::rustc-cfg=skrymir_fronts");
    }
}
