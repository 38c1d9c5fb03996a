#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Style and types of all languages. Every tool runs even when one fails.
. "$(dirname "$0")/lib.sh"
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

# Kernels in Rust, as suite/rust/build.cmake compiles them: for the board, with each instrument, by the
# compiler that has the source of core.
RUST_CRATES=(suite/rust kernels/embassy kernels/rtic)
values_of() { # the definitions in a board's build file
    sed -n 's/^ *\(KDZ_[A-Z_]*=[0-9a-zx]*\)).*$\|^ *\(KDZ_[A-Z_]*=[0-9a-zx]*\)$/\1\2/p' "$1"
}
clippy_kernel() { # FOLDER TARGET VALUES
    local feature
    for feature in counter scope; do
        # shellcheck disable=SC2086  # words
        env $3 RUSTC_BOOTSTRAP=1 RUSTC="$(command -v rustc)" CARGO_TARGET_DIR="$ROOT/build/clippy" \
            cargo-clippy clippy --manifest-path "$1/Cargo.toml" --locked --quiet --features "$feature" \
            --target "$2" -Z build-std=core -- -D warnings || return 1
    done
}
clippy_kernels() {
    local folder
    [ ! -x "$CACHE/rust/tools/bin/rustc" ] || export PATH="$CACHE/rust/tools/bin:$PATH"
    for folder in "${RUST_CRATES[@]}"; do
        clippy_kernel "$folder" thumbv7em-none-eabihf "$(values_of boards/stm32f4/board.cmake)" || return 1
    done
    clippy_kernel kernels/rtic riscv32imc-unknown-none-elf \
        "$(values_of boards/softcore/softcore.cmake) KDZ_BOARD_CLINT_ADDRESS=0x02000000 RISCV_RT_BASE_ISA=rv32i"
}

fmt() {
    local folder
    for folder in fieldbus "${RUST_CRATES[@]}"; do
        cargo fmt --manifest-path "$folder/Cargo.toml" --all --check || return 1
    done
}

# The longest first.
check clippy clippy
check clippy-kernels clippy_kernels
check mypy .venv/bin/mypy --strict
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
