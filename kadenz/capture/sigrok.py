# SPDX-License-Identifier: Apache-2.0
"""Reads sigrok's session file (.sr): a zip of metadata and of samples in pieces.

The format: https://sigrok.org/wiki/File_format:Sigrok/v2.
"""

from __future__ import annotations

import configparser
import lzma
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np
import numpy.typing as npt

from kadenz.capture.sample_rate import parse_rate
from kadenz.capture.waveform import Edges, Levels, Progress, damaged
from kadenz.errors import UsageError

_BLOCK = 1 << 19  # bytes read at a time
_MOST_BYTES = 16 << 30  # of all samples; 11 minutes of 8 channels at 24 MHz
_MOST_UNIT = 1024  # bytes of a sample
# sigrok deflates; others make a petabyte of a few megabytes.
_COMPRESSIONS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}
_METADATA_BYTES = 1 << 20
_DAMAGE = (  # what zipfile raises
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    KeyError,
    OSError,
    RuntimeError,
    ValueError,
)


@dataclass(frozen=True)
class SigrokSession:
    """The metadata of a file with the logic channels of one device."""

    file: Path
    tick_ns: float  # between two samples
    probes: Sequence[tuple[str, int]]  # channel, and its bit of a sample
    unit_bytes: int  # of a sample
    pieces: Sequence[str]  # members of the zip, in order
    step: float = 1.0
    printed_step: float = 0.0

    @property
    def channels(self) -> tuple[str, ...]:
        """The names of its logic channels."""
        return tuple(name for name, _ in self.probes)

    def edges(self, channels: tuple[str, ...], progress: Progress) -> Iterator[Edges]:
        """The edges of some channels, as `Waveform` says."""
        places = dict(self.probes)
        bits = np.array([places[name] for name in channels])
        levels, first, done = Levels(len(channels)), 0, 0
        with zipfile.ZipFile(self.file) as archive:
            for piece in self.pieces:
                for data in self._samples(archive, piece):
                    samples = data.reshape(-1, self.unit_bytes)
                    times = np.arange(first, first + len(samples), dtype=np.int64)
                    yield levels.edges(times, samples[:, bits // 8] >> (bits % 8) & 1)
                    first += len(samples)
                done += archive.getinfo(piece).compress_size
                progress(done)

    def _samples(self, archive: zipfile.ZipFile, piece: str) -> Iterator[npt.NDArray[np.uint8]]:
        size = max(1, _BLOCK // self.unit_bytes) * self.unit_bytes
        try:
            with archive.open(piece) as stream:
                while data := _read(stream, size):
                    if len(data) % self.unit_bytes:
                        raise damaged(self.file, f"in {piece}", "it ends inside a sample")
                    yield np.frombuffer(data, np.uint8)
        except _DAMAGE as error:
            raise damaged(self.file, f"in {piece}", str(error) or "it is cut off") from error


def _read(stream: IO[bytes], size: int) -> bytes:
    parts = []
    while size and (part := stream.read(size)):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def open_sigrok(file: Path) -> SigrokSession:
    """Reads the metadata. UsageError for a file that is none, or has no logic channels."""
    try:
        with zipfile.ZipFile(file) as archive:
            members = {member.filename: member for member in archive.infolist()}
            with archive.open("metadata") as stream:
                text = stream.read(_METADATA_BYTES).decode(errors="replace")
    except _DAMAGE as error:
        raise UsageError(
            f"{file}: not a session of sigrok, or cut off: {error}",
            remedy="Export the capture again",
        ) from error
    session = _session(file, text, list(members))
    pieces = [members[name] for name in session.pieces]
    if any(piece.compress_type not in _COMPRESSIONS for piece in pieces):
        raise damaged(file, f"in {pieces[0].filename}", "it is compressed as sigrok does not")
    size = sum(piece.file_size for piece in pieces)
    if size > _MOST_BYTES:
        raise UsageError(
            f"{file}: has {size >> 30:,} GiB of samples, more than {_MOST_BYTES >> 30} GiB",
            remedy="Capture for a shorter time, or at a lower sample rate",
        )
    return session


def _session(file: Path, text: str, names: Sequence[str]) -> SigrokSession:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    parser.optionxform = str  # type: ignore[assignment,method-assign]  # keep upper case
    try:
        parser.read_string(text)
        device = parser["device 1"]
        stem = device.get("capturefile", "")
        unit = int(device.get("unitsize", "0"))
    except (configparser.Error, KeyError, ValueError) as error:
        raise damaged(file, "in metadata", str(error)) from error
    if not 0 <= unit <= _MOST_UNIT:
        raise damaged(file, "in metadata", f"a sample has {unit} bytes")
    probes = [
        (name, int(match[1]) - 1)
        for key, name in device.items()
        if (match := re.fullmatch(r"probe([1-9]\d{0,4})", key)) and int(match[1]) <= 8 * unit
    ]
    if not probes or not stem:
        raise UsageError(f"{file}: has no logic channels", remedy="Capture with logic channels")
    rate = parse_rate(device.get("samplerate", ""))
    if not rate:
        raise UsageError(f"{file}: has no sample rate", remedy="Capture with a sample rate")
    return SigrokSession(file, 1e9 / rate, probes, unit, _pieces(file, stem, names))


def _pieces(file: Path, stem: str, names: Sequence[str]) -> tuple[str, ...]:
    if stem in names:  # version 1 of the format
        return (stem,)
    pattern = re.compile(re.escape(stem) + r"-([1-9]\d{0,8})")
    numbers = {int(match[1]): match[0] for name in names if (match := pattern.fullmatch(name))}
    for number in range(1, len(numbers) + 1):
        if number not in numbers:
            raise damaged(file, f"in {stem}", f"piece {number} of {max(numbers)} is missing")
    if not numbers:
        raise damaged(file, f"in {stem}", "it has no samples")
    return tuple(numbers[number] for number in sorted(numbers))
