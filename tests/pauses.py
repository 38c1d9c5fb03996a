# SPDX-License-Identifier: Apache-2.0
"""Whether this machine itself paused: what a thread above every other did not get to run.

A virtual machine may lose its processors for a tenth of a second and longer, and then drives,
masters and deadlines do what they do after such a pause, which no test of anything else can hold.
On every processor a process with the highest real-time priority sleeps for 2 ms at a time; where it
wakes up more than 5 ms late nothing that is tested could have run either.

Run as a program, with the processor's number, it prints `end_s length_s` of each pause.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time

SLEEP_S = 0.002
PAUSE_S = 0.005
PR_SET_PDEATHSIG = 1


def watch(processor: int) -> None:
    """Prints the pauses of one processor until its parent ends."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    os.sched_setaffinity(0, {processor})
    os.sched_setscheduler(
        0, os.SCHED_FIFO, os.sched_param(os.sched_get_priority_max(os.SCHED_FIFO))
    )
    last = time.monotonic()
    while True:
        time.sleep(SLEEP_S)
        now = time.monotonic()
        if now - last - SLEEP_S > PAUSE_S:
            print(f"{now:.6f} {now - last - SLEEP_S:.6f}", flush=True)
        last = now


class Watch:
    """The pauses of all processors of this process; none are seen without real-time priorities."""

    def __init__(self) -> None:
        """Starts one process a processor."""
        self._processes = [
            subprocess.Popen(
                [sys.executable, "-S", __file__, str(processor)],
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
            for processor in sorted(os.sched_getaffinity(0))
        ]
        for process in self._processes:
            assert process.stdout is not None
            os.set_blocking(process.stdout.fileno(), False)
        self._said = b""

    def longest_since(self, begin_s: float) -> float:
        """Seconds of the longest pause that ended after `begin_s` of the monotonic clock."""
        time.sleep(2 * SLEEP_S)  # one that has just ended has yet to be said
        for process in self._processes:
            assert process.stdout is not None
            self._said += process.stdout.read() or b""
        pauses = [tuple(map(float, line.split())) for line in self._said.decode().splitlines()]
        return max((length for end, length in pauses if end > begin_s), default=0.0)

    def close(self) -> None:
        """Ends the processes."""
        for process in self._processes:
            process.kill()
            process.communicate()


if __name__ == "__main__":
    watch(int(sys.argv[1]))
