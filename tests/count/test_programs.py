# SPDX-License-Identifier: Apache-2.0
"""`kadenz count` of programs of Linux: a guest executes them as they are."""

from __future__ import annotations

import hashlib
import json
import platform
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from kadenz.cli import cli
from kadenz.config import inventory
from kadenz.errors import EXIT_REGRESSION, KadenzError, TargetFailed, UsageError
from kadenz.store import read_run
from tests.guest.conftest import machine

from .firmware import HERE, functions, samples
from .test_profiles import profiles, stacks

pytestmark = pytest.mark.counted

DOWN = {"x86_64": 4, "aarch64": 6, "riscv64": 8}  # instructions of each call above the last one
TOUCHES = {"x86_64": 5, "aarch64": 8, "riscv64": 9}
SIX_RETURNS = {"x86_64": "six+0x5", "aarch64": "six+0x14", "riscv64": "six+0xa"}
isas = pytest.mark.parametrize("isa", DOWN)


def compiled(
    isa: str, folder: Path, *options: str, source: Path = HERE / "programs" / "program.c"
) -> Path:
    """The program, for an instruction set; skips without its kernel, emulator or compiler."""
    machine(f"linux/{isa}@guest")
    compiler = inventory.compiler(isa, isa)
    file = folder / "program"
    command = [compiler, "-O1", "-pthread", *options, str(source), "-o", str(file)]
    subprocess.run(command, check=True)
    return file


def count(file: Path, *arguments: str, inside: Sequence[str] = ()) -> Result:
    """`kadenz count` of a program, called with `inside`; errors that it raises are in the
    result."""
    command = ["count", str(file), "--output", str(file.parent / "runs"), *arguments]
    return CliRunner(mix_stderr=False).invoke(cli, [*command, "--", *inside], standalone_mode=False)


def counted(file: Path, *names: str, span: tuple[str, str] | None = None) -> dict[str, Any]:
    """The JSON of a count, its functions by their names."""
    spans = ["--from", span[0], "--to", span[1]] if span is not None else []
    answer = count(file, *functions(*names), *spans, "--fresh", "--json")
    data = json.loads(answer.stdout)
    return {row["function"]: row for row in data["functions"]} | {"": data}


def error_of(answer: Result) -> KadenzError:
    """What a call raised."""
    assert isinstance(answer.exception, KadenzError), answer.output
    return answer.exception


def refused(file: Path, *arguments: str, inside: Sequence[str] = ()) -> UsageError:
    """The error of a call that boots no guest."""
    error = error_of(count(file, *arguments, inside=inside))
    assert isinstance(error, UsageError)
    return error


def digests(folder: str) -> dict[str, str]:
    """Of the files of samples."""
    files = sorted((Path(folder) / "samples").iterdir())
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


@isas
def test_calls_have_the_instructions_counted_by_hand(isa: str, tmp_path: Path) -> None:
    names = ["six", "down", "tail", "asks", "raises", "handler", "touches", "spin"]
    names += ["guarded", "jumps", "joins", "sleeps", "forks", "leaves"]
    file = compiled(isa, tmp_path, "-static")
    ret = SIX_RETURNS[isa]
    rows = counted(file, *names, span=("six", ret))
    run = rows[""]["run"]
    lanes = {name: samples(run, name) for name in rows if name and rows[name]["calls"]}
    by_hand = {
        "six": [6, 6],
        "down": [3 + DOWN[isa] * above for above in range(4)],
        "tail": [8],
        "asks": [3],
        "raises": [4],
        "handler": [2],
        "touches": [TOUCHES[isa]] * 2,
        f"six..{ret}": [5, 5],
        "spin": [100_001, 6_000_001],  # a worker's, and without the child's
    }
    assert {name: lanes[name]["call"] for name in by_hand} == by_hand
    _check_kernel(rows, lanes)
    _check_others(rows, lanes)
    _check_flows(run, isa)
    run_warnings = {warning.code for warning in read_run(Path(run)).manifest.warnings}
    assert run_warnings == {"other-processes", "calls-without-return"}


def _check_kernel(rows: dict[str, Any], lanes: dict[str, dict[str, list[int]]]) -> None:
    """What the kernel did inside the calls is apart, by system call."""
    inside = {
        name: {call["name"]: call["calls"] for call in rows[name]["system_calls"]}
        for name in ("six", "asks", "raises", "touches")
    }
    assert inside == {"six": {}, "asks": {"getpid": 1}, "raises": {"kill": 1}, "touches": {None: 4}}
    assert lanes["six"]["call:kernel"] == [0, 0]
    (asks,) = lanes["asks"]["call:kernel"]
    assert asks == rows["asks"]["system_calls"][0]["kernel"] == rows["asks"]["kernel"] > 20
    first, second = lanes["touches"]["call:kernel"]
    assert first > 400 and second == 0
    # A first try of each store that faulted is the kernel's.
    assert first == rows["touches"]["system_calls"][0]["kernel"] + 4
    (handled,) = lanes["raises"]["call:signals"]
    assert handled > 2 and lanes["handler"]["call:signals"] == [0]


