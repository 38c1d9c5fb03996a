# SPDX-License-Identifier: Apache-2.0
"""Reads a value change dump (IEEE 1364-2005, 18) as a stream: memory does not grow with it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from kadenz.errors import UsageError
from kadenz.lab.capture.vcd_body import Body
from kadenz.lab.capture.waveform import Edges, Progress, damaged

_SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "ps": 1e-12, "fs": 1e-15}
_TIMESCALE = re.compile(r"(1|10|100)\s*(s|ms|us|ns|ps|fs)")
_LONGEST = 1 << 16  # words in a declaration, bytes in its line
_LONGEST_WORD = 1 << 20  # bytes of a change
_BLOCK = 1 << 20  # bytes


@dataclass(frozen=True)
class Vcd:
    """The header of a file."""

    file: Path
    tick_ns: float  # the timescale
    wires: Mapping[str, str]  # name with its scopes, "logic.D0" -> identifier
    body: int  # offset behind the header
    identifiers: frozenset[str]  # of all variables
    step: int = 0

    @property
    def channels(self) -> tuple[str, ...]:
        """The names of its wires of one bit."""
        return tuple(self.wires)

    def edges(self, channels: tuple[str, ...], progress: Progress) -> Iterator[Edges]:
        """The edges of some wires, as `Waveform` says."""
        known = [one.encode() for one in self.identifiers]
        body = Body([self.wires[name].encode() for name in channels], known)
        at = self.body
        with self.file.open("rb") as stream:
            stream.seek(at)
            rest = b""
            while data := stream.read(_BLOCK):
                end = max(data.rfind(space) for space in (b"\n", b" ", b"\t", b"\r")) + 1
                if not end and len(rest) > _LONGEST_WORD:
                    raise damaged(self.file, f"at byte {at}", "no white space follows")
                block, rest = (rest + data[:end], data[end:]) if end else (b"", rest + data)
                yield body.edges(block)
                self._check(body, at)
                at += len(block)
                progress(at)
            yield body.edges(rest + b"\n")
            self._check(body, at)
        progress(at + len(rest))

    def _check(self, body: Body, at: int) -> None:
        if body.damage is not None:
            place, what = body.damage
            raise damaged(self.file, f"at byte {at + place}", what)


def open_vcd(file: Path) -> Vcd:
    """Reads the declarations. UsageError for a file that is no VCD, or has no timescale."""
    with file.open("rb") as stream:
        return _header(file, stream)


def _header(file: Path, stream: BinaryIO) -> Vcd:
    scopes: list[str] = []
    wires: dict[str, str] = {}
    identifiers: set[str] = set()
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
        elif key == "$var" and len(words) > 3:
            identifiers.add(words[2])
            if words[1] == "1":
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
    return Vcd(file, round(tick, 9), wires, stream.tell(), frozenset(identifiers))


def _declarations(stream: BinaryIO) -> Iterator[tuple[str, list[str]]]:
    key, words = "", list[str]()
    while line := stream.readline(_LONGEST):
        for word in line.decode(errors="replace").split():
            if word == "$end" and key:
                yield key, words
                key = ""
            elif not key:
                if not word.startswith("$"):
                    return
                key, words = word, []
            elif len(words) < _LONGEST:
                words.append(word)
            else:
                return
