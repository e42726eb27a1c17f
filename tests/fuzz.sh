#!/usr/bin/env bash
# Looks for inputs that break the properties of tests/properties, with coverage guidance (libFuzzer) and the stable
# toolchain, all targets in shards, and ends with a table: inputs, new paths, failures.
# Usage: tests/fuzz.sh [--hours N | --seconds N | --inputs N] [--jobs N] [--asan] [TARGET...]
# --hours, --seconds: for all targets together (default 100 seconds); --inputs: so many for each target instead.
# --asan: built by the nightly toolchain with AddressSanitizer. Findings are kept in target/fuzz/findings.
# Before that, VBC files are damaged and drawn on Vulkan (examples/fuzz_vbc.rs), unless targets are named.
set -euo pipefail
cd "$(dirname "$0")/.."
. tests/setup.sh
seconds=100 inputs= jobs=$(nproc) asan= targets=()
while [ $# -gt 0 ]; do
    case $1 in
    --hours) seconds=$(awk "BEGIN { print int($2 * 3600) }") && shift 2 ;;
    --seconds) seconds=$2 && shift 2 ;;
    --inputs) inputs=$2 && shift 2 ;;
    --jobs) jobs=$2 && shift 2 ;;
    --asan) asan=1 && shift ;;
    -*) echo "tests/fuzz.sh: unknown option $1" >&2 && exit 2 ;;
    *) targets+=("$1") && shift ;;
    esac
done
need_packages gcc g++ libc6-dev libvulkan1 mesa-vulkan-drivers
need_rust

all=$(sed -n 's/^name = "\([a-z_]*\)"$/\1/p' fuzz/Cargo.toml)
for target in "${targets[@]}"; do
    grep -qx "$target" <<<"$all" || { echo "tests/fuzz.sh: no target $target; there are:" $all >&2 && exit 2; }
done
if [ ${#targets[@]} -eq 0 ]; then
    shopt -s nullglob
    files=(tests/data/*.vbc tests/data/vbc/*.vbc ../shared/corpus/vbc/*.vbc)
    cargo run --quiet --example fuzz_vbc -- --mutations 25 --keep target/fuzz/findings/drawn "${files[@]}"
    targets=($all)
fi

# The flags that cargo fuzz gives; all but the sanitizer are for the stable toolchain too.
machine=$(rustc -vV | sed -n 's/^host: //p')
flags="-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-inline-8bit-counters
    -Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares --cfg fuzzing -Cstrip=symbols"
toolchain=() built=target/fuzz/build
[ -z "$asan" ] || { toolchain=(+nightly) flags="$flags -Zsanitizer=address" built=target/fuzz/build-asan; }
RUSTFLAGS="$flags" CARGO_TARGET_DIR=$built cargo "${toolchain[@]}" build --quiet --release --target "$machine" \
    --manifest-path fuzz/Cargo.toml $(printf -- '--bin %s ' "${targets[@]}")

limit=-max_total_time=$((seconds * jobs / ${#targets[@]} + 1))
[ -z "$inputs" ] || limit=-runs=$inputs
work=target/fuzz/corpus findings=target/fuzz/findings logs=target/fuzz/logs
mkdir -p "$logs"

# One target until its limit: a failure is kept and the rest of the inputs go on with another seed.
run_one() {
    local target=$1 seeds=() round=0 started=$SECONDS left
    mkdir -p "$work/$target" "$findings/$target"
    [ ! -d "fuzz/corpus/$target" ] || seeds+=("fuzz/corpus/$target")
    [ ! -d "tests/data/findings/$target" ] || seeds+=("tests/data/findings/$target")
    case $target in
    vbc_*) seeds+=(tests/data/vbc) ;;
    sl_parse | sl_run) seeds+=(tests/data/sl) ;;
    spirv_assemble) seeds+=(tests/data/spirv) ;;
    mbs_assemble | *p_assemble) seeds+=(tests/data/mali) ;;
    esac
    : >"$logs/$target"
    while [ "$round" -lt 20 ]; do
        round=$((round + 1))
        "$built/$machine/release/$target" "$limit" -seed=$((RANDOM + 1)) -max_len=4096 -timeout=20 -rss_limit_mb=2048 \
            -malloc_limit_mb=1024 -print_final_stats=1 -verbosity=1 -artifact_prefix="$findings/$target/" \
            "$work/$target" "${seeds[@]}" >>"$logs/$target" 2>&1 && break
        [ -z "$inputs" ] && [ $((SECONDS - started)) -ge "${limit#*=}" ] && break
    done
    echo "$target done" >&2
}
export -f run_one
export built machine limit inputs work findings logs
printf '%s\n' "${targets[@]}" | xargs -P "$jobs" -n 1 bash -c 'run_one "$0"'

# The table.
failed=0
printf '%-20s %14s %12s %10s %10s\n' target inputs 'new paths' 'a second' failures
for target in "${targets[@]}"; do
    row=$(awk '/stat::number_of_executed_units/ { inputs += $2 } /stat::new_units_added/ { paths += $2 }
        /stat::average_exec_per_sec/ { speed = $2 } END { printf "%d %d %d", inputs, paths, speed }' "$logs/$target")
    failures=$(find "$findings/$target" -type f | wc -l)
    failed=$((failed + failures))
    printf '%-20s %14d %12d %10d %10d\n' "$target" $row "$failures"
done
[ "$failed" -eq 0 ] || { echo "$failed findings in $findings; each one is an input for cargo test --test it properties" && exit 1; }
