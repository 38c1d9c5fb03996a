# SPDX-License-Identifier: Apache-2.0
"""kadenz: the open benchmark lab for real-time systems.

`kadenz.Run` and `kadenz.runs` read runs in Python; they are imported on first use.
"""

from typing import Any

__version__ = "0.3.0.dev0"


def __getattr__(name: str) -> Any:
    """`Run` and `runs` of kadenz.api."""
    if name in ("Run", "runs"):
        from kadenz import api

        return getattr(api, name)
    raise AttributeError(f"module `kadenz` has no attribute `{name}`")
