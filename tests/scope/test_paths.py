# SPDX-License-Identifier: Apache-2.0
"""Paths: what was executed between stamps, whole and in order."""

from __future__ import annotations

import struct
import subprocess
from pathlib import Path

import pytest

from kadenz.elf import Elf
from kadenz.targets import scope_plugin
from kadenz.targets.paths import MARK, NAME, RUN, STATE, STORE, Paths, parse_paths, read_paths
from kadenz.targets.scope import ScopeDamaged, read_trace, split_records

from . import emulator
from .emulator import ARM, RISCV, Machine

pytestmark = pytest.mark.counted

REGISTER = {"riscv": "mstatus:0x8", "arm": "xpsr:0x1ff"}


def record(machine: Machine, folder: Path, more: str = "") -> tuple[Path, Path]:
    """Runs the program of known counts; its paths and its trace."""
    elf = emulator.assemble(machine, "known-counts", folder)
    paths, trace = folder / "paths", folder / "trace"
    arguments = scope_plugin.arguments(emulator.plugin(machine, folder), elf, trace)
    arguments[1] += f",paths={paths}{more}"
    answer = subprocess.run(
        emulator.command(machine, elf, arguments), capture_output=True, text=True, check=False
    )
    assert answer.returncode == 0, answer.stderr
    return paths, trace


def instructions(paths: Paths, region: int) -> list[int]:
    """The address of each run of a region, in order, with its instructions."""
    tokens = [t for p in paths.regions[region].path for t in paths.tokens[paths.pieces[p]]]
    return [int(t["instructions"]) for t in tokens if t["kind"] == RUN]


@pytest.mark.parametrize("machine", [RISCV, ARM], ids=["riscv", "arm"])
def test_every_path_has_as_many_instructions_as_its_span(machine: Machine, tmp_path: Path) -> None:
    file, trace = record(machine, tmp_path, f",register={REGISTER[machine.suffix]}")
    paths = read_paths(file)
    assert paths.complete
    spans = split_records(read_trace(trace))[7].spans.tolist()
    assert [sum(instructions(paths, n)) for n in range(len(paths.regions))] == spans


@pytest.mark.parametrize("machine", [RISCV, ARM], ids=["riscv", "arm"])
def test_two_runs_write_the_same_paths(machine: Machine, tmp_path: Path) -> None:
    files = []
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        files.append(record(machine, tmp_path / name)[0].read_bytes())
    assert files[0] == files[1]


def test_a_whole_record_is_one_region_with_its_marks_inside(tmp_path: Path) -> None:
    file, trace = record(RISCV, tmp_path, ",region=record")
    paths = read_paths(file)
    (region,) = paths.regions
    assert paths.whole_records
    tokens = [t for p in region.path for t in paths.tokens[paths.pieces[p]]]
    marks = [int(t["value"]) for t in tokens if t["kind"] == MARK]
    assert marks == [1, 2] * split_records(read_trace(trace))[7].spans.size


def test_a_change_of_a_watched_register_is_in_the_path(tmp_path: Path) -> None:
    file, _ = record(ARM, tmp_path, f",register={REGISTER['arm']}")
    paths = read_paths(file)
    numbers = {int(t["value"]) for t in paths.tokens if t["kind"] == STATE}
    assert {0, 11} <= numbers  # thread mode, and the handler of SVC


