# SPDX-License-Identifier: Apache-2.0
"""A series of another kind than was said is refused with a command that works, or converted."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from kadenz.analysis.series_file import read_series
from kadenz.cli.jitter import jitter
from kadenz.errors import UsageError
from kadenz.stats.samples import Floats

N = 6_000
PPM = -100.0


def kadenz_jitter(file: Path, *options: str) -> tuple[int, str]:
    """Exit code and output; the words of an error and its remedy."""
    result = CliRunner().invoke(jitter, [str(file), "--period-us", "1000", *options])
    if isinstance(result.exception, UsageError):
        return 2, f"{result.exception.message}. {result.exception.remedy}"
    assert result.exception is None, result.exception
    return result.exit_code, result.output


def lateness(seed: int = 1, n: int = N) -> Floats:
    """In us: 20 with an sd of 2, and ten late by 50 to 150."""
    rng = np.random.default_rng(seed)
    late = 20.0 + rng.normal(0.0, 2.0, n)
    late[rng.choice(n, 10, replace=False)] += rng.uniform(50.0, 150.0, 10)
    return np.asarray(late)


def edges_us() -> Floats:
    return np.asarray(np.arange(N) * 1e3 * (1.0 + PPM * 1e-6) + lateness())


def text(folder: Path, values: Iterable[float], form: str = "{:.3f}") -> Path:
    file = folder / "series.txt"
    file.write_text("".join(form.format(value) + "\n" for value in values))
    return file


# ---- periods ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["latencies", "edges"])
def test_measured_periods_are_refused_and_the_remedy_gives_the_jitter(
    kind: str, tmp_path: Path
) -> None:
    """As latencies: no rate error, an sd of sqrt(2) times the jitter, two events for one."""
    file = text(tmp_path, np.diff(edges_us()))
    code, said = kadenz_jitter(file, "--unit", "us", "--kind", kind)
    assert code == 2 and "these are measured periods" in said and "Use --kind periods" in said
    code, said = kadenz_jitter(file, "--unit", "us", "--kind", "periods", "--json")
    row = json.loads(said)["jitter"]
    assert row["n"] == N
    assert row["rate_error_ppm"] == pytest.approx(PPM, abs=0.1)
    assert row["sd"] == pytest.approx(float(np.std(lateness())), rel=0.02)
    assert row["events"] == pytest.approx(10, abs=3)


def test_periods_of_a_relative_sleep_get_a_note(tmp_path: Path) -> None:
    """Each period stands alone there: no surplus is taken back."""
    file = text(tmp_path, 1_060.0 + np.random.default_rng(2).exponential(3.0, N))
    code, said = kadenz_jitter(file, "--unit", "us", "--kind", "latencies")
    assert code == 0 and "if these are measured periods, use --kind periods" in said


def test_a_missed_pass_is_a_missing_cycle_and_not_a_late_one(tmp_path: Path) -> None:
    file = text(tmp_path, np.diff(np.delete(edges_us(), [100, 2_000, 2_001])))
    code, said = kadenz_jitter(file, "--unit", "us", "--kind", "periods", "--json")
    assert code == 0 and json.loads(said)["jitter"]["missing_cycles"] == 3


def test_differences_of_latencies_are_refused(tmp_path: Path) -> None:
    """Period less the nominal one, as many loops print it."""
    file = text(tmp_path, np.diff(lateness()))
    code, said = kadenz_jitter(file, "--unit", "us", "--kind", "latencies")
    assert code == 2 and "differences of successive latencies" in said
    file = text(tmp_path, np.diff(lateness()) + 1_000.0)  # as the remedy says
    assert kadenz_jitter(file, "--unit", "us", "--kind", "periods")[0] == 0


@pytest.mark.parametrize(
    "make",
    [
        lambda rng: rng.exponential(5.0, N),
        lambda rng: 5.0 + rng.normal(0.0, 1.0, N),
        lambda rng: 5.0 + 3.0 * (np.arange(N) % 2) + rng.normal(0.0, 1.0, N),
        lambda rng: np.array([9.0, 10.0, 70.0, 11.0])[np.arange(N) % 4] + rng.normal(0.0, 1.0, N),
        lambda rng: np.cumsum(rng.normal(0.0, 1.0, N)) + 200.0,
        lambda rng: 5.0 + np.convolve(rng.normal(0.0, 1.0, N + 9), np.ones(10), "valid"),
        lambda rng: rng.pareto(2.0, N),
    ],
)
def test_latencies_of_every_shape_are_latencies(
    make: Callable[[np.random.Generator], Floats], tmp_path: Path
) -> None:
    file = text(tmp_path, make(np.random.default_rng(3)))
    assert kadenz_jitter(file, "--unit", "us", "--kind", "latencies")[0] == 0


@pytest.mark.parametrize(
    ("kind", "values", "remedy"),
    [
        ("periods", lateness(), "use --kind latencies"),
        ("periods", edges_us(), "--kind edges if they are times"),
        ("latencies", edges_us(), "Use --kind edges"),
        ("latencies", np.maximum.accumulate(np.floor(edges_us() / 5e3)), "counts are no series"),
    ],
)
def test_the_remedy_names_the_right_kind(
    kind: str, values: Floats, remedy: str, tmp_path: Path
) -> None:
    code, said = kadenz_jitter(text(tmp_path, values), "--unit", "us", "--kind", kind)
    assert code == 2 and remedy in said


def test_periods_have_no_cycle_numbers(tmp_path: Path) -> None:
    file = text(tmp_path, np.diff(edges_us()))
    code, said = kadenz_jitter(file, "--unit", "us", "--kind", "periods", "--cycles", "0")
    assert code == 2 and "Leave out --cycles" in said


# ---- output of cyclictest -----------------------------------------------------------------------

BASE = (9.0, 10.0, 70.0, 11.0)


def verbose(threads: int = 4, n: int = 1_200) -> str:
    late = np.random.default_rng(4).exponential(1.0, (n, threads)) + np.array(BASE[:threads])
    rows = [
        f"{thread:8d}:{cycle:8d}:{round(late[cycle, thread]):8d}"
        for cycle in range(n)
        for thread in range(threads)
    ]
    head = ["Max CPUs = 4", "Online CPUs = 4", "# /dev/cpu_dma_latency set to 0us"]
    return "\n".join([*head, "Thread 0 Interval: 1000", *rows, ""])


COLUMNS = ("--unit", "us", "--kind", "latencies", "--column", "2", "--cycles", "1")


def test_threads_of_cyclictest_are_series_of_their_own(tmp_path: Path) -> None:
    """Together they were one series with a wave of four cycles."""
    file = tmp_path / "verbose.txt"
    file.write_text(verbose())
    code, said = kadenz_jitter(file, *COLUMNS)
    assert code == 2 and "the rows are of 4 threads (column thread)" in said
    offered = re.findall(r"(--only) (thread=\d)", said)
    assert len(offered) == 4
    for thread, option in enumerate(offered):
        values = read_series(file, column="2", cycles="1", only=option[1]).values
        assert float(np.median(values)) == pytest.approx(BASE[thread] + 1.0, abs=1.0)
        assert kadenz_jitter(file, *COLUMNS, *option)[0] == 0


@pytest.mark.parametrize("columns", [(), ("--column", "2", "--cycles", "1")])
def test_one_thread_of_cyclictest_needs_no_choice(columns: tuple[str, ...], tmp_path: Path) -> None:
    file = tmp_path / "verbose.txt"
    file.write_text(verbose(threads=1))
    code, said = kadenz_jitter(file, "--unit", "us", "--kind", "latencies", *columns)
    assert code == 0 and "1,200 wake-ups" in said and "wave" not in said


@pytest.mark.parametrize("names", ["thread,cycle,late\n", "cpu,cycle,late\n", "a,b,late\n", ""])
@pytest.mark.parametrize("turns", [True, False])
def test_threads_in_any_table_are_named(names: str, turns: bool, tmp_path: Path) -> None:
    """One row of each in turn, or one thread after the other."""
    pairs = [(t, c) for c in range(1_000) for t in (3, 7)]
    rows = pairs if turns else sorted(pairs)
    file = tmp_path / "table.csv"
    file.write_text(names + "".join(f"{t},{c},{5 + (c * 7 + t) % 5}\n" for t, c in rows))
    code, said = kadenz_jitter(file, *COLUMNS)
    column = names.split(",")[0] or "0"
    assert code == 2 and f"--only {column}=3 or --only {column}=7" in said
    assert kadenz_jitter(file, *COLUMNS, "--only", f"{column}=7")[0] == 0
    code, said = kadenz_jitter(file, *COLUMNS, "--only", f"{column}=5")
    assert code == 2 and "has: 3, 7" in said


def test_columns_that_are_no_threads_are_left_alone(tmp_path: Path) -> None:
    """A phase that follows from the cycle, and flags."""
    rows = [f"{c},{c % 4},{c % 97 == 0:d},{5 + c * 7 % 5}\n" for c in range(1_500)]
    file = tmp_path / "table.csv"
    file.write_text("cycle,phase,flag,late\n" + "".join(rows))
    options = ("--unit", "us", "--kind", "latencies", "--column", "late", "--cycles", "cycle")
    assert kadenz_jitter(file, *options)[0] == 0


def histogram(comment: bool) -> str:
    counts = [0] * 8 + [558, 450, 120, 41, 9, 2] + [0] * 1_900 + [1] + [0] * 100
    rows = [f"{latency:06d} {count:06d}" for latency, count in enumerate(counts)]
    return "\n".join([*(["# Histogram"] if comment else []), *rows, ""])


@pytest.mark.parametrize("comment", [True, False])
@pytest.mark.parametrize("column", ["0", "1"])
def test_a_histogram_is_refused(comment: bool, column: str, tmp_path: Path) -> None:
    file = tmp_path / "histogram.txt"
    file.write_text(histogram(comment))
    code, said = kadenz_jitter(file, "--unit", "us", "--kind", "latencies", "--column", column)
    assert code == 2 and "a histogram" in said and "cyclictest -v" in said


def test_the_screen_of_cyclictest_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "screen.txt"
    file.write_text(
        "T: 0 ( 1234) P:80 I:1000 C:  10000 Min:      5 Act:    9 Avg:    8 Max:   70\n"
    )
    code, said = kadenz_jitter(file)
    assert code == 2 and "summary that cyclictest shows" in said


@pytest.mark.parametrize("value", [2**32 - 1, 2**32 - 17, 2**64 - 1, 2**31 - 1, 2**63 - 1])
def test_a_negative_number_without_its_sign_is_no_latency(value: int, tmp_path: Path) -> None:
    """-1 for a cycle without a latency, printed with %u."""
    values = [*map(round, lateness()), value, 21]
    code, said = kadenz_jitter(text(tmp_path, values, "{}"), "--unit", "us", "--kind", "latencies")
    assert code == 2 and f"value 6,000 (from 0) is {value:,}" in said
    assert "--cycles COLUMN" in said


# ---- counters that wrap -------------------------------------------------------------------------


@pytest.mark.parametrize("bits", [16, 24, 32])
@pytest.mark.parametrize("kind", [np.int64, np.uint32, np.float64])
def test_a_counter_that_wraps_is_continued(bits: int, kind: type, tmp_path: Path) -> None:
    """`sort the rows` was the remedy."""
    start = 2**bits - 40_000
    times = np.round(edges_us()) + start
    np.save(tmp_path / "wrapped.npy", (times % 2**bits).astype(kind))
    code, said = kadenz_jitter(tmp_path / "wrapped.npy", "--unit", "us", "--json")
    assert code == 0, said
    row = json.loads(said)["jitter"]
    assert row["rate_error_ppm"] == pytest.approx(PPM, abs=0.5) and row["missing_cycles"] == 0
    assert f"the counter wraps at 2^{bits}" in row["notes"][0]


def test_a_restart_is_not_to_be_sorted(tmp_path: Path) -> None:
    file = text(tmp_path, np.concatenate((edges_us(), edges_us())))
    code, said = kadenz_jitter(file, "--unit", "us")
    assert code == 2 and "analyse the parts separately" in said and "sort" not in said


# ---- the clock's step ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("form", "start", "step_us"),
    [("{:g}", 50.0, 100.0), ("{:g}", 0.5, 10.0), ("{:.4f}", 50.0, 100.0), ("{:.7g}", 50.0, 10.0)],
)
def test_few_digits_are_a_step_that_hides_the_jitter(
    form: str, start: float, step_us: float, tmp_path: Path
) -> None:
    """Seconds with six digits: waves of 1e-9 us, p < 1e-99, came from the rounding of float64."""
    rng = np.random.default_rng(5)
    times = start + np.arange(N) * 1e-3 + rng.exponential(1.2e-6, N)
    code, said = kadenz_jitter(text(tmp_path, times, form), "--unit", "s")
    assert code == 0, said
    assert f"the clock's step of {step_us:g} µs" in said and "nothing of the jitter" in said
    assert "wave " not in said and "periodic    none" in said
    rate = re.search(r"\[(.+), (.+)\]", said)
    assert rate is not None and float(rate[1]) < 0.0 < float(rate[2])


def test_enough_digits_hide_nothing(tmp_path: Path) -> None:
    rng = np.random.default_rng(6)
    times = 50.0 + np.arange(N) * 1e-3 + rng.exponential(1.2e-6, N)
    code, said = kadenz_jitter(text(tmp_path, times, "{:.9f}"), "--unit", "s", "--json")
    row = json.loads(said)["jitter"]
    assert code == 0 and row["sd"] == pytest.approx(1.2, rel=0.05)
    assert not any("step" in note for note in row["notes"])


@pytest.mark.parametrize("kind", [np.float64, np.int64])
def test_edges_without_any_jitter_have_no_waves(kind: type, tmp_path: Path) -> None:
    np.save(tmp_path / "exact.npy", (np.arange(N) * 1_000_003.0 + 7e12).astype(kind))
    code, said = kadenz_jitter(tmp_path / "exact.npy")
    assert code == 0 and "jitter      sd 0, 0 to 0" in said
    assert "wave " not in said and "sporadic    0 events" in said


def test_an_analyser_of_24_mhz_is_no_clock_of_1_ns(tmp_path: Path) -> None:
    rng = np.random.default_rng(7)
    step = 1e3 / 24
    times = np.arange(N) * 1e6 * (1.0 + 3e-6) + rng.normal(0.0, 15.0, N)
    np.save(tmp_path / "edges.npy", np.floor(np.floor(times / step) * step).astype(np.int64))
    code, said = kadenz_jitter(tmp_path / "edges.npy")
    match = re.search("the clock's step of ([0-9.]+) µs", said)
    assert code == 0 and match is not None, said
    assert float(match[1]) == pytest.approx(step / 1e3, rel=0.01)
    assert "wave " not in said
