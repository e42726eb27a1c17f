#!/usr/bin/env bash
# Runs glmark2's scenes with Mesa's driver on the emulator, and with Mesa's software renderer (arm64 llvmpipe) under the
# same qemu; prints the milliseconds per picture of both, their ratio, and its geometric mean. Debian's packages are
# fetched into the cache. Scenes that the driver does not support (terrain needs textures in vertex programs) are listed
# but not counted. Usage: tests/glmark2.sh [--weston] [SECONDS PER SCENE] [SCENE...]
# --weston: in a window of 640x480 under the compositor, which draws with the scene's driver; otherwise off screen.
set -euo pipefail
weston=''
[ "${1:-}" != --weston ] || { weston=1 && shift; }
seconds=${1:-3}
shift || true
scenes=("$@")
[ ${#scenes[@]} -gt 0 ] || scenes=(build build:use-vbo=true texture shading:shading=gouraud shading:shading=phong
    bump:bump-render=high-poly bump:bump-render=normals effect2d pulsar desktop desktop:effect=shadow:windows=4 buffer ideas
    terrain shadow refract conditionals:fragment-steps=5:vertex-steps=0 function:fragment-steps=5 loop:fragment-steps=5)
root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/tests/setup.sh"
need_packages gcc g++ libc6-dev qemu-user-static gcc-aarch64-linux-gnu libc6-dev-arm64-cross
need_rust
[ -n "${SKRYMIR:-}" ] || cargo build --quiet --release --manifest-path "$root/Cargo.toml" --bin skrymir
skrymir=${SKRYMIR:-${CARGO_TARGET_DIR:-$root/target}/release/skrymir}

# Milliseconds per picture of a scene, with the given environment.
run() {
    local scene=$1 output
    shift
    if [ -n "$weston" ]; then
        output=$(env "$@" "$skrymir" gles --desktop --size 800x600 --timeout 90 -- glmark2-es2-wayland --size 640x480 -b "$scene:duration=$seconds" 2>&1) || true
    else
        output=$(env "$@" "$skrymir" gles --view --rate 0 --timeout 90 -- glmark2-es2-drm --off-screen --size 640x480 -b "$scene:duration=$seconds" 2>&1) || true
    fi
    renderer=$(sed -n 's/^ *GL_RENDERER: *//p' <<<"$output" | head -1)
    time=$(sed -n 's/.* FrameTime: \([0-9.]*\) ms.*/\1/p' <<<"$output" | head -1)
    [[ $output != *Unsupported* ]] || time=unsupported
}

software=MESA_LOADER_DRIVER_OVERRIDE=kms_swrast
[ -z "$weston" ] || software=LIBGL_ALWAYS_SOFTWARE=1
printf '%-45s %8s %9s %6s\n' scene emulator llvmpipe ratio
logs=()
for scene in "${scenes[@]}"; do
    run "$scene" SKRYMIR_NOTHING=
    [[ $renderer == Mali* ]] || { echo "$scene: not on the emulator but on ${renderer:-nothing}" >&2 && exit 1; }
    ours=$time
    if [ "$ours" = unsupported ]; then
        printf '%-45s %8s\n' "$scene" unsupported
        continue
    fi
    run "$scene" "$software"
    [[ $renderer == llvmpipe* ]] || { echo "$scene: not on llvmpipe but on ${renderer:-nothing}" >&2 && exit 1; }
    if [ -z "$ours" ] || [ -z "$time" ]; then
        printf '%-45s %8s %9s\n' "$scene" "${ours:-none}" "${time:-none}"
        continue
    fi
    ratio=$(awk "BEGIN { printf \"%.2f\", $time / $ours }")
    logs+=("$ratio")
    printf '%-45s %8s %9s %6s\n' "$scene" "$ours" "$time" "$ratio"
done
printf '%s\n' "${logs[@]}" | awk '{ sum += log($1); least = NR == 1 || $1 < least ? $1 : least }
    END { printf "%d scenes: geometric mean %.2f, least %.2f\n", NR, exp(sum / NR), least }'
