# SPDX-License-Identifier: Apache-2.0
"""Two Ibex on shared memory under FreeRTOS's SMP kernel."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from kadenz.config.target_name import parse_target
from kadenz.lab.conformance import conformance
from kadenz.store import Run
from tests.rtl.planted import plant
from tests.rtl.test_cores import IBEX, measured, samples
from tests.rtos.images import OF_SEVERAL_CORES

pytestmark = pytest.mark.emulated
IBEX_2 = "freertos/ibex2@rtl"
QUICK = ("micro/task-switch-sampled", "itc/semaphore-counting", "irq/to-task")


def test_freertos_conforms_on_two_cores() -> None:
    answer = conformance(parse_target(IBEX_2))
    assert answer.conforms, [case for case in answer.cases if case.result == "fail"]
    assert answer.count("pass") >= 32 + len(OF_SEVERAL_CORES)


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    """A short run on one core and on two."""
    words = (*QUICK, "--quick", "--target", IBEX, "--target", IBEX_2, "--set", "samples=30")
    runs = measured(tmp_path_factory.mktemp("two"), *words)
    return {run.manifest.target.board: run for run in runs}


def test_samples_do_not_depend_on_how_the_run_is_split(
    quick: dict[str, Run], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All benchmarks in one boot after the other, then one alone."""
    words = ("--quick", "--target", IBEX_2, "--set", "samples=30")
    monkeypatch.setattr("kadenz.lab.ahead.os.cpu_count", lambda: 3)
    (again,) = measured(tmp_path / "all", *QUICK, *words)
    assert samples(again) == samples(quick["ibex2"])
    monkeypatch.setattr("kadenz.lab.ahead.os.cpu_count", lambda: 1)
    (alone,) = measured(tmp_path / "one", "itc/semaphore-counting", *words)
    of = {name.partition(" ")[2]: values for name, values in samples(quick["ibex2"]).items()}
    found = {name.partition(" ")[2]: values for name, values in samples(alone).items()}
    assert found["itc/semaphore-counting"] == of["itc/semaphore-counting"]


def test_the_run_says_what_is_shared_and_the_smp_kernel_costs_more(quick: dict[str, Run]) -> None:
    two, one = quick["ibex2"].manifest, quick["ibex"].manifest
    assert two.target.cores == 2 and one.target.cores == 1
    assert two.target.settings["shared_memories"] == "rom, ram"
    assert one.target.settings["shared_memories"] == "none"
    assert "smp" in two.target.settings["port"]
    on_one, on_two = samples(quick["ibex"]), samples(quick["ibex2"])
    for name, values in on_one.items():
        if not name.partition(" ")[2].startswith("clock/"):
            assert np.median(on_two[name]) > np.median(values), name


@pytest.fixture(params=[("lost_call", "kdz_core_call"), ("missing_lock", "kdz_core_lock")])
def faulty(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[str]:
    """A lab with a board like ibex2 in which one function of cores.h has a fault. Its target."""
    fault, function = request.param
    yield plant(fault, function, tmp_path, monkeypatch, tier="cycle_limit = 5000000")


def test_conformance_finds_a_fault_between_cores(faulty: str) -> None:
    answer = conformance(parse_target(faulty))
    assert not answer.conforms
    passed = {case.case for case in answer.cases if case.result == "pass"}
    assert "a waiter lends its rank to the owner" in passed  # what one core alone does still holds
    assert "two cores at once lose nothing" not in passed
