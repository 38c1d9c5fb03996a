# SPDX-License-Identifier: Apache-2.0
"""An imported sample is of the same point as one of a run: parameters, end points, source."""

from __future__ import annotations

import pytest

from kadenz.capture.measured import Measured, measured
from kadenz.config.params import Value
from kadenz.config.target_name import parse_target
from kadenz.errors import ConfigError
from kadenz.lab.reference import described
from kadenz.wire.messages import Bench, BenchParam

QUEUE = Bench(
    name="itc/queue",
    begins="before the send",
    ends="return of receive",
    source="kadenz",
    self_timed=False,
    nature="span",
    available=True,
    reason="",
    params=[BenchParam("size_bytes", 60, 1, 600), BenchParam("policy", 0, 0, 1, ["fifo", "fair"])],
)


@pytest.fixture
def one_image(monkeypatch: pytest.MonkeyPatch) -> None:
    """The images that were built have a single benchmark."""
    monkeypatch.setattr("kadenz.capture.measured._known_benches", lambda _: {QUEUE.name: QUEUE})


@pytest.fixture
def no_image(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing was built."""
    monkeypatch.setattr("kadenz.capture.measured._known_benches", lambda _: {})


def point(**given: Value) -> Measured:
    return measured("itc/queue", parse_target("freertos/stm32f4@board"), given)


@pytest.mark.usefixtures("one_image")
def test_parameters_are_those_of_a_run() -> None:
    assert point().params == {"size_bytes": 60, "policy": "fifo"}
    longer = point(size_bytes=120)
    assert longer.params == {"size_bytes": 120, "policy": "fifo"}
    assert (longer.begins, longer.source) == ("before the send", "kadenz")
    assert not longer.warnings


@pytest.mark.usefixtures("one_image")
@pytest.mark.parametrize("given", [{"size": 60}, {"size_bytes": 601}, {"policy": "deadline"}])
def test_what_the_benchmark_does_not_take_is_refused(given: dict[str, Value]) -> None:
    with pytest.raises(ConfigError, match="--bench itc/queue"):
        point(**given)


@pytest.mark.parametrize("known", ["one_image", "no_image"])
@pytest.mark.parametrize("name", ["itc/queu", "itc/que", "itc/quuee", "itc/Queue", "itc-queue"])
def test_a_misspelt_benchmark_is_refused(
    name: str, known: str, request: pytest.FixtureRequest
) -> None:
    """Campaigns name the benchmarks of which no image is built."""
    request.getfixturevalue(known)
    with pytest.raises(ConfigError, match="no such benchmark") as error:
        measured(name, parse_target("freertos/stm32f4@board"), {})
    assert "`itc/queue`" in error.value.remedy


@pytest.mark.usefixtures("no_image")
def test_every_benchmark_of_the_suite_misspelt_is_refused() -> None:
    """Also those that no campaign names."""
    names = described()
    assert len(names) > 100
    for name in names:
        misspelt = name[:-1]
        if misspelt in names:
            continue
        with pytest.raises(ConfigError, match="no such benchmark") as error:
            measured(misspelt, parse_target("freertos/stm32f4@board"), {})
        assert "Did you mean" in error.value.remedy


@pytest.mark.usefixtures("no_image")
@pytest.mark.parametrize("name", ["itc/queue", "own/latency", "pulse"])
def test_a_benchmark_without_an_image_is_taken_with_a_warning(name: str) -> None:
    unknown = measured(name, parse_target("freertos/stm32f4@board"), {"size_bytes": 60})
    (warning,) = unknown.warnings
    assert name in warning.message
    assert unknown.params == {"size_bytes": 60}
