#!/usr/bin/env bash
# Installs what is missing and shows a desktop on the emulated Mali-400: Debian's compositor and three programs with
# windows, all drawing with Mesa's driver. Saves a picture of it.
# Usage: examples/desktop.sh [PICTURE] [SECONDS]
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/tests/setup.sh"
need_packages gcc libc6-dev qemu-user-static gcc-aarch64-linux-gnu libc6-dev-arm64-cross
need_rust
picture=${1:-desktop.png}
programs='
    weston-simple-egl &
    weston-flower &
    exec glmark2-es2-wayland -s 320x240 -b build:duration=1000 --data-path /usr/share/glmark2
'
cargo run --release --quiet --manifest-path "$root/Cargo.toml" -- gles --desktop --size 800x600 \
    --package glmark2-es2-wayland --screenshot "$picture" --after "${2:-20}" -- sh -c "$programs"
echo "$picture"
