# SPDX-License-Identifier: Apache-2.0
"""The end of a process that kadenz started beside a board."""

from __future__ import annotations

import subprocess

_GRACE_S = 2.0


def end_process(process: subprocess.Popen[bytes]) -> None:
    """Asks it to end, and kills it if it does not."""
    if process.poll() is not None:
        return
    process.terminate()
    try:
        process.wait(_GRACE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def how_ended(code: int) -> str:
    """A return code in words."""
    return f"was ended by signal {-code}" if code < 0 else f"ended with code {code}"
