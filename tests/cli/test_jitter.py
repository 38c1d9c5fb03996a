# SPDX-License-Identifier: Apache-2.0
"""Input that `kadenz jitter` refuses, with a remedy."""

from __future__ import annotations

import resource
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from kadenz.cli.jitter import jitter
from kadenz.errors import UsageError


def refused(*arguments: str | Path) -> UsageError:
    """The error of `kadenz jitter`."""
    result = CliRunner().invoke(
        jitter, ["--period-us", "1000", "--kind", "latencies", *map(str, arguments)]
    )
    assert isinstance(result.exception, UsageError), result.output
    return result.exception


@pytest.fixture
def late(tmp_path: Path) -> Path:
    """3000 latencies, 20 + Exp(1)."""
    file = tmp_path / "late.npy"
    np.save(file, 20.0 + np.random.default_rng(1).exponential(1.0, 3_000))
    return file


@pytest.mark.parametrize(
    ("option", "value"), [("--limit", "nan"), ("--limit", "inf"), ("--period-us", "inf")]
)
def test_non_finite_values_are_refused(late: Path, option: str, value: str) -> None:
    assert f"{option} {value}: no" in refused(late, option, value).message


def test_cycle_numbers_that_are_times_do_not_allocate_their_span(tmp_path: Path) -> None:
    """3000 cycles numbered in ns: an array over their span would take 11 GiB."""
    rows = np.column_stack((np.arange(3_000) * 1_000_000, 100 + np.arange(3_000) % 7))
    np.save(tmp_path / "times.npy", rows)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    error = refused(tmp_path / "times.npy", "--column", "1", "--cycles", "0")
    assert "spread over 2,999,000,001 cycles" in error.message
    assert error.remedy.startswith("Is --cycles a time?")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000  # KiB


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--window", "0"], "--window counts cycles"),
        (["--window", "3001"], "--window counts cycles"),
        (["--kind", "edges"], "--period-us; use `--kind latencies`"),
        (["--kind", "edges", "--period-us", "1e-9"], "--period-us"),
    ],
)
def test_the_remedy_matches_the_problem(late: Path, arguments: list[str], said: str) -> None:
    error = refused(late, *arguments)
    assert said in error.remedy
    assert ("--unit" in error.remedy) == ("--window" not in arguments)


def test_decreasing_edges_may_be_latencies(tmp_path: Path) -> None:
    times = np.arange(3_000) * 1_000_000
    times[70:] -= 1_000_001
    np.save(tmp_path / "edges.npy", times)
    error = refused(tmp_path / "edges.npy", "--kind", "edges")
    assert "edge 70" in error.message and "each later than the previous one" in error.remedy


def test_too_few_samples_are_not_blamed_on_units(tmp_path: Path) -> None:
    np.save(tmp_path / "few.npy", np.arange(50.0))
    error = refused(tmp_path / "few.npy")
    assert "50 samples" in error.message
    assert error.remedy == "Give a series of 1,000 cycles or more"


def test_a_binary_file_is_refused_with_the_expected_format(tmp_path: Path) -> None:
    (tmp_path / "trace.bin").write_bytes(b"1\n2\n\xff\xfe\x00")
    error = refused(tmp_path / "trace.bin")
    assert "byte 4 is not UTF-8" in error.message
    assert "numpy.save" in error.remedy


@pytest.mark.parametrize("kind", ["edges", "latencies", "periods"])
def test_samples_whose_squares_overflow_are_refused(kind: str, tmp_path: Path) -> None:
    values = np.arange(3_000) * 1e6
    values[70] = 1e300
    np.save(tmp_path / "large.npy", values)
    error = refused(tmp_path / "large.npy", "--kind", kind)
    assert f"{kind}: samples beyond 1e+60" in error.message and error.remedy
