#!/usr/bin/env bash
# Builds the release files into target/dist/files:
#
#   skrymir-VERSION-x86_64-linux.tar.gz     one static program (musl): needs nothing; runs everything but Vulkan
#   skrymir-VERSION-aarch64-linux.tar.gz    the same for 64-bit ARM
#   skrymir_VERSION_amd64.deb, _arm64.deb   for glibc: Vulkan too
#   skrymir-VERSION.tgz                     an npm package: the libraries as WebAssembly, with types
#   SHA256SUMS
#
#   bash release.sh [--check] [PART ...]    parts: x86_64, aarch64, deb-amd64, deb-arm64, npm; all by default
#
# Every part is tested before it is kept: it must be stripped, smaller than 28 MB, and work in a folder with no other
# files (in qemu for ARM). --check builds nothing and tests existing parts.
set -euo pipefail
cd "$(dirname "$0")"
. tests/setup.sh

# glslang, SPIRV-Cross and the C++ library are 5 MB of a program that has them.
MOST=28000000
TARGET=$PWD/target/dist
FILES=$TARGET/files
VERSION=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)
MAINTAINER="The Skrymir authors <skrymir@localhost>"
PARTS=(x86_64 aarch64 deb-amd64 deb-arm64 npm)

check_only=
parts=()
for argument in "$@"; do
    case $argument in
    --check) check_only=1 ;;
    x86_64 | aarch64 | deb-amd64 | deb-arm64 | npm) parts+=("$argument") ;;
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

# The fronts that `skrymir gles` preloads, so that users need no compiler: for ARM programs and for the host's own.
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

# Builds the program for a Rust target; prints its path.
build() {
    local target=$1 machine=${1%%-*}
    local program=$TARGET/$target/dist/skrymir
    if [ -z "$check_only" ]; then
        [ "$target" = x86_64-unknown-linux-gnu ] || rustup target add "$target" >/dev/null 2>&1 || true
        export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
        export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_MUSL_LINKER=aarch64-linux-gnu-gcc
        local brought
        brought=$(fronts "$machine")
        # Debian has no C++ compiler for musl, so the static program lacks glslang and SPIRV-Cross: it runs an installed
        # glslangValidator and writes with naga.
        local features=()
        [[ $target != *musl ]] || features=(--no-default-features --features cli)
        SKRYMIR_FRONTS=$brought cargo build --quiet --profile dist --target "$target" --target-dir "$TARGET" \
            --package skrymir --bin skrymir "${features[@]}" >&2
    fi
    [ -x "$program" ] || fail "there is no $program"
    echo "$program"
}

# Runs the program in a folder that contains only the program and a sample.
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

# Checks of every released program.
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

# Runs the program, in qemu if it is for ARM.
run() {
    local program=$1 qemu=()
    shift
    [[ $(readelf -hW "$program") != *AArch64* ]] || qemu=(qemu-aarch64-static -L /usr/aarch64-linux-gnu)
    "${qemu[@]}" "$program" "$@"
}

