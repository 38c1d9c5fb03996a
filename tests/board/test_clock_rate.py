# SPDX-License-Identifier: Apache-2.0
"""The configured rate of a board's clock is measured; a PLL at 280 for 256 MHz is found.

QEMU stands for silicon behind servers that say `hardware`. With counted instructions its mcycle
runs at 1 GHz of the machine's own time, in which mtime counts 32768 Hz. Without, TIM2 counts real
nanoseconds, which this machine's clock can be compared with.
"""

from __future__ import annotations

import os
import re
import shutil
import time
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from kadenz.analysis.units import unit_of
from kadenz.cli import cli
from kadenz.cli.folders import find_runs
from kadenz.config import inventory
from kadenz.config.board import BoardTier, SecondClock
from kadenz.config.manifest import ClockEntry, RateEntry, Status
from kadenz.lab import rate
from kadenz.lab.rate import Intervals, by_second_clock, by_this_machine
from kadenz.store import Run, read_run
from tests import synthetic

TRUE_HZ = 1_000_000_000
PLANTED_HZ = TRUE_HZ * 256 // 280
MTIME = SecondClock(name="mtime", oscillator="32768 Hz crystal", hz=32768)


# ---- end to end ----------------------------------------------------------------------------------
def server(lab: Path, name: str, instead: str) -> None:
    """QEMU as silicon."""
    text = (inventory.root() / "servers" / f"{name}.toml").read_text()
    for old, new in {
        '"-icount", "shift=0,sleep=off",': instead,
        'clock = "instruction"': 'clock = "hardware"',
    }.items():
        assert old in text
        text = text.replace(old, new)
    (lab / "servers" / f"{name}-silicon.toml").write_text(text)


def board(lab: Path, copied: str, hz: int) -> None:
    """A board whose start-up believes in `hz`."""
    folder = lab / "boards" / f"{copied}-{hz}"
    shutil.copytree(inventory.board_folder(copied), folder)
    toml = folder / "board.toml"
    text = re.sub(
        r"\n\[tier.emulated\].*(?=\n\[tier.board\])", "", toml.read_text(), flags=re.DOTALL
    )
    text = text.replace('arch = "', 'kernels = ["freertos"]\narch = "', 1)
    toml.write_text(re.sub(r"^(qemu-\w+) =", r"\1-silicon =", text, flags=re.MULTILINE))
    (folder / "include").mkdir(exist_ok=True)
    (folder / "include" / "kdz_core_hz.h").write_text(
        f"#ifndef KDZ_CORE_HZ_H\n#define KDZ_CORE_HZ_H\n#define KDZ_CORE_HZ {hz}u\n#endif\n"
    )
    timer = (inventory.root() / "boards" / "stm32" / "f4" / "timer.c").read_text()
    (folder / "timer.c").write_text(timer.replace(f"{TRUE_HZ}u", f"{hz}u"))
    cmake = (folder / "board.cmake").read_text()
    cmake = cmake.replace("${stm32}/f4/timer.c", "${CMAKE_CURRENT_LIST_DIR}/timer.c")
    include_first = (
        "target_include_directories(kadenz-suite BEFORE PRIVATE ${KDZ_BOARD_DIR}/include)\n"
    )
    (folder / "board.cmake").write_text(cmake + include_first)


