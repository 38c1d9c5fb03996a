# SPDX-License-Identifier: Apache-2.0
"""Where the instructions of a call went: by function, and what a change of one does to another."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner

from kadenz.analysis.profiles import view
from kadenz.cli import cli
from kadenz.config.profile import Profile, ViewName
from kadenz.elf import Elf
from kadenz.errors import EXIT_REGRESSION, TargetFailed
from kadenz.store import read_run
from kadenz.store.profiles import read_profiles
from kadenz.targets.flows import read_flows

from .firmware import (
    ARM,
    HERE,
    IBEX,
    RISCV,
    VEXRISCV,
    Machine,
    assemble,
    counted,
    functions,
    samples,
)

pytestmark = pytest.mark.counted

# Counted by hand in programs/gate.*.S.
BY_HAND = {
    "arm": {"gate": 4, "scale": 3, "clamp": 2},
    "riscv": {"gate": 7, "scale": 3, "clamp": 2},
}
PLANTED = 7
both = pytest.mark.parametrize("machine", [ARM, RISCV], ids=["m4", "riscv"])
cores = pytest.mark.parametrize("machine", [IBEX, VEXRISCV], ids=["ibex", "vexriscv"])
STACK = {"ibex@rtl": "STACK=0x80001000", "vexriscv@rtl": "STACK=0x40041000"}


def profiles(run: str) -> Mapping[str, Profile]:
    """The profiles of a run by function."""
    written = read_profiles(read_run(Path(run)))
    return {profile.bench.removeprefix("count/"): profile for profile in written}


def stacks(profile: Profile, name: ViewName = "typical") -> dict[tuple[str, ...], tuple[int, int]]:
    """Instructions and calls of a view by path."""
    return {
        tuple(profile.functions[number].name for number in stack.path): (
            stack.instructions,
            stack.calls,
        )
        for stack in view(profile.lanes[0], name).stacks
    }


@both
def test_the_functions_of_a_call_have_their_own_instructions(
    machine: Machine, tmp_path: Path
) -> None:
    by_hand, elf = BY_HAND[machine.suffix], assemble(machine, tmp_path, "gate")
    run = counted(elf, machine, *functions("gate"))[""]["run"]
    profile = profiles(run)["gate"]
    paths = {name: ("gate",) if name == "gate" else ("gate", name) for name in by_hand}
    assert stacks(profile) == {paths[name]: (count, 1) for name, count in by_hand.items()}
    assert stacks(profile, "all") == {paths[n]: (5 * count, 5) for n, count in by_hand.items()}
    assert view(profile.lanes[0], "typical").instructions == sum(by_hand.values())


@both
def test_what_a_counted_function_calls_is_of_both(machine: Machine, tmp_path: Path) -> None:
    by_hand, elf = BY_HAND[machine.suffix], assemble(machine, tmp_path, "gate")
    run = counted(elf, machine, *functions("gate", "clamp"))[""]["run"]
    named = profiles(run)
    assert stacks(named["gate"])["gate", "clamp"] == (by_hand["clamp"], 1)
    assert stacks(named["clamp"], "all") == {("clamp",): (5 * by_hand["clamp"], 5)}


@both
def test_a_recursion_is_a_path(machine: Machine, tmp_path: Path) -> None:
    """`down` calls itself four times: the median has two calls inside."""
    run = counted(assemble(machine, tmp_path), machine, *functions("down"))[""]["run"]
    values = samples(run, "down")["call"]
    typical = stacks(profiles(run)["down"])
    assert [len(path) for path in typical] == [1, 2, 3]
    assert sum(count for count, _ in typical.values()) == sorted(values)[2]
    total = stacks(profiles(run)["down"], "all")
    assert sum(count for count, _ in total.values()) == sum(values)


@both
def test_a_handler_inside_is_of_no_function(machine: Machine, tmp_path: Path) -> None:
    elf = assemble(machine, tmp_path)
    run = counted(elf, machine, *functions("raises"))[""]["run"]
    assert stacks(profiles(run)["raises"]) == {("raises",): (samples(run, "raises")["call"][0], 1)}


@both
def test_a_span_has_its_functions(machine: Machine, tmp_path: Path) -> None:
    """From one function to another: what is behind the return of the first one is its caller's."""
    by_hand, elf = BY_HAND[machine.suffix], assemble(machine, tmp_path, "gate")
    run = counted(elf, machine, "--from", "scale", "--to", "clamp")[""]["run"]
    span = "scale..clamp"
    executed = {path: count for path, (count, _) in stacks(profiles(run)[span]).items()}
    assert executed == {(span, "scale"): by_hand["scale"], (span, "gate"): 1}


@both
def test_a_longjmp_leaves_its_instructions_to_the_caller(machine: Machine, tmp_path: Path) -> None:
    elf = assemble(machine, tmp_path)
    run = counted(elf, machine, *functions("saves", "h*"))[""]["run"]
    (value,) = samples(run, "saves")["call"]
    assert sum(count for count, _ in stacks(profiles(run)["saves"]).values()) == value


