# Sourced: an apt beside the machine's own, with a release, an architecture, a state and a cache in a folder. Nothing is
# installed.

# apt_state FOLDER ARCHITECTURE [deb | deb-src]: from here on apt-get and apt-cache are about that folder; its packages come
# to FOLDER/cache/archives.
apt_state() {
    local folder=$1 architecture=$2 kind=${3:-deb} release=bookworm own mirror
    mkdir -p "$folder/lists/partial" "$folder/cache/archives/partial" "$folder/etc"
    : >>"$folder/status"
    # The machine's own mirror, keys and proxies.
    own=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE)' 'Created-By: Packages' 2>/dev/null |
        awk -v release="$release" '$2 == release && $1 ~ /debian\/?$/ { print $1; exit }' || true)
    mirror=${SKRYMIR_MIRROR:-${own:-http://deb.debian.org/debian}}
    echo "$kind [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $release main" >"$folder/etc/sources.list"
    cat >"$folder/conf" <<END
Dir::State "$folder";
Dir::State::status "$folder/status";
Dir::Cache "$folder/cache";
Dir::Etc::SourceList "$folder/etc/sources.list";
Dir::Etc::SourceParts "-";
APT::Architecture "$architecture";
APT::Architectures { "$architecture"; };
APT::Install-Recommends "false";
APT::Sandbox::User "";
Acquire::Languages "none";
Acquire::Retries "3";
END
    export APT_CONFIG=$folder/conf
    archives=$folder/cache/archives
    apt-get update -qq >&2
}

# apt_fetch WHAT PACKAGE...: fetches packages and what they depend on into $archives, and says how far it is.
apt_fetch() {
    local what=$1 uris total
    shift
    uris=$(apt-get install -qq -y --print-uris "$@")
    [ -n "$uris" ] || return 0
    total=$(awk '{ bytes += $3 } END { printf "%d", bytes / 1e6 }' <<<"$uris")
    echo "skrymir: fetching $(wc -l <<<"$uris") of Debian's $what, $total MB" >&2
    apt-get install -qq -y --download-only "$@" >&2 &
    while [ -t 2 ] && kill -0 $! 2>/dev/null; do
        printf '\r%d of %d MB ' $(($(du -sB1000000 "$archives" | cut -f1))) "$total" >&2
        sleep 0.5
    done
    wait $!
    [ ! -t 2 ] || printf '\r\033[K' >&2
}