@pytest.fixture
def lab(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Path:
    """At the same path each time, so that its images are compiled once.

    Tests in real time run beside others: each has its own.
    """
    folder = inventory.root() / "build" / "tests" / f"clock-lab-{request.function.__name__}"
    for part in ("boards", "servers"):
        shutil.rmtree(folder / part, ignore_errors=True)
        (folder / part).mkdir(parents=True)
    (folder / "kadenz.toml").write_text("")
    server(folder, "qemu-riscv32", '"-icount", "shift=0,sleep=off",')
    server(folder, "qemu-arm", "")
    monkeypatch.setenv("KADENZ_LAB", str(folder))
    # Short intervals: a tenth of those on silicon.
    monkeypatch.setattr(rate, "_OF_SECOND_CLOCK_MS", 20)
    monkeypatch.setattr(rate, "_OF_THIS_MACHINE_MS", 400)
    return folder


def measured(name: str, by: str, folder: Path) -> Run:
    arguments = [
        "run",
        "clock/read-cost",
        "--set",
        "samples=20",
        "--target",
        f"freertos/{name}@board",
    ]
    arguments += ["--board", f"server={by}", "--output", str(folder)]
    answer = CliRunner().invoke(cli, arguments, standalone_mode=False)
    assert answer.exception is None and answer.return_value == 0, answer.output
    (run,) = find_runs([folder])
    return run


def checked(run: Run, configured: int, *, deviates: bool) -> str:
    """The run's manifest and figures; returns the terminal's words on it."""
    clock = run.manifest.clock
    assert clock.hz == configured and clock.rate is not None
    assert clock.rate.low < TRUE_HZ < clock.rate.high
    assert clock.deviates is deviates
    assert clock.rate_error_ppm == pytest.approx((clock.rate.hz / configured - 1) * 1e6, abs=1.0)
    messages = [w.message for w in run.manifest.warnings if w.code == "clock-deviates"]
    assert len(messages) == deviates
    hz = clock.rate.hz if deviates else configured
    assert unit_of("ticks", clock).scale == pytest.approx(1e6 / hz)
    shown = CliRunner().invoke(cli, ["show", str(run.path)], standalone_mode=False)
    assert ("914,285,714" in shown.output) is deviates
    return " ".join(shown.output.split())


@pytest.mark.counted
@pytest.mark.parametrize("configured", [TRUE_HZ, PLANTED_HZ])
def test_a_second_clock_of_the_board_tells(lab: Path, tmp_path: Path, configured: int) -> None:
    board(lab, "hifive1-revb", configured)
    run = measured(f"hifive1-revb-{configured}", "qemu-riscv32-silicon", tmp_path)
    clock = run.manifest.clock
    assert clock.checked_against.startswith("mtime (32768 Hz crystal, ± 100 ppm) over 0.1 s")
    assert clock.rate is not None and clock.rate.high / clock.rate.low < 1.0003
    shown = checked(run, configured, deviates=configured == PLANTED_HZ)
    assert bool(re.search(r"\+9\.3[78]%", shown)) is (configured == PLANTED_HZ)
    # The counts are in the run folder, by lane.
    (record,) = [r for r in run.manifest.records if r.bench == "clock/rate"]
    assert [lane.name for lane in record.lanes] == ["all", "all:second-clock"]
    assert [run.samples(record, lane).size for lane in record.lanes] == [5, 5]


# The interval holds if frames are read 0.05 s late at most: other tests hold the lab up for longer.
# A slow disk must not.
@pytest.mark.machine
@pytest.mark.counted
@pytest.mark.parametrize("configured", [TRUE_HZ, PLANTED_HZ])
def test_without_one_the_clock_of_this_machine_tells(
    lab: Path, tmp_path: Path, configured: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "fsync", lambda file: time.sleep(0.2))
    board(lab, "stm32f4", configured)
    run = measured(f"stm32f4-{configured}", "qemu-arm-silicon", tmp_path)
    assert run.manifest.clock.checked_against.startswith("this machine's clock over ")
    checked(run, configured, deviates=configured == PLANTED_HZ)


def test_an_emulators_clock_has_no_rate() -> None:
    """Counted instructions take no time, on the tier `board` neither."""
    clock = ClockEntry(clock_class="instruction", name="tim2", hz=0, bits=32, unit="instruction")
    assert not rate.measures_rate(clock, "board")
    silicon = ClockEntry(clock_class="hardware", name="dwt", hz=TRUE_HZ, bits=32, unit="cycle")
    assert rate.measures_rate(silicon, "board") and not rate.measures_rate(silicon, "host")


# ---- the interval --------------------------------------------------------------------------------
@given(
    hz=st.integers(1_000_000, 1_000_000_000),
    late=st.tuples(st.floats(0.0, 0.05), st.floats(0.0, 0.05)),
    line_s=st.floats(0.0, 0.02),
)
def test_the_interval_holds_the_rate_however_late_the_frames_are(
    hz: int, late: tuple[float, float], line_s: float
) -> None:
    here_s = 5.0 - late[0] + late[1] + line_s
    middle, low, high = by_this_machine(Intervals([hz] * 5, (), here_s), 0.05, 0.02)
    assert low <= hz * (1 + 1e-9) and hz <= high * (1 + 1e-9) and low < middle < high
    assert (high - low) / hz < 0.03


@given(hz=st.integers(1_000_000, 1_000_000_000), off_ppm=st.floats(-100.0, 100.0))
def test_the_interval_holds_the_rate_whatever_the_crystal_within_its_tolerance(
    hz: int, off_ppm: float
) -> None:
    steps = 6554
    counts = round(hz * steps / (32768 * (1 + off_ppm / 1e6)))
    middle, low, high = by_second_clock(Intervals([counts] * 5, [steps] * 5, 0.0), MTIME)
    assert low - 10 <= hz <= high + 10 and low < middle < high


@pytest.mark.parametrize(
    ("configured", "deviates"),
    [(1_000_000, False), (1_010_900, False), (1_011_200, True), (989_100, False), (988_900, True)],
)
def test_a_deviation_is_outside_the_interval_and_the_tolerance(
    configured: int, deviates: bool
) -> None:
    entry = RateEntry(against="", hz=1e6, low=0.99e6, high=1.01e6, tolerance_ppm=1000.0)
    clock = ClockEntry(
        clock_class="hardware", name="dwt", hz=configured, bits=32, unit="cycle", rate=entry
    )
    assert clock.deviates is deviates
    assert clock.seconds_hz == (1e6 if deviates else configured)


@pytest.mark.parametrize(
    ("status", "here_s", "why"),
    [("invalid", 5.0, "the second clock stands still"), ("ok", 0.1, "0.100 s are too short")],
)
def test_a_rate_that_could_not_be_measured_is_a_warning(
    tmp_path: Path, status: Status, here_s: float, why: str
) -> None:
    clock = ClockEntry(clock_class="hardware", name="mcycle", hz=TRUE_HZ, bits=32, unit="cycle")
    document = synthetic.manifest(synthetic.HIFIVE1, clock=clock)
    lanes: dict[str, synthetic.Samples] = {"all": np.full(5, 1000, np.uint32)}
    reason = why if status == "invalid" else ""
    point = synthetic.Point("clock/rate", lanes, status=status, reason=reason)
    run = read_run(synthetic.write_run(tmp_path, document, [point]))
    run.manifest.records[0].duration_s = here_s
    rate.enter_rate_of_board(run.manifest, run, BoardTier(verified=False), "uart")
    assert run.manifest.clock.rate is None
    (warning,) = [w for w in run.manifest.warnings if w.code == "clock-rate-unknown"]
    assert why in warning.message and "configured 1,000,000,000 Hz" in warning.message
