#!/usr/bin/env bash
# Runs Debian's piglit for OpenGL ES 2 with Mesa's unmodified driver on the emulator, about 120 tests in two minutes,
# and compares the results with tests/gles/piglit.txt. Nothing is installed; of piglit's 2 GB only the needed files are
# unpacked. Usage: tests/piglit.sh [--precision] [OPTIONS OF skrymir gles...]
#        tests/piglit.sh --all [--shard I/N] [--results FILE] [--only PATTERN] [-- OPTIONS OF skrymir gles...]
# --all: piglit's whole quick profiles instead, including desktop OpenGL 2.1, as Mesa runs them on a Mali-450 (hours; in
# shards, resuming from the results file); prints how many results equal the hardware's (tests/piglit_all.py).
# --precision: instead, fragment programs of desktop OpenGL that test built-in functions with narrow tolerances, every
# fourth of them and all that fail on hardware; prints the numbers here and on hardware
# (tests/gles/piglit-hardware.txt).
set -euo pipefail
precision='' all=''
[ "${1:-}" != --precision ] || { precision=1 && shift; }
[ "${1:-}" != --all ] || { all=1 && shift; }
root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/tests/setup.sh"
need_packages gcc g++ libc6-dev qemu-user-static gcc-aarch64-linux-gnu libc6-dev-arm64-cross
need_rust
# SKRYMIR names another build of the program, such as those of tests/sanitize.sh.
[ -n "${SKRYMIR:-}" ] || cargo build --quiet --manifest-path "$root/Cargo.toml" --bin skrymir
skrymir=${SKRYMIR:-${CARGO_TARGET_DIR:-$root/target}/debug/skrymir}

folder=${XDG_CACHE_HOME:-$HOME/.cache}/skrymir/gles/piglit
libraries="libwaffle-1-0 libgl1 libglx0 libxkbcommon0 libudev1"
bash "$root/emulator/gles/scripts/prepare.sh" "$folder" piglit $libraries
piglit=$folder/root/usr/lib/aarch64-linux-gnu/piglit
if [ ! -e "$folder/unpacked" ]; then
    for package in $libraries; do
        dpkg-deb -x "$folder"/"$package"_*.deb "$folder/root"
    done
    dpkg-deb --fsys-tarfile "$folder"/piglit_*.deb | tar -x -C "$folder/root" --wildcards \
        './usr/lib/*/piglit/bin/*_gles2' './usr/lib/*/piglit/lib/lib*' './usr/lib/*/piglit/tests/spec/glsl-es-1.00'
    touch "$folder/unpacked"
fi
functions=generated_tests/spec/glsl-1.10/execution/built-in-functions
if [ -n "$precision" ] && [ ! -e "$folder/unpacked-precision" ]; then
    dpkg-deb --fsys-tarfile "$folder"/piglit_*.deb | tar -x -C "$folder/root" --wildcards \
        './usr/lib/*/piglit/bin/shader_runner' "./usr/lib/*/piglit/$functions"
    touch "$folder/unpacked-precision"
fi
if [ -n "$all" ]; then
    need_packages python3
    if [ ! -e "$folder/unpacked-all" ]; then
        dpkg-deb --fsys-tarfile "$folder"/piglit_*.deb | tar -x -C "$folder/root"
        touch "$folder/unpacked-all"
    fi
    # Desktop OpenGL without framebuffer objects needs a window, or GBM's substitute.
    export PIGLIT_PLATFORM=gbm WAFFLE_GBM_DEVICE=/dev/dri/renderD128 PIGLIT_SOURCE_DIR=$piglit
    # Tests of EGL use the default display, which does not exist here.
    export EGL_PLATFORM=surfaceless
    exec nice python3 "$root/tests/piglit_all.py" --piglit "$piglit" --root "$folder/root" --skrymir "$skrymir" "$@"
fi
cd "$piglit"

