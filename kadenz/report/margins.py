# SPDX-License-Identifier: Apache-2.0
"""Lines that close a comparison: "A is 1.100 ± 0.020 times faster than B (itc/queue, median)"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kadenz.analysis.answers import MOST_PAIRS
from kadenz.analysis.margins import Between, Margin
from kadenz.report import digits, labels
from kadenz.report.standings import UNLIKE

NOT_THE_SAME = (
    f"{UNLIKE} Not the same work: the timing begins or ends elsewhere, or tasks of an executor are "
    "beside threads."
)


def lines(every: Sequence[Between], letters: Sequence[str]) -> list[str]:
    """A line for each largest margin, one where nothing decides. `letters` are the variants'."""
    if not every and len(letters) > 1:
        return ["No two of these systems share a unit: nothing is compared."]
    pair_lines = [
        sentence for between in every[:MOST_PAIRS] for sentence in _lines(between, letters)
    ]
    more = len(every) - MOST_PAIRS
    return pair_lines + [f"The table has {more} more system{'s' * (more > 1)}."] * (more > 0)


def _lines(between: Between, letters: Sequence[str]) -> list[str]:
    if between.margins:
        return [line(margin, letters) for margin in between.margins]
    counts = [f"{between.equal} equal within {100.0 * between.threshold:g} %"] * bool(between.equal)
    counts += [f"{between.undecided} undecided"] * bool(between.undecided)
    pair = f"{letters[between.first]} and {letters[between.second]}"
    if not counts:
        return [f"{pair} have no benchmark that can be compared."]
    return [f"No benchmark decides between {pair}: {', '.join(counts)}."]


def line(of: Margin, letters: Sequence[str]) -> str:
    """ "A takes 1.34 times fewer instructions than B (itc/queue, 60 bytes, median; the largest
    of 3 differences)"."""
    verb, word = labels.comparative(of.unit)
    bench = f"{of.bench} {UNLIKE}" if of.unlike else of.bench
    parts = of.target, bench, labels.parameters(of.params), of.statistic
    where = ", ".join(part for part in parts if part)
    largest = f"; the largest of {of.among} differences" if of.among > 1 else ""
    ahead, behind = letters[of.ahead], letters[of.behind]
    times = "" if of.factor is None else f"{digits.factor(*of.factor)} times "
    return f"{ahead} {verb} {times}{word} than {behind} ({where}{largest})"


def rows(every: Sequence[Between], letters: Sequence[str]) -> list[dict[str, Any]]:
    """The same as entries of a JSON document; a ratio of figures of 0 is null."""
    return [
        {
            "systems": [letters[between.first], letters[between.second]],
            "threshold": between.threshold,
            "equal": between.equal,
            "undecided": between.undecided,
            "largest": [_row(margin, letters) for margin in between.margins],
            "text": _lines(between, letters),
        }
        for between in every
    ]


def _row(of: Margin, letters: Sequence[str]) -> dict[str, Any]:
    value, low, high = of.factor or (None, None, None)
    return {
        "ahead": letters[of.ahead],
        "behind": letters[of.behind],
        "target": of.target,
        "bench": of.bench,
        "params": of.params,
        "statistic": of.statistic,
        "unit": of.unit.key,
        "clock_class": of.unit.clock_class,
        "factor": value,
        "factor_low": low,
        "factor_high": high,
        "benchmarks": of.among,
        "unlike": of.unlike,
    }
