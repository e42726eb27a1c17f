#!/usr/bin/env bash
# Fuzzes VBC loading and drawing over all files at hand, then jobs of the Mali-400 for a minute: tests/fuzz.sh [MUTATIONS of
# each file, default 250: about a minute] [SEED]. Findings of the former are kept in target/fuzz-findings.
set -euo pipefail
cd "$(dirname "$0")/.."
shopt -s nullglob
files=(tests/data/*.vbc tests/data/vbc/*.vbc ../shared/corpus/vbc/*.vbc)
cargo run --quiet --example fuzz_vbc -- --mutations "${1:-250}" --seed "${2:-1}" --keep target/fuzz-findings "${files[@]}"
MALI_FUZZ_SECONDS="${MALI_FUZZ_SECONDS:-60}" cargo test --quiet --test it mali::fuzz -- --nocapture
