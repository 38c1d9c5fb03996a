# SPDX-License-Identifier: Apache-2.0
"""The kernel's trace around a sample above its limit (Documentation/trace/ftrace.rst).

A run with a stop limit gets its own tracefs instance; the system's trace is unaffected. The program
under measurement marks it and stops it (kernels/posix/tracefs.c).
"""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

PLACES = (Path("/sys/kernel/tracing"), Path("/sys/kernel/debug/tracing"))
ENVIRONMENT = "KADENZ_TRACE"  # tells the program its instance
KEPT_BYTES = 8 << 20  # size of the kept end of the trace, as text

# Running threads, wake-ups and interrupts. Events that a system lacks are left out.
_EVENTS = (
    "sched/sched_switch",
    "sched/sched_waking",
    "sched/sched_wakeup",
    "irq",
    "irq_vectors",
)

# Removes the instance after the lab has ended for any reason: the pipe breaks then. The instance
# cannot be removed while the program has its files open.
_WATCHER = """read -r word
echo 0 >"$1/tracing_on"
tries=0
until rmdir "$1" 2>/dev/null || [ ! -d "$1" ] || [ "$tries" -ge 100 ]; do
    tries=$((tries + 1))
    sleep 0.1
done"""


class Instance:
    """A running trace instance; `stopped` once the program has found a sample above its limit."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def stopped(self) -> bool:
        """Whether the program stopped the trace."""
        return self._read("tracing_on").strip() == "0"

    def keep(self, file: Path) -> bool:
        """Writes the tail of a stopped trace to `file`; False if the trace is still running."""
        if not self.stopped:
            return False
        text = self._read("trace")
        if len(text) > KEPT_BYTES:
            text = text[-KEPT_BYTES:].partition("\n")[2]
        file.write_text(text, encoding="utf-8")
        return True

    def _read(self, name: str) -> str:
        return (self.folder / name).read_text(encoding="utf-8", errors="replace")


@contextlib.contextmanager
def traced(wanted: bool) -> Iterator[Instance | None]:
    """A running instance for the program started inside; None if tracefs is unavailable.

    Without an instance the program itself reports that no trace is kept. The instance is removed
    afterwards, even if the lab is killed.
    """
    root = next((place for place in PLACES if (place / "instances").is_dir()), None)
    if not wanted or root is None or not os.access(root / "instances", os.W_OK):
        yield None
        return
    folder = root / "instances" / f"kadenz-{os.getpid()}"
    try:
        folder.mkdir()
    except OSError:
        yield None
        return
    with subprocess.Popen(
        ["/bin/sh", "-c", _WATCHER, "kadenz-trace", str(folder)],
        stdin=subprocess.PIPE,
        start_new_session=True,
    ) as watcher:
        assert watcher.stdin is not None
        os.environ[ENVIRONMENT] = str(folder)
        try:
            _start(folder)
            yield Instance(folder)
        finally:
            del os.environ[ENVIRONMENT]
            watcher.stdin.close()


def _start(folder: Path) -> None:
    # CLOCK_MONOTONIC is the suite's clock, so that due times can be found in the trace.
    _write(folder / "trace_clock", "mono")
    for event in _EVENTS:
        _write(folder / "events" / event / "enable", "1")
    _write(folder / "tracing_on", "1")


def _write(file: Path, value: str) -> None:
    with contextlib.suppress(OSError):
        file.write_text(value, encoding="ascii")
