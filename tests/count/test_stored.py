# SPDX-License-Identifier: Apache-2.0
"""A count is a value: an equal one comes from the store, with the same bytes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from kadenz.cli import cli
from kadenz.store import read_run
from kadenz.targets import counted as processes
from kadenz.targets.counted import Process, Start
from kadenz.values import keeper as keepers
from kadenz.values.program import Program

from .firmware import ARM, IBEX, RISCV, Machine, assemble, count, functions, samples
from .test_ends import PRINTS
from .test_programs import compiled
from .test_programs import count as count_program

pytestmark = pytest.mark.counted


class Emulators:
    """How many were started since the last look."""

    def __init__(self, store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._started = 0
        monkeypatch.setenv("KADENZ_STORE", str(store))
        monkeypatch.setattr(keepers, "is_checked", lambda key, day: False)
        start = processes._started

        def started(really: Program, how: Start) -> Process:
            self._started += 1
            return start(really, how)

        monkeypatch.setattr(processes, "_started", started)

    def started(self) -> int:
        """The number, which begins again at 0."""
        number, self._started = self._started, 0
        return number


@pytest.fixture
def emulators(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Emulators:
    """Counts with a store of the test's."""
    return Emulators(tmp_path / "store", monkeypatch)


def counting(elf: Path, machine: Machine, *arguments: str) -> dict[str, Any]:
    """The JSON of a count of `six`."""
    answer = count(elf, machine, *functions("six"), *arguments, "--json")
    assert answer.exception is None, answer.output
    return dict(json.loads(answer.stdout))


def files(run: str) -> dict[str, bytes]:
    """The samples and profiles of a run, by name."""
    folder = Path(run)
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for kind in ("samples", "profiles")
        for file in sorted((folder / kind).glob("*"))
    }


@pytest.mark.parametrize("machine", [ARM, RISCV, IBEX], ids=["m4", "riscv", "ibex"])
def test_an_equal_count_is_from_the_store(
    machine: Machine, emulators: Emulators, tmp_path: Path
) -> None:
    elf = assemble(machine, tmp_path)
    first, second = counting(elf, machine), counting(elf, machine)
    assert emulators.started() == 1
    assert (first["stored"], second["stored"]) == (False, True)
    assert first["functions"] == second["functions"] and first["ended"] == second["ended"]
    assert files(first["run"]) == files(second["run"]) != {}
    entry = read_run(Path(second["run"])).manifest.records[0]
    assert entry.value is not None and entry.value.stored and entry.duration_s is None
    answer = count(elf, machine, *functions("six"))
    assert "From the store, measured 20" in " ".join(answer.stdout.split())
    shown = CliRunner().invoke(cli, ["show", second["run"]]).output
    assert "1 of 1 records from the store" in shown
    kept = CliRunner().invoke(cli, ["cache"], standalone_mode=False).output
    target = machine.board if "@" in machine.board else f"{machine.board}@emulated"
    assert f"{target}: 1 entries, used 2 times" in kept


def test_an_equal_count_of_a_program_is_from_the_store(
    emulators: Emulators, tmp_path: Path
) -> None:
    program = compiled("x86_64", tmp_path, "-static")
    data = []
    for _ in range(2):
        answer = count_program(program, *functions("six"), "--json")
        assert answer.exception is None, answer.output
        data.append(json.loads(answer.stdout))
    assert emulators.started() == 1
    first, second = data
    assert (first["stored"], second["stored"]) == (False, True)
    assert first["functions"] == second["functions"] and first["ended"] == second["ended"]
    assert files(first["run"]) == files(second["run"]) != {}


def test_who_asks_for_it_executes_and_compares(emulators: Emulators, tmp_path: Path) -> None:
    elf = assemble(ARM, tmp_path)
    runs = [counting(elf, ARM, "--fresh")["run"] for _ in range(2)]
    assert emulators.started() == 2
    assert files(runs[0]) == files(runs[1])


def test_a_changed_image_and_another_question_are_executed(
    emulators: Emulators, tmp_path: Path
) -> None:
    elf = assemble(ARM, tmp_path)
    counting(elf, ARM)
    counting(elf, ARM, "--limit", "2")
    counting(elf, ARM, "--until", "tail")
    counting(elf, ARM, "--function", "down")
    assert emulators.started() == 4
    changed = counting(assemble(ARM, tmp_path, defines=["MORE=7"]), ARM)
    assert emulators.started() == 1
    assert samples(changed["run"], "six")["call"] == [13, 13, 13]


def test_the_text_of_its_end_is_part_of_the_question(emulators: Emulators, tmp_path: Path) -> None:
    source = tmp_path / "prints.S"
    source.write_text(PRINTS)
    elf = assemble(RISCV, tmp_path, str(source))
    texts = ("abc", "def", "def")
    ends = [
        json.loads(count(elf, RISCV, *functions("print"), "--until-text", text, "--json").stdout)[
            "ended"
        ]
        for text in texts
    ]
    assert ends == [f"printed '{text}'" for text in texts]
    assert emulators.started() == 2


def test_a_count_that_failed_is_no_value(emulators: Emulators, tmp_path: Path) -> None:
    elf = assemble(ARM, tmp_path, defines=["STATUS=3"])
    for _ in range(2):
        assert count(elf, ARM, *functions("six")).exception is not None
    assert emulators.started() == 2


ASKS = {
    "arm": "movs r0, #0x11\n movs r1, #0\n bkpt 0xab\n",
    "riscv": " .option push\n .option norvc\n li a0, 0x11\n li a1, 0\n .balign 16\n"
    " slli zero, zero, 0x1f\n ebreak\n srai zero, zero, 7\n .option pop\n",
}


@pytest.mark.parametrize("machine", [ARM, RISCV], ids=["m4", "riscv"])
def test_a_firmware_that_asks_for_the_time_of_this_machine_is_executed_each_time(
    machine: Machine, emulators: Emulators, tmp_path: Path
) -> None:
    """By semihosting: SYS_TIME is answered from this machine's clock."""
    name = f"calls.{machine.suffix}.S"
    text = (Path(__file__).parent / "programs" / name).read_text()
    begin = "_start:\n"
    assert text.count(begin) == 1
    source = tmp_path / "asks.S"
    source.write_text(text.replace(begin, begin + ASKS[machine.suffix]))
    elf = assemble(machine, tmp_path, str(source))
    run = [counting(elf, machine) for _ in range(2)][1]["run"]
    assert emulators.started() == 2
    manifest = read_run(Path(run)).manifest
    assert manifest.records[0].value is None
    (warning,) = (each for each in manifest.warnings if each.code == "asks-this-machine")
    assert "SYS_TIME" in warning.message
