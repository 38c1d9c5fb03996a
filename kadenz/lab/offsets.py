# SPDX-License-Identifier: Apache-2.0
"""A call beside another core, which begins to work at an offset from it: what there is to try on
several cores. A benchmark that does so has parameters for its window and for the work."""

from __future__ import annotations

from collections.abc import Sequence

from kadenz.config.params import Value
from kadenz.errors import UsageError
from kadenz.lab.plan import SAMPLES_KEY
from kadenz.lab.reference import described

_KIND = "other_core"  # what the other core does, in words
_PARAMS = {_KIND, "before", "behind"}
_SAMPLES = 4002  # each offset of the window twice


def sweeps() -> tuple[str, ...]:
    """The benchmarks that sweep an offset, of the suite and of the lab."""
    return tuple(
        name
        for name, bench in sorted(described().items())
        if {each.name for each in bench.params} >= _PARAMS
    )


def is_sweep(work: Sequence[str], arriving: Sequence[str]) -> bool:
    """Whether all of `work` sweeps an offset. UsageError if it does, and `arriving` names options:
    no interrupt arrives in it."""
    if not work or not {*work} <= {*sweeps()}:
        return False
    if arriving:
        raise UsageError(
            f"{work[0]}: no interrupt arrives in it, so it has no {arriving[0]}",
            remedy=f"Leave {' and '.join(arriving)} out: another core begins at each offset",
        )
    return True


def every_kind(work: Sequence[str]) -> dict[str, list[Value]]:
    """Values of `--set`: each kind of work that the benchmarks declare, and each offset twice."""
    params = (each for name in work for each in described()[name].params)
    kinds = dict.fromkeys(
        word for each in params if each.name == _KIND for word in each.choices or ()
    )
    values: dict[str, list[Value]] = {SAMPLES_KEY: [_SAMPLES]}
    return {**values, _KIND: [*kinds]} if kinds else values
