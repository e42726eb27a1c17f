#!/usr/bin/env bash
# Installs what is missing (a Rust toolchain, a Vulkan driver) and draws a VBC file, by default the project's triangle.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/tests/setup.sh"
need_packages gcc libc6-dev libvulkan1 mesa-vulkan-drivers
need_rust
cargo run --quiet --manifest-path "$root/Cargo.toml" --example triangle -- "$@"
