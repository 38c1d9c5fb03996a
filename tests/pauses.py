# SPDX-License-Identifier: Apache-2.0
"""Whether this machine itself paused: what a thread above every other did not get to run.

A virtual machine may lose its processors for a tenth of a second and longer, and then drives,
masters and deadlines do what they do after such a pause, which no test of anything else can hold.
On every processor a process with the highest real-time priority sleeps for 2 ms at a time; where it
wakes up more than 5 ms late nothing that is tested could have run either.

Run as a program, with the processor's number, it prints the length of each pause in seconds.

A test says by `timing()` which of its assertions a pause can fail. Only these are retried.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

SLEEP_S = 0.002
PAUSE_S = 0.005
SEEN = "seen"  # the answer to a byte on its standard input: what came before is printed
PR_SET_PDEATHSIG = 1
# Of the pipe, bytes: an hour of a machine that pauses thirty times a second.
ROOM = 1 << 20


class LateError(AssertionError):
    """An assertion on timing failed: one that a pause of the machine is enough to fail."""


@contextmanager
def timing(*also: type[Exception]) -> Iterator[None]:
    """Around assertions on what only happens in time, and exceptions `also` that say it did not.

    Keep it to those: what a defect alone can fail is asserted outside.
    """
    late: tuple[type[Exception], ...] = (AssertionError, *also)
    try:
        yield
    except late as failure:
        raise LateError(str(failure)) from failure


def watch(processor: int) -> None:
    """Prints the pauses of one processor until its parent ends."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    os.sched_setaffinity(0, {processor})
    os.sched_setscheduler(
        0, os.SCHED_FIFO, os.sched_param(os.sched_get_priority_max(os.SCHED_FIFO))
    )
    os.set_blocking(sys.stdin.fileno(), False)
    print(flush=True)  # ready
    last = time.monotonic()
    while True:
        time.sleep(SLEEP_S)
        now = time.monotonic()
        if now - last - SLEEP_S > PAUSE_S:
            print(f"{now - last - SLEEP_S:.6f}", flush=True)
        last = now
        with suppress(BlockingIOError):
            if os.read(sys.stdin.fileno(), 1):
                print(SEEN, flush=True)


class Watch:
    """The pauses of all processors of this process; none are seen without real-time priorities."""

    def __init__(self) -> None:
        """Starts one process a processor."""
        self._processes = [
            subprocess.Popen(
                [sys.executable, "-S", __file__, str(processor)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                pipesize=ROOM,
            )
            for processor in sorted(os.sched_getaffinity(0))
        ]
        for process in self._processes:
            assert process.stdout is not None
            process.stdout.readline()
            os.set_blocking(process.stdout.fileno(), False)

    def begin(self) -> None:
        """Forgets the pauses until now."""
        self._said()

    def longest_s(self) -> float:
        """Seconds of the longest pause since the beginning; 0 without one."""
        return max(map(float, self._said().split()), default=0.0)

    def _said(self) -> str:
        """What all have seen until now, each after its next look."""
        return "".join(map(_asked, self._processes))

    def close(self) -> None:
        """Ends the processes."""
        for process in self._processes:
            process.kill()
            process.communicate()


def _asked(process: subprocess.Popen[bytes]) -> str:
    assert process.stdin is not None and process.stdout is not None
    if process.poll() is not None:  # without the right to watch
        return ""
    process.stdin.write(b"?")
    process.stdin.flush()
    said = ""
    while SEEN not in said and process.poll() is None:
        time.sleep(SLEEP_S)
        said += (process.stdout.read() or b"").decode()
    return said.replace(SEEN, "")


if __name__ == "__main__":
    watch(int(sys.argv[1]))
