# SPDX-License-Identifier: Apache-2.0
"""A task set on the simulated core: schedulable by every tried arrival, late by the bound."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kadenz.store import read_run
from kadenz.store.bounds import read_bounds
from tests.rtl.test_arrivals import GIVE
from tests.rtl.test_cores import IBEX, kadenz

pytestmark = pytest.mark.counted
SET = """
name = "two"
[overheads]
tick = "275 cycles"
release = "98 cycles"
start = "159 cycles"
job = "826 cycles"
jitter = "2 cycles"
[[task]]
name = "fast"
period = "1 kernel ticks"
deadline = "{deadline} cycles"
execution = "20000 cycles"
[[task]]
name = "slow"
period = "4 kernel ticks"
execution = "60000 cycles"
"""


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A run of what the other overheads need, and one of a service's bounds."""
    folder = tmp_path_factory.mktemp("budget")
    measured = {
        "overheads": ("run", "interference/tick", "interference/blocking", "cyclic/wakeup-latency"),
        "services": ("bound", GIVE, "--set", "waiter=1"),
    }
    for name, command in measured.items():
        few = ("--set", "samples=20") if name == "overheads" else ()
        answer = kadenz(*command, *few, "--target", IBEX, "--output", str(folder / name))
        assert answer.return_value == 0, answer.output
    return {name: next((folder / name).iterdir()) for name in measured}


def budget(folder: Path, runs: dict[str, Path], deadline: int, *options: str) -> tuple[int, Any]:
    """Exit code and answer."""
    file = folder / "set.toml"
    file.write_text(SET.format(deadline=deadline))
    answer = kadenz("budget", str(file), *map(str, runs.values()), "--json", *options)
    assert answer.exception is None, answer.output
    return answer.return_value, json.loads(answer.stdout)


def test_a_run_keeps_its_bounds(runs: dict[str, Path]) -> None:
    bounds = read_bounds(read_run(runs["services"]))
    assert bounds is not None
    (service,) = bounds.services
    assert (service.bench, service.tick) == (GIVE, False)
    assert bounds.unit == "cycle" and bounds.at_most["sleepers"] == 3
    for end in (service.handler, service.task):
        assert end.bound is not None and 0 < end.tried <= end.bound == sum(end.parts.values())
    assert service.task.section


def test_a_set_within_every_tried_arrival_is_late_by_the_bound(
    runs: dict[str, Path], tmp_path: Path
) -> None:
    far = 90_000
    (code, bound), (undecided, tried) = (
        budget(tmp_path, runs, far, "--blocking", basis) for basis in ("bound", "tried")
    )
    assert (code, undecided) == (0, 4)
    fast, slow = bound["tasks"]
    assert (fast["basis"], slow["basis"]) == ("bound", None)
    assert any("sleepers 3" in text for text in bound["overheads"]["blocking"]["premises"])
    assert tried["tasks"][0]["bound"] < fast["bound"]
    between = int(fast["bound"]) - 1
    assert budget(tmp_path, runs, between)[0] == 1
    assert budget(tmp_path, runs, between, "--blocking", "tried")[0] == 4
    assert budget(tmp_path, runs, between)[1]["schedulable"] is False
