# SPDX-License-Identifier: Apache-2.0
"""The text that a tool prints of a recording, line by line, in bounded memory."""

from __future__ import annotations

import contextlib
import os
import resource
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from kadenz.errors import ToolMissing, UsageError

_LONGEST = 1 << 16  # bytes of a line
_MEMORY_BYTES = 4 << 30  # of the tool: what a file asks for may have no bounds
_DETAIL_BYTES = 4096  # of what the tool says of an error


def lines_of(
    recording: Path,
    command: Sequence[str],
    package: str,
    *,
    mixed: bool = False,
    remedy: str = "Record or copy it again",
) -> Iterator[str]:
    """The lines that `command` prints; `mixed` with those of standard error in their order.

    ToolMissing that names the Debian `package`, if there is no such tool; UsageError if the tool
    fails, with the line behind which it did.
    """
    tool = shutil.which(command[0])
    if tool is None:
        raise ToolMissing(
            f"{command[0]} not found: it reads {recording}", remedy=f"apt-get install {package}"
        )
    # Buffers of the tool would mix the two streams in another order.
    prefix = ["stdbuf", "-oL"] if mixed else []
    count, last = 0, ""
    with tempfile.TemporaryFile() as errors:
        with subprocess.Popen(
            [*prefix, tool, *command[1:]],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT if mixed else errors,
            env={**os.environ, "LC_ALL": "C.UTF-8", "PERF_CONFIG": os.devnull},
        ) as process:
            assert process.stdout is not None
            with contextlib.suppress(ProcessLookupError):
                resource.prlimit(process.pid, resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
            try:
                for line in iter(partial(process.stdout.readline, _LONGEST), b""):
                    count += 1
                    last = line.decode(errors="replace").rstrip("\n")
                    yield last
            except GeneratorExit:
                process.kill()
                raise
        if process.returncode != 0:
            errors.seek(0)
            said = errors.read(_DETAIL_BYTES).decode(errors="replace")
            code = process.returncode
            how = f"with exit code {code}" if code > 0 else f"by signal {-code}"
            raise UsageError(
                f"{recording}: {command[0]} ends after line {count} {how}",
                remedy=remedy,
                detail=last if mixed else said,
            )
