#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests, by what decides them (docs/reference/tests.md). Every part runs even when one fails; the closing
# lines stand together at the end, and the exit code says whether all passed.
#
#   test.sh check     files, in minutes: nothing is emulated but one boot of each architecture
#   test.sh           files: all that check has, and every counted target
#   test.sh machine   this machine: its time, loads, rights; one test after the other
#   test.sh all       all of it, and the long ones; nothing that an earlier run measured is used
. "$(dirname "$0")/lib.sh"
cd "$ROOT"

LOGS="$ROOT/build/test-logs"
JOBS="${JOBS:-$(nproc)}"
# Tests start kadenz hundreds of times. Where Python keeps no bytecode, each start compiles all modules.
unset PYTHONDONTWRITEBYTECODE
mkdir -p "$LOGS"
rm -f "$LOGS"/*.log
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

# rust_tests [--lib | -- --ignored]...: cargo prints one result a test binary; their sum is what anybody
# wants to know. Tests that this machine decides are ignored unless they are asked for.
rust_tests() {
    local status=0
    (cd fieldbus && cargo test --workspace --locked --no-fail-fast --jobs "$JOBS" "$@") 2>&1 || status=1
    return "$status"
}
summed() {
    local status=0
    "$@" | tee "$LOGS/cargo-each.log" || status=1
    awk '/^test result:/ { passed += $4; failed += $6; ignored += $8; runs++ }
         END { if (runs) printf "cargo: %d passed, %d failed, %d ignored\n", passed, failed, ignored }' \
        "$LOGS/cargo-each.log"
    return "$status"
}

PYTEST_CLOSING='[0-9]+ (passed|failed|error)'
# -r: what is skipped is named with the reason.
PYTEST=(.venv/bin/pytest -rsfE --durations=25 --durations-min=5)
SPREAD=(-n "$JOBS" --dist worksteal)
CARGO_CLOSING='^cargo: '

case "${1:-}" in
check)
    step ctest '[0-9]+% tests passed' c_tests
    step cargo "$CARGO_CLOSING" summed rust_tests --lib
    step pytest "$PYTEST_CLOSING" "${PYTEST[@]}" "${SPREAD[@]}" -m "(not counted or boot) and not machine and not long"
    ;;
"")
    step ctest '[0-9]+% tests passed' c_tests
    step cargo "$CARGO_CLOSING" summed rust_tests
    step pytest "$PYTEST_CLOSING" "${PYTEST[@]}" "${SPREAD[@]}" -m "not machine and not long"
    ;;
machine)
    step cargo "$CARGO_CLOSING" summed rust_tests -- --ignored --test-threads 1
    step pytest "$PYTEST_CLOSING" "${PYTEST[@]}" -m "machine"
    ;;
all)
    export KADENZ_STORE=off
    step ctest '[0-9]+% tests passed' c_tests
    step cargo "$CARGO_CLOSING" summed rust_tests
    step pytest "$PYTEST_CLOSING" "${PYTEST[@]}" "${SPREAD[@]}" -m "not machine"
    step machine "$PYTEST_CLOSING" "${PYTEST[@]}" -m "machine"
    step cargo-machine "$CARGO_CLOSING" summed rust_tests -- --ignored --test-threads 1
    # `kadenz history 'speed/*' --archive …` names the commit of a step.
    step speed '^speed: ' .venv/bin/python benchmarks/speed.py --archive "${KADENZ_SPEED:-$CACHE/speed}"
    ;;
*) die "no suite is called $1" "Name check, machine or all, or nothing for the usual one" ;;
esac

printf '\n== closing lines\n'
printf '%s\n' "${summary[@]}"
# What was not tested, by reason: "skipped 9: no PREEMPT_RT kernel 6.12 for riscv64 guests (…)".
cat "$LOGS"/*.log | sed -n 's/^SKIPPED \[\([0-9]*\)\] [^ ]*: /\1 /p' |
    awk '{ n = $1; sub(/^[0-9]+ /, ""); count[$0] += n }
         END { for (reason in count) printf "skipped %d: %s\n", count[reason], reason }' | sort
if [ "${#failed[@]}" -gt 0 ]; then
    printf 'FAILED: %s\n' "${failed[*]}"
    exit 1
fi
echo "all passed"
