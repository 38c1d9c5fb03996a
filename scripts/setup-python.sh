#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Creates .venv with the packages of requirements.lock, each at its version and with its hash, and
# kadenz itself from this checkout. `dev`: with those of requirements-dev.lock, for tests. Other
# packages in .venv stay. scripts/lock.sh writes the lock files.
. "$(dirname "$0")/lib.sh"

WHAT="${1:-}"
VENV="$ROOT/.venv"
STAMP="$VENV/.kadenz-set-up"
NEEDED_PYTHON=3.11 # pyproject.toml: requires-python

# What tests need is not taken away by a set-up for the demo.
if [ -f "$STAMP" ] && grep -qw dev "$STAMP"; then
    WHAT=dev
fi
lock="$ROOT/requirements${WHAT:+-$WHAT}.lock"
[ -f "$lock" ] || die "no lock file ${lock##*/}" "Name dev, or nothing"
wanted="$(inputs_hash "$ROOT/pyproject.toml" "$ROOT/setup.py" "$lock") $WHAT"
if [ -x "$VENV/bin/kadenz" ] && [ "$(cat "$STAMP" 2>/dev/null)" = "$wanted" ]; then
    exit 0
fi

PYTHON="${PYTHON:-python3}"
version="$("$PYTHON" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null || echo none)"
if [ "$version" = none ] || ! at_least "$version" "$NEEDED_PYTHON"; then
    die "$PYTHON is Python $version, and kadenz needs $NEEDED_PYTHON or newer" \
        "Name a newer one: make PYTHON=/path/to/python3 ..."
fi

say "Python packages of ${lock##*/} into .venv"
[ -x "$VENV/bin/pip" ] || "$PYTHON" -m venv "$VENV"
pip() {
    "$VENV/bin/pip" install --quiet --disable-pip-version-check "$@"
}
pip --require-hashes --requirement "$lock" || die \
    "pip could not install the packages of ${lock##*/}" \
    "Its message is above; without a network to PyPI nothing can be fetched"
pip --no-deps --no-build-isolation --editable "$ROOT" || die \
    "pip could not install kadenz itself from this checkout" "Its message is above"
printf '%s\n' "$wanted" >"$STAMP"
