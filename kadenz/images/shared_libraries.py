# SPDX-License-Identifier: Apache-2.0
"""The shared libraries of a program of this Linux, as its own loader finds them."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from kadenz.errors import BuildFailed

# "libm.so.6 => /lib/x86_64-linux-gnu/libm.so.6 (0x…)", or the loader itself: "/lib64/ld-… (0x…)".
_LOADED = re.compile(r"^\s*(?:\S+ => )?(/\S+) \(0x[0-9a-f]+\)$", re.MULTILINE)
_ABSENT = re.compile(r"^\s*(\S+) => not found$", re.MULTILINE)


def shared_libraries(program: Path) -> list[Path]:
    """The libraries and the loader, by the paths under which the program looks for them.

    Empty for a static program. Raises BuildFailed for a library that this machine lacks.
    """
    answer = subprocess.run(["ldd", str(program)], capture_output=True, text=True, check=False)
    absent = _ABSENT.findall(answer.stdout)
    if absent:
        raise BuildFailed(
            f"{program}: {', '.join(absent)} is not on this machine",
            remedy="Run `kadenz setup`, which installs it",
        )
    return [Path(path) for path in _LOADED.findall(answer.stdout)]
