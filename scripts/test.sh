#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every test in all languages. All of them run even when one fails; the closing lines stand together
# at the end, and the exit code says whether all passed. --afresh: tests that passed before with the same
# files, and that nothing else decides, run, too (tests/remembered.py).
#
# Tests in real time (marker `linux`) run one after the other. They wait most of their time: all others
# of pytest (tests/spread.py) run at low priority beside them, in one process for each processor and two
# more, because some wait as well. Tests that load or tune this machine (marker `alone`) run at the end,
# with nothing beside them.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/compiled-fieldbus.sh"
cd "$ROOT"

REMEMBERED=(--remembered)
[ "${1:-}" != --afresh ] || REMEMBERED=()

LOGS="$ROOT/build/test-logs"
JOBS="${JOBS:-$(nproc)}"
# Each process of pytest has a processor to itself: a second thread of NumPy would wait for it.
export OPENBLAS_NUM_THREADS=1
# Tests start kadenz hundreds of times. Where Python keeps no bytecode, each start compiles all modules.
unset PYTHONDONTWRITEBYTECODE
mkdir -p "$LOGS"
failed=()
summary=()

# step NAME CLOSING-LINE-PATTERN COMMAND...: shows and keeps the output, its closing line and the seconds.
step() {
    local name="$1" pattern="$2" log="$LOGS/$1.log" begun="$SECONDS" closing
    shift 2
    printf '\n== %s: %s\n' "$name" "$*"
    if ! "$@" 2>&1 | tee "$log"; then
        failed+=("$name")
    fi
    closing="$(grep -E "$pattern" "$log" | tail -n 1 || true)"
    summary+=("$(printf '%-8s %4d s  %s' "$name" "$((SECONDS - begun))" "${closing:-no closing line: see $log}")")
    # A runner that ran nothing has not passed.
    [ -n "$closing" ] || failed+=("$name (no closing line)")
}

c_tests() {
    cmake -S suite/tests -B build/suite-tests -G Ninja -DCMAKE_BUILD_TYPE=Debug >/dev/null &&
        cmake --build build/suite-tests --parallel "$JOBS" &&
        ctest --test-dir build/suite-tests --output-on-failure --no-tests=error --parallel "$JOBS"
}

# Where the passes of the robot cell's tests are kept. The processor decides how libraries round.
cell_passed() {
    printf '%s/passed/cell-%s.txt' "$CACHE" \
        "$({ echo "$fieldbus" && grep -m 1 -E '^(model name|CPU part)' /proc/cpuinfo; } | sha256sum | cut -c 1-16)"
}

rust_tests() {
    local status=0 host passed=""
    host="$(rustc --version --verbose | sed -n 's/^host: //p' | tr a-z- A-Z_)"
    [ "${#REMEMBERED[@]}" -eq 0 ] || [ -z "$fieldbus" ] || passed="$(cell_passed)"
    rm -f "$LOGS"/cell.passed*
    (cd fieldbus && env "CARGO_TARGET_${host}_RUNNER=$ROOT/scripts/cell-runner.sh" CELL_PASSED="$passed" \
        CELL_PASSES="$LOGS/cell.passed" cargo test --workspace --locked --no-fail-fast --jobs "$JOBS") 2>&1 |
        tee "$LOGS/cargo-each.log" || status=1
    # Not if a file changed in the meantime.
    if [ -s "$LOGS/cell.passed" ] && [ -n "$fieldbus" ] && [ "$(fieldbus_key)" = "$fieldbus" ]; then
        install -D -m 644 "$LOGS/cell.passed" "$(cell_passed)" || echo "passes of the cell are not kept"
    fi
    # cargo prints one result a test binary: their sum is what anybody wants to know.
    awk '/^test result:/ { passed += $4; failed += $6; ignored += $8; runs++ }
         END { if (runs) printf "cargo: %d passed, %d failed, %d ignored\n", passed, failed, ignored }' \
        "$LOGS/cargo-each.log"
    return "$status"
}

# What the tests in real time start is compiled first, so that none of them compiles, and then the tests of
# fieldbus/. The programs in calls of their own, as the lab and benchmarks/ build them: each selects other
# features of the dependencies. What does not compile is reported by its test.
programs() {
    local built status=0
    for built in "build --release -p kadenz-segment" "build --release -p kadenz-motion --bins" \
        "build --release -p kadenz-motion --example=bare_loop" \
        "bench --no-run -p kadenz-segment --bench segment"; do
        # shellcheck disable=SC2086  # words
        (cd fieldbus && nice -n 19 cargo $built --locked --quiet) || status=1
    done
    return "$status"
}
rust_tests_compiled() {
    (cd fieldbus && nice -n 19 cargo test --workspace --locked --no-run --quiet)
}

PYTEST_CLOSING='[0-9]+ (passed|failed|error)'
# -r: what is skipped is named with the reason, and what was retried because the machine paused.
PYTEST=(.venv/bin/pytest -rsfER --durations=25 --durations-min=5)

# The tests that need no clock of this machine, in the background.
POOL="$LOGS/pool"
rm -f "$POOL".*
pool() {
    local code=0
    nice -n 19 "${PYTEST[@]}" -m "not linux" -n "$((JOBS + 2))" "${REMEMBERED[@]}" >"$POOL.log" 2>&1 || code=$?
    echo "$code" >"$POOL.code"
}
# Shows what it printed until now, and then the rest as it comes.
pool_tests() {
    tail -n +1 --follow --pid="$pool" "$POOL.log"
    return "$(cat "$POOL.code" 2>/dev/null || echo 1)"
}

step ctest '[0-9]+% tests passed' c_tests
: >"$POOL.log"
set -m # in a group of its own: a job of a script ignores Ctrl-C, and so would the programs that tests interrupt
pool &
pool=$!
set +m
trap 'kill -- "-$pool" 2>/dev/null || true' EXIT
trap 'exit 130' INT # also where the step that it reaches ends by itself, as cargo does
trap 'exit 143' TERM
printf '\n== programs of fieldbus/, in release\n'
fieldbus="$(fieldbus_key)" || fieldbus=""
compiled="$fieldbus"
programs || compiled=""
step linux "$PYTEST_CLOSING" "${PYTEST[@]}" -m "linux and not alone"
rust_tests_compiled || compiled=""
step cargo '^cargo: ' rust_tests
step pytest "$PYTEST_CLOSING" pool_tests
# Now, because nothing compiles any more.
[ -z "$compiled" ] || keep_fieldbus "$compiled" "$ROOT/fieldbus/target" || echo "fieldbus/ is not kept for other clones"
step alone "$PYTEST_CLOSING" "${PYTEST[@]}" -m alone

printf '\n== closing lines\n'
printf '%s\n' "${summary[@]}"
# What was not tested, by reason: "skipped 9: no PREEMPT_RT kernel 6.12 for riscv64 guests (…)".
sed -n 's/^SKIPPED \[\([0-9]*\)\] [^ ]*: /\1 /p' "$LOGS"/{pytest,linux,alone}.log |
    awk '{ n = $1; sub(/^[0-9]+ /, ""); count[$0] += n }
         END { for (reason in count) printf "skipped %d: %s\n", count[reason], reason }' | sort
# Tests that passed before.
grep -hE '^(simulations|cores|benches|pages|cell):' "$LOGS/pytest.log" "$LOGS/cargo.log" || true
if [ "${#failed[@]}" -gt 0 ]; then
    printf 'FAILED: %s\n' "${failed[*]}"
    exit 1
fi
echo "all passed"
