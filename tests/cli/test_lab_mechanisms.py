# SPDX-License-Identifier: Apache-2.0
"""A lab names mechanisms that the suite does not know, and measures them as the suite's own."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from kadenz.cli import cli
from kadenz.cli.folders import find_runs
from kadenz.config import inventory
from kadenz.errors import ConfigError, UsageError
from tests.rtos.images import TARGETS

LAB_FILE = """\
[mechanisms]
channel = ["mailbox"]
notify = ["gate"]
lock = ["latch-inherit"]
timer = ["cuckoo"]
memory = ["arena"]
"""


def kadenz(*arguments: str) -> Result:
    return CliRunner().invoke(cli, list(arguments), standalone_mode=False)


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A lab with a build folder of its own."""
    folder = tmp_path / "lab"
    folder.mkdir()
    (folder / "kadenz.toml").write_text("")
    monkeypatch.chdir(folder)
    return folder


def add_kernel(lab: Path) -> None:
    """FreeRTOS as the lab's kernel `mine`, with a mechanism of each kind that is its own."""
    folder = lab / "kernels/mine"
    shutil.copytree(inventory.root() / "kernels/freertos", folder)
    shutil.copy2(TARGETS / "own_mechanisms.c", folder)
    with (folder / "kernel.cmake").open("a") as rules:
        rules.write(
            "target_sources(kadenz-suite PRIVATE ${CMAKE_CURRENT_LIST_DIR}/own_mechanisms.c)\n"
        )


@pytest.mark.counted
def test_a_lab_measures_mechanisms_whose_names_the_suite_does_not_know(lab: Path) -> None:
    (lab / "kadenz.toml").write_text(LAB_FILE)
    add_kernel(lab)
    itc = [f"itc/{name}" for name in ("mailbox", "mailbox-round-trip", "mailbox-one-way")]
    itc += ["itc/gate-one-way", "itc/gate-round-trip", "itc/latch-inherit-one-way"]
    chosen = {
        "micro/message-latency-sampled": "channel=mailbox",
        "cyclic/wakeup-latency": "timer=cuckoo",
        "alloc/allocate": "memory=arena",
    }
    options = [
        word for assignment in (*chosen.values(), "samples=20") for word in ("--set", assignment)
    ]
    for kernel in ("mine", "freertos"):
        options += ["--target", f"{kernel}/stm32f4@emulated"]
    answer = kadenz("run", *itc, *chosen, *options)
    assert answer.exception is None and answer.return_value == 0, answer.output
    runs = {run.manifest.target.name.partition("/")[0]: run for run in find_runs([lab / "runs"])}
    for record in runs["mine"].manifest.records:
        assert record.status == "ok", (record.bench, record.reason)
        if record.bench in chosen:
            key, value = chosen[record.bench].split("=")
            assert record.params[key] == value
    missing = {record.bench: record for record in runs["freertos"].manifest.records}
    for bench in (*itc, *chosen):
        assert missing[bench].status == "n/a"
        assert "this kernel has no" in missing[bench].reason
    answer = kadenz("conformance", "mine/stm32f4@emulated", "--json")
    assert answer.exception is None and answer.return_value == 0, answer.output
    passed = {
        case["case"] for case in json.loads(answer.output)[0]["cases"] if case["result"] == "pass"
    }
    for name in ("mailbox", "gate", "latch-inherit"):
        assert any(case.startswith(name) for case in passed), passed


def test_an_exported_suite_has_the_labs_mechanisms(lab: Path) -> None:
    (lab / "kadenz.toml").write_text(LAB_FILE)
    answer = kadenz("export-suite", "suite", "--as", "files", "--board", "stm32f4")
    assert answer.exception is None, answer.output
    settings = (lab / "suite/kadenz_settings.h").read_text().splitlines()
    assert '#define KDZ_LAB_CHANNEL(X)  X(mailbox, "mailbox")' in settings
    assert '#define KDZ_LAB_LOCK(X)  X(latch_inherit, "latch-inherit")' in settings


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ('channel = ["queue"]', "`queue`: the suite has this name"),
        ('lock = ["mutex"]', "`mutex`: the suite has this name"),  # a benchmark of its own file
        ('notify = ["semaphore-counting"]', "`semaphore-counting`: the suite has this name"),
        ('timer = ["sleep"]', "`sleep`: the suite has this name"),  # a word of `timer`
        ('memory = ["heap"]', "`heap`: the suite has this name"),
        ('channel = ["Mail"]', "`Mail`: a mechanism has lower-case letters"),
        ('channel = ["mail_box"]', "`mail_box`: a mechanism has"),
        ('channel = ["mail-"]', "`mail-`: a mechanism has"),
        ('channel = [""]', "``: a mechanism has"),
        ('channel = ["own", "own"]', "`own` is there twice"),
        ('channel = ["own"]\nlock = ["own"]', "`own` is there twice"),
        ('channels = ["own"]', "unknown key `mechanisms.channels`"),
        ('channel = "own"', "expected `array`"),
    ],
)
def test_a_name_that_cannot_be_a_labs_own_is_refused(lab: Path, table: str, message: str) -> None:
    (lab / "kadenz.toml").write_text(f"[mechanisms]\n{table}\n")
    error = kadenz("run", "itc/queue", "--target", "freertos/stm32f4@emulated").exception
    assert isinstance(error, ConfigError) and error.exit_code == 2 and error.remedy
    assert message in error.message and f"{lab}/kadenz.toml" in error.message
    assert not (lab / "build").exists()


def test_a_misspelt_benchmark_of_a_labs_own_mechanism_is_refused(lab: Path) -> None:
    (lab / "kadenz.toml").write_text(LAB_FILE)
    error = kadenz("run", "itc/mailbx", "--target", "freertos/stm32f4@emulated").exception
    assert isinstance(error, UsageError) and "itc/mailbox" in str(error) + error.remedy


def test_a_name_of_the_suite_is_among_the_problems_of_the_lab(lab: Path) -> None:
    (lab / "kadenz.toml").write_text('[mechanisms]\nchannel = ["pipe"]\n')
    assert "`pipe`: the suite has this name" in kadenz("list").output
