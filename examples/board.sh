#!/usr/bin/env bash
# Runs Debian's unmodified kernel and Mesa on an emulated Orange Pi with a Mali-400 on its bus (QEMU): installs what is
# missing, boots, runs a C program for OpenGL ES 2 and copies its picture out.
#
#   examples/board.sh [PICTURE.png [PROGRAM.c]]   the program gets the picture's path as its argument; board.png, scene.c
#   examples/board.sh --check                     the checks of examples/board/check; compares three pictures with gles's
#   examples/board.sh --shell                     a shell on the board
#   examples/board.sh --trace FILE                registers of small jobs, power cycles, a bad address and an endless job, as
#                                                 in emulator/board/tests/lima.trace
#
# Options before these: --machine cubieboard (default orangepi-pc), --record FOLDER (records jobs, for replay, inspect,
# diff and dap), --registers FILE (records register accesses, for replay --dump). SKRYMIR_BOARD is the folder for
# downloads and builds (~/.cache/skrymir/board), SKRYMIR_BOARD_TIME the timeout of the machine in seconds (600; 1800 for
# --check), SKRYMIR an existing `skrymir` program.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
here=$root/examples/board
usage() {
    sed -n 's/^# \?//; 2,/^set/p' "$0" | grep -v '^set' >&2
    exit 2
}
board=orangepi-pc devices=()
while [ $# -gt 0 ]; do
    case $1 in
    --machine) board=${2:?} && shift 2 ;;
    --record | --registers)
        path=$(realpath "${2:?}")
        devices+=(-global "skrymir-mali.${1#--}=$path")
        shift 2
        ;;
    *) break ;;
    esac
done
case $board in
orangepi-pc) tree=sun8i-h3-orangepi-pc ;;
cubieboard) tree=sun4i-a10-cubieboard ;;
*) usage ;;
esac
picture= limit=${SKRYMIR_BOARD_TIME:-600}
case ${1:-} in
--shell) run=shell ;;
--trace) run=trace devices+=(-global "skrymir-mali.registers=$(realpath "${2:?}")") ;;
--check) run=check limit=${SKRYMIR_BOARD_TIME:-1800} ;;
-*) usage ;;
*) run=draw picture=${1:-board.png} program=${2:-$here/scene.c} ;;
esac

. "$root/tests/setup.sh"
. "$root/emulator/gles/scripts/apt.sh"
folder=${SKRYMIR_BOARD:-${XDG_CACHE_HOME:-$HOME/.cache}/skrymir/board}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
need_packages gcc-arm-linux-gnueabihf libc6-dev-armhf-cross binutils kmod cpio gzip xz-utils
bash "$root/emulator/board/qemu/build.sh" "$folder/qemu"

