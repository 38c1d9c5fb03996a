# SPDX-License-Identifier: Apache-2.0
"""A campaign becomes points with the same numbers everywhere; mistakes are reported beforehand."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kadenz.config import inventory, params
from kadenz.config.campaign import Benchmark, Campaign
from kadenz.config.params import Value
from kadenz.config.target_name import TargetName
from kadenz.errors import ConfigError, UsageError
from kadenz.lab.plan import (
    FIRST_POINT,
    Point,
    batches,
    campaign_points,
    check_overrides,
    clock_points,
    plan_text,
)
from kadenz.wire.messages import Bench, BenchParam

ROOT = Path(__file__).resolve().parents[2]
STM32 = TargetName("freertos", "stm32f4", "emulated")
LINUX = TargetName("posix", "linux", "host")


def bench(name: str) -> Bench:
    return Bench(
        name=name,
        begins="",
        ends="",
        source="",
        self_timed=False,
        nature="span",
        available=True,
        reason="",
        params=[BenchParam("size_bytes", 60, 4, 600), BenchParam("period_us", 10000, 0, 10**6)],
    )


CATALOG = [bench(name) for name in ("itc/queue", "itc/pipe", "clock/read-cost", "clock/monotonic")]
CAMPAIGN = Campaign(
    name="c",
    title="",
    targets=[],
    benchmark=[
        Benchmark(
            name="itc/queue",
            samples=1000,
            targets=("freertos/*",),
            params={"size_bytes": [60, 120]},
        ),
        Benchmark(name="itc/pipe", samples=200, quick_samples=7, cold=2),
    ],
)


def points(target: TargetName, **kinds: object) -> list[Point]:
    arguments: dict[str, object] = {"quick": False, "overrides": {}} | kinds
    return campaign_points(CAMPAIGN, target, CATALOG, **arguments)  # type: ignore[arg-type]


def test_a_point_has_the_same_number_on_every_target() -> None:
    on_stm32 = {p.id: (p.bench, dict(p.params)) for p in points(STM32)}
    on_linux = {p.id: (p.bench, dict(p.params)) for p in points(LINUX)}
    assert list(on_stm32) == [FIRST_POINT, FIRST_POINT + 1, FIRST_POINT + 2]
    assert on_linux == {FIRST_POINT + 2: on_stm32[FIRST_POINT + 2]}


def test_a_benchmark_that_the_kernel_lacks_is_one_point() -> None:
    reason = inventory.kernel("freertos").lacks["pipe"]
    pipe = Benchmark(name="itc/pipe", samples=9, params={"size_bytes": [4, 3072, 9999]})
    campaign = msgspec.structs.replace(CAMPAIGN, benchmark=[pipe, *CAMPAIGN.benchmark])
    absent = msgspec.structs.replace(bench("itc/pipe"), available=False, reason=reason)
    lacking = [absent if benchmark.name == "itc/pipe" else benchmark for benchmark in CATALOG]
    planned = campaign_points(campaign, STM32, lacking, quick=False, overrides={})
    assert [(p.id, p.bench, dict(p.params)) for p in planned[:2]] == [
        (FIRST_POINT, "itc/pipe", {}),
        (FIRST_POINT + 3, "itc/queue", {"size_bytes": 60}),
    ]


def test_quick_uses_the_quick_samples() -> None:
    assert [p.samples for p in points(STM32, quick=True)] == [50, 50, 7]


def test_set_replaces_a_sweep_and_the_samples() -> None:
    planned = points(STM32, overrides={"size_bytes": [4, 8, 12], "samples": [3]})
    assert [(p.bench, p.params.get("size_bytes"), p.samples) for p in planned] == [
        ("itc/queue", 4, 3),
        ("itc/queue", 8, 3),
        ("itc/queue", 12, 3),
        ("itc/pipe", 4, 3),
        ("itc/pipe", 8, 3),
        ("itc/pipe", 12, 3),
    ]


def test_an_undeclared_set_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(UsageError) as caught:
        check_overrides({"size_byte": [1]}, CAMPAIGN, [CATALOG])
    assert caught.value.remedy == "Did you mean `size_bytes`?"


def changed(**fields: object) -> Campaign:
    good = Benchmark(name="itc/queue", samples=1)
    wrong = msgspec.structs.replace(good, **fields)
    return Campaign(name="c", title="", targets=[], benchmark=[wrong])


@pytest.mark.parametrize(
    ("campaign", "message", "remedy"),
    [
        (changed(params={"size_byte": 1}), "unknown parameter `size_byte`", "`size_bytes`"),
        (changed(params={"size_bytes": 3}), "size_bytes = 3 is out of range", "4 to 600"),
        (changed(name="itc/queu"), "has no such benchmark", "`itc/queue`"),
    ],
)
def test_a_wrong_point_is_refused_before_anything_is_measured(
    campaign: Campaign, message: str, remedy: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        campaign_points(campaign, STM32, CATALOG, quick=False, overrides={})
    assert message in caught.value.message and "campaign c" in caught.value.message
    assert remedy in caught.value.remedy


def test_the_clock_comes_first_and_below_the_points() -> None:
    planned = clock_points(CATALOG, "hardware", quick=False)
    assert [(p.id, p.bench) for p in planned] == [(0, "clock/monotonic"), (1, "clock/read-cost")]


@pytest.mark.parametrize("quick", [False, True])
def test_the_counter_of_a_simulated_core_is_read_less_often(quick: bool) -> None:
    """A thousand reads in each of 1,000 samples would be most of a short run."""
    reads = BenchParam("reads", 1000, 2, 10**8)
    catalog = [msgspec.structs.replace(bench("clock/monotonic"), params=[reads])]
    (real,) = clock_points(catalog, "hosted", quick=quick)
    (simulated,) = clock_points(catalog, "cycle-exact", quick=quick)
    assert (simulated.samples, dict(simulated.params)) == (100, {"reads": 100})
    assert real.samples >= 200 and not real.params


def test_the_text_follows_the_wire_format() -> None:
    text = plan_text([Point(3, "itc/queue", 1000, 1, {"size_bytes": 60, "period_us": 10000})])
    assert text == "itc/queue id=3 samples=1000 size_bytes=60 period_us=10000\nend\n"


@given(st.lists(st.integers(1, 10**9), max_size=200), st.integers(128, 4096))
def test_batches_lose_nothing_and_fit_their_page(samples: list[int], room: int) -> None:
    plan = [Point(n, "itc/queue", count, 0, {"size_bytes": n}) for n, count in enumerate(samples)]
    pieces = list(batches(plan, room))
    assert [p for piece in pieces for p in piece] == plan
    for piece in pieces:
        assert len(plan_text(piece).encode()) + 1 <= room  # with the terminating zero
    for batch, following in pairwise(pieces):
        # None is smaller than necessary.
        assert len(plan_text([*batch, following[0]]).encode()) + 1 > room


def test_seconds_become_the_samples_whose_periods_fit() -> None:
    planned = points(STM32, overrides={"seconds": [3], "period_us": [1000, 7000]})
    assert [point.samples for point in planned] == [3000, 429] * 3
    assert points(LINUX, overrides={"seconds": [2]})[0].samples == 200  # at the initial 10 ms


def test_seconds_do_not_affect_benchmarks_without_a_period() -> None:
    assert points(STM32, overrides={"seconds": [3], "period_us": [0]})[0].samples == 1000


CLOCK_ALONE = Campaign(
    name="clock", title="", targets=[], benchmark=[Benchmark(name="clock/read-cost", samples=1)]
)


def test_seconds_without_a_period_in_the_whole_run_are_refused() -> None:
    timeless = [msgspec.structs.replace(benchmark, params=[]) for benchmark in CATALOG]
    with pytest.raises(UsageError, match="no benchmark of this run has a period") as caught:
        check_overrides({"seconds": [6]}, CAMPAIGN, [timeless])
    assert "samples" in caught.value.remedy


def test_a_set_that_only_benchmarks_outside_the_run_declare_is_refused() -> None:
    queue, *others = CATALOG
    catalog = [queue, *(msgspec.structs.replace(benchmark, params=[]) for benchmark in others)]
    check_overrides({"size_bytes": [4]}, CAMPAIGN, [catalog])
    with pytest.raises(UsageError, match="no benchmark has such a parameter"):
        check_overrides({"size_bytes": [4]}, CLOCK_ALONE, [catalog])


def test_the_number_of_cold_samples_can_be_set() -> None:
    assert {point.cold for point in points(STM32, overrides={"cold": [7]})} == {7}


POLICY = BenchParam("policy", 0, 0, 2, ["fifo", "round-robin", "deadline"])


def test_a_word_goes_into_the_plan_as_it_is() -> None:
    cyclic = msgspec.structs.replace(bench("cyclic/x"), params=[POLICY])
    campaign = Campaign(
        name="c",
        title="",
        targets=[],
        benchmark=[Benchmark(name="cyclic/x", samples=5, params={"policy": "deadline"})],
    )
    (point,) = campaign_points(campaign, LINUX, [cyclic], quick=False, overrides={})
    assert point.line().endswith("samples=5 policy=deadline")
    swept = {"policy": ["fifo", "round-robin"]}
    points = campaign_points(campaign, LINUX, [cyclic], quick=False, overrides=swept)
    assert [point.params["policy"] for point in points] == swept["policy"]


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("policy", "dead", "policy = dead is not one of its values"),
        ("policy", 2, "policy = 2 is not one of its values"),
        ("size_bytes", "many", "size_bytes = many is not a number"),
    ],
)
def test_a_word_that_is_none_of_the_parameter_is_refused(
    name: str, value: int | str, message: str
) -> None:
    known = bench("cyclic/x")
    known = msgspec.structs.replace(known, params=[*known.params, POLICY])
    campaign = Campaign(
        name="c",
        title="",
        targets=[],
        benchmark=[Benchmark(name="cyclic/x", samples=5, params={name: value})],
    )
    with pytest.raises(ConfigError, match=message):
        campaign_points(campaign, LINUX, [known], quick=False, overrides={})


def test_a_figure_that_the_emulator_decides_takes_no_more_samples_than_show_it() -> None:
    cyclic = bench("cyclic/wakeup-latency")
    campaign = Campaign(
        name="t",
        title="t",
        targets=[str(STM32)],
        benchmark=[Benchmark(name=cyclic.name, samples=60_000, quick_samples=500)],
    )

    def planned(board: str, tier: str, **overrides: list[int]) -> int:
        target = TargetName("freertos", board, tier)
        (point,) = campaign_points(campaign, target, [cyclic], quick=False, overrides=overrides)
        return point.samples

    emulated = inventory.board("hifive1-revb").tier.emulated
    assert emulated is not None
    enough = emulated.benchmark_samples[cyclic.name]
    assert enough < 60_000
    assert planned("hifive1-revb", "emulated") == enough
    assert planned("hifive1-revb", "emulated", samples=[70_000]) == 70_000
    # The chip's own timer, and other boards: as the campaign says.
    assert planned("hifive1-revb", "board") == 60_000
    assert planned("stm32f4", "emulated") == 60_000


@pytest.mark.parametrize(
    ("period_us", "tick_hz", "had_us"),
    [
        (1500, 1000, 2000.0),
        (1400, 1000, 1000.0),
        (1000, 1000, 1000.0),
        (10_000, 1024, 9765.625),
        (977, 1024, 976.5625),
        (5, 1_000_000, 5.0),
        (5, 0, 5.0),  # a program without ticks
    ],
)
def test_seconds_are_those_of_the_period_that_the_kernel_gives(
    period_us: int, tick_hz: int, had_us: float
) -> None:
    assert params.period_us({"period_us": period_us}, tick_hz) == had_us
    (point,) = _periodic(period_us, tick_hz, seconds=[3])
    assert (point.samples - 1) * had_us < 3_000_000 <= point.samples * had_us


@pytest.mark.parametrize("name", params.IN_TICKS)
@pytest.mark.parametrize(("asked_us", "tick_hz"), [(1, 1000), (999, 1000), (976, 1024), (9, 100)])
def test_a_time_below_a_tick_is_refused_and_the_remedy_is_taken(
    name: str, asked_us: int, tick_hz: int
) -> None:
    with pytest.raises(ConfigError, match=f"{name} = {asked_us} is less than a tick") as caught:
        _periodic(asked_us, tick_hz, name)
    remedy = re.search(rf"--set {name}=(\d+)", caught.value.remedy)
    assert remedy is not None
    assert _periodic(asked_us, tick_hz, name, **{name: [int(remedy[1])]})


@pytest.mark.parametrize("name", params.IN_TICKS)
def test_no_time_and_a_tick_of_no_length_are_taken(name: str) -> None:
    assert _periodic(0, 1000, name) and _periodic(1, 0, name) and _periodic(1, 1_000_000, name)


def test_a_hold_by_the_clock_may_be_below_a_tick() -> None:
    assert _periodic(10, 1000, "hold_us", other_core=["above"])


def test_every_time_of_the_suite_is_in_ticks_or_has_another_clock() -> None:
    """A new parameter joins `IN_TICKS`, or the list here with what gives it."""
    sources = [*(ROOT / "suite" / "bench").glob("*.[ch]"), *(ROOT / "suite" / "rust").rglob("*.rs")]
    names = {name for file in sources for name in re.findall(r'"([a-z]\w*_us)"', file.read_text())}
    others = {
        "section_us": "a loop of that length",
        "middle_us": "a loop of that length",
        "pause_us": "a loop of that length",
        "stop_above_us": "a limit on samples, by the clock",
        "runtime_us": "a share of SCHED_DEADLINE, by the scheduler's clock",
    }
    assert names - set(others) == set(params.IN_TICKS) - {"sleep_us", "timeout_us"}
    assert others.keys() <= names


def _periodic(
    asked_us: int, tick_hz: int, name: str = "period_us", **overrides: Sequence[Value]
) -> list[Point]:
    known = msgspec.structs.replace(
        bench("cyclic/x"),
        params=[
            BenchParam(name, 1000, 0, 10_000_000),
            *(
                BenchParam(other, 0, 0, 1, choices=["poll", "above"])
                for other in params.IN_TICKS[name]
            ),
        ],
    )
    campaign = Campaign(
        name="c",
        title="",
        targets=[],
        benchmark=[Benchmark(name="cyclic/x", samples=5, params={name: asked_us})],
    )
    return campaign_points(
        campaign, STM32, [known], quick=False, overrides=overrides, tick_hz=tick_hz
    )
