# SPDX-License-Identifier: Apache-2.0
"""A profile is exact: on each benchmark its parts add up to the sample, the sample to the counter.

One profiled run and one run with the counter for each board.
"""

from __future__ import annotations

import numpy as np
import pytest

from kadenz.analysis.profiles import by_function, by_kind, by_part, difference
from kadenz.config.profile import Profile
from kadenz.store import Run, read_run
from kadenz.store.profiles import read_profiles
from tests.forked import kadenz

pytestmark = pytest.mark.counted

BOARDS = ("hifive1-revb", "stm32f4")
SAMPLES = 12
ITERATIONS = 100  # of a batch
WINDOW_US = 1000  # of a benchmark that counts
# As tests/scope/test_instruments_agree.py.
MOST_OFFSET = 8
# A batch lasts several ticks: with other code between two batches, a tick falls into another one,
# or its handler goes another way. Two handlers have at most this number of instructions.
_BATCHES = ("batch", "empty-loop", "long")
TWO_TICKS = 400
# A window ends after the operation in which its time is up, and has ticks in it.
_WINDOW = "window"
OPERATION = 600  # the longest, in instructions
# Five threads in turn: each has a loop, which it enters and leaves in its own place.
_IN_TURN = "thread-metric/cooperative-sampled"
_SCOPE_ALONE = "critical/"  # n/a with the counter


def _kadenz(*arguments: str) -> str:
    answer = kadenz(*arguments)
    assert answer.returncode == 0, answer.stdout + answer.stderr
    return answer.stdout


@pytest.fixture(scope="module", params=BOARDS)
def runs(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Run, Run, list[Profile]]:
    """A profiled run of every benchmark of a board, the same with the counter, the profiles."""
    from kadenz.config.target_name import parse_target
    from kadenz.lab.catalog import catalog_of

    target = f"freertos/{request.param}@emulated"
    known = catalog_of(parse_target(target)).benches
    benches = [b.name for b in known if not b.reason]
    settings = ["--target", target]
    settings += ["--set", f"samples={SAMPLES}", "--set", f"iterations={ITERATIONS}"]
    settings += ["--set", f"window_us={WINDOW_US}"]
    folders: list[Run] = []
    for command in ("profile", "run"):
        output = tmp_path_factory.mktemp(f"{request.param}-{command}")
        _kadenz(command, *benches, *settings, "--output", str(output))
        (folder,) = [path for path in output.iterdir() if (path / "run.json").is_file()]
        folders.append(read_run(folder))
        # The counter need not measure what is n/a under the scope: task sets.
        records = [r for r in folders[0].manifest.records if r.id >= 10 and r.series]
        benches = [r.bench for r in records if r.series[0].taken]
    return folders[0], folders[1], read_profiles(folders[0])


def test_every_benchmark_with_samples_has_a_profile(
    runs: tuple[Run, Run, list[Profile]],
) -> None:
    measured = {r.bench for r in runs[0].manifest.records if r.id >= 10 and r.series[0].taken}
    assert {profile.bench for profile in runs[2]} == measured
    assert len(measured) > 20


def test_parts_kinds_and_functions_add_up_to_the_sample(
    runs: tuple[Run, Run, list[Profile]],
) -> None:
    scoped, _, profiles = runs
    for profile in profiles:
        record = scoped.record(profile.record)
        for number, lane in enumerate(record.series):
            profiled = next(candidate for candidate in profile.lanes if candidate.lane == lane.name)
            samples = scoped.samples(record, number).astype(np.int64)
            for view in profiled.views:
                wanted = int(samples.sum() if view.sample < 0 else samples[view.sample])
                where = f"{profile.bench} {lane.name} {view.name}"
                assert view.instructions == wanted, where
                assert sum(by_part(profile, view).values()) == wanted, where
                assert sum(by_kind(profile, view).values()) == wanted, where
                assert sum(f.instructions for f in by_function(profile, view)) == wanted, where


