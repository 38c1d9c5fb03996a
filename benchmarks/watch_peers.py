# SPDX-License-Identifier: Apache-2.0
"""`kadenz watch` beside rtla's timerlat and osnoise, for docs/how-to/watch-a-program.md.

    python benchmarks/watch_peers.py [RTLA]

Needs rtla and cyclictest (`apt-get install rtla rt-tests`), gcc, and the PREEMPT_RT kernel of
x86-64 guests: Debian's other kernels have neither of the two tracers. RTLA: its program, if it is
not in the search path. Both observe the same threads at once: those of rtla. A kernel thread holds
the processor for 300 us in each 7,777 us, with preemption off.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path

from kadenz.cli.watch_guest import GuestOptions, checked_watch
from kadenz.images.shared_libraries import shared_libraries
from kadenz.targets.launched import launch_plan, program_end
from kadenz.watching.causes import parts_of
from kadenz.watching.guest import GuestWatch, record_in_guest
from kadenz.watching.jobs import Job
from kadenz.watching.judging import judge
from kadenz.watching.live import Recording

TARGET = "linux-rt/x86_64@guest"
DISTURBED = "disturbance=300us/7777us"
HOLDER = "kdz-disturbance"
LATE_US = 100
TIMERLAT = ["timerlat", "hist", "-p", "1000", "-b", "20", "-E", "400"]
TO_ERRORS = "--trace=//proc/self/fd/2"  # rtla leaves out the first character
OSNOISE = ["osnoise", "top", "-q", "-p", "100000", "-r", "90000", "-d", "2s"]
CYCLIC = ["-t1", "-p80", "-i1000", "-l2000", "-q", "-N"]
# Starts the first program, then the second, and ends with that.
BOTH = r"""
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int count, char **words)
{
    int at = 1;
    while (at < count && strcmp(words[at], "--") != 0) at++;
    words[at] = NULL;
    const pid_t first = fork();
    if (first == 0) {
        execv(words[1], words + 1);
        _exit(127);
    }
    sleep(1);
    const pid_t second = fork();
    int status = 1;
    if (second == 0) {
        execv(words[at + 1], words + at + 1);
        _exit(127);
    }
    waitpid(second, &status, 0);
    kill(first, SIGKILL);
    return WEXITSTATUS(status);
}
"""


def watch_of(
    file: Path, arguments: Sequence[str], names: Sequence[str], files: Sequence[str] = ()
) -> GuestWatch:
    """A program in the guest with the disturbance."""
    options = GuestOptions(TARGET, [DISTURBED], files, None, fresh=False)
    return checked_watch([str(file), *arguments], names, 60.0, options)


def recorded(subject: GuestWatch) -> tuple[Recording, str]:
    """Its recording, and what it printed."""
    recording, end = record_in_guest(subject, threading.Event().is_set)
    return recording, (end.output + end.errors).decode(errors="replace")


def jobs_of(recording: Recording) -> list[Job]:
    """The jobs of the only thread."""
    (thread,) = judge(recording.observed, recording.selection)
    return thread.thread.jobs


def printed_alone(subject: GuestWatch) -> str:
    """What it prints without any recording."""
    target = subject.target()
    stream = bytearray()
    try:
        target.open(launch_plan(str(subject.linux.path), 60.0, subject.linux.settings()))
        while (data := target.read(0.1)) is not None:
            stream += data
    finally:
        target.close()
    end = program_end(bytes(stream))
    assert end is not None
    return (end.output + end.errors).decode(errors="replace")


def same_wake_ups(rtla: Path) -> None:
    """Prints how many wake-ups of timerlat's thread were late, by both."""
    recording, text = recorded(watch_of(rtla, [*TIMERLAT, "-d", "2s"], ["timerlat*"]))
    jobs = jobs_of(recording)
    rows = re.findall(r"^(\d+)\s+\d+\s+(\d+)\s*$", text, re.MULTILINE)
    late = sum(int(count) for begin, count in rows if int(begin) >= LATE_US)
    count, most = (
        re.findall(rf"^{name}:\s+\d+\s+(\d+)", text, re.M)[0] for name in ("count", "max")
    )
    here = sum(job.latency >= LATE_US * 1000 for job in jobs)
    longest = max(job.latency for job in jobs)
    print(f"| wake-ups of timerlat's thread | {int(count):,} | {len(jobs):,} |")
    print(f"| of these {LATE_US} µs late or more | {late:,} | {here:,} |")
    print(f"| latest, µs | {int(most):,} | {longest / 1e3:,.1f} |")


