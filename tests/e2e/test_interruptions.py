# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C, a killed emulator, a full disk, lost frames: samples are kept and marked."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from kadenz.errors import WireDamaged
from kadenz.targets.qemu import QemuTarget
from kadenz.wire.frame import BadFrame, Type, decode_frame
from tests.e2e.conftest import BOARDS, KADENZ, LINUX, begun, kadenz, runs_in
from tests.processes import children, slept
from tests.waiting import PATIENCE_S, wait_for

LONG = ("run", "micro/task-switch-sampled", "--set", "samples=2000000")


def start(*arguments: str | Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [KADENZ, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def measured(folder: Path) -> bool:
    """True once the manifest on the disk counts samples of the benchmark. It does so each second:
    samples of a record that began since then are not in a run whose lab is killed."""
    manifests = [json.loads(file.read_text()) for file in folder.glob("*.partial/run.json")]
    return any(
        record["bench"].startswith("micro/") and record["lanes"][0]["taken"] > 5000
        for document in manifests
        for record in document["records"]
    )


@pytest.mark.counted
def test_ctrl_c_keeps_the_samples_of_an_emulated_target(built: None, tmp_path: Path) -> None:
    process = start(*LONG, "--target", BOARDS[1], "--output", tmp_path)
    wait_for(lambda: process.poll() is not None or measured(tmp_path))
    qemu = children(process.pid)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 1
    assert "stopping; samples that have arrived are kept" in errors
    assert "Traceback" not in errors
    run = runs_in(tmp_path)[BOARDS[1]]
    assert run.manifest.partial
    assert run.manifest.partial_reason == "interrupted (Ctrl-C)"
    assert not run.path.name.endswith(".partial")
    record = next(r for r in run.manifest.records if r.bench.startswith("micro/"))
    assert record.status == "failed" and "stopped" in record.reason
    assert record.lanes[0].taken == run.samples(record).size > 5000
    lane = record.lanes[0]
    assert (lane.missed, lane.not_measured) == (0, lane.planned - lane.taken)
    assert qemu and not any(Path(f"/proc/{pid}").exists() for pid in qemu)


def test_ctrl_c_lets_the_linux_target_deliver_its_samples(built: None, tmp_path: Path) -> None:
    process = start(
        *("run", "itc/pipe", "--set", "samples=100000", "--allow", "no-realtime"),
        *("--target", LINUX, "--output", tmp_path),
    )
    wait_for(lambda: begun(tmp_path, "itc/pipe"))
    (suite,) = children(process.pid)
    wait_for(lambda: slept(suite, "task 1") >= 20)  # exchanges
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 1, errors
    run = runs_in(tmp_path)[LINUX]
    assert run.manifest.partial
    record = next(r for r in run.manifest.records if r.bench == "itc/pipe")
    lane = record.lanes[0]
    assert 5 < lane.taken == run.samples(record).size < 100000
    assert (lane.missed, lane.not_measured) == (0, lane.planned - lane.taken)


@pytest.mark.counted
def test_a_killed_lab_leaves_a_readable_run_and_no_emulator(built: None, tmp_path: Path) -> None:
    process = start(*LONG, "--target", BOARDS[1], "--output", tmp_path)
    wait_for(lambda: process.poll() is not None or measured(tmp_path))
    qemu = children(process.pid)
    process.kill()
    process.communicate()
    assert qemu
    wait_for(lambda: not any(Path(f"/proc/{pid}").exists() for pid in qemu))
    run = runs_in(tmp_path)[BOARDS[1]]
    assert run.manifest.partial and "killed" in run.manifest.partial_reason
    record = next(r for r in run.manifest.records if r.bench.startswith("micro/"))
    assert run.samples(record).size > 4000


@pytest.mark.counted
def test_a_killed_emulator_is_reported_and_its_samples_are_kept(
    built: None, tmp_path: Path
) -> None:
    process = start(*LONG, "--target", BOARDS[1], "--output", tmp_path)
    wait_for(lambda: process.poll() is not None or measured(tmp_path))
    for pid in children(process.pid):
        os.kill(pid, signal.SIGKILL)
    _, errors = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 1
    assert "ended in record 10, micro/task-switch-sampled before it was done" in errors
    assert "was ended by signal 9" in errors
    run = runs_in(tmp_path)[BOARDS[1]]
    record = next(r for r in run.manifest.records if r.bench.startswith("micro/"))
    assert record.status == "failed"
    assert run.samples(record).size == record.lanes[0].taken > 4000


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """A little more than the space that a run reserves for its manifest."""
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(command, check=False).returncode != 0:
        pytest.skip("mounting a tmpfs needs root")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


@pytest.mark.counted
def test_a_full_disk_ends_the_run_with_what_fits(built: None, tiny_disk: Path) -> None:
    answer = kadenz(*LONG, "--target", BOARDS[1], "--output", tiny_disk)
    assert answer.returncode == 1
    assert "No space left on device" in answer.stderr
    assert "--output" in answer.stderr
    assert "Traceback" not in answer.stderr
    run = runs_in(tiny_disk)[BOARDS[1]]
    assert run.manifest.partial
    record = next(r for r in run.manifest.records if r.bench.startswith("micro/"))
    assert run.samples(record).size == record.lanes[0].taken > 20_000


class Lossy(QemuTarget):
    """Drops the second SAMPLES frame of record 10."""

    def open(self, plan: str) -> None:
        self.held = b""
        self.seen = 0
        super().open(plan)

    def read(self, timeout_s: float) -> bytes | None:
        data = super().read(timeout_s)
        if not data:
            return data
        *whole, self.held = (self.held + data).split(b"\0")
        return b"".join(piece + b"\0" for piece in whole if not self._drops(piece))

    def _drops(self, piece: bytes) -> bool:
        try:
            frame = decode_frame(piece)
        except BadFrame:
            return False
        if frame.type != Type.SAMPLES or frame.body[:2] != b"\x0a\x00":
            return False
        self.seen += 1
        return self.seen == 2


@pytest.mark.counted
def test_lost_frames_on_a_real_line_are_named_and_their_record_is_invalid(
    built: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A filter between QEMU and the lab drops one frame of samples."""
    import threading

    from kadenz.config.campaign import Benchmark, Campaign
    from kadenz.config.manifest import CampaignEntry
    from kadenz.config.target_name import parse_target
    from kadenz.lab.job import Result
    from kadenz.lab.preparing import Request, prepare
    from kadenz.lab.progress import Progress
    from kadenz.lab.schedule import run as measure_all

    monkeypatch.setattr("kadenz.targets.qemu.QemuTarget", Lossy)
    request = Request(
        campaign=Campaign(
            name="t",
            title="t",
            targets=[],
            benchmark=[
                Benchmark(name="micro/task-switch-sampled", samples=1000),
                Benchmark(name="micro/preemption-sampled", samples=100),
            ],
        ),
        entry=CampaignEntry(name="t", file="", sha256="", quick=False),
        targets=[parse_target(BOARDS[1])],
    )
    jobs = prepare(request, Progress(), threading.Event())
    (result,) = measure_all(jobs, tmp_path, Progress(), threading.Event())
    assert isinstance(result, Result)
    assert [type(error) for error in result.failures] == [WireDamaged]
    assert "1 frame lost between" in result.failures[0].message
    run = runs_in(tmp_path)[BOARDS[1]]
    spoiled, fine = run.record(10), run.record(11)
    assert spoiled.status == "invalid"
    assert "frame lost" in spoiled.reason
    assert 0 < run.samples(spoiled).size < 1000
    assert (fine.status, run.samples(fine).size) == ("ok", 100)
    assert [w.code for w in run.manifest.warnings] == ["line-damaged"]


@pytest.mark.counted
def test_a_target_that_ends_the_run_makes_it_partial_with_the_reason(
    built: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a benchmark does whose clock is unsound: here the target reads `end` one point early."""
    import threading

    from kadenz.config.campaign import Benchmark, Campaign
    from kadenz.config.manifest import CampaignEntry
    from kadenz.config.target_name import parse_target
    from kadenz.lab.job import Result
    from kadenz.lab.preparing import Request, prepare
    from kadenz.lab.progress import Progress
    from kadenz.lab.schedule import run as measure_all
    from kadenz.targets.qemu import QemuTarget

    class Short(QemuTarget):
        def open(self, plan: str) -> None:
            kept = [line for line in plan.splitlines() if "-switch" not in line]
            super().open("\n".join([*kept, ""]))

    monkeypatch.setattr("kadenz.targets.qemu.QemuTarget", Short)
    request = Request(
        campaign=Campaign(
            name="t",
            title="t",
            targets=[],
            benchmark=[
                Benchmark(name="micro/preemption-sampled", samples=100),
                Benchmark(name="micro/task-switch-sampled", samples=100),
            ],
        ),
        entry=CampaignEntry(name="t", file="", sha256="", quick=False),
        targets=[parse_target(BOARDS[1])],
    )
    jobs = prepare(request, Progress(), threading.Event())
    (result,) = measure_all(jobs, tmp_path, Progress(), threading.Event())
    assert isinstance(result, Result)
    run = runs_in(tmp_path)[BOARDS[1]]
    assert run.manifest.partial
    reason = "the target ended the run: after micro/preemption-sampled"
    assert run.manifest.partial_reason == reason
    assert run.samples(run.record(10)).size == 100


def test_no_right_to_real_time_is_reported_with_both_remedies(built: None, tmp_path: Path) -> None:
    setpriv = shutil.which("setpriv")
    if setpriv is None or os.geteuid() != 0:
        pytest.skip("taking rights away needs root and setpriv")
    before = [setpriv, "--bounding-set=-sys_nice"]
    command = ["run", "itc/pipe", "--quick", "--target", LINUX, "--output", str(tmp_path)]
    refused = kadenz(*command, before=before)
    assert refused.returncode == 1
    assert "no right to SCHED_FIFO" in refused.stderr
    assert "SYS_NICE" in refused.stderr and "--allow no-realtime" in refused.stderr  # root
    assert not list(tmp_path.iterdir())

    allowed = kadenz(*command, "--allow", "no-realtime", before=before)
    assert allowed.returncode == 0, allowed.stderr
    run = runs_in(tmp_path)[LINUX]
    assert "no-sched-fifo" in [w.code for w in run.manifest.warnings]
    record = next(r for r in run.manifest.records if r.bench == "itc/pipe")
    assert np.all(run.samples(record) > 0)


def test_a_missing_emulator_is_reported_with_a_remedy(tmp_path: Path) -> None:
    private = tmp_path / "bin"
    private.mkdir()
    tools = (
        "cmake",
        "ninja",
        "cargo",
        "rustc",
        "gcc",
        "riscv64-unknown-elf-gcc",
        "arm-none-eabi-gcc",
    )
    for name in tools:
        place = shutil.which(name)
        if place:
            (private / name).symlink_to(place)
    answer = kadenz(
        "run",
        "micro/task-switch-sampled",
        "--target",
        BOARDS[0],
        "--output",
        tmp_path / "runs",
        env={"PATH": str(private), "XDG_CACHE_HOME": str(tmp_path / "cache")},
    )
    assert answer.returncode == 2
    assert "qemu-system-riscv32" in answer.stderr
    assert "kadenz setup" in answer.stderr
