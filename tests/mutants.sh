#!/usr/bin/env bash
# Mutation testing: cargo-mutants changes one operator or result of a crate at a time and runs the crate's own tests.
# Usage: tests/mutants.sh [--shard K/N] CRATE...
# CRATE is loader, num, utgard, compiler, lift, translate, vulkan, board, shim or emulator; --shard takes every Nth
# mutant from the Kth on (0/10: a tenth of them). The tests take shorter sweeps, and read ../shared/corpus if it exists.
# Prints a table with what was caught, missed, timed out, and did not compile; the names of missed ones are in
# target/mutants/CRATE/mutants.out/missed.txt. tests/mutants.txt has accepted ones: a regular expression of names per
# line, with the reason in a comment above it.
# Exits with 1 if less than 85 % of the mutants that compile were caught.
set -euo pipefail
cd "$(dirname "$0")/.."
. tests/setup.sh
shard= crates=()
while [ $# -gt 0 ]; do
    case $1 in
    --shard) shard=$2 && shift 2 ;;
    -*) echo "tests/mutants.sh: unknown option $1" >&2 && exit 2 ;;
    *) crates+=("$1") && shift ;;
    esac
done
[ ${#crates[@]} -gt 0 ] || { sed -n '2,10s/^# //p' "$0" >&2 && exit 2; }
need_packages gcc g++ libc6-dev
need_rust
cargo mutants --version >/dev/null 2>&1 || cargo install --quiet --locked cargo-mutants

# The accepted ones.
accepted=()
while read -r line; do
    case $line in '' | '#'*) ;; *) accepted+=(--exclude-re "$line") ;; esac
done <tests/mutants.txt

# The tests run from a copy of the checkout, which the corpus is not beside, and once per mutant.
[ ! -d ../shared/corpus ] || SKRYMIR_CORPUS=$(realpath ../shared/corpus) && export SKRYMIR_CORPUS
export SKRYMIR_QUICK=1 CARGO_PROFILE_DEV_DEBUG=0

failed=0
printf '%-12s %8s %8s %8s %10s %8s\n' crate caught missed timeout unviable rate
for crate in "${crates[@]}"; do
    out=target/mutants/$crate
    rm -rf "$out" && mkdir -p "$out"
    # Exit codes 2 and 3 say that mutants were missed or timed out, which the table shows.
    code=0
    cargo mutants --package "skrymir-$crate" --output "$out" --no-shuffle --colors never --minimum-test-timeout 20 \
        ${shard:+--shard "$shard" --sharding round-robin} "${accepted[@]}" -- --lib --tests >"$out/log" 2>&1 || code=$?
    case $code in 0 | 2 | 3) ;; *) tail -20 "$out/log" >&2 && exit 1 ;; esac
    count() { wc -l <"$out/mutants.out/$1.txt"; }
    caught=$(count caught) missed=$(count missed) timeout=$(count timeout) unviable=$(count unviable)
    viable=$((caught + missed + timeout))
    # A mutant whose tests do not end is found too.
    rate=$((viable ? 100 * (caught + timeout) / viable : 100))
    printf '%-12s %8d %8d %8d %10d %7d%%\n' "$crate" "$caught" "$missed" "$timeout" "$unviable" "$rate"
    [ "$rate" -ge 85 ] || failed=1
done
exit "$failed"
