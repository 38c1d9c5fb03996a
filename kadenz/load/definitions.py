# SPDX-License-Identifier: Apache-2.0
"""Loads by name: definitions in `loads.toml`, and their programs on this machine."""

from __future__ import annotations

import errno
import os
import shutil
import socket
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from kadenz.config.model import FileModel
from kadenz.config.toml import did_you_mean, read_toml
from kadenz.errors import LoadFailed, ToolMissing, UsageError
from kadenz.load import counters

NONE = "none"
ALL = "all"
FILE = Path(__file__).with_name("loads.toml")
# `all`: every kind except `io`, which is the study's variant of `disk`.
ALL_OF = ("cpu", "memory", "paging", "disk", "network", "interrupt")
_WORKERS = Path(__file__).with_name("workers")
_MIB = 1 << 20
_BLOCK_BYTES = (64 * _MIB, 256 * _MIB)  # limits of load `memory`; its size is twice the cache
_SPARE_BYTES = 512 * _MIB  # of disk and memory, never used
_PORTS = range(21000, 32000, 64)  # below Linux's ephemeral ports (32768)


class LoadKind(FileModel, kw_only=True, frozen=True):
    """One table of loads.toml; the head of that file explains the keys."""

    title: str
    program: list[str]
    copies: bool = False
    counter: Literal[
        "cpu-time", "major-faults", "disk-written", "loopback", "interrupts", "memory-moved"
    ]
    at_least: Annotated[float, msgspec.Meta(gt=0)]
    per_cpu: bool = False
    times_idle: float = 0.0
    cpu_at_least: float = 0.0
    workers: Annotated[int, msgspec.Meta(ge=0)] = 0
    size_mb: Annotated[int, msgspec.Meta(ge=0)] = 0
    limit_mb: Annotated[int, msgspec.Meta(ge=0)] = 0
    disk: bool = False
    reads: bool = False


class LoadFile(FileModel, kw_only=True, frozen=True):
    """What loads.toml says of each load."""

    cpu: LoadKind
    memory: LoadKind
    paging: LoadKind
    disk: LoadKind
    io: LoadKind
    network: LoadKind
    interrupt: LoadKind

    def kinds(self) -> dict[str, LoadKind]:
        """All loads by name, in the order of the file."""
        return {name: getattr(self, name) for name in self.__struct_fields__}


@dataclass(frozen=True)
class Options:
    """Settings of a load; defaults depend on its table and this machine."""

    workers: int = 0  # per part; 0: as in its table
    cpus: Sequence[int] = ()  # empty: all that this process may use
    scratch: Path | None = None  # folder for files; None: the caller's choice
    allow_weak: bool = False


@dataclass(frozen=True)
class Part:
    """One kind of load, ready to start. `all` and `cpu+disk` have several parts."""

    name: str
    kind: LoadKind
    workers: int
    programs: list[list[str]]  # arguments; the supervisor fills in {limited}
    settings: dict[str, str] = field(default_factory=dict)

    def least(self, cpus: int) -> float:
        """The minimum rate for this number of processors."""
        return self.kind.at_least * (cpus if self.kind.per_cpu else 1)


@cache
def kinds() -> dict[str, LoadKind]:
    """All loads of loads.toml by name."""
    return read_toml(FILE, LoadFile).kinds()


def names() -> list[str]:
    """All names for `--load`; `+` combines parts."""
    return [NONE, *kinds(), ALL]


def title(name: str) -> str:
    """Description of a load."""
    if name == NONE:
        return "no load"
    if name == ALL:
        return f"{', '.join(ALL_OF)} at once"
    return kinds()[name].title


def parts_of(name: str) -> list[str]:
    """The kinds of a load; empty for `none`. Raises UsageError with the nearest name."""
    if name == NONE:
        return []
    part_names: dict[str, None] = {}
    for word in name.split("+"):
        if word == ALL:
            part_names |= dict.fromkeys(ALL_OF)
        elif word in kinds():
            part_names[word] = None
        else:
            known = names() if "+" not in name else list(kinds())
            raise UsageError(f"no load `{word}`", remedy=did_you_mean(word, known))
    return list(part_names)


def chosen_cpus(options: Options) -> list[int]:
    """The processors of a load. Raises UsageError for one that this process may not use."""
    allowed = sorted(os.sched_getaffinity(0))
    unknown = sorted(set(options.cpus) - set(allowed))
    if unknown:
        raise UsageError(
            f"load: processor {unknown[0]} does not exist, or this process may not use it",
            remedy=f"It may use {', '.join(map(str, allowed))}",
        )
    return sorted(set(options.cpus)) or allowed


def check_programs(name: str) -> None:
    """Raises ToolMissing if a program of the load is not installed."""
    for part in parts_of(name):
        program = kinds()[part].program[0]
        if not program.startswith("{") and shutil.which(program) is None:
            raise ToolMissing(
                f"load `{part}`: {program} is not installed",
                remedy="Run `kadenz setup`, or install the package of the same name",
            )


def parts(name: str, options: Options, folder: Path) -> list[Part]:
    """The parts of `name` on this machine. `folder` is the scratch folder, to be made in an
    existing one.

    Raises LoadFailed if disk or memory are too small.
    """
    cpus = chosen_cpus(options)
    check_programs(name)
    load_parts = [_part(kind, kinds()[kind], options, len(cpus), folder) for kind in parts_of(name)]
    _check_room(load_parts, folder.parent)
    return load_parts


