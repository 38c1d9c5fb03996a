# SPDX-License-Identifier: Apache-2.0
"""Tests of tunings need no durable disk: they kill processes, not the machine."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda number: None)
    monkeypatch.setattr("kadenz.tuning.lifecycle._NEXT_INTERRUPT_S", 0.0)


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """A folder in memory: some file systems flush a file when it is replaced by another."""
    memory = Path("/dev/shm")
    usable = memory.is_dir() and os.access(memory, os.W_OK)
    with tempfile.TemporaryDirectory(dir=memory if usable else None) as folder:
        yield Path(folder)
