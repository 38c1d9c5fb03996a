# SPDX-License-Identifier: Apache-2.0
"""What the scope watches of a target to profile it."""

from __future__ import annotations

from kadenz.config import inventory
from kadenz.config.target_name import TargetName
from kadenz.errors import UsageError
from kadenz.images.debug_info import DebugInfo
from kadenz.images.image import Image
from kadenz.lab.profile.cores import core_of
from kadenz.targets.scope_plugin import Watched


def check_profiled(name: TargetName, instrument: str) -> None:
    """UsageError for a target whose instructions cannot be watched."""
    if name.tier != "emulated" or instrument != "scope":
        raise UsageError(
            f"{name}: the instructions between two stamps cannot be watched there",
            remedy="Name a target of the tier `emulated`: see `kadenz list`",
        )


def watched(name: TargetName, image: Image, *, traced: bool) -> Watched:
    """The registers of the core, and the kernel's pointer to the current thread if it is known.

    `traced`: the thread's name too, over whole records.
    """
    kernel = inventory.kernel(name.kernel) if name.kernel else None
    symbol = kernel.current_thread if kernel is not None else ""
    words = [one.address for one in image.elf.symbols if symbol and one.name == symbol]
    structure, _, member = (kernel.thread_name if kernel and traced else "").partition(".")
    place = DebugInfo(image.elf.path).member(structure, member) if structure else None
    return Watched(tuple(words[:1]), core_of(image.elf.machine).registers, place, traced)
