#!/usr/bin/env bash
# prepare.sh FOLDER [PACKAGE...]: Debian 12's arm64 Mesa, unpacked into FOLDER/root; nothing is installed over the machine.
# Packages named besides are fetched into FOLDER and not unpacked.
# prepare.sh FOLDER --set NAME PACKAGE...: packages with all they depend on, unpacked into FOLDER/root over what is there
# already, and what their own installation would do besides; done once for a name.
set -euo pipefail
folder=$1
shift
set=
[ "${1:-}" != --set ] || { set=$2 && shift 2; }
release=bookworm
packages="libegl1 libgles2 libgl1-mesa-dri libegl-mesa0 libgbm1"
headers="libegl-dev libgles-dev libgl-dev"

mkdir -p "$folder"
exec 9>"$folder/lock"
flock 9
done=$folder/done${set:+-$set}
[ -e "$done" ] && exit 0

[ -n "$set" ] || rm -rf "$folder/root" "$folder/status"
rm -rf "$folder/apt"
mkdir -p "$folder/root" "$folder/apt/lists/partial" "$folder/apt/cache/archives/partial" "$folder/apt/etc"
# What is unpacked already is not fetched again.
touch "$folder/status"
# The machine's own mirror, keys and proxies, but an architecture, a release and a state of our own.
own=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE)' 'Created-By: Packages' 2>/dev/null |
    awk -v release="$release" '$2 == release && $1 ~ /debian\/?$/ { print $1; exit }' || true)
mirror=${SKRYMIR_MIRROR:-${own:-http://deb.debian.org/debian}}
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $release main" >"$folder/apt/etc/sources.list"
cat >"$folder/apt/conf" <<END
Dir::State "$folder/apt";
Dir::State::status "$folder/status";
Dir::Cache "$folder/apt/cache";
Dir::Etc::SourceList "$folder/apt/etc/sources.list";
Dir::Etc::SourceParts "-";
APT::Architecture "arm64";
APT::Architectures { "arm64"; };
APT::Install-Recommends "false";
APT::Sandbox::User "";
Acquire::Languages "none";
Acquire::Retries "3";
END
export APT_CONFIG=$folder/apt/conf
archives=$folder/apt/cache/archives

# Fetches packages and what they depend on, and says how far it is.
fetch() {
    local uris total
    uris=$(apt-get install -qq -y --print-uris "$@")
    [ -n "$uris" ] || return 0
    total=$(awk '{ bytes += $3 } END { printf "%d", bytes / 1e6 }' <<<"$uris")
    echo "skrymir: fetching $(wc -l <<<"$uris") of Debian's arm64 packages${set:+ for $set}, $total MB, into $folder" >&2
    apt-get install -qq -y --download-only "$@" >&2 &
    while [ -t 2 ] && kill -0 $! 2>/dev/null; do
        printf '\r%d of %d MB ' $(($(du -sB1000000 "$archives" | cut -f1))) "$total" >&2
        sleep 0.5
    done
    wait $!
    [ ! -t 2 ] || printf '\r\033[K' >&2
}

unpack() {
    local package
    shopt -s nullglob
    for package in "$archives"/*.deb; do
        dpkg-deb -x "$package" "$folder/root"
        { dpkg-deb -f "$package" && echo "Status: install ok installed" && echo; } >>"$folder/status"
    done
    rm -rf "$folder"/root/usr/share/{doc,man,locale}
}

# A program of the packages, as their own installation would run it.
inside() {
    qemu-aarch64-static -L "$folder/root" "$folder/root$1" "${@:2}"
}

# What the packages' installation does besides unpacking, as far as programs need it.
install_steps() {
    local library=/usr/lib/aarch64-linux-gnu share=$folder/root/usr/share
    local loaders=$library/gdk-pixbuf-2.0/gdk-pixbuf-query-loaders cache
    if [ -e "$folder/root$loaders" ]; then
        cache=$folder/root$library/gdk-pixbuf-2.0/2.10.0/loaders.cache
        inside "$loaders" "$folder/root$library"/gdk-pixbuf-2.0/2.10.0/loaders/*.so >"$cache.new"
        mv "$cache.new" "$cache"
    fi
    [ ! -e "$folder/root/usr/bin/update-mime-database" ] || inside /usr/bin/update-mime-database "$share/mime" >/dev/null
    local compile=$library/glib-2.0/glib-compile-schemas
    [ ! -e "$folder/root$compile" ] || inside "$compile" "$share/glib-2.0/schemas" >/dev/null
}

apt-get update -qq >&2
if [ -n "$set" ]; then
    fetch "$@"
    unpack
    install_steps
else
    fetch $packages
    (cd "$archives" && apt-get download -qq $headers >&2)
    [ $# -eq 0 ] || (cd "$folder" && apt-get download -qq "$@" >&2)
    unpack
fi
rm -rf "$folder/apt"
: >"$done"
