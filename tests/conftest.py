# SPDX-License-Identifier: Apache-2.0
"""What all tests share. A test's marker says what decides it (docs/reference/tests.md)."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings

from kadenz.blas import bound_to_one_thread

# A property holds or does not; how long an example takes depends on what runs beside it.
settings.register_profile("no-clock", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("no-clock")
# Each process of pytest has a processor to itself: a second thread of NumPy would wait for it.
bound_to_one_thread()


def pytest_configure(config: pytest.Config) -> None:
    """A process of `-n` starts with the width of the terminal."""
    if hasattr(config, "workerinput"):
        os.environ.pop("COLUMNS", None)
