# SPDX-License-Identifier: Apache-2.0
"""The shared libraries of a program of this Linux, as its own loader finds them."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from kadenz.errors import BuildFailed

# "libm.so.6 => /lib/x86_64-linux-gnu/libm.so.6 (0x…)", or the loader itself: "/lib64/ld-… (0x…)".
_LOADED = re.compile(r"^\s*(?:\S+ => )?(/\S+) \(0x[0-9a-f]+\)$", re.MULTILINE)
_ABSENT = re.compile(r"^\s*(\S+) => not found$", re.MULTILINE)


def shared_libraries(program: Path) -> list[Path]:
    """The libraries and the loader, by the paths at which the loader of this machine finds them.

    Raises BuildFailed for a library that this machine lacks, and for a program that is static or
    none: the loader refuses it.
    """
    command = ["ldd", str(program)]
    answer = subprocess.run(
        command, capture_output=True, text=True, check=False, env={**os.environ, "LC_ALL": "C"}
    )
    absent = ", ".join(_ABSENT.findall(answer.stdout))
    if absent or answer.returncode:
        raise BuildFailed(
            f"{program}: {f'{absent} is not on this machine' if absent else 'ldd refuses it'}",
            remedy="Run `kadenz setup`, which installs the libraries",
            detail=answer.stderr.strip(),
        )
    return [Path(path) for path in _LOADED.findall(answer.stdout)]
