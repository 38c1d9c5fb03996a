# SPDX-License-Identifier: Apache-2.0
"""Reads a value change dump (IEEE 1364-2005, 18) as a stream: memory does not grow with it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from kadenz.capture.sample_rate import parse_rate
from kadenz.capture.vcd_body import Body
from kadenz.capture.waveform import Edges, Progress, damaged
from kadenz.errors import UsageError

_SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "ps": 1e-12, "fs": 1e-15}
_TIMESCALE = re.compile(r"(1|10|100)\s*(s|ms|us|ns|ps|fs)")
# libsigrok: "Acquisition with 2/8 channels at 24 MHz".
_RATE = re.compile(r"Acquisition with .* at (\d+(?:\.\d+)? ?[kMG]?Hz)")
# Variables that have no level.
_NO_WIRES = {"event", "real", "realtime", "shortreal", "real_parameter", "string"}
_WORD = re.compile(rb"\S+")
_LONGEST = 1 << 16  # words in a declaration, bytes in its line
_LONGEST_WORD = 1 << 20  # bytes of a change
_BLOCK = 1 << 20  # bytes
_MOST_SCOPES = 256  # in each other
_MOST_VARIABLES = 1 << 20
_MOST_LETTERS = 1 << 28  # of the names of all wires, with their scopes


@dataclass(frozen=True)
class Vcd:
    """The header of a file."""

    file: Path
    tick_ns: float  # the timescale
    wires: Sequence[tuple[str, str]]  # name with its scopes, "logic.pins [0]"; identifier
    body: int  # offset behind the header
    identifiers: frozenset[str]  # of all variables
    step: float = 0.0
    printed_step: float = 0.0

    @property
    def channels(self) -> tuple[str, ...]:
        """The names of its wires of one bit."""
        return tuple(name for name, _ in self.wires)

    def edges(self, channels: tuple[str, ...], progress: Progress) -> Iterator[Edges]:
        """The edges of some wires, as `Waveform` says."""
        known = [identifier.encode() for identifier in self.identifiers]
        identifiers = dict(self.wires)
        body = Body([identifiers[name].encode() for name in channels], known)
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
    wires: dict[tuple[str, str], None] = {}  # a scope may be opened again, with the same variables
    identifiers: set[str] = set()
    tick = rate = 0.0
    body = letters = 0
    for key, tokens, end in _declarations(stream):
        text = " ".join(tokens)
        if key == "$enddefinitions":
            body = end
            break
        if key == "$timescale":
            match = _TIMESCALE.fullmatch(text)
            tick = int(match[1]) * _SECONDS[match[2]] * 1e9 if match else 0.0
        elif key == "$comment" and (stated := _RATE.fullmatch(text)):
            rate = parse_rate(stated[1])
        elif key == "$scope" and len(tokens) > 1:
            scopes.append(" ".join(tokens[1:]))
            _check_bounds(file, len(scopes), len(identifiers), letters)
        elif key == "$upscope" and scopes:
            scopes.pop()
        elif key == "$var" and len(tokens) > 3:
            if tokens[0] == "port":
                raise _no_ports(file)
            identifiers.add(tokens[2])
            letters += len(tokens[2])
            if tokens[1] == "1" and tokens[0] not in _NO_WIRES:
                name = ".".join([*scopes, " ".join(tokens[3:])])
                wires[name, tokens[2]] = None
                letters += len(name)
            _check_bounds(file, len(scopes), len(identifiers), letters)
    if not body:
        raise UsageError(
            f"{file}: not a VCD, or cut off in its header: it has no $enddefinitions",
            remedy="Export the capture again",
        )
    if not tick:
        raise UsageError(
            f"{file}: has no $timescale of 1, 10 or 100 s, ms, us, ns, ps or fs",
            remedy="Export the capture with its sample rate, or write the timescale into the file",
        )
    tick = round(tick, 9)
    step = 1e9 / rate / tick if rate else 0.0
    return Vcd(file, tick, tuple(wires), body, frozenset(identifiers), step)


def _check_bounds(file: Path, scopes: int, variables: int, letters: int) -> None:
    """UsageError for declarations that would take gigabytes of memory."""
    if scopes > _MOST_SCOPES:
        what = f"more than {_MOST_SCOPES} scopes in each other"
    elif variables > _MOST_VARIABLES or letters > _MOST_LETTERS:
        what = f"{variables:,} variables, whose names have {letters:,} letters"
    else:
        return
    raise UsageError(f"{file}: has {what}", remedy="Dump the channels of the marks alone")


def _no_ports(file: Path) -> UsageError:
    return UsageError(
        f"{file}: an extended VCD, of ports with drivers and strengths",
        remedy="Dump the variables: $dumpvars instead of $dumpports",
    )


def _declarations(stream: BinaryIO) -> Iterator[tuple[str, list[str], int]]:
    """Keyword, tokens, and the offset behind: changes may follow in the same line."""
    key, tokens = "", list[str]()
    while line := stream.readline(_LONGEST):
        begin = stream.tell() - len(line)
        for match in _WORD.finditer(line):
            token = match[0].decode(errors="replace")
            if token == "$end" and key:
                yield key, tokens, begin + match.end()
                key = ""
            elif not key:
                if not token.startswith("$"):
                    return
                key, tokens = token, []
            elif len(tokens) < _LONGEST:
                tokens.append(token)
            else:
                return
