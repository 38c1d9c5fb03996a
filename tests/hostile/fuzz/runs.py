# SPDX-License-Identifier: Apache-2.0
"""Folders of others: runs, profiles and timelines, journals of tunings, entries of the store."""

from __future__ import annotations

import hashlib
import io
import zlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import msgspec
import numpy as np

from kadenz.analysis.linux_timeline import recorded_timeline
from kadenz.analysis.profiles import by_function, by_kind, by_part
from kadenz.analysis.timelines import timelines_of
from kadenz.config.manifest import Manifest
from kadenz.config.profile import Profile
from kadenz.errors import StoreError, UsageError
from kadenz.ftrace import events_of
from kadenz.lab import catalog
from kadenz.report import profiles as profile_pages
from kadenz.report import timelines as timeline_pages
from kadenz.store import Run, read_run
from kadenz.store.layout import RUNNING, profile_file, timeline_file, trace_file
from kadenz.store.profiles import read_profiles
from kadenz.store.running import is_held, storage_of
from kadenz.tuning.change import Change
from kadenz.tuning.journal import FORMAT, Head, Writer, read_journal
from kadenz.values import entry
from tests.hostile.fuzz.mutating import Files
from tests.hostile.fuzz.recordings import TRACES
from tests.hostile.fuzz.trying import Parser, scratch
from tests.hostile.test_archives import answer
from tests.hostile.test_profiles import PROFILE
from tests.synthetic import LINUX, Point, instructions, manifest, nanoseconds, write_run
from tests.wire.streams import bench, hello


def below(folder: Path) -> dict[str, bytes]:
    """The files of a folder."""
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }


# ---- runs ----------------------------------------------------------------------------------------
COMMANDS = (
    *(("show", "{given}/a"), ("show", "{given}/a", "--outliers"), ("runs", "{given}")),
    ("show", "{given}/a", "{given}/b", "--json"),
    ("compare", "{given}/a", "{given}/b", "--deadline", "100us"),
    ("compare", "{given}/a", "{given}/b", "--statistic", "mean", "--json"),
    ("gate", "{given}/a", "--against", "{given}/b", "--junit", "{output}/x.xml"),
    ("gate", "{given}/a", "--limit", "* max < 100us", "--limit", "cyclic/* misses < 1%"),
    ("gate", "{given}/a", "--limit", "* p99 < 900us", "--summary", "{output}/x.md"),
    ("report", "{given}/a", "{given}/b", "--output", "{output}/x.html"),
    ("report", "{given}/a", "--output", "{output}/x.html", "--tables", "{output}/t"),
    ("export", "{given}/a", "--output", "{output}/x.csv"),
    ("export", "{given}/a", "--output", "{output}/x.parquet"),
    ("export", "{given}/a", "--summary", "--format", "json"),
)


def _points(centre: int, cycles: int) -> list[Point]:
    rng = np.random.default_rng(centre)
    late = {
        "core0": nanoseconds(21_000, cycles, rng),
        "core0:cycle": np.arange(cycles, dtype="<u4"),
    }
    return [
        Point("itc/queue", {"all": instructions(centre, 60, rng)}, {"size_bytes": 4}, cold=2),
        Point("itc/queue", {"all": instructions(2 * centre, 60, rng)}, {"size_bytes": 600}),
        Point("cyclic/wakeup-latency", late, {"period_us": 1000}, missed=2, not_measured=1),
        Point("itc/pipe", {"all": np.empty(0, np.uint32)}, status="n/a", reason="no pipes"),
    ]


@cache
def _runs() -> Sequence[Files]:
    """Two runs; with the digests of their samples, and without: every command reads them."""
    with scratch() as folder:
        places = {cycles: folder / str(cycles) for cycles in (100, 1200)}
        for cycles, place in places.items():
            for name, centre in (("a", 900), ("b", 1000)):
                write_run(place, manifest(LINUX, id=name), _points(centre, cycles))
        whole = [below(place) for place in places.values()]
        (folder / "output").mkdir()
        for place in places.values():
            for command in COMMANDS:
                _answered(command, place, folder / "output")
    return [*whole, *map(_without_digests, whole)]


def _without_digests(files: Files) -> Files:
    changed = dict(files)
    for name in ("a/run.json", "b/run.json"):
        document = msgspec.json.decode(files[name])
        for record in document["records"]:
            for lane in record["lanes"]:
                lane["sha256"] = ""
        changed[name] = msgspec.json.encode(document)
    return changed


def _answered(command: tuple[str, ...], given: Path, output: Path) -> None:
    code, said = answer(*(word.format(given=given, output=output) for word in command))
    if code in (1, 2):
        raise UsageError(said)


def _command(given: Path, output: Path) -> None:
    """One of the commands, by the bytes of the input."""
    files = below(given)
    number = zlib.crc32(b"".join(files.values()))
    _answered(COMMANDS[number % len(COMMANDS)], given, output)


# ---- profiles and timelines ----------------------------------------------------------------------
@cache
def _linux() -> Manifest:
    with scratch() as folder:
        return read_run(write_run(folder, manifest(LINUX), _points(900, 100))).manifest


