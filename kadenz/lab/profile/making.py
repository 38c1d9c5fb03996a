# SPDX-License-Identifier: Apache-2.0
"""Profiles of records: the regions of each lane, walked and summed up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from kadenz.config.manifest import RecordEntry
from kadenz.config.profile import (
    PROFILE_VERSION,
    CodeEntry,
    FunctionEntry,
    LaneProfile,
    LockEntry,
    MaskedEntry,
    Profile,
    StackEntry,
    ViewEntry,
    ViewName,
)
from kadenz.images.code import Code, Function
from kadenz.lab.profile.cores import core_of
from kadenz.lab.profile.tree import Node
from kadenz.lab.profile.walk import Effect, Program, SectionKind, Walker
from kadenz.targets.paths import RUN, Paths, Region, Unit
from kadenz.targets.scope import RecordSpans, ScopeDamaged


class Profiler:
    """Makes the views of one execution."""

    def __init__(self, code: Code, paths: Paths) -> None:
        self._program = Program(code, paths)
        self._walker = Walker(self._program, core_of(code.arch))
        self._walked: dict[tuple[int, ...], Effect] = {}

    def lanes(
        self, tables: Tables, entry: RecordEntry, regions: Sequence[Region]
    ) -> list[LaneProfile]:
        """The lanes of one record, in turn those of its regions."""
        lanes = []
        for place, lane in enumerate(entry.series):
            mine = regions[place :: len(entry.series)]
            if mine:
                spans = [self._program.paths.span(region) for region in mine]
                chosen = chosen_samples(spans, entry.cold)
                views = [
                    self.view(tables, name, at, mine if at < 0 else [mine[at]])
                    for name, at in chosen
                ]
                lanes.append(LaneProfile(lane.name, len({region.path for region in mine}), views))
        return lanes

    def view(
        self, tables: Tables, name: ViewName, sample: int, chosen: Sequence[Region]
    ) -> ViewEntry:
        """The view of some regions, whose number in the lane is `sample`."""
        times = Counter(region.path for region in chosen)
        effect = Effect()
        tokens: Counter[int] = Counter()
        for path, count in times.items():
            if path not in self._walked:
                self._walked[path] = self._walker.walk(path)
            effect.add(self._walked[path], count)
            for token, executed in self._tokens(path).items():
                tokens[token] += executed * count
        stacks = tables.stacks(effect)
        paths = self._program.paths
        total, wanted = (
            sum(stack.instructions for stack in stacks),
            sum(paths.span(region) for region in chosen),
        )
        if total != wanted:
            raise ScopeDamaged(
                f"{name}: the functions have {total} {paths.unit}s, and the samples {wanted}",
                remedy="Report it with the benchmark's name and the target",
            )
        return ViewEntry(
            name,
            sample,
            len(chosen),
            total,
            stacks,
            tables.executed(self._program, tokens),
            dict(sorted(effect.entries.items())),
            effect.returns,
            _sections(tables, effect, "masked"),
            _sections(tables, effect, "locked"),
            _sections(tables, effect, "held"),
        )

    def _tokens(self, path: tuple[int, ...]) -> Counter[int]:
        """How often each run is executed along a path."""
        paths = self._program.paths
        executed: Counter[int] = Counter()
        for piece, times in Counter(path).items():
            tokens, counts = np.unique(paths.pieces[piece], return_counts=True)
            for token, count in zip(tokens.tolist(), counts.tolist(), strict=True):
                if paths.tokens[token]["kind"] == RUN:
                    executed[token] += count * times
        return executed


def _sections(tables: Tables, effect: Effect, kind: SectionKind) -> list[MaskedEntry]:
    """The sections of one kind, longest first."""
    sections = [(key, count) for key, count in effect.sections.items() if key[0] == kind]
    return [
        MaskedEntry(tables.path(node), length, count, begin, end)
        for (_, node, begin, end, length), count in sorted(
            sections, key=lambda item: (-item[0][4], item[0][2:4])
        )
    ]


def regions_of(
    paths: Paths, records: Mapping[int, RecordSpans]
) -> Iterator[tuple[int, list[Region]]]:
    """The regions of each record. Raises ScopeDamaged at the first whose spans they are not."""
    rest = iter(paths.regions)
    for number, record in records.items():
        mine: list[Region] = []
        for span in record.spans.tolist():
            region = next(rest, None)
            if region is None or paths.span(region) != span:
                raise ScopeDamaged(
                    f"record {number}: sample {len(mine)} has {span} {paths.unit}s in the trace, "
                    + ("and no path" if region is None else "and another number in its path"),
                    remedy="Measure again; paths that were cut have ended with the emulator",
                )
            mine.append(region)
        yield number, mine


def chosen_samples(spans: Sequence[int], cold: int) -> Iterator[tuple[ViewName, int]]:
    """The sample of each view, -1 for all; `cold`: samples that the record excludes.

    The first sample is often the longest and is the coldest anyway, so the slowest is a warm one.
    """
    middle = sorted(spans)[(len(spans) - 1) // 2]
    warm = min(max(cold, 1), len(spans) - 1)
    yield "all", -1
    yield "typical", spans.index(middle)
    yield "slowest", spans.index(max(spans[warm:]), warm)
    yield "coldest", 0


class Tables:
    """Functions and instructions of a profile by number."""

    def __init__(self, code: Code) -> None:
        self.functions: list[FunctionEntry] = []
        self.code: list[CodeEntry] = []
        self._code = code
        self._function_of: dict[Function, int] = {}
        self._code_of: dict[int, int] = {}

    def profile(
        self, entry: RecordEntry, target: str, unit: Unit, lanes: list[LaneProfile], lock: LockEntry
    ) -> Profile:
        """The profile of a record whose views have these numbers."""
        self._enter_lines()
        return Profile(
            PROFILE_VERSION,
            entry.id,
            entry.bench,
            target,
            unit,
            self.functions,
            self.code,
            lanes,
            lock,
        )

    def path(self, node: Node) -> list[int]:
        """The functions that lead to a node, by number."""
        return [self._number(function) for function in node.path()]

    def stacks(self, effect: Effect) -> list[StackEntry]:
        """Instructions and calls by path, in the order of the names."""
        entries: dict[tuple[tuple[int, ...], bool], StackEntry] = {}
        for node in {**effect.instructions, **effect.calls}:
            path = tuple(self.path(node))
            key = path, node.slot.interrupt
            entry = entries.setdefault(key, StackEntry(list(path), node.slot.interrupt, 0, 0))
            entry.instructions += effect.instructions[node]
            entry.calls += effect.calls[node]
        named = [
            ([self.functions[n].name for n in stack.path], stack) for stack in entries.values()
        ]
        return [stack for _, stack in sorted(named, key=lambda item: (item[1].interrupt, item[0]))]

    def executed(self, program: Program, tokens: Mapping[int, int]) -> list[tuple[int, int]]:
        """Each instruction by its number: how often it was executed, or its cycles."""
        counts: Counter[int] = Counter()
        in_cycles = program.paths.unit == "cycle"
        for token, times in tokens.items():
            each = times * program.paths.spent(token) if in_cycles else times
            for instruction in program.instructions(token):
                if instruction.address not in self._code_of:
                    self._code_of[instruction.address] = len(self.code)
                    function = self._number(self._code.function_at(instruction.address))
                    self.code.append(
                        CodeEntry(instruction.address, function, instruction.kind, instruction.text)
                    )
                counts[self._code_of[instruction.address]] += each
        return sorted(counts.items(), key=lambda item: self.code[item[0]].address)

    def _enter_lines(self) -> None:
        """Adds the source lines, as far as there is debug information."""
        for address, (file, line) in self._code.lines(self._code_of).items():
            entry = self.code[self._code_of[address]]
            entry.file, entry.line = file, line

    def _number(self, function: Function) -> int:
        if function not in self._function_of:
            self._function_of[function] = len(self.functions)
            entry = FunctionEntry(function.name, function.part, function.file)
            self.functions.append(entry)
        return self._function_of[function]
