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
_WHOLE_KB = 16 << 10  # of each processor, for a whole record

# Running threads, wake-ups and interrupts. Events that a system lacks are left out.
_EVENTS = (
    "sched/sched_switch",
    "sched/sched_waking",
    "sched/sched_wakeup",
    "irq",
    "irq_vectors",
)

# For a timeline: which program started which threads, and their system calls.
_EVENTS_OF_PROGRAM = ("sched/sched_process_fork", "sched/sched_process_exec", "syscalls")

# Makes the instance, and removes it after the lab has ended for any reason: the pipe breaks then.
# The lab may end before it hears of the instance. The instance cannot be removed while the program
# has its files open.
_WATCHER = """trap '' PIPE
mkdir "$1" || exit
echo made
read -r word
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
        file.write_text(self._tail(), encoding="utf-8")
        return True

    def stop(self) -> str:
        """Stops the trace; the tail of its text."""
        _write(self.folder / "tracing_on", "0")
        return self._tail()

    def _tail(self) -> str:
        text = self._read("trace")
        if len(text) > KEPT_BYTES:
            text = text[-KEPT_BYTES:].partition("\n")[2]
        return text

    def _read(self, name: str) -> str:
        return (self.folder / name).read_text(encoding="utf-8", errors="replace")


def available() -> bool:
    """Whether this process can trace."""
    return _root() is not None


def _root() -> Path | None:
    """Where instances can be made."""
    root = next((place for place in PLACES if (place / "instances").is_dir()), None)
    return root if root is not None and os.access(root / "instances", os.W_OK) else None


@contextlib.contextmanager
def traced(wanted: bool, *, program: bool = False) -> Iterator[Instance | None]:
    """A running instance for the program started inside; None if tracefs is unavailable.

    `program`: only events of this process and of programs that it starts, with their system calls.
    Without an instance the program itself reports that no trace is kept. The instance is removed
    afterwards, even if the lab is killed.
    """
    if not wanted:
        yield None
        return
    with instance() as folder:
        if folder is None:
            yield None
            return
        try:
            os.environ[ENVIRONMENT] = str(folder)
            _start(folder, program=program)
            yield Instance(folder)
        finally:
            os.environ.pop(ENVIRONMENT, None)


@contextlib.contextmanager
def instance() -> Iterator[Path | None]:
    """A new instance, as the kernel sets it up; None if tracefs is unavailable.

    It is removed afterwards, even if this process is killed.
    """
    root = _root()
    if root is None:
        yield None
        return
    folder = root / "instances" / f"kadenz-{os.getpid()}"
    try:
        watcher = _watcher(folder)
    except OSError:
        yield None
        return
    with watcher:
        assert watcher.stdin is not None and watcher.stdout is not None
        if not watcher.stdout.readline():
            yield None
            return
        try:
            yield folder
        finally:
            watcher.stdin.close()


def _watcher(folder: Path) -> subprocess.Popen[bytes]:
    """Starts the process that makes the instance, says so and removes it."""
    return subprocess.Popen(
        ["/bin/sh", "-c", _WATCHER, "kadenz-trace", str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def _start(folder: Path, *, program: bool) -> None:
    # CLOCK_MONOTONIC is the suite's clock, so that due times can be found in the trace.
    _write(folder / "trace_clock", "mono")
    if program:
        _write(folder / "buffer_size_kb", str(_WHOLE_KB))
        threads = " ".join(path.name for path in Path("/proc/self/task").iterdir())
        _write(folder / "set_event_pid", threads)
        _write(folder / "options/event-fork", "1")
    for event in _EVENTS + (_EVENTS_OF_PROGRAM if program else ()):
        _write(folder / "events" / event / "enable", "1")
    _write(folder / "tracing_on", "1")


def _write(file: Path, value: str) -> None:
    with contextlib.suppress(OSError):
        file.write_text(value, encoding="ascii")