# Writes the man pages and the completions, by the program itself, into a folder laid out as /usr.
documents() {
    local program=$1 share=$2/share
    mkdir -p "$share"/{man/man1,bash-completion/completions,zsh/vendor-completions,fish/vendor_completions.d}
    run "$program" man --folder "$share/man/man1"
    gzip -9n "$share"/man/man1/*.1
    run "$program" completions bash >"$share/bash-completion/completions/skrymir"
    run "$program" completions zsh >"$share/zsh/vendor-completions/_skrymir"
    run "$program" completions fish >"$share/fish/vendor_completions.d/skrymir.fish"
}

# Checks that a folder laid out as /usr has the program and its documents.
check_tree() {
    local usr=$1 file
    for file in bin/skrymir share/man/man1/skrymir{,-gles,-replay}.1.gz share/bash-completion/completions/skrymir \
        share/zsh/vendor-completions/_skrymir share/fish/vendor_completions.d/skrymir.fish share/doc/skrymir/README.md; do
        [ -s "$usr/$file" ] || fail "$usr has no $file"
    done
    zcat "$usr/share/man/man1/skrymir-gles.1.gz" | grep -q -- "timeout" || fail "the page of gles does not tell of its switches"
    bash -n "$usr/share/bash-completion/completions/skrymir"
    run "$usr/bin/skrymir" info tests/data/everything.vbc | grep -q VBC || fail "$usr/bin/skrymir does not work"
}

# Tests `skrymir gles` without a compiler: the fronts are in the program. The x86-64 program starts ARM programs with
# qemu; the ARM program runs as on an ARM machine and starts them directly.
check_gles() {
    local program=$1 room tool said machine=(env) native=cc
    if [[ $(readelf -hW "$program") == *AArch64* ]]; then
        native=aarch64-linux-gnu-gcc
        machine=(env "ARM_ROOT=$ARM/root" bash tests/arm64.sh)
        if ! bash tests/arm64.sh --try; then
            echo "release.sh: skipped: gles on ARM: this kernel has no binfmt_misc in a namespace (Linux 6.7)"
            return
        fi
    fi
    room=$(mktemp -d)
    mkdir -p "$room"/{bin,cache/skrymir/gles,tmp}
    ln -s "$ARM" "$room/cache/skrymir/gles/arm64"
    for tool in bash mkdir flock qemu-aarch64-static dpkg-deb; do
        ln -s "$(command -v "$tool")" "$room/bin/$tool"
    done
    "$native" -std=gnu11 -O1 -o "$room/device" tests/gles/device.c -lpthread
    aarch64-linux-gnu-gcc -std=gnu11 -O1 -DEGL_NO_X11 -o "$room/gles" tests/gles/gles.c -I "$ARM/root/usr/include" \
        -L "$ARM/root/usr/lib/aarch64-linux-gnu" -l:libEGL.so.1 -l:libGLESv2.so.2 -lm -Wl,--allow-shlib-undefined
    for tool in device gles; do
        said=$("${machine[@]}" env -u ARM_ROOT "PATH=$room/bin" "XDG_CACHE_HOME=$room/cache" "TMPDIR=$room/tmp" \
            "$program" gles -- "$room/$tool" 2>&1) || fail "$program: gles without a compiler: $tool: $said"
        echo "release.sh: gles without a compiler: $tool: $(tail -1 <<<"$said")"
        [[ $said == *"checks, 0 failed" ]] || fail "$program: gles $tool: $said"
    done
    rm -rf "$room"
}

archive() {
    local machine=$1 program name folder
    program=$(build "$machine-unknown-linux-musl")
    check_program "$program"
    check_static "$program"
    check_gles "$program"
    name=skrymir-$VERSION-$machine-linux
    folder=$TARGET/$name
    rm -rf "$folder"
    mkdir -p "$folder"/{bin,share/doc/skrymir}
    cp "$program" "$folder/bin"
    cp README.md CHANGELOG.md LICENSE-APACHE LICENSE-MIT "$folder/share/doc/skrymir"
    documents "$program" "$folder"
    tar -C "$TARGET" --owner=0 --group=0 --sort=name -czf "$FILES/$name.tar.gz" "$name"
    rm -rf "$folder"
    check_install "$FILES/$name.tar.gz" "$machine"
}

# Runs the introduction's install command in an empty home.
check_install() {
    local home line machine=$2
    line=$(grep -o 'mkdir -p ~/.local && tar -xzf [^`]*' docs/book/src/introduction.md) || fail "the introduction has no install command"
    home=$(mktemp -d)
    mkdir "$home/downloads"
    cp "$1" "$home/downloads"
    (cd "$home/downloads" && env -i HOME="$home" PATH=/usr/bin:/bin bash -euc "uname() { echo $machine; }; $line")
    check_tree "$home/.local"
    rm -rf "$home"
    echo "release.sh: installs: $line"
}

deb() {
    local architecture=$1 target=$2 program room glibc
    program=$(build "$target")
    check_program "$program"
    # The oldest C library that it runs with, by its symbols.
    glibc=$(objdump -T "$program" 2>/dev/null | grep -oP 'GLIBC_\K[0-9.]+' | sort -uV | tail -1)
    [ -n "$glibc" ] || glibc=$(readelf -VW "$program" | grep -oP 'GLIBC_\K[0-9.]+' | sort -uV | tail -1)
    check_needed "$program"
    check_gles "$program"
    room=$TARGET/deb-$architecture
    rm -rf "$room"
    mkdir -p "$room"/{DEBIAN,usr/bin,usr/share/doc/skrymir}
    cp "$program" "$room/usr/bin/skrymir"
    cp README.md "$room/usr/share/doc/skrymir"
    gzip -9n <CHANGELOG.md >"$room/usr/share/doc/skrymir/NEWS.gz"
    gzip -9n >"$room/usr/share/doc/skrymir/changelog.gz" <<END
skrymir ($VERSION) stable; urgency=medium

  * What is new is in NEWS.gz.

 -- $MAINTAINER  $(date -R -r CHANGELOG.md)
END
    {
        printf 'Skrymir is licensed under the MIT licence or the Apache License 2.0, at your choice.\n'
        printf 'On Debian systems the latter is in /usr/share/common-licenses/Apache-2.0. The former:\n\n'
        cat LICENSE-MIT
    } >"$room/usr/share/doc/skrymir/copyright"
    documents "$program" "$room/usr"
    cat >"$room/DEBIAN/control" <<END
Package: skrymir
Version: $VERSION
Architecture: $architecture
Maintainer: $MAINTAINER
Section: devel
Priority: optional
Installed-Size: $(du -sk "$room/usr" | cut -f1)
Depends: libc6 (>= $glibc), libgcc-s1
Recommends: libvulkan1, mesa-vulkan-drivers
Suggests: qemu-user-static, vulkan-validationlayers, spirv-tools, glslang-tools, gcc-aarch64-linux-gnu
Description: loads compiled shaders and runs them
 Reads, checks, prints, translates and runs shaders in the formats VBC, MBS,
 SPIR-V, SkSL and Swanson SL: on Vulkan, or on a Mali-400 in software, with that
 GPU's own driver.
END
    chmod -R u=rwX,go=rX "$room"
    dpkg-deb --root-owner-group --build "$room" "$FILES/skrymir_${VERSION}_$architecture.deb" >/dev/null
    rm -rf "$room"
    check_deb "$FILES/skrymir_${VERSION}_$architecture.deb"
}

# Checks that a program needs only libraries of the packages it depends on.
check_needed() {
    local other
    other=$(readelf -dW "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' |
        grep -vE '^(lib(c|m|dl|pthread)\.so\.6|libgcc_s\.so\.1|ld-linux-.*)$' || true)
    [ -z "$other" ] || fail "$1 needs $other, which no package of its Depends has"
}

# Installs a package into an empty folder.
check_deb() {
    local package=$1 root
    dpkg-deb --info "$package" | grep -E '^ (Depends|Recommends)'
    # The project has no mail address.
    lintian --fail-on error --suppress-tags bogus-mail-host,bogus-mail-host-in-debian-changelog "$package" || fail "lintian has found errors in $package"
    root=$(mktemp -d)
    mkdir -p "$root"/var/lib/dpkg/{info,updates}
    touch "$root"/var/lib/dpkg/{status,available}
    # The folder lacks the C library that the package depends on.
    dpkg --root="$root" --log=/dev/null --force-not-root,architecture,depends --install "$package" >/dev/null 2>&1 ||
        fail "$package cannot be installed"
    check_tree "$root/usr"
    dpkg --root="$root" --log=/dev/null --force-not-root --remove skrymir >/dev/null 2>&1 || fail "$package cannot be removed"
    [ ! -e "$root/usr/bin/skrymir" ] || fail "$package leaves its program behind"
    rm -rf "$root"
    echo "release.sh: $(basename "$package") is installed and removed by dpkg"
}

# The npm package: the libraries as WebAssembly, types, README and licences.
npm_package() {
    local file=$FILES/skrymir-$VERSION.tgz
    if [ -z "$check_only" ]; then
        bash docs/page/build.sh parts
        grep -q "\"version\": \"$VERSION\"" target/page-parts/package.json || fail "emulator/wasm/package.json is not of version $VERSION"
        (cd "$FILES" && npm pack --silent "$OLDPWD/target/page-parts" >/dev/null)
    fi
    [ -s "$file" ] || fail "there is no $file"
    check_npm "$file"
}

# Installs the package in an empty folder, and compiles and runs the README's example there.
check_npm() {
    local room
    room=$(mktemp -d)
    (cd "$room" && npm install --silent --no-progress --offline "$1" >/dev/null) || fail "$1 cannot be installed"
    node docs/page/example.mjs target/page-npm/node_modules "$room/node_modules/skrymir" || fail "$1 does not work"
    rm -rf "$room"
    [ "$(stat -c %s "$1")" -lt "$MOST" ] || fail "$1 has $(stat -c %s "$1") bytes"
    echo "release.sh: $(basename "$1"): installs, compiles and draws; $(stat -c %s "$1") bytes"
}

need_rust
mkdir -p "$FILES"
if [ "${parts[*]}" != npm ]; then
    need_packages gcc g++ libc6-dev binutils gcc-aarch64-linux-gnu g++-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user-static lintian
    # Debian's arm64 Mesa, also used by `skrymir gles`.
    ARM=${XDG_CACHE_HOME:-$HOME/.cache}/skrymir/gles/arm64
    bash emulator/gles/scripts/prepare.sh "$ARM"
fi
for part in "${parts[@]}"; do
    case $part in
    x86_64 | aarch64) archive "$part" ;;
    deb-amd64) deb amd64 x86_64-unknown-linux-gnu ;;
    deb-arm64) deb arm64 aarch64-unknown-linux-gnu ;;
    npm) npm_package ;;
    esac
done
(cd "$FILES" && sha256sum -- *.tar.gz *.tgz *.deb 2>/dev/null >SHA256SUMS || true)
ls -l "$FILES"
