# SPDX-License-Identifier: Apache-2.0
"""A benchmark of a lab has the helpers that the suite's own share."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from kadenz.cli import cli
from kadenz.cli.folders import find_runs
from kadenz.config import inventory
from tests.rtos.images import TARGETS

PING = TARGETS / "lab_ping.c"


@pytest.mark.counted
def test_a_benchmark_of_a_lab_has_the_helpers_of_the_suite(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab = tmp_path / "lab"
    (lab / "bench").mkdir(parents=True)
    (lab / "kadenz.toml").write_text("")
    monkeypatch.chdir(lab)
    (lab / "build").symlink_to(inventory.root() / "build")
    shutil.copy2(PING, lab / "bench")
    options = ("--target", "freertos/stm32f4@emulated", "--set", "samples=30")
    answer = CliRunner().invoke(cli, ["run", "mine/ping", *options], standalone_mode=False)
    assert answer.exception is None and answer.return_value == 0, answer.output
    (run,) = find_runs([lab / "runs"])
    (record,) = [entry for entry in run.manifest.records if entry.bench == "mine/ping"]
    assert record.status == "ok" and record.params["period_us"] == 2000
    assert record.proof.checked == 30 and record.proof.failed == 0
    assert run.samples(record, 0).size == 30


def test_the_promised_helpers_are_those_of_the_page() -> None:
    page = (inventory.root() / "docs/how-to/add-a-benchmark.md").read_text()
    promised = set(re.findall(r"^\| `kadenz/(\w+\.h)` \|", page, re.M))
    included = set(re.findall(r'#include "kadenz/(\w+\.h)"', PING.read_text()))
    assert promised == included  # built and run above
    calls = dict(re.findall(r"^\| `kadenz/(\w+\.h)` \| (.*) \|$", page, re.M))
    for header, line in calls.items():
        text = (inventory.root() / "suite/include/kadenz" / header).read_text()
        for call in re.findall(r"`(kdz_\w+)`", line):
            assert re.search(rf"\b{call}\(", text), (header, call)


def test_a_header_of_the_suites_own_benchmarks_is_out_of_reach() -> None:
    """Nothing but suite/include is on the include path of an image's benchmarks."""
    text = (inventory.root() / "suite/CMakeLists.txt").read_text()
    assert re.findall(r"target_include_directories\(kadenz-suite PRIVATE (.*)\)", text) == [
        "include"
    ]
