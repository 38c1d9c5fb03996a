# SPDX-License-Identifier: Apache-2.0
"""Names inside a run folder (docs/reference/run-folder.md)."""

from __future__ import annotations

MANIFEST = "run.json"
SAMPLES = "samples"
CONSOLE = "console.txt"  # what the target said in words
RUNNING = ".running"  # locked by whoever writes the folder; names the storage of a host target
RESERVE = ".reserve"  # held back on the disk, so that a full one still takes the manifest
PARTIAL_SUFFIX = ".partial"  # a run that is being measured, or whose lab was killed
# Where a program of this Linux has the samples of the record that is being measured: memory that
# every user can have files in (shm_open(3)).
PLACES = ("/dev/shm", "/run/shm")
STORAGE_PREFIX = "kadenz-storage-"


def lane_file(record: int, bench: str, lane: str) -> str:
    """Where a lane's samples stand, relative to the run folder.

    The same plan gives the same names, so that two runs can be compared file by file.
    """
    return f"{SAMPLES}/{record:05d}-{_plain(bench)}.{_plain(lane)}.npy"


def _plain(text: str) -> str:
    return "".join(c if c.isalnum() or c in "-_" else "-" for c in text)
