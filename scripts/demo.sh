#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs the demo campaign on emulated boards, a simulated core and this Linux, and writes one report.
. "$(dirname "$0")/lib.sh"
cd "$ROOT"

report=reports/demo.html
mkdir -p reports
started="$(date +%s)"
# Without the right to real time, this Linux is measured all the same, and the run says so.
rights=()
chrt --fifo 1 true 2>/dev/null || rights=(--allow no-realtime)
.venv/bin/kadenz run demo "${rights[@]}" --report "$report"
[ -s "$report" ] || die "the demo wrote no report" "Its messages are above"
printf '\nReport: %s (measured and written in %d s)\n' "$ROOT/$report" "$(($(date +%s) - started))"