def _check_flows(run: str, isa: str) -> None:
    """Of the program's instructions, a handler's and the kernel's apart."""
    named = profiles(run)
    assert stacks(named["tail"]) == {("tail",): (2, 1), ("tail", "six"): (6, 1)}
    assert stacks(named["six"], "all") == {("six",): (12, 2)}
    assert stacks(named["raises"]) == {("raises",): (4, 1)}
    assert stacks(named["touches"], "slowest") == {("touches",): (TOUCHES[isa], 1)}
    path = tuple(["down"] * 3)
    assert stacks(named["down"], "slowest")[path][1] == 1
    assert {entry.part for entry in named["tail"].functions} == {"program"}
    span = f"six..{SIX_RETURNS[isa]}"
    assert stacks(named[span]) == {(span, "six"): (5, 0)}


def _check_others(rows: dict[str, Any], lanes: dict[str, dict[str, list[int]]]) -> None:
    """Interrupts, other threads and processes are apart, and calls that do not return named."""
    assert lanes["spin"]["call:interrupts"][1] > 0 and rows["spin"]["kernel"] == 0
    assert lanes["joins"]["call:others"][0] > 100_001
    assert lanes["sleeps"]["call:others"][0] > lanes["sleeps"]["call:kernel"][0] > 0
    assert lanes["forks"]["call:others"][0] > 2001
    assert lanes["six"]["call:others"] == [0, 0]
    unreturned = {name: rows[name]["without_return"] for name in ("guarded", "jumps", "leaves")}
    assert unreturned == {"guarded": 0, "jumps": 3, "leaves": 1}


def test_two_counts_have_the_same_bytes_wherever_the_program_is(tmp_path: Path) -> None:
    """With the libraries of this machine, one of which has a function that is counted."""
    runs = []
    for name in ("one", "another-folder"):
        (tmp_path / name).mkdir()
        file = compiled("x86_64", tmp_path / name)
        if platform.machine() != "x86_64":
            pytest.skip("its libraries are of this machine")
        rows = counted(file, "six", "compare", "spin", "libc.so.6:qsort", "sleeps", "main")
        assert rows["six"]["max"] == 6
        assert rows["compare"]["calls"] > 100
        assert rows["libc.so.6:qsort"]["calls"] == 1
        assert rows["libc.so.6:qsort"]["max"] > 3 * rows["compare"]["calls"]
        runs.append(rows[""]["run"])
    first, second = map(digests, runs)
    assert first == second and len(first) >= 5 * 5
    _check_library(runs[0])


def _check_library(run: str) -> None:
    """A function of a library has its own callees, and those of the program that it calls."""
    paths = stacks(profiles(run)["libc.so.6:qsort"])
    (sample,) = samples(run, "libc.so.6:qsort")["call"]
    assert sum(count for count, _ in paths.values()) == sample
    (compare,) = (path for path in paths if path[-1] == "compare")
    assert paths[compare][1] > 50
    parts = {entry.name: entry.part for entry in profiles(run)["libc.so.6:qsort"].functions}
    assert parts["compare"] == "program"
    assert "libc.so.6" in parts.values()


def test_seven_instructions_in_a_callee_are_named(tmp_path: Path) -> None:
    """`six` of the program has 7 more, and `tail` jumps to it."""
    text = (HERE / "programs" / "program.c").read_text()
    before = "six: nop; nop"
    assert text.count(before) == 3
    sides = []
    for name, planted in (("before", 0), ("now", 7)):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "program.c").write_text(text.replace(before, "six: " + "nop; " * (planted + 2)))
        file = compiled("x86_64", folder, "-static", source=folder / "program.c")
        sides.append(counted(file, "tail")[""]["run"])
    gate = ["gate", sides[1], "--against", sides[0], "--max-worse", "1%"]
    red = CliRunner().invoke(cli, gate, standalone_mode=False)
    assert red.return_value == EXIT_REGRESSION
    answer = CliRunner().invoke(cli, ["compare", *sides, "--explain"], standalone_mode=False)
    text = " ".join(answer.output.split())
    assert "count/tail, call: 8 → 15 (+7 instructions) +7 six program" in text


