#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Writes the lock files: every Python package at an exact version with its hashes, for all supported
# versions of Python. pyproject.toml has the ranges. Pins stay as they are while they fit.
#
#   scripts/lock.sh                        after a change of pyproject.toml
#   scripts/lock.sh --upgrade              everything at its newest version
#   scripts/lock.sh --upgrade-package rich
. "$(dirname "$0")/lib.sh"
cd "$ROOT"

UV=0.13.9 # resolves and hashes; needed for this script only
tools="$(mktemp -d)"
trap 'rm -rf "$tools"' EXIT
python3 -m venv "$tools"
"$tools/bin/pip" install --quiet "uv==$UV"

# lock FILE OPTION...
lock() {
    local file="$1"
    shift
    "$tools/bin/uv" pip compile pyproject.toml --quiet --universal --generate-hashes --extra parquet --extra archive --extra farm --extra rtl --extra perfetto \
        --custom-compile-command scripts/lock.sh --output-file "$file" "$@"
}

lock requirements.lock --group build "$@"
# What both have is at the same version.
lock requirements-dev.lock --group dev --constraint requirements.lock "$@"
