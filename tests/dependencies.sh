#!/usr/bin/env bash
# Checks the dependencies and the public interfaces:
#
#   deny      licences, sources and duplicates of every crate (deny.toml), and advisories if the database is reachable
#   semver    the public interfaces against the last release's tag: a breaking change requires a new version
#
#   bash tests/dependencies.sh [--install] [deny] [semver]     both by default
#
# A missing tool is skipped with a message; --install builds it into target/tools first, which takes minutes.
set -euo pipefail
cd "$(dirname "$0")/.."
. tests/setup.sh
need_rust

install=
parts=()
for argument in "$@"; do
    case $argument in
    --install) install=1 ;;
    deny | semver) parts+=("$argument") ;;
    *)
        echo "dependencies.sh: no part $argument: deny, semver" >&2
        exit 2
        ;;
    esac
done
[ ${#parts[@]} -gt 0 ] || parts=(deny semver)
export PATH=$PATH:$PWD/target/tools/bin

# Succeeds if a tool is installed or can be built.
have() {
    command -v "$1" >/dev/null && return
    if [ -z "$install" ]; then
        echo "dependencies.sh: skipped: $1 is not installed (--install builds it)"
        return 1
    fi
    need_packages gcc libc6-dev
    echo "installing: $1 $2"
    # Without optimisation: the build takes longer than the run.
    CARGO_PROFILE_DEV_DEBUG=0 cargo install --quiet --locked --debug --version "$2" --root target/tools "$1"
}

deny() {
    have cargo-deny 0.20.2 || return 0
    local manifests=(Cargo.toml examples/pipelines/Cargo.toml examples/wgpu/Cargo.toml fuzz/Cargo.toml)
    local manifest
    for manifest in "${manifests[@]}"; do
        echo "dependencies.sh: deny: $manifest"
        cargo deny --locked --config deny.toml --manifest-path "$manifest" check --hide-inclusion-graph licenses bans sources
    done
    if ! GIT_TERMINAL_PROMPT=0 timeout 30 git ls-remote https://github.com/rustsec/advisory-db HEAD >/dev/null 2>&1; then
        echo "dependencies.sh: skipped: advisories (https://github.com/rustsec/advisory-db cannot be reached)"
        return
    fi
    for manifest in "${manifests[@]}"; do
        cargo deny --locked --config deny.toml --manifest-path "$manifest" check advisories
    done
}

semver() {
    local release
    if ! release=$(git describe --tags --abbrev=0 --match 'v*' 2>/dev/null); then
        echo "dependencies.sh: skipped: semver (no release to compare with: no tag v*)"
        return
    fi
    have cargo-semver-checks 0.51.0 || return 0
    echo "dependencies.sh: semver: against $release"
    cargo semver-checks --workspace --baseline-rev "$release"
}

for part in "${parts[@]}"; do "$part"; done
