# SPDX-License-Identifier: Apache-2.0
"""Colours and strokes of the plots, light and dark.

The series colours of Okabe and Ito (2008) are distinguishable for colour-blind readers. The dark
set is lightened to keep a contrast of 3:1; text keeps 4.5:1 (WCAG 2.1, 1.4.3).
"""

from __future__ import annotations

SERIES = 5
# Dashes distinguish lines in print too; the second five styles pair them with other colours.
DASHES = ("", "7 3", "2 2.5", "9 3 2 3", "14 4")
STYLES = 2 * SERIES

LIGHT = """--paper:#ffffff;--ink:#1b1f24;--muted:#59626d;--rule:#d5dae0;--grid:#e9ecef;
--s1:#0068a8;--s2:#b34a00;--s3:#00795a;--s4:#a2477f;--s5:#6b6200;--alarm:#b3261e"""
DARK = """--paper:#14171a;--ink:#e6e9ec;--muted:#a0a9b3;--rule:#3a4149;--grid:#252a30;
--s1:#6cb8ee;--s2:#f29a5c;--s3:#4cc9a4;--s4:#e59ccb;--s5:#d9cd5e;--alarm:#ff8a80"""


def colour(style: int) -> int:
    """The colour, 1 to 5, of the n-th style from 0."""
    return style % SERIES + 1


def dash(style: int) -> str:
    """The dashes of the n-th style from 0; "" for a solid line. All ten styles differ."""
    return DASHES[(style + style // SERIES) % len(DASHES)]


# `.plot` scopes the rules, so that a page can include them.
RULES = """.plot{display:block;width:100%;height:auto;font:11px system-ui,-apple-system,"Segoe UI",
Roboto,"Helvetica Neue",Arial,sans-serif;font-variant-numeric:tabular-nums}
.plot text{fill:var(--muted)}.plot .h{fill:var(--ink);font-size:12.5px;font-weight:600}
.plot .v{fill:var(--ink)}.plot .axis{stroke:var(--rule);stroke-width:1;fill:none}
.plot .grid{stroke:var(--grid);stroke-width:1}
.plot .mark{stroke:var(--ink);stroke-width:1;fill:none}
.plot .fit{stroke:var(--ink);stroke-width:1;stroke-dasharray:4 3;fill:none;opacity:.75}
.plot .cold{stroke:var(--alarm);stroke-width:1.2;fill:none}.plot .coldt{fill:var(--alarm)}
.plot .hit{fill:transparent;stroke:none}""" + "".join(
    f".plot .l{i}{{stroke:var(--s{i});stroke-width:1.6;fill:none;stroke-linejoin:round}}"
    f".plot .d{i}{{fill:var(--s{i})}}.plot .b{i}{{fill:var(--s{i});opacity:.28}}"
    f".plot .w{i}{{fill:var(--s{i});opacity:.11}}.plot .t{i}{{fill:var(--s{i})}}"
    f".plot .o{i}{{stroke:var(--s{i});stroke-width:1.2;fill:var(--paper)}}"
    for i in range(1, SERIES + 1)
)
RULES += "".join(
    f".plot .x{i + 1}{{stroke:var(--s{colour(i)});stroke-width:1.7;fill:none;"
    f"stroke-linejoin:round{f';stroke-dasharray:{dash(i)}' if dash(i) else ''}}}"
    for i in range(STYLES)
)
RULES += ".plot .due{stroke:var(--alarm);stroke-width:1.3;fill:none}.plot .duet{fill:var(--alarm)}"

# For separate files: a page defines the variables itself.
STANDALONE = (
    f"svg{{{LIGHT};background:var(--paper)}}"
    f"@media (prefers-color-scheme:dark){{svg{{{DARK}}}}}{RULES}"
).replace("\n", "")


def series(number: int) -> int:
    """The colour of the n-th series, from 0; colours repeat after five."""
    return colour(number)


def line(number: int) -> str:
    """The CSS class of the n-th series' line: one of ten pairs of colour and dashes."""
    return f"x{number % STYLES + 1}"
