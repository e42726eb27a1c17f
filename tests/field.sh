#!/usr/bin/env bash
# Runs all of ../shared/corpus/field, of which the ordinary tests run samples; each line prints its counts.
# Usage: tests/field.sh [NAME OF A CORPUS]
set -euo pipefail
cd "$(dirname "$0")/.."
. tests/setup.sh
need_packages gcc libc6-dev
need_rust
export SKRYMIR_FIELD=1 SKRYMIR_NEED_CORPUS=1

# Runs a test over a whole corpus.
corpus() {
    local name=$1 test=$2
    names+=" $name"
    [ -z "$only" ] || [ "$only" = "$name" ] || return 0
    cargo test --workspace --quiet --test it "$test" -- --nocapture
}

only=${1:-} names=
# GLSL ES pairs on the emulator's engines.
corpus retro mali::field::retro
# Pairs of all corpora on the emulator and on the first Vulkan device.
corpus pictures mali::field::shaders
# Every verb on every source: which verbs reject it, and why.
corpus verbs cli::languages
# Pairs of Vulkan samples, packed and drawn.
corpus pairs cli::pairs
# Test scripts on the first Vulkan device.
corpus amber script::field
# The same with their shaders read again from GLSL, HLSL and WGSL.
corpus translations spirv::translate::translations_of_the_field

if [ -n "$only" ] && [[ " $names " != *" $only "* ]]; then
    echo "tests/field.sh: no corpus $only; there are:$names" >&2
    exit 2
fi
