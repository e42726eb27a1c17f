#!/usr/bin/env bash
# Makes what people download, into target/dist/files:
#
#   skrymir-VERSION-x86_64-linux.tar.gz     one static program (musl): needs nothing; runs everything but Vulkan
#   skrymir-VERSION-aarch64-linux.tar.gz    the same for 64-bit ARM
#   skrymir_VERSION_amd64.deb, _arm64.deb   for glibc: Vulkan too
#   SHA256SUMS
#
#   bash release.sh [--check] [PART ...]    parts: x86_64, aarch64, deb-amd64, deb-arm64; all of them unless some are named
#
# Every part is tried before it is kept: that it is stripped and below 25 MB, and that it works in a folder with nothing
# else in it (in qemu for ARM). --check builds nothing: it looks at what is there already.
set -euo pipefail
cd "$(dirname "$0")"
. tests/setup.sh

MOST=25000000
TARGET=$PWD/target/dist
FILES=$TARGET/files
VERSION=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)
PARTS=(x86_64 aarch64 deb-amd64 deb-arm64)

check_only=
parts=()
for argument in "$@"; do
    case $argument in
    --check) check_only=1 ;;
    x86_64 | aarch64 | deb-amd64 | deb-arm64) parts+=("$argument") ;;
    *)
        echo "release.sh: no part $argument: ${PARTS[*]}" >&2
        exit 2
        ;;
    esac
