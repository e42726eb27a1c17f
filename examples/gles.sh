#!/usr/bin/env bash
# Installs what is missing and runs a C program for OpenGL ES 2 on the emulated Mali-400 with Mesa's driver; by default
# the project's test program.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/tests/setup.sh"
need_packages gcc libc6-dev qemu-user-static gcc-aarch64-linux-gnu libc6-dev-arm64-cross
need_rust
[ $# -gt 0 ] || set -- "$root/tests/gles/gles.c"
cargo run --release --quiet --manifest-path "$root/Cargo.toml" -- gles --compile --stats -- "$@"
