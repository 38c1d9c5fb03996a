# SPDX-License-Identifier: Apache-2.0
"""The control application under arm64 and riscv64, compiled here for them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kadenz.config import inventory
from kadenz.config.campaign import Benchmark
from kadenz.config.target_name import parse_target
from kadenz.store import Run, read_run
from tests.guest.conftest import compiled_here, measured

pytestmark = pytest.mark.counted

ISAS = ("aarch64", "riscv64")
EDGES = Benchmark(name="ethercat/edge-jitter", samples=300, params={"period_us": 1000})
MOTION = Benchmark(
    name="motion/response-time", samples=300, params={"period_us": 1000, "priority": 90}
)


def run_of(text: str, output: Path, benchmark: Benchmark, *, fresh: bool = False) -> Run:
    compiled_here(text)
    result = measured(text, output, benchmark=benchmark, fresh=fresh)
    assert result.folder is not None
    return read_run(result.folder)


def samples_of(run: Run, bench: str) -> list[bytes]:
    """Of each record of a benchmark, which has to be whole."""
    records = [record for record in run.manifest.records if record.bench == bench]
    assert records and all(record.status == "ok" for record in records), [
        record.reason for record in records
    ]
    return [np.asarray(run.samples(record)).tobytes() for record in records]


@pytest.mark.parametrize("isa", ISAS)
def test_a_program_of_another_instruction_set_moves_the_axes(isa: str, tmp_path: Path) -> None:
    run = run_of(f"linux-rt/indy7-{isa}@guest", tmp_path, MOTION)
    samples_of(run, MOTION.name)
    assert run.manifest.target.settings["scheduling"] == "SCHED_FIFO"
    build = run.manifest.build
    assert build is not None
    assert {"kernel", "guest", "kadenz-motion", "kdl", "libraries"} <= {
        part.part for part in build.parts
    }
    assert f"{isa}-linux-gnu-g++" in build.compiler_version


@pytest.mark.long
@pytest.mark.parametrize("isa", ISAS)
def test_two_boots_of_another_instruction_set_move_the_axes_the_same(
    isa: str, tmp_path: Path
) -> None:
    text = f"linux-rt/indy7-{isa}@guest"
    first = run_of(text, tmp_path / "a", MOTION)
    second = run_of(text, tmp_path / "b", MOTION, fresh=True)
    assert samples_of(first, MOTION.name) == samples_of(second, MOTION.name)


@pytest.mark.parametrize("isa", ISAS)
def test_every_pulse_of_another_instruction_set_is_seen_outside_of_the_guest(
    isa: str, tmp_path: Path
) -> None:
    run = run_of(f"linux-rt/terminals-{isa}@guest", tmp_path, EDGES)
    samples_of(run, EDGES.name)
    (record,) = [record for record in run.manifest.records if record.bench == EDGES.name]
    (lane,) = [entry for entry in record.lanes if entry.name == "departure"]
    assert (lane.taken, lane.missed) == (EDGES.samples, 0)
    late = np.asarray(run.samples(record, lane), np.float64) - np.arange(EDGES.samples) * 1e6
    assert np.abs(late - np.median(late)).max() < 10_000


@pytest.mark.parametrize("isa", ["x86_64", *ISAS])
def test_boards_of_one_application_differ_in_their_machine_alone(isa: str) -> None:
    for board in ("indy7", "terminals"):
        tiers = [inventory.board(f"{board}-{kind}").tier.guest for kind in ("x86_64", isa)]
        programs = [tier.program for tier in tiers if tier is not None and tier.program is not None]
        assert len(programs) == 2
        keys = ("crate", "modules", "wire", "arguments", "ring", "output")
        first, second = ([getattr(program, key) for key in keys] for program in programs)
        assert first == second
        assert parse_target(f"linux-rt/{board}-{isa}@guest").board == f"{board}-{isa}"
