# SPDX-License-Identifier: Apache-2.0
"""--caches: what the caches of a simulated core hold when a sample begins."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from kadenz.errors import KadenzError, UsageError
from kadenz.store import Run
from tests.rtl.test_cores import IBEX, VEXRISCV, kadenz, measured

pytestmark = pytest.mark.counted
BENCH = "perf/wake"
STATES = ("hot", "instructions-flushed", "data-flushed", "flushed")
DATA_LINE = 12  # cycles of a load whose line is not there, at most: docs/explanation/perf.md
WORDS_OF_A_LINE = 8
WAIT = 4


def lanes(run: Run) -> tuple[int, int, int]:
    """Cycles of the most frequent sample, and its lines of code and of data."""
    (record,) = [record for record in run.manifest.records if record.bench == BENCH]
    by_name = {lane.name: lane for lane in record.lanes}
    names = ("all", "all:icache-misses", "all:dcache-misses")
    values = [run.samples(record, by_name[name]).tolist() for name in names]
    (most_frequent, times), *_ = Counter(zip(*values, strict=True)).most_common()
    assert times >= len(values[0]) - 3  # the first, and one in which a tick came
    return most_frequent


def state_of(run: Run) -> str:
    return next(e.value for e in run.manifest.conditions if e.kind == "cache_state")


@pytest.fixture(scope="module")
def states(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[int, int, int]]:
    chosen = [word for state in STATES for word in ("--caches", state)]
    runs = measured(
        tmp_path_factory.mktemp("states"),
        *(BENCH, "--target", VEXRISCV, "--instrument", "scope", "--set", "samples=20"),
        *chosen,
    )
    return {state_of(run): lanes(run) for run in runs}


def test_a_flushed_cache_fetches_each_line_again(states: dict[str, tuple[int, int, int]]) -> None:
    _, code, data = states["hot"]
    assert states["instructions-flushed"][1] > code and states["instructions-flushed"][2] == data
    assert states["data-flushed"][1] == code and states["data-flushed"][2] > data
    assert states["flushed"][1:] == (states["instructions-flushed"][1], states["data-flushed"][2])
    assert max(states.values()) == states["flushed"]


def test_lines_of_data_explain_the_difference(
    states: dict[str, tuple[int, int, int]],
) -> None:
    hot, flushed = states["hot"], states["data-flushed"]
    lines = flushed[2] - hot[2]
    assert DATA_LINE / 2 * lines < flushed[0] - hot[0] <= DATA_LINE * lines


def test_wait_states_multiply_the_lines_of_code_exactly(
    states: dict[str, tuple[int, int, int]], tmp_path: Path
) -> None:
    (run,) = measured(
        tmp_path,
        *(BENCH, "--target", VEXRISCV, "--instrument", "scope", "--set", "samples=20"),
        *("--caches", "flushed", "--wait-states", f"rom={WAIT}"),
    )
    slow, quick = lanes(run), states["flushed"]
    assert slow[1:] == quick[1:]
    lines = (slow[0] - quick[0]) / (WAIT * WORDS_OF_A_LINE)
    # Constants lie in the ROM as well: those lines of data wait as long.
    assert lines.is_integer() and quick[1] <= lines <= quick[1] + quick[2]


@pytest.mark.parametrize(
    ("arguments", "message", "remedy"),
    [
        (
            ("--target", VEXRISCV, "--caches", "flushd"),
            "--caches flushd: no such state",
            "Did you mean `flushed`?",
        ),
        (
            ("--target", IBEX, "--instrument", "scope", "--caches", "flushed"),
            "no target of this run has caches that can be emptied",
            "freertos/vexriscv@rtl",
        ),
        (
            ("--target", VEXRISCV, "--caches", "flushed"),
            "empties caches when it sees a sample begin",
            "--instrument scope",
        ),
    ],
)
def test_what_cannot_be_done_is_refused(
    arguments: tuple[str, ...], message: str, remedy: str, tmp_path: Path
) -> None:
    answer = kadenz("run", BENCH, *arguments, "--output", str(tmp_path))
    assert isinstance(answer.exception, KadenzError), answer.output
    assert isinstance(answer.exception, UsageError) and message in answer.exception.message
    assert remedy in answer.exception.remedy
