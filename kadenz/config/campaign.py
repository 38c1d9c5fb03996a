# SPDX-License-Identifier: Apache-2.0
"""campaign.toml: which benchmarks, with which parameters, on which targets."""

from __future__ import annotations

import itertools
from typing import Annotated

import msgspec

from kadenz.config.model import FileModel
from kadenz.config.quantity import parse_quantity
from kadenz.errors import UsageError

Positive = Annotated[int, msgspec.Meta(ge=1)]
Values = int | Annotated[list[int], msgspec.Meta(min_length=1)]


class Benchmark(FileModel, kw_only=True, frozen=True):
    """One [[benchmark]] table: a benchmark, swept over every parameter that is a list."""

    name: str  # "itc/queue"
    samples: Positive
    quick_samples: Positive | None = None  # with --quick; None: a twentieth, at least 20
    cold: Annotated[int, msgspec.Meta(ge=0)] = 0  # first executions kept apart (rule 5)
    kernels: tuple[str, ...] = ()  # only on these kernels; empty: on all
    targets: tuple[str, ...] = ()  # only on targets that match one of these globs; empty: on all
    deadline: str = ""  # "100us": by when a cycle has to have ended; "": its period, if any
    params: dict[str, Values] = msgspec.field(default_factory=dict)

    def __post_init__(self) -> None:
        """ValueError, which becomes a ConfigError with its line, where `deadline` is none."""
        if self.deadline:
            try:
                parse_quantity(self.deadline, "deadline")
            except UsageError as error:
                raise ValueError(str(error)) from None

    def points(self) -> list[dict[str, int]]:
        """The cartesian product of the swept parameters, the last named one fastest."""
        names = list(self.params)
        axes = [v if isinstance(v, list) else [v] for v in self.params.values()]
        return [dict(zip(names, values, strict=True)) for values in itertools.product(*axes)]

    def count(self, quick: bool) -> int:
        """Samples a point, in the full or the quick run."""
        if not quick:
            return self.samples
        wanted = self.quick_samples or max(20, self.samples // 20)
        return min(wanted, self.samples)


class LoadSettings(FileModel, kw_only=True, frozen=True):
    """The [load] table: how the campaign's loads run."""

    workers: Annotated[int, msgspec.Meta(ge=0)] = 0  # of each part; 0: as the load decides
    cpus: tuple[int, ...] = ()  # none: all


class GuestSettings(FileModel, kw_only=True, frozen=True):
    """The [guest] table: one run for each kernel, load and tuning, on targets of tier guest."""

    kernels: tuple[str, ...] = ()  # versions; those a board does not have are left out
    loads: tuple[str, ...] = ()  # inside the guest: "none", "cpu+timers"
    # Profiles of tunings/ that set threads alone, or "none"; of kernels with PREEMPT_RT only,
    # where interrupts have threads: others are measured once.
    tunings: tuple[str, ...] = ()


class Campaign(FileModel, kw_only=True, frozen=True):
    """A campaign: campaigns/<name>.toml."""

    name: str
    title: str
    study: str = ""  # id of the study it repeats, as in published/published.csv
    targets: list[str]
    conditions: dict[str, str] = msgspec.field(
        default_factory=dict
    )  # what is varied or held around the benchmarks, in words
    # Loads beside the benchmarks, by name: one run for each, on targets of this Linux.
    loads: list[str] = msgspec.field(default_factory=list)
    load: LoadSettings = LoadSettings()
    guest: GuestSettings = GuestSettings()
    benchmark: Annotated[list[Benchmark], msgspec.Meta(min_length=1)]
