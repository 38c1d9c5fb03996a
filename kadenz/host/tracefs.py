# SPDX-License-Identifier: Apache-2.0
"""The kernel's trace around a sample that broke its limit (Documentation/trace/ftrace.rst).

A run that may stop above a limit gets an instance of tracefs of its own: the system's own trace is
not touched. The program under measurement marks it and stops it (kernels/posix/tracefs.c).
"""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

PLACES = (Path("/sys/kernel/tracing"), Path("/sys/kernel/debug/tracing"))
ENVIRONMENT = "KADENZ_TRACE"  # names the instance to the program
KEPT_BYTES = 8 << 20  # of the end of the trace, as text

# Who ran, who was woken, and what interrupted them. A system has those it has.
_EVENTS = (
    "sched/sched_switch",
    "sched/sched_waking",
    "sched/sched_wakeup",
    "irq",
    "irq_vectors",
)

# Ends the instance when the lab has ended, however that came about: the pipe breaks then. It cannot
# be removed while the program has its files open.
_WATCHER = """read -r word
echo 0 >"$1/tracing_on"
tries=0
until rmdir "$1" 2>/dev/null || [ ! -d "$1" ] || [ "$tries" -ge 100 ]; do
    tries=$((tries + 1))
    sleep 0.1
done"""


class Instance:
    """A trace of its own, running; `stopped` once the program has found what it was after."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def stopped(self) -> bool:
        """Whether the program stopped the trace."""
        return self._read("tracing_on").strip() == "0"

    def keep(self, file: Path) -> bool:
        """Writes the tail of a stopped trace to `file`; False when it runs on, as at the start."""
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
    """A running instance for the program that is started inside; None where none can be had.

    The program says itself that no trace is kept. The instance is gone afterwards, also when the
    lab is killed.
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
    # Stamps of CLOCK_MONOTONIC: the suite's clock, so that a due moment can be found in the trace.
    _write(folder / "trace_clock", "mono")
    for event in _EVENTS:
        _write(folder / "events" / event / "enable", "1")
    _write(folder / "tracing_on", "1")


def _write(file: Path, value: str) -> None:
    with contextlib.suppress(OSError):
        file.write_text(value, encoding="ascii")
