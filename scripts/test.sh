#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every test in all languages. All of them run even when one fails; the closing lines stand together
# at the end, and the exit code says whether all passed. --afresh: simulations of the statistics that
# passed before with the same inputs run, too (tests/simulations.py).
#
# Tests in real time (marker `linux`) run one after the other, because they would disturb each other;
# all others of pytest run in one process for each processor (tests/spread.py).
. "$(dirname "$0")/lib.sh"
cd "$ROOT"

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

rust_tests() {
    local status=0
    (cd fieldbus && cargo test --workspace --locked --no-fail-fast --jobs "$JOBS") 2>&1 |
        tee "$LOGS/cargo-each.log" || status=1
    # cargo prints one result a test binary: their sum is what anybody wants to know.
    awk '/^test result:/ { passed += $4; failed += $6; ignored += $8; runs++ }
         END { if (runs) printf "cargo: %d passed, %d failed, %d ignored\n", passed, failed, ignored }' \
        "$LOGS/cargo-each.log"
    return "$status"
}

# Tests in real time wait most of their time, so that one processor is free beside them. What needs a
# processor and no clock runs there, with what they leave: the simulations of the statistics, which
# need several minutes, and rustc for the tests of fieldbus/.
BESIDE="$LOGS/beside"
rm -f "$BESIDE"-*
beside() {
    local code=0
    nice -n 19 .venv/bin/pytest "$@" tests/stats >"$BESIDE-stats.log" 2>&1 || code=$?
    echo "$code" >"$BESIDE-stats.code"
    # What does not compile is reported by the step that runs the tests.
    (cd fieldbus && nice -n 19 cargo test --workspace --locked --no-run --quiet) \
        >"$BESIDE-rustc.log" 2>&1 || true
}

# In a pipeline, whose shell is not the parent of the simulations: it looks instead of waiting.
simulation_tests() {
    while kill -0 "$others" 2>/dev/null && [ ! -f "$BESIDE-stats.code" ]; do
        sleep 1
    done
    cat "$BESIDE-stats.log"
    return "$(cat "$BESIDE-stats.code" 2>/dev/null || echo 1)"
}

# The programs that tests in real time start, so that no such test compiles. In calls of their own, as
# the lab and benchmarks/ build them: each selects other features of the dependencies.
programs() {
    cd fieldbus
    local built
    for built in "build --release -p kadenz-segment" "build --release -p kadenz-motion --bins" \
        "build --release -p kadenz-motion --example=bare_loop" \
        "bench --no-run -p kadenz-segment --bench segment"; do
        # shellcheck disable=SC2086  # words
        nice -n 19 cargo $built --locked --quiet
    done
}
programs >"$BESIDE-programs.log" 2>&1 &
programs=$!
trap 'pkill -P "$programs" 2>/dev/null || true' EXIT

PYTEST_CLOSING='[0-9]+ (passed|failed|error)'
step ctest '[0-9]+% tests passed' c_tests
# -r: what is skipped is named with the reason, and what was retried because the machine paused.
SLOWEST=(--durations=25 --durations-min=5)
step pytest "$PYTEST_CLOSING" .venv/bin/pytest -rsfER "${SLOWEST[@]}" --ignore=tests/stats -m "not linux" -n "$((JOBS + 1))"
wait "$programs" || true # what does not compile is reported by its test
beside "$@" &
others=$!
trap 'pkill -P "$others" 2>/dev/null || true' EXIT
step linux "$PYTEST_CLOSING" .venv/bin/pytest -rsfER "${SLOWEST[@]}" --ignore=tests/stats -m linux
step stats "$PYTEST_CLOSING" simulation_tests
wait "$others"
step cargo '^cargo: ' rust_tests

printf '\n== closing lines\n'
printf '%s\n' "${summary[@]}"
# What was not tested, by reason: "skipped 9: no PREEMPT_RT kernel 6.12 for riscv64 guests (…)".
sed -n 's/^SKIPPED \[\([0-9]*\)\] [^ ]*: /\1 /p' "$LOGS"/{pytest,linux,stats}.log |
    awk '{ n = $1; sub(/^[0-9]+ /, ""); count[$0] += n }
         END { for (reason in count) printf "skipped %d: %s\n", count[reason], reason }' | sort
if [ "${#failed[@]}" -gt 0 ]; then
    printf 'FAILED: %s\n' "${failed[*]}"
    exit 1
fi
echo "all passed"
