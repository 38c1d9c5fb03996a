"""Cold executions: kept, labelled, apart."""

from __future__ import annotations

from dataclasses import dataclass

import numpy.typing as npt

from kadenz.stats.samples import Array


@dataclass(frozen=True, eq=False)
class Split:
    """Views of the first `cold` samples and of the rest; together they are all samples."""

    cold: Array
    warm: Array


@dataclass(frozen=True)
class ColdEffect:
    """Whether the cold executions differ from the warm ones.

    `difference` and `ratio` are of medians (ratio None when the warm median is 0), `p_value`
    two-sided, `differs` = p_value < alpha. `smallest_p` is the least p the data could have given:
    where it is not below alpha, `reason` says that no difference could have been shown.
    """

    cold_n: int
    warm_n: int
    cold_median: float
    warm_median: float
    difference: float
    ratio: float | None
    p_value: float
    smallest_p: float
    differs: bool
    reason: str = ""


def split(samples: npt.ArrayLike, cold: int) -> Split:
    """Split `samples` (n,) after the first `cold` (0 <= cold <= n). No copy."""
    raise NotImplementedError


def cold_effect(samples: npt.ArrayLike, cold: int, *, alpha: float = 0.01) -> ColdEffect:
    """Test whether the first `cold` of `samples` differ from the others."""
    raise NotImplementedError


def suggest_cold(samples: npt.ArrayLike, *, alpha: float = 0.01) -> int:
    """How many first samples look cold: a suggestion for the reader, never applied by itself."""
    raise NotImplementedError
