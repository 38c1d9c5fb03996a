#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Makes the picture of the README: the top of a real report, by a headless browser.
#   scripts/report-picture.sh reports/demo.html docs/images/report.png
. "$(dirname "$0")/lib.sh"

report="$(realpath "${1:?report, an HTML file}")"
picture="${2:?picture, a PNG file}"
browser="$(command -v chromium || command -v chromium-browser || true)"
[ -n "$browser" ] || die "no chromium found" "apt-get install chromium"

profile="$(mktemp -d)"
trap 'rm -rf "$profile"' EXIT
mkdir -p "$(dirname "$picture")"
"$browser" --headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking \
    --disable-component-update --disable-sync --disable-quic --user-data-dir="$profile" --hide-scrollbars \
    --window-size="${SIZE:-1240,1500}" --screenshot="$picture" "file://$report" 2>/dev/null
[ -s "$picture" ] || die "the browser made no picture" "Run it by hand: $browser --headless"
