# SPDX-License-Identifier: Apache-2.0
"""Functions that another runner timed, by the names in its output. Its times are not read.

A format is recognised by its own lines. Each of its names stands for a function of the image: of
those that the runner's macros make of it, the first one that the image has.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from kadenz.errors import UsageError
from kadenz.regular_files import MIB, read_regular

_MOST = 16 * MIB
CLOSURE = "::{closure"  # behind a function of Rust: the runner's own closure, with its code inside
_LINE_MOST = 1000  # letters; no runner prints a longer one with a name
_ESCAPES = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")

Names = Iterator[tuple[str, list[str]]]  # as printed, and functions that it may stand for


@dataclass(frozen=True)
class Timed:
    """A name in a runner's output, and the functions for which it may stand, best first."""

    name: str
    functions: tuple[str, ...]


@dataclass(frozen=True)
class RunnerOutput:
    """The names of an output, each once, and its format: "Google Benchmark"."""

    format: str
    timed: tuple[Timed, ...]


# ztest: subsys/testsuite/ztest/include/zephyr/ztest_benchmark.h, ztest_test.h of Zephyr.
_SUITE = re.compile(r"\s*(\w+) #{8,}\s*")
_BENCHMARK = re.compile(r"\s*(\w+) ={8,}\s*")
_TESTSUITE = re.compile(r"Running TESTSUITE (\w+)\s*")
_TEST = re.compile(r"START - (\w+)\s*")


def _ztest_benchmark(lines: Sequence[str]) -> Names:
    suite = ""
    for line in lines:
        if match := _SUITE.fullmatch(line):
            suite = match[1]
        elif (match := _BENCHMARK.fullmatch(line)) and suite:
            name = match[1]
            joined = f"{suite}_{name}"
            yield name, [f"z_ztest_benchmark_{joined}_fn", f"{joined}_fn", joined, name]


def _ztest(lines: Sequence[str]) -> Names:
    suite = ""
    for line in lines:
        if match := _TESTSUITE.fullmatch(line):
            suite = match[1]
        elif match := _TEST.fullmatch(line):
            name = match[1]
            yield name, [f"_{suite}_{name}_wrapper", f"{suite}_{name}", name]


# A test that is ignored was not executed.
_RUST = re.compile(r"test ([\w:]+)(?: - should panic)?\s+\.\.\. (?:bench:|ok|FAILED).*")


def _rust(lines: Sequence[str]) -> Names:
    for line in lines:
        if match := _RUST.fullmatch(line):
            yield match[1], [match[1], f"{match[1]}{CLOSURE}"]


def _criterion(lines: Sequence[str]) -> Names:
    """`group/function/parameter`; a long name has a line of its own, before."""
    before = ""
    for line in lines:
        head, _, figures = line.partition(" time: ")
        # Of a change to an earlier run it prints percentages in the same form.
        is_figures = figures.strip().startswith("[") and figures.rstrip().endswith("]")
        is_figures = is_figures and "%" not in figures
        name = (head.strip() or before.strip()) if is_figures else ""
        if name:
            parts = [part.split(" ")[0] for part in name.split("/")]
            yield name, [name, *(part for part in reversed(parts) if not part[:1].isdigit())]
        before = line


_UNITY = re.compile(r"[^:\s][^:]*:\d+:(\w+):(?:PASS|FAIL|IGNORE)\b.*")


def _unity(lines: Sequence[str]) -> Names:
    for line in lines:
        if match := _UNITY.fullmatch(line):
            yield match[1], [match[1]]


_GOOGLE_HEAD = re.compile(r"Benchmark\s+Time\s+CPU\s+Iterations.*")
_GOOGLE_CLOCKS = {"real_time", "process_time", "manual_time"}  # behind a name, as arguments are
_TIME_UNITS = {"ns", "us", "ms", "s"}


def _google(lines: Sequence[str]) -> Names:
    if not any(_GOOGLE_HEAD.fullmatch(line) for line in lines):
        return
    for line in lines:
        function, _, rest = _google_name(line.split()).partition("/")
        case = rest.partition("/")[0]  # of a fixture; else an argument
        if function and case[:1].isalpha() and ":" not in case and case not in _GOOGLE_CLOCKS:
            yield f"{function}/{case}", [f"{function}_{case}_Benchmark::BenchmarkCase"]
        elif function:
            yield function, [function]


def _google_name(columns: Sequence[str]) -> str:
    """What is before two times with their units, and the iterations; "" for another line."""
    for i in range(1, len(columns) - 4):
        units, iterations = {columns[i + 1], columns[i + 3]}, columns[i + 4]
        if units <= _TIME_UNITS and iterations.isdigit() and columns[i][0].isdigit():
            return " ".join(columns[:i])
    return ""


_PYTEST_HEAD = re.compile(
    r"Name \(time in \w+\) +(?:Min|Max|Mean|StdDev|Median|IQR|Outliers|OPS)\b.*"
)
_PYTEST_RULE = re.compile(r"-{20,}")
_PYTEST = re.compile(r"(\w+)(?:\[\S*\])? .*")


def _pytest(lines: Sequence[str]) -> Names:
    """Between two rules below the head of a table. A test is named for what it times."""
    rules = 0
    for line in lines:
        if _PYTEST_HEAD.fullmatch(line):
            rules = 2
        elif _PYTEST_RULE.fullmatch(line):
            rules = max(rules - 1, 0)
        elif rules == 1 and (match := _PYTEST.fullmatch(line)):
            yield match[1], [match[1], match[1].removeprefix("test_")]


_FORMATS: dict[str, Callable[[Sequence[str]], Names]] = {
    "Zephyr's ztest benchmark": _ztest_benchmark,
    "Zephyr's ztest": _ztest,
    "Google Benchmark": _google,
    "pytest-benchmark": _pytest,
    "Criterion": _criterion,
    "Rust's test": _rust,
    "Unity": _unity,
}


def read_names(file: Path) -> RunnerOutput:
    """The names in a runner's output. UsageError for a file without any."""
    try:
        content = read_regular(file, limit=_MOST)
    except OSError as error:
        raise UsageError(
            f"--functions-from {file}: {error.strerror}", remedy="Name the output of a runner"
        ) from None
    text = _ESCAPES.sub("", content.decode(errors="replace"))
    lines = [line for line in text.splitlines() if len(line) <= _LINE_MOST]
    for format, names in _FORMATS.items():
        known = {name: tuple(dict.fromkeys(functions)) for name, functions in names(lines)}
        if known:
            timed = tuple(Timed(name, functions) for name, functions in known.items())
            return RunnerOutput(format, timed)
    raise UsageError(
        f"--functions-from {file}: no runner's output is recognised",
        remedy=f"Known are {', '.join(_FORMATS)}. Name functions with --function",
    )
