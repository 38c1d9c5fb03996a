# SPDX-License-Identifier: Apache-2.0
"""Tests wait for events. How long one takes is no promise: the machine may be busy."""

from __future__ import annotations

import time
from collections.abc import Callable

PATIENCE_S = 600.0  # what has not happened by then never will


def wait_for(event: Callable[[], object]) -> None:
    """Returns once `event()` is true."""
    until = time.monotonic() + PATIENCE_S
    while not event():
        assert time.monotonic() < until, f"did not happen in {PATIENCE_S:.0f} s"
        time.sleep(0.02)
