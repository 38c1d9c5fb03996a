# SPDX-License-Identifier: Apache-2.0
"""Counter and scope agree: they differ by the constant number of instructions of a stamp.

The difference depends on how the compiler loads the counter's or the marker's address. It is
therefore a constant of a benchmark in an image, not of kadenz; docs/explanation/scope.md lists and
explains those of GCC 12.2.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from kadenz.store import Run, read_run
from tests.forked import kadenz

pytestmark = pytest.mark.counted

BOARDS = ("hifive1-revb", "stm32f4")
SINGLE = (
    "clock/read-cost",
    "itc/queue",
    "itc/stream-buffer",
    "itc/message-buffer",
    "itc/semaphore-counting",
    "itc/semaphore-binary",
    "itc/mutex",
    "irq/to-handler",
    "irq/to-task",
)
BATCHES = ("micro/task-switch", "micro/preemption")
# A stamp has at most two instructions for the counter's or marker's address, one for the mark, and
# the access itself; there are two stamps.
MOST_OFFSET = 8

Measure = Callable[[str, str], tuple[Path, "Samples"]]
Samples = dict[tuple[str, str], NDArray[np.int64]]  # by benchmark and lane


def _run(output: Path, board: str, instrument: str, *more: str) -> Path:
    """Measure everything once; the run folder."""
    # The clock's own benchmarks are part of every run.
    command = [name for name in (*SINGLE, *BATCHES) if not name.startswith("clock/")]
    command += ["--target", f"freertos/{board}@emulated", "--instrument", instrument]
    command += ["--output", str(output), "--quick", "--set", "iterations=5000", *more]
    answer = kadenz("run", *command)
    assert answer.returncode == 0, answer.stdout + answer.stderr
    (folder,) = [path for path in output.iterdir() if (path / "run.json").is_file()]
    return folder


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Measure:
    """Samples of a board under an instrument, measured once for all tests of this file."""

    @cache
    def measure(board: str, instrument: str) -> tuple[Path, Samples]:
        folder = _run(tmp_path_factory.mktemp(f"{board}-{instrument}"), board, instrument)
        return folder, _read(read_run(folder))

    return measure


def _read(run: Run) -> Samples:
    by_lane: Samples = {}
    for record in run.manifest.records:
        for index, lane in enumerate(record.lanes):
            if lane.taken:
                values = run.samples(record, index)
                by_lane[record.bench, lane.name] = np.asarray(values, dtype=np.int64)
    return by_lane


@pytest.mark.parametrize("board", BOARDS)
@pytest.mark.parametrize("bench", SINGLE)
def test_all_samples_differ_by_the_same_few_instructions(
    samples: Measure, board: str, bench: str
) -> None:
    counter, scope = (
        samples(board, instrument)[1][bench, "all"] for instrument in ("counter", "scope")
    )
    assert counter.size == scope.size > 0
    offsets = np.unique(counter - scope)
    assert offsets.size == 1, f"{board} {bench}: offsets {offsets.tolist()}"
    assert abs(int(offsets[0])) <= MOST_OFFSET


@pytest.mark.parametrize("board", BOARDS)
@pytest.mark.parametrize("bench", BATCHES)
def test_batches_differ_by_the_same_few_instructions_and_whole_ticks(
    samples: Measure, board: str, bench: str
) -> None:
    """A batch lasts several ticks; different code between batches shifts their positions.

    A tick in the other span moves its handler's instructions there. Differences beyond the constant
    are therefore handlers: more than the kernel's shortest one, 20 instructions.
    """
    for lane in ("batch", "empty-loop"):
        counter, scope = (
            samples(board, instrument)[1][bench, lane] for instrument in ("counter", "scope")
        )
        assert counter.size == scope.size > 0
        differences = counter - scope
        offset = int(differences[np.argmin(np.abs(differences))])
        assert abs(offset) <= MOST_OFFSET
        others = np.abs(differences - offset)
        assert np.all((others == 0) | (others > 20))


@pytest.mark.parametrize("board", BOARDS)
def test_two_runs_under_the_scope_give_the_same_bytes(
    samples: Measure, board: str, tmp_path: Path
) -> None:
    first, _ = samples(board, "scope")
    second = _run(tmp_path, board, "scope", "--fresh")
    files = sorted((first / "samples").glob("*.npy"))
    assert len(files) >= len(SINGLE)
    for file in files:
        assert file.read_bytes() == (second / "samples" / file.name).read_bytes(), file.name
