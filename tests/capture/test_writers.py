# SPDX-License-Identifier: Apache-2.0
"""Every program's way to write a capture gives the samples, or a refusal that says what to do."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from kadenz.store import Run, read_run
from tests.capture import writers
from tests.capture.test_damage import session
from tests.capture.writers import SAMPLES, STEP_NS, WRITERS
from tests.forked import kadenz

LENGTHS = np.array(SAMPLES) * STEP_NS


def imported(
    file: Path, begin: str, end: str, options: Sequence[str] = ()
) -> subprocess.CompletedProcess[str]:
    marks = ["--begin", begin, "--end", end, *options]
    target = ["--bench", "own/bench", "--target", "freertos/stm32f4@board"]
    return kadenz("import", str(file), *marks, *target, "--output", str(file.parent / "runs"))


def run_of(answer: subprocess.CompletedProcess[str], file: Path) -> Run:
    assert answer.returncode == 0, answer.stderr
    (folder,) = (file.parent / "runs").iterdir()
    return read_run(folder)


def written(folder: Path, text: str) -> Path:
    file = folder / "capture"
    file.write_text(text, encoding="utf-8")
    return file


@pytest.mark.parametrize("name", WRITERS)
def test_the_samples_are_those_that_were_captured(name: str, tmp_path: Path) -> None:
    writer = WRITERS[name]
    file = written(tmp_path, writer.text())
    run = run_of(imported(file, writer.begin, writer.end, writer.options), file)
    taken = run.samples(run.record(10), 0)
    assert taken == pytest.approx(LENGTHS, abs=1.01 * writer.rounding_ns + 1e-6)
    assert not run.manifest.partial


@pytest.mark.parametrize("name", WRITERS)
def test_the_step_is_the_analysers_and_not_that_of_the_notation(name: str, tmp_path: Path) -> None:
    """The greatest common divisor of the times was 0.1 ns in sigrok's VCD, 1 ns in Saleae's CSV."""
    writer = WRITERS[name]
    file = written(tmp_path, writer.text())
    run = run_of(imported(file, writer.begin, writer.end, writer.options), file)
    assert run.manifest.clock.resolution is not None
    step = run.manifest.clock.resolution.min
    assert step == pytest.approx(STEP_NS, rel=1e-9 if writer.states_rate else 2e-4)


# ---- names --------------------------------------------------------------------------------------

HEADER = """$timescale 1 ns $end $scope module top $end
$var wire 1 ! a [0] $end $var wire 1 " a [1] $end $var wire 1 # busy [0:0] $end
$upscope $end $scope module top $end $var wire 1 $ twice $end $upscope $end
$scope module top $end $var wire 1 % twice $end $var wire 1 & x:y $end $upscope $end
$enddefinitions $end
#0 0! 0" 0# 0$ 0% 0&
#10 1! 1# 1$ #20 1" 1& 0# #30 0! #40 0" 0$ 0&
"""


@pytest.mark.parametrize(
    ("begin", "end", "wanted"),
    [
        ("a [0]", "a [0]", 20.0),
        ("a[0]:rise", "top.a[1]:rise", 10.0),
        ("busy", "busy", 10.0),
        ("busy [0:0]:rise", "busy[0:0]:fall", 10.0),
        ("x:y", "x:y:fall", 20.0),
    ],
)
def test_a_wire_is_its_whole_name(begin: str, end: str, wanted: float, tmp_path: Path) -> None:
    file = written(tmp_path, HEADER)
    run = run_of(imported(file, begin, end), file)
    assert run.samples(run.record(10), 0).tolist() == [wanted]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("twice", "2 wires have the name top.twice"),
        ("a", "a could be any of top.a [0], top.a [1]"),
        ("b", "Channels of one bit: top.a [0], top.a [1], top.busy [0:0]"),
        ("busy:up", "no edge `up`"),
    ],
)
def test_a_name_of_several_wires_is_refused(name: str, said: str, tmp_path: Path) -> None:
    answer = imported(written(tmp_path, HEADER), name, name)
    assert answer.returncode == 2
    assert said in " ".join(answer.stderr.split())
    assert not (tmp_path / "runs").exists()


def test_two_channels_of_one_name_in_a_session_are_refused(tmp_path: Path) -> None:
    """The last one was read."""
    file = tmp_path / "capture"
    file.write_bytes(session(names=("D0", "D0")))
    answer = imported(file, "D0", "D0")
    assert answer.returncode == 2 and "2 wires have the name D0" in answer.stderr


# ---- notation -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rise", "fall"), [("b1 !", "b0 !"), ("B1\t!", "0!"), ("1!", "b0000 !"), ("b01\n!", "0!")]
)
def test_one_bit_as_a_vector_is_a_level(rise: str, fall: str, tmp_path: Path) -> None:
    header = "$timescale 1 ns $end $var wire 1 ! a $end $var wire 8 b1 bus $end\n"
    header += "$enddefinitions $end\n"
    changes = "".join(f"#{at} b1 b1\n{rise}\n#{at + 7} {fall}\n" for at in range(10, 400, 20))
    file = written(tmp_path, f"{header}#0 {fall} b0 b1\n{changes}")
    run = run_of(imported(file, "a", "a"), file)
    assert run.samples(run.record(10), 0).tolist() == [7.0] * 20


@pytest.mark.parametrize("value", ["b10 !", "b1x0 !", "r1 !"])
def test_a_value_of_several_bits_for_one_is_damage(value: str, tmp_path: Path) -> None:
    answer = imported(written(tmp_path, HEADER + f"#90 {value}\n#99 0!\n"), "a [0]", "a [0]")
    assert answer.returncode == 2
    assert "value of more than one bit" in answer.stderr


def test_a_vector_without_its_space_is_damage(tmp_path: Path) -> None:
    """The next word, a time, was taken as its identifier."""
    answer = imported(written(tmp_path, HEADER + "#90 b1!\n#99 0!\n"), "a [0]", "a [0]")
    assert answer.returncode == 2
    assert "`b1!` is no change of a value" in answer.stderr


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("$timescale 1 ns $end $var port 1 <0 D0 $end $enddefinitions $end\n", "an extended VCD"),
        (HEADER.replace("1 ns", "3 ns"), "has no $timescale of 1, 10 or 100"),
        ("$timescale 1 ns $end $var event 1 ! D0 $end $enddefinitions $end\n", "not a channel"),
    ],
)
def test_what_has_no_levels_is_refused(text: str, said: str, tmp_path: Path) -> None:
    answer = imported(written(tmp_path, text), "D0", "D0")
    assert answer.returncode == 2
    assert said in answer.stderr


def test_no_sample_spans_a_gap_of_the_recording(tmp_path: Path) -> None:
    """While $dumpoff is in force, marks are lost: a BEGIN before it has no END behind it."""
    text = '#100 1! #105 $dumpoff x! x" $end #900 $dumpon 0! 0" $end\n#910 1" #915 0"\n'
    file = written(tmp_path, HEADER + text + '#950 1! #960 1"\n')
    run = run_of(imported(file, "a [0]:rise", "a [1]:rise"), file)
    record = run.record(10)
    assert run.samples(record, 0).tolist() == [10.0, 10.0]
    lane = record.lanes[0]
    assert (lane.planned, lane.taken, lane.not_measured) == (3, 2, 1)
    (warning,) = [entry for entry in run.manifest.warnings if entry.code == "capture-gaps"]
    assert "1 gaps" in warning.message and "1 samples" in warning.message


# ---- times --------------------------------------------------------------------------------------


@pytest.mark.parametrize("header", ["Time,D0,D1", "timestamp,D0,D1", "stamp,D0,D1", "t,D0,D1", ""])
def test_times_without_a_unit_are_asked_for_and_the_remedy_works(
    header: str, tmp_path: Path
) -> None:
    """Nanoseconds under `Time` were read as seconds."""
    text = writers.table(header, lambda ns: f"{ns:.0f}").lstrip("\n")
    file = written(tmp_path, text)
    answer = imported(file, "D0", "D1")
    assert answer.returncode == 2
    assert "have no unit" in answer.stderr and not (tmp_path / "runs").exists()
    offered = dict(
        re.findall(r"--unit (\w+) \(it lasts ([^)]+)\)", " ".join(answer.stderr.split()))
    )
    assert offered["ns"] == "197 us" and "s" not in offered
    run = run_of(imported(file, "D0", "D1", ("--unit", "ns")), file)
    assert run.samples(run.record(10), 0) == pytest.approx(LENGTHS, abs=1.01)


@pytest.mark.parametrize(
    ("header", "factor"),
    [
        ("Time (ms),D0,D1", 1e-6),
        ("time_us,D0,D1", 1e-3),
        ("Time [µs],D0,D1", 1e-3),
        ("micros(),D0,D1", 1e-3),
        ("TIME_NS,D0,D1", 1.0),
        ("Timestamp (s),D0,D1", 1e-9),
    ],
)
def test_a_unit_in_the_name_of_the_column_is_read(
    header: str, factor: float, tmp_path: Path
) -> None:
    file = written(tmp_path, writers.table(header, lambda ns: f"{ns * factor:.12f}"))
    run = run_of(imported(file, "D0", "D1"), file)
    assert run.samples(run.record(10), 0) == pytest.approx(LENGTHS, abs=1.01)
    assert imported(file, "D0", "D1", ("--unit", "ns")).returncode == 2


def test_a_sample_rate_does_not_replace_a_unit(tmp_path: Path) -> None:
    for name in ("timestamp", "Time"):
        file = written(tmp_path, writers.table(f"{name},D0,D1", lambda ns: f"{ns * 1e-3:.0f}"))
        answer = imported(file, "D0", "D1", ("--sample-rate", "24MHz"))
        assert answer.returncode == 2 and "dd" in answer.stderr and "--unit" in answer.stderr


@pytest.mark.parametrize("name", ["sigrok CSV 0.5.2", "PulseView CSV", "Digilent CSV"])
def test_a_rate_that_the_file_states_is_left_out(name: str, tmp_path: Path) -> None:
    writer = WRITERS[name]
    file = written(tmp_path, writer.text())
    answer = imported(file, writer.begin, writer.end, ("--sample-rate", "24MHz"))
    assert answer.returncode == 2
    assert answer.stderr.rstrip().endswith("Leave out --sample-rate")


@pytest.mark.parametrize("time", [writers.truncated, writers.floored])
def test_times_of_libsigrok_called_time_are_read_by_the_rate(
    time: Callable[[int], int], tmp_path: Path
) -> None:
    """With `header=false:label=channel`, 41 ns of version 0.5.2 look like nanoseconds."""
    text = writers.sigrok_csv("0.5.2", time, label="Time").partition("MHz\n")[2]
    file = written(tmp_path, text)
    if time is writers.truncated:
        answer = imported(file, "D0", "D1", ("--unit", "ns"))
        assert answer.returncode == 2 and "--sample-rate" in answer.stderr
    run = run_of(imported(file, "D0", "D1", ("--sample-rate", "24MHz")), file)
    assert run.samples(run.record(10), 0) == pytest.approx(LENGTHS, abs=1e-6)


def test_times_of_libsigrok_without_notes_need_the_rate(tmp_path: Path) -> None:
    """41 ns at 24 MHz in version 0.5.2."""
    file = written(tmp_path, WRITERS["sigrok CSV, rate given"].text())
    answer = imported(file, "D0", "D1")
    assert answer.returncode == 2 and "--sample-rate" in answer.stderr


def test_too_few_times_for_the_version_are_refused(tmp_path: Path) -> None:
    """0 and 82 ns: two periods of 41 ns, or two of 41.67 ns cut to 82? 83 would be the other."""
    head = writers.sigrok_csv("0.6.0", writers.floored).partition("0,0,0")[0]
    rows = "0,0,0\n41,1,0\n41000,0,1\n"  # 41 * 1000 and floor(984 * 41.67)
    answer = imported(written(tmp_path, head + rows), "D0", "D1")
    assert answer.returncode == 2 and "which version of libsigrok" in answer.stderr


@pytest.mark.parametrize("note", ["", "; Samplerate: 24 MHz\n"])
def test_a_rate_for_rows_that_are_changes_is_refused(note: str, tmp_path: Path) -> None:
    text = note + "D0,D1\n" + "".join(f"{a},{b}\n" for _, a, b in writers.rows())
    options = () if note else ("--sample-rate", "24MHz")
    answer = imported(written(tmp_path, text), "D0", "D1", options)
    assert answer.returncode == 2
    assert "rows are changes, not samples" in answer.stderr
    assert not (tmp_path / "runs").exists()


def test_a_time_that_is_too_large_is_not_called_early(tmp_path: Path) -> None:
    text = "Time [s],D0,D1\n0,0,0\n1000,1,0\n4651000,0,1\n"
    answer = imported(written(tmp_path, text), "D0", "D1")
    assert answer.returncode == 2 and "is the unit of the times right?" in answer.stderr


def test_dates_are_refused_with_what_to_export(tmp_path: Path) -> None:
    text = "Time,D0,D1\n2026-11-26T10:00:00.000001,0,0\n2026-11-26T10:00:00.000002,1,0\n"
    answer = imported(written(tmp_path, text), "D0", "D1")
    assert answer.returncode == 2 and "Export the times in seconds" in answer.stderr


def test_six_digits_are_a_step_that_grows(tmp_path: Path) -> None:
    """Printed with %g, 1.23457 s has steps of 10 us, however fine the clock was."""
    text = writers.table("Time [s],D0,D1", lambda ns: f"{1.2 + ns * 1e-9:g}")
    file = written(tmp_path, text)
    imported(file, "D0", "D1")
    (folder,) = (tmp_path / "runs").iterdir()
    resolution = read_run(folder).manifest.clock.resolution
    assert resolution is not None and resolution.min == pytest.approx(1e4)


def test_what_the_step_hides_is_not_decided(tmp_path: Path) -> None:
    """A pulse of 222 ns at 24 MHz and at 500 MHz; with a step of 1 ns, it was 6 % worse."""
    rng = np.random.default_rng(1)
    begins = np.cumsum(rng.uniform(16e3, 24e3, 300))
    edges = np.stack([begins, begins + 222.0], axis=1).ravel()
    for rate in (24e6, 500e6):
        seen = np.ceil(edges * rate * 1e-9) / rate
        rows = "".join(f"{at:.9f},{1 - number % 2}\n" for number, at in enumerate(seen))
        file = written(tmp_path, f"Time [s],Channel 0\n0.000000000,0\n{rows}")
        imported(file, "Channel 0", "Channel 0")
    base, new = sorted((tmp_path / "runs").iterdir())
    answer = kadenz("compare", str(base), str(new), "--threshold", "5%")
    assert answer.returncode == 4, answer.stdout
    assert "use a finer clock" in " ".join(answer.stdout.split())