def _sample_with_a_tick(profile: Profile, lane: str) -> list[int]:
    """The place behind the first one of the slowest sample, if it alone has an interrupt more: with
    other code before it, the tick comes between two samples of the counter's run."""
    profiled = next(candidate for candidate in profile.lanes if candidate.lane == lane)
    views = {view.name: view for view in profiled.views}
    slowest, typical = views["slowest"], views["typical"]
    more = sum(slowest.exceptions.values()) > sum(typical.exceptions.values())
    return [slowest.sample - 1] if more else []


def test_samples_differ_from_the_counter_by_a_constant(
    runs: tuple[Run, Run, list[Profile]],
) -> None:
    scoped, counted, profiles = runs
    families = set()
    for profile in profiles:
        if profile.bench.startswith(_SCOPE_ALONE):
            continue
        record = scoped.record(profile.record)
        (other,) = (r for r in counted.manifest.records if r.bench == record.bench and r.id >= 10)
        for number, lane in enumerate(record.series):
            offsets = counted.samples(other, number).astype(np.int64) - scoped.samples(
                record, number
            ).astype(np.int64)
            where = f"{profile.bench} {lane.name}: {offsets.tolist()}"
            if lane.name == _WINDOW:
                assert np.all(np.abs(offsets) <= OPERATION + TWO_TICKS), where
                continue
            constant = int(np.median(offsets))
            assert abs(constant) <= MOST_OFFSET, where
            # The first sample may enter a loop elsewhere than the others go round it.
            assert abs(int(offsets[0])) <= MOST_OFFSET or lane.name in _BATCHES, where
            apart = np.abs(offsets[1:] - constant)
            ticked = _sample_with_a_tick(profile, lane.name)
            if lane.name in _BATCHES:
                assert np.sum(apart == 0) >= apart.size / 2, where
                assert np.all(apart <= TWO_TICKS), where
            elif profile.bench == _IN_TURN:
                assert np.all(np.abs(offsets) <= MOST_OFFSET), where
            else:
                assert np.all(np.delete(apart, ticked) == 0), where
        families.add(profile.bench.partition("/")[0])
    assert families >= {"itc", "irq", "micro", "rhealstone", "thread-metric", "alloc", "perf"}


def test_the_difference_of_two_samples_is_that_of_their_functions(
    runs: tuple[Run, Run, list[Profile]],
) -> None:
    for profile in runs[2]:
        for lane in profile.lanes:
            views = {view.name: view for view in lane.views}
            typical, slowest = views["typical"], views["slowest"]
            differences = difference((profile, typical), (profile, slowest))
            more = slowest.instructions - typical.instructions
            assert sum(function.more for function in differences) == more, profile.bench


def test_the_switches_of_a_queue_are_found_on_both_boards(
    runs: tuple[Run, Run, list[Profile]],
) -> None:
    profile = next(candidate for candidate in runs[2] if candidate.bench == "itc/queue")
    typical = next(v for v in profile.lanes[0].views if v.name == "typical")
    assert sum(typical.exceptions.values()) == typical.returns == 2
    names = {";".join(profile.functions[n].name for n in stack.path) for stack in typical.stacks}
    assert any(name.endswith("vTaskSwitchContext") for name in names)
    assert "task_2;queue_send;xQueueGenericSend;xTaskRemoveFromEventList" in names
    assert all(name.split(";")[0] != "xQueueReceive" for name in names)  # callers are found
    assert typical.masked, "FreeRTOS works with interrupts off in every queue call"


def test_an_interrupt_is_a_part_of_its_own(runs: tuple[Run, Run, list[Profile]]) -> None:
    profile = next(candidate for candidate in runs[2] if candidate.bench == "irq/to-task")
    typical = next(v for v in profile.lanes[0].views if v.name == "typical")
    assert by_part(profile, typical).get("interrupt", 0) > 0
