# SPDX-License-Identifier: Apache-2.0
"""Profiles of a simulated core: in cycles, exact, and refused where nothing shows what retires."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from kadenz.analysis.profiles import by_function, by_kind, by_part
from kadenz.cli import cli
from kadenz.cli.folders import find_runs
from kadenz.config.profile import Profile
from kadenz.config.target_name import parse_target
from kadenz.errors import UsageError
from kadenz.lab.profile.watching import check_profiled, check_traced
from kadenz.store import Run
from kadenz.store.profiles import read_profiles

pytestmark = pytest.mark.counted
IBEX = "freertos/ibex@rtl"
FAMILIES = (
    "micro/task-switch-sampled",
    "itc/queue",
    "irq/to-task",
    "rhealstone/deadlock-break",
)
ARGUMENTS = (*FAMILIES, "--target", IBEX, "--set", "samples=6")


def measured(output: Path, command: str, *options: str) -> Run:
    answer = CliRunner().invoke(
        cli, [command, *ARGUMENTS, *options, "--output", str(output)], standalone_mode=False
    )
    assert answer.exception is None and answer.return_value == 0, answer.output
    (run,) = find_runs([output])
    return run


@pytest.fixture(scope="module")
def profiled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, list[Profile]]:
    run = measured(tmp_path_factory.mktemp("profiled"), "profile")
    return run, read_profiles(run)


def test_each_sum_is_the_sample_in_cycles(profiled: tuple[Run, list[Profile]]) -> None:
    run, profiles = profiled
    assert run.manifest.clock.clock_class == "cycle-exact"
    assert {profile.bench for profile in profiles} == set(FAMILIES)
    for profile in profiles:
        assert profile.unit == "cycle"
        record = run.record(profile.record)
        for number, lane in enumerate(profile.lanes):
            samples = run.samples(record, number).astype(np.int64)
            for view in lane.views:
                wanted = int(samples.sum() if view.sample < 0 else samples[view.sample])
                where = f"{profile.bench} {lane.lane} {view.name}"
                assert view.instructions == wanted, where
                assert sum(by_part(profile, view).values()) == wanted, where
                assert sum(by_kind(profile, view).values()) == wanted, where
                assert sum(f.instructions for f in by_function(profile, view)) == wanted, where


def test_a_profile_does_not_change_the_samples(
    profiled: tuple[Run, list[Profile]], tmp_path: Path
) -> None:
    plain = measured(tmp_path, "run", "--instrument", "scope")
    for profile in profiled[1]:
        record = profiled[0].record(profile.record)
        for number in range(len(record.series)):
            same = plain.record(profile.record)
            wanted = plain.samples(same, number).tolist()
            assert profiled[0].samples(record, number).tolist() == wanted, profile.bench


def test_the_counter_has_the_samples_less_a_constant(
    profiled: tuple[Run, list[Profile]], tmp_path: Path
) -> None:
    """The insides of BEGIN and END differ: a read of the counter, or a store of the mark."""
    counted = measured(tmp_path, "run")
    for bench in ("itc/queue", "irq/to-task"):
        (profile,) = (profile for profile in profiled[1] if profile.bench == bench)
        (other,) = (record for record in counted.manifest.records if record.bench == bench)
        scoped = profiled[0].samples(profiled[0].record(profile.record), 0).astype(np.int64)
        offsets = counted.samples(other, 0).astype(np.int64) - scoped
        assert np.unique(offsets).size == 1 and abs(int(offsets[0])) <= 8, (bench, offsets)


def test_a_load_takes_more_cycles_than_an_addition(profiled: tuple[Run, list[Profile]]) -> None:
    """Ibex without a write-back stage stalls for a load: two cycles, one for an addition."""
    profile = next(candidate for candidate in profiled[1] if candidate.bench == "itc/queue")
    typical = next(view for view in profile.lanes[0].views if view.name == "typical")
    spent = [(profile.code[number], cycles) for number, cycles in typical.code]
    least = {kind: min(c for code, c in spent if code.kind == kind) for kind in ("load", "other")}
    assert least == {"load": 2, "other": 1}


def test_the_switches_of_a_queue_are_found(profiled: tuple[Run, list[Profile]]) -> None:
    profile = next(candidate for candidate in profiled[1] if candidate.bench == "itc/queue")
    typical = next(view for view in profile.lanes[0].views if view.name == "typical")
    assert sum(typical.exceptions.values()) == typical.returns == 2
    names = {";".join(profile.functions[n].name for n in stack.path) for stack in typical.stacks}
    assert "task_2;queue_send;xQueueGenericSend;xTaskRemoveFromEventList" in names


@pytest.mark.parametrize(
    ("target", "why"),
    [
        ("freertos/vexriscv@rtl", "acts at no fixed distance from its retirement"),
        ("freertos/ibex2@rtl", "it has 2 cores, and a profile follows one"),
    ],
)
def test_a_core_that_shows_nothing_is_refused(target: str, why: str) -> None:
    with pytest.raises(UsageError, match=why) as refused:
        check_profiled(parse_target(target), "scope")
    assert refused.value.exit_code == 2


def test_a_simulated_core_has_no_timeline() -> None:
    with pytest.raises(UsageError, match="shows no timeline"):
        check_traced(parse_target(IBEX), "scope")
