# SPDX-License-Identifier: Apache-2.0
"""Flame graphs of profiles."""

from __future__ import annotations

from kadenz.analysis.profiles import view
from kadenz.config.profile import INTERRUPT, LaneProfile, Profile, ViewEntry, ViewName
from kadenz.report.svg.flame import WIDTH, Stack, flame
from kadenz.report.svg.panel import Plot


def title_of(profile: Profile, lane: LaneProfile) -> str:
    """Benchmark, lane and target: "itc/queue on freertos/stm32f4@emulated"."""
    return f"{profile.bench}{_lane(lane)} on {profile.target}"


def _lane(lane: LaneProfile) -> str:
    return "" if lane.lane == "all" else f", {lane.lane}"


def place_of(lane: LaneProfile, shown: ViewEntry) -> str:
    """Which sample of the lane it is, or which arrival."""
    return f"{'sample' if lane.is_of_samples else 'arrival in cycle'} {shown.sample}"


def stacks(profile: Profile, shown: ViewEntry) -> list[Stack]:
    """The call paths of a view; those of interrupts begin with their name."""
    call_paths = []
    for stack in shown.stacks:
        names = tuple(profile.functions[number].name for number in stack.path)
        part = INTERRUPT if stack.interrupt else profile.functions[stack.path[-1]].part
        call_paths.append(
            Stack((INTERRUPT, *names) if stack.interrupt else names, part, stack.instructions)
        )
    return call_paths


def graph(profile: Profile, lane: LaneProfile, name: ViewName, width: float = WIDTH) -> Plot:
    """The flame graph of a view; `width` in pixels."""
    shown = view(lane, name)
    which = place_of(lane, shown) if shown.sample >= 0 else f"{shown.samples:,} samples"
    return flame(
        stacks(profile, shown),
        title_of(profile, lane),
        f"{name}: {which}, {shown.instructions:,} {profile.unit}s",
        f"{file_stem(profile, lane)}-{name}",
        width,
        units=f"{profile.unit}s",
    )


def file_stem(profile: Profile, lane: LaneProfile) -> str:
    """The beginning of a lane's file names."""
    plain = profile.bench.replace("/", "-")
    return f"{profile.record:05d}-{plain}" + ("" if lane.lane == "all" else f"-{lane.lane}")
