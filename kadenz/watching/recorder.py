# SPDX-License-Identifier: Apache-2.0
"""Records the scheduler's events of this Linux: a ring for each processor, emptied into a file."""

from __future__ import annotations

import heapq
import os
import re
import shutil
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

from kadenz.errors import TargetFailed, ToolMissing
from kadenz.host import tracefs
from kadenz.watching.decoding import decoders, names
from kadenz.watching.events import Happening
from kadenz.watching.layouts import page_bytes
from kadenz.watching.pages import bytes_of, events_of_pages

MOST_BYTES = 2 << 30  # of all files: some forty million events
_RING_KB = 16 << 10  # of each processor; some 300,000 events
_ALL_RINGS_KB = 512 << 10
_EVERY_S = 0.1  # between two looks at the rings; each wakes one thread of this process
_CLOCK = "mono"
_ENTRIES = re.compile(r"^(entries|overrun|dropped events): (\d+)$", re.MULTILINE)
_KEPT_FREE = 256 << 20  # bytes of the disk that the files leave free


class Recorder:
    """A trace instance with the events of a watch. Use it as a context manager."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.names, self.lacking = names(folder / "events")
        self.decoders = decoders(folder / "events", self.names)
        self.page_bytes = page_bytes(folder / "events")
        self._rings: dict[int, int] = {}
        self._files: dict[int, BinaryIO] = {}
        self._end = threading.Event()
        self._reader = threading.Thread(target=self._follow, name="kadenz-reader", daemon=True)
        self._resources = ExitStack()
        self.full = ""  # why recording ended by itself

    def __enter__(self) -> Self:
        cpus = sorted(
            int(path.name.removeprefix("cpu"))
            for path in (self._folder / "per_cpu").glob("cpu[0-9]*")
        )
        self._write("trace_clock", _CLOCK)
        self._write("buffer_size_kb", str(min(_RING_KB, _ALL_RINGS_KB // max(1, len(cpus)))))
        for cpu in cpus:
            self._files[cpu] = self._resources.enter_context(tempfile.TemporaryFile())
            ring = self._folder / "per_cpu" / f"cpu{cpu}" / "trace_pipe_raw"
            self._rings[cpu] = os.open(ring, os.O_RDONLY | os.O_NONBLOCK)
            self._resources.callback(os.close, self._rings[cpu])
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()
        self._resources.close()

    def enable(self, *, on: bool) -> None:
        """Switches all events on or off; those that cannot be are left out."""
        for name in self.names:
            self._write(f"events/{name}/enable", "1" if on else "0", needed=False)

    def start(self) -> None:
        """Begins to record, from empty rings."""
        self._write("tracing_on", "0")
        self._write("trace", "")
        self.enable(on=True)
        self._reader.start()
        self._write("tracing_on", "1")

    def stop(self) -> None:
        """Ends the recording; what the rings hold is read."""
        if self._reader.ident is None or self._end.is_set():
            return
        self._write("tracing_on", "0")
        self.enable(on=False)
        self._end.set()
        self._reader.join()

    @property
    def running(self) -> bool:
        """Whether it records and is not full."""
        return self._reader.is_alive() and not self._end.is_set() and not self.full

    @property
    def spools(self) -> dict[int, int]:
        """The descriptors of the files, by processor; they grow by whole pages."""
        return {cpu: file.fileno() for cpu, file in self._files.items()}

    def release_rings(self) -> None:
        """Closes the rings in a process that only reads the files: none can be removed before."""
        for ring in self._rings.values():
            os.close(ring)

    @property
    def bytes(self) -> int:
        """Bytes in the files."""
        return sum(os.fstat(file.fileno()).st_size for file in self._files.values())

    def counted(self, cpu: int) -> int:
        """Events in a processor's ring so far, overwritten ones included; those read are not."""
        text = (self._folder / "per_cpu" / f"cpu{cpu}" / "stats").read_text(encoding="ascii")
        return sum(int(count) for _, count in _ENTRIES.findall(text))

    @contextmanager
    def counting(self) -> Iterator[None]:
        """Records into the rings alone."""
        self._write("trace", "")
        self._write("tracing_on", "1")
        try:
            yield
        finally:
            self._write("tracing_on", "0")

    def events(self) -> Iterator[Happening]:
        """All events, in the order of their times."""
        streams = []
        for cpu, file in self._files.items():
            file.seek(0)
            streams.append(events_of_pages(file, self.page_bytes, cpu, self.decoders))
        return iter(heapq.merge(*streams, key=lambda event: event[0]))

    def _follow(self) -> None:
        """Empties the rings until the end. Its own system calls are not recorded: each would make
        events that it had to read."""
        self._write(
            "events/syscalls/filter", f"common_pid != {threading.get_native_id()}", needed=False
        )
        while not self._end.wait(_EVERY_S):
            self._empty()
            free = shutil.disk_usage(tempfile.gettempdir()).free
            if self.bytes > MOST_BYTES or free < _KEPT_FREE:
                least = (
                    "the disk is nearly full" if free < _KEPT_FREE else f"{MOST_BYTES >> 30} GiB"
                )
                self.full = f"the recording was full: {least}"
                return
        self._empty(wholly=True)

    def _empty(self, *, wholly: bool = False) -> None:
        """Takes the full pages, and the one that grows; `wholly` until nothing is left."""
        for cpu, ring in self._rings.items():
            while page := _page(ring, self.page_bytes):
                self._files[cpu].write(page)
                if not wholly and bytes_of(page) < self.page_bytes // 2:
                    break
            self._files[cpu].flush()  # others read along

    def _write(self, name: str, value: str, *, needed: bool = True) -> None:
        try:
            (self._folder / name).write_text(value, encoding="ascii")
        except OSError as error:
            if needed:
                raise TargetFailed(
                    f"{self._folder / name}: {error.strerror}", remedy="Watch as root"
                ) from None


@contextmanager
def recorder() -> Iterator[Recorder]:
    """A recorder in a trace instance of its own. ToolMissing without tracefs or its rights."""
    with tracefs.instance() as folder:
        if folder is None:
            raise ToolMissing(
                f"cannot watch: {tracefs.PLACES[0]} is not tracefs, or not writable",
                remedy="As root: mount -t tracefs nodev /sys/kernel/tracing",
            )
        with Recorder(folder) as recording:
            yield recording


def _page(ring: int, size: int) -> bytes:
    try:
        page = os.read(ring, size)
    except BlockingIOError:
        return b""
    return page.ljust(size, b"\0") if page else b""
