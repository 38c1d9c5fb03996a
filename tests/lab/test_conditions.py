# SPDX-License-Identifier: Apache-2.0
"""A kind of condition is one file; in its folder it reaches every part of the lab."""

from __future__ import annotations

import dataclasses
import re
import textwrap
import threading
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from kadenz.analysis import analyse
from kadenz.analysis.comparing import compare_sides
from kadenz.analysis.differences import differences
from kadenz.analysis.gating import gate
from kadenz.analysis.variants import two_variants
from kadenz.archive.adding import add
from kadenz.archive.history import histories
from kadenz.archive.place import open_archive
from kadenz.cli.option_groups import GroupedCommand, condition_options
from kadenz.config.campaign import Benchmark, Campaign
from kadenz.config.key_values import OptionValue
from kadenz.config.target_name import TargetName
from kadenz.errors import UsageError
from kadenz.lab import conditions
from kadenz.lab.condition import Condition
from kadenz.lab.job import Result
from kadenz.lab.progress import Progress
from kadenz.lab.schedule import run
from kadenz.lab.variants import combinations, interleaved
from kadenz.report import labels
from kadenz.store import Run, read_run
from tests.lab.fake import Scripted
from tests.lab.test_measure import job, record, said

HOST = TargetName("posix", "linux", "host")
CAMPAIGN = Campaign(
    name="t", title="t", targets=[], benchmark=[Benchmark(name="itc/queue", samples=6)]
)

# The new condition of the page: the temperature of a climate chamber.
PAGE = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "add-a-condition.md"
STUB = """
LOG = []

@contextmanager
def held_at(celsius, stop):
    LOG.append(f"heat {celsius}")
    try:
        yield
    finally:
        LOG.append("off")
"""


def chamber_code() -> str:
    """The Python of the page, with a chamber that keeps a log."""
    blocks = re.findall(r"^   ```python\n(.*?)^   ```$", PAGE.read_text(), re.M | re.S)
    return textwrap.dedent("\n".join(blocks)) + STUB


