# SPDX-License-Identifier: Apache-2.0
"""Programs under watch in guests: planted delays are named with their sizes, and two watches have
the same bytes."""

from __future__ import annotations

import hashlib
import json
import platform
import re
import statistics
import subprocess
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from kadenz.cli import cli
from kadenz.config import inventory
from kadenz.errors import KadenzError, TargetFailed, ToolMissing, UsageError
from kadenz.store import read_run
from tests.guest.conftest import machine
from tests.watching.test_live import delays

pytestmark = pytest.mark.counted

HERE = Path(__file__).parent
RT = "linux-rt/x86_64@guest"
PLAIN = "linux/x86_64@guest"
DELAY_NS = 2_000_000  # tests/watching/planted.c
COST_NS = 60_000  # of two switches, and of the events inside


def compiled(target: str, folder: Path, source: str, *options: str) -> Path:
    """A program of this folder for a guest; skips without its kernel, emulator or compiler."""
    isa = machine(target).name.board
    file = folder / source.removesuffix(".c")
    compiler = inventory.compiler(isa, isa)
    command = [compiler, "-O2", "-pthread", *options, str(HERE / source), "-o", str(file)]
    subprocess.run(command, check=True)
    return file


def watch(file: Path, *arguments: str, target: str = RT) -> Result:
    """`kadenz watch` of a program in a guest, whose arguments are behind "--"; errors that it
    raises are in the result."""
    at = arguments.index("--") if "--" in arguments else len(arguments)
    command = ["watch", "--target", target, "--output", str(file.parent / "runs"), *arguments[:at]]
    called = [*command, "--", str(file), *arguments[at + 1 :]]
    return CliRunner(mix_stderr=False).invoke(cli, called, standalone_mode=False)


def watched(file: Path, *arguments: str, target: str = RT) -> tuple[dict[str, Any], Result]:
    """The JSON of a watch with one thread."""
    result = watch(file, "--json", *arguments, target=target)
    assert result.exception is None, result.exception
    told = json.loads(result.stdout)
    (thread,) = told["threads"]
    return {**told, **thread}, result


def error_of(result: Result) -> KadenzError:
    assert isinstance(result.exception, KadenzError), result.output
    return result.exception


@pytest.mark.parametrize(
    ("target", "kind", "cause"),
    [
        (RT, "preempted", "thread hog"),
        (RT, "locked", "waits in futex, a PI lock, for thread low"),
        (RT, "faulting", "its own execution, with page faults"),
        (PLAIN, "preempted", "thread hog"),
        ("linux-rt/aarch64@guest", "locked", "waits in futex, a PI lock, for thread low"),
    ],
)
def test_a_planted_delay_is_named_with_its_size(
    target: str, kind: str, cause: str, tmp_path: Path
) -> None:
    file = compiled(target, tmp_path, "planted.c", "-static")
    call = ("--thread", "ctl", "--deadline", "1200us", "--", kind, "60", "200")
    thread, result = watched(file, *call, target=target)
    assert thread["unit"] == "virtual ns" and thread["late"] == 5  # in the sixth the thread ends
    (named,) = thread["causes"]
    planned = delays(result.stderr)
    assert (named["cause"], named["late"]) == (cause, 5) and len(planned) == 6
    assert 0 < statistics.median(planned) - named["median"] < COST_NS
    if kind != "faulting":
        assert DELAY_NS <= named["median"] < DELAY_NS + COST_NS
    (period,) = re.findall(r"period ([\d,.]+) virtual ns", thread["period"])
    assert float(period.replace(",", "")) == pytest.approx(1e7, abs=100)
    assert 100 < thread["event_ns"] < 10_000


def test_a_planted_interrupt_is_named_with_its_size(tmp_path: Path) -> None:
    """Every 12 ms of a thread with a period of 10 ms: it meets some releases, always the same."""
    file = compiled(PLAIN, tmp_path, "planted.c", "-static")
    disturbed = ("--guest", "disturbance=timer:2000us/12ms", "--thread", "ctl")
    thread, _ = watched(file, *disturbed, "--deadline", "1ms", "--", "none", "60", target=PLAIN)
    (named,) = thread["causes"]
    assert named["cause"] == "soft interrupt TIMER"
    assert named["late"] == thread["late"] > 5
    assert 0.4 * DELAY_NS < named["median"] <= named["max"] < DELAY_NS + COST_NS
    manifest = read_run(Path(thread["run"])).manifest
    conditions = {each.kind: each.value for each in manifest.conditions}
    assert conditions["disturbance"] == "period_us=12000,busy_us=2000,timer=1"
    assert conditions["arguments"] == "none 60"


def test_two_watches_have_the_same_bytes_wherever_the_program_is(tmp_path: Path) -> None:
    """With the libraries of this machine, and with a load."""
    runs = []
    for name in ("one", "another-folder"):
        (tmp_path / name).mkdir()
        file = compiled(RT, tmp_path / name, "planted.c")
        if platform.machine() != "x86_64":
            pytest.skip("its libraries are of this machine")
        call = ("--fresh", "--guest", "load=timers", "--thread", "ctl", "--", "preempted", "40")
        runs.append(watched(file, *call)[0])
    told = [{**run, "run": ""} for run in runs]
    assert told[0] == told[1]
    first, second = (digests(run["run"]) for run in runs)
    assert (
        first == second and len(first) == 3 + 3 + 5
    )  # three lanes, their cycles, what came with the jobs
    manifest = read_run(Path(runs[0]["run"])).manifest
    assert [(load.name, load.verified) for load in manifest.loads] == [("timers", True)]
    assert (manifest.clock.clock_class, manifest.clock.unit) == ("instruction", "virtual ns")
    assert manifest.target.name == RT and manifest.records[0].value is not None


