#!/usr/bin/env bash
# Tests the C interface: the header against its sources, misuse from C, and the C++ example, compiled with all warnings
# as errors, its picture compared with the library's, and checked for leaks and invalid accesses.
set -euo pipefail
cd "$(dirname "$0")/.."
. tests/setup.sh
need_packages gcc g++ libc6-dev libvulkan1 libvulkan-dev mesa-vulkan-drivers
need_rust
SKRYMIR_NEED_CAPI=1 cargo test --package skrymir-capi "$@"
