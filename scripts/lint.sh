#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Style and types of all languages. Every tool runs even when one fails.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/rust-kernels.sh"
cd "$ROOT"

# One version of clang-format decides, because versions differ; some systems omit it in the name.
CLANG_FORMAT="$(command -v clang-format-14 || command -v clang-format)"
failed=()

LOGS="$(mktemp -d)"
trap 'rm -rf "$LOGS"' EXIT
names=()
jobs=()

# check NAME COMMAND...: starts a tool beside the others; what it prints is shown at the end.
check() {
    local name="$1"
    shift
    "$@" >"$LOGS/$name" 2>&1 &
    names+=("$name")
    jobs+=("$!")
}

# Only files of the repository, no build output.
mapfile -t c_files < <(git ls-files '*.c' '*.h' '*.cc' '*.cpp' '*.hpp')
mapfile -t shell_files < <(git ls-files 'scripts/*.sh' 'benchmarks/*.sh' .ci/run)

spelling() {
    git ls-files -z | xargs -0 .venv/bin/codespell
}

clippy() {
    (cd fieldbus && cargo clippy --workspace --all-targets --locked --quiet -- -D warnings)
}

clippy_kernels() {
    rust_core_compiler
    each_rust_kernel clippy_kernel
}

fmt() {
    local folder
    for folder in fieldbus suite/rust $(rust_kernels); do
        cargo fmt --manifest-path "$folder/Cargo.toml" --all --check || return 1
    done
}

# The longest first.
check clippy clippy
check clippy-kernels clippy_kernels
# Its cache is of the contents of files: clones share it.
check mypy .venv/bin/mypy --strict --cache-dir "$CACHE/mypy"
check ruff .venv/bin/ruff check .
check ruff-format .venv/bin/ruff format --check .
check spelling spelling
check prose .venv/bin/python scripts/prose.py
check clang-format "$CLANG_FORMAT" --dry-run -Werror "${c_files[@]}"
check shellcheck shellcheck "${shell_files[@]}"
check cargo-fmt fmt

for i in "${!names[@]}"; do
    name="${names[$i]}"
    if wait "${jobs[$i]}"; then
        printf 'lint: %-14s ok\n' "$name"
    else
        cat "$LOGS/$name"
        printf 'lint: %-14s FAILED\n' "$name"
        failed+=("$name")
    fi
done

if [ "${#failed[@]}" -gt 0 ]; then
    printf 'lint: FAILED: %s\n' "${failed[*]}"
    exit 1
fi
echo "lint: all passed after $SECONDS s"
