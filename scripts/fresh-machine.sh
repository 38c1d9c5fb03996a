#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Verifies that the README's commands work on a machine without any packages: bootstraps a minimal
# Debian in a scratch folder, clones this checkout's last commit and runs one make target there. Run
# manually, as root; needs debootstrap.
#
#   scripts/fresh-machine.sh [TARGET] [SUITE] [FOLDER]     demo, bookworm, /var/tmp/kadenz-fresh
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/private-apt.sh"

TARGET="${1:-demo}"
SUITE="${2:-bookworm}"
FOLDER="${3:-/var/tmp/kadenz-fresh}"
# This system's own mirrors, from its package sources.
MIRROR="${KADENZ_DEBIAN_MIRROR:-$(repository Debian)}"
SECURITY="$(repository Debian-Security)"
# The set-up itself only needs a shell, git, make and the right to install packages.
BEFORE=git,make,sudo,ca-certificates

[ "$(id -u)" -eq 0 ] || die "a new system can only be set up by root" "Run: sudo $0 $*"
command -v debootstrap >/dev/null || die "debootstrap is missing" "apt-get install debootstrap"

new="$FOLDER/$SUITE"
unmount() {
    local point
    for point in proc sys dev/shm dev/pts dev; do
        if mountpoint --quiet "$new/$point"; then
            umount --lazy "$new/$point"
        fi
    done
}
trap unmount EXIT

if [ -d "$new" ]; then
    unmount
    rm -rf "$new"
fi
mkdir -p "$FOLDER"
say "a new $SUITE in $new"
debootstrap --variant=minbase --include="$BEFORE" "$SUITE" "$new" "$MIRROR" >"$FOLDER/bootstrap.log" ||
    die "debootstrap failed" "See $FOLDER/bootstrap.log"
# Debian 12's current Rust compilers are in its security archive, which every installation has.
echo "deb $SECURITY $SUITE-security main" \
    >"$new/etc/apt/sources.list.d/security.list"
cp /etc/resolv.conf "$new/etc/resolv.conf"
# A machine behind a proxy that inspects TLS has its own certificates.
cp --dereference /etc/ssl/certs/ca-certificates.crt "$new/etc/ssl/certs/ca-certificates.crt"
mount -t proc proc "$new/proc"
mount -t sysfs sys "$new/sys"
mount --bind /dev "$new/dev"
mount --bind /dev/pts "$new/dev/pts"
mount -t tmpfs tmpfs "$new/dev/shm"

git clone --quiet --no-hardlinks "$ROOT" "$new/root/kadenz"
inside() {
    chroot "$new" /usr/bin/env -i HOME=/root TERM=dumb LANG=C.UTF-8 \
        PATH=/usr/sbin:/usr/bin:/sbin:/bin /bin/bash -c "cd /root/kadenz && $1"
}
for turn in "from nothing" "once set up"; do
    started="$(date +%s)"
    inside "make $TARGET" 2>&1 | tee "$FOLDER/$TARGET-$SUITE.log" ||
        die "make $TARGET failed on a new $SUITE" "Its messages are above and in $FOLDER"
    printf 'fresh machine: %s: make %s %s took %d s\n' "$SUITE" "$TARGET" "$turn" \
        "$(($(date +%s) - started))"
done
