# SPDX-License-Identifier: Apache-2.0
"""Reads trace-cmd's recording of Linux (`trace.dat`) through `trace-cmd report`.

The head of the file: man page trace-cmd.dat.v7(5).
"""

from __future__ import annotations

import contextlib
import os
import re
import resource
import shutil
import struct
import subprocess
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from kadenz.errors import ToolMissing, UsageError
from kadenz.regular_files import open_regular

SUFFIX = ".dat"
_MAGIC = b"\x17\x08\x44tracing"
_HEAD_BYTES = 256
_LONGEST = 1 << 16  # bytes of a line
_MEMORY_BYTES = 4 << 30  # of trace-cmd: what a file asks for may have no bounds
_FROM_7 = 7  # versions with an index at their end
# "sys_enter_read: fd: 0x3", "sys_exit_read: 0x4"; without a name, of the events raw_syscalls.
_CALL = re.compile(r": sys_(?P<way>enter|exit)(?:_(?P<name>\w+))?:\s+(?P<text>.*)$")


def reported(file: Path) -> Iterator[str]:
    """The events of a recording, one line each as in tracefs, nanoseconds.

    UsageError for another kind of file, a cut or damaged one; ToolMissing without trace-cmd.
    """
    _check(file)
    tool = shutil.which("trace-cmd")
    if tool is None:
        raise ToolMissing(
            f"trace-cmd not found: it reads {file}", remedy="apt-get install trace-cmd"
        )
    count = 0
    with tempfile.TemporaryFile() as errors:
        # -N: fields as the kernel prints them. -t: all digits of a time.
        command = [tool, "report", "-N", "-t", "-i", str(file)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors) as process:
            assert process.stdout is not None
            with contextlib.suppress(ProcessLookupError):
                resource.prlimit(process.pid, resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
            for line in iter(partial(process.stdout.readline, _LONGEST), b""):
                count += 1
                yield _CALL.sub(_as_in_tracefs, line.decode(errors="replace").rstrip("\n"))
        if process.returncode != 0:
            errors.seek(0)
            detail = errors.read().decode(errors="replace")
            code = process.returncode
            how = f"with exit code {code}" if code > 0 else f"by signal {-code}"
            raise UsageError(
                f"{file}: trace-cmd ends after line {count} {how}",
                remedy="Record or copy it again",
                detail=detail,
            )


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
    if not head.startswith(_MAGIC):
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
        version, _, rest = head[len(_MAGIC) :].partition(b"\0")
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
