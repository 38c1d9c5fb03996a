# SPDX-License-Identifier: Apache-2.0
"""A gate's verdict as Markdown, for the summary page of a CI job."""

from __future__ import annotations

from collections.abc import Sequence

from kadenz.analysis.checks import Check, Outcome
from kadenz.analysis.comparing import Configurations
from kadenz.analysis.gating import Gate
from kadenz.report import labels
from kadenz.visible_text import markdown_cell as _cell
from kadenz.visible_text import markdown_text

_HEADINGS: dict[Outcome, str] = {
    "pass": "passed",
    "fail": "**failed**",
    "inconclusive": "inconclusive",
}


def gate_markdown(gate: Gate, *, name: str) -> str:
    """Verdict, differences of the configurations, then failed, undecided and passed checks."""
    counts = ", ".join(f"{gate.count(outcome)} {word}" for outcome, word in _HEADINGS.items())
    lines = [f"## kadenz gate: {_cell(name)}: {_HEADINGS[gate.outcome]}", "", f"{counts}.", ""]
    for configurations in gate.configurations:
        lines += _differences(configurations)
    for outcome in ("fail", "inconclusive"):
        chosen = [check for check in gate.checks if check.outcome == outcome]
        if chosen:
            lines += [
                f"### {_HEADINGS[outcome].strip('*').capitalize()}",
                "",
                *check_table(chosen),
                "",
            ]
    passed = [check for check in gate.checks if check.outcome == "pass"]
    if passed:
        lines += [
            "<details><summary>Passed</summary>",
            "",
            *check_table(passed),
            "",
            "</details>",
            "",
        ]
    if gate.new:
        lines += [f"Without a baseline: {_cell('; '.join(gate.new))}.", ""]
    lines += [f"Not judged: {_cell(bench)}: {_cell(note)}.\n" for bench, note in gate.not_judged]
    return "\n".join(lines)


def _differences(configurations: Configurations) -> list[str]:
    where = f"{markdown_text(configurations.target)}: " if configurations.target else ""
    if not configurations.differences:
        return [f"{where}the configurations are the same.", ""]
    return [
        f"{where}the configurations differ:",
        "",
        "| what | " + " | ".join(_cell(label) for label in configurations.labels) + " |",
        "|---" * (len(configurations.labels) + 1) + "|",
        *(
            f"| {_cell(f'{difference.group}: {difference.key}')} | "
            + " | ".join(_cell(value) for value in difference.values)
            + " |"
            for difference in configurations.differences
        ),
        "",
    ]


def check_table(checks: Sequence[Check]) -> list[str]:
    """The lines of a table with a row for each check."""
    same = labels.constants_of(checks)
    lines = [
        "| target | benchmark | point | statistic | asked | found | unit · class | |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for check in checks:
        varying = {k: v for k, v in check.params.items() if k not in same[check.bench]}
        point = ", ".join(word for word in (labels.parameters(varying), check.lane) if word)
        kind = " · ".join(word for word in (check.unit, check.clock_class or "") if word)
        cells = (check.target, check.bench, point, check.statistic, check.asked, check.measured)
        lines.append("| " + " | ".join(_cell(cell) for cell in (*cells, kind, check.reason)) + " |")
    return lines
