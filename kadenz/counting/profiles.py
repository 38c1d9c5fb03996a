# SPDX-License-Identifier: Apache-2.0
"""The profile of a counted function: its calls by the functions that executed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

from kadenz.config.profile import (
    PROFILE_VERSION,
    FunctionEntry,
    LaneProfile,
    Profile,
    StackEntry,
    ViewEntry,
    ViewName,
)
from kadenz.counting.firmware import Firmware
from kadenz.counting.functions import Function
from kadenz.counting.program import Program
from kadenz.errors import TargetFailed
from kadenz.targets.flows import ALL, Flow, Symbol


def median_of(lengths: Mapping[int, int]) -> int:
    """The lower median of calls, which are given by length: how many have it."""
    middle, so_far = (sum(lengths.values()) - 1) // 2, 0
    for length in sorted(lengths):
        so_far += lengths[length]
        if so_far > middle:
            return length
    raise ValueError("no calls")


class Profiles:
    """Profiles of the functions of an image, from the flows of an execution."""

    def __init__(self, image: Firmware | Program, flows: Iterable[Flow], target: str) -> None:
        self._target, self._image = target, image
        self._unit = image.clock.unit
        self._flows: dict[int, list[Flow]] = {}
        for flow in flows:
            self._flows.setdefault(flow.function, []).append(flow)

    def of(
        self, record: int, lane: str, number: int, function: Function, lengths: Mapping[int, int]
    ) -> Profile | None:
        """The profile of a function's calls, whose `lengths` are counted; None without any.

        Its samples are the one of the median, or the one that is nearest to it among those that
        are kept; the longest; the first; and all.
        """
        flows = self._flows.get(number, [])
        calls = [flow for flow in flows if flow.sample != ALL]
        if not calls or not lengths:
            return None
        middle = median_of(lengths)
        typical = min(calls, key=lambda flow: (abs(flow.instructions - middle), flow.sample))
        slowest = max(calls, key=lambda flow: (flow.instructions, -flow.sample))
        chosen: list[tuple[ViewName, Flow]] = [
            *(("all", flow) for flow in flows if flow.sample == ALL),
            ("typical", typical),
            ("slowest", slowest),
            *(("coldest", flow) for flow in calls if flow.sample == 0),
        ]
        _check(function, chosen, lengths, self._unit)
        tables = _Tables(self, function)
        views = [tables.view(name, flow, sum(lengths.values())) for name, flow in chosen]
        lanes = [LaneProfile(lane, len(lengths), views)]
        return Profile(
            PROFILE_VERSION,
            record,
            function.bench,
            self._target,
            self._unit,
            tables.functions,
            [],
            lanes,
        )

    def entry(self, symbol: int) -> FunctionEntry:
        """A function of the image, by its place among the symbols."""
        if symbol < 0:
            return FunctionEntry("outside of every function", self._image.part, "")
        return self._image.function_entry(self._image.symbols[symbol])

    def counted(self, function: Function) -> FunctionEntry:
        """The function whose calls are samples; a span is no function of the image."""
        if function.is_span:
            return FunctionEntry(function.name, "span", "")
        symbol = self._by_place.get((function.library, function.address))
        if symbol is None:
            return FunctionEntry(function.name, self._image.part, "")
        return self._image.function_entry(symbol)

    @cached_property
    def _by_place(self) -> dict[tuple[str, int], Symbol]:
        return {(each.library, each.address): each for each in self._image.symbols}


def _check(
    function: Function,
    chosen: Sequence[tuple[ViewName, Flow]],
    lengths: Mapping[int, int],
    unit: str,
) -> None:
    """TargetFailed if the parts of a sample are not the sample."""
    total = sum(length * count for length, count in lengths.items())
    for name, flow in chosen:
        asked = flow.instructions in lengths if flow.sample != ALL else flow.instructions == total
        if not asked:
            raise TargetFailed(
                f"{function.name}: the functions of its {name} sample have {flow.instructions:,} "
                f"{unit}s, and no call has",
                remedy="Report it with the image, its board and its kernel",
            )


class _Tables:
    """Functions of a profile by number."""

    def __init__(self, profiles: Profiles, function: Function) -> None:
        self.functions = [profiles.counted(function)]
        self._profiles = profiles
        self._number_of: dict[int, int] = {}

    def view(self, name: ViewName, flow: Flow, samples: int) -> ViewEntry:
        """A view with its stacks in the order of their names."""
        stacks = [
            StackEntry([0, *map(self._number, below)], False, count, calls)
            for below, (count, calls) in flow.parts.items()
            if count
        ]
        stacks.sort(key=lambda stack: [self.functions[number].name for number in stack.path])
        return ViewEntry(
            name=name,
            sample=flow.sample,
            samples=samples if flow.sample == ALL else 1,
            instructions=flow.instructions,
            stacks=stacks,
            code=[],
            exceptions={},
            returns=0,
            masked=[],
        )

    def _number(self, symbol: int) -> int:
        if symbol not in self._number_of:
            self._number_of[symbol] = len(self.functions)
            self.functions.append(self._profiles.entry(symbol))
        return self._number_of[symbol]
