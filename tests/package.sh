#!/usr/bin/env bash
# Packages every crate and builds what came out of each alone, outside of the repository; then the facade without the
# command. --list only makes the packages (seconds), which finds files and versions that are missing.
set -euo pipefail
cd "$(dirname "$0")/.."
. tests/setup.sh
need_packages gcc libc6-dev
need_rust
dirty=()
[ -z "$(git status --porcelain 2>/dev/null)" ] || dirty=(--allow-dirty)
verify=()
[ "${1:-}" != --list ] || verify=(--no-verify)
cargo package --workspace --quiet "${dirty[@]}" "${verify[@]}"
ls -l target/package/*.crate
[ "${1:-}" != --list ] || exit 0
cargo check --quiet --package skrymir --lib --no-default-features
cargo check --quiet --package skrymir --lib --no-default-features --features mali
cargo check --quiet --package skrymir --lib --no-default-features --features translate
