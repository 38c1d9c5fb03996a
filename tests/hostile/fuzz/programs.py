# SPDX-License-Identifier: Apache-2.0
"""Images of others and what they send: ELF, DWARF, linker maps, streams, traces of the scope."""

from __future__ import annotations

import struct
import subprocess
import zlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
from cobs import cobs
from numpy.typing import NDArray

from kadenz.errors import UsageError
from kadenz.images.link_map import read_map
from kadenz.lab.footprint import of_file
from kadenz.report import footprint as pages
from kadenz.targets import paths, scope
from kadenz.wire.decoder import Decoder, Finding, Received
from kadenz.wire.frame import CRC, HEADER
from kadenz.wire.messages import AnyMessage, Begin, End, Samples
from kadenz.wire.records import Assembler, Ending
from tests.hostile.fuzz.mutating import Files
from tests.hostile.fuzz.runs import below
from tests.hostile.fuzz.trying import Parser, scratch
from tests.hostile.test_elf import SOURCE, WAYS, ask
from tests.hostile.test_streams import path_file
from tests.wire.streams import on_the_line, samples, whole_run

# ---- ELF -----------------------------------------------------------------------------------------
ELF, MAP = "x.elf", "x.map"
BARE = "-nostdlib -static -no-pie -Wl,-emain -Wl,--build-id=none"


COMMANDS = """[
{"directory": "/build", "command": "gcc -O1 -o x.o -c x.c", "file": "/src/x.c"},
{"directory": "/tmp", "arguments": ["gcc", "-o", "y.o"], "output": "y.o", "file": "/src/y.c"}
]
"""


@cache
def _images(*, mapped: bool) -> Sequence[Files]:
    built = []
    for way in (*WAYS, "-g0"):
        with scratch() as folder:
            (folder / "x.c").write_text(SOURCE)
            compile_call = ["gcc", "-O1", *way.split(), *BARE.split(), "x.c", "-o", ELF]
            more = [f"-Wl,-Map={MAP}"] if mapped else []
            subprocess.run([*compile_call, *more], cwd=folder, check=True)
            (folder / "x.c").unlink()
            if mapped:
                (folder / "compile_commands.json").write_text(COMMANDS)
            built.append(below(folder))
    return built


def _image(given: Path, _: Path) -> None:
    """What a run, a profile and a trace read of an image."""
    ask(given / ELF)


def _footprint(given: Path, _: Path) -> None:
    """What `kadenz footprint FILE` does."""
    entry = of_file(given / ELF)
    assert pages.tables([("x", entry)]) and pages.files([("x", entry)])


LLD = """\
             VMA              LMA     Size Align Out     In      Symbol
          200200           200200     1c8f     4 .text
          200200           200200      123     2         x.o:(.text)
          200200           200200       12     1                 main
          200323           200323        8     1         <internal>:(thunk)
          20032b           20032b        8     1         . = ALIGN ( 4 )
"""


@cache
def _maps() -> Sequence[Files]:
    return [*({MAP: files[MAP]} for files in _images(mapped=True)[:1]), {MAP: LLD.encode()}]


def _map(given: Path, _: Path) -> None:
    layout = read_map((given / MAP).read_text(errors="replace"))
    if not layout.pieces:
        raise UsageError("another linker's map")


# ---- traces of the scope -------------------------------------------------------------------------
def _traces() -> Sequence[Files]:
    marks = [0x10007, *[1, 2] * 5, 0x20007, 0x10008, 1, 2, 0x20008, 0xFFFFFFFF]
    head = struct.pack("<8sIIIIQ", b"KDZSCOPE", 1, 32, 12, 0, 0x8000_0010)
    wide = struct.pack("<8sIIIIQ", b"KDZSCOPE", 2, 32, 20, 0, 0x8000_0010)
    events = [(10 * at, mark) for at, mark in enumerate(marks)]
    return [
        {"trace": head + b"".join(struct.pack("<QI", *event) for event in events)},
        {"trace": wide + b"".join(struct.pack("<QIQ", *event, event[0] + 3) for event in events)},
    ]


def _trace(given: Path, _: Path) -> None:
    events = scope.read_trace(given / "trace")
    for spans in scope.split_records(events).values():
        scope.check_count(spans, len(spans.spans))


def _paths(given: Path, _: Path) -> None:
    read = paths.read_paths(given / "paths")
    assert all(read.span(region) >= 0 for region in read.regions)


