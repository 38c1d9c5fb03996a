# SPDX-License-Identifier: Apache-2.0
"""The plugin counts exactly, and never silently loses or adds a mark."""

from __future__ import annotations

import resource
import signal
import subprocess
from pathlib import Path

import pytest

from kadenz import tools
from kadenz.errors import BuildFailed, ToolMissing
from kadenz.targets import scope_plugin
from kadenz.targets.scope import read_trace, split_records
from tests.waiting import wait_for

from . import emulator
from .emulator import ARM, RISCV, Machine

pytestmark = pytest.mark.counted

# Counted by hand in the comments of programs/known-counts.*.S.
KNOWN = {
    "riscv": [1, 101, 1001, 202, 10, 9, 4, 2],
    "arm": [1, 101, 1001, 202, 6, 8],
}


@pytest.mark.parametrize("machine", [RISCV, ARM], ids=["riscv", "arm"])
def test_spans_equal_the_instructions_counted_by_hand(machine: Machine, tmp_path: Path) -> None:
    answer, path = emulator.run(machine, "known-counts", tmp_path)
    assert answer.returncode == 0, answer.stderr
    trace = read_trace(path)
    assert trace.complete
    record = split_records(trace)[7]
    assert record.closed
    assert record.spans.tolist() == KNOWN[machine.suffix]


@pytest.mark.parametrize("machine", [RISCV, ARM], ids=["riscv", "arm"])
def test_two_runs_write_the_same_bytes(machine: Machine, tmp_path: Path) -> None:
    traces = []
    for name in ("first", "second"):
        folder = tmp_path / name
        folder.mkdir()
        traces.append(emulator.run(machine, "known-counts", folder)[1].read_bytes())
    assert traces[0] == traces[1]


def _start_endless(tmp_path: Path) -> tuple[subprocess.Popen[bytes], Path]:
    elf = emulator.assemble(RISCV, "marks-forever", tmp_path)
    trace = tmp_path / "endless.trace"
    arguments = scope_plugin.arguments(emulator.plugin(RISCV, tmp_path), elf, trace)
    process = subprocess.Popen(emulator.command(RISCV, elf, arguments))
    wait_for(lambda: trace.exists() and trace.stat().st_size > 100_000)
    return process, trace


def test_an_emulator_asked_to_stop_leaves_a_complete_trace(tmp_path: Path) -> None:
    process, path = _start_endless(tmp_path)
    process.send_signal(signal.SIGTERM)
    process.wait()
    trace = read_trace(path)
    assert trace.complete
    record = split_records(trace)[1]
    assert not record.closed
    assert set(record.spans.tolist()) == {11}


def test_a_killed_emulator_leaves_a_trace_marked_as_incomplete(tmp_path: Path) -> None:
    process, path = _start_endless(tmp_path)
    process.kill()
    process.wait()
    trace = read_trace(path)
    assert not trace.complete
    assert set(split_records(trace)[1].spans.tolist()) == {11}


def test_a_trace_that_grows_too_large_ends_the_run_with_a_message(tmp_path: Path) -> None:
    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        # The emulator's memory is a file as well: a limit above it, reached within a second.
        resource.setrlimit(resource.RLIMIT_FSIZE, (20 << 20, 20 << 20))

    answer, _ = emulator.run(RISCV, "marks-forever", tmp_path, extra=["-m", "8M"], before=limit)
    assert answer.returncode == 1
    assert "the trace could not be written: File too large" in answer.stderr


def test_a_store_of_another_width_is_named(tmp_path: Path) -> None:
    answer, _ = emulator.run(RISCV, "narrow-store", tmp_path)
    assert answer.returncode == 1
    assert "is not 32 bits wide" in answer.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("marker=0x80100000", "needs marker=ADDRESS and trace=FILE"),
        ("marker=nonsense,trace={trace}", "needs marker=ADDRESS and trace=FILE"),
        ("marker=1,trace={trace},count=1", "unknown argument count=1"),
        ("marker=1,trace=/nowhere/at/all", "cannot write /nowhere/at/all: No such file"),
        ("marker=1,trace=/dev/full", "cannot write /dev/full: No space left"),
    ],
)
def test_wrong_arguments_are_refused_before_the_target_starts(
    arguments: str, message: str, tmp_path: Path
) -> None:
    elf = emulator.assemble(RISCV, "known-counts", tmp_path)
    text = arguments.format(trace=tmp_path / "trace")
    answer = subprocess.run(
        emulator.command(RISCV, elf, ["-plugin", f"{emulator.plugin(RISCV, tmp_path)},{text}"]),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert answer.returncode != 0
    assert message in answer.stderr


def test_a_machine_with_two_cores_is_refused(tmp_path: Path) -> None:
    elf = emulator.assemble(RISCV, "known-counts", tmp_path)
    arguments = scope_plugin.arguments(
        emulator.plugin(RISCV, tmp_path), elf, tmp_path / "two.trace"
    )
    answer = subprocess.run(
        [*emulator.command(RISCV, elf, arguments), "-smp", "2"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert answer.returncode != 0
    assert "needs a machine with one core" in answer.stderr


def test_an_image_without_a_marker_is_named(tmp_path: Path) -> None:
    source = tmp_path / "empty.S"
    source.write_text(".globl _start\n_start: nop\n")
    elf = tmp_path / "empty.elf"
    subprocess.run([RISCV.compiler, "-nostdlib", str(source), "-o", str(elf)], check=True)
    with pytest.raises(BuildFailed, match="no symbol kdz_scope_marker"):
        scope_plugin.marker_address(elf)


def test_a_plugin_that_does_not_compile_shows_the_compiler_output(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    for file in emulator.SCOPE_SOURCE.glob("*.[ch]"):
        (source / file.name).write_bytes(file.read_bytes())
    (source / "scope.c").write_text("#error broken on purpose\n")
    version = tools.version(RISCV.emulator)
    with pytest.raises(BuildFailed) as caught:
        scope_plugin.build(source, tmp_path / "out", version)
    assert "broken on purpose" in caught.value.detail


def test_a_missing_plugin_header_says_how_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(ToolMissing, match="kadenz setup"):
        scope_plugin.build(emulator.SCOPE_SOURCE, tmp_path, "9.9.9")


def test_the_plugin_is_built_once(tmp_path: Path) -> None:
    first = emulator.plugin(RISCV, tmp_path)
    built_ns = first.stat().st_mtime_ns
    assert emulator.plugin(RISCV, tmp_path) == first
    assert first.stat().st_mtime_ns == built_ns


@pytest.mark.parametrize("bytes_left", [0, 4096])
def test_a_cut_plugin_is_built_again(tmp_path: Path, bytes_left: int) -> None:
    library = emulator.plugin(RISCV, tmp_path)
    whole = library.read_bytes()
    library.write_bytes(whole[:bytes_left])
    assert emulator.plugin(RISCV, tmp_path).read_bytes() == whole
