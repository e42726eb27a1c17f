#!/usr/bin/env bash
# prepare.sh FOLDER [PACKAGE...]: Debian 12's arm64 Mesa, unpacked into FOLDER/root; nothing is installed over the machine.
# Packages named besides are fetched into FOLDER and not unpacked.
# prepare.sh FOLDER --set NAME PACKAGE...: packages with all they depend on, unpacked into FOLDER/root over what is there
# already, and what their own installation would do besides; done once for a name.
set -euo pipefail
. "$(dirname "$0")/apt.sh"
folder=$1
shift
set=
[ "${1:-}" != --set ] || { set=$2 && shift 2; }
packages="libegl1 libgles2 libgl1-mesa-dri libegl-mesa0 libgbm1"
headers="libegl-dev libgles-dev libgl-dev"

mkdir -p "$folder"
exec 9>"$folder/lock"
flock 9
done=$folder/done${set:+-$set}
[ -e "$done" ] && exit 0

[ -n "$set" ] || rm -rf "$folder/root" "$folder/status"
mkdir -p "$folder/root"
# What is unpacked already is not fetched again.
rm -rf "$folder/apt"
mkdir -p "$folder/apt"
[ ! -e "$folder/status" ] || cp "$folder/status" "$folder/apt/status"
apt_state "$folder/apt" arm64

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
    # What update-alternatives links.
    local name
    for name in blas lapack; do
        [ ! -e "$folder/root$library/$name/lib$name.so.3" ] || ln -sf "$name/lib$name.so.3" "$folder/root$library/lib$name.so.3"
    done
    local compile=$library/glib-2.0/glib-compile-schemas
    [ ! -e "$folder/root$compile" ] || inside "$compile" "$share/glib-2.0/schemas" >/dev/null
}

if [ -n "$set" ]; then
    apt_fetch "arm64 packages for $set" "$@"
    unpack
    install_steps
else
    apt_fetch "arm64 packages" $packages
    (cd "$archives" && apt-get download -qq $headers >&2)
    [ $# -eq 0 ] || (cd "$folder" && apt-get download -qq "$@" >&2)
    unpack
fi
rm -rf "$folder/apt"
: >"$done"
