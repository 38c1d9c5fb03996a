# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Shared by the set-up scripts: messages, root, the cache, stamps. Sourced, never run.
set -euo pipefail

ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
export ROOT

# Downloads and private tools are outside the checkout, so that clones share them and `make clean`
# causes no download. kadenz/user_cache.py uses the same folder.
CACHE="${XDG_CACHE_HOME:-$HOME/.cache}/kadenz"
export CACHE
# kadenz starts what is there, and believes nothing that everybody may change.
umask o-w

# `--plan` as the first argument of a script: it prints what it would do, a line each, and does nothing.
PLAN=no
if [ "${1:-}" = --plan ]; then
    PLAN=yes
    shift
fi

# planned WHAT: with --plan, prints it and is true.
planned() {
    [ "$PLAN" = yes ] && printf '%s\n' "$1"
}

say() {
    printf 'set-up: %s\n' "$*" >&2
}

# die WHAT-HAPPENED WHAT-TO-DO
die() {
    printf 'set-up: %s\n        %s\n' "$1" "$2" >&2
    exit 1
}

# Runs a command as root: directly, or through sudo.
as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        die "installing packages needs root, and there is no sudo" \
            "Run this as root: $*"
    fi
}

# at_least HAVE NEED: true when version HAVE is NEED or newer.
at_least() {
    [ "$(printf '%s\n%s\n' "$2" "$1" | sort --version-sort | head -n 1)" = "$2" ]
}

# One hash over the contents of files: the inputs of a stamp.
inputs_hash() {
    cat "$@" | sha256sum | cut -c 1-16
}

# Only one set-up at a time uses the cache: a second one waits for the first.
lock_cache() {
    mkdir -p "$CACHE"
    exec 9>"$CACHE/lock"
    flock 9
}
