# SPDX-License-Identifier: Apache-2.0
"""Reads trace-cmd's recording of Linux (`trace.dat`) through `trace-cmd report`.

The head of the file: man page trace-cmd.dat.v7(5).
"""

from __future__ import annotations

import os
import re
import struct
from collections.abc import Iterator
from pathlib import Path

from kadenz.capture.tool_lines import lines_of
from kadenz.errors import UsageError
from kadenz.regular_files import open_regular

SUFFIX = ".dat"
MAGIC = b"\x17\x08\x44tracing"
_HEAD_BYTES = 256
_FROM_7 = 7  # versions with an index at their end
# "sys_enter_read: fd: 0x3", "sys_exit_read: 0x4"; without a name, of the events raw_syscalls.
_CALL = re.compile(r": sys_(?P<way>enter|exit)(?:_(?P<name>\w+))?:\s+(?P<text>.*)$")


def reported(file: Path) -> Iterator[str]:
    """The events of a recording, one line each as in tracefs, nanoseconds.

    UsageError for another kind of file, a cut or damaged one; ToolMissing without trace-cmd.
    """
    _check(file)
    # -N: fields as the kernel prints them. -t: all digits of a time.
    command = ("trace-cmd", "report", "-N", "-t", "-i", str(file))
    for line in lines_of(file, command, "trace-cmd"):
        yield _CALL.sub(_as_in_tracefs, line)


def _as_in_tracefs(call: re.Match[str]) -> str:
    """ "sys_read(fd: 0x3)", "sys_read -> 0x4"; a call without a name is no event."""
    if not call["name"]:
        return ""
    text = f"({call['text']})" if call["way"] == "enter" else f" -> {call['text']}"
    return f": sys_{call['name']}{text}"


def _check(file: Path) -> None:
    try:
        with open_regular(file) as source:
            size = os.fstat(source.fileno()).st_size
            head = source.read(_HEAD_BYTES)
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror}", remedy="Check its path") from None
    if not head.startswith(MAGIC):
        raise UsageError(
            f"{file}: not a recording of trace-cmd", remedy="Make one: trace-cmd record -F -c …"
        )
    # trace-cmd prints nothing about a file without its index, and ends with 0.
    place = _index(head)
    if place >= size:
        raise UsageError(
            f"{file}: ends at byte {size}, before its index at byte {place}",
            remedy="Record or copy it again: trace-cmd writes the index when it ends",
        )


def _index(head: bytes) -> int:
    """The place of the first options, which name all other sections; 0 in version 6."""
    try:
        version, _, rest = head[len(MAGIC) :].partition(b"\0")
        if int(version) < _FROM_7:
            return 0
        order = ">" if rest[0] else "<"
        rest = rest[6:]  # order of bytes, size of a long, size of a page
        for _ in ("compression", "its version"):
            rest = rest.partition(b"\0")[2]
        (place,) = struct.unpack_from(f"{order}Q", rest)
    except (ValueError, IndexError, struct.error):
        return len(head)  # the head itself is cut off or damaged
    return int(place)
