#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Prepares this machine: Debian packages, Rust, compilers, QEMU. `make` and `kadenz setup` call it, in
# a checkout and in an installed wheel.
#
#   setup-machine.sh [--plan] [tests|guests]     default: what measuring needs
#
# --plan prints a line for each thing it would do; no line: nothing is to be done.
. "$(dirname "$0")/lib.sh"

LIST="$ROOT/scripts/debian-packages"
mode=()
[ "$PLAN" = no ] || mode=(--plan)

# step SCRIPT ARGUMENT...
step() {
    "$ROOT/scripts/$1" "${mode[@]}" "${@:2}"
}

[[ "${1:-}" =~ ^(tests|guests)?$ ]] || die "no set-up is called $1" "Name tests or guests"
step setup-debian.sh
step setup-rust.sh
step setup-rust-core.sh
step setup-compilers.sh
case "${1:-}" in
"") step setup-qemu.sh ;;
tests)
    step setup-debian.sh "$LIST-tests.txt"
    step setup-debian.sh "$LIST-guests-x86-64.txt"
    step setup-compilers.sh tests
    step setup-qemu.sh guests
    ;;
guests)
    step setup-debian.sh "$LIST-guests-x86-64.txt"
    step setup-debian.sh "$LIST-guests.txt"
    step setup-compilers.sh guests
    step setup-guest-programs.sh
    step setup-qemu.sh guests
    step guest-kernels.sh
    ;;
esac
