# SPDX-License-Identifier: Apache-2.0
"""A planted regression fails the gate in every form in which runs can be named."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from kadenz.archive.adding import add
from kadenz.archive.place import open_archive
from kadenz.cli import cli
from kadenz.errors import KadenzError
from kadenz.store import read_run
from tests.docs.pages import PAGES, ROOT, commands
from tests.synthetic import HIFIVE1, LINUX, STM32F4, Point, manifest, nanoseconds, write_run

REGRESSED = 1.0911


def expanded(word: str) -> list[str]:
    """A word as a shell passes it on: `two/*` is every file in that folder."""
    return sorted(map(str, Path().glob(word))) if word.endswith("/*") else [word]


def gate(line: str) -> tuple[int, str]:
    """Exit code and output of a line of the shell, with its globs expanded."""
    arguments = [name for word in shlex.split(line.replace("\\\n", " ")) for name in expanded(word)]
    result = CliRunner().invoke(cli, arguments[1:], standalone_mode=False)
    if isinstance(result.exception, KadenzError):
        return result.exception.exit_code, str(result.exception)
    assert result.exception is None, result.output
    return int(result.return_value), result.output


def counted(folder: Path, target: dict[str, str], factor: float, name: str) -> None:
    rng = np.random.default_rng(1)
    values = (factor * (900 + rng.integers(0, 20, 500))).astype(np.uint32)
    document = manifest(target, id=f"{name}-{target['board']}")
    write_run(folder, document, [Point("itc/queue", {"all": values}, {"size_bytes": 60})])


def targets(folder: Path, factor: float) -> None:
    """Two boards; the second one changes."""
    counted(folder, HIFIVE1, 1.0, "1")
    counted(folder, STM32F4, factor, "2")


def repeated(folder: Path, factor: float) -> None:
    """The same counted run twice."""
    for number in range(2):
        counted(folder, STM32F4, factor, str(number))


def rounds(folder: Path, factor: float) -> None:
    """Three runs of this Linux that differ a little."""
    seed = 7 if factor == 1.0 else 8
    for number in range(3):
        rng = np.random.default_rng([seed, number])
        points = [Point("itc/mutex", {"all": nanoseconds(factor * 3000, 4000, rng)})]
        write_run(folder, manifest(LINUX, id=f"{number}"), points)


FORMS = (
    "kadenz gate new --against two",
    "kadenz gate new --against two/*",
    "kadenz gate new/* --against two",
    "kadenz gate new/* --against two/*",
    "kadenz gate new/* --against two/* --max-worse 5%",
    "kadenz gate new/* --against=two",
    "kadenz gate --max-worse 5% new/* --against two/* --statistic median",
    "kadenz gate --against two --max-worse 5% new",
    "kadenz gate --against two/* --max-worse 5% new/*",
    "kadenz gate --against two/* -- new/*",
)


@pytest.mark.parametrize("layout", [targets, repeated, rounds])
@pytest.mark.parametrize("form", FORMS)
def test_a_planted_regression_fails_in_every_form(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, layout: object, form: str
) -> None:
    assert callable(layout)
    layout(tmp_path / "two", 1.0)
    layout(tmp_path / "new", REGRESSED)
    layout(tmp_path / "same", 1.0)
    monkeypatch.chdir(tmp_path)
    assert gate(form)[0] == 3
    assert gate(form.replace("new", "same"))[0] == 0


@pytest.mark.parametrize(
    ("form", "says"),
    [
        ("kadenz gate --against two new", "two, new follow --against"),
        ("kadenz gate --against two/* new/*", "no RUN is named"),
        ("kadenz gate --against two/*", "no RUN is named"),
        ("kadenz gate new/* two/* --against two", "is on both sides"),
        ("kadenz gate new two/* --against two/*", "is on both sides"),
        ("kadenz gate two --against two", "is on both sides"),
        ("kadenz gate new", "neither a baseline nor a limit"),
        ("kadenz gate", "no RUN is named"),
    ],
)
def test_sides_that_cannot_be_told_apart_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str, says: str
) -> None:
    targets(tmp_path / "two", 1.0)
    targets(tmp_path / "new", REGRESSED)
    monkeypatch.chdir(tmp_path)
    code, text = gate(form)
    assert code == 2 and says in text


def test_a_run_without_a_baseline_is_undecided_and_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    targets(tmp_path / "two", 1.0)
    targets(tmp_path / "new", REGRESSED)
    monkeypatch.chdir(tmp_path)
    code, text = gate("kadenz gate new --against two/1-hifive1-revb")
    assert code == 4
    assert re.search(r"2-stm32f4.*this run has no baseline", text)
    assert text.count("the configurations are the same") == 1  # of the board that has a baseline
    limit = "--limit 'itc/* max < 2000 instructions'"  # passes
    assert gate(f"kadenz gate new --against two/1-hifive1-revb {limit}")[0] == 4
    assert gate("kadenz gate new/1-hifive1-revb --against two/1-hifive1-revb")[0] == 0


def test_a_run_that_shares_only_its_clock_has_no_baseline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Point("clock/read-cost", {"all": np.ones(50, np.uint32)})
    for side, bench in (("two", "itc/queue"), ("new", "itc/mutex")):
        document = manifest(STM32F4, id=side)
        write_run(tmp_path, document, [clock, Point(bench, {"all": np.full(50, 9, np.uint32)})])
    monkeypatch.chdir(tmp_path)
    code, text = gate("kadenz gate new --against two")
    assert code == 4 and "this run has no baseline" in text


def cyclic(folder: Path, centre: float, bench: str = "cyclic/wakeup-latency") -> None:
    """Three runs for the forms of the pages: samples of a period of 1 ms."""
    for number in range(3):
        rng = np.random.default_rng([int(centre), number])
        lanes = {"all": nanoseconds(centre, 5000, rng)}
        point = Point(bench, lanes, {"period_us": 1000})
        document = manifest(LINUX, id=f"{folder.name}-{number}")
        document.created = f"2026-11-2{1 + number}T10:30:00Z"
        write_run(folder, document, [point])


def page_forms() -> list[str]:
    """A form with a variable of its own is a line of a script, which makes its runs."""
    pages = (*PAGES, "docs/reference/commands.md")
    shown = [line for page in pages for line in commands(page) if "kadenz gate" in line]
    helped = re.findall(r"^    (kadenz gate .*)$", (ROOT / "kadenz/cli/gate.py").read_text(), re.M)
    forms = dict.fromkeys([*shown, *helped])
    return [form for form in forms if "$" not in form.replace("$GITHUB_STEP_SUMMARY", "")]


def test_the_pages_have_forms() -> None:
    assert len(page_forms()) > 8
    globs = [form for form in page_forms() if any(w.endswith("/*") for w in shlex.split(form))]
    assert globs == []  # a folder stands for its runs


@pytest.mark.parametrize("form", page_forms())
def test_a_planted_regression_fails_in_every_form_of_the_pages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "summary.md")
    arguments = shlex.split(form.replace("\\\n", " "))
    limited = re.findall(r"watch/\S+", form)  # all others are of wake-ups
    cyclic(Path(arguments[arguments.index("gate") + 1]), 3_000_000, *limited)
    base = arguments[arguments.index("--against") + 1] if "--against" in arguments else ""
    cyclic(Path("older" if base.startswith("archive:") else base or "older"), 30_000)
    if base.startswith("archive:"):
        place = open_archive("archive", create=True)
        for run in sorted(Path("older").iterdir()):
            add(place, read_run(run), label="main")
    assert gate(form)[0] == 3
