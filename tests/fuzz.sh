#!/usr/bin/env bash
# Fuzzes VBC loading and drawing over all files at hand: tests/fuzz.sh [SECONDS, default 60]. Findings are kept in
# target/fuzz-findings.
set -euo pipefail
cd "$(dirname "$0")/.."
shopt -s nullglob
files=(tests/data/*.vbc tests/data/vbc/*.vbc ../shared/corpus/vbc/*.vbc)
cargo run --quiet --example fuzz_vbc -- --seconds "${1:-60}" --mutations 100000 --keep target/fuzz-findings "${files[@]}"
