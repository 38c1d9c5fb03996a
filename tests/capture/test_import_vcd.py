# SPDX-License-Identifier: Apache-2.0
"""`kadenz import`: samples of a VCD; bad captures are named, and cost no sample."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from kadenz.store import Run, read_run
from tests.forked import kadenz

HEADER = """$timescale 10 ns $end
$scope module logic $end
$var wire 1 ! D0 $end
$var wire 1 " D1 $end
$upscope $end
$enddefinitions $end
#0 0! 0"
"""
PULSES = '#100 1!\n#110 0!\n#150 1"\n#160 0"\n#200 1!\n#210 0!\n#290 1"\n#300 0"\n'


def imported(file: Path, output: Path, *options: str) -> subprocess.CompletedProcess[str]:
    target = [] if "--target" in options else ["--target", "freertos/stm32f4@board"]
    marks = [] if "--begin" in options else ["--begin", "D0", "--end", "D1"]
    what = ["--bench", "itc/queue", "--output", str(output), *target, *marks, *options]
    return kadenz("import", str(file), *what)


def capture(folder: Path, text: str) -> Path:
    file = folder / "capture.vcd"
    file.write_text(text)
    return file


def only_run(output: Path) -> Run:
    (folder,) = [path for path in output.iterdir() if (path / "run.json").is_file()]
    return read_run(folder)


def test_marks_on_two_pins_become_samples_in_ns(tmp_path: Path) -> None:
    answer = imported(capture(tmp_path, HEADER + PULSES), tmp_path / "runs")
    assert answer.returncode == 0, answer.stderr
    run = only_run(tmp_path / "runs")
    assert run.samples(run.record(10), 0).tolist() == [500.0, 900.0]
    assert run.manifest.target.instrument == "capture"
    assert run.manifest.clock.resolution is not None
    assert run.manifest.clock.resolution.min == 100.0  # every edge is a multiple of it


def test_a_glitch_is_left_out_and_reported(tmp_path: Path) -> None:
    file = capture(tmp_path, HEADER + PULSES.replace('#150 1"', '#120 1"\n#121 0"\n#150 1"'))
    answer = imported(file, tmp_path / "runs", "--glitch", "50")
    assert answer.returncode == 0, answer.stderr
    run = only_run(tmp_path / "runs")
    assert run.samples(run.record(10), 0).tolist() == [500.0, 900.0]
    assert any("1 pulses shorter" in warning.message for warning in run.manifest.warnings)


@pytest.mark.parametrize(
    ("text", "named", "kept"),
    [
        (HEADER + PULSES + "#400 1!\n#4", "`#4` is no time after 400", 2),
        (HEADER + PULSES + "#400 1!\n", "ends inside a sample, whose BEGIN is at 4000 ns", 2),
        (HEADER + PULSES + '#400 1"\n', "1 unpaired marks: END without BEGIN at 4000 ns", 2),
        (HEADER + "#50 1!\n#60 0!\n" + PULSES, "BEGIN without END at 500 ns", 2),
    ],
)
def test_a_bad_capture_is_named_and_its_samples_are_kept(
    text: str, named: str, kept: int, tmp_path: Path
) -> None:
    answer = imported(capture(tmp_path, text), tmp_path / "runs")
    assert answer.returncode == 2
    assert named in answer.stderr
    run = only_run(tmp_path / "runs")
    assert run.samples(run.record(10), 0).size == kept
    assert run.manifest.partial


@pytest.mark.parametrize(
    ("text", "options", "named"),
    [
        (HEADER.replace("$timescale 10 ns $end\n", "") + PULSES, (), "has no $timescale"),
        (HEADER[:60], (), "cut off in its header"),
        (HEADER + PULSES, ("--begin", "D7", "--end", "D1"), "D7 is not a channel of one bit"),
        (HEADER + PULSES, ("--begin", "D0:up", "--end", "D1"), "no edge `up`"),
        (HEADER + PULSES, ("--begin", "D0:rise", "--end", "D0:rise"), "the same edge"),
    ],
)
def test_a_capture_that_cannot_be_read_makes_no_run(
    text: str, options: tuple[str, ...], named: str, tmp_path: Path
) -> None:
    answer = imported(capture(tmp_path, text), tmp_path / "runs", *options)
    assert answer.returncode == 2
    assert named in answer.stderr
    assert not (tmp_path / "runs").exists()
