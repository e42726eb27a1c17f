#!/usr/bin/env bash
# The C interface: its header against its sources, what C can do wrong, and the C++ example: compiled with every warning
# an error, its picture against the library's own, and watched for leaks and bad accesses.
set -euo pipefail
cd "$(dirname "$0")/.."
. tests/setup.sh
need_packages gcc g++ libc6-dev libvulkan1 libvulkan-dev mesa-vulkan-drivers
need_rust
SKRYMIR_NEED_CAPI=1 cargo test --package skrymir-capi "$@"
