#!/usr/bin/env bash
# Packages every crate, unpacks the packages and checks them outside the repository; then checks the facade with each
# feature. --list only creates the packages (seconds), which detects missing versions and files.
# `cargo package --workspace` does the same crate by crate and takes many times as long.
set -euo pipefail
cd "$(dirname "$0")/.."
. tests/setup.sh
need_packages gcc g++ libc6-dev
need_rust
dirty=()
[ -z "$(git status --porcelain 2>/dev/null)" ] || dirty=(--allow-dirty)
target=${CARGO_TARGET_DIR:-$PWD/target}
rm -rf "$target/package"
cargo package --workspace --no-verify --quiet "${dirty[@]}"
ls -l "$target"/package/*.crate
[ "${1:-}" != --list ] || exit 0

outside=$(mktemp -d)
trap 'rm -rf "$outside"' EXIT
# Refreshes the times: files in a package all have the same date, and cargo would reuse results of older ones.
for package in "$target"/package/*.crate; do tar -xzmf "$package" -C "$outside"; done
{
    printf '[workspace]\nresolver = "3"\nmembers = ["*-*"]\n\n[patch.crates-io]\n'
    for package in "$outside"/*/; do
        name=$(basename "$package")
        echo "${name%-*} = { path = \"$name\" }"
    done
    # The same options as the repository's build, so that dependencies are not built again.
    sed -n '/^\[profile\.dev/,/^$/p' Cargo.toml
} >"$outside/Cargo.toml"
cp Cargo.lock "$outside"
(cd "$outside" && CARGO_TARGET_DIR=$target cargo check --quiet --workspace --lib --bins --examples)
for features in "" mali translate; do
    cargo check --quiet --package skrymir --lib --no-default-features --features "$features"
done
