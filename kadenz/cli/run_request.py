# SPDX-License-Identifier: Apache-2.0
"""From the words of `kadenz run` to requests."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kadenz.config.key_values import Notation
from kadenz.config.params import Value, parse_value
from kadenz.errors import UsageError

if TYPE_CHECKING:
    from kadenz.config.campaign import Campaign
    from kadenz.config.manifest import CampaignEntry, Instrument
    from kadenz.config.target_name import TargetName
    from kadenz.lab.preparing import Request

_SET = Notation("--set")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_ADHOC_SAMPLES = 1001  # the first is cold; jitter is analysed from 1,000 warm samples on
_ADHOC_QUICK = 50


def lab_defaults(output: Path | None, rounds: int | None) -> tuple[Path, int | None]:
    """`--output` and `--rounds`, else what the lab says."""
    from kadenz.config.lab_file import find_lab, output_folder

    lab = find_lab()
    return output or output_folder(), rounds or (lab.file.defaults.rounds if lab else None)


def run_name(asked: str, output: Path) -> str:
    """The name of this call's runs. UsageError for a name that is taken, or cannot be typed."""
    from datetime import UTC, datetime

    from kadenz.store.names import LATEST, named

    if asked and (asked == LATEST or not _NAME.fullmatch(asked)):
        raise UsageError(
            f"--name {asked}: a run's name has letters, digits, `.`, `-` and `_`"
            + (f", and is not `{LATEST}`" if asked == LATEST else ""),
            remedy="For example --name before-patch",
        )
    taken = named(output, asked) if asked else []
    if taken:
        raise UsageError(
            f"--name {asked}: {taken[0]} has this name", remedy="Choose another, or remove that run"
        )
    return asked or f"{datetime.now(UTC):%Y%m%d-%H%M%S}"


def requests_of(
    wanted: Callable[..., Request],
    work: Sequence[str],
    targets: Sequence[str],
    conditions: Mapping[str, Any],
    *,
    quick: bool,
    instrument: Instrument | None = None,
) -> list[Request]:
    """One request for each campaign; `wanted` makes it from what differs between campaigns.

    `instrument` measures all targets; None: the campaign's own.
    """
    requests = []
    for campaign, entry in _campaigns(work, quick=quick):
        names = _targets(campaign, targets)
        by = {instrument: names} if instrument else _by_instrument(campaign, names)
        measured_by = partial(wanted, instruments=by)
        requests.append(request_of(measured_by, campaign, entry, names, conditions))
    return requests


def services_of(work: Sequence[str]) -> list[str]:
    """The benchmarks that `work` names, by itself or by a campaign."""
    campaigns = [campaign for campaign, _ in _campaigns(work, quick=False)]
    return [benchmark.name for campaign in campaigns for benchmark in campaign.benchmark]


def _by_instrument(
    campaign: Campaign, names: Sequence[TargetName]
) -> dict[Instrument, list[TargetName]]:
    """The targets that each of the campaign's instruments measures.

    UsageError for a target that none of them does.
    """
    from kadenz.lab.plan import matches

    globs = campaign.instruments
    for name in names:
        if not any(matches(name, of) for of in globs.values()):
            raise UsageError(
                f"campaign {campaign.name}: no instrument of [instruments] measures {name}",
                remedy='Name it there, for example counter = ["*"], or pass --instrument',
            )
    return {by: [name for name in names if matches(name, of)] for by, of in globs.items()}


def request_of(
    wanted: Callable[..., Request],
    campaign: Campaign,
    entry: CampaignEntry,
    names: list[TargetName],
    conditions: Mapping[str, Any],
) -> Request:
    """The request for one campaign."""
    from kadenz.lab.conditions import choices, own_choices

    return wanted(
        campaign=campaign,
        entry=entry,
        targets=names,
        choices=choices(campaign, conditions),
        own_choices=own_choices(names, campaign, conditions),
    )