# ---- streams of a target -------------------------------------------------------------------------
SENT = [1, 2, 256, 0, 0x7FFFFFFF, 7]  # the samples of the stream: the longest span, and others


def said() -> list[AnyMessage]:
    """A whole run whose record is `ok`."""
    second = samples(SENT[3:], first=3)
    messages = whole_run()
    at = max(n for n, message in enumerate(messages) if isinstance(message, Samples))
    return [*messages[:at], second, *messages[at + 1 :]]


class Sink:
    """Keeps the values that would be written to the disk."""

    def __init__(self) -> None:
        self.values_of: dict[int, list[int]] = {}
        self.verdicts: list[tuple[int, Ending]] = []

    def opened(self, begin: Begin) -> None:
        self.values_of[begin.record] = []

    def values(self, record: int, _: int, values: NDArray[np.generic]) -> None:
        self.values_of[record] += values.tolist()

    def closed(self, begin: Begin, _: End | None, verdict: Ending) -> None:
        self.verdicts.append((begin.record, verdict))


def plain(message: object) -> object:
    """A message that can be compared."""
    return (*message[:4], message.values.tolist()) if isinstance(message, Samples) else message


def decoded(stream: bytes) -> tuple[list[Received | Finding], Sink, Assembler]:
    """What a lab makes of a stream that arrives in pieces."""
    decoder, sink = Decoder(), Sink()
    assembler = Assembler(sink)
    items: list[Received | Finding] = []
    size = 1 + zlib.crc32(stream) % 400
    for start in range(0, len(stream), size):
        items += decoder.feed(stream[start : start + size])
    items += decoder.finish()
    for item in items:
        assembler.take(item)
    assembler.finish("over")
    return items, sink, assembler


def _streams() -> Sequence[Files]:
    return [{"stream": on_the_line(said())}]


def _line(given: Path, _: Path) -> None:
    """No damage makes a message that was not sent, nor a record `ok` without all of its values."""
    sent = [plain(message) for message in said()]
    items, sink, _assembler = decoded((given / "stream").read_bytes())
    for item in items:
        if isinstance(item, Received):
            assert plain(item.message) in sent, f"invented: {item}"
    for record, verdict in sink.verdicts:
        values = sink.values_of[record]
        assert values == SENT[: len(values)], f"moved samples: {values}"
        assert verdict.status != "ok" or values == SENT, f"ok with {values}"
    if not any(verdict.status == "ok" for _, verdict in sink.verdicts):
        raise UsageError("no record is whole")


def _bodies() -> Sequence[Files]:
    """The frames without their coding, one a file: a hostile image sends them whole."""
    frames = [frame for frame in on_the_line(said()).split(b"\0") if frame]
    raw = [cobs.decode(frame)[: -CRC.size] for frame in frames]
    return [{f"{at:02}": body for at, body in enumerate(raw)}]


def _messages(given: Path, _: Path) -> None:
    """Any record has a verdict, and an `ok` one has all of its values."""
    frames = [file.read_bytes() for file in sorted(given.iterdir())]
    _items, sink, assembler = decoded(b"\0" + b"\0".join(map(_framed, frames)) + b"\0")
    assert len(sink.verdicts) == len(sink.values_of) == assembler.records
    if not any(verdict.status == "ok" for _, verdict in sink.verdicts):
        raise UsageError("no record is whole")


def _framed(raw: bytes) -> bytes:
    """With its length, its check and its coding."""
    if len(raw) >= HEADER.size:
        kind, flags, sequence, _ = HEADER.unpack_from(raw)
        body = raw[HEADER.size :][:0xFFFF]
        raw = HEADER.pack(kind, flags, sequence, len(body)) + body
    encoded: bytes = cobs.encode(raw + CRC.pack(zlib.crc32(raw)))
    return encoded


PARSERS: dict[str, Parser] = {
    "elf": Parser(lambda: _images(mapped=False), _image, 12_000),
    "footprint": Parser(lambda: _images(mapped=True), _footprint, 12_000),
    "map": Parser(_maps, _map, 40_000),
    "scope/trace": Parser(_traces, _trace, 40_000),
    "scope/paths": Parser(lambda: [{"paths": path_file()}], _paths, 40_000),
    "wire/line": Parser(_streams, _line, 62_000),
    "wire/messages": Parser(_bodies, _messages, 50_000),
}
