#!/usr/bin/env bash
# Builds examples/pipelines, an engine's crate outside the workspace with its own pipelines, and tests its picture.
set -euo pipefail
cd "$(dirname "$0")/.."
. tests/setup.sh
need_packages gcc libc6-dev libvulkan1 mesa-vulkan-drivers vulkan-validationlayers
need_rust
cargo fmt --check --manifest-path examples/pipelines/Cargo.toml
CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}/pipelines \
    cargo test --quiet --locked --manifest-path examples/pipelines/Cargo.toml -- --nocapture