done
[ ${#parts[@]} -gt 0 ] || parts=("${PARTS[@]}")

fail() {
    echo "release.sh: $*" >&2
    exit 1
}

# The fronts that `skrymir gles` preloads, so that nobody needs a compiler: for ARM programs, and for a machine's own.
fronts() {
    local machine=$1 folder=$TARGET/fronts-$1 native=cc
    [ "$machine" = x86_64 ] || native=aarch64-linux-gnu-gcc
    mkdir -p "$folder"
    front aarch64-linux-gnu-gcc "$folder/arm64.so"
    front "$native" "$folder/native.so"
    echo "$folder"
}

front() {
    "$1" -std=gnu11 -O2 -fPIC -fvisibility=hidden -shared -fno-delete-null-pointer-checks -s -o "$2" \
        emulator/shim/front/*.c -ldl -lpthread
}

# Builds the program for a target of Rust's; its path.
build() {
    local target=$1 machine=${1%%-*}
    local program=$TARGET/$target/dist/skrymir
    if [ -z "$check_only" ]; then
        [ "$target" = x86_64-unknown-linux-gnu ] || rustup target add "$target" >/dev/null 2>&1 || true
        export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
        export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_MUSL_LINKER=aarch64-linux-gnu-gcc
        local brought
        brought=$(fronts "$machine")
        SKRYMIR_FRONTS=$brought cargo build --quiet --profile dist --target "$target" --target-dir "$TARGET" \
            --package skrymir --bin skrymir >&2
    fi
    [ -x "$program" ] || fail "there is no $program"
    echo "$program"
}

# Runs a command of the program in a folder with nothing but that program and a sample.
alone() {
    local program=$1 room
    shift
    room=$(mktemp -d)
    mkdir "$room/tmp"
    cp "$program" "$room/skrymir"
    cp tests/data/everything.vbc tests/data/mali/every_pp.s "$room"
    local run=(/skrymir)
    case $program in
    *aarch64*)
        cp "$(command -v qemu-aarch64-static)" "$room/qemu"
        run=(/qemu /skrymir)
        ;;
    esac
    local code=0 into=(unshare --map-root-user --root "$room")
    [ "$(id -u)" -ne 0 ] || into=(chroot "$room")
    env -i "$(command -v "${into[0]}")" "${into[@]:1}" "${run[@]}" "$@" || code=$?
    rm -rf "$room"
    return "$code"
}

# What holds of every program that is given away.
check_program() {
    local program=$1 size
    size=$(stat -c %s "$program")
    [ "$size" -lt "$MOST" ] || fail "$program has $size bytes: $MOST are the most"
    ! readelf -SW "$program" | grep -qE '\.(symtab|debug_info)' || fail "$program is not stripped"
    echo "release.sh: $(basename "$(dirname "$(dirname "$program")")"): $size bytes, stripped"
}

check_static() {
    local program=$1 said
    ! readelf -lW "$program" | grep -q INTERP || fail "$program is not static"
    alone "$program" info everything.vbc | grep -q VBC || fail "$program: info does not work alone"
    alone "$program" as every_pp.s -o /tmp/program.bin || fail "$program: as does not work alone"
    said=$(alone "$program" devices 2>&1) && fail "$program: finds devices where nothing is"
    [[ $said == *"the .deb"* ]] || fail "$program: devices says: $said"
    echo "release.sh: works with nothing else there; of Vulkan it says: $said"
}

# The manual page and the completions, by the program itself, into a folder laid out as /usr.
documents() {
    local run=("$1") usr=$2
    [[ $1 != *aarch64* ]] || run=(qemu-aarch64-static -L /usr/aarch64-linux-gnu "$1")
    # Until the program has the verbs.
    "${run[@]}" man >/dev/null 2>&1 || return 0
    mkdir -p "$usr"/share/{man/man1,bash-completion/completions,zsh/vendor-completions,fish/vendor_completions.d}
    "${run[@]}" man | gzip -9n >"$usr/share/man/man1/skrymir.1.gz"
    "${run[@]}" completions bash >"$usr/share/bash-completion/completions/skrymir"
    "${run[@]}" completions zsh >"$usr/share/zsh/vendor-completions/_skrymir"
    "${run[@]}" completions fish >"$usr/share/fish/vendor_completions.d/skrymir.fish"
}

archive() {
    local machine=$1 program name folder
    program=$(build "$machine-unknown-linux-musl")
    check_program "$program"
    check_static "$program"
    name=skrymir-$VERSION-$machine-linux
    folder=$TARGET/$name
    rm -rf "$folder"
    mkdir -p "$folder"/{bin,share/doc/skrymir}
    cp "$program" "$folder/bin"
    cp README.md CHANGELOG.md LICENSE-APACHE LICENSE-MIT "$folder/share/doc/skrymir"
    documents "$program" "$folder"
    tar -C "$TARGET" --owner=0 --group=0 --sort=name -czf "$FILES/$name.tar.gz" "$name"
    rm -rf "$folder"
    check_install "$FILES/$name.tar.gz"
}

# The line that installs it, in an empty home: tar -xzf FILE -C ~/.local --strip-components=1
check_install() {
    local home run=()
    home=$(mktemp -d)
    mkdir "$home/.local"
    tar -xzf "$1" -C "$home/.local" --strip-components=1
    [[ $1 != *aarch64* ]] || run=("$(command -v qemu-aarch64-static)")
    env -i HOME="$home" "${run[@]}" "$home/.local/bin/skrymir" info tests/data/everything.vbc | grep -q VBC ||
        fail "$1 does not work installed"
    rm -rf "$home"
    echo "release.sh: installs: tar -xzf $(basename "$1") -C ~/.local --strip-components=1"
}

deb() {
    local architecture=$1 target=$2 program room glibc
    program=$(build "$target")
    check_program "$program"
    # The oldest C library it runs with: what it asks of it.
    glibc=$(objdump -T "$program" 2>/dev/null | grep -oP 'GLIBC_\K[0-9.]+' | sort -uV | tail -1)
    [ -n "$glibc" ] || glibc=$(readelf -VW "$program" | grep -oP 'GLIBC_\K[0-9.]+' | sort -uV | tail -1)
    room=$TARGET/deb-$architecture
    rm -rf "$room"
    mkdir -p "$room"/{DEBIAN,usr/bin,usr/share/doc/skrymir}
    cp "$program" "$room/usr/bin/skrymir"
    cp README.md "$room/usr/share/doc/skrymir"
    gzip -9n <CHANGELOG.md >"$room/usr/share/doc/skrymir/changelog.gz"
    printf 'License: MIT or Apache-2.0\n\n' | cat - LICENSE-MIT LICENSE-APACHE >"$room/usr/share/doc/skrymir/copyright"
    documents "$program" "$room/usr"
    cat >"$room/DEBIAN/control" <<END
Package: skrymir
Version: $VERSION
Architecture: $architecture
Maintainer: The Skrymir authors <skrymir@localhost>
Section: devel
Priority: optional
Installed-Size: $(du -sk "$room/usr" | cut -f1)
Depends: libc6 (>= $glibc), libgcc-s1
Recommends: libvulkan1, mesa-vulkan-drivers
Suggests: qemu-user-static, vulkan-validationlayers, spirv-tools, glslang-tools, gcc-aarch64-linux-gnu
Description: loads compiled shaders and runs them
 Reads, checks, prints, translates and runs VBC, MBS, SPIR-V, SkSL and Swanson SL
 shaders: on Vulkan, or on a Mali-400 in software, with the GPU's own driver.
END
    chmod -R u=rwX,go=rX "$room"
    dpkg-deb --root-owner-group --build "$room" "$FILES/skrymir_${VERSION}_$architecture.deb" >/dev/null
    rm -rf "$room"
    dpkg-deb --info "$FILES/skrymir_${VERSION}_$architecture.deb" | grep -E '^ (Depends|Recommends)'
}

need_rust
need_packages gcc libc6-dev binutils gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user-static
mkdir -p "$FILES"
for part in "${parts[@]}"; do
    case $part in
    x86_64 | aarch64) archive "$part" ;;
    deb-amd64) deb amd64 x86_64-unknown-linux-gnu ;;
    deb-arm64) deb arm64 aarch64-unknown-linux-gnu ;;
    esac
done
(cd "$FILES" && sha256sum -- *.tar.gz *.deb 2>/dev/null >SHA256SUMS || true)
ls -l "$FILES"
