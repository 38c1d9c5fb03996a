#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Builds the source archive, and from it the wheel, into a folder: dist by default. The wheel is the
# whole tool: with the suite, the kernels' ports, boards, campaigns and the set-up (setup.py).
. "$(dirname "$0")/lib.sh"
cd "$ROOT"

TO="$(realpath --canonicalize-missing "${1:-dist}")"
PYTHON="${PYTHON:-$ROOT/.venv/bin/python}"

scripts/setup-uplot.sh
[ -f kadenz/report/static/uPlot.iife.min.js ] || die "the wheel would lack uPlot" \
    "Its plots could not zoom: run this again with a network to the npm registry"
scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$TO"
# From a copy: setuptools would leave its notes in the checkout, and read them the next time.
git ls-files -z | while IFS= read -r -d "" file; do
    [ ! -f "$file" ] || printf '%s\0' "$file"
done >"$scratch/files"
printf '%s\0' kadenz/report/static/* >>"$scratch/files"
mkdir "$scratch/kadenz"
tar --create --null --files-from "$scratch/files" | tar --extract --directory "$scratch/kadenz"
(cd "$scratch/kadenz" && "$PYTHON" -c 'import sys; from setuptools import build_meta as b
print(b.build_sdist(sys.argv[1]))' "$scratch") >"$scratch/log" 2>&1 || {
    cat "$scratch/log" >&2
    die "the source archive could not be built" "The message of setuptools is above"
}
archive="$scratch/$(tail -n 1 "$scratch/log")"
"$PYTHON" -m pip wheel --quiet --disable-pip-version-check --no-index --no-deps --no-build-isolation \
    --wheel-dir "$TO" "$archive" || die "the wheel could not be built" "pip's message is above"
cp "$archive" "$TO/"
say "$TO: $(cd "$TO" && du -h --apparent-size "$(basename "$archive")" kadenz-*.whl | awk '{ print $2, $1 }' | paste -sd, -)"
