# SPDX-License-Identifier: Apache-2.0
"""Real files of sigrok-cli: each of its formats gives the samples that were captured."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from kadenz.capture.importing import Capture, import_capture
from kadenz.config.target_name import parse_target
from kadenz.store import read_run

# Output of sigrok-cli: with and without times, names, notes, and repeated rows.
FORMS = {
    "srzip": "",
    "vcd": "",
    "csv": "",
    "csv:time=true": "",
    "csv:time=true:label=channel:dedup=true": "",
    "csv:time=true:label=off": "",
    "csv:label=off": "",
    "csv:header=false:label=channel": "24MHz",
}


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A session of the demo driver."""
    if not shutil.which("sigrok-cli"):
        pytest.skip("needs sigrok-cli (scripts/debian-packages-tests.txt)")
    file = tmp_path_factory.mktemp("sigrok") / "demo.sr"
    driver = ["-d", "demo:logic_channels=10:analog_channels=0"]
    sigrok(*driver, "--config", "samplerate=24m", "--samples", "20000", file=file)
    return file


def sigrok(*arguments: str, file: Path) -> None:
    subprocess.run(["sigrok-cli", *arguments, "-o", file], check=True, timeout=60)


def high_times(demo: Path) -> list[int]:
    """How many samples D9 stays high, by hand from sigrok's own text."""
    file = demo.with_suffix(".txt")
    sigrok("-i", str(demo), "-O", "csv:header=false:label=off", file=file)
    text = "".join(row.split(",")[9] for row in file.read_text().splitlines())
    inside = text[text.index("0") : text.rindex("0")]
    return [len(high) for high in inside.split("0") if high]


@pytest.mark.parametrize("form", FORMS)
def test_each_form_gives_the_same_samples(form: str, demo: Path, tmp_path: Path) -> None:
    file = tmp_path / "converted"
    sigrok("-i", str(demo), "-O", form, file=file)
    rate = 24e6 if FORMS[form] else 0.0
    target = parse_target("freertos/stm32f4@board")
    asked = Capture(file, "D9:rise", "D9:fall", "itc/queue", target, rate_hz=rate)
    imported = import_capture(asked, tmp_path / "runs")
    run = read_run(imported.folder)
    taken = run.samples(run.record(10), 0)
    wanted = high_times(demo)
    step = 1e9 / 24e6
    # A VCD of sigrok has whole nanoseconds; the others count samples.
    about = 1.0 if form == "vcd" else 1e-6
    assert len(wanted) > 100
    assert taken == pytest.approx(np.array(wanted) * step, abs=about)
    if form != "vcd":
        assert run.manifest.clock.resolution is not None
        assert run.manifest.clock.resolution.median == pytest.approx(step)