def digests(folder: str) -> dict[str, str]:
    """Of the files of samples."""
    files = sorted((Path(folder) / "samples").iterdir())
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


def test_a_program_reads_its_inputs_and_its_output_is_shown_as_text(tmp_path: Path) -> None:
    file = compiled(RT, tmp_path, "ends.c", "-static")
    (tmp_path / "input").write_text("read\n")
    result = watch(file, "--stdin", str(tmp_path / "input"))
    assert result.exception is None and "\\u001b[31mread\n" in result.stdout
    rows = [" ".join(line.split()) for line in result.stdout.splitlines()]
    assert "Jobs of threads, in virtual ns" in rows
    assert any("released from clock_nanosleep" in row for row in rows)
    assert "µ" not in result.stdout
    (folder,) = (tmp_path / "runs").iterdir()
    assert (folder / "console.txt").read_text() == "\033[31mread\n"


@pytest.mark.parametrize(
    ("how", "ended", "code"),
    [
        ("crash", "the program was killed by SIGABRT", 1),
        ("status", "the program ended with exit status 3", 1),
        (
            "daemon",
            "the program ended with exit status 0; what it had started was watched for 0.2 s of "
            "the guest's time",
            0,
        ),
    ],
)
def test_the_end_of_a_program_is_said(how: str, ended: str, code: int, tmp_path: Path) -> None:
    file = compiled(RT, tmp_path, "ends.c", "-static")
    result = watch(file, "--json", "--for", "0.2", "--", how)
    told = json.loads(result.stdout)
    assert told["ended"] == ended
    assert told["threads"][0]["response"]["jobs"] == (30 if code else pytest.approx(196, abs=4))
    if code:
        assert isinstance(error_of(result), TargetFailed)
        assert "The jobs until then are in" in error_of(result).remedy


def test_a_program_that_never_sleeps_is_ended_at_its_time(tmp_path: Path) -> None:
    file = compiled(RT, tmp_path, "ends.c", "-static")
    error = error_of(watch(file, "--for", "0.1", "--", "spin"))
    assert error.message == (
        "no real-time thread during the 0.1 s that were watched; its threads: ends. It ended: "
        "after 0.1 s of the guest's time"
    )


def test_a_thread_of_the_kernel_is_watched_by_its_name(tmp_path: Path) -> None:
    """The planted one holds the processor for 300 µs in each 7,777 µs."""
    file = compiled(RT, tmp_path, "ends.c", "-static")
    call = ("--guest", "disturbance=300us/7777us", "--thread", "kdz-*", "--for", "0.3")
    thread, _ = watched(file, *call, "--", "daemon")
    assert (thread["thread"], thread["release"]) == ("kdz-disturbance", "released from the kernel")
    assert thread["execution"]["median"] == pytest.approx(300_000, rel=0.02)
    (period,) = re.findall(r"period ([\d,.]+) virtual ns", thread["period"])
    assert float(period.replace(",", "")) == pytest.approx(7_777_000, abs=100)


def test_a_kernel_without_events_is_named(tmp_path: Path) -> None:
    target = "linux/riscv64@guest"
    file = compiled(target, tmp_path, "ends.c", "-static")
    error = error_of(watch(file, target=target))
    assert isinstance(error, ToolMissing) and error.exit_code == 2
    assert "its kernel records no events" in error.message
    assert "--guest kernel=FILE" in error.remedy
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    ("target", "options", "message", "remedy"),
    [
        ("linux-rt/aarch64@guest", [], "ends: a program for x86_64", "linux-rt/x86_64@guest"),
        ("posix/linux@host", [], "it is no guest", "without --target"),
        ("linux-rt/indy7-x86_64@guest", [], "it has a program of its own", RT),
        (RT, ["--live"], "--live: a guest's recording", "Leave out --live"),
        (RT, ["--pid", "1"], "a guest begins with the program", "-- ./program"),
        (RT, ["--guest", "load=none,cpu"], "--guest: 2 variants", "call it for each"),
        (RT, ["--guest", "load=typing"], "there is no `typing`", ""),
        (RT, ["--guest", "flavour=rt"], "no key `flavour`", "kernel="),
        (RT, ["--file", "nothing"], "nothing is not a file", "that exists"),
        ("", ["--guest", "load=cpu"], "--guest: for a program in a guest", "Name the guest"),
        ("", ["--fresh"], "--fresh: for a program in a guest", "Name the guest"),
    ],
)
def test_mistakes_are_answered_before_a_guest_boots(
    target: str, options: list[str], message: str, remedy: str, tmp_path: Path
) -> None:
    file = compiled(RT, tmp_path, "ends.c", "-static")
    asked = ["--target", target] if target else []
    command = ["watch", *asked, *options, "--", str(file)]
    result = CliRunner(mix_stderr=False).invoke(cli, command, standalone_mode=False)
    error = error_of(result)
    assert isinstance(error, UsageError)
    assert message in error.message and remedy in error.remedy


def test_a_script_is_refused(tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text("#!/bin/sh\necho\n")
    script.chmod(0o755)
    assert isinstance(error_of(watch(script)), UsageError)
