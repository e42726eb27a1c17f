#!/usr/bin/env bash
# Builds examples/wgpu, the plugin for applications that draw with wgpu, and holds what it draws on a software device
# against what Vulkan draws of the same files. Apart from tests/run.sh, since nothing else needs wgpu.
set -euo pipefail
cd "$(dirname "$0")/.."
. tests/setup.sh
need_packages gcc libc6-dev libvulkan1 mesa-vulkan-drivers
need_rust
cargo fmt --check --manifest-path examples/wgpu/Cargo.toml
CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}/wgpu \
    cargo test --quiet --locked --manifest-path examples/wgpu/Cargo.toml -- --nocapture
