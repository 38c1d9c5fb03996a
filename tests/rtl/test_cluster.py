# SPDX-License-Identifier: Apache-2.0
"""The coherent VexRiscv cluster, whose Verilog `make rtl-cluster` generates."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from kadenz.config import inventory
from kadenz.config.target_name import parse_target
from kadenz.errors import ToolMissing
from kadenz.lab.conformance import conformance
from kadenz.targets import rtl_core
from tests.rtl.planted import plant
from tests.rtl.test_across_cores import CAMPAIGN, LATE, faulty_run, values
from tests.rtl.test_cores import measured, samples
from tests.rtl.test_two_cores import ALONE, IBEX_2
from tests.rtos.images import OF_SEVERAL_CORES

CLUSTER = "vexriscv-cluster"


def is_there() -> bool:
    try:
        rtl_core.require(CLUSTER)
    except ToolMissing:
        return False
    return True


needs_cluster = pytest.mark.skipif(
    not is_there(), reason="no Verilog of the VexRiscv cluster (make rtl-cluster)"
)


@pytest.mark.counted
@needs_cluster
def test_tasks_across_coherent_cores_are_measured_and_a_second_run_is_the_same(
    tmp_path: Path,
) -> None:
    """Bytes that one core writes and the other reads come through both caches."""
    target = f"freertos/{CLUSTER}@rtl"
    options = ("--quick", "--target", target, "--set", "samples=10", "--set", "core_b=1")
    arguments = ("itc/queue", "smp/clocks", "smp/wake-up", *options)
    (first,) = measured(tmp_path / "first", *arguments)
    (again,) = measured(tmp_path / "again", *arguments, "--fresh")
    taken = samples(first)
    assert samples(again) == taken and len(taken) == 3 + 3  # and three of the clock
    (clocks,) = [values for name, values in taken.items() if name.endswith("smp/clocks")]
    assert set(clocks) == {0}  # one clock


@pytest.mark.counted
@needs_cluster
def test_freertos_conforms_on_the_coherent_cluster() -> None:
    answer = conformance(parse_target(f"freertos/{CLUSTER}@rtl"))
    assert answer.conforms, [case for case in answer.cases if case.result == "fail"]
    assert answer.count("pass") >= 32 + len(OF_SEVERAL_CORES)


@pytest.mark.counted
@needs_cluster
@pytest.mark.parametrize(
    ("fault", "function"), [("lost_call", "kdz_core_call"), ("missing_lock", "kdz_core_lock")]
)
def test_conformance_finds_a_fault_between_the_cores(
    fault: str, function: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cases of one core pass, and one of several cores fails."""
    limit = "cycle_limit = 20000000"
    target = plant(fault, function, tmp_path, monkeypatch, base=CLUSTER, tier=limit)
    answer = conformance(parse_target(target))
    assert {case.case for case in answer.cases if case.result == "pass"} >= ALONE
    assert {case.case for case in answer.cases if case.result == "fail"} & OF_SEVERAL_CORES


@pytest.mark.counted
@needs_cluster
def test_an_end_before_its_begin_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = plant("late_counter", "kdz_cores_begin", tmp_path, monkeypatch, base=CLUSTER)
    run = faulty_run(tmp_path, CAMPAIGN.replace(IBEX_2, target))
    assert all(abs(value - LATE) < 1000 for value in values(run, "smp/clocks"))
    (invalid,) = [entry for entry in run.manifest.records if entry.status == "invalid"]
    assert "END came" in invalid.reason
    assert (invalid.params["core_a"], invalid.params["core_b"]) == (0, 1)


def test_without_its_verilog_the_remedy_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(ToolMissing, match="has not been generated") as raised:
        rtl_core.build(CLUSTER)
    assert "make rtl-cluster" in raised.value.remedy
    assert not list(tmp_path.rglob("bench"))


def test_the_script_writes_where_the_lab_looks(tmp_path: Path) -> None:
    """Both compute the folder's digest."""
    script = inventory.root() / "scripts" / "rtl-cluster.sh"
    planned = subprocess.run(
        [script, "--plan"],
        env={**os.environ, "XDG_CACHE_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    folder = next(word for word in planned.split() if word.startswith(str(tmp_path)))
    file = rtl_core.core_file(CLUSTER)
    wanted = rtl_core._verilog(CLUSTER, file)
    assert Path(folder).name == wanted.name
