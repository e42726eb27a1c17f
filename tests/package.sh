#!/usr/bin/env bash
# Packages every crate, unpacks what came out and has it checked without the repository around it; then the facade by
# its features. --list only makes the packages (seconds), which finds versions and files that are missing.
# `cargo package --workspace` does the same one by one, and takes many times as long.
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
# As files of now: those in a package have one date for ever, and cargo would take what it built of them before.
for package in "$target"/package/*.crate; do tar -xzmf "$package" -C "$outside"; done
{
    printf '[workspace]\nresolver = "3"\nmembers = ["*-*"]\n\n[patch.crates-io]\n'
    for package in "$outside"/*/; do
        name=$(basename "$package")
        echo "${name%-*} = { path = \"$name\" }"
    done
    # As it is built here, so that what is there need not be built again.
    sed -n '/^\[profile\.dev/,/^$/p' Cargo.toml
} >"$outside/Cargo.toml"
cp Cargo.lock "$outside"
(cd "$outside" && CARGO_TARGET_DIR=$target cargo check --quiet --workspace --lib --bins --examples)
for features in "" mali translate; do
    cargo check --quiet --package skrymir --lib --no-default-features --features "$features"
done
