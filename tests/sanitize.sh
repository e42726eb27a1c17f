#!/usr/bin/env bash
# Runs the code with `unsafe` under checkers: the front (C) under the compiler's analyzer, AddressSanitizer and
# UndefinedBehaviorSanitizer; the rest (Rust, nightly toolchain) under AddressSanitizer, ThreadSanitizer and Miri.
# Unavailable parts are skipped with a message; `front`, `address`, `thread` or `miri` runs one part alone. SKRYMIR is
# the program that serves the front, if it is built already.
set -euo pipefail
cd "$(dirname "$0")/.."
. tests/setup.sh
need_packages gcc g++ libc6-dev
need_rust
wanted=${1:-all}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
part() { [ "$wanted" = all ] || [ "$wanted" = "$1" ]; }
machine=$(rustc -vV | sed -n 's/^host: //p')
nightly=1
cargo +nightly --version >/dev/null 2>&1 || nightly=

if part front; then
    for source in emulator/shim/front/*.c; do
        gcc -std=gnu11 -O1 -Wall -Wextra -Werror -fanalyzer -fPIC -c -o "$folder/front.o" "$source"
    done
    echo "front: the analyzer finds nothing"
    gcc -std=gnu11 -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -fPIC -fvisibility=hidden -shared \
        -o "$folder/front.so" emulator/shim/front/*.c -ldl -lpthread
    gcc -std=gnu11 -O1 -g -pthread -o "$folder/device" tests/gles/device.c -ldl
    # The shim's device test with this front instead of the usual one.
    [ -n "${SKRYMIR:-}" ] || cargo build --quiet --bin skrymir
    skrymir=${SKRYMIR:-${CARGO_TARGET_DIR:-target}/debug/skrymir}
    LSAN_OPTIONS=detect_leaks=0 ASAN_OPTIONS=verify_asan_link_order=0 \
        "$skrymir" gles -- env LD_PRELOAD="$(gcc -print-file-name=libasan.so):$(gcc -print-file-name=libubsan.so):$folder/front.so" \
        "$folder/device"
    echo "front: the device test is clean under AddressSanitizer and UndefinedBehaviorSanitizer"
fi

[ -n "$nightly" ] || { part front && [ "$wanted" = front ] || echo "skipped: no nightly toolchain for the Rust parts"; exit 0; }

# The instrumented program serves the device test, a hundred clients and piglit; a sanitizer report, written to a file
# by its options, fails the part.
under_load() {
    local name=$1 options=$2 skrymir=$PWD/target/sanitize/$1/$machine/debug/skrymir
    shift 2
    RUSTFLAGS="${RUSTFLAGS:-} -Zsanitizer=$name" CARGO_TARGET_DIR=target/sanitize/$name cargo +nightly build --quiet "$@" \
        --target "$machine" --bin skrymir
    gcc -std=gnu11 -O1 -g -pthread -o "$folder/device" tests/gles/device.c -ldl
    gcc -std=gnu11 -O1 -g -pthread -o "$folder/storm" tests/gles/storm.c
    export "$options:log_path=$folder/$name"
    "$skrymir" gles -- "$folder/device"
    "$skrymir" gles -- "$folder/storm" 100 5
    "$skrymir" gles -- "$folder/storm" 32 10 kill
    SKRYMIR=$skrymir bash tests/piglit.sh
    if ls "$folder/$name".* >/dev/null 2>&1; then
        cat "$folder/$name".* >&2
        echo "$name: the sanitizer found something" >&2
        return 1
    fi
    echo "$name: the server is clean under the device test, a hundred clients, clients that are killed, and piglit"
}

if part address; then
    RUSTFLAGS="-Zsanitizer=address" CARGO_TARGET_DIR=target/sanitize/address cargo +nightly test --quiet --target "$machine" \
        -p skrymir-num -p skrymir-jit -p skrymir-utgard -p skrymir-emulator -p skrymir-shim --lib
    echo "address: the unit tests of num, jit, utgard, emulator and shim are clean"
    # gcc, which compiles glslang and SPIRV-Cross, has tables without a name of their own.
    under_load address ASAN_OPTIONS=detect_leaks=0:detect_odr_violation=0
    for target in engine_vertices engine_fragments job wire; do
        bash tests/fuzz.sh --asan --seconds "${SANITIZE_SECONDS:-20}" --jobs 1 "$target"
    done
fi

if part thread; then
    if [ -d "$(rustc +nightly --print sysroot)/lib/rustlib/src/rust/library" ]; then
        # The sanitizer follows the pages of generated code by libc's calls, not by rustix' own.
        export RUSTFLAGS="--cfg rustix_use_libc"
        RUSTFLAGS+=" -Zsanitizer=thread" CARGO_TARGET_DIR=target/sanitize/thread cargo +nightly test --quiet \
            -Zbuild-std --target "$machine" -p skrymir-emulator -p skrymir-shim --lib
        echo "thread: the unit tests of emulator and shim are clean"
        under_load thread TSAN_OPTIONS=halt_on_error=1 -Zbuild-std
    else
        echo "skipped: ThreadSanitizer needs the component rust-src (rustup component add rust-src --toolchain nightly)"
    fi
fi

if part miri; then
    if cargo +nightly miri --version >/dev/null 2>&1; then
        # Rust leaves bits of NaNs and the last bits of functions open; tests compare what processors do.
        export MIRIFLAGS="-Zmiri-disable-isolation -Zmiri-deterministic-floats" CARGO_TARGET_DIR=target/sanitize/miri
        cargo +nightly miri test --quiet -p skrymir-num --lib
        # Tests that read the grammar of SPIR-V take Miri too long.
        cargo +nightly miri test --quiet -p skrymir-loader --lib -- cursor:: error:: mbs:: sl:: trace::
        # Threads come with crossbeam-epoch, which Stacked Borrows do not accept, and which keeps some memory to the end.
        MIRIFLAGS="$MIRIFLAGS -Zmiri-tree-borrows -Zmiri-ignore-leaks" cargo +nightly miri test --quiet -p skrymir-emulator --lib -- simd:: memory
        echo "miri: num, the loader's readers, the emulator's portable lanes and memory are clean"
    else
        echo "skipped: no Miri (rustup component add miri rust-src --toolchain nightly)"
    fi
fi
