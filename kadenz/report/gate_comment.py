# SPDX-License-Identifier: Apache-2.0
"""A gate's verdict as one comment of a pull request: what changed, by how much, and in which
function.

Its first line is a mark, by which the next job finds the comment and writes over it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kadenz.analysis.change import percent
from kadenz.analysis.checks import Check, figure_text
from kadenz.analysis.gating import Gate
from kadenz.analysis.profiles import Difference, Explained
from kadenz.analysis.sizes import SizePair
from kadenz.analysis.verdict import Verdict
from kadenz.report import labels
from kadenz.report.gate_summary import check_table
from kadenz.visible_text import markdown_cell, visible

MARK = "<!-- kadenz gate -->"
_ROWS = 50  # GitHub takes 65,536 characters
_REASONS = 4  # functions of a row
_COUNTED = "count/"
_ANSWERS = {"pass": "passed", "fail": "failed", "inconclusive": "is undecided"}
_OUTCOMES = {"pass": "", "fail": "**worse**", "inconclusive": "undecided"}


@dataclass(frozen=True)
class Compared:
    """What is known of both sides beside the gate's answer."""

    sizes: Sequence[SizePair] = ()
    explained: Sequence[Explained] = ()


def gate_comment(gate: Gate, compared: Compared, *, link: str = "") -> str:
    """The comment. `link`: where all figures are."""
    points = _by_point(gate.points)
    changed = [point for point in points if _is_changed(point, compared.sizes)]
    outcomes = _outcomes(gate.checks)
    changed.sort(key=lambda point: _rank(point, outcomes))
    lines = [MARK, f"### kadenz gate {_ANSWERS[gate.outcome]}", "", _sentence(len(points), changed)]
    lines += _table(changed[:_ROWS], compared, outcomes)
    if len(changed) > _ROWS:
        lines += ["", f"{len(changed) - _ROWS:,} more are not shown here."]
    lines += ["", *_images(compared.sizes)]
    shown = {_key(verdict) for point in changed for verdict in point}
    rest = [check for check in gate.checks if check.outcome != "pass" and _key(check) not in shown]
    if rest:
        lines += ["", *check_table(rest[:_ROWS])]
    if gate.new:
        names = ", ".join(markdown_cell(name) for name in gate.new[:_ROWS])
        lines += ["", f"Without a baseline: {names}."]
    if link:
        lines += ["", f"[All figures]({link})"]
    return "\n".join(lines) + "\n"


_Key = tuple[str, str, str, str, str]


def _key(of: Verdict | Check) -> _Key:
    return of.target, of.bench, labels.parameters(of.params), of.lane, of.statistic


def _by_point(verdicts: Sequence[Verdict]) -> list[list[Verdict]]:
    """The statistics of each point, in the order that was asked for."""
    points: dict[_Key, list[Verdict]] = {}
    for verdict in verdicts:
        points.setdefault((*_key(verdict)[:4], ""), []).append(verdict)
    return list(points.values())


def _outcomes(checks: Sequence[Check]) -> dict[_Key, str]:
    return {_key(check): check.outcome for check in checks if check.kind == "baseline"}


def _is_changed(point: Sequence[Verdict], sizes: Sequence[SizePair]) -> bool:
    size = _size_of(point[0], sizes)
    return any(verdict.figures[0] != verdict.figures[1] for verdict in point) or (
        size is not None and size.more != 0
    )


def _rank(point: Sequence[Verdict], outcomes: dict[_Key, str]) -> tuple[int, float]:
    """Worse ones first, then the largest change."""
    worst = min(
        ("fail", "inconclusive", "pass").index(outcomes.get(_key(verdict), "pass"))
        for verdict in point
    )
    return worst, -max(abs(_change(verdict) or 0.0) for verdict in point)


def _change(verdict: Verdict) -> float | None:
    before, after = verdict.figures
    return None if not before or after is None else after / before - 1.0


