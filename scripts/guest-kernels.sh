#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Fetches or builds Linux kernels for guests into the cache. Installs nothing on this machine.
#
#   <cache>/guests/<isa>/<version>-<rt|plain>/
#     kernel           for QEMU's -kernel
#     release          output of `uname -r` in the guest
#     origin           the Debian package and its version
#     config           the kernel's configuration
#     disturbance.ko   kernels/linux/disturbance built for this kernel
#     modules/         those of kernels/linux/guest/modules, from the same package or build
#
# x86_64 and aarch64: Debian's own kernels, 6.1 of Debian 12 and 6.12 of its backports, PREEMPT_RT
# and plain. riscv64: Debian has no PREEMPT_RT kernel, so 6.12 is built from Debian's linux-source,
# twice, with boards/riscv64/linux.config (Linux 6.12 lets riscv64 select it: arch/riscv/Kconfig).
#
# Usage: guest-kernels.sh [--plan] [ISA|ISA/VERSION-rt|ISA/VERSION-plain ...]
#   Default: all three ISAs. An existing kernel is left unchanged unless a file of it is missing;
#   remove <cache>/guests to get newer ones. `make setup` fetches x86_64/6.12-rt and
#   x86_64/6.12-plain, which are downloads.
. "$(dirname "$0")/lib.sh"
PRIVATE_APT="$CACHE/apt-guests"
# shellcheck disable=SC2034  # read by private-apt.sh
PRIVATE_APT_WHAT="kernels of guests"
# shellcheck disable=SC2034  # read by private-apt.sh
PRIVATE_APT_ARCHITECTURES='"amd64"; "arm64";'
. "$(dirname "$0")/private-apt.sh"

# apt reads its lists once into its own cache, so that a query takes less than a second. (The lists
# are only updated together with it.)
private_apt() {
    local tool="$1"
    shift
    APT_CONFIG="$PRIVATE_APT/apt.conf" "$tool" -o Dir::Cache::pkgcache=pkgcache.bin "$@"
}

GUESTS="$CACHE/guests"
WORK="$GUESTS/work"
SOURCE="$ROOT/kernels/linux/disturbance"
JOBS="${JOBS:-$(nproc)}"
mapfile -t MODULES < <(grep -v '^#' "$ROOT/kernels/linux/guest/modules" | cut -d ' ' -f 1)
HOST_ARCH="$(dpkg --print-architecture)"
[ "$#" -gt 0 ] || set -- x86_64 aarch64 riscv64

MODULE_HASH="$(inputs_hash "$SOURCE/disturbance.c" "$SOURCE/Kbuild")"

# complete ISA VERSION FLAVOUR: true if all files exist, with a module of the current source.
complete() {
    local folder="$GUESTS/$1/$2-$3" wanted="$MODULE_HASH" module
    [ "$1" != riscv64 ] || wanted="$wanted $(inputs_hash "$ROOT/boards/riscv64/linux.config")"
    for module in "${MODULES[@]}"; do [ -f "$folder/modules/$module.ko" ] || return 1; done
    [ -f "$folder/kernel" ] && [ "$(cat "$folder/made-from" 2>/dev/null)" = "$wanted" ]
}

# finish FOLDER ISA: makes a complete folder visible.
finish() {
    local to made="$MODULE_HASH"
    to="$GUESTS/$2/$(basename "$1")"
    [ "$2" != riscv64 ] || made="$made $(inputs_hash "$ROOT/boards/riscv64/linux.config")"
    printf '%s\n' "$made" >"$1/made-from"
    mkdir -p "$GUESTS/$2"
    rm -rf "$to"
    mv "$1" "$to"
    say "$2: Linux $(cat "$to/release") is ready"
}

# field PACKAGE NAME: a field of a package, given as name:architecture=version.
field() {
    private_apt apt-cache show "$1" | sed -n "s/^$2: //p" | head -n 1
}

# candidate PACKAGE:ARCH SUITE: the newest version of a package in a suite.
candidate() {
    private_apt apt-cache madison "$1" |
        awk -F' *[|] *' -v suite=" $2/" '(" " $3) ~ suite { print $2; exit }' | tr -d ' '
}

# dependency PACKAGE PATTERN: the first name among its dependencies that matches.
dependency() {
    field "$1" Depends | tr ',|' '\n' | sed 's/^ *//; s/ .*//' | grep -E -m 1 "$2"
}

# fetch FOLDER PACKAGE...: .deb files into a folder, checked against the signed lists.
fetch() {
    local folder="$1"
    shift
    mkdir -p "$folder"
    (cd "$folder" && private_apt apt-get download --quiet=2 "$@" >&2) || die \
        "apt could not download $*" "Its message is above; try again later"
}

