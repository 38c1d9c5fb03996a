#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Provides QEMU 10 or newer, and the plugin header of the same version.
#
# If the system's QEMU is older (Debian 12: 7.2), Debian's backport is unpacked privately into the
# cache. apt uses its own lists and cache; nothing is installed or upgraded. Installing the backport
# would upgrade shared packages.
#
# Usage: setup-qemu.sh [--plan] [guests]     guests: also the three emulators that Linux guests run in.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/private-apt.sh"

NEEDED_QEMU=10 # plugin API v4 (read registers, memory values) and the machine olimex-stm32-h405
EMULATORS=(qemu-system-arm qemu-system-riscv32)
PACKAGES=(qemu-system-arm qemu-system-riscv)
if [ "${1:-}" = guests ] || [ -x "$CACHE/qemu/tools/bin/qemu-system-x86_64" ]; then
    EMULATORS+=(qemu-system-x86_64 qemu-system-aarch64 qemu-system-riscv64)
    PACKAGES+=(qemu-system-x86)
fi
QEMU="$CACHE/qemu"

version_of() {
    "$1" --version 2>/dev/null | sed -n '1s/^QEMU emulator version \([0-9.]*\).*/\1/p'
}

# usable DIR: all emulators are in DIR ("" searches PATH) and new enough.
usable() {
    local name version
    for name in "${EMULATORS[@]}"; do
        version="$(version_of "${1:+$1/}$name" || true)"
        [ -n "$version" ] && at_least "$version" "$NEEDED_QEMU" || return 1
    done
}

# One wrapper per program: private libraries first, then the system's; private firmware. `exec`
# keeps the process id, so that a signal reaches QEMU itself.
write_wrapper() {
    cat >"$QEMU/new/bin/$1" <<WRAPPER
#!/bin/sh
here="\$(dirname "\$(dirname "\$(readlink -f "\$0")")")"
libs="\$here/root/usr/lib/$multiarch:\$here/root/lib/$multiarch"
export LD_LIBRARY_PATH="\$libs\${LD_LIBRARY_PATH:+:\$LD_LIBRARY_PATH}"
export QEMU_MODULE_DIR="\$here/root/usr/lib/$multiarch/qemu"
share="\$here/root/usr/share"
exec "\$here/root/usr/bin/$1" -L "\$share/qemu" -L "\$share/seabios" "\$@"
WRAPPER
    chmod +x "$QEMU/new/bin/$1"
}

# The program also searches the module folder of the system's QEMU, and aborts on modules of another
# version. Replace the path in the binary by a nonexistent one of the same length.
forget_system_modules() {
    LC_ALL=C sed -i "s|/usr/lib/$multiarch/qemu\x00|/usr/lib/$multiarch/none\x00|g" \
        "$(readlink -f "$1")"
}

unpack_backport() {
    local multiarch deb name
    multiarch="$(dpkg-architecture -q DEB_HOST_MULTIARCH)"
    say "this system's QEMU is older than $NEEDED_QEMU: fetching Debian's backport"
    private_apt_update
    rm -rf "$QEMU/new"
    mkdir -p "$QEMU/new/bin" "$QEMU/new/root"
    private_apt_download "${PACKAGES[@]}"
    for deb in "$PRIVATE_APT"/cache/archives/*.deb; do
        case "$(basename "$deb")" in
        # Use the system's C library: it must match the loader that starts the program.
        libc6_* | libgcc-s1_* | libstdc++6_*) ;;
        *) dpkg --extract "$deb" "$QEMU/new/root" ;;
        esac
    done
    for name in "${EMULATORS[@]}"; do
        forget_system_modules "$QEMU/new/root/usr/bin/$name"
        write_wrapper "$name"
    done
    if ! usable "$QEMU/new/bin"; then
        "$QEMU/new/bin/${EMULATORS[0]}" --version >&2 || true
        die "the backported QEMU does not start on this system" \
            "Its message is above. Install QEMU $NEEDED_QEMU or newer from elsewhere into PATH"
    fi
    rm -rf "$QEMU/tools"
    mv "$QEMU/new" "$QEMU/tools"
    private_apt_clean_archives
}

# The header is only in Debian's source package, and must match the emulator's plugin API.
fetch_header() {
    local version="$1"
    [ -f "$QEMU/include/$version/qemu-plugin.h" ] && return 0
    say "fetching qemu-plugin.h of QEMU $version from Debian's source package (40 MB, once)"
    private_apt_update
    private_apt_source_file qemu "$version" include/qemu/qemu-plugin.h \
        "$QEMU/include/$version/qemu-plugin.h"
}

if [ "$PLAN" = yes ]; then
    if usable ""; then
        bin=""
    elif usable "$QEMU/tools/bin"; then
        bin="$QEMU/tools/bin/"
    else
        planned "unpack Debian's backport of QEMU into $QEMU (250 MB), with qemu-plugin.h of its source package"
        exit 0
    fi
    [ -f "$QEMU/include/$(version_of "$bin${EMULATORS[0]}")/qemu-plugin.h" ] ||
        planned "fetch qemu-plugin.h from Debian's source package of QEMU into $QEMU"
    exit 0
fi
lock_cache
if usable ""; then
    bin=""
elif usable "$QEMU/tools/bin"; then
    bin="$QEMU/tools/bin"
else
    unpack_backport
    bin="$QEMU/tools/bin"
fi
fetch_header "$(version_of "${bin:+$bin/}${EMULATORS[0]}")"