def _sentence(points: int, changed: Sequence[Sequence[Verdict]]) -> str:
    counted = all(point[0].bench.startswith(_COUNTED) for point in changed)
    what = "function" if counted and changed else "point"
    if not changed:
        return f"Nothing changed, of {points:,} points."
    return f"{len(changed):,} of {points:,} {what}{'s' * (points != 1)} changed."


def _table(
    points: Sequence[Sequence[Verdict]], compared: Compared, outcomes: dict[_Key, str]
) -> list[str]:
    if not points:
        return []
    counted = all(point[0].bench.startswith(_COUNTED) for point in points)
    first = "function" if counted else "benchmark"
    heads = [first, "before → after", "change", "bytes of code", "where", ""]
    rows = [list(_row(point, compared, outcomes)) for point in points]
    used = [i for i, head in enumerate(heads) if i == 0 or any(row[i] for row in rows)]
    table = [[row[i] for i in used] for row in ([heads[i] for i in range(len(heads))], *rows)]
    lines = [f"| {' | '.join(row)} |" for row in table]
    return ["", lines[0], "|---" * len(used) + "|", *lines[1:]]


def _row(point: Sequence[Verdict], compared: Compared, outcomes: dict[_Key, str]) -> Iterator[str]:
    first = point[0]
    moved = [verdict for verdict in point if verdict.figures[0] != verdict.figures[1]]
    shown = moved[0] if moved else first
    before, after = (figure_text(figure) for figure in shown.figures)
    named = "" if shown is first else f"{markdown_cell(shown.statistic)} "
    change, size = _change(shown), _size_of(first, compared.sizes)
    judged = {outcomes.get(_key(verdict), "pass") for verdict in point}
    yield _name(first)
    yield (
        f"{named}{before} → {after} {markdown_cell(labels.unit(shown.units[1]))}"
        if moved
        else (f"{before} {markdown_cell(labels.unit(shown.units[1]))}")
    )
    yield percent(change) if moved and change is not None else ""
    yield "" if size is None else size.text.replace(" bytes", "")
    yield _where(first, compared.explained)
    yield next((_OUTCOMES[word] for word in ("fail", "inconclusive") if word in judged), "")


def _name(point: Verdict) -> str:
    bench = point.bench.removeprefix(_COUNTED)
    rest = ", ".join(word for word in (labels.parameters(point.params), point.lane) if word)
    return _code(bench) + (f" {markdown_cell(rest)}" if rest else "")


def _code(name: str) -> str:
    """A name as code: nothing in it is markup."""
    text = " ".join(visible(name).split())
    return markdown_cell(text) if "`" in text else f"`{text}`".replace("|", "\\|")


def _is_of(target: str, point: Verdict) -> bool:
    return point.target == target or point.target.startswith((f"{target} ", f"{target},"))


def _size_of(point: Verdict, sizes: Sequence[SizePair]) -> SizePair | None:
    return next(
        (size for size in sizes if size.bench == point.bench and _is_of(size.target, point)), None
    )


def _where(point: Verdict, explained: Sequence[Explained]) -> str:
    """The functions in which a typical sample changed. "" if not known, or the point is one of
    several of its benchmark."""
    lanes = [
        lane
        for lane in explained
        if lane.bench == point.bench
        and _is_of(lane.target, point)
        and point.lane in ("", lane.lane)
    ]
    if len(lanes) != 1:
        return ""
    moved = [function for function in lanes[0].differences if function.more]
    shown = [_reason(function) for function in moved[:_REASONS]]
    rest = moved[_REASONS:]
    if rest:
        shown.append(f"{sum(function.more for function in rest):+,} in {len(rest)} others")
    return ", ".join(shown)


def _reason(function: Difference) -> str:
    return f"{function.more:+,} in {_code(function.name)}"


def _images(sizes: Sequence[SizePair]) -> list[str]:
    """A line for each target whose image is known on both sides."""
    lines = []
    for target in dict.fromkeys(size.target for size in sizes if not size.bench):
        images = [size for size in sizes if size.target == target and not size.bench]
        texts = ", ".join(f"{size.kind} {size.text}" for size in images)
        lines.append(f"Image on {markdown_cell(target)}: {texts}.")
    return lines
