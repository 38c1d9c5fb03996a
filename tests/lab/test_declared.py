# SPDX-License-Identifier: Apache-2.0
"""Mistakes in names are found before anything is compiled."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from kadenz.config import inventory
from kadenz.config.campaign import Benchmark, Campaign
from kadenz.config.manifest import CampaignEntry
from kadenz.config.target_name import known_targets, parse_target
from kadenz.errors import UsageError
from kadenz.lab.catalog import remembered_catalog
from kadenz.lab.declared import check_declared
from kadenz.lab.preparing import Request, prepare
from kadenz.lab.progress import Progress

ENTRY = CampaignEntry(name="single", file="", sha256="", quick=True)


def campaign(*names: str) -> Campaign:
    benchmarks = [Benchmark(name=name, samples=1) for name in names]
    return Campaign(name="single", title="", targets=[], benchmark=benchmarks)


@pytest.mark.parametrize(
    ("bench", "overrides", "message"),
    [
        ("itc/quee", {}, "no benchmark `itc/quee`. Did you mean `itc/queue`"),
        (
            "itc/queue",
            {"size_byte": [4]},
            "no benchmark has such a parameter. Did you mean `size",
        ),
        ("itc/queue", {"seconds": [1], "samples": [1]}, "two lengths"),
        ("motion/response-time", {"secondes": [1]}, "Did you mean `seconds`"),
    ],
)
def test_a_mistake_is_reported_before_the_build(
    bench: str, overrides: dict[str, list[int]], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def build(*_: object, **__: object) -> None:
        raise AssertionError("an image was built")

    monkeypatch.setattr("kadenz.lab.execution.build_image", build)
    request = Request(
        campaign=campaign(bench),
        entry=ENTRY,
        targets=[parse_target("freertos/stm32f4@emulated")],
        overrides=overrides,
    )
    with pytest.raises(UsageError, match=message):
        prepare(request, Progress(), threading.Event())


def test_a_benchmark_outside_the_suite_is_declared_by_its_own_file(tmp_path: Path) -> None:
    (tmp_path / "mine.c").write_text('.name = "mine/own", {"depth", 1, 2}')
    check_declared(campaign("mine/own"), {"depth": [1]}, [tmp_path])
    check_declared(campaign("mine/own"), {"depth": [1]}, [tmp_path / "mine.c"])
    with pytest.raises(UsageError, match="mine/own"):
        check_declared(campaign("mine/own"), {}, [])


def test_every_campaign_and_every_built_image_passes() -> None:
    for file in inventory.campaign_files().values():
        read = inventory.read_campaign(file)
        check_declared(read, {key for bench in read.benchmark for key in bench.params}, [])
    for name in map(parse_target, known_targets()):
        catalog = remembered_catalog(name)  # of the stock image, if it exists
        if catalog is not None:
            params = {param.name for bench in catalog.benches for param in bench.params}
            check_declared(campaign(*(bench.name for bench in catalog.benches)), params, [])


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("mix/preemptin", "mix/preemption"),
        ("motion/response", "motion/response-time"),
        ("itc/message-que", "itc/message-queue"),
    ],
)
def test_a_name_that_is_proposed_is_that_of_a_benchmark(typed: str, meant: str) -> None:
    with pytest.raises(UsageError) as error:
        check_declared(campaign(typed), {}, [])
    assert f"`{meant}`" in error.value.remedy
