# SPDX-License-Identifier: Apache-2.0
"""kadenz: the open benchmark lab for real-time systems.

Runs in Python: `Run`, `runs`, `Record` and `Figure`, imported on first use (kadenz/api.py).
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kadenz.api import Figure, Record, Run, runs

__version__ = "0.3.0.dev0"
__all__ = ["Figure", "Record", "Run", "runs"]


def __getattr__(name: str) -> Any:
    """The names of kadenz.api."""
    if name in __all__:
        from kadenz import api

        return getattr(api, name)
    raise AttributeError(f"module `kadenz` has no attribute `{name}`")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
