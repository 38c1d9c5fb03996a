# SPDX-License-Identifier: Apache-2.0
"""Memory that a guest shares with the lab: what has come is appended once, and no more."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from kadenz.targets import window
from kadenz.targets.window import Window


@pytest.fixture
def guest(tmp_path: Path) -> Path:
    """The memory as QEMU makes it: a file with holes."""
    file = tmp_path / "window"
    with file.open("wb") as memory:
        memory.truncate(window.BYTES)
    return file


def write(file: Path, at: int, data: bytes, count: int) -> None:
    """What kernels/linux/guest/window.c does: the bytes first, then their number."""
    with file.open("r+b") as memory:
        memory.seek(8 + at)
        memory.write(data)
        memory.seek(0)
        memory.write(struct.pack("<Q", count))


def test_what_came_is_appended_once(tmp_path: Path, guest: Path) -> None:
    lab, output = Window(tmp_path), tmp_path / "serial"
    output.touch()  # as the lab does before it reads
    first, second = bytes(range(256)) * 5000, b"and the end"
    lab.forward(output)
    assert output.read_bytes() == b""
    write(guest, 0, first, len(first))
    lab.forward(output)
    lab.forward(output)
    assert output.read_bytes() == first
    write(guest, len(first), second, len(first) + len(second))
    lab.forward(output)
    assert output.read_bytes() == first + second
    lab.close()
    assert not guest.exists() and output.exists()


def test_a_number_that_no_guest_can_have_written_is_bounded(tmp_path: Path, guest: Path) -> None:
    write(guest, 0, b"abc", 2**63)
    lab, output = Window(tmp_path), tmp_path / "serial"
    lab.forward(output)
    assert output.stat().st_size == window.BYTES - 8
    assert output.read_bytes()[:4] == b"abc\0"


def test_a_guest_that_has_not_begun_has_sent_nothing(tmp_path: Path) -> None:
    lab = Window(tmp_path)
    lab.forward(tmp_path / "serial")
    assert not (tmp_path / "serial").exists()
    (tmp_path / "window").write_bytes(b"\1")  # its head is not there yet
    lab.forward(tmp_path / "serial")
    assert not (tmp_path / "serial").exists()
    lab.close()
