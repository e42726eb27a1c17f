#!/usr/bin/env bash
# Installs what a fresh Debian 12 lacks: a Rust toolchain, a Vulkan driver, and the validators that the tests compare
# with.
# Sourced by the README's commands; does nothing if everything is installed.

need_packages() {
    local missing=()
    local package
    for package in "$@"; do
        dpkg -s "$package" >/dev/null 2>&1 || missing+=("$package")
    done
    [ ${#missing[@]} -eq 0 ] && return
    local root=()
    [ "$(id -u)" -eq 0 ] || root=(sudo)
    echo "installing: ${missing[*]}"
    "${root[@]}" apt-get update -qq
    DEBIAN_FRONTEND=noninteractive "${root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

need_rust() {
    [ -f "$HOME/.cargo/env" ] && . "$HOME/.cargo/env"
    local have
    have=$(cargo --version 2>/dev/null | sed -E 's/cargo 1\.([0-9]+).*/\1/')
    [ "${have:-0}" -ge 90 ] && return
    need_packages ca-certificates curl
    echo "installing: the stable Rust toolchain"
    curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh -s -- -y --profile minimal -c rustfmt -c clippy
    . "$HOME/.cargo/env"
}
