# SPDX-License-Identifier: Apache-2.0
"""Rows that are no series: of several threads, of a histogram, of cyclictest's screen."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from kadenz.errors import UsageError

Column = npt.NDArray[Any]

# The columns of `cyclictest -v`. Times of day have no space.
VERBOSE = ["thread", "cycle", "latency"]
_VERBOSE = re.compile(r"\d+:\s+\d+:\s+-?\d+")
_SCREEN = re.compile(r"^T:\s*\d+\s*\(\s*\d+\)\s*P:", re.MULTILINE)
_HISTOGRAM = re.compile(r"^#\s*(Histogram\b|Total:|Min Latencies:)", re.MULTILINE | re.IGNORECASE)
_VERBOSELY = (
    "Record each latency: cyclictest -v -t1 -i1000 >FILE; then kadenz jitter FILE --period-us 1000 "
    "--unit us --kind latencies"
)
_THREADS = {"thread", "tid", "pid", "task", "cpu", "core"}
_MOST_THREADS = 256
# Of the counts of a histogram, this share is in that share of its rows, side by side.
_GATHERED, _AMONG = 0.9, 0.1
_FEWEST_BINS = 50
# Digits that C++ streams and %g print, without zeros at the end.
_DEFAULT_DIGITS = 6


def refuse_summary(file: Path, text: str) -> None:
    """UsageError for what cyclictest shows on the screen, and for its histogram."""
    if _SCREEN.search(text):
        raise UsageError(
            f"{file}: the summary that cyclictest shows, not a series", remedy=_VERBOSELY
        )
    if _HISTOGRAM.search(text):
        raise UsageError(
            f"{file}: a histogram, with a count for each latency and not a latency for each cycle",
            remedy=_VERBOSELY,
        )


def is_verbose(line: str) -> bool:
    """Whether a line is one of `cyclictest -v`."""
    return _VERBOSE.fullmatch(line) is not None


def without_preamble(rows: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """Rows of `cyclictest -v` without the lines before the first; other rows as they are."""
    verbose = [number for number, (_, line) in enumerate(rows) if is_verbose(line)]
    return rows[verbose[0] :] if 2 * len(verbose) > len(rows) else rows


def refuse_histogram(file: Path, columns: Sequence[Column]) -> None:
    """UsageError for columns (n,) of a histogram: 0, 1, 2, ..., and counts gathered in few rows."""
    index, *others = columns
    if index.size < _FEWEST_BINS or index.dtype.kind != "i" or (np.diff(index) != 1).any():
        return
    for counts in others:
        if counts.dtype.kind != "i" or (counts < 0).any() or 2 * (counts == 0).sum() < counts.size:
            continue
        sums = np.concatenate(([0], np.cumsum(counts)))
        width = int(_AMONG * counts.size)
        most = (sums[width:] - sums[:-width]).max()
        if np.unique(counts).size > 2 and most >= _GATHERED * sums[-1]:
            raise UsageError(
                f"{file}: the columns are those of a histogram, a count for each latency and not a "
                "latency for each cycle",
                remedy=_VERBOSELY,
            )


def refuse_threads(
    file: Path, columns: Sequence[Column], names: Sequence[str], values: int
) -> None:
    """UsageError for the values of several threads: a column names them, or another one has the
    same cycle for each.
    """
    whole = [
        place
        for place, column in enumerate(columns)
        if place != values and column.dtype.kind == "i" and column.size
    ]
    for place in whole:
        threads = np.unique(columns[place])
        if not 1 < threads.size <= _MOST_THREADS:
            continue
        named = bool(names) and names[place].strip().lower() in _THREADS
        counted = any(
            _cycles_of(columns[place], columns[other]) for other in whole if other != place
        )
        if named or counted:
            column = names[place] if names else str(place)
            each = " or ".join(f"--only {column}={thread}" for thread in threads[:4])
            raise UsageError(
                f"{file}: the rows are of {threads.size} threads (column {column}), which are "
                f"{threads.size} series",
                remedy=f"Analyse one at a time: {each}",
            )


def _cycles_of(threads: Column, cycles: Column) -> bool:
    """Whether `cycles` (n,) rise for each of the `threads` (n,), which have the same ones."""
    order = np.argsort(threads, kind="stable")
    same = np.diff(threads[order]) == 0
    rises = bool((np.diff(cycles[order])[same] > 0).all())
    return rises and 2 * np.unique(cycles).size <= cycles.size


def printed_step(cells: Sequence[str]) -> float:
    """The step of the last digit that is printed, 0.0 for whole numbers.

    With as many decimals in each cell, that of the last one. Else of the largest number that has
    all its digits, at least six: as C++ streams and %g print.
    """
    plain = [cell.strip().replace(",", ".").lstrip("+-").lower() for cell in cells]
    decimals = {len(text.partition(".")[2]) for text in plain if "e" not in text}
    if decimals == {0}:
        return 0.0
    if len(decimals) == 1 and not any("e" in text for text in plain):
        return float(10.0 ** -decimals.pop())
    digits = [text.partition("e")[0].replace(".", "").lstrip("0") for text in plain]
    most = max(_DEFAULT_DIGITS, *map(len, digits))
    largest = max((abs(float(text)) for text in plain if _is_finite(text)), default=0.0)
    return float(10.0 ** (np.floor(np.log10(largest)) + 1 - most)) if largest else 0.0


def _is_finite(text: str) -> bool:
    try:
        return bool(np.isfinite(float(text)))
    except ValueError:
        return False
