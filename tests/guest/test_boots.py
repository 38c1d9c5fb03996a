# SPDX-License-Identifier: Apache-2.0
"""A guest is byte-identical between runs, records its conditions, and shows a planted
regression."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from kadenz.config import inventory
from kadenz.config.target_name import parse_target
from kadenz.lab.conformance import conformance
from kadenz.lab.job import Result
from tests.guest.conftest import machine, measured

pytestmark = pytest.mark.counted

BUSY_US = 200
FAST = "linux-rt/riscv64@guest"  # boots in 2 s


def bytes_of(result: Result) -> dict[str, bytes]:
    """The samples of a run by file."""
    return {file.name: file.read_bytes() for file in sorted(result.folder.glob("**/*.npy"))}


def wakeups(result: Result) -> NDArray[np.int64]:
    """Samples of cyclic/wakeup-latency without the cold ones."""
    (record,) = [r for r in result.manifest.records if r.bench.startswith("cyclic/")]
    assert record.status == "ok", record.reason
    lane = next(lane for lane in record.lanes if lane.companion_of == "")
    assert lane.planned == lane.taken + lane.missed
    values: NDArray[np.uint32] = np.load(result.folder / lane.file)
    return values[record.cold :].astype(np.int64)


@pytest.mark.parametrize(
    "target", ["linux-rt/x86_64@guest", "linux-rt/aarch64@guest", "linux/riscv64@guest"]
)
def test_two_runs_of_a_guest_are_byte_identical(target: str, tmp_path: Path) -> None:
    first = measured(target, tmp_path / "a", samples=200, fresh=True)
    again = measured(target, tmp_path / "b", samples=200, fresh=True)
    assert bytes_of(first), "no samples: nothing was compared"
    assert bytes_of(first) == bytes_of(again)
    assert first.manifest.clock.clock_class == "instruction"
    assert first.manifest.clock.unit == "virtual ns" and first.manifest.clock.hz == 0
    rt = target.startswith("linux-rt/")
    assert (first.manifest.target.settings["preempt"] == "PREEMPT_RT") == rt
    assert first.manifest.build is not None
    assert first.manifest.build.kernel_source.startswith("Debian linux-")
    assert {"kernel", "guest", "suite", "port"} <= {p.part for p in first.manifest.build.parts}
    # 2 ns of virtual time per instruction, checked with a loop of known length.
    assert first.manifest.clock.instructions_per_count == 0.5
    assert "a loop of 50,000 instructions: " in first.manifest.clock.checked_against
    error_ppm = first.manifest.clock.rate_error_ppm
    assert error_ppm is not None and abs(error_ppm) <= 2000


def test_a_load_inside_runs_is_reported_and_repeatable(tmp_path: Path) -> None:
    idle = measured(FAST, tmp_path / "idle", load="none")
    first = measured(FAST, tmp_path / "a", load="cpu+timers", fresh=True)
    again = measured(FAST, tmp_path / "b", load="cpu+timers", fresh=True)
    assert bytes_of(first) == bytes_of(again) != bytes_of(idle)
    assert idle.manifest.loads == []
    rates = {load.name: load.rate for load in first.manifest.loads}
    # A timer of 97.003 µs counts in the guest's clock, on any machine.
    assert rates["timers"] == pytest.approx(1e9 / 97_003, rel=0.02)
    assert rates["cpu"] > 0
    assert first.manifest.condition_values["load"] == "cpu+timers"


def test_a_tuning_of_kernel_threads_is_in_force_inside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A timerfd expires in the thread ktimers/0 of Debian's PREEMPT_RT. With the study's priority
    # the thread runs at once; as an ordinary thread it shares the processor with the load.
    lab, built = tmp_path / "lab", inventory.build_folder()
    tunings = lab / "tunings"
    tunings.mkdir(parents=True)
    (lab / "kadenz.toml").write_text("")
    (lab / "build").symlink_to(built)  # its images are compiled already
    monkeypatch.setenv("KADENZ_LAB", str(lab))
    (tunings / "ordinary.toml").write_text(
        'title = "ordinary timers"\n[[thread]]\nmatch = "ktimer*/*"\npolicy = "other"\n'
    )
    worst = {}
    for tuning in ("cereia2011-case2", "ordinary"):
        result = measured(
            "linux-rt/x86_64@guest", tmp_path / tuning, timer="timerfd", load="cpu", tuning=tuning
        )
        worst[tuning] = wakeups(result).max()
        assert result.manifest.condition_values["tuning"] == tuning
        assert tuning in result.folder.name
        said = (result.folder / "console.txt").read_text()
        priority = 51 if tuning == "cereia2011-case2" else 0
        assert (
            f"threads ktimer*/*: 1 set to policy {int(priority > 0)}, priority {priority}" in said
        )
    assert worst["ordinary"] > 10 * worst["cereia2011-case2"], worst


def test_a_rule_without_a_thread_is_a_warning(tmp_path: Path) -> None:
    result = measured("linux/riscv64@guest", tmp_path, tuning="cereia2011-case2")
    told = [w.message for w in result.manifest.warnings if w.code == "tuning-without-thread"]
    assert any("`ktimer*/*`" in text for text in told), told


def test_the_port_conforms_inside_a_guest() -> None:
    machine(FAST)
    answer = conformance(parse_target(FAST))
    assert answer.conforms, answer.failure
    assert answer.hello is not None and answer.hello.arch == "riscv64"


def test_a_planted_regression_is_found_with_its_size(tmp_path: Path) -> None:
    # The thread's period is 1 µs longer than the benchmark's: within 1000 samples its work
    # coincides with a wake-up in every phase, and the largest shift is the length of the work.
    before = wakeups(measured(FAST, tmp_path / "before", samples=1100))
    after = wakeups(
        measured(
            FAST,
            tmp_path / "after",
            samples=1100,
            disturbance=f"{BUSY_US}us/1001us",
        )
    )
    shift_us = (after.max() - before.max()) / 1000.0
    # The wake-up's interrupt is served during the thread's work and its switch follows: the shift
    # equals the length of the work up to a few microseconds of code path, here 2 %.
    assert shift_us == pytest.approx(BUSY_US, rel=0.05)
    assert abs(float(np.median(after) - np.median(before))) < 5_000