machine=arm-linux-gnueabihf
guest=$folder/guest
if [ ! -e "$guest/done" ]; then
    rm -rf "$guest"
    mkdir -p "$guest/root"
    (
        apt_state "$guest/apt" armhf
        kernel=$(apt-cache depends linux-image-armmp | sed -n 's/.*Depends: \(linux-image-[^ ]*\)$/\1/p')
        apt_fetch "armhf packages" busybox-static libegl1 libgles2 libgl1-mesa-dri libegl-mesa0 libgbm1
        echo "board: fetching Debian's armhf kernel" >&2
        (cd "$archives" && apt-get -qq download "$kernel" libegl-dev libgles-dev libgl-dev)
        for package in "$archives"/*.deb; do
            dpkg-deb -x "$package" "$guest/root"
        done
        echo "${kernel#linux-image-}" >"$guest/version"
    )
    rm -rf "$guest/apt"
    /sbin/depmod -b "$guest/root" "$(cat "$guest/version")"
    mv "$guest/version" "$guest/done"
fi
version=$(cat "$guest/done")

# The libraries of a file, with their dependencies.
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

# The part of the initial RAM disk that is always the same.
if [ ! -e "$guest/base.gz" ]; then
    echo "board: putting the initial RAM disk together" >&2
    image=$guest/image
    modules=lib/modules/$version
    rm -rf "$image"
    mkdir -p "$image"/{bin,dev,lib,proc,sys,tmp,usr/share} "$image/usr/lib/$machine/dri"
    cp "$guest/root/bin/busybox" "$image/bin/"
    for module in lima governor_simpleondemand mmc_block sunxi-mmc; do
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
process=
finish() {
    [ -z "$process" ] || kill "$process" 2>/dev/null || true
    rm -rf "$work"
}
trap finish EXIT
mkdir -p "$work/image/programs" "$work/out"
compile() {
    $machine-gcc -O1 -o "$work/image/programs/$(basename "$1" .c)" "$1" -I "$guest/root/usr/include" \
        -L "$guest/root/usr/lib/$machine" -Wl,--unresolved-symbols=ignore-in-shared-libs -lEGL -lGLESv2 -lm -lpthread
}
cp "$here/init" "$work/image/init"
chmod +x "$work/image/init"
pictures=(scene triangles stencil)
case $run in
check)
    for name in fault hang "${pictures[@]}"; do
        compile "$here/$name.c"
    done
    for name in gles frames rate; do
        compile "$root/tests/gles/$name.c"
    done
    cp "$here/check" "$work/image/programs/check"
    [ "$board" != orangepi-pc ] || : >"$work/image/programs/two"
    ;;
trace)
    for name in small fault hang; do
        compile "$here/$name.c"
    done
    # The GPU is switched off half a second after the last job.
    for part in "./small /tmp/out/small.png" "sleep 2" ./small ./fault ./small ./hang ./small "sleep 2"; do
        echo "$part"
    done >"$work/image/programs/trace"
    ;;
draw)
    compile "$program"
    echo "./$(basename "$program" .c) /tmp/out/picture.png" >"$work/image/programs/draw"
    ;;
esac
# An initial RAM disk may be a concatenation of archives; a later one's files replace an earlier one's.
(cd "$work/image" && find . | cpio --quiet -o -H newc | gzip -1) >"$work/own.gz"
cat "$guest/base.gz" "$work/own.gz" >"$work/initrd"
# The results are on the SD card, as one archive.
truncate -s 64M "$work/card"

qemu=("$folder/qemu/bin/qemu-system-arm" -M "$board" -m 1G -nic none -no-reboot -display none -monitor none
    -drive "if=sd,format=raw,file=$work/card"
    -kernel "$guest/root/boot/vmlinuz-$version" -initrd "$work/initrd"
    -dtb "$guest/root/usr/lib/linux-image-$version/$tree.dtb"
    -append "console=ttyS0,115200 board=$run" "${devices[@]}" ${SKRYMIR_BOARD_QEMU:-})
if [ "$run" = shell ]; then
    "${qemu[@]}" -serial mon:stdio
    exit
fi
echo "board: booting Debian's kernel $version on $board" >&2
timeout "$limit" "${qemu[@]}" -serial "file:$work/console" </dev/null >"$work/qemu" 2>&1 &
process=$!
while kill -0 $process 2>/dev/null; do
    [ ! -t 2 ] || printf '\r%s\033[K' "$(tail -c 200 "$work/console" 2>/dev/null | tail -1 | tr -d '\r' | cut -c1-100)" >&2
    # QEMU's cubieboard cannot switch itself off.
    ! grep -aq 'reboot: System halted' "$work/console" 2>/dev/null || kill $process
    sleep 0.5
done
[ ! -t 2 ] || printf '\r\033[K' >&2
code=0
wait $process || code=$?
process=
tr -d '\r' <"$work/console" >"$work/text"
cp "$work/text" "$folder/console.txt"
cat "$work/qemu" >&2
grep -aE 'lima|mali|^FAIL|checks,|jobs/s|^the |^check:' "$work/text" | sed -E 's/^\[ *[0-9.]+\] //' || true
if ! grep -aq '^board: exit code' "$work/text"; then
    [ $code -eq 124 ] && why="was switched off after $limit seconds (SKRYMIR_BOARD_TIME)" || why="ended early"
    echo "board: the machine $why; its console is in $folder/console.txt" >&2
    exit 1
fi
tar -x -f "$work/card" -C "$work/out"
code=0
grep -aq '^board: exit code 0' "$work/text" || code=1
if [ -n "$picture" ] && [ -s "$work/out/picture.png" ]; then
    cp "$work/out/picture.png" "$picture"
    echo "board: $picture"
elif [ -n "$picture" ]; then
    echo "board: the program wrote no picture" >&2
    code=1
fi

# The same programs with Mesa's driver on the emulator behind the kernel's ioctls.
gles() {
    if [ -n "${SKRYMIR:-}" ]; then "$SKRYMIR" gles --compile -- "$@"; else bash "$root/examples/gles.sh" "$@"; fi
}
if [ "$run" = check ]; then
    mkdir "$work/gles"
    for name in "${pictures[@]}"; do
        gles "$here/$name.c" "$work/gles/$name.png" >"$work/said" 2>&1 || cat "$work/said" >&2
        if cmp -s "$work/gles/$name.png" "$work/out/$name.png"; then
            echo "check: picture $name is skrymir gles's: ok"
        else
            echo "check: picture $name is skrymir gles's: FAIL"
            code=1
        fi
    done
    if ! cmp -s "$work/out/scene.png" "$work/out/stencil.png"; then
        echo "check: two programs' pictures differ: ok"
    else
        echo "check: two programs' pictures differ: FAIL"
        code=1
    fi
    echo "skrymir gles, the same scene:"
    gles "$root/tests/gles/rate.c" 3 256 | grep jobs || code=1
fi
exit $code
