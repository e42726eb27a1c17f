#!/usr/bin/env bash
# Other machines than this one, from this one (x86-64 Debian):
#
#   aarch64   builds for 64-bit ARM and runs the tests of the loader and the emulator in qemu
#   wasm      builds for wasm32-unknown-unknown and runs their unit tests in Node
#   windows   checks every crate but the shim for x86_64-pc-windows-gnu
#   macos     the same for aarch64-apple-darwin
#
#   bash tests/machines.sh [--quick] [MACHINE ...]     all of them unless some are named
#
# --quick leaves out what takes long: of aarch64 and wasm it runs the small crates' tests, and of the emulator's those of
# the vector lanes. What cannot be had here (a target, Node) is said and left out.
set -euo pipefail
cd "$(dirname "$0")/.."
. tests/setup.sh
need_rust

LIBRARIES=(-p skrymir-num -p skrymir-utgard -p skrymir-loader -p skrymir-emulator -p skrymir-translate -p skrymir-lift -p skrymir-compiler)
SMALL=(-p skrymir-num -p skrymir-utgard -p skrymir-loader)
quick=
machines=()
for argument in "$@"; do
    case $argument in
    --quick) quick=1 ;;
    aarch64 | wasm | windows | macos) machines+=("$argument") ;;
    *)
        echo "machines.sh: no machine $argument: aarch64, wasm, windows, macos" >&2
        exit 2
        ;;
    esac
done
[ ${#machines[@]} -gt 0 ] || machines=(windows macos wasm aarch64)

# Whether the standard library for a target is here or can be had.
have_target() {
    local libraries
    libraries=$(rustc --print target-libdir --target "$1")
    [ -d "$libraries" ] && return
    command -v rustup >/dev/null && rustup target add "$1" >/dev/null 2>&1 && return
    echo "machines.sh: skipped: no standard library for $1 (rustup target add $1)"
    return 1
}

# Every crate but the kernel's interface, which is Linux's.
check() {
    have_target "$1" || return 0
    cargo check --quiet --target "$1" --workspace --exclude skrymir-shim
    echo "machines.sh: every crate but the shim passes the check for $1"
}

windows() {
    check x86_64-pc-windows-gnu
}

macos() {
    check aarch64-apple-darwin
}

wasm() {
    have_target wasm32-unknown-unknown || return 0
    if ! command -v node >/dev/null; then
        need_packages nodejs
    fi
    export CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUNNER="node $PWD/tests/wasm/run.mjs"
    local crates=("${LIBRARIES[@]}")
    [ -z "$quick" ] || crates=("${SMALL[@]}")
    cargo test --quiet --target wasm32-unknown-unknown --lib "${crates[@]}" | { grep -v " \.\.\. ok$" || true; }
}

aarch64() {
    have_target aarch64-unknown-linux-gnu || return 0
    need_packages qemu-user-static gcc-aarch64-linux-gnu libc6-dev-arm64-cross
    export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
    export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64-static -L /usr/aarch64-linux-gnu"
    local test=(cargo test --quiet --target aarch64-unknown-linux-gnu)
    if [ -n "$quick" ]; then
        "${test[@]}" --lib "${SMALL[@]}"
        return
    fi
    "${test[@]}" --lib --tests "${LIBRARIES[@]}"
}

for machine in "${machines[@]}"; do
    echo "machines.sh: $machine"
    "$machine"
done
