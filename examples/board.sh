#!/usr/bin/env bash
# Debian's unmodified kernel and Mesa on an emulated Orange Pi with a Mali-400 on its bus (QEMU): sets up whatever is missing,
# boots, runs a C program for OpenGL ES 2 and brings its picture out.
#
#   examples/board.sh [PICTURE.png [PROGRAM.c]]   the program gets the picture's path as its argument; board.png, scene.c
#   examples/board.sh --check                     programs that fault, hang, are killed, run side by side; the driver reloaded
#   examples/board.sh --shell                     a shell on the board
#
# SKRYMIR_BOARD is the folder for all that is fetched and built (~/.cache/skrymir/board), SKRYMIR_BOARD_TIME the seconds after
# which the machine is switched off (300). --record is QEMU's: SKRYMIR_BOARD_QEMU="-global skrymir-mali.record=FOLDER".
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
here=$root/examples/board
. "$root/tests/setup.sh"
folder=${SKRYMIR_BOARD:-${XDG_CACHE_HOME:-$HOME/.cache}/skrymir/board}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
need_packages gcc-arm-linux-gnueabihf libc6-dev-armhf-cross binutils kmod cpio gzip xz-utils
bash "$root/emulator/board/qemu/build.sh" "$folder/qemu"

machine=arm-linux-gnueabihf
guest=$folder/guest
if [ ! -e "$guest/done" ]; then
    rm -rf "$guest"
    mkdir -p "$guest/lists/partial" "$guest/cache/archives/partial" "$guest/root"
    key="[arch=armhf signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]"
    echo "deb $key ${SKRYMIR_MIRROR:-http://deb.debian.org/debian} bookworm main" >"$guest/sources.list"
    options=(-o APT::Architecture=armhf -o APT::Architectures=armhf -o "Dir::State=$guest" -o Dir::State::status=/dev/null
        -o "Dir::State::lists=$guest/lists" -o "Dir::Cache=$guest/cache" -o "Dir::Etc::sourcelist=$guest/sources.list"
        -o Dir::Etc::sourceparts=- -o APT::Sandbox::User= -o APT::Install-Recommends=false)
    echo "board: fetching Debian's armhf kernel and Mesa, 120 MB" >&2
    apt-get "${options[@]}" -qq update
    kernel=$(apt-cache "${options[@]}" depends linux-image-armmp | sed -n 's/.*Depends: \(linux-image-[^ ]*\)$/\1/p')
    (cd "$guest/cache/archives" && apt-get "${options[@]}" -qq download "$kernel" libegl-dev libgles-dev libgl-dev)
    apt-get "${options[@]}" -qq -y install --download-only busybox-static libegl1 libgles2 libgl1-mesa-dri libegl-mesa0 libgbm1
    for package in "$guest"/cache/archives/*.deb; do
        dpkg-deb -x "$package" "$guest/root"
    done
    rm -rf "$guest/cache"
    /sbin/depmod -b "$guest/root" "${kernel#linux-image-}"
    echo "${kernel#linux-image-}" >"$guest/done"
fi
version=$(cat "$guest/done")

# Libraries a file needs, with what they need.
need() {
    local name place
    for name in $(readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'); do
        [ ! -e "$image/usr/lib/$machine/$name" ] || continue
        for place in "usr/lib/$machine" "lib/$machine" lib; do
            if [ -e "$guest/root/$place/$name" ]; then
                cp -L "$guest/root/$place/$name" "$image/usr/lib/$machine/$name"
                need "$guest/root/$place/$name"
                break
            fi
        done
    done
}

# The part of the initial RAM disk that stays the same.
if [ ! -e "$guest/base.gz" ]; then
    echo "board: putting the initial RAM disk together" >&2
    image=$guest/image
    modules=lib/modules/$version
    rm -rf "$image"
    mkdir -p "$image"/{bin,dev,lib,proc,sys,tmp,usr/share} "$image/usr/lib/$machine/dri"
    cp "$guest/root/bin/busybox" "$image/bin/"
    for module in lima governor_simpleondemand; do
        for file in $(sed -n "s#^\(.*/$module.ko\): *\(.*\)#\1 \2#p" "$guest/root/$modules/modules.dep"); do
            mkdir -p "$image/$modules/$(dirname "$file")"
            cp "$guest/root/$modules/$file" "$image/$modules/$file"
        done
    done
    cp "$guest/root/$modules"/modules.{order,builtin,builtin.modinfo} "$image/$modules/"
    /sbin/depmod -b "$image" "$version"
    cp "$guest/root/usr/lib/$machine/dri/lima_dri.so" "$image/usr/lib/$machine/dri/"
    need "$image/usr/lib/$machine/dri/lima_dri.so"
    for name in libEGL.so.1 libGLESv2.so.2 libgbm.so.1 libEGL_mesa.so.0; do
        cp -L "$guest/root/usr/lib/$machine/$name" "$image/usr/lib/$machine/"
        need "$image/usr/lib/$machine/$name"
    done
    cp -L "$guest/root/lib/ld-linux-armhf.so.3" "$image/lib/"
    cp -r "$guest/root/usr/share/glvnd" "$image/usr/share/"
    (cd "$image" && find . | cpio --quiet -o -H newc | gzip -1) >"$guest/base.new"
    mv "$guest/base.new" "$guest/base.gz"
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/image/programs"
compile() {
    $machine-gcc -O1 -o "$work/image/programs/$(basename "$1" .c)" "$1" -I "$guest/root/usr/include" \
        -L "$guest/root/usr/lib/$machine" -Wl,--unresolved-symbols=ignore-in-shared-libs -lEGL -lGLESv2 -lm -lpthread
}
cp "$here/init" "$work/image/init"
chmod +x "$work/image/init"
picture=
case ${1:-} in
--shell) run=shell ;;
--check)
    run=check
    compile "$here/fault.c"
    compile "$here/hang.c"
    compile "$root/tests/gles/gles.c"
    compile "$root/tests/gles/frames.c"
    cp "$here/check" "$work/image/programs/check"
    ;;
