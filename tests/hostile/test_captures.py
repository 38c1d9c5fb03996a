# SPDX-License-Identifier: Apache-2.0
"""Captures, series and traces of others: bounded memory, linear time, and a UsageError.

A text for which the time is quadratic is so long that its test would not end; memory is counted by
tracemalloc, which sees the arrays of NumPy.
"""

from __future__ import annotations

import io
import os
import random
import struct
import tracemalloc
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from kadenz.analysis.linux_timeline import recorded_timeline
from kadenz.analysis.series_file import read_series
from kadenz.analysis.trace import blame
from kadenz.capture.opening import open_waveform
from kadenz.capture.sample_rate import parse_rate
from kadenz.capture.trace_cmd import reported
from kadenz.errors import UsageError
from kadenz.ftrace import events_of, parse_trace
from tests.forked import kadenz

MIB = 1 << 20


@contextmanager
def at_most(mib: int) -> Iterator[None]:
    """Fails where more memory was in use at once."""
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < mib * MIB
    finally:
        tracemalloc.stop()


def drain(file: Path) -> int:
    waveform = open_waveform(file)
    edges = waveform.edges(tuple(waveform.channels[:2]), lambda _: None)
    return sum(len(times) for times in edges)


# ---- sessions of sigrok --------------------------------------------------------------------------
METADATA = (
    "[device 1]\ncapturefile=logic-1\nsamplerate={rate}\nunitsize={unit}\nprobe1=D0\nprobe2=D1\n"
)


def session(
    file: Path, samples: bytes, *, unit: int | str = 1, rate: str = "1 MHz", kind: int = 8
) -> Path:
    with zipfile.ZipFile(file, "w", kind) as archive:
        archive.writestr("version", "2")
        archive.writestr("metadata", METADATA.format(rate=rate, unit=unit))
        archive.writestr("logic-1-1", samples)
    return file


def test_a_session_is_read_in_blocks(tmp_path: Path) -> None:
    file = session(tmp_path / "x.sr", bytes(32 * MIB))
    assert file.stat().st_size < MIB
    with at_most(64):
        assert drain(file) == 0


def test_wide_samples_are_read_in_blocks_of_the_same_size(tmp_path: Path) -> None:
    file = session(tmp_path / "x.sr", bytes(64 * MIB), unit=1024)
    with at_most(96):
        assert drain(file) == 0


@pytest.mark.parametrize("unit", [1025, 10**9, -1, "9" * 5000, "nan"])
def test_samples_wider_than_any_are_refused(unit: int | str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="damaged in metadata"):
        drain(session(tmp_path / "x.sr", bytes(100), unit=unit))