def test_a_stripped_program_gets_its_inputs_and_has_to_write_what_is_expected(
    tmp_path: Path,
) -> None:
    file = compiled("x86_64", tmp_path, "-static")
    symbols = subprocess.run(["nm", str(file)], capture_output=True, text=True, check=True).stdout
    (address,) = [line.split()[0] for line in symbols.splitlines() if line.endswith(" T six")]
    subprocess.run(["strip", str(file)], check=True)
    assert "it is stripped" in refused(file, *functions("six")).message
    (tmp_path / "data").write_text("a\n")
    (tmp_path / "input").write_text("b\n")
    (tmp_path / "expected").write_text("a\nc\n")
    inputs = ["--file", f"{tmp_path / 'data'}=some/data", "--stdin", str(tmp_path / "input")]
    expected = ["--expect", str(tmp_path / "expected"), *functions(f"0x{address}")]
    answer = count(file, *inputs, *expected, inside=["echo", "some/data"])
    error = error_of(answer)
    assert isinstance(error, TargetFailed)
    assert error.message.startswith("the output of program differs from ")
    assert error.message.endswith("in line 2, or in how it ends")
    assert error.detail == "a\nb"
    (folder,) = (tmp_path / "runs").iterdir()
    run = read_run(folder)
    assert (folder / "console.txt").read_text() == "a\nb\n"
    assert [record.status for record in run.manifest.records] == ["failed"]
    assert samples(folder, f"{int(address, 16):#010x}")["call"] == [6]
    assert [c.value for c in run.manifest.conditions if c.kind == "arguments"] == ["echo some/data"]


@pytest.mark.parametrize(
    ("inside", "message", "output"),
    [
        ("crash", "program ended by signal 11 (SIGSEGV)", "no way on"),
        ("forever", "program was ended at the limit of 0.02 s of the guest's time", ""),
    ],
)
def test_a_program_that_fails_or_goes_on_fails_the_count(
    inside: str, message: str, output: str, tmp_path: Path
) -> None:
    file = compiled("x86_64", tmp_path, "-static")
    error = error_of(count(file, *functions("six"), "--limit", "0.02", inside=[inside]))
    assert error.message == message
    assert error.detail == output
    assert ("--limit" in error.remedy) == (inside == "forever"), error.remedy
    (folder,) = (tmp_path / "runs").iterdir()
    assert samples(folder, "six")["call"] == [6]


def test_a_kernel_of_the_users_is_booted_by_its_file(tmp_path: Path) -> None:
    """Its flavour is the file's."""
    cached = machine("linux-rt/x86_64@guest").guest.kernel
    file = compiled("x86_64", tmp_path, "-static")
    kernel = shutil.copy(cached.image, tmp_path / "mine")
    timed = tmp_path / "timed.txt"  # the function by the output of a runner
    timed.write_text("test/test_program.c:12:six:PASS\ntest/test_program.c:19:lost:PASS\n")
    answer = count(file, "--functions-from", str(timed), "--guest", f"kernel={kernel}", "--json")
    assert "output of Unity: 1 of 2 names are functions" in answer.stderr
    run = json.loads(answer.stdout)["run"]
    assert samples(run, "six")["call"] == [6, 6]
    manifest = read_run(Path(run)).manifest
    assert manifest.target.name == "linux-rt/x86_64@guest"
    (condition,) = [each for each in manifest.conditions if each.kind == "guest kernel"]
    assert condition.value.startswith(f"{cached.release}, SHA-256 ")
    error = refused(file, *functions("six"), "--guest", f"kernel={kernel},flavour=plain")
    assert "has PREEMPT_RT" in error.message
    kernel.write_bytes(kernel.read_bytes()[:100_000])
    assert "cut short" in refused(file, "--guest", f"kernel={kernel}").message


def test_mistakes_are_answered_with_a_remedy(tmp_path: Path) -> None:
    file = compiled("x86_64", tmp_path)
    error = refused(file, *functions("sicks"))
    assert (error.message, error.remedy[:17]) == (
        f"--function sicks: no such function in {file}",
        "Did you mean asks",
    )
    if platform.machine() == "x86_64":
        assert "libc.so.6:qsort" in refused(file, *functions("qsort")).remedy
    assert "libc.so.6" in refused(file, *functions("libm.so.6:sin")).remedy
    assert "has no such kernel" in refused(file, "--guest", "kernel=5.1").message
    assert "--until" in refused(file, "--until", "six").message
    assert "is not a file" in refused(file, "--file", "nothing").message
    assert "no place" in refused(file, "--file", f"{file}=/proc/version").message
    assert "no emulator" in refused(file, "--board", "x86_64").message
    assert "Leave --board out" in refused(file, "--board", "stm32f4").remedy
    assert "nothing to count" in refused(file).message
    assert "line break" in refused(file, *functions("six"), inside=["a\nb"]).message


def test_a_library_that_is_missing_is_named(tmp_path: Path) -> None:
    if platform.machine() != "x86_64":
        pytest.skip("its libraries are of this machine")
    library = tmp_path / "libabsent.so"
    library_source, source = tmp_path / "absent.c", tmp_path / "main.c"
    library_source.write_text("int absent(void) { return 1; }\n")
    source.write_text("int absent(void);\nint main(void) { return absent(); }\n")
    subprocess.run(["gcc", "-shared", "-fPIC", str(library_source), "-o", str(library)], check=True)
    file = tmp_path / "program"
    subprocess.run(["gcc", str(source), str(library), "-o", str(file)], check=True)
    library.unlink()
    assert "libabsent.so" in refused(file, *functions("main")).message