def _campaigns(work: Sequence[str], *, quick: bool) -> Iterator[tuple[Campaign, CampaignEntry]]:
    """The campaigns that `work` names, then one made of the benchmarks that it names."""
    from kadenz.config import inventory
    from kadenz.config.campaign import Benchmark, Campaign
    from kadenz.config.manifest import CampaignEntry
    from kadenz.lab.measure import sha256_of

    benchmarks = []
    for word in work:
        if "/" in word and not word.endswith(".toml"):
            benchmarks.append(
                Benchmark(name=word, samples=_ADHOC_SAMPLES, quick_samples=_ADHOC_QUICK, cold=1)
            )
        else:
            file = Path(word) if word.endswith(".toml") else inventory.campaign_file(word)
            campaign = inventory.read_campaign(file)
            entry = CampaignEntry(
                name=campaign.name, file=file.name, sha256=sha256_of(file), quick=quick
            )
            yield campaign, entry
    if benchmarks:
        yield (
            Campaign(name="single", title=", ".join(work), targets=[], benchmark=benchmarks),
            CampaignEntry(name="single", file="", sha256="", quick=quick),
        )


def _targets(campaign: Campaign, wanted: Sequence[str]) -> list[TargetName]:
    """The targets named with --target, else the campaign's. UsageError if there are none."""
    from kadenz.config.target_name import parse_target

    names = [parse_target(text) for text in dict.fromkeys(wanted or campaign.targets)]
    if not names:
        raise UsageError(
            "a benchmark alone has no target", remedy="Name one: --target kernel/board@tier"
        )
    return names


def overrides_of(settings: Sequence[str]) -> dict[str, list[Value]]:
    """The values of --set by key. UsageError for anything but KEY=VALUE,VALUE…"""
    texts = _SET.merged(_SET.parse(setting) for setting in settings)
    return {key: _values(key, values) for key, values in texts.items()}


def _values(key: str, texts: Sequence[str]) -> list[Value]:
    where = f"--set {key}={','.join(texts)}"
    try:
        given = [parse_value(text) for text in texts]
    except ValueError:
        raise UsageError(
            f"{where}: neither numbers nor words",
            remedy="For example --set size_bytes=60,120 or --set policy=deadline",
        ) from None
    numbers = [value for value in given if isinstance(value, int)]
    if key in ("samples", "seconds") and (len(given) > 1 or not numbers or numbers[0] < 1):
        raise UsageError(f"{where}: one positive number", remedy=f"--set {key}=1000")
    if key == "cold" and (len(given) > 1 or not numbers or numbers[0] < 0):
        raise UsageError(f"{where}: one number", remedy="--set cold=10")
    return given


def point_of(settings: Sequence[str]) -> dict[str, Value]:
    """The values of --set by key, one each. UsageError for several."""
    overrides = overrides_of(settings)
    for key, values in overrides.items():
        if len(values) > 1:
            raise UsageError(f"--set {key}: one value, not {len(values)}", remedy=f"--set {key}=60")
    return {key: values[0] for key, values in overrides.items()}


def rounds_folder(output: Path) -> Path:
    """A folder for the runs of this call alone: compare takes its sides from it."""
    from datetime import UTC, datetime

    name = f"{datetime.now(UTC):%Y%m%d-%H%M%S}-rounds"
    for number in range(1, 1000):
        folder = output / (name if number == 1 else f"{name}-{number}")
        if not folder.exists():
            return folder
    raise UsageError(f"{output}/{name}: no free name", remedy="Name another folder with --output")


def note_needless_root(requests: Sequence[Request]) -> None:
    """A line if sudo started a call whose targets files alone decide: they need no rights.

    A container without sudo, where root may be the only user, gets none.
    """
    from kadenz.config.manifest import REPEATABLE

    tiers = {name.tier for request in requests for name in request.targets}
    if os.geteuid() == 0 and os.environ.get("SUDO_UID") and tiers <= {*REPEATABLE}:
        click.echo(
            "note: root-not-needed: these targets need no rights of root, and an image of others "
            "has fewer without: leave sudo out",
            err=True,
        )
