#!/usr/bin/env bash
# Builds the page of docs/page into target/page: one file that needs no other, no server and no network.
#
#   bash docs/page/build.sh          the libraries as WebAssembly, and the page around them
#   bash docs/page/build.sh parts    the libraries alone, into target/page-parts: the npm package
#
# Missing tools are installed: Node, esbuild, TypeScript and the editor from npm, wasm-bindgen from crates.io (built once).
set -euo pipefail
cd "$(dirname "$0")/../.."
. tests/setup.sh
need_rust
command -v node >/dev/null && command -v npm >/dev/null || need_packages nodejs npm
target=wasm32-unknown-unknown
[ -d "$(rustc --print target-libdir --target $target)" ] || rustup target add $target >/dev/null 2>&1

# The glue is of the version that the libraries are built with.
version=$(sed -n '/^name = "wasm-bindgen"$/{n;s/version = "\(.*\)"/\1/p}' Cargo.lock)
bindgen=target/wasm-bindgen/bin/wasm-bindgen
if [ "$("$bindgen" --version 2>/dev/null)" != "wasm-bindgen $version" ]; then
    echo "installing: wasm-bindgen $version"
    cargo install --quiet --debug --no-default-features --version "$version" --root target/wasm-bindgen wasm-bindgen-cli --bin wasm-bindgen
fi

RUSTFLAGS="-C target-feature=+simd128 -C link-arg=-zstack-size=4194304" \
    cargo rustc --quiet --profile page --target $target -p skrymir-wasm --lib --crate-type cdylib
"$bindgen" --target web --out-name skrymir --out-dir target/page-parts target/$target/page/skrymir_wasm.wasm
cp emulator/wasm/{README.md,package.json} LICENSE-APACHE LICENSE-MIT target/page-parts

# npm packages are installed among build products; their install scripts are not run, and none is needed.
npm=target/page-npm
if ! cmp -s docs/page/package-lock.json "$npm/package-lock.json" || [ ! -d "$npm/node_modules" ]; then
    mkdir -p "$npm"
    cp docs/page/package.json docs/page/package-lock.json "$npm"
    npm ci --prefix "$npm" --silent --no-progress --ignore-scripts
fi
[ "${1-}" != parts ] || exit 0

mkdir -p target/page
node docs/page/bundle.mjs "$npm" target/page-parts target/page