*)
    run=draw
    picture=${1:-board.png}
    program=${2:-$here/scene.c}
    compile "$program"
    # The picture comes out as text between two marks.
    cat >"$work/image/programs/draw" <<END
./$(basename "$program" .c) /tmp/picture.png || exit
echo "board: picture"
gzip -c /tmp/picture.png | base64
echo "board: end"
END
    ;;
esac
# An initial RAM disk may be several archives in a row; the later one's files win.
(cd "$work/image" && find . | cpio --quiet -o -H newc | gzip -1) >"$work/own.gz"
cat "$guest/base.gz" "$work/own.gz" >"$work/initrd"

qemu=("$folder/qemu/bin/qemu-system-arm" -M orangepi-pc -m 1G -nographic -nic none -no-reboot
    -kernel "$guest/root/boot/vmlinuz-$version" -initrd "$work/initrd"
    -dtb "$guest/root/usr/lib/linux-image-$version/sun8i-h3-orangepi-pc.dtb"
    -append "console=ttyS0,115200 board=$run" ${SKRYMIR_BOARD_QEMU:-})
if [ "$run" = shell ]; then
    exec "${qemu[@]}"
fi
echo "board: booting Debian's kernel $version" >&2
timeout "${SKRYMIR_BOARD_TIME:-300}" "${qemu[@]}" </dev/null 2>&1 | tr -d '\r' >"$work/console" &
while kill -0 $! 2>/dev/null; do
    [ ! -t 2 ] || printf '\r%s\033[K' "$(tail -c 200 "$work/console" 2>/dev/null | tail -1 | cut -c1-100)" >&2
    sleep 0.5
done
[ ! -t 2 ] || printf '\r\033[K' >&2
grep -aE 'lima|mali|^FAIL|checks,|^the |^board:|skrymir' "$work/console" | sed -E 's/^\[ *[0-9.]+\] //' || true
if [ -n "$picture" ]; then
    sed -n '/^board: picture$/,/^board: end$/p' "$work/console" | sed '1d;$d' | base64 -d | gunzip >"$picture"
    echo "board: $picture"
fi
grep -q '^board: exit code 0' "$work/console"
