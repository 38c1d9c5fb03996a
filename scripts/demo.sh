#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The demo campaign on both emulated boards and this Linux, and one report of all three.
. "$(dirname "$0")/lib.sh"
cd "$ROOT"

report=reports/demo.html
mkdir -p reports
started="$(date +%s)"
.venv/bin/kadenz run demo --report "$report"
[ -s "$report" ] || die "the demo wrote no report" "Its messages are above"
printf '\nReport: %s (measured and written in %d s)\n' "$ROOT/$report" "$(($(date +%s) - started))"
