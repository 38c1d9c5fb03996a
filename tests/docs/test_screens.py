# SPDX-License-Identifier: Apache-2.0
"""What the reference shows of four commands is what they print, in 80 columns."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from kadenz.cli.doctor_lanes import lanes
from kadenz.cli.listing import PARTS
from kadenz.config.manifest import PreflightEntry
from kadenz.host.clock import ClockCheck
from kadenz.targets.checkup import Missing, TargetCheck
from tests.docs.pages import BLOCK, ROOT
from tests.forked import kadenz
from tests.synthetic import HIFIVE1, STM32F4, board_points, manifest, under, write_run

PAGE = ROOT / "docs" / "reference" / "first-looks.md"
WIDTH = 80


def shown(command: str) -> str:
    """The output of a command on the page."""
    for block in BLOCK.finditer(PAGE.read_text()):
        prompt, _, output = block["text"].partition("\n")
        if prompt == f"$ {command}":
            return output
    raise AssertionError(f"{PAGE}: no block of `{command}`")


def printed(*arguments: str | Path) -> str:
    answer = kadenz(*arguments, env={"COLUMNS": str(WIDTH)})
    assert answer.returncode == 0, answer.stderr
    text = answer.stdout.partition("\nLab: ")[0]  # a path is one word
    lines = [line.rstrip() for line in text.splitlines()]
    assert max(map(len, lines)) <= WIDTH
    return "".join(f"{line}\n" for line in lines)


def test_help() -> None:
    assert printed("--help") == shown("kadenz --help")


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    assert kadenz("init", tmp_path / "lab").returncode == 0
    monkeypatch.chdir(tmp_path / "lab")
    return tmp_path / "lab"


@pytest.mark.usefixtures("lab")
def test_the_list_of_a_fresh_lab() -> None:
    text = printed("list")
    assert text == shown("kadenz list")
    assert len(text.splitlines()) <= 60


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.usefixtures("lab")
def test_no_part_of_the_list_is_wider_or_cuts_a_name(part: str) -> None:
    text = printed("list", part)
    for entry in json.loads(kadenz("list", part, "--json").stdout)[part]:
        assert entry["name"] in text.split(), entry["name"]


@pytest.mark.parametrize("name", ["itc", "itc/queue", "mine/own", "hartstone/ah"])
def test_a_family_and_a_benchmark_fit(name: str, lab: Path) -> None:
    (lab / "bench").mkdir()
    text = (ROOT / "docs" / "how-to" / "add-a-benchmark.md").read_text()
    source = text.partition("```c\n")[2].partition("```")[0]
    (lab / "bench" / "own.c").write_text(re.sub(r'\.name = "[^"]*"', '.name = "mine/own"', source))
    assert name in printed("list", name)


def test_runs(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    for second, target, conditions in (
        (5, STM32F4, under()),
        (6, HIFIVE1, under()),
        (7, STM32F4, under(**{"wait states": "rom=4"})),
    ):
        document = manifest(target, id=f"20261121-10300{second}-x")
        document.name = f"20261121-10300{second}"
        document.conditions = conditions
        write_run(tmp_path, document, board_points(rng, 20))
    assert printed("runs", tmp_path) == shown("kadenz runs")


def test_a_long_name_moves_its_own_row_alone(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    for name in ("n" * 200, "short"):
        document = manifest(STM32F4, id=name)
        document.name, document.conditions = name, []
        write_run(tmp_path, document, board_points(rng, 20))
    answer = kadenz("runs", tmp_path, env={"COLUMNS": str(WIDTH)})
    long, short = sorted(answer.stdout.splitlines(), key=len, reverse=True)
    assert long.startswith("n" * 200)
    assert short == "short  freertos/stm32f4@emulated  synthetic; 2026-11-21 10:30"


def check(name: str, *missing: str) -> TargetCheck:
    return TargetCheck(
        name, "", ("counter",), tuple(Missing(problem, "") for problem in missing), (), ""
    )


def clock(*problems: str) -> ClockCheck:
    clock_check = object.__new__(ClockCheck)
    object.__setattr__(clock_check, "problems", problems)
    return clock_check


def test_the_first_lines_of_doctor() -> None:
    lines = shown("kadenz doctor").splitlines()
    finding = PreflightEntry(
        code="smt", verdict="finding", message="m", effect="e", invalidates=["worst-cases"]
    )
    targets = [
        check("a/b@emulated"),
        check("a/c@rtl"),
        check("a/d@rtl", "no core"),
        check("l@guest", "no QEMU for x86_64"),
        check("posix/linux@host"),
    ]
    by_lane = lanes(targets, [finding], clock(), ())
    width = max(map(len, by_lane)) + 2
    assert [f"{name:{width}}{state}" for name, state in by_lane.items()] == lines
    assert printed_lanes() == [line[:width].rstrip() for line in lines]


def printed_lanes() -> list[str]:
    """The names of lanes as this machine prints them; its reasons may be longer than a line."""
    answer = kadenz("doctor", env={"COLUMNS": "400"})
    first = answer.stdout.partition("\n\n")[0] if "\n\n" in answer.stdout else answer.stdout
    return [re.split(r"  +", line)[0] for line in first.splitlines() if line.strip()]


@pytest.mark.parametrize(
    ("lacking", "problems", "state"),
    [
        ((), (), "medians: yes, worst-cases: yes"),
        ((), ("backwards",), "medians: no, worst-cases: no"),
        (("no right",), (), "no: no right"),
    ],
)
def test_what_this_linux_allows(
    lacking: tuple[str, ...], problems: tuple[str, ...], state: str
) -> None:
    by_lane = lanes([check("posix/linux@host", *lacking)], [], clock(*problems), (Path("/dev/x"),))
    assert by_lane == {"this Linux": state, "boards": "1 probe on USB"}
