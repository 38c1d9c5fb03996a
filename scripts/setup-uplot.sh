#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Fetches uPlot, which makes the plots of a report zoomable, from the npm registry into the cache,
# and copies it into kadenz/report/static, package data of a wheel. Without a network, reports work
# with static plots. A package with different content is an error.
. "$(dirname "$0")/lib.sh"

VERSION=1.6.32
# dist.integrity of this version in the registry, in hexadecimal.
SHA512=2883159c6ebccefbb95d751b0b82d010f9e1c0ec41b8bc96d401eda66e882935
SHA512+=c89a46cb824332fa369b8cb8122cc6ac36e186cd09bf7a9ded3a4c93c6989023
FILES=(LICENSE dist/uPlot.iife.min.js dist/uPlot.min.css)
# npm's own variable, for a machine behind a mirror.
REGISTRY="${NPM_CONFIG_REGISTRY:-https://registry.npmjs.org}"
STATIC="${KADENZ_STATIC:-$ROOT/kadenz/report/static}"
kept="$CACHE/uplot/$VERSION"

have() {
    local file
    for file in "${FILES[@]}"; do
        [ -s "$1/$(basename "$file")" ] || return 1
    done
}

have "$STATIC" && grep -q "(v$VERSION)" "$STATIC/uPlot.iife.min.js" && exit 0
lock_cache
if ! have "$kept"; then
    package="$(mktemp)"
    trap 'rm -f "$package"' EXIT
    say "uPlot $VERSION from the npm registry"
    if ! python3 - "${REGISTRY%/}/uplot/-/uplot-$VERSION.tgz" "$package" <<'PYTHON'; then
import shutil, sys, urllib.error, urllib.request

try:
    with urllib.request.urlopen(sys.argv[1], timeout=60) as answer, open(sys.argv[2], "wb") as file:
        shutil.copyfileobj(answer, file)
except (OSError, ValueError) as error:
    sys.exit(f"        {sys.argv[1]}: {error}")
PYTHON
        say "uPlot could not be fetched: pictures in reports will not zoom until make setup can"
        exit 0
    fi
    echo "$SHA512  $package" | sha512sum --check --status || die \
        "uPlot $VERSION is not the package it should be: its SHA-512 differs" \
        "Nothing was kept. Check the registry: NPM_CONFIG_REGISTRY is ${REGISTRY}"
    rm -rf "$kept.new"
    mkdir -p "$kept.new"
    tar --extract --gzip --file "$package" --directory "$kept.new" --strip-components=1 \
        "${FILES[@]/#/package/}"
    mv "$kept.new"/dist/* "$kept.new/"
    rmdir "$kept.new/dist"
    rm -rf "$kept"
    mv "$kept.new" "$kept"
fi
mkdir -p "$STATIC"
for file in "${FILES[@]}"; do
    cp "$kept/$(basename "$file")" "$STATIC/"
done
