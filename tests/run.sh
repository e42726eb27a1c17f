#!/usr/bin/env bash
# Installs what is missing and runs every check: format, lints, tests.
set -euo pipefail
cd "$(dirname "$0")/.."
. tests/setup.sh
need_packages gcc g++ libc6-dev libvulkan1 libvulkan-dev mesa-vulkan-drivers vulkan-validationlayers spirv-tools glslang-tools spirv-headers \
    qemu-user-static gcc-aarch64-linux-gnu libc6-dev-arm64-cross chromium
need_rust
cargo fmt --all --check
cargo clippy --workspace --all-targets --quiet -- -D warnings
# Everything is installed now, so a test that would be skipped fails instead.
SKRYMIR_NEED_CAPI=1 SKRYMIR_NEED_GLES=1 SKRYMIR_NEED_BROWSER=1 cargo test --workspace --quiet
