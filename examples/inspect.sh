#!/usr/bin/env bash
# Records a draw, writes a page about the recording, and takes a picture of the page with a headless Chromium.
set -euo pipefail
cd "$(dirname "$0")/.."
. tests/setup.sh
need_packages chromium gcc libc6-dev
need_rust
out=${1:-target/inspect}
mkdir -p "$out"
cargo build --quiet
target/debug/skrymir draw examples/mali/triangle.vert.s examples/mali/triangle.frag.s --size 256x192 --record "$out/triangle.trace"
target/debug/skrymir inspect "$out/triangle.trace" --pixel 128,96 -o "$out/triangle.html"
chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --virtual-time-budget=3000 --window-size=1200,1000 \
    --screenshot="$out/inspect.png" "file://$(realpath "$out")/triangle.html#px=128,96&job=1" 2>/dev/null
echo "$out/triangle.html and $out/inspect.png"
