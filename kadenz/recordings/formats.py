# SPDX-License-Identifier: Apache-2.0
"""Which format a recording has, by its first bytes, and its events, checked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from kadenz.errors import UsageError
from kadenz.recordings.form import HEAD_BYTES, Format
from kadenz.recordings.lttng import LTTNG, METADATA, is_metadata, metadata_of
from kadenz.recordings.perf import PERF
from kadenz.recordings.perfetto import PERFETTO
from kadenz.recordings.trace_cmd import TRACE_CMD
from kadenz.regular_files import open_regular
from kadenz.watching.events import Happening

# Perfetto's files begin with any message: the others come first.
FORMATS = (TRACE_CMD, PERF, LTTNG, PERFETTO)
TOOLS = "trace-cmd, perf, LTTng or Perfetto"


@dataclass(frozen=True)
class RecordedFile:
    """A recording: a file, or the folder of a trace of LTTng."""

    path: Path
    format: Format

    def events(self) -> Iterator[Happening]:
        """Its events; UsageError with the place of damage."""
        return self.format.read(self.path)


def recognised(path: Path) -> RecordedFile | None:
    """The recording at a path; None for a file of another kind. UsageError for one that cannot be
    read, and for a folder without a trace."""
    try:
        if path.is_dir():
            if metadata_of(path) is None:
                raise UsageError(
                    f"{path}: a folder without a trace of LTTng: no file `{METADATA}`",
                    remedy="Name the folder of the trace, or the file of another recording",
                )
            return RecordedFile(path, LTTNG)
        with open_regular(path) as source:
            head = source.read(HEAD_BYTES)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}", remedy="Check its path") from None
    if is_metadata(head):
        return RecordedFile(path.parent, LTTNG)
    return next((RecordedFile(path, each) for each in FORMATS if each.recognises(head)), None)
