# SPDX-License-Identifier: Apache-2.0
"""Holm's adjustment of p-values for several tests at once."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from kadenz.stats.errors import Undefined
from kadenz.stats.samples import Floats


def holm(p_values: npt.ArrayLike) -> Floats:
    """Adjusted p-values (m,) for `p_values` (m,), each in 0 ... 1; m may be 0.

    Method: Holm (1979): the k-th smallest is multiplied by m - k + 1 and is never smaller than the
    previous one. Rejecting results of at most alpha keeps the probability of *any* wrong rejection
    at alpha or less, for any dependence between the tests. Chosen over the false discovery rate
    (Benjamini and Hochberg 1995) because one wrong rejection is enough to fail a build.
    """
    p = np.asarray(p_values, dtype=np.float64)
    if p.ndim != 1 or not bool(((p >= 0.0) & (p <= 1.0)).all()):
        raise Undefined("Holm's adjustment", "p-values are not a row of numbers in 0 ... 1")
    order = np.argsort(p, kind="stable")
    factors = np.arange(p.size, 0, -1)
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * factors), 1.0)
    return adjusted
