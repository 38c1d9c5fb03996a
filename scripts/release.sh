#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Builds and checks what a release publishes, into a folder: dist by default. Publishes nothing.
. "$(dirname "$0")/lib.sh"
cd "$ROOT"

TO="$(realpath --canonicalize-missing "${1:-dist}")"
PYTHON="$ROOT/.venv/bin/python"
TWINE=6.2.0 # checks metadata and the page of the registry; needed for this script only
CRATES=(kadenz-rt kadenz-record kadenz-segment)

[ -z "$(git status --porcelain)" ] || die "the checkout has changes that are not committed" \
    "Commit or remove them: a release is made of a commit"
version="$("$PYTHON" -c 'import kadenz; print(kadenz.__version__)')"
rm -rf "$TO"
scripts/wheel.sh "$TO"

scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT
python3 -m venv "$scratch/tools"
"$scratch/tools/bin/pip" install --quiet --disable-pip-version-check "twine==$TWINE"
"$scratch/tools/bin/twine" check --strict "$TO"/*.whl "$TO"/*.tar.gz

packages=()
for crate in "${CRATES[@]}"; do packages+=(--package "$crate"); done
(cd fieldbus && cargo package --locked --quiet --no-verify --target-dir "$scratch/crates" "${packages[@]}")
cp "$scratch"/crates/package/*.crate "$TO/"

# The notes of the tag: the newest section of the changelog.
awk '/^## \[/ { if (begun++) exit; next } begun' CHANGELOG.md >"$TO/NOTES.md"
[ -s "$TO/NOTES.md" ] || die "CHANGELOG.md has no section" "Its newest one is the notes of the release"
(cd "$TO" && sha256sum -- * >"$scratch/sums" && mv "$scratch/sums" SHA256SUMS)
say "$TO: $version, $(find "$TO" -type f | wc -l) files, each in SHA256SUMS"
case "$version" in
*dev*) say "$version is a version of development: set __version__ in kadenz/__init__.py before the tag" ;;
esac
