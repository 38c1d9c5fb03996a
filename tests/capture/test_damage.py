# SPDX-License-Identifier: Apache-2.0
"""Readers of captures: any bytes give edges or a UsageError, and blocks of any size the same."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kadenz.capture import separated, sigrok, vcd
from kadenz.capture.opening import open_waveform
from kadenz.capture.pairing import Mark, Pairing
from kadenz.capture.waveform import GAP, Edges
from kadenz.errors import UsageError

VCD = b"""$date today $end $timescale 10 ns $end $scope module logic $end
$var wire 1 ! D0 $end $var wire 1 b D1 $end $var wire 8 $ bus [7:0] $end
$upscope $end $enddefinitions $end
#0 $dumpvars 0! 0b b0 $ $end
"""
CHANGES = b"#100 1!\n#110 0!\nb101 b1 #150 $comment 1b #9 $end 1b\n#160 xb 0b\n#9999999 1! 0!\n"
CSV = b"; notes\nTime [s], D0, D1\n" + b"".join(
    b"%.9f, %d, %d\r\n" % (n * 1e-6 - 1, n % 2, n // 2 % 2) for n in range(50)
)


def session(
    pieces: int = 3, missing: int = 0, left_over: int = 0, names: tuple[str, str] = ("D0", "D1")
) -> bytes:
    """A .sr file whose two channels count."""
    text = "[device 1]\ncapturefile=logic-1\nsamplerate=1 MHz\nunitsize=2\n"
    text += f"probe1={names[0]}\nprobe2={names[1]}\n"
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("version", "2")
        archive.writestr("metadata", text)
        for piece in range(1, pieces + 1):
            if piece != missing:
                data = np.arange(100, dtype="<u2").tobytes()
                archive.writestr(f"logic-1-{piece}", data[: len(data) - left_over])
    return file.getvalue()


VECTORS = b"""#100 b1 !\n#110 b000 ! b1 $\n#120 B1 b #130 $dumpoff x! xb $end
#140 $dumpon b0 !\n0b $end #150 b1\n!\n#160 b1 b\n#170 b0 ! #180 0b
"""
FILES = (VCD + CHANGES, CSV, session(), VCD + VECTORS)


def drain(file: Path) -> list[tuple[int, int, bool]]:
    """All edges of D0 and D1, and their pairing."""
    waveform = open_waveform(file)
    names = tuple(waveform.channels[:2])
    pairing = Pairing(Mark(0, True), Mark(len(names) - 1, False), shortest=3.0)
    changes = []
    for edges in waveform.edges(names, lambda _: None):
        assert (pairing.pair(edges) >= 0).all()
        changes += list(
            zip(edges.times.tolist(), edges.channels.tolist(), edges.high.tolist(), strict=True)
        )
    pairing.finish()
    return changes


@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_a_damaged_file_gives_edges_or_a_reason(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    content = bytearray(data.draw(st.sampled_from(FILES)))
    for _ in range(data.draw(st.integers(0, 4))):
        at = data.draw(st.integers(0, len(content) - 1))
        byte = data.draw(st.sampled_from(b'0189#$!b- \n,;.xe"\x00\xff'))
        content[at : at + data.draw(st.integers(0, 3))] = bytes([byte])
        content = content[: data.draw(st.integers(1, len(content)))] or bytearray(b"0")
    file = tmp_path_factory.getbasetemp() / "damaged"
    file.write_bytes(content)
    try:
        drain(file)
    except UsageError as reason:
        assert reason.message.startswith(f"{file}: ") and reason.remedy


@settings(max_examples=100, deadline=None)
@given(content=st.binary(min_size=0, max_size=300), begin=st.sampled_from([b"", b"$", b"PK", VCD]))
def test_garbage_is_refused_or_read(
    content: bytes, begin: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    file = tmp_path_factory.getbasetemp() / "garbage"
    file.write_bytes(begin + content)
    try:
        drain(file)
    except UsageError as reason:
        assert reason.remedy


@pytest.mark.parametrize("content", FILES, ids=["vcd", "csv", "sr", "vectors"])
def test_blocks_of_any_size_give_the_same_edges(
    content: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "capture"
    file.write_bytes(content)
    whole = drain(file)
    assert len(whole) > 4
    for size in (1, 2, 3, 5, 7, 11, 64):
        for module, name in ((vcd, "_BLOCK"), (separated, "_BLOCK"), (sigrok, "_BLOCK")):
            monkeypatch.setattr(module, name, max(size, 50) if module is separated else size)
        assert drain(file) == whole


def test_a_comment_and_a_vector_are_no_edges(tmp_path: Path) -> None:
    file = tmp_path / "capture.vcd"
    file.write_bytes(VCD + CHANGES)
    assert drain(file) == [
        (100, 0, True),
        (110, 0, False),
        (150, 1, True),
        (9999999, 0, True),
        (9999999, 0, False),
    ]


def test_vectors_of_one_bit_are_edges_and_a_pause_is_a_gap(tmp_path: Path) -> None:
    file = tmp_path / "capture.vcd"
    file.write_bytes(VCD + VECTORS)
    assert drain(file) == [
        (100, 0, True),
        (110, 0, False),
        (120, 1, True),
        (130, GAP, False),
        (150, 0, True),
        (160, 1, True),
        (170, 0, False),
        (180, 1, False),
    ]


@pytest.mark.parametrize(
    ("content", "named"),
    [
        (session(missing=2), "damaged in logic-1: piece 2 of 3 is missing"),
        (session(left_over=1), "damaged in logic-1-1: it ends inside a sample"),
        (session(pieces=0), "it has no samples"),
        (session()[:-30], "not a session of sigrok, or cut off"),
        (CSV.replace(b"0.999990000", b"0.999990000x"), "damaged in line 13: `-0.999990000x, 0, 1`"),
        (CSV.replace(b"0.999990000", b"0.100000000"), "line 14: `-0.999989000, 1, 1`: its time"),
        (CSV.replace(b"0, 1, 0", b"0, 2, 0"), "a level is not 0 or 1"),
        (CSV[:-9], "not numbers for all channels"),
        (b"D0,D1\n0,1\n", "neither a column of times nor a sample rate"),
        (b"D0,D0\n0,1\n", "columns without names of their own: D0, D0"),
        (VCD + b"#5 1! hello", "`hello` is no change of a value"),
        (VCD + b"#5 1! #99999999999999999999 ", "is no time after 5"),
        (b"\x00\x01\x02", "not a capture that kadenz reads"),
        (b"", "is empty"),
    ],
    # A session holds its date: as a name it would differ between two processes of a run.
    ids=lambda value: value if isinstance(value, str) else "capture",
)
def test_damage_is_named_with_its_place(content: bytes, named: str, tmp_path: Path) -> None:
    file = tmp_path / "capture"
    file.write_bytes(content)
    with pytest.raises(UsageError, match="") as reason:
        drain(file)
    assert named in reason.value.message


def by_hand(edges: list[tuple[int, int, bool]], shortest: int) -> tuple[list[int], int, int, Any]:
    """Pairing edge by edge: samples, glitches, unpaired marks, the open BEGIN."""
    clean: list[tuple[int, int, bool]] = []
    waiting: dict[int, tuple[int, int, bool]] = {}
    glitches = 0
    for edge in edges:
        before = waiting.pop(edge[1], None)
        if before is not None and edge[0] - before[0] < shortest:
            glitches += 1
            clean.remove(before)
        else:
            waiting[edge[1]] = edge
            clean.append(edge)
    samples, unpaired, opened = [], 0, None
    for time, channel, high in clean:
        if channel == 0 and high:
            unpaired += opened is not None
            opened = time
        elif channel == 1 and high:
            if opened is None:
                unpaired += 1
            else:
                samples.append(time - opened)
            opened = None
    return samples, glitches, unpaired, opened


@settings(max_examples=200, deadline=None)
@given(
    steps=st.lists(st.tuples(st.integers(1, 9), st.integers(0, 1)), max_size=60),
    shortest=st.integers(0, 12),
    size=st.integers(1, 20),
)
def test_pairing_in_blocks_is_pairing_by_hand(
    steps: list[tuple[int, int]], shortest: int, size: int
) -> None:
    levels, edges, time = [False, False], [], 0
    for gap, channel in steps:
        time += gap
        levels[channel] = not levels[channel]
        edges.append((time, channel, levels[channel]))
    pairing = Pairing(Mark(0, True), Mark(1, True), shortest=float(shortest))
    samples: list[int] = []
    for first in range(0, len(edges), size):
        times, channels, high = zip(*edges[first : first + size], strict=True)
        block = Edges(np.array(times), np.array(channels, np.uint8), np.array(high))
        samples += pairing.pair(block).tolist()
    samples += pairing.finish().tolist()
    outcome = samples, pairing.glitches, pairing.unpaired, pairing.open_at
    assert outcome == by_hand(edges, shortest)


def test_marks_of_one_step_keep_an_open_sample_first() -> None:
    pairing = Pairing(Mark(0, True), Mark(1, True))
    times = np.array([10, 20, 20, 30], np.int64)
    marks = Edges(times, np.array([0, 0, 1, 1], np.uint8), np.ones(4, np.bool_))
    assert pairing.pair(marks).tolist() == [10, 10]
    assert pairing.unpaired == 0
