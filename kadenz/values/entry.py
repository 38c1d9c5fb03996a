# SPDX-License-Identifier: Apache-2.0
"""One entry of the store: a file with the output of one execution and a digest of itself.

Its first line is the digest of all that follows, its second says what it is, in JSON. Then come the
bytes of its files, one after another. An entry proves itself whenever it is used: a half-written or
damaged one is not believed, so nothing waits for the disk when one is written.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import msgspec

from kadenz.json_text import read_json

_PIECE = 1 << 20
_LINE_MAX = 1 << 16  # bytes of the second line: an entry has few files
_MAGIC = b"kadenz-value-1 "


class DamagedError(Exception):
    """An entry whose bytes do not have its digest, or that is no entry."""


class ForeignError(Exception):
    """An entry that another user wrote: it may claim anything."""


class Head(msgspec.Struct, frozen=True):
    """What an entry is."""

    key: str
    target: str  # "freertos/stm32f4@emulated"
    measured: str  # ISO 8601, UTC
    machine: str  # that executed it
    kadenz: str  # its version
    inputs: dict[str, str]  # SHA-256 of the files that the lab made for it, by name
    files: list[tuple[str, int]]  # of its output: name, bytes


class Entry:
    """An entry that is open. A context manager."""

    def __init__(self, file: Path) -> None:
        """Raises OSError, ForeignError or DamagedError. A removed entry stays readable."""
        self.path = file
        self._stream = open(  # noqa: SIM115 (closed at exit; the opener follows no link)
            file, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NOFOLLOW)
        )
        try:
            status = os.fstat(self._stream.fileno())
            if status.st_uid != os.geteuid() or not stat.S_ISREG(status.st_mode):
                raise ForeignError(str(file))
            self._digest, self.head = self._begin()
        except BaseException:
            self._stream.close()
            raise
        self.bytes, self.used_at = status.st_size, status.st_mtime

    def __enter__(self) -> Entry:
        return self

    def __exit__(self, *_: object) -> None:
        self._stream.close()

    def fill(self, folder: Path) -> None:
        """Writes its files into `folder`. DamagedError: none of them may be used."""
        total = hashlib.sha256(self._second)
        for name, size in self.head.files:
            if (folder / name).is_symlink():  # to an input
                raise DamagedError(f"{self.path}: it would overwrite {name}")
            with (folder / name).open("wb") as file:
                for piece in self._pieces(size):
                    total.update(piece)
                    file.write(piece)
        self._check(total)

    def differs(self, folder: Path) -> str:
        """The first file of `folder` that is not as in this entry; "" if all are equal."""
        total, other = hashlib.sha256(self._second), ""
        for name, size in self.head.files:
            same = (folder / name).is_file() and (folder / name).stat().st_size == size
            with (folder / name if same else Path(os.devnull)).open("rb") as file:
                for piece in self._pieces(size):
                    total.update(piece)
                    same = same and file.read(len(piece)) == piece
            other = other or ("" if same else name)
        self._check(total)
        known = {*self.head.inputs, *(name for name, _ in self.head.files)}
        return other or next((name for name, _ in output_of(folder, known)), "")

    def verify(self) -> None:
        """DamagedError if its bytes do not have its digest."""
        total = hashlib.sha256(self._second)
        for _, size in self.head.files:
            for piece in self._pieces(size):
                total.update(piece)
        self._check(total)

    def _begin(self) -> tuple[str, Head]:
        first, self._second = self._stream.readline(128), self._stream.readline(_LINE_MAX)
        try:
            head = read_json(self._second, Head)
        except msgspec.DecodeError:
            raise DamagedError(f"{self.path}: not an entry") from None
        sound = first.startswith(_MAGIC) and head.key == self.path.name
        if not sound or any("/" in name or name in ("", ".", "..") for name, _ in head.files):
            raise DamagedError(f"{self.path}: not the entry of this key")
        return first.removeprefix(_MAGIC).strip().decode("ascii", "replace"), head

    def _pieces(self, size: int) -> Iterator[bytes]:
        while size:
            piece = self._stream.read(min(size, _PIECE))
            if not piece:
                raise DamagedError(f"{self.path}: it ends early")
            size -= len(piece)
            yield piece

    def _check(self, total: Any) -> None:
        if total.hexdigest() != self._digest or self._stream.read(1):
            raise DamagedError(f"{self.path}: its bytes do not have its digest")


def output_of(folder: Path, besides: set[str]) -> list[tuple[str, int]]:
    """Names and sizes of the regular files in `folder`, without those in `besides`."""
    files = []
    for file in sorted(folder.iterdir()):
        status = file.lstat()
        if stat.S_ISREG(status.st_mode) and file.name not in besides:
            files.append((file.name, status.st_size))
    return files


def write(stream: IO[bytes], head: Head, folder: Path) -> None:
    """Writes an entry with the files of `folder` that `head` names. Raises OSError."""
    second = msgspec.json.encode(head) + b"\n"
    total = hashlib.sha256(second)
    stream.write(_MAGIC + b"0" * 64 + b"\n" + second)
    for name, size in head.files:
        left = size
        with (folder / name).open("rb") as file:
            while piece := file.read(_PIECE):
                total.update(piece)
                stream.write(piece)
                left -= len(piece)
        if left:
            raise OSError(f"{folder / name} changed while it was read")
    stream.seek(len(_MAGIC))
    stream.write(total.hexdigest().encode())


def inputs_of(document: Mapping[str, Any]) -> dict[str, str]:
    """Of a key's document: the files that the lab made, which have no folder in their names."""
    return {name: digest for name, digest in document["files"].items() if "/" not in name}
