#!/usr/bin/env bash
# prepare.sh FOLDER [PACKAGE...]: Debian 12's arm64 Mesa, unpacked into FOLDER/root; nothing is installed over the machine.
# Packages named besides are fetched into FOLDER and not unpacked.
set -euo pipefail
folder=$1
shift
release=bookworm
packages="libegl1 libgles2 libgl1-mesa-dri libegl-mesa0 libgbm1"
headers="libegl-dev libgles-dev libgl-dev"

mkdir -p "$folder"
exec 9>"$folder/lock"
flock 9
[ -e "$folder/done" ] && exit 0
echo "skrymir: fetching Debian's arm64 Mesa into $folder" >&2

rm -rf "$folder/root" "$folder/apt"
mkdir -p "$folder/root" "$folder/apt/lists/partial" "$folder/apt/cache/archives/partial" "$folder/apt/etc"
: >"$folder/apt/status"
# The machine's own mirror, keys and proxies, but an architecture, a release and a state of our own.
own=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE)' 'Created-By: Packages' 2>/dev/null |
    awk -v release="$release" '$2 == release && $1 ~ /debian\/?$/ { print $1; exit }' || true)
mirror=${SKRYMIR_MIRROR:-${own:-http://deb.debian.org/debian}}
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $release main" >"$folder/apt/etc/sources.list"
cat >"$folder/apt/conf" <<END
Dir::State "$folder/apt";
Dir::State::status "$folder/apt/status";
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
apt-get update -qq >&2
apt-get install -qq -y --download-only $packages >&2
(cd "$folder/apt/cache/archives" && apt-get download -qq $headers >&2)
[ $# -eq 0 ] || (cd "$folder" && apt-get download -qq "$@" >&2)
for package in "$folder"/apt/cache/archives/*.deb; do
    dpkg-deb -x "$package" "$folder/root"
done
rm -rf "$folder/apt" "$folder"/root/usr/share/{doc,man,locale}
: >"$folder/done"
