# SPDX-License-Identifier: Apache-2.0
"""What instruments wrote: captures of logic analysers, series of times, traces of Linux."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from kadenz.analysis import analyse
from kadenz.analysis.deadlines import parse_deadline
from kadenz.analysis.jitter_views import analyse_series
from kadenz.analysis.kept_traces import kept_traces
from kadenz.analysis.linux_timeline import recorded_timeline
from kadenz.analysis.series_file import read_series
from kadenz.analysis.series_kind import KINDS
from kadenz.analysis.units import Unit
from kadenz.capture.importing import Capture, import_capture
from kadenz.capture.measured import Measured
from kadenz.capture.sample_rate import parse_rate
from kadenz.capture.trace_cmd import reported
from kadenz.config.target_name import TargetName
from kadenz.errors import ToolMissing, UsageError
from kadenz.ftrace import events_of
from kadenz.host.facts import read_host
from kadenz.report.jitter_words import series_lines
from kadenz.report.timelines import shares, write_files
from kadenz.store import read_run
from tests.capture.test_damage import CHANGES, VCD, VECTORS
from tests.capture.writers import WRITERS
from tests.hostile.fuzz.mutating import Files
from tests.hostile.fuzz.trying import Parser

TRACES = Path(__file__).resolve().parents[2] / "analysis" / "traces"
BOARD = TargetName("freertos", "stm32f4", "board")
ROWS = 400  # of a CSV: the first sample is among them


# ---- captures ------------------------------------------------------------------------------------
SIGROK = "[device 1]\ncapturefile=logic-1\nsamplerate=1 MHz\nunitsize={}\nprobe1=D0\nprobe2=D1\n"


def _vcds() -> Sequence[Files]:
    """By the name of what wrote it, which gives the channels and the options."""
    waveforms = [
        {name: writer.text().encode()} for name, writer in WRITERS.items() if "CSV" not in name
    ]
    waveforms = [files for files in waveforms if b"$var" in next(iter(files.values()))]
    return [*waveforms, {"changes": VCD + CHANGES}, {"vectors": VCD + VECTORS}]


def _tables() -> Sequence[Files]:
    tables = []
    for name, writer in WRITERS.items():
        text = writer.text().encode()
        if b"$var" not in text:
            tables.append({name: b"".join(text.splitlines(keepends=True)[:ROWS])})
    return tables


def _sessions() -> Sequence[Files]:
    """Members of a session, which becomes one after their change; and a whole one."""
    sessions: list[Files] = []
    for unit, kind in ((1, "<u1"), (2, "<u2")):
        samples = np.array([0, 1, 1, 0, 0, 2, 2, 0] * 12, dtype=kind).tobytes()
        text = SIGROK.format(unit).encode()
        pieces = {"logic-1-1": samples, "logic-1-2": samples[: 40 * unit]}
        sessions.append({"version": b"2", "metadata": text, **pieces})
        sessions.append({"version": b"1", "metadata": text, "logic-1": samples})
    return [*sessions, {"whole": _zipped(sessions[0])}]


def _zipped(files: Files) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name), content)
    return out.getvalue()


def _import(given: Path, output: Path) -> None:
    """`kadenz import` of a VCD or a CSV, and what reads its run."""
    (file,) = given.iterdir()
    writer = WRITERS.get(file.name)
    options = dict(zip(*[iter(writer.options)] * 2, strict=True)) if writer else {}
    asked = Capture(
        file,
        writer.begin if writer else "D0",
        writer.end if writer else "D1",
        "fuzz/capture",
        BOARD,
        glitch_ns=5.0,
        run_name="x",
        rate_hz=parse_rate(options.get("--sample-rate", "")),
        unit=options.get("--unit", ""),
        params={"period_us": 25},
    )
    _analysed(asked, output)


def _import_session(given: Path, output: Path) -> None:
    """The same of a session of sigrok."""
    file = given / "whole"
    if not file.exists():
        content = _zipped({member.name: member.read_bytes() for member in given.iterdir()})
        file = output / "capture.sr"
        file.write_bytes(content)
    _analysed(Capture(file, "D0", "D1", "fuzz/capture", BOARD, run_name="x"), output)


# Git, this machine and the lab are asked for each run, which takes longer than the capture.
_ASKED = {
    "describe": lambda _: "v0",
    "read_host": cache(read_host),
    "measured": lambda bench, _, params: Measured(bench, dict(params)),
}


def _analysed(asked: Capture, output: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        for name, answer in _ASKED.items():
            patch.setattr(f"kadenz.capture.importing.{name}", answer)
        imported = import_capture(asked, output / "runs")
    result = analyse(read_run(imported.folder), deadlines=[parse_deadline("20us")])
    assert len(result.records) == 1  # also of a damaged one: its samples up to there are kept


# ---- series --------------------------------------------------------------------------------------
CYCLES = 1100
SHOWN = Unit("µs", "us", 1e-3, "hosted", is_time=True)


@cache
def _series() -> Sequence[Files]:
    """By names that give the options: KIND, then COLUMN and CYCLES if the file has columns."""
    rng = np.random.default_rng(31)
    late = (20_000 + rng.exponential(1_000, CYCLES)).round()
    edges = np.arange(CYCLES) * 1_000_000 + late
    rows = list(enumerate(late))

    def text(form: str, head: str = "") -> bytes:
        return (head + "".join(form.format(cycle, int(value)) for cycle, value in rows)).encode()

    def npy(values: np.ndarray) -> bytes:  # type: ignore[type-arg]
        out = io.BytesIO()
        np.save(out, values)
        return out.getvalue()

    column = "".join(f"{value:.0f}\n" for value in edges)
    return [
        {"edges": column.encode()},
        {"periods": "".join(f"{value:.1f}\n" for value in np.diff(edges)).encode()},
        {"latencies late_ns cycle": text("{},{}\n", "cycle,late_ns\n")},
        {"latencies 1 0": text("{}\t{}\n", "# two columns\n")},
        {"latencies": text("       0:{:8}:{:8}\n", "# /dev/cpu_dma_latency set to 0us\n")},
        {"latencies late": text("{};{},5\n", "cycle;late\n")},
        {"edges.npy": npy(edges)},
        {"latencies.npy": npy(late.astype("<u4"))},
        {"latencies 1 0.npy": npy(np.column_stack((np.arange(CYCLES), late)))},
    ]


def _jitter(given: Path, _: Path) -> None:
    """What `kadenz jitter` does."""
    (file,) = given.iterdir()
    of, column, cycles, *_rest = *file.stem.split(), "", ""
    (kind,) = (known for known in KINDS if known == of)
    series = read_series(file, column=column, cycles=cycles)
    analysis = analyse_series(
        series.values,
        kind,
        1000.0,
        1e-3,
        cycles=series.cycles,
        limit=25_000.0,
        printed_step=series.printed_step,
    )
    assert series_lines(analysis, SHOWN, "ns")


# ---- traces --------------------------------------------------------------------------------------
KEPT = (
    "x-9 [000] d..2. 100.000001: sched_waking: comm=cyclic pid=77 prio=2 target_cpu=001\n"
    "x-9 [001] d..2. 100.000100: irq_handler_entry: irq=24 name=virtio0\n"
    "x-9 [001] d..2. 100.000200: irq_handler_exit: irq=24 ret=handled\n"
    "CPU:1 [LOST 12 EVENTS]\n"
    "x-9 [001] d..2. 100.000300: sched_switch: prev_comm=x prev_pid=9 prev_prio=120 "
    "prev_state=R ==> next_comm=cyclic next_pid=77 next_prio=2\n"
    "cyclic-77 [001] ..... 100.000310: tracing_mark_write: kadenz: latency_ns=300000 lane=core0 "
    "cycle=123 due_ns=100000000000 pid=77\n"
)


def _recorded() -> Sequence[Files]:
    text = (TRACES / "message-queue.txt").read_bytes()
    lines = text.splitlines(keepends=True)
    return [{"trace.txt": b"".join(lines[:120])}, {"trace.txt": text}]


def _timeline(given: Path, output: Path) -> None:
    """What `kadenz trace FILE.dat` does with what trace-cmd reports."""
    text = (given / "trace.txt").read_bytes().decode(errors="replace")
    timeline = recorded_timeline(events_of(text.splitlines()), "trace.dat")
    if timeline is None:
        raise UsageError("no program starts in this recording")
    write_files([timeline], output)
    assert shares(timeline)


def _kept() -> Sequence[Files]:
    preempted = (TRACES / "preempted.txt").read_bytes()
    lines = preempted.splitlines(keepends=True)
    return [
        {"trace.txt": KEPT.encode()},
        {"trace.txt": preempted, "trace-2.txt": KEPT.encode()},
        {"trace.txt": b"".join(lines[-60:])},
    ]


def _blamed(given: Path, _: Path) -> None:
    for trace in kept_traces(given, 3.4e-3):
        assert trace.sentence


HEAD = b"\x17\x08\x44tracing"


def _dats() -> Sequence[Files]:
    six = HEAD + b"6\0" + b"\0\x08\0\x10\0\0"
    seven = HEAD + b"7\0" + b"\0\x08\0\x10\0\0" + b"none\0\0" + (60).to_bytes(8, "little")
    return [{"trace.dat": six + bytes(99)}, {"trace.dat": seven + bytes(99)}]


def _dat(given: Path, _: Path) -> None:
    """Up to where trace-cmd would be started."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", "")
        try:
            list(reported(given / "trace.dat"))
        except ToolMissing:
            return


PARSERS = {
    "capture/vcd": Parser(_vcds, _import, 15_000),
    "capture/csv": Parser(_tables, _import, 15_000),
    "capture/sr": Parser(_sessions, _import_session, 15_000),
    "series": Parser(_series, _jitter, 10_000),
    "trace/timeline": Parser(_recorded, _timeline, 15_000),
    "trace/kept": Parser(_kept, _blamed, 50_000),
    "trace/dat": Parser(_dats, _dat, 20_000),
}
