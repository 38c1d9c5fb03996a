# SPDX-License-Identifier: Apache-2.0
"""The device of the bench raises the interrupt at the cycle that was asked for, and counts on."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rtl.test_cores import IBEX, VEXRISCV, measured, samples

pytestmark = pytest.mark.counted
HANDLER, TASK = "irq/device-to-handler", "irq/device-to-task"
PHASES = 64  # suite/bench/irq_device.c
ROUNDS = 3
SETTINGS = ("--set", "interrupted=loop,idle", "--set", f"samples={ROUNDS * PHASES}")


@pytest.mark.parametrize("target", [IBEX, VEXRISCV])
def test_a_request_meets_every_place_of_a_loop(target: str, tmp_path: Path) -> None:
    (run,) = measured(
        tmp_path, HANDLER, TASK, "irq/to-handler", "irq/to-task", *SETTINGS, "--target", target
    )
    values = samples(run)
    by_point = {
        (record.bench, record.params.get("interrupted")): values[f"{record.id} {record.bench}"]
        for record in run.manifest.records
        if record.status == "ok" and record.bench.startswith("irq/")
    }
    assert {bench for bench, _ in by_point} == {HANDLER, TASK, "irq/to-handler", "irq/to-task"}
    raised_by_software = min(by_point["irq/to-handler", None])
    for how in ("loop", "idle"):
        handler, task = by_point[HANDLER, how], by_point[TASK, how]
        assert len(handler) == len(task) == ROUNDS * PHASES
        # The same phase meets the same state of the core: after the first round nothing is cold.
        second, third = (handler[n * PHASES : (n + 1) * PHASES] for n in (1, 2))
        assert second == third
        assert all(late < woken for late, woken in zip(handler, task, strict=True))
    # The core ends an instruction of the loop, and takes the same way as a request by software. On
    # a core with caches the loop may have displaced any line of that way: the placement decides.
    longest = raised_by_software if target == IBEX else with_empty_caches(target, tmp_path / "cold")
    quickest = min(by_point[HANDLER, "loop"])
    assert raised_by_software - 40 <= quickest <= longest + 40


def with_empty_caches(target: str, output: Path) -> int:
    """Cycles of a request by software whose way is in no cache."""
    options = ("--instrument", "scope", "--caches", "flushed", "--target", target)
    (run,) = measured(output, "irq/to-handler", *SETTINGS[2:], *options)
    (cycles,) = (v for name, v in samples(run).items() if name.endswith("irq/to-handler"))
    return max(cycles)


def test_qemu_has_no_such_device(tmp_path: Path) -> None:
    (run,) = measured(tmp_path, HANDLER, "--quick", "--target", "freertos/ibex@emulated")
    (record,) = [record for record in run.manifest.records if record.bench == HANDLER]
    assert record.status == "n/a"
    assert record.reason == "this board has no device that raises the suite's interrupt"


def test_a_board_of_two_cores_has_none(tmp_path: Path) -> None:
    """Its software interrupts need a reason, which a device does not leave."""
    (run,) = measured(tmp_path, TASK, "--quick", "--target", "freertos/ibex2@rtl")
    (record,) = [record for record in run.manifest.records if record.bench == TASK]
    assert record.status == "n/a"
