# SPDX-License-Identifier: Apache-2.0
"""Edge times with practical defects: missing edges at any rate, wrong order, coarse clocks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from kadenz.analysis.jitter_views import jitter_of_edges
from kadenz.analysis.series_file import read_series
from kadenz.cli.jitter import jitter
from kadenz.errors import UsageError
from kadenz.stats.cycles import MOST_MISSING, MOST_RATE_PPM, cycle_numbers
from kadenz.stats.errors import Undefined
from kadenz.stats.samples import Array, Ints

N = 20_000


def planted(
    seed: int, ppm: float, missing: int, n: int = N, sd: float = 600.0
) -> tuple[Array, Ints]:
    """Times in ns of n edges, every 1 ms with a rate error, without `missing` others."""
    rng = np.random.default_rng(seed)
    cycles = np.sort(rng.choice(n + missing, n, replace=False))
    times = cycles * 1e6 * (1.0 + ppm * 1e-6) + rng.normal(0.0, sd, n)
    return np.round(times).astype(np.int64), cycles.astype(np.int64)


def alone(file: Path, *options: str) -> tuple[int, str]:
    result = CliRunner().invoke(jitter, [str(file), "--period-us", "1000", *options])
    if isinstance(result.exception, UsageError):
        return 2, f"{result.exception.message}. {result.exception.remedy}"
    return result.exit_code, result.output


# ---- missing edges ------------------------------------------------------------------------------


@pytest.mark.parametrize("ppm", [0.0, 500.0, 1_900.0, 3_012.4, -8_000.0])
@pytest.mark.parametrize("numbered", [True, False])
def test_one_missing_edge_neither_changes_the_rate_nor_makes_a_wave(
    ppm: float, numbered: bool
) -> None:
    """At 3,012.4 ppm the given numbers were once overruled by aliased ones: -890.3 ppm."""
    times, cycles = planted(1, ppm, 1)
    edge_jitter, _ = jitter_of_edges(times, 1000.0, 1e-3, cycles=cycles if numbered else None)
    assert edge_jitter.rate_error_ppm.value == pytest.approx(ppm, abs=0.05)
    assert edge_jitter.holes == int(cycles[-1] - cycles[0]) + 1 - N
    assert not edge_jitter.disturbances.waves and not edge_jitter.disturbances.periodic


@pytest.mark.parametrize("ppm", [-0.95 * MOST_RATE_PPM, 0.95 * MOST_RATE_PPM, 3_012.4, 17.0])
@pytest.mark.parametrize("share", [1 / N, 0.1, 0.93 * MOST_MISSING])
@pytest.mark.parametrize("sd", [1e3, 8e4])
def test_cycles_are_counted_correctly_over_the_stated_range(
    ppm: float, share: float, sd: float
) -> None:
    missing = round(share / (1.0 - share) * N)
    times, cycles = planted(2, ppm, missing, sd=sd)
    times = np.sort(times)
    assert (cycle_numbers(times, 1e6) == cycles - cycles[0]).all()


@pytest.mark.parametrize(
    ("ppm", "missing", "said"), [(2.2e4, 1, "ppm from the period"), (0.0, 12_000, "are missing")]
)
def test_beyond_the_range_missing_cycles_are_not_counted(
    ppm: float, missing: int, said: str
) -> None:
    times, cycles = planted(3, ppm, missing)
    with pytest.raises(Undefined, match=said) as caught:
        jitter_of_edges(times, 1000.0, 1e-3)
    assert caught.value.cause == "missing"
    edge_jitter, _ = jitter_of_edges(times, 1000.0, 1e-3, cycles=cycles)
    assert edge_jitter.rate_error_ppm.value == pytest.approx(ppm, abs=0.1), (
        "numbers need no counting"
    )


def test_cycle_numbers_are_corrected_where_the_times_contradict_them() -> None:
    times, cycles = planted(4, 3_012.4, 5)
    times[7_000:] += round(3 * 1e6 * 1.0030124)
    times[15_000:] += round(2 * 1e6 * 1.0030124)
    edge_jitter, _ = jitter_of_edges(times, 1000.0, 1e-3, cycles=cycles)
    assert edge_jitter.rate_error_ppm.value == pytest.approx(3_012.4, abs=0.05)
    assert "at edge 7,000 (from 0): +5 cycles there and in 1 more place," in edge_jitter.notes[0]


def test_a_spurious_edge_is_not_counted_as_a_cycle() -> None:
    times, _ = planted(5, 20.0, 0)
    times = np.insert(times, 9_000, times[9_000] - 470_000)
    with pytest.raises(Undefined, match="no count of cycles explains"):
        jitter_of_edges(times, 1000.0, 1e-3)


def test_relative_sleeps_are_reported_with_the_place_of_the_shift() -> None:
    """The estimate was once 27.7 ppm instead of 50, with an interval that excluded 50."""
    times, _ = planted(12, 50.0, 0)
    quiet, _ = jitter_of_edges(times, 1000.0, 1e-3)
    assert quiet.notes == ()
    times[9_000:] += 300_000
    edge_jitter, _ = jitter_of_edges(times, 1000.0, 1e-3)
    assert (
        "at edge 9,000 (from 0) the times shift permanently by +0.3 periods" in edge_jitter.notes[0]
    )


@pytest.mark.parametrize("sd", [600.0, 5e4])
def test_late_edges_and_outages_cause_no_permanent_shift(sd: float) -> None:
    times, cycles = planted(13, -70.0, 0, sd=sd)
    times = np.sort(times)
    times[5_000:5_005] += np.array([900, 700, 500, 300, 200]) * 900
    times[12_000:] += 5_000 * 999_930
    edge_jitter, _ = jitter_of_edges(np.sort(times), 1000.0, 1e-3)
    assert not any("permanently" in note for note in edge_jitter.notes)
    assert edge_jitter.holes == 5_000
    assert edge_jitter.rate_error_ppm.covers(-70.0)


# ---- order --------------------------------------------------------------------------------------


@pytest.mark.parametrize("missing", [0, 3])
@pytest.mark.parametrize("kind", [np.int64, np.uint64, np.float64])
def test_two_swapped_edges_are_an_error_that_names_their_place(
    tmp_path: Path, missing: int, kind: type
) -> None:
    """The estimate was once 17.13 ppm instead of 17.30."""
    times, cycles = planted(6, 17.3, missing)
    times[[4_000, 4_001]] = times[[4_001, 4_000]]
    np.save(tmp_path / "swapped.npy", times.astype(kind))
    code, said = alone(tmp_path / "swapped.npy")
    assert code == 2 and "edge 4,001 (from 0) is earlier than the one before it" in said
    assert "sort the rows by time" in said
    with pytest.raises(Undefined, match="edge 4,001"):
        jitter_of_edges(times, 1000.0, 1e-3, cycles=cycles)


# ---- coarse clocks ------------------------------------------------------------------------------


def coarse(seed: int, ratio: float, n: int = N, sd: float = 300.0) -> Array:
    """ns on a clock whose step is `ratio` sd of the jitter, with a rate error."""
    rng = np.random.default_rng(seed)
    times = np.arange(n) * 1e6 * (1.0 + rng.uniform(-100.0, 100.0) * 1e-6) + rng.normal(0, sd, n)
    step = round(ratio * sd)
    return np.asarray(np.floor(times / step).astype(np.int64) * step)


@pytest.mark.parametrize("ratio", [3.3, 10.0])
def test_the_beat_of_a_coarse_clock_is_reported_as_clock_step(ratio: float) -> None:
    """Steps of 3.3 sd were once reported as a wave in 39 of 40 series."""
    beats = 0
    for seed in range(8):
        edge_jitter, _ = jitter_of_edges(coarse(seed, ratio), 1000.0, 1e-3)
        beats += len(edge_jitter.disturbances.waves)
        assert all(wave.of_step for wave in edge_jitter.disturbances.waves)
    assert beats >= 7, "the beat is there"


def test_a_real_wave_on_a_coarse_clock_stays_a_wave() -> None:
    times = coarse(1, 3.3) + np.round(400.0 * np.sin(np.arange(N) / 47.3 * 2.0 * np.pi)).astype(int)
    times = times // 990 * 990
    edge_jitter, _ = jitter_of_edges(times, 1000.0, 1e-3)
    real = [wave for wave in edge_jitter.disturbances.waves if not wave.of_step]
    assert len(real) == 1 and real[0].every == pytest.approx(47.3, rel=1e-3)


def test_the_output_names_the_clock_step(tmp_path: Path) -> None:
    np.save(tmp_path / "coarse.npy", coarse(2, 3.3))
    code, said = alone(tmp_path / "coarse.npy")
    assert code == 0 and "beats with the period; not a disturbance" in said
    assert "wave " not in said


# ---- types and text -----------------------------------------------------------------------------


def test_float32_times_are_refused_with_their_step(tmp_path: Path) -> None:
    times, _ = planted(7, 20.0, 0, n=5_000)
    np.save(tmp_path / "single.npy", times.astype(np.float32))
    code, said = alone(tmp_path / "single.npy")
    assert code == 2 and "float32" in said and "float64" in said
    assert "where their step is" in said


def test_float32_latencies_are_exact_enough(tmp_path: Path) -> None:
    late = np.random.default_rng(8).exponential(2e4, 5_000).astype(np.float32)
    np.save(tmp_path / "late.npy", late)
    code, said = alone(tmp_path / "late.npy", "--kind", "latencies")
    assert code == 0 and "wave" not in said


def test_seconds_since_the_epoch_keep_their_digits_in_text(tmp_path: Path) -> None:
    """In float64 their step would be 238 ns."""
    times, _ = planted(9, 20.0, 0, n=5_000, sd=50.0)
    lines = [
        f"17320{value // 10**9 + 10_000:05d}.{value % 10**9:09d}" for value in times - times[0]
    ]
    (tmp_path / "epoch.csv").write_text("\n".join(lines))
    code, said = alone(tmp_path / "epoch.csv", "--unit", "s", "--json")
    assert code == 0 and "step is" not in said
    values = read_series(tmp_path / "epoch.csv").values
    exact = (values - values[0]).astype(np.float64) * 1e9
    assert np.abs(exact - (times - times[0])).max() < 0.5


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1000,5\n2000,7\n", "decimal comma, or two columns"),
        ("t\n1000,5\n2000,7\n", "line 2: 2 columns, 1 before"),
        ("1.000,5;3\n2.000,7;4\n", "line 1: “1.000,5”"),
        ("t;n\n1000,5;1\n20_00,5;2\n", "line 3: “20_00,5”"),
        ("1000\n2000\nNaN\n", "line 3: “NaN”"),
    ],
)
def test_an_ambiguous_decimal_comma_is_refused_with_its_line(
    tmp_path: Path, text: str, said: str
) -> None:
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(UsageError, match=said):
        read_series(tmp_path / "a.csv")


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("1000,5;3\n2000,25;4\n", "0"),
        ("n;t\n3;1000,5\n4;2000,25\n", "t"),
        ("1000,5\t3\n2000,25\t4\n", ""),
        ("1000,5 3\n2000,25 4\n", ""),
        ("time, ms;n\n1000,5;3\n2000,25;4\n", "time, ms"),
        ("\ufeff1000.5;3\n2000.25;4\n", ""),
        ("1000.5,3\n2000.25,4\n", ""),
    ],
)
def test_decimal_commas_are_read_if_another_character_separates(
    tmp_path: Path, text: str, column: str, end: str
) -> None:
    (tmp_path / "a.csv").write_bytes(text.replace("\n", end).encode())
    values = read_series(tmp_path / "a.csv", column=column).values
    assert values.tolist() == [1000.5, 2000.25]


def test_times_given_as_latencies_are_refused(tmp_path: Path) -> None:
    times, _ = planted(10, 20.0, 0, n=2_000)
    np.save(tmp_path / "times.npy", times)
    code, said = alone(tmp_path / "times.npy", "--kind", "latencies")
    assert code == 2 and "these are times" in said and "--kind edges" in said


def test_latencies_longer_than_the_period_suggest_checking_the_unit(tmp_path: Path) -> None:
    np.save(tmp_path / "late.npy", np.random.default_rng(11).exponential(2e4, 2_000))
    code, said = alone(tmp_path / "late.npy", "--kind", "latencies", "--unit", "us")
    assert code == 0 and "longer than the period: check --unit" in said
