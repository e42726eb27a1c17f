#!/usr/bin/env bash
# Builds the page (docs/page), tests the example of emulator/wasm/README.md, and tests the page in a headless Chromium: every
# feature by clicks and keys, pictures against the command line's, all files of the tests, broken ones too, names for screen
# readers. Screenshots are left in target/page/screenshots.
#
#   bash tests/page.sh             builds and tests
#   bash tests/page.sh --figures   also prints sizes, times and memory (minutes)
set -euo pipefail
cd "$(dirname "$0")/.."
. tests/setup.sh
need_packages gcc g++ libc6-dev chromium
bash docs/page/build.sh
node docs/page/example.mjs target/page-npm/node_modules target/page-parts
need_rust
export SKRYMIR_NEED_PAGE=1 SKRYMIR_NEED_BROWSER=1
cargo test --workspace --quiet --test it page:: -- --nocapture
[ "${1-}" != --figures ] || cargo test --workspace --quiet --test it page::browser::figures -- --nocapture --ignored
