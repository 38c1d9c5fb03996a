#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Creates .venv with the pinned dependencies of pyproject.toml. Argument: the extras, "parquet" for
# the demo or "dev,parquet" for the tests. Other packages in .venv stay.
. "$(dirname "$0")/lib.sh"

EXTRAS="${1:-}"
VENV="$ROOT/.venv"
STAMP="$VENV/.kadenz-set-up"
NEEDED_PYTHON=3.11 # pyproject.toml: requires-python

hash="$(inputs_hash "$ROOT/pyproject.toml")"
if [ -x "$VENV/bin/kadenz" ] && [ -f "$STAMP" ]; then
    read -r had extras <"$STAMP" || true
    # The present and the requested extras, each once.
    EXTRAS="$(tr ',' '\n' <<<"$extras,$EXTRAS" | sed '/^$/d' | sort -u | paste -sd, -)"
    if [ "$had $extras" = "$hash $EXTRAS" ]; then
        exit 0
    fi
fi

PYTHON="${PYTHON:-python3}"
version="$("$PYTHON" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null || echo none)"
if [ "$version" = none ] || ! at_least "$version" "$NEEDED_PYTHON"; then
    die "$PYTHON is Python $version, and kadenz needs $NEEDED_PYTHON or newer" \
        "Name a newer one: make PYTHON=/path/to/python3 ..."
fi

say "Python dependencies into .venv${EXTRAS:+ (with $EXTRAS)}"
[ -x "$VENV/bin/pip" ] || "$PYTHON" -m venv "$VENV"
"$VENV/bin/pip" install --quiet --disable-pip-version-check \
    --editable "$ROOT${EXTRAS:+[$EXTRAS]}" || die \
    "pip could not install the dependencies of pyproject.toml" \
    "Its message is above; without a network to PyPI nothing can be fetched"
printf '%s %s\n' "$hash" "$EXTRAS" >"$STAMP"
