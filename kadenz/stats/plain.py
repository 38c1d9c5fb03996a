# SPDX-License-Identifier: Apache-2.0
"""Numbers in sentences: few significant digits, no exponent, no infinity."""

from __future__ import annotations

import math


def plain(value: float, digits: int = 3) -> str:
    """330.2 as "330", 0.01234 as "0.0123", 33,020 as "33,000"; "…" for an infinite value."""
    rounded = float(f"{value:.{digits}g}")
    if not math.isfinite(rounded):
        return "…"
    text = f"{rounded:,.12f}".rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text