def same_cause(rtla: Path) -> None:
    """Prints what the first late wake-up waited for, by both."""
    options = ["-d", "9s", "-T", f"{LATE_US}", TO_ERRORS]
    recording, text = recorded(watch_of(rtla, [*TIMERLAT, *options], ["timerlat*"]))
    (number, length), *_ = re.findall(r"#(\d+)\s+context thread timer_latency\s+(\d{6,}) ns", text)
    (noise,) = re.findall(rf"thread_noise: {HOLDER}:\d+ start \S+ duration (\d+) ns", text)[-1:]
    around = jobs_of(recording)[int(number) - 3 : int(number) + 3]  # rtla counts from the first
    job = max(around, key=lambda each: each.latency)
    cause, spent = parts_of(job)[0]
    print(f"| latency of wake-up {number}, virtual ns | {int(length):,} | {job.latency:,} |")
    print(f"| its cause, virtual ns | {HOLDER} {int(noise):,} | {cause} {spent:,} |")


def same_noise(rtla: Path) -> None:
    """Prints the interrupts and the time that osnoise's thread lost, by both."""
    recording, text = recorded(watch_of(rtla, OSNOISE, ["osnoise*"]))
    jobs = jobs_of(recording)
    lost = sum(job.response - job.latency - job.executed for job in jobs)
    handled = sum(job.handled for job in jobs)
    row = re.findall(r"^ +0 #(\d+) +\d+ +(\d+) .* (\d+) +\d+ +\d+ *$", text, re.MULTILINE)
    if not row:
        sys.exit(text)
    windows, noise, interrupts = map(int, row[0])
    print(f"| windows of osnoise, 90 ms each | {windows:,} | {len(jobs):,} |")
    print(f"| noise in all, µs | {noise:,} | {lost / 1e3:,.0f} |")
    print(f"| interrupts inside | {interrupts:,} | {handled:,} |")


def costs(rtla: Path, cyclictest: Path, folder: Path) -> None:
    """Prints the mean latency of cyclictest alone, under watch, and beside timerlat."""
    (folder / "both.c").write_text(BOTH)
    both = folder / "both"
    subprocess.run(["gcc", "-O2", "-static", folder / "both.c", "-o", both], check=True)
    libraries = {*shared_libraries(rtla), *shared_libraries(cyclictest)}
    files = [f"{file}={file}" for file in sorted(libraries)]
    files += [f"{rtla}=/usr/bin/rtla", f"{cyclictest}=/usr/bin/cyclictest"]
    inside = ["/usr/bin/rtla", *TIMERLAT, "-d", "60s", "--", "/usr/bin/cyclictest", *CYCLIC]
    alone = watch_of(cyclictest, CYCLIC, ["cyclictest"])
    means = {
        "alone": mean_of(printed_alone(alone)),
        "under `kadenz watch`": mean_of(recorded(alone)[1]),
        "beside `rtla timerlat`": mean_of(printed_alone(watch_of(both, inside, ["x"], files))),
    }
    print("\n| cyclictest, priority 80, each 1 ms | mean latency, virtual ns |\n|---|---|")
    for name, mean in means.items():
        print(f"| {name} | {mean:,} |")
    without, ours, peer = means.values()
    ratio = (ours - without) / max(1, peer - without)
    print(f"\nanswer: watch adds {ratio:.0f} times as much to the mean latency as timerlat")


def mean_of(text: str) -> int:
    """The mean that cyclictest printed."""
    means = re.findall(r"Avg:\s*(\d+)", text)
    if not means:
        sys.exit(text)
    return int(means[0])


def main() -> None:
    """Prints both tables."""
    rtla = shutil.which(sys.argv[1] if len(sys.argv) > 1 else "rtla")
    cyclictest = shutil.which("cyclictest")
    if rtla is None or cyclictest is None:
        sys.exit("no rtla or no cyclictest, the peers: apt-get install rtla rt-tests")
    print("| in the guest's time | rtla | kadenz watch |\n|---|---|---|")
    same_wake_ups(Path(rtla))
    same_cause(Path(rtla))
    same_noise(Path(rtla))
    with tempfile.TemporaryDirectory() as folder:
        costs(Path(rtla), Path(cyclictest).resolve(), Path(folder))


if __name__ == "__main__":
    main()
