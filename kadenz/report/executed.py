# SPDX-License-Identifier: Apache-2.0
"""Pictures of what a target executed: flame graphs of profiles, strips of timelines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from kadenz.analysis.results import RunResult
from kadenz.analysis.timelines import timelines_of
from kadenz.report import labels
from kadenz.report.flames import graph
from kadenz.report.sections import Block, Picture, Text
from kadenz.report.svg.panel import WIDTH as NARROW
from kadenz.report.svg.panel import Plot
from kadenz.report.svg.timeline import WIDTH as WIDE
from kadenz.report.svg.timeline import timeline_picture, window_of
from kadenz.report.tables import Named
from kadenz.store import read_run
from kadenz.store.layout import PROFILES, TIMELINES
from kadenz.store.profiles import read_profiles


def by_benchmark(runs: Named) -> dict[str, list[Block]]:
    """The pictures of each benchmark: of each run the first point that was profiled or traced."""
    blocks: dict[str, list[Block]] = {}
    for heading, draw in (("Where the instructions go", _flames), ("Who ran when", _strips)):
        drawn: dict[str, list[Block]] = {}
        for label, run in runs:
            for bench, wide, narrow in draw(run):
                drawn.setdefault(bench, []).append(_named(label, wide, narrow))
        for bench, pictures in drawn.items():
            blocks.setdefault(bench, []).extend((Text(heading, tag="h4"), *pictures))
    return blocks


def _flames(run: RunResult) -> Iterator[tuple[str, Plot, Plot]]:
    if not (run.path / PROFILES).is_dir():
        return
    seen: set[str] = set()
    for profile in read_profiles(read_run(run.path)):
        if profile.bench not in seen:
            seen.add(profile.bench)
            for lane in profile.lanes:
                wide, narrow = (graph(profile, lane, "typical", width) for width in (WIDE, NARROW))
                yield profile.bench, wide, narrow


def _strips(run: RunResult) -> Iterator[tuple[str, Plot, Plot]]:
    if not (run.path / TIMELINES).is_dir():
        return
    seen: set[str] = set()
    for timeline in timelines_of(read_run(run.path)):
        if timeline.bench not in seen:
            seen.add(timeline.bench)
            name, window = f"timeline-{timeline.record:05d}", window_of(timeline)
            wide, narrow = (
                timeline_picture(timeline, window, name, width) for width in (WIDE, NARROW)
            )
            yield timeline.bench, wide, narrow


def _named(label: str, wide: Plot, narrow: Plot) -> Picture:
    """File names with the run's label, which differs from run to run."""
    return Picture(replace(wide, name=f"{labels.slug(label)}-{wide.name}"), narrow)
