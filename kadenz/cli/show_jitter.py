# SPDX-License-Identifier: Apache-2.0
"""The jitter part of `kadenz show`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kadenz.analysis import RunResult


def write_jitter(screen: Any, result: RunResult) -> None:
    """Prints clock, drift, disturbances and tail of every lane with jitter, a few lines each."""
    from kadenz.cli.console import styled
    from kadenz.report import labels
    from kadenz.report.jitter_words import jitter_lines, tail_lines

    for record in result.records:
        for lane in record.lanes:
            if not record.usable or lane.jitter is None:
                if record.usable and "jitter" in lane.gaps:
                    screen.print(
                        styled("[dim]{}: no jitter: {}[/]", record.bench, lane.gaps["jitter"])
                    )
                continue
            name = f"{record.bench} {labels.lane(record, lane)}".strip()
            screen.print(styled("\n[bold]{}[/]: jitter", name))
            of = "latency" if lane.jitter.source == "wake-ups" else "jitter"
            tail = [] if lane.tail is None else tail_lines(lane.tail, record.unit, of)
            for line in jitter_lines(lane.jitter, record.unit) + tail:
                screen.print(_wrapped(line, screen.width), soft_wrap=True)


def _wrapped(line: str, width: int) -> str:
    """Indents a line by two; continued text aligns with the text after the line's name."""
    import textwrap

    return textwrap.fill(
        line,
        width=width,
        initial_indent="  ",
        subsequent_indent=" " * 14,
        break_on_hyphens=False,
    )
