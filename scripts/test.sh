#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every test in all languages. All of them run even when one fails; the closing lines stand together
# at the end, and the exit code says whether all passed.
. "$(dirname "$0")/lib.sh"
cd "$ROOT"

LOGS="$ROOT/build/test-logs"
JOBS="${JOBS:-$(nproc)}"
mkdir -p "$LOGS"
failed=()
summary=()

# step NAME CLOSING-LINE-PATTERN COMMAND...: shows and keeps the output, and the closing line of it.
step() {
    local name="$1" pattern="$2" log="$LOGS/$1.log" closing
    shift 2
    printf '\n== %s: %s\n' "$name" "$*"
    if ! "$@" 2>&1 | tee "$log"; then
        failed+=("$name")
    fi
    closing="$(grep -E "$pattern" "$log" | tail -n 1 || true)"
    summary+=("$(printf '%-8s %s' "$name" "${closing:-no closing line: see $log}")")
    # A runner that ran nothing has not passed.
    [ -n "$closing" ] || failed+=("$name (no closing line)")
}

c_tests() {
    cmake -S suite/tests -B build/suite-tests -G Ninja -DCMAKE_BUILD_TYPE=Debug >/dev/null &&
        cmake --build build/suite-tests --parallel "$JOBS" &&
        ctest --test-dir build/suite-tests --output-on-failure --no-tests=error --parallel "$JOBS"
}

rust_tests() {
    local status=0
    cargo test --manifest-path fieldbus/Cargo.toml --workspace --locked --no-fail-fast \
        --jobs "$JOBS" 2>&1 | tee "$LOGS/cargo-each.log" || status=1
    # cargo prints one result a test binary: their sum is what anybody wants to know.
    awk '/^test result:/ { passed += $4; failed += $6; ignored += $8; runs++ }
         END { if (runs) printf "cargo: %d passed, %d failed, %d ignored\n", passed, failed, ignored }' \
        "$LOGS/cargo-each.log"
    return "$status"
}

step ctest '[0-9]+% tests passed' c_tests
step pytest '[0-9]+ (passed|failed|error)' .venv/bin/pytest -rs # skipped: named with the reason
step cargo '^cargo: ' rust_tests

printf '\n== closing lines\n'
printf '%s\n' "${summary[@]}"
if [ "${#failed[@]}" -gt 0 ]; then
    printf 'FAILED: %s\n' "${failed[*]}"
    exit 1
fi
echo "all passed"
