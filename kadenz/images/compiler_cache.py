# SPDX-License-Identifier: Apache-2.0
"""Compiled C objects are kept in the user's cache by ccache, if it is installed.

ccache keys an object by its command, its sources' contents and its compiler. The suite names no
folder of this machine in its objects (suite/places.cmake), so that checkouts share them.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from kadenz.config import inventory
from kadenz.user_cache import user_cache


def options() -> dict[str, str]:
    """CMake's option for ccache; none without it."""
    program = shutil.which("ccache")
    return {"CMAKE_C_COMPILER_LAUNCHER": program} if program else {}


def environment(folder: Path) -> dict[str, str]:
    """The environment of a build in `folder`. Of the user's settings, CCACHE_DISABLE counts."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("CCACHE_") or name == "CCACHE_DISABLE"
    }
    return {
        **kept,
        "CCACHE_DIR": str(user_cache() / "ccache"),
        "CCACHE_BASEDIR": str(folder),
        "CCACHE_COMPILERCHECK": "content",
        # ccache leaves the options of this file out of its key, and they are in the objects.
        "CCACHE_EXTRAFILES": str(inventory.root() / "suite" / "places.cmake"),
        "CCACHE_SLOPPINESS": "",
        "CCACHE_MAXSIZE": "1G",
    }
