# SPDX-License-Identifier: Apache-2.0
"""The first screen: its cards, axes and letters; the user's own benchmark; on paper and a phone."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from kadenz.analysis import analyse
from kadenz.cli import cli
from kadenz.config.manifest import Warning  # noqa: A004
from kadenz.lab.reference import described
from kadenz.report import figures
from kadenz.report.families import family_of
from kadenz.report.labels import run_labels
from kadenz.store import read_run
from tests import browser
from tests.docs.pages import ROOT
from tests.report.test_page import Html
from tests.report.test_period_shares import NOT_MEASURED
from tests.report.test_standings import Medians, kernels, loaded, page_of, points_of
from tests.synthetic import HIFIVE1, LINUX, STM32F4, Point, linux_points, manifest, write_run


def report(file: Path, *runs: Path) -> str:
    command = ["report", *map(str, runs), "-o", str(file)]
    result = CliRunner().invoke(cli, command, standalone_mode=False)
    assert result.exception is None, result.output
    text = file.read_text()
    Html(text)
    return text


# ---- cards -------------------------------------------------------------------------------------
def test_cards_of_one_board_are_headed_by_the_kernel_and_others_by_the_board(
    tmp_path: Path,
) -> None:
    runs = kernels(tmp_path, *({"micro/a": 3 + n} for n in range(3)))
    for run, name in zip(runs, ("Embassy", "FreeRTOS", "RTIC"), strict=True):
        run.manifest.target.kernel_name, run.manifest.target.kernel_version = name, "1.0"
    document = manifest(HIFIVE1)
    runs.append(read_run(write_run(tmp_path / "riscv", document, points_of({"micro/a": 9}))))
    cards = page_of(runs).cards
    assert [card.heading for card in cards] == [
        *("Embassy 1.0", "FreeRTOS 1.0", "RTIC 1.0"),
        "SiFive HiFive1 Rev B",
    ]
    assert cards[0].rest == ("STM32F405 (Cortex-M4F)", "emulated", "counter")
    assert cards[3].rest == ("FreeRTOS V11.2.0", "emulated", "counter")


def test_two_sides_of_a_change_are_headed_by_their_board(tmp_path: Path) -> None:
    runs = loaded(tmp_path, 2, {"none": 20_000.0, "disk": 30_000.0})
    cards = page_of(runs).cards
    assert [card.heading for card in cards] == ["This Linux"] * 2
    assert [card.name for card in cards] == [
        "posix/linux@host (load none)",
        "posix/linux@host (load disk)",
    ]


# ---- axes ----------------------------------------------------------------------------------------
def axes(svg: str) -> list[tuple[str, str]]:
    """Every label of a tick with its place."""
    ticks = re.findall(r'<text x="([\d.]+)" y="([\d.]+)"[^>]*text-anchor="(?:end|middle)"', svg)
    labels = re.findall(r'text-anchor="(?:end|middle)"[^>]*>([^<]*)<', svg)
    assert len(ticks) == len(labels) > 6
    return list(zip(labels, map(str, ticks), strict=True))


def test_plots_over_message_size_share_their_axes_within_a_unit(tmp_path: Path) -> None:
    runs = kernels(
        tmp_path / "armv7m",
        {"itc/queue": (1680, 4400, 9800)},
        {"itc/queue": (856, 1126, 1700)},
    )
    document = manifest(HIFIVE1)
    others = points_of({"itc/queue": (1000, 1300, 2000)})
    runs.append(read_run(write_run(tmp_path / "riscv", document, others)))
    results = [analyse(run) for run in runs]
    plots = figures.responses("itc/queue", list(zip(run_labels(results), results, strict=True)), [])
    first, second, other = (axes(plot.svg) for plot in plots)
    assert first == second != other
    alone = figures.responses("itc/queue", [("one", results[1])], [])
    assert axes(alone[0].svg) != second


def test_a_system_far_below_the_others_is_not_a_line_on_the_axis(tmp_path: Path) -> None:
    runs = kernels(tmp_path, {"itc/queue": (90, 95, 99)}, {"itc/queue": (4000, 6000, 9000)})
    results = [analyse(run) for run in runs]
    named = list(zip(run_labels(results), results, strict=True))
    low, _ = figures.responses("itc/queue", named, [])
    assert "100" in [label for label, _ in axes(low.svg)]  # a linear axis would begin with 2,000


# ---- letters -------------------------------------------------------------------------------------
def test_letters_are_the_same_in_the_terminal_the_page_and_json(tmp_path: Path) -> None:
    medians: list[Medians] = [{"micro/a": 100 + 9 * n} for n in range(4)]
    kernels(tmp_path / "runs", *medians, names=["zebra", "ant", "moth", "bee"])
    called = CliRunner().invoke(cli, ["show", str(tmp_path / "runs")], standalone_mode=False)
    terminal = dict(re.findall(r"^([A-Z]) (\w+)/stm32f4@emulated, ", called.stdout, re.M))
    assert terminal == {"A": "zebra", "B": "ant", "C": "moth", "D": "bee"}
    page = page_of([read_run(path) for path in sorted((tmp_path / "runs").iterdir())])
    assert {
        system.letter: system.label.split("/")[0] for system in page.standings[0].systems
    } == terminal
    assert {card.letter: card.label.split("/")[0] for card in page.cards} == terminal
    assert {system.letter: system.label.split("/")[0] for system in page.legend} == terminal
    shown = CliRunner().invoke(cli, ["show", "--json", str(tmp_path / "runs")])
    systems = json.loads(shown.stdout)["standings"][0]["systems"]
    assert {system["letter"]: system["name"].split("/")[0] for system in systems} == terminal


# ---- the user's benchmark ------------------------------------------------------------------------
MINE = "mine/uart-frame"


def test_the_users_benchmark_is_the_first_row_of_the_table_and_the_picture(tmp_path: Path) -> None:
    medians: Medians = {"itc/queue": (9, 8), "micro/a": 3, "cyclic/b": 4, MINE: 5, "clock/c": 1}
    runs = kernels(tmp_path, medians, {**medians, MINE: 7})
    page = page_of(runs)
    assert [line.bench for line in page.standings[0].lines] == [
        *(MINE, "itc/queue", "micro/a"),
        "cyclic/b",
    ]
    assert page.standings[0].picture is not None
    assert page.standings[0].picture.description.startswith(f"Ratios. {MINE}: ")
    assert page.sections[0].title == "mine"


def test_the_users_benchmark_is_on_the_card_and_opens_the_pictures(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    values = (3000.0 * rng.lognormal(0.0, 0.1, 500)).astype(np.uint32)
    points = [*linux_points(rng, 300), Point(MINE, {"all": values})]
    page = page_of([read_run(write_run(tmp_path, manifest(LINUX), points))])
    assert page.cards[0].headlines[0].name == MINE
    assert page.overlays[0].wide.heading.startswith(MINE)


def test_every_family_of_kadenz_is_known_as_its_own() -> None:
    benches = set(described())
    for campaign in (ROOT / "campaigns").glob("*.toml"):
        benches |= set(re.findall(r'^name = "([a-z-]+/[a-z0-9*-]+)"', campaign.read_text(), re.M))
    families = {family_of(bench) for bench in benches}
    assert len(families) > 15 and not any(family.users for family in families)


# ---- as it is seen -------------------------------------------------------------------------------
# Elements that are wider than the page, or whose content is wider than they are.
CUT = """JSON.stringify([...document.querySelectorAll('body *')].filter(one => {
    const style = getComputedStyle(one), box = one.getBoundingClientRect();
    const seen = one.getClientRects().length && style.position !== 'absolute';
    const inside = !one.closest('svg') && !(one.closest('.scroll') && SCROLLS);
    return seen && inside && (box.right > innerWidth + 1
        || style.display !== 'inline' && one.clientWidth && one.scrollWidth > one.clientWidth + 1);
}).slice(0, 5).map(one => one.tagName + ' ' + one.className + ': ' + one.textContent.trim()))"""
ROWS = """JSON.stringify([...document.querySelectorAll('.card')].map(card =>
    [card.offsetTop, ...[...card.children].map(one => one.offsetTop)]))"""


def written(folder: Path) -> dict[str, list[Path]]:
    """Run folders of one system, of two sides of a change, and of several systems."""
    rng = np.random.default_rng(2)
    warnings = [
        Warning(code=f"w{n}", message=f"objection {n} to " + "the figures " * 12, remedy="Do. " * 9)
        for n in range(8)
    ]
    long = {f"micro/{name}-of-a-rather-long-name": 100 for name in "abcdefgh"}
    medians: Medians = {MINE: 4, "itc/queue": (100, 200, 400), **long, "itc/pipe": "no pipes"}
    named = ["n" * 200, *(f"kernel{n}" for n in range(1, 5))]
    several = [run.path for run in kernels(folder / "several", *[medians] * 5, names=named)]
    for target in (HIFIVE1, LINUX):
        document = manifest(target, id=f"other-{target['board']}", warnings=warnings)
        several.append(write_run(folder / "several", document, linux_points(rng, 300)))
    single = write_run(folder / "one", manifest(LINUX, warnings=warnings), linux_points(rng, 300))
    sides = loaded(folder / "sides", 3, {"none": 20_000.0, "disk": 30_000.0})
    return {
        "one": [single],
        "sides": [run.path for run in sides],
        "several": several,
        "demo": demo(folder / "demo"),
    }


def demo(folder: Path) -> list[Path]:
    """Three kernels in instructions and under a timing model, and three systems of other units."""
    lacks = {f"itc/{name}": f"no {name}: its own is awaited by tasks" for name in "abcdef"}
    times = {f"micro/{name}-switch-sampled": 100 + 9 * at for at, name in enumerate("abcdefghijk")}
    medians: Medians = {"itc/queue": (100, 200, 400), **times, **lacks}
    runs = kernels(folder / "counter", *[medians] * 3)
    for run in kernels(folder / "model", *[medians] * 3, names=["x", "y", "z"]):
        clock = run.manifest.clock
        clock.clock_class, clock.unit, clock.hz = "cycle-model", "cycle", 168_000_000
        document = manifest(STM32F4, clock=clock, id=f"model-{run.manifest.target.name[0]}")
        document.target.name = run.manifest.target.name
        points = [*points_of(medians), NOT_MEASURED]
        runs.append(read_run(write_run(folder / "modelled", document, points)))
    others = [manifest({**LINUX, "name": "posix/linux@host"}), manifest(HIFIVE1)]
    exact = manifest(HIFIVE1, id="exact")
    exact.clock.clock_class, exact.clock.unit = "cycle-exact", "cycle"
    written = [
        write_run(folder / "others", entry, points_of(medians)) for entry in (*others, exact)
    ]
    return [*(run.path for run in runs), *written]


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    runs_of = written(folder)
    files = {name: folder / f"{name}.html" for name in runs_of}
    for name, runs in runs_of.items():
        report(files[name], *runs)
    return files


@pytest.fixture(scope="module")
def screen() -> Iterator[browser.Browser]:
    with browser.browser() as page:
        yield page


seen = pytest.mark.skipif(not browser.program(), reason="no Chromium")


@seen
@pytest.mark.parametrize("name", ["one", "sides", "several", "demo"])
def test_nothing_is_cut_on_a_screen_a_phone_and_paper(
    name: str, pages: dict[str, Path], screen: browser.Browser
) -> None:
    for width, media in ((1280, "screen"), (390, "screen"), (718, "print")):
        screen.show(pages[name], width, media)
        screen.value("document.querySelectorAll('details').forEach(one => one.open = true)")
        assert screen.value("document.documentElement.scrollWidth") == width, media
        scrolls = "true" if media == "screen" else "false"
        assert screen.value(CUT.replace("SCROLLS", scrolls)) == "[]", (width, media)


@seen
@pytest.mark.parametrize("name", ["one", "sides", "several", "demo"])
def test_a_report_is_at_most_four_pages_of_paper(
    name: str, pages: dict[str, Path], screen: browser.Browser
) -> None:
    screen.show(pages[name], 1280, "")
    assert 1 <= screen.printed() <= 4


@seen
def test_rows_of_cards_are_aligned(pages: dict[str, Path], screen: browser.Browser) -> None:
    """Whatever wraps: headings, names of runs and objections of different lengths."""
    screen.show(pages["several"], 1280, "screen")
    cards: list[Sequence[int]] = json.loads(screen.value(ROWS))
    assert len(cards) == 7 and {len(card) for card in cards} == {6}
    lines = {card[0]: [other for other in cards if other[0] == card[0]] for card in cards}
    assert max(map(len, lines.values())) == 3
    for line in lines.values():
        assert all(card == line[0] for card in line)