@pytest.fixture
def chamber(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Puts the file into the folder of conditions; returns its log."""
    import importlib
    import sys

    folder = tmp_path / "more"
    folder.mkdir()
    (folder / "chamber.py").write_text(chamber_code())
    monkeypatch.setattr(conditions, "__path__", [*conditions.__path__, str(folder)])
    conditions.kinds.cache_clear()
    yield importlib.import_module("kadenz.lab.conditions.chamber").LOG
    sys.modules.pop("kadenz.lab.conditions.chamber")
    conditions.kinds.cache_clear()


def asked(**values: object) -> list[tuple[Condition, ...]]:
    choices = conditions.choices(CAMPAIGN, values)
    for choice in choices:
        choice.check([HOST])
    return combinations(HOST, choices)


def measured(folder: Path, variants: list[tuple[Condition, ...]], rounds: int) -> list[Run]:
    jobs = []
    for each in variants:
        boots = [s for _ in range(rounds) for s in (Scripted([said(record(10))]), Scripted([]))]
        jobs.append(dataclasses.replace(job(folder, boots[:-1], 1), name=HOST, conditions=each))
    results = run(interleaved(jobs, rounds), folder / "out", Progress(), threading.Event())
    assert all(isinstance(result, Result) for result in results), results
    return [read_run(result.folder) for result in results if isinstance(result, Result)]


def test_one_file_reaches_options_variants_names_manifest_and_compare(
    chamber: list[str], tmp_path: Path
) -> None:
    seen = {}

    @click.command(cls=GroupedCommand)
    @condition_options
    def command(**values: object) -> None:
        seen.update(values)

    help_text = CliRunner().invoke(command, ["--help"]).output
    assert "Climate chamber:\n  --celsius T" in help_text
    answer = CliRunner().invoke(
        command, ["--celsius", "20", "--celsius", "60", "--load", "none", "--allow", "no-realtime"]
    )
    assert answer.exit_code == 0, answer.output

    variants = asked(**seen)
    assert [", ".join(word for c in each for word in c.labels) for each in variants] == [
        "load none, at 20 °C",
        "load none, at 60 °C",
    ]
    runs = measured(tmp_path, variants, rounds=2)
    assert chamber == ["heat 20", "off", "heat 60", "off", "heat 60", "off", "heat 20", "off"]
    assert [run.manifest.variant for run in runs] == [
        "at 20 °C",
        "at 60 °C",
        "at 60 °C",
        "at 20 °C",
    ]
    assert "-load-none-20C-round-1" in runs[0].path.name
    stated = [
        (condition.kind, condition.value, condition.label, condition.usual)
        for condition in runs[0].manifest.conditions
    ]
    assert stated == [
        ("load", "none", "load none", "none"),
        ("temperature", "20 °C", "at 20 °C", ""),
    ]
    cool, hot = two_variants(runs)
    assert {run.manifest.condition_values["temperature"] for run in hot} == {"60 °C"}
    manifests = [run.manifest for run in (cool[0], hot[0])]
    temperatures = [
        difference for difference in differences(manifests) if "temperature" in str(difference)
    ]
    assert len(temperatures) == 1


def test_a_condition_checks_its_request(chamber: list[str]) -> None:
    with pytest.raises(UsageError, match="--celsius: not a temperature"):
        asked(celsius=("warm",), allow=("no-realtime",))


def test_variants_are_the_product_and_the_last_kind_varies_fastest(chamber: list[str]) -> None:
    variants = asked(
        load=(OptionValue("none"), OptionValue("cpu")), celsius=("20", "60"), allow=("no-realtime",)
    )
    assert [", ".join(word for c in each for word in c.labels) for each in variants] == [
        "load none, at 20 °C",
        "load none, at 60 °C",
        "load cpu, at 20 °C",
        "load cpu, at 60 °C",
    ]


def test_by_default_a_target_has_one_variant_without_conditions() -> None:
    assert combinations(HOST, conditions.choices(CAMPAIGN)) == [()]


def test_a_campaign_and_the_command_line_build_the_same_list() -> None:
    campaign = Campaign(
        name="t", title="t", targets=[], loads=["none", "cpu"], benchmark=CAMPAIGN.benchmark
    )
    of_campaign = combinations(HOST, conditions.choices(campaign))
    of_command_line = combinations(
        HOST, conditions.choices(CAMPAIGN, {"load": (OptionValue("none"), OptionValue("cpu"))})
    )
    assert of_campaign == of_command_line and len(of_campaign) == 2


def test_options_of_all_kinds_have_distinct_names() -> None:
    flags = [option.flag for kind in conditions.kinds() for option in kind.options]
    assert len(flags) == len(set(flags)) > 8
    orders = [kind.order for kind in conditions.kinds()]
    assert orders == sorted(set(orders))


def test_the_condition_of_the_page_tells_runs_of_separate_calls_apart(
    chamber: list[str], tmp_path: Path
) -> None:
    """In compare, gate, report and archive, which know nothing of temperatures."""
    cool, hot, hot_again = (
        measured(tmp_path / call, asked(celsius=(celsius,), allow=("no-realtime",)), rounds=1)[0]
        for call, celsius in (("a", "20"), ("b", "60"), ("c", "60"))
    )
    with pytest.raises(UsageError, match="2 × temperature: 20 °C, 60 °C"):
        compare_sides([cool, hot], [measured(tmp_path / "d", asked(), rounds=1)[0]])
    changed = compare_sides([cool], [hot]).points[-1]
    assert changed.target.endswith("at 20 °C → at 60 °C")
    unmatched = gate([cool, hot_again], [hot]).checks[-1]
    assert (unmatched.runs, unmatched.outcome) == ((str(cool.path),), "inconclusive")
    named = labels.run_labels([analyse(run) for run in (cool, hot)])
    assert [name.rpartition(" (")[2] for name in named] == ["at 20 °C)", "at 60 °C)"]
    place = open_archive(str(tmp_path / "archive"), create=True)
    for number, chamber_run in enumerate((cool, hot, hot_again)):
        chamber_run.manifest.id += f"-{number}"  # all three began in one second
        add(place, chamber_run)
    queue = [history for history in histories(place) if history.bench == "itc/queue"]
    assert [(history.conditions["temperature"], len(history.points)) for history in queue] == [
        ("20 °C", 1),
        ("60 °C", 2),
    ]
