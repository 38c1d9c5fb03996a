# SPDX-License-Identifier: Apache-2.0
"""Reads a value change dump (IEEE 1364-2005, 18) as a stream: memory does not grow with it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, NamedTuple

from kadenz.config.toml import did_you_mean
from kadenz.errors import UsageError

_SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "ps": 1e-12, "fs": 1e-15}
_TIMESCALE = re.compile(r"(1|10|100)\s*(s|ms|us|ns|ps|fs)")
_LOOK_BYTES = 1 << 22  # between two reports of progress


class Edge(NamedTuple):
    """A wire changes its level."""

    time: int  # in units of the timescale
    channel: str
    high: bool


@dataclass(frozen=True)
class Vcd:
    """The header of a file."""

    file: Path
    tick_ns: float  # the timescale
    wires: Mapping[str, str]  # name with its scopes, "logic.D0" -> identifier
    body: int  # offset behind the header

    def channel(self, name: str) -> str:
        """The full name of a wire, which may be given without its scopes. UsageError for none."""
        found = [full for full in self.wires if full == name or full.endswith(f".{name}")]
        if len(found) != 1:
            near = did_you_mean(name, [full.rpartition(".")[2] for full in self.wires])
            many = f"is any of {', '.join(found)}" if found else f"is no wire of one bit.{near}"
            raise UsageError(
                f"{self.file}: {name} {many}", remedy=f"It has {', '.join(self.wires) or 'none'}"
            )
        return found[0]


def read_header(file: Path) -> Vcd:
    """Reads the declarations. UsageError for a file that is no VCD, or has no timescale."""
    if not file.is_file():
        raise UsageError(f"{file}: no such file", remedy="Name a VCD file")
    with file.open("rb") as stream:
        return _header(file, stream)


def _header(file: Path, stream: BinaryIO) -> Vcd:
    scopes: list[str] = []
    wires: dict[str, str] = {}
    tick = 0.0
    for key, words in _declarations(stream):
        if key == "$enddefinitions":
            break
        if key == "$timescale":
            found = _TIMESCALE.fullmatch(" ".join(words))
            tick = int(found[1]) * _SECONDS[found[2]] * 1e9 if found else 0.0
        elif key == "$scope" and len(words) > 1:
            scopes.append(words[1])
        elif key == "$upscope" and scopes:
            scopes.pop()
        elif key == "$var" and len(words) > 3 and words[1] == "1":
            wires[".".join([*scopes, words[3]])] = words[2]
    else:
        raise UsageError(
            f"{file}: not a VCD, or cut off in its header: it has no $enddefinitions",
            remedy="Export the capture again",
        )
    if not tick:
        raise UsageError(
            f"{file}: has no $timescale of 1, 10 or 100 s, ms, us, ns, ps or fs",
            remedy="Export the capture with its sample rate, or write the timescale into the file",
        )
    return Vcd(file, round(tick, 9), wires, stream.tell())


def _declarations(stream: BinaryIO) -> Iterator[tuple[str, list[str]]]:
    key, words = "", list[str]()
    while line := stream.readline(1 << 16):
        for word in line.decode(errors="replace").split():
            if word == "$end" and key:
                yield key, words
                key = ""
            elif not key:
                if not word.startswith("$"):
                    return
                key, words = word, []
            else:
                words.append(word)


def edges(vcd: Vcd, channels: tuple[str, ...], progress: Callable[[int], None]) -> Iterator[Edge]:
    """The edges of some wires in order; `progress` gets the bytes read so far.

    A first value is no edge, nor is one from or to x or z. UsageError where time runs backwards.
    """
    names: dict[bytes, list[str]] = {}
    for channel in channels:
        names.setdefault(vcd.wires[channel].encode(), []).append(channel)
    levels: dict[bytes, int] = {}
    now, looked, at = 0, 0, vcd.body
    with vcd.file.open("rb") as stream:
        stream.seek(vcd.body)
        for line in stream:
            at += len(line)
            for word in line.split():
                if word[0] == 35:  # "#"
                    now = _time(vcd, word, now, at)
                    continue
                known = names.get(word[1:])
                if known is None or word[0] not in b"01xXzZ":
                    continue
                before, level = levels.get(word[1:]), word[0]
                levels[word[1:]] = level
                if level != before and level in b"01" and before is not None and before in b"01":
                    for channel in known:
                        yield Edge(now, channel, level == 49)
            if at - looked >= _LOOK_BYTES:
                looked = at
                progress(at)
    progress(at)


def _time(vcd: Vcd, word: bytes, now: int, at: int) -> int:
    try:
        time = int(word[1:])
    except ValueError:
        time = -1
    if time < now:
        raise UsageError(
            f"{vcd.file}: damaged before byte {at}: the time {word.decode(errors='replace')} "
            f"follows {now}",
            remedy="Export the capture again",
        )
    return time