# build_module TREE ISA FOLDER VARIABLE=VALUE...: builds the planted disturbance against a kernel's
# headers. BTF type information would need another tool and is not used.
build_module() {
    local tree="$1" isa="$2" folder="$3" log="$3/module.log" build="$WORK/disturbance"
    shift 3
    rm -rf "$build"
    cp -r "$SOURCE" "$build"
    make -s -C "$tree" M="$build" CONFIG_DEBUG_INFO_BTF_MODULES= "$@" modules >"$log" 2>&1 || {
        tail -n 20 "$log" >&2
        die "the disturbance does not compile for $isa" "The compiler's output is above"
    }
    cp "$build/disturbance.ko" "$folder/disturbance.ko"
    "$isa-linux-gnu-strip" --strip-debug "$folder/disturbance.ko"
    rm -rf "$log" "$build"
}

# take_modules ROOT FOLDER ISA: the modules of an unpacked package or of a build, uncompressed.
take_modules() {
    local root="$1" folder="$2" isa="$3" module file
    mkdir "$folder/modules"
    for module in "${MODULES[@]}"; do
        file="$(find "$root" -name "$module.ko" -o -name "$module.ko.xz")"
        [ -n "$file" ] || die "the kernel of $isa has no module $module" \
            "Its configuration changed, of Debian or in boards/: report this"
        [ "${file%.xz}" = "$file" ] || xz -d "$file"
        cp "${file%.xz}" "$folder/modules/$module.ko"
    done
}

# debian_kernel ISA DEBIAN-ARCH VERSION FLAVOUR SUITE
debian_kernel() {
    local isa="$1" arch="$2" version="$3" flavour="$4" suite="$5"
    local rt="" meta image headers common kbuild package new debs root
    [ "$flavour" = plain ] || rt=rt-
    package="linux-image-$rt$arch:$arch"
    meta="$(candidate "$package" "$suite")"
    [ -n "$meta" ] || die "$suite has no package $package" \
        "Debian changed its names: report this, with \`cat /etc/debian_version\`"
    image="$(dependency "$package=$meta" '^linux-image-')"
    headers="${image/linux-image-/linux-headers-}"
    meta="$(candidate "$image:$arch" "$suite")"
    say "$isa: fetching $image ($meta)"
    new="$WORK/$version-$flavour" debs="$WORK/debs" root="$WORK/root"
    rm -rf "$new" "$debs" "$root"
    mkdir -p "$new" "$root"
    common="$(dependency "$headers:$arch=$meta" '^linux-headers-.*-common')"
    kbuild="$(dependency "$headers:$arch=$meta" '^linux-kbuild-')"
    fetch "$debs" "$image:$arch=$meta" "$headers:$arch=$meta" "$common=$meta" \
        "$kbuild:$HOST_ARCH=$meta"
    dpkg-deb --fsys-tarfile "$debs/$image"_*.deb |
        tar -C "$root" -x --wildcards --no-anchored ./boot "${MODULES[@]/%/.ko*}"
    rm "$debs/$image"_*.deb
    for package in "$debs"/*.deb; do dpkg-deb --extract "$package" "$root"; done
    cp "$root"/boot/vmlinuz-* "$new/kernel"
    cp "$root"/boot/config-* "$new/config"
    take_modules "$root/lib/modules" "$new" "$isa"
    printf '%s\n' "${image#linux-image-}" >"$new/release"
    printf 'Debian %s %s\n' "$image" "$meta" >"$new/origin"
    sed -i "s|/usr/src|$root/usr/src|" "$root"/usr/src/linux-headers-*/Makefile
    build_module "$root/usr/src/$headers" "$isa" "$new" CROSS_COMPILE="$isa-linux-gnu-"
    rm -rf "$debs" "$root"
    finish "$new" "$isa"
}

# make_riscv64 OUT TARGET...: runs make quietly in the source tree; on failure shows the last
# output.
make_riscv64() {
    local out="$1"
    shift
    nice -n 10 make -s -j"$JOBS" -C "$SRC" O="$out" ARCH=riscv \
        CROSS_COMPILE=riscv64-linux-gnu- KBUILD_BUILD_USER=kadenz KBUILD_BUILD_HOST=kadenz \
        KBUILD_BUILD_TIMESTAMP=2026-01-01 KCONFIG_ALLCONFIG="$out/wanted" "$@" \
        >"$out/log" 2>&1 || {
        tail -n 20 "$out/log" >&2
        die "Linux for riscv64 does not build" "The compiler's output is above"
    }
}

# configure OUT FLAVOUR: fails unless every line of the requested configuration is in effect.
configure() {
    local line
    mkdir -p "$1"
    cp "$ROOT/boards/riscv64/linux.config" "$1/wanted"
    case "$2" in
    rt) echo CONFIG_PREEMPT_RT=y >>"$1/wanted" ;;
    plain) echo CONFIG_PREEMPT_VOLUNTARY=y >>"$1/wanted" ;; # like Debian's plain kernels at boot
    esac
    make_riscv64 "$1" allnoconfig
    while read -r line; do
        grep -qxF "$line" "$1/.config" || die "this source does not accept $line for riscv64" \
            "See arch/riscv/Kconfig in $SRC; PREEMPT_RT needs Linux 6.12 or newer"
    done < <(grep '^CONFIG_' "$1/wanted")
}

