#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Provides a Rust recent enough for fieldbus/, with rustfmt and clippy. cargo also fetches the
# kernel's source from crates.io, so the demo needs it, too. Uses Rust from PATH if it is recent
# enough, otherwise Debian's packages. Debian 12's own rustc is 1.63, but its security archive has a
# current one for building browsers: rustc-web.
#
# Usage: setup-rust.sh [--plan]
. "$(dirname "$0")/lib.sh"

MANIFEST="$ROOT/fieldbus/Cargo.toml"
NEEDED_RUST="$(sed -n 's/^rust-version *= *"\([0-9.]*\)".*/\1/p' "$MANIFEST")"
[ -n "$NEEDED_RUST" ] || die "fieldbus/Cargo.toml names no rust-version" \
    "Add rust-version to its [workspace.package]"

# Debian's names, newest route first.
ROUTES=(
    "rustc-web cargo-web rustfmt-web rust-web-clippy rust-web-src"
    "rustc cargo rustfmt rust-clippy rust-src"
)

rust_version() {
    (cd "$ROOT/fieldbus" && rustc --version 2>/dev/null) | sed -n 's/^rustc \([0-9.]*\).*/\1/p'
}

usable() {
    local version
    version="$(rust_version || true)"
    [ -n "$version" ] && at_least "$version" "$NEEDED_RUST" &&
        command -v cargo cargo-clippy rustfmt >/dev/null
}

usable && exit 0

command -v apt-get >/dev/null || die \
    "Rust $NEEDED_RUST or newer with rustfmt and clippy is missing" \
    "Install it with rustup: https://rustup.rs"

planned "install Rust $NEEDED_RUST or newer with apt-get, as root: ${ROUTES[0]}; or else ${ROUTES[1]}" && exit 0

say "updating the package lists"
as_root apt-get update -qq
for route in "${ROUTES[@]}"; do
    read -r -a packages <<<"$route"
    candidate="$(apt-cache policy "${packages[0]}" | sed -n 's/^  Candidate: \([0-9.]*\).*/\1/p')"
    if [ -z "$candidate" ] || ! at_least "$candidate" "$NEEDED_RUST"; then
        continue
    fi
    # rustc-web conflicts with an older cargo or rustup that the user installed.
    removed="$(apt-get install --simulate --no-install-recommends "${packages[@]}" |
        sed -n 's/^Remv \([^ ]*\).*/\1/p')"
    [ -z "$removed" ] || die \
        "installing Debian's Rust $candidate would remove ${removed//$'\n'/ }" \
        "Remove it yourself, or bring Rust $NEEDED_RUST or newer into PATH (rustup update)"
    say "installing ${packages[*]} ($candidate)"
    as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get install --yes --quiet=2 --no-install-recommends "${packages[@]}" >/dev/null
    usable || die "Rust $candidate was installed and is still not the one in PATH" \
        "Another rustc comes first in PATH: remove it or update it to $NEEDED_RUST"
    exit 0
done
die "this system has no Rust $NEEDED_RUST or newer in its package sources" \
    "Install it with rustup: https://rustup.rs"
