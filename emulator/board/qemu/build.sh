#!/usr/bin/env bash
# build.sh FOLDER: Debian's QEMU with the emulated Mali in its machines orangepi-pc and cubieboard, as
# FOLDER/bin/qemu-system-arm. The first run fetches 24 MB of source and builds this one target (8 minutes on two idle
# processors, 72 MB); later ones build what has changed.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
folder=$(mkdir -p "$1" && cd "$1" && pwd)
. "$root/tests/setup.sh"
. "$root/emulator/gles/scripts/apt.sh"
need_packages gcc g++ libc6-dev libglib2.0-dev libpixman-1-dev libfdt-dev pkg-config meson ninja-build python3 patch xz-utils
need_rust

echo "skrymir: building libskrymir_board" >&2
cargo build --release --quiet --manifest-path "$root/Cargo.toml" -p skrymir-board
library=${CARGO_TARGET_DIR:-$root/target}/release/libskrymir_board.so
mkdir -p "$folder/bin"
cmp -s "$library" "$folder/bin/libskrymir_board.so" || cp "$library" "$folder/bin/libskrymir_board.so"

# The release's source packages, by an apt state in this folder.
if [ ! -e "$folder/source/configure" ]; then
    echo "skrymir: fetching QEMU's source" >&2
    (
        apt_state "$folder/apt" "$(dpkg --print-architecture)" deb-src
        cd "$folder/apt"
        apt-get -qq source --download-only qemu >/dev/null
    )
    rm -rf "$folder/unpacked"
    mkdir "$folder/unpacked"
    tar xJf "$folder/apt"/qemu_*.orig.tar.xz -C "$folder/unpacked" --strip-components=1
    tar xJf "$folder/apt"/qemu_*.debian.tar.xz -C "$folder/unpacked"
    (
        cd "$folder/unpacked"
        sed '/^#/d; /^$/d; s/ .*//' debian/patches/series | while read -r name; do
            patch -s -p1 <"debian/patches/$name"
        done
        patch -s -p1 <"$here/debian.patch"
    )
    rm -rf "$folder/apt"
    mv "$folder/unpacked" "$folder/source"
fi
for file in "$here/skrymir-mali.c:hw/misc/skrymir-mali.c" "$here/../include/skrymir_board.h:include/skrymir_board.h"; do
    cmp -s "${file%%:*}" "$folder/source/${file##*:}" || cp "${file%%:*}" "$folder/source/${file##*:}"
done

mkdir -p "$folder/build"
cd "$folder/build"
if [ ! -e build.ninja ]; then
    echo "skrymir: configuring QEMU" >&2
    ../source/configure --target-list=arm-softmmu --without-default-features --enable-tcg --enable-fdt=system --disable-docs \
        --disable-werror --extra-ldflags="-L$folder/bin -lskrymir_board -Wl,-rpath,$folder/bin" >configure.log 2>&1 || {
        tail -20 configure.log >&2
        exit 1
    }
fi
# On a terminal ninja shows its progress.
if [ -t 1 ]; then ninja qemu-system-arm; else ninja --quiet qemu-system-arm; fi
cmp -s qemu-system-arm "$folder/bin/qemu-system-arm" || cp qemu-system-arm "$folder/bin/qemu-system-arm"
