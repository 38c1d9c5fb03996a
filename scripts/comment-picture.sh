#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Makes the picture of a pull request's comment: the text of `kadenz gate --comment`, by a headless browser.
#   scripts/comment-picture.sh comment.md docs/images/comment.png
. "$(dirname "$0")/lib.sh"

comment="$(realpath "${1:?comment, a Markdown file}")"
picture="${2:?picture, a PNG file}"
page="$(mktemp --suffix=.html)"
trap 'rm -f "$page"' EXIT

# markdown-it is the reader of Markdown that the tables of the terminal come with.
"$ROOT/.venv/bin/python" - "$comment" > "$page" << 'END' || die "no page of $comment" "Run make setup"
import sys
from pathlib import Path

from markdown_it import MarkdownIt

print("""<!doctype html><meta charset="utf-8"><style>
body { font: 14px/1.5 sans-serif; color: #1f2328; margin: 16px; border: 1px solid #d1d9e0; border-radius: 6px }
body > * { margin: 0 16px 12px } h3 { font-size: 18px; margin-top: 14px }
table { border-collapse: collapse } th, td { border: 1px solid #d1d9e0; padding: 6px 13px; text-align: left }
code { font: 12px monospace; background: #eff1f3; border-radius: 6px; padding: 3px 5px }
</style>""")
print(MarkdownIt().enable("table").render(Path(sys.argv[1]).read_text()))
END
SIZE="${SIZE:-860,260}" "$ROOT/scripts/report-picture.sh" "$page" "$picture"
