# SPDX-License-Identifier: Apache-2.0
"""Overlaid systems: one axis, one style per variant on the whole page, the deadline."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import msgspec
import numpy as np
import pytest

from kadenz.analysis import RunResult, analyse
from kadenz.analysis.variants import variants_of
from kadenz.report import labels, overlays
from kadenz.report import page as pages
from kadenz.report.render import render
from kadenz.report.svg.overlay import NARROW, WIDE
from kadenz.report.svg.style import STYLES, colour, dash
from kadenz.store import read_run
from tests.synthetic import (
    HIFIVE1,
    LINUX,
    STM32F4,
    Point,
    manifest,
    under,
    write_run,
)

SVG = "{http://www.w3.org/2000/svg}"


def rounds(folder: Path) -> list[RunResult]:
    """Two loads in three rounds of a 1 ms cyclic task; under load one in ten cycles is late."""
    rng = np.random.default_rng(5)
    results = []
    for number in (1, 2, 3):
        for place, load in enumerate(("none", "disk"), 1):
            values = 20_000.0 * rng.lognormal(0.0, 0.2, 2000)
            if load == "disk":
                values[rng.random(2000) < 0.1] *= 100.0
            lanes = {"core0": values.astype(np.uint32), "core1": values[::-1].astype(np.uint32)}
            point = Point(
                "cyclic/wakeup-latency", lanes, {"period_us": 1000, "rank": 10}, missed=2 * place
            )
            pipe = Point("itc/pipe", {"all": values.astype(np.uint32)}, {"size_bytes": 64})
            document = manifest(LINUX, id=f"{load}-{number}")
            document = msgspec.structs.replace(
                document,
                variant=f"load {load}",
                round=number,
                place=place,
                conditions=under(load=load),
            )
            results.append(analyse(read_run(write_run(folder, document, [point, pipe]))))
    return results


def page_of(runs: list[RunResult]) -> pages.Page:
    return pages.build(runs, [], title="A report", created="2026-11-21T10:30:00Z", version="0.1.0")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[RunResult]:
    return rounds(tmp_path_factory.mktemp("rounds"))


@pytest.fixture(scope="module")
def page(runs: list[RunResult]) -> pages.Page:
    return page_of(runs)


def test_rounds_of_one_call_form_one_variant(runs: list[RunResult]) -> None:
    manifests = [run.manifest for run in runs]
    assert [(v.letter, v.runs) for v in variants_of(manifests)] == [
        ("A", (0, 2, 4)),
        ("B", (1, 3, 5)),
    ]
    again = [msgspec.structs.replace(document, id=document.id + "x") for document in manifests]
    assert len(variants_of(manifests + again)) == 4
    alone = [
        msgspec.structs.replace(document, variant="", round=0, place=0) for document in manifests
    ]
    assert [v.letter for v in variants_of(alone)] == list("ABCDEF")


def test_labels_name_the_variant_and_its_round(runs: list[RunResult]) -> None:
    assert labels.run_labels(runs)[:3] == [
        "posix/linux@host (load none), round 1",
        "posix/linux@host (load disk), round 1",
        "posix/linux@host (load none), round 2",
    ]
    assert labels.variant_names(runs) == ["load none", "load disk"]


def test_ten_variants_have_distinct_styles_and_the_first_five_differ_without_colour() -> None:
    assert len({(colour(n), dash(n)) for n in range(STYLES)}) == STYLES
    assert len({dash(n) for n in range(5)}) == len({colour(n) for n in range(5)}) == 5


def test_a_variant_has_one_colour_and_dash_on_the_whole_page(page: pages.Page) -> None:
    """Every plot draws the run in its heading with that run's style."""
    assert [key.label for key in page.legend] == [
        "posix/linux@host (load none)",
        "posix/linux@host (load disk)",
    ]
    assert [f"x{n}" in key.swatch for n, key in enumerate(page.legend, 1)] == [True, True]
    seen: dict[str, set[str]] = {"load none": set(), "load disk": set()}
    for plot in page.all_plots:
        for load, used in seen.items():
            if load in plot.heading:
                used.update(re.findall(r'class="[lxdbwo](\d)', plot.svg))
    assert seen == {"load none": {"1"}, "load disk": {"2"}}
    assert [(card.letter, card.colour) for card in page.cards] == [("A", 1), ("B", 2)]
    for over in page.overlays:
        for plot in (over.wide, over.narrow):
            for path in ET.fromstring(plot.svg).iter(f"{SVG}path"):
                title = path.find(f"{SVG}title")
                assert title is not None and title.text is not None
                assert path.get("class") == ("x1" if title.text.startswith("A:") else "x2")


