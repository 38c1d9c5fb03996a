# SPDX-License-Identifier: Apache-2.0
"""A kind of condition is one file; in its folder it reaches every part of the lab."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from kadenz.analysis.differences import differences
from kadenz.analysis.variants import two_variants
from kadenz.cli.option_groups import GroupedCommand, condition_options
from kadenz.config.campaign import Benchmark, Campaign
from kadenz.config.target_name import TargetName
from kadenz.errors import UsageError
from kadenz.lab import conditions
from kadenz.lab.condition import Condition
from kadenz.lab.job import Result
from kadenz.lab.progress import Progress
from kadenz.lab.schedule import run
from kadenz.lab.variants import combinations, interleaved
from kadenz.store import Run, read_run
from tests.lab.fake import Scripted
from tests.lab.test_measure import job, record, said

HOST = TargetName("posix", "linux", "host")
CAMPAIGN = Campaign(
    name="t", title="t", targets=[], benchmark=[Benchmark(name="itc/queue", samples=6)]
)

# A complete new condition: room temperature, controlled by a chamber.
CHAMBER = """
from contextlib import contextmanager
from dataclasses import dataclass

from kadenz.errors import UsageError
from kadenz.lab.condition import Active, Choice, Condition, Option

LOG = []


@dataclass(frozen=True)
class Chamber(Condition):
    celsius: str

    @property
    def labels(self):
        return (f"at {self.celsius} °C",)

    @property
    def suffix(self):
        return f"-{self.celsius}C"

    @property
    def words(self):
        return {"temperature": f"{self.celsius} °C"}

    def set_up(self, setup, target):
        setup.arguments.append("--chamber")

    @contextmanager
    def active(self, run):
        LOG.append(f"heat {self.celsius}")
        try:
            yield Active()
        finally:
            LOG.append("off")


@dataclass(frozen=True)
class ChamberChoice(Choice):
    celsius: tuple

    title = "Climate chamber"
    order = 45
    options = (Option("--celsius", "Temperature of the room.", metavar="T", many=True),)

    @classmethod
    def asked(cls, values, campaign):
        return cls(tuple(values.get("celsius", ())))

    def check(self, targets):
        if any(not text.isdecimal() for text in self.celsius):
            raise UsageError("--celsius: not a temperature", remedy="For example --celsius 40")

    def variants(self, target):
        return [Chamber(text) for text in self.celsius]
"""


@pytest.fixture
def chamber(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Puts the file into the folder of conditions; returns its log."""
    import importlib
    import sys

    folder = tmp_path / "more"
    folder.mkdir()
    (folder / "chamber.py").write_text(CHAMBER)
    monkeypatch.setattr(conditions, "__path__", [*conditions.__path__, str(folder)])
    conditions.kinds.cache_clear()
    yield importlib.import_module("kadenz.lab.conditions.chamber").LOG
    sys.modules.pop("kadenz.lab.conditions.chamber")
    conditions.kinds.cache_clear()


def asked(**values: object) -> list[tuple[Condition, ...]]:
    found = conditions.choices(CAMPAIGN, values)
    for choice in found:
        choice.check([HOST])
    return combinations(HOST, found)


def measured(folder: Path, variants: list[tuple[Condition, ...]], rounds: int) -> list[Run]:
    jobs = []
    for each in variants:
        boots = [s for _ in range(rounds) for s in (Scripted([said(record(10))]), Scripted([]))]
        jobs.append(dataclasses.replace(job(folder, boots[:-1], 1), name=HOST, conditions=each))
    results = run(interleaved(jobs, rounds), folder / "out", Progress(), threading.Event())
    assert all(isinstance(one, Result) for one in results), results
    return [read_run(one.folder) for one in results if isinstance(one, Result)]


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
        command, ["--celsius", "20", "--celsius", "60", "--load", "none", "--allow-no-realtime"]
    )
    assert answer.exit_code == 0, answer.output

    variants = asked(**seen)
    assert [", ".join(word for c in each for word in c.labels) for each in variants] == [
        "load none, at 20 °C",
        "load none, at 60 °C",
    ]
    runs = measured(tmp_path, variants, rounds=2)
    assert chamber == ["heat 20", "off", "heat 60", "off", "heat 60", "off", "heat 20", "off"]
    assert [one.manifest.variant for one in runs] == [
        "at 20 °C",
        "at 60 °C",
        "at 60 °C",
        "at 20 °C",
    ]
    assert "-load-none-20C-round-1" in runs[0].path.name
    assert runs[0].manifest.conditions == {"load": "none", "temperature": "20 °C"}
    cool, hot = two_variants(runs)
    assert {one.manifest.conditions["temperature"] for one in hot} == {"60 °C"}
    manifests = [one.manifest for one in (cool[0], hot[0])]
    found = [one for one in differences(manifests) if "temperature" in str(one)]
    assert len(found) == 1


def test_a_condition_checks_its_request(chamber: list[str]) -> None:
    with pytest.raises(UsageError, match="--celsius: not a temperature"):
        asked(celsius=("warm",), allow_no_realtime=True)


def test_variants_are_the_product_and_the_last_kind_varies_fastest(chamber: list[str]) -> None:
    variants = asked(load=("none", "cpu"), celsius=("20", "60"), allow_no_realtime=True)
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
    of_command_line = combinations(HOST, conditions.choices(CAMPAIGN, {"load": ("none", "cpu")}))
    assert of_campaign == of_command_line and len(of_campaign) == 2


def test_options_of_all_kinds_have_distinct_names() -> None:
    flags = [one.flag for kind in conditions.kinds() for one in kind.options]
    assert len(flags) == len(set(flags)) > 15
    orders = [kind.order for kind in conditions.kinds()]
    assert orders == sorted(set(orders))
