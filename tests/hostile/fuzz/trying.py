# SPDX-License-Identifier: Apache-2.0
"""One input: it ends in a result or in a KadenzError, in time, in memory, and in its output folder.

Python's audit events (PEP 578) tell which files a reader opens for writing, which programs it
starts and which connections it makes.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

import click

from kadenz.errors import KadenzError
from tests.hostile.fuzz.mutating import Files, mutated

SECONDS = 30.0  # of the processor, for an input that takes milliseconds
MOST_KIB = 512 << 10  # of memory that one input takes more than those before it
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_CHANGES = (
    *("os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.link", "os.symlink"),
    *("os.truncate", "os.chmod", "os.chown", "os.utime", "os.mkfifo"),
)
_REACHES = (
    *("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork", "os.forkpty"),
    *("socket.connect", "socket.bind", "socket.getaddrinfo", "pickle.find_class"),
)


@dataclass(frozen=True)
class Parser:
    """`read` reads the files of the first folder as a command does, and may write to the second.

    It returns if they reached the analysis. `inputs` is its part of those of `make test-all`.
    """

    seeds: Callable[[], Sequence[Files]]
    read: Callable[[Path, Path], object]
    inputs: int


class Finding(Exception):
    """An input that ended in something else; `files` are what was read.

    Those of one `kind` probably have one cause.
    """

    def __init__(self, what: str, files: Files, *, kind: str = "", detail: str = "") -> None:
        super().__init__(what)
        self.what, self.files, self.kind, self.detail = what, files, kind or what, detail


class TooLong(BaseException):
    """No reader catches this."""


@dataclass
class Tally:
    """The inputs of a parser: those that reached the analysis, and those that were refused."""

    accepted: int = 0
    refused: int = 0
    findings: list[tuple[int, Finding]] = field(default_factory=list)  # with their numbers

    @property
    def inputs(self) -> int:
        """All."""
        return self.accepted + self.refused + len(self.findings)


@contextmanager
def scratch() -> Iterator[Path]:
    """A folder in memory, where a million inputs wear no disk."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(
        prefix="kadenz-fuzz-", dir=memory if memory.is_dir() else None
    ) as folder:
        yield Path(folder)


def fuzz(
    name: str,
    parser: Parser,
    folder: Path,
    numbers: range,
    seed: int = 0,
    progress: Callable[[Tally], None] = lambda _: None,
) -> Tally:
    """The inputs with these numbers: the same ones for the same seed, in whatever order."""
    tally = Tally()
    seeds = prepared(name, parser, folder)
    for number in numbers:
        files = input_of(name, seeds, seed, number)
        try:
            if tried(parser, files, folder):
                tally.accepted += 1
            else:
                tally.refused += 1
        except Finding as finding:
            tally.findings.append((number, finding))
        progress(tally)
    return tally


def input_of(name: str, seeds: Sequence[Files], seed: int, number: int) -> dict[str, bytes]:
    """The files with a number."""
    return mutated(random.Random(f"{name} {seed} {number}"), seeds)


def prepared(name: str, parser: Parser, folder: Path) -> Sequence[Files]:
    """The seeds, each of which was read once: what is imported and cached then is no finding."""
    seeds = parser.seeds()
    for files in seeds:
        given, output = _laid(files, folder)
        try:
            with _quiet():
                parser.read(given, output)
        except KadenzError as error:
            raise AssertionError(f"a seed of {name} is refused: {error}") from error
    return seeds


def tried(parser: Parser, files: Files, folder: Path) -> bool:
    """Whether the files reached the analysis, or were refused. Raises Finding."""
    given, output = _laid(files, folder)
    before = _peak_kib(anew=True)
    try:
        with _quiet(), _watched(output) as seen, _in_time():
            accepted = _read(parser, given, output)
    except TooLong:
        raise Finding(f"more than {SECONDS:g} s of the processor", files) from None
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        kind = f"{type(error).__name__} in {place.name}, line {place.lineno}"
        what = f"{kind}: {str(error)[:200]}"
        raise Finding(what, files, kind=kind, detail=traceback.format_exc()) from None
    if seen:
        raise Finding(f"reached beyond its output: {'; '.join(seen[:3])}", files)
    more = _peak_kib() - before
    if more > MOST_KIB:
        raise Finding(f"{more >> 10:,} MiB more of memory", files)
    if files != {name: (given / name).read_bytes() for name in files}:
        raise Finding("a file that was read is changed", files)
    return accepted


def _read(parser: Parser, given: Path, output: Path) -> bool:
    try:
        parser.read(given, output)
    except KadenzError as error:
        if error.exit_code not in (1, 2, 3, 4):
            raise
        return False
    except click.UsageError:
        return False
    return True


def _laid(files: Files, folder: Path) -> tuple[Path, Path]:
    """The folder with the files of an input, and an empty one for its output."""
    given, output = folder / "a" / "b" / "given", folder / "a" / "b" / "output"
    for directory in (given, output):
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(parents=True)
    for name, content in files.items():
        file = given / name
        if "/" in name:
            file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    return given, output


@contextmanager
def _quiet() -> Iterator[None]:
    """NumPy's warnings: figures of hostile samples overflow."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


# ---- time ----------------------------------------------------------------------------------------
@contextmanager
def _in_time() -> Iterator[None]:
    def stop(_: int, __: FrameType | None) -> None:
        raise TooLong

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)


# ---- what is reached -----------------------------------------------------------------------------
@dataclass
class _Watch:
    """The one hook of this process, which cannot be removed: it looks while `output` is set."""

    output: str = ""
    seen: list[str] = field(default_factory=list)

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.output:
            return
        if event == "open":
            path, _, flags = arguments
            if flags & _WRITES and not self._may(path):
                self.seen.append(f"open {path!r} to write")
        elif event in _CHANGES or event.startswith("shutil."):
            if not all(map(self._may, arguments[: 2 if event in _PAIRS else 1])):
                self.seen.append(f"{event} {arguments}")
        elif event in _REACHES:
            self.seen.append(f"{event} {arguments}")

    def _may(self, path: object) -> bool:
        """Whether it is below the output, or a module that Python compiles at its first use."""
        if isinstance(path, int):
            return True  # a descriptor, which was seen when it was opened
        text = os.path.normpath(os.fsdecode(path))  # type: ignore[arg-type]
        inside = text == self.output or text.startswith(f"{self.output}/")
        return inside or "__pycache__" in text or text == os.devnull


_PAIRS = ("os.rename", "os.link", "shutil.move")


@cache
def _watch() -> _Watch:
    watch = _Watch()
    sys.addaudithook(watch)
    return watch


@contextmanager
def _watched(output: Path) -> Iterator[list[str]]:
    watch = _watch()
    watch.seen = []
    watch.output = str(output)
    try:
        yield watch.seen
    finally:
        watch.output = ""


def _peak_kib(*, anew: bool = False) -> int:
    """The most memory that this process had, since it began or since it was last asked `anew`."""
    if anew:
        Path("/proc/self/clear_refs").write_text("5")  # proc(5): resets the peak
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1])
    raise AssertionError("no VmHWM in /proc/self/status")