def test_all_systems_are_overlaid_with_the_deadline(page: pages.Page) -> None:
    first = page.overlays[0]
    assert first.wide.heading.startswith("cyclic/wakeup-latency")
    root = ET.fromstring(first.wide.svg)
    assert len(list(root.iter(f"{SVG}path"))) == 6  # one line per round
    due = [line for line in root.iter(f"{SVG}line") if line.get("class") == "due"]
    assert len(due) == 1 and due[0].get("x1") == due[0].get("x2")
    texts = [text.text for text in root.iter(f"{SVG}text") if text.get("class") == "duet"]
    assert texts == ["deadline 1 ms"]
    assert json.loads(first.data)["due"] == [[1000.0, "deadline 1 ms"]]


def test_the_curve_shows_the_share_of_missed_cycles_at_the_deadline(
    page: pages.Page, runs: list[RunResult]
) -> None:
    """Cycles late or not run, of the cycles planned: the curve is exact at its points."""
    curves = json.loads(page.overlays[0].data)["curves"]
    for run, curve in zip(runs, curves, strict=True):
        record = run.records[0]
        samples = np.concatenate(
            [read_run(run.path).samples(record.entry, lane.entry) for lane in record.lanes]
        )
        late_ones = [n for n, value in enumerate(curve["x"]) if value >= 1000.0]
        at = late_ones[0] if late_ones else curve["x"].index(curve["x"][-1])
        late = int((samples >= round(curve["x"][at] * 1000.0)).sum())
        assert curve["y"][at] == pytest.approx((late + record.missed) / record.planned, rel=1e-4)
        assert curve["floor"] == pytest.approx(record.missed / record.planned, rel=1e-4)


