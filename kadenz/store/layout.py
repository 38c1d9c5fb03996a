# SPDX-License-Identifier: Apache-2.0
"""Names inside a run folder (docs/reference/run-folder.md)."""

from __future__ import annotations

MANIFEST = "run.json"
SAMPLES = "samples"
PROFILES = "profiles"  # of the records of `kadenz profile`
PROFILE_SUFFIX = ".profile.json"
BOUNDS = "bounds.json"  # of the services of `kadenz bound`
TIMELINES = "timelines"  # of the records of `kadenz trace`
TIMELINE_SUFFIX = ".timeline.json"
TRACE_SUFFIX = ".ftrace.txt"  # what Linux recorded of a record
INTERRUPTED = "interrupted"  # records that a resumed run measured again, in a folder for each time
CONSOLE = "console.txt"  # text messages of the target
RUNNING = ".running"  # locked by the folder's writer; names the storage of a host target
RESERVE = ".reserve"  # reserved space, so that a full disk still takes the manifest
PARTIAL_SUFFIX = ".partial"  # a run that is being measured, or whose lab was killed
# Places for the samples of the current record of a program on this Linux: memory in which every
# user can create files (shm_open(3)).
PLACES = ("/dev/shm", "/run/shm")
STORAGE_PREFIX = "kadenz-storage-"


def lane_file(record: int, bench: str, lane: str) -> str:
    """The file of a lane's samples, relative to the run folder.

    The same plan gives the same names, so that two runs can be compared file by file.
    """
    return f"{SAMPLES}/{record:05d}-{_plain(bench)}.{_plain(lane)}.npy"


def profile_file(record: int, bench: str) -> str:
    """The file of a record's profile, relative to the run folder."""
    return f"{PROFILES}/{record:05d}-{_plain(bench)}{PROFILE_SUFFIX}"


def timeline_file(record: int, bench: str) -> str:
    """The file of a record's timeline, relative to the run folder."""
    return f"{TIMELINES}/{record:05d}-{_plain(bench)}{TIMELINE_SUFFIX}"


def trace_file(record: int, bench: str) -> str:
    """The file of Linux's trace of a record, relative to the run folder."""
    return f"{TIMELINES}/{record:05d}-{_plain(bench)}{TRACE_SUFFIX}"


def _plain(text: str) -> str:
    return "".join(c if c.isalnum() or c in "-_" else "-" for c in text)
