# SPDX-License-Identifier: Apache-2.0
"""The shared libraries of a program of this Linux, as the same loader finds them in a guest."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from kadenz.elf import opened
from kadenz.errors import BuildFailed

# "libm.so.6 => /lib/x86_64-linux-gnu/libm.so.6 (0x…)", or the loader itself: "/lib64/ld-… (0x…)".
_LOADED = re.compile(r"^\s*(?:(\S+) => )?(/\S+) \(0x[0-9a-f]+\)$", re.MULTILINE)
_ABSENT = re.compile(r"^\s*(\S+) => not found$", re.MULTILINE)
# ld.so(8). A guest has no /etc/ld.so.cache, and its processor lacks the extensions that subfolders
# of a library folder are named for.
_AS_IN_A_GUEST = ("--inhibit-cache", "--glibc-hwcaps-mask", "none")
_ENGLISH = {"LC_ALL": "C"}
_LIST = {"LD_TRACE_LOADED_OBJECTS": "1"}


def is_dynamic(program: Path) -> bool:
    """Whether a program names a loader."""
    with opened(program) as elf:
        return any(segment["p_type"] == "PT_INTERP" for segment in elf.iter_segments())


def shared_libraries(program: Path) -> list[Path]:
    """The libraries and the loader, by the paths at which the loader finds them in a guest that has
    these files and no others.

    Raises BuildFailed for a library that this machine lacks, or finds only through its cache or
    LD_LIBRARY_PATH, and for a program that is static or none: the loader refuses it.
    """
    variables = {name: text for name, text in os.environ.items() if name != "LD_PRELOAD"}
    listed = _listed(["ldd", str(program)], program, variables | _ENGLISH)
    absent = ", ".join(_ABSENT.findall(listed))
    if absent:
        raise BuildFailed(
            f"{program}: {absent} is not on this machine",
            remedy="Run `kadenz setup`, which installs the libraries",
        )
    here = dict(_LOADED.findall(listed))
    loader = next(path for path in here.values() if Path(path).name.startswith("ld"))
    listed = _listed([loader, *_AS_IN_A_GUEST, str(program)], program, _ENGLISH | _LIST)
    hidden = _ABSENT.findall(listed)
    if hidden:
        places = ", ".join(here.get(name, name) for name in hidden)
        raise BuildFailed(
            f"{program}: the loader of a guest does not find {places}",
            remedy="Install it in a folder of the system, such as /usr/lib: a guest has no "
            "/etc/ld.so.conf and no LD_LIBRARY_PATH",
        )
    return [Path(path) for _, path in _LOADED.findall(listed)]


def _listed(command: Sequence[str], program: Path, variables: Mapping[str, str]) -> str:
    """What the loader prints of a program's libraries. BuildFailed if it refuses the program."""
    answer = subprocess.run(command, capture_output=True, text=True, check=False, env=variables)
    if answer.returncode:
        raise BuildFailed(
            f"{program}: {Path(command[0]).name} refuses it",
            remedy="Run `kadenz setup`, which installs the libraries",
            detail=answer.stderr.strip(),
        )
    return answer.stdout