# Every test: its name, then its command.
tests() {
    local file name config
    for file in bin/*_gles2; do
        name=$(basename "$file")
        case $name in
        glslparsertest_gles2 | shader_runner_gles2) ;;
        built-in-constants_gles2) echo "$name $file tests/spec/glsl-es-1.00/minimum-maximums.txt -auto -fbo" ;;
        *) echo "$name $file -auto -fbo" ;;
        esac
    done
    find tests/spec/glsl-es-1.00 -name '*.shader_test' | sort | while read -r file; do
        echo "$file bin/shader_runner_gles2 $file -auto -fbo"
    done
    # Each file contains the result expected of glslparsertest.
    find tests/spec/glsl-es-1.00 -name '*.vert' -o -name '*.frag' | sort | while read -r file; do
        config=$(sed -n '/\[config\]/,/\[end config\]/p' "$file")
        value() { sed -n "s/^.*$1: *//p" <<<"$config" | tr -d '\r'; }
        echo "$file bin/glslparsertest_gles2 $file $(value expect_result) $(value glsl_version) $(value require_extensions)"
    done
}

# Runs one test: prints its name and result.
run_one() {
    local name=$1 output result faults
    shift
    output=$(timeout 120 "$skrymir" gles --root "$folder/root" $options -- "$@" 2>&1) && code=0 || code=$?
    result=$(sed -n 's/^PIGLIT: {"result": "\([a-z]*\)" }.*/\1/p' <<<"$output" | tail -1)
    faults=$(grep -c '^skrymir: device .* job .*: [GP]P job: ' <<<"$output" || true)
    [ "$code" -lt 124 ] && [ -n "$result" ] || result=crash
    grep -q 'the emulator failed' <<<"$output" && result=emulator-crash
    [ "$faults" -eq 0 ] || result="$result-with-faults"
    echo "$name $result"
}
export -f run_one
export skrymir folder options="$*" PIGLIT_PLATFORM=surfaceless_egl

if [ -n "$precision" ]; then
    # Desktop OpenGL without framebuffer objects needs a window, or GBM's substitute.
    export PIGLIT_PLATFORM=gbm WAFFLE_GBM_DEVICE=/dev/dri/renderD128 PIGLIT_SOURCE_DIR=$piglit
    # Tests of EGL use the default display, which does not exist here.
    export EGL_PLATFORM=surfaceless
    known=$root/tests/gles/piglit-hardware.txt
    all=$(cd "$functions" && ls fs-*.shader_test | sed 's/\.shader_test$//' | LC_ALL=C sort)
    sample=$( (grep -xFf "$known" <<<"$all" && awk 'NR % 4 == 1' <<<"$all") | LC_ALL=C sort -u)
    results=$(sed "s#.*#& bin/shader_runner $functions/&.shader_test -auto#" <<<"$sample" |
        xargs -P "$(nproc)" -d '\n' -n 1 bash -c 'run_one $0')
    while read -r name result; do
        grep -qxF "$name" "$known" && hardware=fail || hardware=pass
        echo "on hardware $hardware, here $result"
    done <<<"$results" | sort | uniq -c
    exit
fi

results=$(tests | xargs -P "$(nproc)" -d '\n' -n 1 bash -c 'run_one $0' | sort)
for kind in pass fail skip crash emulator-crash pass-with-faults fail-with-faults; do
    echo "$kind: $(grep -c " $kind\$" <<<"$results" || true)"
done
expected=$root/tests/gles/piglit.txt
listed=$(grep -c '# hardware' "$expected" || true)
run=$(grep -cv ' skip$' <<<"$results")
passed=$(grep -c ' pass$' <<<"$results")
echo "passed of those that are not known to fail on hardware: $passed of $((run - listed)), $((passed * 1000 / (run - listed)))/1000"
diff <(sed -e 's/ *#.*//' -e '/^$/d' "$expected" | sort) <(grep -v ' pass$' <<<"$results")
echo "all as expected"
