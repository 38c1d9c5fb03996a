# SPDX-License-Identifier: Apache-2.0
"""Which format a capture has."""

from __future__ import annotations

from pathlib import Path

from kadenz.capture.separated import open_separated
from kadenz.capture.sigrok import open_sigrok
from kadenz.capture.vcd import open_vcd
from kadenz.capture.waveform import Waveform
from kadenz.errors import UsageError
from kadenz.regular_files import open_regular

_LOOK = 4096  # bytes


def open_waveform(file: Path, rate_hz: float = 0.0, unit: str = "") -> Waveform:
    """Reads the header of a capture: VCD, sigrok's session or CSV, told apart by their beginnings.

    `rate_hz` is the sample rate of a CSV without times, `unit` that of times in a CSV that does
    not state it. UsageError for other files.
    """
    try:
        with open_regular(file) as stream:
            begin = stream.read(_LOOK).lstrip(b"\xef\xbb\xbf \t\r\n")
    except FileNotFoundError:
        raise UsageError(f"{file}: no such file", remedy="Name a VCD, a .sr or a CSV") from None
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror}", remedy="Name a VCD, a .sr or a CSV") from None
    if not begin:
        raise UsageError(f"{file}: is empty", remedy="Export the capture again")
    if not begin.startswith((b"PK", b"$")):
        return open_separated(file, rate_hz, unit)
    if rate_hz or unit:
        extra = "--sample-rate" if rate_hz else "--unit"
        raise UsageError(f"{file}: states its times itself", remedy=f"Leave out {extra}")
    return open_sigrok(file) if begin.startswith(b"PK") else open_vcd(file)
