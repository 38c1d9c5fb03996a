#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Provides a rustc with the source of `core`, which kernels in Rust are compiled with: package
# registries carry no `core` compiled for boards, and the build compiles its own.
#
# The rustc in PATH may have it: that of scripts/setup-rust.sh has, and one of rustup after `rustup
# component add rust-src`. Otherwise Debian's is unpacked privately into the cache; nothing is
# installed.
#
# Usage: setup-rust-core.sh [--plan]
. "$(dirname "$0")/lib.sh"
PRIVATE_APT_WHAT="Rust's sources"
PRIVATE_APT="$CACHE/apt-rust"
. "$(dirname "$0")/private-apt.sh"

NEEDED_RUST="$(sed -n 's/^rust-version *= *"\([0-9.]*\)".*/\1/p' "$ROOT/suite/rust/Cargo.toml")"
RUST="$CACHE/rust"

# usable RUSTC: it is new enough and has the source of core.
usable() {
    local version root
    version="$("$1" --version 2>/dev/null | sed -n 's/^rustc \([0-9.]*\).*/\1/p')" || return 1
    root="$("$1" --print sysroot 2>/dev/null)" || return 1
    [ -n "$version" ] && at_least "$version" "$NEEDED_RUST" &&
        [ -f "$root/lib/rustlib/src/rust/library/core/src/lib.rs" ]
}

# As for QEMU (setup-qemu.sh): private libraries first, then the system's.
write_wrapper() {
    cat >"$RUST/new/bin/$1" <<WRAPPER
#!/bin/sh
here="\$(dirname "\$(dirname "\$(readlink -f "\$0")")")"
libs="\$here/root/usr/lib/$multiarch:\$here/root/lib/$multiarch"
export LD_LIBRARY_PATH="\$libs\${LD_LIBRARY_PATH:+:\$LD_LIBRARY_PATH}"
exec "\$here/root/usr/bin/$1" "\$@"
WRAPPER
    chmod +x "$RUST/new/bin/$1"
}

# The compiler, its libraries and LLVM, without the C compiler that Debian's package asks for: the
# set-up has one.
wanted_packages() {
    private_apt apt-get install --simulate --no-install-recommends -o Debug::NoLocking=1 \
        rustc-web rust-web-src rust-web-clippy 2>/dev/null |
        sed -n 's/^Inst \([^ ]*\).*/\1/p' |
        grep -E '^(rustc-web|rust-web-.*|libstd-rust-web-.*|libllvm[0-9]+|libedit2|libz3-4|libxml2|libicu[0-9]+|libbsd0|libmd0|libtinfo6|libffi8)$'
}

unpack() {
    local multiarch deb name
    local -a packages
    multiarch="$(dpkg-architecture -q DEB_HOST_MULTIARCH)"
    say "the rustc in PATH has no source of core: fetching Debian's compiler (150 MB, once)"
    private_apt_update
    mapfile -t packages < <(wanted_packages)
    [ "${#packages[@]}" -gt 3 ] || die "Debian's package lists have no rustc-web with its sources" \
        "Add them to your Rust: rustup component add rust-src"
    rm -rf "$RUST/new"
    mkdir -p "$RUST/new/bin" "$RUST/new/root" "$RUST/new/debs"
    (cd "$RUST/new/debs" && private_apt apt-get download --quiet=2 "${packages[@]}" 2>/dev/null) ||
        die "Debian's mirrors did not give ${packages[*]}" "Try again, or: rustup component add rust-src"
    for deb in "$RUST"/new/debs/*.deb; do
        dpkg --extract "$deb" "$RUST/new/root"
    done
    rm -rf "$RUST/new/debs"
    # Of the compiler's own source only the libraries are compiled.
    find "$RUST"/new/root/usr/src/rustc-*/ -mindepth 1 -maxdepth 1 ! -name library -exec rm -rf {} +
    for name in rustc clippy-driver cargo-clippy; do
        write_wrapper "$name"
    done
    usable "$RUST/new/bin/rustc" || die "Debian's rustc does not run on this system" \
        "Add the sources to your own: rustup component add rust-src"
    rm -rf "$RUST/tools"
    mv "$RUST/new" "$RUST/tools"
}

usable "$(command -v rustc || true)" && exit 0
usable "$RUST/tools/bin/rustc" && exit 0
planned "unpack Debian's Rust compiler with the source of core into $RUST (150 MB)" && exit 0
lock_cache
usable "$RUST/tools/bin/rustc" || unpack # another set-up may have been first
