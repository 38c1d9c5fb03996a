# SPDX-License-Identifier: Apache-2.0
"""What every recording must be: in the order of time, with switches and wake-ups of threads."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kadenz.errors import UsageError
from kadenz.recordings.formats import RecordedFile
from kadenz.watching.events import Happening, Switch, Wake

_EVERY = 250_000  # events between two reports of progress


def checked(recorded: RecordedFile, progress: Callable[[int], None]) -> Iterator[Happening]:
    """The events of a recording; `progress` gets their number now and then.

    UsageError for a processor whose clock goes back, and at the end for a recording without
    switches or wake-ups, with the command that records them.
    """
    remedy = f"Record again: {recorded.format.record}"
    last: dict[int, int] = {}
    count, has_switch, has_wake = 0, False, False
    for event in recorded.events():
        count += 1
        before = last.get(event.cpu, event.at)
        if event.at < before:
            raise UsageError(
                f"{recorded.path}: event {count:,} at {event.at / 1e9:.9f} s on processor "
                f"{event.cpu} is {before - event.at:,} ns before the one in front of it: its clock "
                "is not monotonic",
                remedy=remedy,
            )
        last[event.cpu] = event.at
        has_switch = has_switch or isinstance(event, Switch)
        has_wake = has_wake or isinstance(event, Wake)
        if not count % _EVERY:
            progress(count)
        yield event
    lacking = "sched_switch" if not has_switch else "" if has_wake else "sched_waking, sched_wakeup"
    if lacking:
        raise UsageError(
            f"{recorded.path}: none of its {count:,} events is {lacking}: "
            + ("no thread is known" if not has_switch else "no release is known"),
            remedy=remedy,
        )
