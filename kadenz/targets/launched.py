# SPDX-License-Identifier: Apache-2.0
"""A program of the user's in a guest: what its launcher reads and says.

It runs instead of the suite, and starts the program: kernels/linux/guest/launch.c.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from kadenz.config.board import GuestProgram

_NS = 1_000_000_000
_HEAD = re.compile(rb"ended (exit|signal|limit) (\d{1,3}) (\d{1,18}) (\d{1,18})\n")


@dataclass(frozen=True)
class ProgramEnd:
    """How the program ended, by the launcher: `kind` is exit, signal or limit. `rest`: what the
    launcher sent behind the program's output."""

    kind: str
    number: int
    output: bytes
    errors: bytes
    rest: bytes = b""


def launcher(purpose: str) -> GuestProgram:
    """The launcher as the program of a board; `purpose` is on the kernel's command line."""
    return GuestProgram(crate="", modules=(), wire=(), arguments=(purpose,), ring=())


def launch_plan(path: str, limit_s: float, settings: Sequence[tuple[str, str]]) -> str:
    """The text that the launcher reads, a setting (name, value) in each line."""
    lines = [("program", path), ("limit", f"{round(limit_s * _NS)}"), *settings]
    return "".join(f"{name} {value}\n" for name, value in lines)


def program_end(stream: bytes) -> ProgramEnd | None:
    """The launcher's account; None if the guest did not come to the program's end."""
    match = _HEAD.match(stream)
    if match is None:
        return None
    kind, number, output, errors = match.groups()
    begin = match.end()
    middle = begin + int(output)
    end = middle + int(errors)
    if len(stream) < end:
        return None
    return ProgramEnd(
        kind.decode(), int(number), stream[begin:middle], stream[middle:end], stream[end:]
    )