@both
def test_seven_instructions_in_a_callee_are_named(machine: Machine, tmp_path: Path) -> None:
    sides = []
    for name, more in (("before", 0), ("after", PLANTED)):
        (tmp_path / name).mkdir()
        elf = assemble(machine, tmp_path / name, "gate", defines=[f"MORE={more}"])
        sides.append(counted(elf, machine, *functions("gate"))[""]["run"])
    runner = CliRunner(mix_stderr=False)
    red = runner.invoke(
        cli, ["gate", sides[1], "--against", sides[0], "--max-worse", "1%"], standalone_mode=False
    )
    assert red.return_value == EXIT_REGRESSION
    answer = runner.invoke(cli, ["compare", *sides, "--explain"], standalone_mode=False)
    before = sum(BY_HAND[machine.suffix].values())
    text = " ".join(answer.stdout.split())
    assert f"count/gate, call: {before} → {before + PLANTED} (+7 instructions) +7 clamp" in text
    answer = runner.invoke(cli, ["compare", *sides, "--explain", "--json"], standalone_mode=False)
    (lane,) = json.loads(answer.stdout)["explained"]
    assert [(row["name"], row["change"]) for row in lane["functions"]] == [("clamp", PLANTED)]


@cores
def test_on_a_core_the_functions_of_a_call_have_their_own_cycles(
    machine: Machine, tmp_path: Path
) -> None:
    """All calls of the same cycles but the first ones, where a cache fetches lines."""
    elf = assemble(machine, tmp_path, "gate", [STACK[machine.board]])
    run = counted(elf, machine, *functions("gate", "clamp"))[""]["run"]
    profile = profiles(run)["gate"]
    assert profile.unit == "cycle"
    values = samples(run, "gate")["call"]
    typical, total = stacks(profile), stacks(profile, "all")
    assert set(typical) == {("gate",), ("gate", "scale"), ("gate", "clamp")}
    assert sum(cycles for cycles, _ in typical.values()) == sorted(values)[2]
    assert sum(cycles for cycles, _ in total.values()) == sum(values)
    assert [calls for _, calls in total.values()] == [5, 5, 5]
    assert total["gate", "clamp"][0] == sum(samples(run, "clamp")["call"])


@cores
def test_on_a_core_cycles_in_a_callee_are_named(machine: Machine, tmp_path: Path) -> None:
    sides = []
    for name, more in (("before", 0), ("after", PLANTED)):
        (tmp_path / name).mkdir()
        defines = [STACK[machine.board], f"MORE={more}"]
        elf = assemble(machine, tmp_path / name, "gate", defines)
        sides.append(counted(elf, machine, *functions("gate"))[""]["run"])
    before, after = (sorted(samples(run, "gate")["call"])[2] for run in sides)
    answer = CliRunner().invoke(cli, ["compare", *sides, "--explain"], standalone_mode=False)
    text = " ".join(answer.output.split())
    more = after - before
    assert f"count/gate, call: {before} → {after} (+{more} cycles) +{more} clamp" in text
    if machine is IBEX:  # a `nop` is one cycle
        assert more == PLANTED


def test_the_report_draws_where_the_instructions_go(tmp_path: Path) -> None:
    run = counted(assemble(ARM, tmp_path, "gate"), ARM, *functions("gate"))[""]["run"]
    page = tmp_path / "report.html"
    answer = CliRunner().invoke(cli, ["report", run, "--output", str(page)])
    assert answer.exception is None, answer.output
    text = page.read_text()
    assert "Where the instructions go" in text and "clamp" in text


def test_a_stripped_image_has_no_functions_to_name(tmp_path: Path) -> None:
    elf = assemble(ARM, tmp_path, "gate")
    address = next(start for start, _, name in Elf(elf).functions if name == "gate")
    subprocess.run(["arm-none-eabi-strip", str(elf)], check=True)
    name = f"{address:#010x}"
    run = counted(elf, ARM, *functions(name))[""]["run"]
    assert stacks(profiles(run)[name]) == {(name,): (9, 1)}


@pytest.mark.parametrize("cut", [0, 24, 60])
def test_a_file_that_was_cut_is_refused(cut: int, tmp_path: Path) -> None:
    file = tmp_path / "flows"
    file.write_bytes(b"KDZFLOWS"[:cut].ljust(cut, b"\0"))
    with pytest.raises(TargetFailed, match="did not write"):
        read_flows(file)


LOOPED = {
    "    movs r4, #5\n": "    ldr  r4, =5000\n    movs r5, #0\n",
    "\nscale:\n": "\nscale:\n    adds r5, #1\n    mov  r2, r5\n2:  subs r2, #1\n    bne  2b\n",
}


def test_a_function_of_many_lengths_keeps_its_longest_call(tmp_path: Path) -> None:
    """5,000 calls, each longer than the last one: 4,096 lengths are kept, and the longest."""
    source = tmp_path / "grows.S"
    text = (HERE / "programs" / "gate.arm.S").read_text()
    for before, after in LOOPED.items():
        assert before in text
        text = text.replace(before, after)
    source.write_text(text)
    elf = assemble(ARM, tmp_path, str(source))
    run = counted(elf, ARM, *functions("gate"), "--limit", "100")[""]["run"]
    values = samples(run, "gate")["call"]
    lane = profiles(run)["gate"].lanes[0]
    assert len({*values}) == 5000
    assert view(lane, "slowest").instructions == max(values)
    assert view(lane, "typical").instructions == sorted(values)[2499]
    assert view(lane, "all").instructions == sum(values)
