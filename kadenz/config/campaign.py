# SPDX-License-Identifier: Apache-2.0
"""campaign.toml: which benchmarks, with which parameters, on which targets."""

from __future__ import annotations

import itertools
import math
from typing import Annotated, Literal

import msgspec

from kadenz.config.model import FileModel
from kadenz.config.params import Params, Value
from kadenz.config.quantity import parse_quantity
from kadenz.errors import UsageError

Positive = Annotated[int, msgspec.Meta(ge=1)]
# A number, or a word such as "deadline".
Values = Value | Annotated[list[Value], msgspec.Meta(min_length=1)]

# What a call may measure by; the others belong to profiles, timelines and imported captures.
Chosen = Literal["counter", "scope", "model", "pins"]

_MOST_POINTS = 100_000  # of one benchmark


class Benchmark(FileModel, kw_only=True, frozen=True):
    """One [[benchmark]] table: a benchmark, swept over each parameter that is a list."""

    name: str  # "itc/queue"
    samples: Positive
    quick_samples: Positive | None = None  # samples with --quick; None: a twentieth, at least 20
    cold: Annotated[int, msgspec.Meta(ge=0)] = 0  # first executions, reported separately (rule 5)
    targets: tuple[str, ...] = ()  # only on targets that match one of these globs; empty: on all
    deadline: str = ""  # "100us": time limit of a cycle; "": its period, if any
    params: dict[str, Values] = msgspec.field(default_factory=dict)

    def __post_init__(self) -> None:
        """Raises ValueError for a wrong `deadline` or sweep; it becomes a ConfigError."""
        if self.deadline:
            try:
                parse_quantity(self.deadline, "deadline")
            except UsageError as error:
                raise ValueError(str(error)) from None
        points = math.prod(len(v) for v in self.params.values() if isinstance(v, list))
        if points > _MOST_POINTS:
            raise ValueError(f"`params` makes {points} points, at most {_MOST_POINTS} are measured")

    def points(self) -> list[Params]:
        """The Cartesian product of the swept parameters; the last one varies fastest."""
        names = list(self.params)
        axes = [v if isinstance(v, list) else [v] for v in self.params.values()]
        return [dict(zip(names, values, strict=True)) for values in itertools.product(*axes)]

    def count(self, quick: bool) -> int:
        """Samples per point, in a full or a quick run."""
        if not quick:
            return self.samples
        wanted = self.quick_samples or max(20, self.samples // 20)
        return min(wanted, self.samples)


class LoadSettings(FileModel, kw_only=True, frozen=True):
    """The [load] table: settings of the campaign's loads."""

    workers: Annotated[int, msgspec.Meta(ge=0)] = 0  # per part; 0: the load's default
    cpus: tuple[int, ...] = ()  # none: all


class GuestSettings(FileModel, kw_only=True, frozen=True):
    """The [guest] table: one run per kernel, load and tuning, on targets of tier guest."""

    # Versions, or files with a slash, relative to the campaign's file; those that do not fit a
    # target are left out.
    kernels: tuple[str, ...] = ()
    loads: tuple[str, ...] = ()  # inside the guest: "none", "cpu+timers"
    # Profiles of tunings/ that only set threads, or "none". They apply to kernels with PREEMPT_RT,
    # whose interrupts have threads; other kernels are measured once.
    tunings: tuple[str, ...] = ()


class Campaign(FileModel, kw_only=True, frozen=True):
    """What campaigns/<name>.toml asks for: benchmarks, targets, conditions."""

    name: str
    title: str
    study: str = ""  # id of the study it repeats, as in published/published.csv
    targets: list[str]
    # The targets that each instrument measures, as globs; of one that several name, several runs.
    instruments: dict[Chosen, tuple[str, ...]] = msgspec.field(
        default_factory=lambda: {"counter": ("*",)}
    )
    minimal: bool = False  # weigh a minimal application of each image, too
    conditions: dict[str, str] = msgspec.field(
        default_factory=dict
    )  # description of the conditions
    # Names of loads: one run under each, on targets of this Linux.
    loads: list[str] = msgspec.field(default_factory=list)
    load: LoadSettings = LoadSettings()
    guest: GuestSettings = GuestSettings()
    benchmark: Annotated[list[Benchmark], msgspec.Meta(min_length=1)]
