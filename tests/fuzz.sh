#!/usr/bin/env bash
# Searches for inputs that break the properties of tests/properties, with coverage guidance (libFuzzer) and the stable
# toolchain, with all targets in shards, and prints a table: inputs, new paths, failures.
# Usage: tests/fuzz.sh [--hours N | --seconds N | --inputs N] [--jobs N] [--asan] [--keep] [TARGET...]
# --hours, --seconds: for all targets together (default 100 seconds); --inputs: the number for each target instead.
# --asan: build with the nightly toolchain and AddressSanitizer. Findings are kept in target/fuzz/findings until fixed.
# --keep: replace fuzz/corpus with the smallest set of inputs that has the same coverage.
# Without target names, examples/fuzz_vbc.rs first mutates VBC files and draws them on Vulkan.
set -euo pipefail
cd "$(dirname "$0")/.."
. tests/setup.sh
seconds=100 inputs= jobs=$(nproc) asan= keep= targets=()
while [ $# -gt 0 ]; do
    case $1 in
    --hours) seconds=$(awk "BEGIN { print int($2 * 3600) }") && shift 2 ;;
    --seconds) seconds=$2 && shift 2 ;;
    --inputs) inputs=$2 && shift 2 ;;
    --jobs) jobs=$2 && shift 2 ;;
    --asan) asan=1 && shift ;;
    --keep) keep=1 && shift ;;
    -*) echo "tests/fuzz.sh: unknown option $1" >&2 && exit 2 ;;
    *) targets+=("$1") && shift ;;
    esac
done
need_packages gcc g++ libc6-dev libvulkan1 mesa-vulkan-drivers
need_rust

all=$(sed -n 's/^name = "\([a-z_]*\)"$/\1/p' fuzz/Cargo.toml)
# glslang's faults are errors elsewhere, and end the program under the sanitizer.
[ -z "$asan" ] || all=$(grep -vx source_text <<<"$all")
for target in "${targets[@]}"; do
    grep -qx "$target" <<<"$all" || { echo "tests/fuzz.sh: no target $target; there are:" $all >&2 && exit 2; }
done
if [ ${#targets[@]} -eq 0 ]; then
    shopt -s nullglob
    files=(tests/data/*.vbc tests/data/vbc/*.vbc ../shared/corpus/vbc/*.vbc)
    cargo run --quiet --example fuzz_vbc -- --mutations 25 --keep target/fuzz/findings/drawn "${files[@]}"
    targets=($all)
fi

machine=$(rustc -vV | sed -n 's/^host: //p')
flags="--cfg fuzzing -Cstrip=symbols"
toolchain=() built=target/fuzz/build
# gcc, which compiles glslang and SPIRV-Cross, has tables without a name of their own.
export ASAN_OPTIONS=detect_odr_violation=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}
[ -z "$asan" ] || { toolchain=(+nightly) flags="$flags -Zsanitizer=address" built=target/fuzz/build-asan; }
RUSTC_WRAPPER=$PWD/fuzz/instrument.sh RUSTFLAGS=$flags CARGO_TARGET_DIR=$built cargo "${toolchain[@]}" build --quiet \
    --release --target "$machine" --manifest-path fuzz/Cargo.toml $(printf -- '--bin %s ' "${targets[@]}")

limit=$((seconds * jobs / ${#targets[@]} + 1))
work=target/fuzz/corpus findings=target/fuzz/findings seeds=target/fuzz/seeds logs=target/fuzz/logs
mkdir -p "$logs"

# Longer inputs of instructions or changes only repeat the same.
longest() {
    case $1 in
    gp_words | pp_words | engine_*) echo 512 ;;
    job) echo 224 ;;
    *) echo 4096 ;;
    esac
}

# Runs one target until its limit: keeps a failing input and continues with another seed.
run_one() {
    local target=$1 program=$built/$machine/release/$1 started=$SECONDS left ran round
    mkdir -p "$work/$target" "$findings/$target"
    FUZZ_SEEDS=$seeds/$target "$program" >"$logs/$target" 2>&1 || { cat "$logs/$target" >&2 && return 1; }
    for found in "$findings/$target"/*; do
        [ ! -f "$found" ] || ! "$program" -timeout=20 "$found" >/dev/null 2>&1 || rm "$found"
    done
    for round in {1..20}; do
        if [ -n "$inputs" ]; then
            ran=$(awk '/stat::number_of_executed_units/ { ran += $2 } END { printf "%d", ran }' "$logs/$target")
            left=-runs=$((inputs - ran))
        else
            left=-max_total_time=$((limit - SECONDS + started))
        fi
        [ "${left#*=}" -gt 0 ] || break
        "$program" "$left" -seed=$((RANDOM + 1)) -max_len="$(longest "$target")" -timeout=20 -rss_limit_mb=2048 \
            -malloc_limit_mb=1024 -print_final_stats=1 -verbosity=1 -artifact_prefix="$findings/$target/" \
            "$work/$target" "$seeds/$target" >>"$logs/$target" 2>&1 && break
    done
    echo "seconds: $((SECONDS - started))" >>"$logs/$target"
    echo "$target done" >&2
}
export -f run_one longest
export built machine limit inputs work findings seeds logs
printf '%s\n' "${targets[@]}" | xargs -P "$jobs" -n 1 bash -c 'run_one "$0"'

# The table.
failed=0
printf '%-20s %14s %12s %10s %10s\n' target inputs 'new paths' 'a second' failures
for target in "${targets[@]}"; do
    row=$(awk '/stat::number_of_executed_units/ { inputs += $2 } /stat::new_units_added/ { paths += $2 }
        /^seconds: / { seconds = $2 } END { printf "%d %d %d", inputs, paths, inputs / (seconds ? seconds : 1) }' "$logs/$target")
    failures=$(find "$findings/$target" -type f | wc -l)
    failed=$((failed + failures))
    printf '%-20s %14d %12d %10d %10d\n' "$target" $row "$failures"
done

if [ -n "$keep" ]; then
    # Of the small inputs, the fewest with the same coverage; the first few dozen reach most of it.
    for target in "${targets[@]}"; do
        kept=$(mktemp -d)
        "$built/$machine/release/$target" -set_cover_merge=1 -use_counters=0 -max_len=512 -timeout=20 "$kept" \
            "$seeds/$target" "$work/$target" >>"$logs/$target" 2>&1
        mkdir -p fuzz/corpus
        rm -rf "fuzz/corpus/$target"
        mv "$kept" "fuzz/corpus/$target"
        (cd "fuzz/corpus/$target" && ls -tr | tail -n +49 | xargs -r rm)
    done
    du -sh --apparent-size fuzz/corpus
fi
[ "$failed" -eq 0 ] || { echo "$failed findings in $findings; each one is an input for cargo test --test it properties" && exit 1; }
