# SPDX-License-Identifier: Apache-2.0
"""One thread for NumPy's linear algebra in the program `kadenz`.

Statistics multiply vectors. OpenBLAS wakes a thread on every processor for that, which then spin:
on sixteen processors, ten times the processor time. Work that several processors shorten is in
kadenz.side_by_side.
"""

from __future__ import annotations

import os

_OURS = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
# With this one the user bounds BLAS as well. It is not set here: pyarrow, too, reads it.
_USERS = (*_OURS, "OMP_NUM_THREADS")
_added: list[str] = []


def bound_to_one_thread() -> None:
    """Bounds BLAS libraries loaded from now on. The user's own setting wins.

    Only a program calls this: who imports kadenz keeps the threads of their own work.
    """
    if not any(name in os.environ for name in _USERS):
        os.environ.update(dict.fromkeys(_OURS, "1"))
        _added.extend(_OURS)


def users_environment() -> dict[str, str]:
    """The environment without that bound, for programs that are measured."""
    return {name: value for name, value in os.environ.items() if name not in _added}