@pytest.mark.parametrize("kind", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_what_sigrok_does_not_compress_with_is_refused(kind: int, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="compressed"):
        drain(session(tmp_path / "x.sr", bytes(100), kind=kind))


def test_a_session_of_too_many_samples_is_refused_by_its_size(tmp_path: Path) -> None:
    file = tmp_path / "x.sr"
    names = {f"logic-1-{number}": b"" for number in range(1, 6)}
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("metadata", METADATA.format(rate="1 MHz", unit=1))
        for name, content in names.items():
            archive.writestr(name, content)
    data = bytearray(file.read_bytes())
    at = data.index(b"PK\x01\x02")
    while (at := data.find(b"PK\x01\x02", at + 4)) >= 0:
        struct.pack_into("<I", data, at + 24, 0xFFFFFFFE)
    file.write_bytes(data)
    with pytest.raises(UsageError, match="19 GiB of samples, more than 16 GiB"):
        drain(file)


@pytest.mark.parametrize("rate", ["9" * 400, "0." + "0" * 400 + "1", "nan", "inf", "0", "-1"])
def test_a_rate_that_no_analyser_has_is_none(rate: str, tmp_path: Path) -> None:
    assert parse_rate(rate) == 0.0
    with pytest.raises(UsageError, match="no sample rate"):
        drain(session(tmp_path / "x.sr", bytes(100), rate=rate))


# ---- VCD and CSV ---------------------------------------------------------------------------------
HEAD = b"$timescale 1 ns $end\n"
VCDS = {
    "scopes in each other": HEAD + b"$scope module a $end\n" * 400_000,
    "long names in many variables": HEAD
    + b"".join(b"$scope module %s $end\n" % (b"a" * 60_000) for _ in range(100))
    + b"".join(b"$var wire 1 %d x $end\n" % n for n in range(1000)),
    "a header without an end": HEAD + b"$comment " + b"x " * 2_000_000,
    "a change without white space": HEAD + b"$enddefinitions $end\n#0 " + b"b" + b"0" * (4 * MIB),
}


@pytest.mark.parametrize("kind", VCDS)
def test_a_vcd_takes_bounded_memory(kind: str, tmp_path: Path) -> None:
    file = tmp_path / "x.vcd"
    file.write_bytes(VCDS[kind])
    with at_most(600), pytest.raises(UsageError):
        drain(file)


CSVS = {
    "letters of a note": b"; " + b"a" * 60_000 + b"\n",
    "blanks of a note": b"; a" + b" " * 60_000 + b"x\n",
    "brackets of a note": b"; a" + b"(" * 60_000 + b"\n",
}


@pytest.mark.parametrize("kind", CSVS)
def test_notes_are_read_in_linear_time(kind: str, tmp_path: Path) -> None:
    file = tmp_path / "x.csv"
    file.write_bytes(
        CSVS[kind] * 150 + b"; Samplerate (of all): 1 MHz\nD0,D1\n" + b"0,1\n0,1\n" * 9
    )
    assert open_waveform(file).tick_ns == 1000.0


@pytest.mark.parametrize("time", [b"nan", b"inf", b"1e999", b"-inf"])
def test_a_time_without_a_finite_value_is_damage(time: bytes, tmp_path: Path) -> None:
    file = tmp_path / "x.csv"
    file.write_bytes(b"Time [s],D0,D1\n0.0,0,1\n%s,1,0\n" % time)
    assert np.isfinite(open_waveform(file).printed_step)
    with pytest.raises(UsageError, match="line 3"):
        drain(file)


# ---- series --------------------------------------------------------------------------------------
def npy(header: str, data: bytes = b"") -> bytes:
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data


NPYS = {
    "a size that it does not have": npy(
        "{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999,), }\n"
    ),
    "a negative size": npy("{'descr': '<f8', 'fortran_order': False, 'shape': (-1,), }\n"),
    "objects": npy("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }\n", bytes(8)),
    "brackets": npy("(" * 9000),
    "a long number": npy("{'shape': (" + "9" * 5000 + ",)}"),
    "no dictionary": npy("[1]\n"),
    "a type of types": npy("{'descr': [[[]]], 'fortran_order': 0, 'shape': (1,)}\n", bytes(8)),
    "another version": b"\x93NUMPY\x09\x09",
    "a zip": b"PK\x03\x04" + bytes(100),
    "nothing": b"",
}


@pytest.mark.parametrize("kind", NPYS)
def test_a_damaged_array_is_named(kind: str, tmp_path: Path) -> None:
    file = tmp_path / "x.npy"
    file.write_bytes(NPYS[kind])
    with at_most(64), pytest.raises(UsageError, match="x.npy"):
        read_series(file)


def test_an_array_of_mutated_bytes_is_read_or_named(tmp_path: Path) -> None:
    chance, file, stream = random.Random(31), tmp_path / "x.npy", io.BytesIO()
    np.save(stream, np.arange(50.0))
    read = named = 0
    for _ in range(2000):
        data = bytearray(stream.getvalue())
        for _ in range(chance.randrange(1, 4)):
            data[chance.randrange(128)] = chance.randrange(256)
        file.write_bytes(data)
        try:
            read += read_series(file).values.size > 0
        except UsageError:
            named += 1
    assert read and named


def test_a_sparse_array_is_refused_by_its_size(tmp_path: Path) -> None:
    file = tmp_path / "x.npy"
    file.write_bytes(npy("{'descr': '<f8', 'fortran_order': False, 'shape': (200000000,), }\n"))
    os.truncate(file, 200_000_000 * 8 + 128)
    with pytest.raises(UsageError, match="200,000,000 values, more than 100,000,000"):
        read_series(file)


TEXTS = {
    "lines": b"1\n" * 5_000_001,
    "bytes": b"1" * (64 * MIB + 1),
    "columns": b"1;" * 2000,
    "a long cell": b'1,"' + b"1" * 300_000 + b'"\n',
    "digits": b"9" * 10_000,
    "not numbers": b"nan\ninf\n",
}


@pytest.mark.parametrize("kind", TEXTS)
def test_a_text_that_is_too_large_is_refused(kind: str, tmp_path: Path) -> None:
    file = tmp_path / "x.txt"
    file.write_bytes(TEXTS[kind])
    with at_most(400), pytest.raises(UsageError, match="x.txt"):
        read_series(file)


def test_a_text_without_an_end_is_refused() -> None:
    with pytest.raises(UsageError, match="more than 64 MiB"):
        read_series(Path("/dev/zero"))


def test_cycles_beyond_any_counter_are_named(tmp_path: Path) -> None:
    file = tmp_path / "x.txt"
    file.write_text("cycle;late\n0;1\n1e300;1\n")
    with pytest.raises(UsageError, match="line 3"):
        read_series(file, column="late", cycles="cycle")


def test_a_pipe_may_be_named_as_text(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.write(writer, b"1\n2\n3\n")
    os.close(writer)
    assert list(read_series(Path(f"/dev/fd/{reader}")).values) == [1, 2, 3]
    os.close(reader)


@pytest.mark.parametrize("name", ["x.sr", "x.npy", "x.dat"])
def test_what_needs_a_file_does_not_wait_for_a_pipe(name: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / name)
    read: dict[str, Callable[[Path], object]] = {
        "x.sr": open_waveform,
        "x.npy": read_series,
        "x.dat": lambda f: list(reported(f)),
    }
    with pytest.raises(UsageError, match="a pipe in the place of a file"):
        read[name](tmp_path / name)


@pytest.mark.parametrize(
    ("script", "line", "how"),
    [
        (
            'until [ "$(ulimit -v)" != unlimited ]; do :; done; ulimit -v; exit 3',
            "4194304",
            "with exit code 3",
        ),
        ("echo one; kill -SEGV $$", "one", "by signal 11"),
    ],
)
def test_trace_cmd_has_bounded_memory_and_its_end_is_named(
    script: str, line: str, how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program, file = tmp_path / "trace-cmd", tmp_path / "x.dat"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    file.write_bytes(b"\x17\x08\x44tracing6\0")
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    lines = reported(file)
    assert next(lines) == line
    with pytest.raises(UsageError, match=f"trace-cmd ends after line 1 {how}"):
        list(lines)


@pytest.mark.parametrize("value", ["nan", "inf"])
def test_options_that_are_no_numbers_are_named(value: str, tmp_path: Path) -> None:
    file = tmp_path / "x.txt"
    file.write_text("1\n2\n3\n")
    asked = ["--begin", "D0", "--end", "D1", "--bench", "itc/queue"]
    asked += ["--target", "freertos/stm32f4@board"]
    calls: tuple[list[str], ...] = (
        ["jitter", str(file), "--period-us", value],
        ["jitter", str(file), "--period-us", "1", "--limit", value],
        ["import", str(file), "--glitch", value, *asked],
    )
    for arguments in calls:
        done = kadenz(*arguments)
        assert done.returncode == 2 and "not a" in done.stderr and "Traceback" not in done.stderr


# ---- Linux's traces ------------------------------------------------------------------------------
SWITCH = (
    " x-1 [000] d..2. 1.0: sched_switch: prev_comm=x prev_pid=1 prev_prio=1 prev_state=R ==> "
    "next_comm=cyclic next_pid=2 next_prio=1"
)
LINES = {
    "blanks": " " * 300_000,
    "signs": "-1 " * 100_000,
    "commands": f" x-1 [000] d..2. 1.0: sched_switch: {'prev_comm= prev_pid=1 ' * 10_000}",
    "wakes": f" x-1 [000] d..2. 1.0: sched_waking: {'comm= pid=2 ' * 10_000}",
    "forks": f" x-1 [000] d..2. 1.0: sched_process_fork: {'pid=1 ' * 20_000}",
    "a long pid": f" x-{'1' * 5000} [000] d..2. 1.0: sched_waking: comm=x pid=1 ",
    "a long time": f" x-1 [000] d..2. {'1' * 5000}.0: sched_waking: comm=x pid=1 ",
    "a long processor": f"CPU:{'1' * 5000} [LOST 1 EVENTS]",
    "a long count": f"CPU:1 [LOST {'1' * 5000} EVENTS]",
    "a long number": f" x-1 [000] d..2. 1.0: irq_handler_entry: irq={'1' * 5000} name=x",
    "a long stamp": f" x-1 [000] d..2. 1.0: print: kadenz: begin_ns={'1' * 5000}",
}


@pytest.mark.parametrize("kind", LINES)
def test_a_line_of_a_trace_takes_linear_time(kind: str) -> None:
    lines = [LINES[kind], SWITCH, SWITCH.replace("1.0:", "2.0:"), LINES[kind]]
    assert blame(parse_trace("\n".join(lines)), "cyclic") is not None
    recorded_timeline(events_of(lines), "x.dat")


def test_threads_of_many_names_are_labelled_in_linear_time() -> None:
    first = " x-1 [000] .... 1.000000: sched_process_exec: filename=x pid=1 old_pid=1"
    forks = (
        f" x-1 [000] .... 1.{n:06}: sched_process_fork: comm=x pid=1 child_comm=x child_pid={n + 2}"
        for n in range(100_000)
    )
    recorded_timeline(events_of([first, *forks]), "x.dat")
