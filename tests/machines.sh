#!/usr/bin/env bash
# Builds and tests for other platforms on x86-64 Debian:
#
#   aarch64   builds for 64-bit ARM and runs the tests of the loader and the emulator in qemu
#   wasm      builds for wasm32-unknown-unknown and runs their unit tests in Node; checks the crate of the page and npm package
#   windows   checks every crate but the shim for x86_64-pc-windows-gnu
#   macos     the same for aarch64-apple-darwin
#
#   bash tests/machines.sh [--quick] [MACHINE ...]     all of them by default
#
# --quick skips slow parts: for aarch64 it runs all tests of the loader and the emulator and none through the command
# line, for wasm those of the small crates. A missing target or Node is skipped with a message.
set -euo pipefail
cd "$(dirname "$0")/.."
. tests/setup.sh
need_rust
export RUSTFLAGS="${RUSTFLAGS:-} -D warnings"

LIBRARIES=(-p skrymir-num -p skrymir-jit -p skrymir-utgard -p skrymir-loader -p skrymir-emulator -p skrymir-translate -p skrymir-lift -p skrymir-compiler)
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

# Succeeds if the standard library for a target is installed or can be.
have_target() {
    local libraries
    libraries=$(rustc --print target-libdir --target "$1")
    [ -d "$libraries" ] && return
    command -v rustup >/dev/null && rustup target add "$1" >/dev/null 2>&1 && return
    echo "machines.sh: skipped: no standard library for $1 (rustup target add $1)"
    return 1
}

# Every crate but the shim, which is for Linux.
check() {
    have_target "$1" || return 0
    # glslang and SPIRV-Cross are C++, for which there is no cross compiler.
    cargo check --quiet --target "$1" --workspace --exclude skrymir-shim --no-default-features --features skrymir/cli
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
    cargo check --quiet --target wasm32-unknown-unknown -p skrymir-wasm
    echo "machines.sh: skrymir-wasm passes the check for WebAssembly"
}

# Integration tests that cannot run for ARM: those with Vulkan (there is no ARM driver), a browser or a desktop, and
# those of the repository itself.
NOT_ON_ARM=(
    house::
    gles::
    mali::browser::
    # Pictures drawn by Vulkan.
    on_vulkan
    vbc::pictures:: vbc::engine:: vbc::watch:: sksl::pictures::
    vbc::pack::equivalent_glsl_gives_the_same_bytes_and_picture vbc::pack::wgsl_with_separate_samplers_packs_and_draws
    vbc::stages::every_combination_of_stages_draws vbc::stages::the_wrong_topology_is_rejected_before_the_driver
    vbc::reflect::rust_vertices_are_what_pipelines_fetch
    cli::every_engine:: sksl::cli::pack_joins_two_programs sksl::cli::run_draws_effects
    cli::ending::timeout_ends_a_shader_that_compiles_for_minutes
    cli::ending::a_signal_ends_a_drawing_and_leaves_nothing
    cli::exit_codes::every_verb_and_cause
    cli::json::draw_and_run_keep_to_their_schemas
    # A shell under `skrymir gles`, which is not an ARM program.
    cli::ending::a_signal_ends_a_program_under_gles
)

aarch64() {
    have_target aarch64-unknown-linux-gnu || return 0
    need_packages qemu-user-static gcc-aarch64-linux-gnu g++-aarch64-linux-gnu libc6-dev-arm64-cross
    export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
    export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64-static -L /usr/aarch64-linux-gnu"
    local test=(cargo test --quiet --target aarch64-unknown-linux-gnu)
    if [ -n "$quick" ]; then
        "${test[@]}" --lib --tests "${SMALL[@]}" -p skrymir-jit -p skrymir-emulator
        return
    fi
    "${test[@]}" --lib --tests "${LIBRARIES[@]}"
    # The following ARM programs start others.
    if ! bash tests/arm64.sh --try; then
        echo "machines.sh: skipped: the integration tests: this kernel has no binfmt_misc in a namespace (Linux 6.7)"
        return
    fi
    export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="bash $PWD/tests/arm64.sh"
    local skip=()
    for name in "${NOT_ON_ARM[@]}"; do
        skip+=(--skip "$name")
    done
    "${test[@]}" --test it -- "${skip[@]}"
    aarch64_gles
}

# Tests of `skrymir gles` that run with the cross libraries. The shells are not ARM programs, so they cannot start other
# programs.
GLES_ON_ARM=(
    gles::programs:: gles::faults::
    gles::children::a_failed_allocation_is_reported gles::children::a_program_for_another_machine_is_rejected
)

# `skrymir gles` on an ARM machine: the libraries are Debian's and the compiler targets ARM.
aarch64_gles() {
    local arm=${XDG_CACHE_HOME:-$HOME/.cache}/skrymir/gles/arm64 room=$PWD/target/arm64
    bash emulator/gles/scripts/prepare.sh "$arm"
    mkdir -p "$room/bin"
    cat >"$room/bin/cc" <<END
#!/bin/sh
exec aarch64-linux-gnu-gcc "\$@" -I "$arm/root/usr/include" -L "$arm/root/usr/lib/aarch64-linux-gnu" -Wl,--allow-shlib-undefined
END
    chmod +x "$room/bin/cc"
    ARM_ROOT=$arm/root ARM_PATH=$room/bin SKRYMIR_NEED_GLES=1 XDG_CACHE_HOME=$room/cache \
        cargo test --quiet --target aarch64-unknown-linux-gnu --test it -- "${GLES_ON_ARM[@]}"
}

for machine in "${machines[@]}"; do
    echo "machines.sh: $machine"
    "$machine"
done