def test_a_store_to_a_watched_word_is_in_the_path_at_its_place(tmp_path: Path) -> None:
    """The program's store to the UART: of region 6, after one nop, before another and END."""
    file, _ = record(RISCV, tmp_path, ",word=0x10000007")
    paths = read_paths(file)
    stored = [
        [int(t["instructions"]) for t in tokens]
        for region in paths.regions
        if (tokens := [t for p in region.path for t in paths.tokens[paths.pieces[p]]])
        and sum(t["kind"] == STORE for t in tokens[1:])  # the first is what it held before
    ]
    assert stored == [[0, 2, 0, 2]]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("8:16", ["inline 1", "inline 2", ""]),
        ("4:24:4", ["pointed to, first", "second", ""]),
    ],
)
def test_the_name_of_the_current_object_is_read_at_each_change(
    name: str, expected: list[str], tmp_path: Path
) -> None:
    elf = emulator.assemble(RISCV, "names", tmp_path)
    (word,) = [symbol.address for symbol in Elf(elf).symbols if symbol.name == "current"]
    file = tmp_path / "paths"
    arguments = scope_plugin.arguments(emulator.plugin(RISCV, tmp_path), elf, tmp_path / "trace")
    arguments[1] += f",paths={file},word={word:#x},name={name}"
    command = emulator.command(RISCV, elf, arguments)
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stderr
    paths = read_paths(file)
    (region,) = paths.regions
    tokens = [t for p in region.path for t in paths.tokens[paths.pieces[p]]]
    names = [b""]
    for token in tokens:
        if int(token["kind"]) == STORE:
            names.append(b"")
        elif int(token["kind"]) & 0xF0 == NAME:
            names[-1] += int(token["value"]).to_bytes(8, "little")
    changes = [name.rstrip(b"\0").decode() for name in names[2:]]  # after that of the begin
    assert changes == expected


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (",name=4", "unknown argument name=4"),
        (",name=4:8:16", "unknown argument name=4:8:16"),
        (",region=here", "unknown argument region=here"),
        (",register=mstatus", "unknown argument register=mstatus"),
        (",register=nonsense:1", "this core has no register `nonsense`"),
        (",word=here", "unknown argument word=here"),
        ("".join(f",word={n}" for n in range(9)), "unknown argument word=8"),
    ],
)
def test_wrong_arguments_are_named(arguments: str, message: str, tmp_path: Path) -> None:
    elf = emulator.assemble(RISCV, "known-counts", tmp_path)
    given = scope_plugin.arguments(emulator.plugin(RISCV, tmp_path), elf, tmp_path / "trace")
    given[1] += f",paths={tmp_path / 'paths'}{arguments}"
    answer = subprocess.run(
        emulator.command(RISCV, elf, given), capture_output=True, text=True, check=False
    )
    assert answer.returncode != 0
    assert message in answer.stderr


def chunk(kind: int, payload: bytes) -> bytes:
    return struct.pack("<II", kind, len(payload)) + payload


HEADER = b"KDZPATHS" + struct.pack("<III", 1, 32, 0) + bytes(12)
RUN_OF_5 = chunk(1, struct.pack("<IIQQ", RUN, 5, 5, 0x100))
PIECE = chunk(2, struct.pack("<I", 0))
BEGIN, END = (chunk(kind, struct.pack("<QQQ", at, at, 1)) for kind, at in ((3, 10), (5, 15)))
PATH = chunk(4, struct.pack("<I", 0))
LAST = chunk(6, b"")
WHOLE = HEADER + BEGIN + RUN_OF_5 + PIECE + PATH + END + LAST


def test_a_cut_file_keeps_the_regions_that_ended() -> None:
    assert parse_paths(WHOLE).complete
    for length in range(len(HEADER), len(WHOLE)):
        paths = parse_paths(WHOLE[:length])
        assert not paths.complete
        assert len(paths.regions) == (length >= len(WHOLE) - len(LAST))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "not a file of paths"),
        (HEADER[:8] + struct.pack("<III", 9, 32, 0) + bytes(12), "version 9"),
        (HEADER + PATH, "chunk of kind 4"),
        (HEADER + chunk(9, b""), "chunk of kind 9"),
        (HEADER + RUN_OF_5 + chunk(2, struct.pack("<I", 1)), "a token that it has not defined"),
        (HEADER + BEGIN + BEGIN, "chunk of kind 3"),
        (WHOLE + b"more", "goes on behind its end"),
        (HEADER + BEGIN + END + LAST, "has 0 instructions, its marks are 5 apart"),
    ],
)
def test_damage_is_named_with_its_place(data: bytes, message: str) -> None:
    with pytest.raises(ScopeDamaged, match=message):
        parse_paths(data)
