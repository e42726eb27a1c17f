#!/usr/bin/env bash
# Builds examples/wgpu, the plugin for wgpu applications, and compares its pictures on a software device with Vulkan's
# of the same files. Separate from tests/run.sh, because only this needs wgpu.
set -euo pipefail
cd "$(dirname "$0")/.."
. tests/setup.sh
need_packages gcc libc6-dev libvulkan1 mesa-vulkan-drivers
need_rust
cargo fmt --check --manifest-path examples/wgpu/Cargo.toml
CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}/wgpu \
    cargo test --quiet --locked --manifest-path examples/wgpu/Cargo.toml -- --nocapture
