#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Verifies that the README's commands work on a machine without any packages: bootstraps a minimal
# Debian in a scratch folder, clones this checkout's last commit and runs one make target there. Run
# manually, as root; needs debootstrap.
#
#   scripts/fresh-machine.sh [TARGET] [SUITE] [FOLDER]     demo, bookworm, /var/tmp/kadenz-fresh
#
# TARGET `wheel`: the machine gets no checkout. The wheel is built here and installed there, and its
# own commands set the machine up, measure and report.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/private-apt.sh"

TARGET="${1:-demo}"
SUITE="${2:-bookworm}"
FOLDER="${3:-/var/tmp/kadenz-fresh}"
# This system's own mirrors, from its package sources.
MIRROR="${KADENZ_DEBIAN_MIRROR:-$(repository Debian)}"
SECURITY="$(repository Debian-Security)"
# The set-up itself only needs a shell, git, make and the right to install packages; the wheel's needs
# Python.
BEFORE=git,make,sudo,ca-certificates
[ "$TARGET" != wheel ] || BEFORE=python3-venv,ca-certificates

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

LOG="$FOLDER/$TARGET-$SUITE.log"
: >"$LOG"
inside() {
    chroot "$new" /usr/bin/env -i HOME=/root TERM=dumb LANG=C.UTF-8 \
        PATH=/root/venv/bin:/usr/sbin:/usr/bin:/sbin:/bin /bin/bash -c "cd /root/kadenz && $1"
}

# timed WHAT COMMAND: runs it inside, and prints how long it took.
timed() {
    local started
    started="$(date +%s)"
    inside "$2" 2>&1 | tee --append "$LOG" ||
        die "$1 failed on a new $SUITE" "Its messages are above and in $LOG"
    printf 'fresh machine: %s: %s took %d s\n' "$SUITE" "$1" "$(($(date +%s) - started))" |
        tee --append "$LOG"
}

if [ "$TARGET" != wheel ]; then
    git clone --quiet --no-hardlinks "$ROOT" "$new/root/kadenz"
    timed "make $TARGET from nothing" "make $TARGET"
    timed "make $TARGET once set up" "make $TARGET"
    exit 0
fi
"$ROOT/scripts/wheel.sh" "$new/root/kadenz"
timed "pip install" "python3 -m venv ../venv && pip install --quiet --disable-pip-version-check *.whl && touch ../installed && pip list"
timed "doctor before the set-up" "! kadenz doctor"
timed "setup --dry-run" "kadenz setup --dry-run"
timed "setup" "kadenz setup --yes"
timed "setup once set up" "kadenz setup --yes"
timed "doctor" "kadenz doctor | tee doctor.txt && grep '✓ *uPlot' doctor.txt"
timed "list" "kadenz list"
timed "init" "kadenz init /root/lab"
timed "run on FreeRTOS and STM32F4, emulated" "cd ../lab && kadenz run first"
timed "run under the scope, on RISC-V" "cd ../lab && kadenz run micro/task-switch --quick \
    --instrument scope --target freertos/hifive1-revb@emulated"
timed "report" "cd ../lab && kadenz report runs && grep -c micro/task-switch report.html"
# pip's own compiled files are older than the mark.
inside "test -z \"\$(find ../venv -newer ../installed -type f)\"" ||
    die "kadenz wrote into its own installation" "find $new/root/venv -newer $new/root/installed"
say "nothing was written into the installation"