def _part(name: str, kind: LoadKind, options: Options, cpus: int, folder: Path) -> Part:
    workers = options.workers or min(cpus, kind.workers or cpus)
    settings: dict[str, str] = {}
    values = {
        "workers": workers,
        "python": sys.executable,
        "workers_folder": _WORKERS,
        "size_mb": kind.size_mb,
        "size_bytes": kind.size_mb * _MIB,
        "limit_bytes": kind.limit_mb * _MIB,
        "limited": "{limited}",
    }
    if kind.size_mb:
        settings["size"] = f"{kind.size_mb} MiB per worker"
    if kind.disk:
        device, system = counters.device_of(folder.parent)
        settings["file_system"] = f"{system} on {device}" if device else system
        _check_disk(name, system, folder.parent)
    if name == "disk":
        values["hdd_options"] = "direct,fsync" if _direct(folder.parent) else "sync"
        settings["writes"] = f"{values['hdd_options']}, 64 KiB each"
    if name == "paging":
        swap = _swap_free() > 2 * workers * kind.size_mb * _MIB
        values["paged"] = "anonymous" if swap else "file"
        settings["pages"] = (
            "anonymous memory, paged to swap" if swap else "a mapped file, as swap is too small"
        )
        settings["ram"] = f"{kind.limit_mb} MiB per worker"
    if name == "memory":
        cache_bytes = last_level_cache()
        low, high = _BLOCK_BYTES
        values["block_bytes"] = block = min(max(2 * cache_bytes, low), high)
        settings["blocks"] = f"2 of {block // _MIB} MiB per worker"
        settings["last_level_cache"] = f"{cache_bytes // 1024} KiB" if cache_bytes else "unknown"
    if name in ("network", "interrupt"):
        # Simultaneous loads search different ranges: neither has opened its ports yet.
        ports = _free_ports(workers + 1, _PORTS[:80] if name == "network" else _PORTS[80:])
        values["port"], values["other_port"] = ports, ports + workers
    processes = workers if kind.copies else 1
    more = []
    if kind.program[0] == "stress-ng":
        more = ["--timeout", "0", "--temp-path", ".", "--no-rand-seed"]
    programs = [
        [word.format(worker=number, **values) for word in kind.program] + more
        for number in range(processes)
    ]
    return Part(name, kind, workers, programs, settings)


def _check_disk(name: str, system: str, parent: Path) -> None:
    if system in ("tmpfs", "ramfs"):
        raise LoadFailed(
            f"load `{name}`: {parent} is in memory ({system}): writing there does not load a disk",
            remedy=f"Name a folder on a disk: --load {name},scratch=DIR",
        )


def _check_room(parts: Sequence[Part], parent: Path) -> None:
    """Raises LoadFailed if disk or memory would become too small for other programs."""
    on_disk = sum(p.workers * p.kind.size_mb * _MIB for p in parts if p.kind.disk)
    free = shutil.disk_usage(parent).free
    if on_disk and on_disk + _SPARE_BYTES > free:
        raise LoadFailed(
            f"load `{'+'.join(p.name for p in parts)}` needs {on_disk // _MIB} MiB in {parent} "
            f"and leaves {_SPARE_BYTES // _MIB} MiB to others: {free // _MIB} MiB are free",
            remedy="Name another folder with `scratch=DIR` of --load, or fewer workers with "
            "`workers=N`",
        )
    in_memory = sum(p.workers * p.kind.limit_mb * _MIB for p in parts)
    in_memory += sum(
        2 * int(program[-1]) for p in parts if p.name == "memory" for program in p.programs
    )
    available = _meminfo("MemAvailable")
    if available and in_memory + _SPARE_BYTES > available:
        raise LoadFailed(
            f"load `{'+'.join(p.name for p in parts)}` needs {in_memory // _MIB} MiB of memory "
            f"and leaves {_SPARE_BYTES // _MIB} MiB to others: {available // _MIB} MiB are "
            "available",
            remedy="Name fewer workers with `workers=N` of --load, or end other programs",
        )


def _direct(parent: Path) -> bool:
    """True if files there can bypass the page cache (open(2), O_DIRECT)."""
    with tempfile.NamedTemporaryFile(dir=parent, prefix=".kadenz-") as file:
        try:
            os.close(os.open(file.name, os.O_WRONLY | os.O_DIRECT))
        except OSError as error:
            if error.errno == errno.EINVAL:
                return False
            raise
    return True


def last_level_cache(root: Path = Path("/")) -> int:
    """Bytes of the largest cache of CPU 0; 0 if unknown."""
    largest = 0
    for file in root.glob("sys/devices/system/cpu/cpu0/cache/index*/size"):
        text = file.read_text().strip()
        scale = {"K": 1024, "M": _MIB, "G": 1024 * _MIB}.get(text[-1:], 1)
        number = text.rstrip("KMG")
        largest = max(largest, int(number) * scale if number.isdigit() else 0)
    return largest


def _swap_free() -> int:
    return _meminfo("SwapFree")


def _meminfo(key: str) -> int:
    """Bytes; 0 if /proc/meminfo lacks the line."""
    for line in Path("/proc/meminfo").read_text().splitlines():
        name, _, value = line.partition(":")
        if name == key:
            return int(value.split()[0]) * 1024
    return 0


def _free_ports(count: int, firsts: range) -> int:
    """First of `count` consecutive loopback ports that are free for TCP and UDP."""
    for first in firsts:
        if all(_is_free(port) for port in range(first, first + count)):
            return first
    raise LoadFailed(
        f"load: no {count} free ports between {firsts.start} and {firsts.stop}",
        remedy="List listening programs: ss -lntu",
    )


def _is_free(port: int) -> bool:
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        with socket.socket(socket.AF_INET, kind) as endpoint:
            try:
                endpoint.bind(("127.0.0.1", port))
            except OSError:
                return False
    return True
