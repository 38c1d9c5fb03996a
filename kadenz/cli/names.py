# SPDX-License-Identifier: Apache-2.0
"""Shell completion of targets, campaigns, benchmarks and profiles. Never raises."""

from __future__ import annotations

import click
from click.shell_completion import CompletionItem

from kadenz.errors import KadenzError


def complete_target(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Targets that begin with the text typed so far."""
    from kadenz.config.target_name import known_targets

    try:
        return [CompletionItem(name) for name in known_targets() if name.startswith(incomplete)]
    except KadenzError:
        return []


def profiles(typed: str) -> list[tuple[str, str]]:
    """Tuning profiles that begin with the text typed so far."""
    from kadenz.config import inventory

    try:
        return [(name, "") for name in inventory.tuning_files() if name.startswith(typed)]
    except KadenzError:
        return []


def complete_work(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Campaigns, then known benchmarks; otherwise a campaign file."""
    from kadenz.config import inventory
    from kadenz.lab.catalog import known_benchmarks

    try:
        candidates = dict.fromkeys(inventory.campaign_files(), "campaign")
        candidates |= dict.fromkeys(known_benchmarks(), "benchmark")
    except KadenzError:
        return []
    items = [
        CompletionItem(name, help=kind)
        for name, kind in candidates.items()
        if name.startswith(incomplete)
    ]
    return items or [CompletionItem(incomplete, type="file")]  # the user's own campaign


def complete_benchmark(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Benchmarks of built images and of campaigns."""
    from kadenz.lab.catalog import known_benchmarks

    try:
        return [CompletionItem(n) for n in known_benchmarks() if n.startswith(incomplete)]
    except KadenzError:
        return []