def test_instructions_of_two_instruction_sets_share_no_axis(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    lanes = {"all": rng.integers(400, 500, 300).astype(np.uint32)}
    runs = [
        analyse(read_run(write_run(tmp_path, manifest(target), [Point("itc/mutex", lanes)])))
        for target in (HIFIVE1, STM32F4)
    ]
    page = page_of(runs)
    drawn = [*(over.wide for over in page.overlays)]
    drawn += [plot for plot in page.all_plots if plot.name.startswith("exceedance")]
    assert drawn
    for plot in drawn:
        assert len(list(ET.fromstring(plot.svg).iter(f"{SVG}path"))) == 1


@pytest.mark.parametrize("width", [WIDE, NARROW], ids=["wide", "narrow"])
def test_all_text_stays_within_the_plot(page: pages.Page, width: tuple[float, float]) -> None:
    for over in page.overlays:
        plot = over.wide if width == WIDE else over.narrow
        root = ET.fromstring(plot.svg)
        _, _, across, down = map(float, str(root.get("viewBox")).split())
        assert across == width[0]
        for text in root.iter(f"{SVG}text"):
            half = 3.0 * len(text.text or "")  # 6 px per letter
            x, anchor = float(str(text.get("x"))), text.get("text-anchor", "start")
            left = {"start": x, "middle": x - half, "end": x - 2 * half}[anchor]
            right = {"start": x + 2 * half, "middle": x + half, "end": x}[anchor]
            assert left >= -2.0 and right <= across + 2.0, text.text
            assert 0.0 < float(str(text.get("y"))) <= down


def test_letters_of_two_variants_never_overlap(page: pages.Page) -> None:
    for over in page.overlays:
        root = ET.fromstring(over.wide.svg)
        places = [
            (float(str(text.get("x"))), float(str(text.get("y"))))
            for text in root.iter(f"{SVG}text")
            if re.fullmatch(r"h t\d", text.get("class", ""))
        ]
        assert len(places) == 2
        (x1, y1), (x2, y2) = places
        assert abs(x1 - x2) >= 10.0 or abs(y1 - y2) >= 11.0


def test_a_plot_reports_the_samples_it_omits(page: pages.Page, runs: list[RunResult]) -> None:
    total = sum(lane.entry.taken for run in runs for lane in run.records[0].lanes)
    assert f" of {total:,} samples are drawn, with exact shares: the 40 largest" in render(page)


def test_a_deadline_far_beyond_all_values_is_named_at_the_edge(tmp_path: Path) -> None:
    values = np.random.default_rng(7).integers(2_000, 10_001, 4000).astype(np.uint32)
    values[0] = 10_000
    point = Point("cyclic/wakeup-latency", {"all": values}, {"period_us": 1000})
    page = page_of([analyse(read_run(write_run(tmp_path, manifest(LINUX), [point])))])
    (over,) = page.overlays
    assert "deadline 1 ms, 100 times the largest →" in over.wide.svg
    assert 'class="due"' not in over.wide.svg
    assert json.loads(over.data)["due"] == [[1000.0, "deadline 1 ms, 100 times the largest →"]]


def test_warnings_are_folded_behind_their_number(page: pages.Page) -> None:
    text = render(page)
    assert len(page.notices) > 0
    folded = re.search(r'<details class="notices">\s*<summary>(\d+) warning', text)
    assert folded is not None and int(folded[1]) == len(page.notices)
    assert text.index("The answer") < text.index("</figure>") < folded.start()
    assert folded.start() < text.index("At a glance")


def test_a_single_run_also_has_its_plot(runs: list[RunResult]) -> None:
    page = page_of(runs[:1])
    assert page.overlays[0].wide.heading.startswith("cyclic/wakeup-latency")


def test_a_page_without_a_distribution_has_no_plot(tmp_path: Path) -> None:
    run = analyse(
        read_run(
            write_run(tmp_path, manifest(HIFIVE1), [Point("itc/pipe", status="n/a", reason="none")])
        )
    )
    assert overlays.at_top([("a", run)]) == [] and page_of([run]).overlays == ()


def test_a_card_shows_the_middle_round_and_the_largest_maximum_of_a_variant(
    page: pages.Page, runs: list[RunResult]
) -> None:
    assert [card.name for card in page.cards] == [key.label for key in page.legend]
    for number, card in enumerate(page.cards):
        line = next(line for line in card.headlines if line.name == "wake-up latency")
        pooled = [run.records[0].pooled for run in runs[number::2]]
        medians = sorted(of.summary.median for of in pooled if of is not None)
        largest = max(of.summary.max for of in pooled if of is not None)
        assert float(line.median) == pytest.approx(medians[1] / 1000.0, rel=1e-3)
        assert float(line.max.replace(",", "")) == pytest.approx(largest / 1000.0, rel=1e-3)
        assert "6 of 6 points measured in 3 rounds" in card.measured


def test_a_warning_of_all_rounds_names_the_variant_once(page: pages.Page) -> None:
    targets = [target for notice in page.notices for target in notice.targets]
    assert targets and set(targets) <= {key.label for key in page.legend}


def test_a_met_period_is_drawn_for_cyclic_work_only(tmp_path: Path) -> None:
    rng = np.random.default_rng(6)
    points = [
        Point(bench, {"all": rng.integers(900, 9000, 500).astype(np.uint32)}, {"period_us": 10_000})
        for bench in ("cyclic/wakeup-latency", "itc/mutex")
    ]
    page = page_of([analyse(read_run(write_run(tmp_path, manifest(LINUX), points)))])
    drawn = {over.wide.heading.split(":")[0]: "duet" in over.wide.svg for over in page.overlays}
    assert drawn == {"cyclic/wakeup-latency": True, "itc/mutex": False}
