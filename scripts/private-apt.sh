# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A private apt: separate sources, lists and cache in the cache folder, with the system's keys. It
# downloads and unpacks; it never installs. Sourced after lib.sh.

PRIVATE_APT_WHAT="${PRIVATE_APT_WHAT:-backported tools}" # for messages
PRIVATE_APT="${PRIVATE_APT:-$CACHE/apt}"
# Architectures of the lists: this machine's, or those given ("amd64"; "arm64";).
PRIVATE_APT_ARCHITECTURES="${PRIVATE_APT_ARCHITECTURES:-\"$(dpkg --print-architecture)\";}"

private_apt() {
    local tool="$1"
    shift
    APT_CONFIG="$PRIVATE_APT/apt.conf" "$tool" "$@"
}

# repository LABEL: the URL from which this system's own apt gets the archive of that label.
repository() {
    # shellcheck disable=SC2016  # apt's own names
    apt-get indextargets --format '$(LABEL) $(REPO_URI)' 2>/dev/null |
        awk -v label="$1" '$1 == label { print $2; exit }'
}

# The backport comes from Debian 12 on every system: its programs run wherever the C library is as
# new as Debian 12's. Sources are also those of the system, whose QEMU may be the one in use.
private_apt_sources() {
    local id codename own debian security keyring=/usr/share/keyrings/debian-archive-keyring.gpg
    # shellcheck source=/dev/null
    id="$(. /etc/os-release && echo "$ID")"
    # shellcheck source=/dev/null
    codename="$(. /etc/os-release && echo "${VERSION_CODENAME:-}")"
    # Labels are in the lists, and an image may lack lists.
    [ -n "$(repository Debian)$(repository Ubuntu)" ] || as_root apt-get update -qq
    debian="${KADENZ_DEBIAN_MIRROR:-$(repository Debian)}"
    [ -n "$debian" ] || die \
        "this system's package sources name no Debian mirror, and $PRIVATE_APT_WHAT come from Debian" \
        "Name one: export KADENZ_DEBIAN_MIRROR=URL${NEEDED_QEMU:+; or install QEMU $NEEDED_QEMU or newer into PATH}"
    echo "deb [signed-by=$keyring] $debian bookworm main"
    echo "deb [signed-by=$keyring] $debian bookworm-backports main"
    echo "deb-src [signed-by=$keyring] $debian bookworm main"
    echo "deb-src [signed-by=$keyring] $debian bookworm-backports main"
    # Current compilers for browsers are in the security archive.
    security="$(repository Debian-Security)"
    echo "deb [signed-by=$keyring] ${security:-${debian%/}-security} bookworm-security main"
    if [ "$id" = debian ] && [ "$codename" != bookworm ] && [ -n "$codename" ]; then
        echo "deb-src [signed-by=$keyring] $debian $codename main"
        own="$(repository Debian-Security)"
        [ -z "$own" ] || echo "deb-src [signed-by=$keyring] $own $codename-security main"
    elif [ "$id" = ubuntu ]; then
        own="$(repository Ubuntu)"
        [ -z "$own" ] || printf 'deb-src %s %s main universe\n' \
            "$own" "$codename" "$own" "$codename-updates"
    fi
}

private_apt_update() {
    local stamp="$PRIVATE_APT/updated"
    # Lists of the last hour are recent enough: one set-up updates them twice.
    if [ -n "$(find "$stamp" -mmin -60 2>/dev/null)" ]; then
        return 0
    fi
    mkdir -p "$PRIVATE_APT"/{state/lists/partial,cache/archives/partial,conf.d}
    private_apt_sources >"$PRIVATE_APT/sources.list"
    # Nothing counts as installed, so that downloads do not depend on this system's packages.
    : >"$PRIVATE_APT/status"
    cat >"$PRIVATE_APT/apt.conf" <<CONF
Dir::Etc::sourcelist "$PRIVATE_APT/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::Etc::parts "$PRIVATE_APT/conf.d";
Dir::Etc::preferencesparts "/dev/null";
Dir::State "$PRIVATE_APT/state";
Dir::State::status "$PRIVATE_APT/status";
Dir::Cache "$PRIVATE_APT/cache";
Dir::Cache::pkgcache "";
Dir::Cache::srcpkgcache "";
Acquire::Languages "none";
APT::Architectures { $PRIVATE_APT_ARCHITECTURES };
APT::Sandbox::User "$(id -un)";
CONF
    private_apt apt-get update -qq || die \
        "the package lists of Debian could not be read" \
        "Its message is above; without a network to a Debian mirror nothing can be fetched"
    touch "$stamp"
}

# private_apt_download NAME...: the packages and their dependencies, as .deb files in the cache.
private_apt_download() {
    private_apt_clean_archives
    private_apt apt-get install --download-only --yes --quiet=2 --no-install-recommends \
        -o Debug::NoLocking=1 --target-release bookworm-backports "$@" >/dev/null || die \
        "Debian's backports did not give $*" \
        "Its message is above"
}

private_apt_clean_archives() {
    rm -f "$PRIVATE_APT"/cache/archives/*.deb
}

# private_apt_source_file PACKAGE UPSTREAM-VERSION FILE TO: one file of a source package's upstream
# tarball.
private_apt_source_file() {
    local package="$1" upstream="$2" file="$3" to="$4" tarball="$PRIVATE_APT/source/orig.tar"
    mkdir -p "$PRIVATE_APT/source" "$(dirname "$to")"
    private_apt_source_tarball "$package" "$upstream" "$tarball" >/dev/null
    # --occurrence stops reading at the file: QEMU's tarball is 40 MB compressed.
    tar --extract --file "$tarball" --to-stdout --occurrence=1 --wildcards "*/$file" >"$to.part" ||
        die "the source of $package $upstream holds no $file" \
            "The source package changed its layout: report this"
    mv "$to.part" "$to"
    rm -rf "$PRIVATE_APT/source"
}

# private_apt_source_tarball PACKAGE UPSTREAM-VERSION TO: the upstream tarball of a source package,
# checked against the hash of the signed lists; prints Debian's version. Several Debian versions share
# an upstream one, and mirrors drop old tarballs: each is tried, newest first.
private_apt_source_tarball() {
    local package="$1" upstream="$2" tarball="$3" version
    local -a versions
    mapfile -t versions < <(private_apt apt-cache showsrc "$package" |
        sed -n 's/^Version: //p' | grep -E "^([0-9]+:)?${upstream//./\\.}[^0-9.]" |
        sort --version-sort --reverse --unique)
    [ "${#versions[@]}" -gt 0 ] || die \
        "no package source holds $package $upstream, the version this system needs" \
        "Add Debian 12, its backports, or Debian 13 to the sources; of QEMU, install theirs"
    for version in "${versions[@]}"; do
        if private_apt_tarball "$package=$version" "$tarball" && [ -f "$tarball" ]; then
            printf '%s\n' "$version"
            return 0
        fi
    done
    die "no mirror has the source of $package $upstream any more" \
        "The messages are above; try again later, or with a newer version"
}

# private_apt_tarball PACKAGE=VERSION TO: the upstream tarball of a source package; fails quietly.
private_apt_tarball() {
    local uri hash
    read -r uri _ _ hash < <(private_apt apt-get source --print-uris --quiet=2 "$1" |
        tr -d "'" | grep -E '\.orig\.tar\.(xz|gz) ') || return 1
    private_apt /usr/lib/apt/apt-helper download-file "$uri" "$2" "$hash" >/dev/null
}