riscv64_source() {
    local package=linux-source-6.12 meta
    meta="$(candidate "$package:$HOST_ARCH" bookworm-backports)"
    [ -n "$meta" ] || die "bookworm-backports has no $package" "Report this"
    say "riscv64: fetching $package ($meta), 150 MB"
    rm -rf "$WORK"
    fetch "$WORK/debs" "$package=$meta"
    dpkg-deb --fsys-tarfile "$WORK"/debs/*.deb | tar -C "$WORK" -x --strip-components=3 \
        "./usr/src/$package.tar.xz"
    # Skip the documentation and the largest driver, except for the driver's Kconfig.
    tar -C "$WORK" -x --xz -f "$WORK/$package.tar.xz" --exclude='*/drivers/gpu/drm/amd/include' \
        --exclude='*/Documentation/*/*' --exclude='*/tools/testing'
    rm -rf "$WORK/debs" "$WORK/$package.tar.xz"
    SRC="$WORK/$package"
    ORIGIN="Debian $package $meta, boards/riscv64/linux.config"
}

# watch_build OUT: reports the progress of a build, which takes half an hour or more.
watch_build() {
    local out="$1" begun="$SECONDS"
    while sleep 30; do
        say "riscv64: $(find "$out" -name '*.o' 2>/dev/null | wc -l) objects of about 900" \
            "after $((SECONDS - begun)) s"
    done
}

riscv64_kernel() {
    local flavour="$1" out="$WORK/out-$1" new="$WORK/6.12-$1" begun="$SECONDS" watcher
    [ -n "${SRC:-}" ] || riscv64_source
    configure "$out" "$flavour"
    say "riscv64: building Linux 6.12 $flavour: half an hour or more on two processors"
    watch_build "$out" &
    watcher=$!
    # shellcheck disable=SC2064  # this process
    trap "kill $watcher 2>/dev/null || true" EXIT
    make_riscv64 "$out" Image modules
    kill "$watcher" 2>/dev/null || true
    wait "$watcher" 2>/dev/null || true
    trap - EXIT
    say "riscv64: built in $((SECONDS - begun)) s"
    mkdir -p "$new"
    cp "$out/arch/riscv/boot/Image" "$new/kernel"
    cp "$out/.config" "$new/config"
    cp "$out/include/config/kernel.release" "$new/release"
    printf '%s\n' "$ORIGIN" >"$new/origin"
    take_modules "$out" "$new" riscv64
    build_module "$SRC" riscv64 "$new" O="$out" ARCH=riscv CROSS_COMPILE=riscv64-linux-gnu-
    rm -rf "$out"
    finish "$new" riscv64
}

# want ISA VERSION FLAVOUR: adds a kernel to the missing ones, unless it is complete.
want() {
    complete "$1" "$2" "$3" || missing+=("$1 $2 $3")
}

declare -A debian_arch=([x86_64]=amd64 [aarch64]=arm64 [riscv64]=riscv64)
missing=()
for wanted; do
    isa="${wanted%%/*}"
    [ -n "${debian_arch[$isa]:-}" ] ||
        die "no guest is called $isa" "Name x86_64, aarch64 or riscv64"
    for version in 6.12 6.1; do
        if [ "$isa" = riscv64 ] && [ "$version" != 6.12 ]; then continue; fi
        for flavour in rt plain; do
            case "$wanted" in
            "$isa" | "$isa/$version-$flavour")
                known=yes
                want "$isa" "$version" "$flavour"
                ;;
            esac
        done
    done
    [ "${known:-}" = yes ] || die "no kernel is called $wanted" \
        "Name for instance $isa/6.12-rt or $isa/6.12-plain"
    known=
done
if [ "${#missing[@]}" -eq 0 ]; then exit 0; fi
planned "provide ${#missing[@]} Linux kernels for guests in $GUESTS: unpack Debian's, build those for riscv64 (an hour)" && exit 0

# A separate lock: this takes minutes, and another set-up need not wait for it.
mkdir -p "$WORK"
exec 9>"$GUESTS/lock"
flock 9
private_apt_update
for line in "${missing[@]}"; do
    read -r isa version flavour <<<"$line"
    suite=bookworm
    [ "$version" != 6.12 ] || suite=bookworm-backports
    if [ "$isa" = riscv64 ]; then
        riscv64_kernel "$flavour"
    else
        debian_kernel "$isa" "${debian_arch[$isa]}" "$version" "$flavour" "$suite"
    fi
done
rm -rf "$WORK"
