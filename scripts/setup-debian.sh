#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Installs the missing packages of scripts/debian-packages.txt. Queries dpkg instead of a stamp,
# because a package may have been removed since.
#
# Usage: setup-debian.sh [--plan] [LIST]
. "$(dirname "$0")/lib.sh"

LIST="${1:-$ROOT/scripts/debian-packages.txt}"

command -v apt-get >/dev/null || die \
    "this system has no apt-get: the set-up knows Debian and its relatives" \
    "Install what scripts/debian-packages.txt names by hand, then see \`kadenz doctor\`"

HOST_ARCH="$(dpkg --print-architecture)"

is_installed() {
    [ "$(dpkg-query --show --showformat='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# alternatives LINE: the names of a line for this architecture, one per line. `[arm64]` after a name
# restricts it to arm64, `[!arm64]` to all others, as in Debian's control files.
alternatives() {
    tr '|' '\n' <<<"${1%%#*}" | tr -d '[:blank:]' | sed '/^$/d' |
        while IFS='[' read -r name on; do
            case "${on%]}" in
            "" | "$HOST_ARCH") echo "$name" ;;
            "!$HOST_ARCH") ;;
            "!"*) echo "$name" ;;
            esac
        done
}

missing=()
while IFS= read -r line; do
    names="$(alternatives "$line")"
    [ -n "$names" ] || continue
    found=no
    for name in $names; do
        if is_installed "$name"; then
            found=yes
            break
        fi
    done
    [ "$found" = yes ] || missing+=("$(tr '\n' '|' <<<"$names")")
done <"$LIST"

[ "${#missing[@]}" -gt 0 ] || exit 0

planned "install with apt-get, as root: $(sed 's/| /, /g; s/|$//; s/|/ or /g' <<<"${missing[*]}")" && exit 0

say "updating the package lists"
as_root apt-get update -qq

install=()
for names in "${missing[@]}"; do
    chosen=
    for name in ${names//|/ }; do
        # A name that only exists as another package's dependency has no candidate.
        candidate="$(apt-cache policy "$name" | sed -n 's/^  Candidate: //p')"
        if [ -n "$candidate" ] && [ "$candidate" != "(none)" ]; then
            chosen="$name"
            break
        fi
    done
    [ -n "$chosen" ] || die "no package of this system is called ${names%|}" \
        "Add the system's name for it to scripts/debian-packages.txt, after a '|'"
    install+=("$chosen")
done

say "installing ${install[*]}"
as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get install --yes --quiet=2 --no-install-recommends "${install[@]}" >/dev/null || die \
    "apt-get could not install: ${install[*]}" \
    "Run it by hand to see why: apt-get install ${install[*]}"
