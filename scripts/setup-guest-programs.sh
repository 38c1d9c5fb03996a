#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Provides what the programs of fieldbus/ are compiled with for guests of other instruction sets:
# Rust's standard library, and KDL, which Debian has only as a shared library of each architecture.
#
#   <cache>/kdl/<isa>/
#     include/kdl/        the headers
#     liborocos-kdl.a     what kadenz-dynamics needs of it
#     orocos-kdl.pc       for pkg-config
#     origin              Debian's source package and its version, and the compiler
#
# A board names its instruction set in Rust's words: `target` in [tier.guest.program] of board.toml.
# This machine's own needs nothing here.
#
# Usage: setup-guest-programs.sh [--plan]
. "$(dirname "$0")/lib.sh"
# shellcheck disable=SC2034  # read by private-apt.sh
PRIVATE_APT_WHAT="the source of KDL"
PRIVATE_APT="$CACHE/apt-kdl"
. "$(dirname "$0")/private-apt.sh"

SCRIPT="$(readlink -f "$0")"
KDL_VERSION=1.5.1 # like liborocos-kdl-dev of Debian 12 and 13
SOURCES=(frames joint segment chain rigidbodyinertia rotationalinertia articulatedbodyinertia jntarray
    jntspaceinertiamatrix jacobian chaindynparam chainidsolver_recursive_newton_euler)
FLAGS=(-O2 -std=c++17 -fPIC -ffile-prefix-map=.=kdl)

# value NAME FILE: the text of a key of board.toml.
value() {
    sed -n "s/^$1 *= *\"\([^\"]*\)\".*/\1/p" "$2" | head -n 1
}

# Each instruction set with its name in Rust, a line each, without this machine's.
others() {
    local board target isa
    for board in "$ROOT"/boards/*/board.toml; do
        target="$(value target "$board")" isa="$(value arch "$board")"
        [ -z "$target" ] || [ "$isa" = "$(uname -m)" ] || echo "$isa $target"
    done | sort --unique
}

# origin ISA: what the archive is made of.
origin() {
    printf 'KDL %s, compiled by %s\n' "$KDL_VERSION" "$("$1-linux-gnu-g++" --version 2>/dev/null | head -n 1)"
}

has_kdl() {
    local folder="$CACHE/kdl/$1"
    [ -f "$folder/liborocos-kdl.a" ] && [ -f "$folder/orocos-kdl.pc" ] &&
        [ "$(cat "$folder/made-from" 2>/dev/null)" = "$(inputs_hash "$SCRIPT") $(origin "$1")" ]
}

has_rust() {
    [ -d "$(cd "$ROOT/fieldbus" && rustc --print target-libdir --target "$1" 2>/dev/null)" ]
}

provide_rust() {
    if ! command -v rustup >/dev/null; then
        say "this Rust has no library for $1, and there is no rustup: guests of that instruction set" \
            "run the suite only. For programs, install Rust with rustup (https://rustup.rs)"
        return 0
    fi
    say "Rust's library for $1"
    (cd "$ROOT/fieldbus" && rustup --quiet target add "$1") || die \
        "rustup could not add the target $1" "Its message is above; try again later"
}

provide_kdl() {
    local isa="$1" compiler="$1-linux-gnu-g++" new="$CACHE/kdl/$1.new" source="$CACHE/kdl/source" file
    local version
    rm -rf "$new" "$source"
    mkdir -p "$new/include/kdl/utilities" "$source"
    private_apt_update
    version="$(private_apt_source_tarball orocos-kdl "$KDL_VERSION" "$source/orig.tar")" || exit 1
    say "$isa: compiling KDL of Debian's source package orocos-kdl $version"
    tar --extract --file "$source/orig.tar" --directory "$source" --strip-components=1
    cd "$source/orocos_kdl/src"
    cp ./*.hpp ./*.inl "$new/include/kdl/"
    cp utilities/*.h utilities/*.hpp "$new/include/kdl/utilities/"
    cp utilities/utility.cxx utility.cpp
    for file in "${SOURCES[@]}" utility; do
        # shellcheck disable=SC2046  # words
        "$compiler" "${FLAGS[@]}" $(pkg-config --cflags eigen3 | sed 's/-I/-isystem /') -I. -Iutilities \
            -c "$file.cpp" -o "$file.o" 2>"$source/log" || {
            tail -n 20 "$source/log" >&2
            die "KDL does not compile for $isa" "The compiler's output is above"
        }
    done
    "$isa-linux-gnu-ar" rcsD "$new/liborocos-kdl.a" "${SOURCES[@]/%/.o}" utility.o
    cat >"$new/orocos-kdl.pc" <<PC
Name: orocos-kdl
Description: what kadenz-dynamics needs of KDL, for $isa
Version: $KDL_VERSION
Requires: eigen3
Libs: -L\${pcfiledir} -lorocos-kdl
Cflags: -I\${pcfiledir}/include
PC
    printf 'Debian orocos-kdl %s, %s\n' "$version" "$("$compiler" --version | head -n 1)" >"$new/origin"
    printf '%s %s\n' "$(inputs_hash "$SCRIPT")" "$(origin "$isa")" >"$new/made-from"
    cd "$ROOT"
    rm -rf "$CACHE/kdl/$isa" "$source"
    mv "$new" "$CACHE/kdl/$isa"
}

while read -r isa target <&3; do
    if ! has_rust "$target" && { [ "$PLAN" = no ] || command -v rustup >/dev/null; }; then
        planned "add Rust's library for $target with rustup" || provide_rust "$target"
    fi
    if ! has_kdl "$isa"; then
        planned "compile KDL for $isa into $CACHE/kdl, from Debian's source package" && continue
        lock_cache
        has_kdl "$isa" || provide_kdl "$isa"
    fi
done 3< <(others)
