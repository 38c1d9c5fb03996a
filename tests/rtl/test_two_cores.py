# SPDX-License-Identifier: Apache-2.0
"""Two Ibex on shared memory under FreeRTOS's SMP kernel."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kadenz.config.target_name import parse_target
from kadenz.lab.conformance import conformance
from kadenz.store import Run
from tests.rtl.planted import plant
from tests.rtl.test_cores import IBEX, measured, samples
from tests.rtos.images import OF_SEVERAL_CORES

pytestmark = pytest.mark.counted
IBEX_2 = "freertos/ibex2@rtl"
# What one core alone does still holds.
ALONE = {"a waiter lends its rank to the owner"}
QUICK = ("micro/task-switch-sampled", "itc/semaphore-counting", "irq/to-task")


def test_freertos_conforms_on_two_cores() -> None:
    answer = conformance(parse_target(IBEX_2))
    assert answer.conforms, [case for case in answer.cases if case.result == "fail"]
    assert answer.count("pass") >= 32 + len(OF_SEVERAL_CORES)


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    """A short run on one core and on two."""
    arguments = (*QUICK, "--quick", "--target", IBEX, "--target", IBEX_2, "--set", "samples=30")
    runs = measured(tmp_path_factory.mktemp("two"), *arguments)
    return {run.manifest.target.board: run for run in runs}


def test_samples_do_not_depend_on_how_the_run_is_split(
    quick: dict[str, Run], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All benchmarks in one boot after the other, then one alone."""
    options = ("--quick", "--target", IBEX_2, "--set", "samples=30", "--fresh")
    monkeypatch.setattr("kadenz.lab.ahead.os.cpu_count", lambda: 3)
    (again,) = measured(tmp_path / "all", *QUICK, *options)
    assert samples(again) == samples(quick["ibex2"])
    monkeypatch.setattr("kadenz.lab.ahead.os.cpu_count", lambda: 1)
    (alone,) = measured(tmp_path / "one", "itc/semaphore-counting", *options)
    of = {name.partition(" ")[2]: values for name, values in samples(quick["ibex2"]).items()}
    of_alone = {name.partition(" ")[2]: values for name, values in samples(alone).items()}
    assert of_alone["itc/semaphore-counting"] == of["itc/semaphore-counting"]


def test_the_run_says_what_is_shared_and_the_smp_kernel_costs_more(quick: dict[str, Run]) -> None:
    dual, single = quick["ibex2"].manifest, quick["ibex"].manifest
    assert dual.target.cores == 2 and single.target.cores == 1
    assert dual.target.settings["shared_memories"] == "rom, ram"
    assert single.target.settings["shared_memories"] == "none"
    assert "smp" in dual.target.settings["port"]
    on_one, on_two = samples(quick["ibex"]), samples(quick["ibex2"])
    for name, values in on_one.items():
        if not name.partition(" ")[2].startswith("clock/"):
            assert np.median(on_two[name]) > np.median(values), name


def test_conformance_names_what_a_lost_call_breaks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit = "cycle_limit = 30000000"
    target = plant("lost_call", "kdz_core_call", tmp_path, monkeypatch, tier=limit)
    answer = conformance(parse_target(target))
    assert {case.case for case in answer.cases if case.result == "pass"} >= ALONE
    first = next(case for case in answer.cases if case.result == "fail")
    assert first.case in OF_SEVERAL_CORES
    assert first.reason in (
        "a thread did not start on the other core",
        "a thread did not end in time",
    )


def test_conformance_names_where_a_missing_lock_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both cores change the kernel's lists at once, and one of them follows a broken one."""
    target = plant("missing_lock", "kdz_core_lock", tmp_path, monkeypatch)
    answer = conformance(parse_target(target))
    assert {case.case for case in answer.cases if case.result == "pass"} >= ALONE
    assert answer.failure is not None
    assert "exception in thread case: load access fault" in answer.failure.message
    assert "mepc is in vTaskSwitchContext" in answer.failure.detail
