# SPDX-License-Identifier: Apache-2.0
"""Kernel counters that prove the effect of a load; two readings give a rate.

Files are read below a root that tests replace.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

ROOT = Path("/")
_SECTOR = 512  # bytes; /proc/diskstats always uses this size (kernel doc, admin-guide/iostats)
_MEGA = 1e6


@dataclass(frozen=True)
class Place:
    """The subject of a counter."""

    cpus: Sequence[int]
    folder: Path  # the load's scratch folder; may not exist yet
    device: str  # the scratch folder's disk in /proc/diskstats; "" if unknown
    root: Path = ROOT


@dataclass(frozen=True)
class Counter:
    """A growing number, and the unit and source of its rate."""

    unit: str
    source: str
    read: Callable[[Place], float]
    per_cpu_time: bool = False  # of processor time: the rate is a percentage
    by_load: bool = False  # counted by the load itself: no reading on an idle machine


@dataclass(frozen=True)
class Reading:
    """A reading of all counters."""

    at_s: float
    values: dict[str, float]
    cpu_s: dict[str, float]  # processor time of each part of a load


def read(
    names: Iterable[str],
    place: Place,
    sessions: Mapping[str, Collection[int]] | None = None,
    pids: Collection[int] | None = None,
) -> Reading:
    """Reads the named counters, and the processor time of the processes of `sessions`, by part.

    Walking all processes costs milliseconds: during a measurement only `pids` are read.
    """
    values = {name: COUNTERS[name].read(place) for name in names}
    used = processor_time(sessions, place.root, pids) if sessions else {}
    return Reading(time.monotonic(), values, used)


def rate(name: str, place: Place, before: Reading, after: Reading) -> float:
    """The rate per second between two readings, in the counter's unit; 0 without growth or time."""
    seconds = after.at_s - before.at_s
    if seconds <= 0 or name not in before.values or name not in after.values:
        return 0.0
    growth = (after.values[name] - before.values[name]) / seconds
    if COUNTERS[name].per_cpu_time:  # counted in ticks of 10 ms, so that a second may give 101
        growth = min(100.0, growth * 100.0 / max(1, len(place.cpus)))
    return max(0.0, growth)


def cpu_percent(part: str, place: Place, before: Reading, after: Reading) -> float:
    """The share of its processors' time that a part's own processes used between two readings."""
    seconds = after.at_s - before.at_s
    if seconds <= 0:
        return 0.0
    used = after.cpu_s.get(part, 0.0) - before.cpu_s.get(part, 0.0)
    return max(0.0, 100.0 * used / seconds / max(1, len(place.cpus)))


def processor_time(
    sessions: Mapping[str, Collection[int]],
    root: Path = ROOT,
    pids: Collection[int] | None = None,
) -> dict[str, float]:
    """Seconds of processor time of the living processes of `sessions` and their dead children.

    Only of `pids` if given: a process that started later counts once it has ended.
    """
    part_of = {session: part for part, numbers in sessions.items() for session in numbers}
    ticks = dict.fromkeys(sessions, 0)
    named = None if pids is None else [root / f"proc/{pid}/stat" for pid in pids]
    for entry in root.glob("proc/[0-9]*/stat") if named is None else named:
        try:
            stat = entry.read_text(errors="replace").rpartition(")")[2].split()
        except OSError:
            continue
        part = part_of.get(int(stat[3]))
        if part is not None:
            ticks[part] += sum(int(word) for word in stat[11:15])  # utime stime cutime cstime
    return {part: count / os.sysconf("SC_CLK_TCK") for part, count in ticks.items()}


def device_of(folder: Path, root: Path = ROOT) -> tuple[str, str]:
    """Name in /proc/diskstats ("" if unknown) and file system of an existing folder.

    Found by the folder's device number; if the file system uses its own numbers (btrfs, overlay),
    by the mounted block device.
    """
    number = folder.stat().st_dev
    wanted = f"{os.major(number)}:{os.minor(number)}"
    kind, source = "", ""
    for line in _lines(root, "proc/self/mountinfo"):
        fields = line.split()
        after = fields.index("-")
        if fields[2] == wanted:
            kind, source = fields[after + 1], fields[after + 2]
    for line in _lines(root, "proc/diskstats"):
        fields = line.split()
        if f"{fields[0]}:{fields[1]}" == wanted:
            return fields[2], kind
    name = Path(os.path.realpath(source)).name if source.startswith("/dev/") else ""
    known = {line.split()[2] for line in _lines(root, "proc/diskstats")}
    return (name if name in known else ""), kind


def _lines(root: Path, path: str) -> list[str]:
    try:
        return (root / path).read_text(errors="replace").splitlines()
    except OSError:
        return []


def _cpu_time(place: Place) -> float:
    """Busy seconds of the processors: all except idle and iowait (proc(5))."""
    wanted = {f"cpu{number}" for number in place.cpus}
    ticks = 0
    for line in _lines(place.root, "proc/stat"):
        name, *values = line.split()
        if name in wanted:
            numbers = [int(value) for value in values[:8]]  # user time includes guest time
            ticks += sum(numbers) - numbers[3] - numbers[4]
    return ticks / os.sysconf("SC_CLK_TCK")


def _major_faults(place: Place) -> float:
    return sum(
        int(line.split()[1])
        for line in _lines(place.root, "proc/vmstat")
        if line.startswith("pgmajfault ")
    )


def _disk_written(place: Place) -> float:
    """Bytes of the scratch folder's disk; if unknown, of all disks (vmstat counts KiB)."""
    for line in _lines(place.root, "proc/diskstats"):
        fields = line.split()
        if fields[2] == place.device:
            return int(fields[9]) * _SECTOR / _MEGA
    for line in _lines(place.root, "proc/vmstat"):
        if line.startswith("pgpgout "):
            return int(line.split()[1]) * 1024 / _MEGA
    return 0.0


def _loopback(place: Place) -> float:
    for line in _lines(place.root, "proc/net/dev"):
        name, _, values = line.partition(":")
        if name.strip() == "lo":
            return int(values.split()[8]) / _MEGA
    return 0.0


def _interrupts(place: Place) -> float:
    """Interrupts and soft interrupts; the first number of each line is the total."""
    total = 0
    for line in _lines(place.root, "proc/stat"):
        match = re.match(r"(?:intr|softirq) (\d+)", line)
        total += int(match.group(1)) if match else 0
    return total


def _memory_moved(place: Place) -> float:
    """The workers' counts of `memory`: one native 64-bit number per file.

    The folder may be of a user without rights: no link is followed, and no pipe waited for.
    """
    moved = 0
    for file in place.folder.glob("memory-*.count"):
        with suppress(OSError), open(file, "rb", buffering=0, opener=_unlinked) as count:
            moved += int.from_bytes(count.read(8) or b"", "little")
    return moved / _MEGA


def _unlinked(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK)


COUNTERS: dict[str, Counter] = {
    "cpu-time": Counter("% of CPU time", "/proc/stat, not idle", _cpu_time, per_cpu_time=True),
    "major-faults": Counter("major faults/s", "/proc/vmstat pgmajfault", _major_faults),
    "disk-written": Counter("MB/s written", "/proc/diskstats, sectors written", _disk_written),
    "loopback": Counter("MB/s over lo", "/proc/net/dev, bytes sent by lo", _loopback),
    "interrupts": Counter("interrupts/s", "/proc/stat intr + softirq", _interrupts),
    "memory-moved": Counter(
        "MB/s moved",
        "the load's own count of bytes read and written; the kernel has no such counter",
        _memory_moved,
        by_load=True,
    ),
}