def _profiles() -> Sequence[Files]:
    return [{profile_file(0, "itc/queue"): msgspec.json.encode(PROFILE)}]


def _profile(given: Path, output: Path) -> None:
    """What `kadenz profile` and a report show of it."""
    profiles: list[Profile] = read_profiles(Run(given, _linux()))
    profile_pages.write_files(profiles, output)
    for profile in profiles:
        for lane in profile.lanes:
            assert profile_pages.tables(profile, lane) is not None
            profile_pages.remarks(profile, lane)
            for view in lane.views:
                assert by_function(profile, view) is not None
                assert by_part(profile, view) is not None and by_kind(profile, view) is not None


@cache
def _timelines() -> Sequence[Files]:
    lines = (TRACES / "message-queue.txt").read_text().splitlines()[:120]
    timeline = recorded_timeline(events_of(lines), "itc/queue")
    stamps = (
        "x-11528 [000] ..... 40631.170000: tracing_mark_write: kadenz: begin_ns=40631166000000",
        "x-11528 [000] ..... 40631.170001: tracing_mark_write: kadenz: end_ns=40631166900000",
    )
    traced = "\n".join((*lines, *stamps)).encode()
    return [
        {timeline_file(0, "itc/queue"): msgspec.json.encode(timeline)},
        {trace_file(0, "itc/queue"): traced},
    ]


def _timeline(given: Path, output: Path) -> None:
    """What `kadenz trace` and a report show of it."""
    timelines = timelines_of(Run(given, _linux()))
    if not timelines:
        raise UsageError("no timeline")
    timeline_pages.write_files(timelines, output)
    for timeline in timelines:
        timeline_pages.shares(timeline)


# ---- what kadenz keeps ---------------------------------------------------------------------------
@cache
def _journals() -> Sequence[Files]:
    head = Head(
        format=FORMAT, profile="latency", title="x", sha256="0" * 64, cpus="1", housekeeping="0",
        boot_id="x", applied="2026-11-21T10:30:00Z",
    )  # fmt: skip
    with scratch() as folder:
        writer = Writer(folder, head)
        for key, kind in (("governor", "text"), ("irq", "cpus"), ("policy", "policy")):
            step = writer.begin(Change(key=key, kind=kind, was="0-1", value="0", path="/x"))  # type: ignore[arg-type]
            writer.end(step, "done")
        writer.complete()
        writer.close()
        return [below(folder)]


def _journal(given: Path, _: Path) -> None:
    if read_journal(given) is None:
        raise UsageError("nothing was changed")


KEY = "0123456789abcdef"


@cache
def _entries() -> Sequence[Files]:
    """Of the store of measured values."""
    files = {"stream.bin": bytes(range(200)), "trace": b"x" * 99}
    head = entry.Head(
        key=KEY, target="freertos/stm32f4@emulated", measured="2026-11-21T10:30:00Z", machine="m",
        kadenz="0.3", inputs={"plan": "0" * 64}, files=[(n, len(c)) for n, c in files.items()],
    )  # fmt: skip
    out = io.BytesIO()
    with scratch() as folder:
        for name, content in files.items():
            (folder / name).write_bytes(content)
        entry.write(out, head, folder)
    return [{KEY: out.getvalue()}]


def _entry(given: Path, output: Path) -> None:
    """Most of them get the digest of their changed bytes."""
    file = given / KEY
    content = file.read_bytes()
    if zlib.crc32(content) % 4:
        first, _, rest = content.partition(b"\n")
        sealed = first[:15] + hashlib.sha256(rest).hexdigest().encode() + b"\n" + rest
        file = output / KEY
        file.write_bytes(sealed)
    folder = output / "filled"
    folder.mkdir()
    try:
        with entry.Entry(file) as opened:
            opened.verify()
        with entry.Entry(file) as opened:
            opened.fill(folder)
        with entry.Entry(file) as opened:
            opened.differs(folder)
    except (entry.DamagedError, OSError) as error:  # as the store's keeper does: it measures again
        raise UsageError(str(error)) from None


def _catalogs() -> Sequence[Files]:
    kept = catalog.Catalog("0" * 64, hello(), [bench(), bench("itc/pipe")])
    return [{"catalog.json": msgspec.json.encode(kept)}]


def _catalog(given: Path, _: Path) -> None:
    if catalog.remembered(given, None) is None:
        raise StoreError("no catalog")


def _notes() -> Sequence[Files]:
    return [{RUNNING: b'{"storage":"/dev/shm/kadenz-storage-1"}'}]


def _note(given: Path, _: Path) -> None:
    assert not is_held(given)
    if storage_of(given) is None:
        raise StoreError("no storage")


PARSERS = {
    "run": Parser(_runs, _command, 4_000),
    "profile": Parser(_profiles, _profile, 20_000),
    "timeline": Parser(_timelines, _timeline, 14_000),
    "journal": Parser(_journals, _journal, 40_000),
    "store": Parser(_entries, _entry, 40_000),
    "catalog": Parser(_catalogs, _catalog, 30_000),
    "note": Parser(_notes, _note, 10_000),
}
