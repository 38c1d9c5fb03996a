# SPDX-License-Identifier: Apache-2.0
"""What the studies print: complete, each with its place, and remarkable figures with a note."""

from __future__ import annotations

from collections import Counter

import pytest

from kadenz.analysis import published
from kadenz.analysis.published import PublishedFigure


@pytest.fixture(scope="module")
def figures() -> list[PublishedFigure]:
    return published.load()


def of(figures: list[PublishedFigure], paper: str, *places: str) -> list[PublishedFigure]:
    return [figure for figure in figures if figure.paper == paper and figure.where in places]


def test_every_figure_has_its_place_and_is_there_once(figures: list[PublishedFigure]) -> None:
    keys = Counter(
        (f.paper, f.where, f.system.name, f.kernel, f.benchmark, *f.parameters.items(), f.statistic)
        for f in figures
    )
    assert [key for key, times in keys.items() if times > 1] == []
    assert all(figure.where for figure in figures)


def test_mazzi2021_has_the_seven_other_kernels_of_its_tables(
    figures: list[PublishedFigure],
) -> None:
    """Twelve times of six kernels on two cores, less one value that the table lacks."""
    second, third = of(figures, "mazzi2021", "Table 2"), of(figures, "mazzi2021", "Table 3")
    assert (len(second), len(third)) == (10, 12 * 6 * 2 - 1)
    assert len({figure.kernel for figure in third}) == 6
    assert {figure.kernel for figure in second} - {figure.kernel for figure in third} == {
        "FreeRTOS 8.0.0",
        "µC/OS-III",
    }
    corners = {
        ("Cortex-M0+", "FreeRTOS 9.0.0", "switch/to-higher", "event"): 23.56,
        ("Cortex-M4", "µC/OS-III, second column", "call/sent", "mailbox"): 1.45,
        ("Cortex-M4", "Keil RTX V4.82.0", "switch/to-lower", "event"): 3.5,
        ("Cortex-M0+", "RT-Thread", "call/signal", "semaphore"): 3.68,
    }
    values = {
        (f.system.name.split()[0], f.kernel, f.benchmark, f.parameters["by"]): f.value
        for f in third
    }
    assert {key: values[key] for key in corners} == corners
    assert ("Cortex-M4", "µC/OS-III, second column", "switch/to-higher", "event") not in values


def test_printed_microseconds_of_mazzi2021_are_its_cycles_at_80_mhz(
    figures: list[PublishedFigure],
) -> None:
    cycles = {
        (f.kernel, f.benchmark): f.value
        for f in of(figures, "mazzi2021", "Table 4")
        if f.statistic == "mean"
    }
    printed = of(figures, "mazzi2021", "Fig. 12", "Fig. 13")
    assert len(printed) == 4
    for figure in printed:
        exact = cycles[figure.kernel, figure.benchmark] / 80
        assert figure.value == pytest.approx(exact, abs=0.5e-4), figure


def test_the_output_of_perf0_counts_ten_thousand_readings(figures: list[PublishedFigure]) -> None:
    bins = [f for f in of(figures, "kioxia2019", "Problem 2") if f.statistic == "count"]
    assert [figure.value for figure in bins] == [9988, 10, 2]
    assert sum(figure.value for figure in bins) == 10_000


def test_kioxia2019_has_its_clock_rates_and_the_objects_of_its_chart(
    figures: list[PublishedFigure],
) -> None:
    rates = {
        (f.parameters["setting"], f.statistic): f.value
        for f in of(figures, "kioxia2019", "Remedy 3")
    }
    assert rates == {
        ("DEFAULT_CLOCK", "calculated"): 256,
        ("DEFAULT_CLOCK", "measured_above"): 280,
        ("R1-F41-Q3", "calculated"): 84,
        ("R1-F37-Q3", "measured"): 86,
    }
    (chart,) = of(figures, "kioxia2019", "Code size chart")
    objects = chart.parameters["objects"].split(";")
    assert len(set(objects)) == chart.value == 30
    assert all(name.endswith(".o") for name in objects)


def test_figures_of_yoo2024_that_repeat_are_noted(figures: list[PublishedFigure]) -> None:
    queue = next(
        f.value for f in of(figures, "yoo2024", "Fig. 2") if f.parameters == {"bytes": "600"}
        and f.system.name == "STM3240G-EVAL"
    )  # fmt: skip
    binary = [
        f
        for f in of(figures, "yoo2024", "Table 3")
        if (f.system.name, f.kernel, f.benchmark)
        == ("STM3240G-EVAL", "FreeRTOS 10.2.0", "itc/semaphore-binary")
    ]
    assert {f.statistic: f.value for f in binary}["max"] == pytest.approx(queue, abs=0.011)
    assert all("334.70" in f.note for f in binary)
    mutex = [f for f in of(figures, "yoo2024", "Section 4.1.4") if f.benchmark == "itc/mutex"]
    assert [f.system.name for f in mutex if f.value == 10.01 and "10.01" in f.note] == [
        "VisionFive 2",
        "Raspberry Pi 4 B",
    ]
    joints = [f for f in of(figures, "yoo2024", "Table 6") if "one standard deviation" in f.note]
    assert [(f.parameters["joint"], f.value) for f in joints] == [("1", 2.2061), ("2", 2.2061)]
    largest = [f for f in of(figures, "yoo2024", "Table 6") if f.statistic == "max"]
    assert [f.value for f in largest if "eleven" in f.note] == [6.9901] * 11
    assert [f.value for f in largest if "eleven" not in f.note] == [7.162]
