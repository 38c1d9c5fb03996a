# SPDX-License-Identifier: Apache-2.0
"""How a change is written: in percent of the baseline, whichever side is ahead, with three digits.

The base is the same in every sentence and table of an answer: +9.11 % one way is 8.35 % the other.
"""

from __future__ import annotations

import math


def percent(change: float) -> str:
    """0.0911 as "+9.11 %"; "…" for an infinite one."""
    if not math.isfinite(change):
        return "…"
    share = 100.0 * change
    digits = 2 - math.floor(math.log10(abs(share))) if abs(share) >= 1e-3 else 0
    return f"{share:+,.{max(digits, 0)}f} %"


def change_words(ratio: float) -> str:
    """The ratio of the candidate to the baseline, 1.0911 as "+9.11 %"; "…" for an end of an
    interval that the data cannot give."""
    return percent(ratio - 1.0) if ratio > 0.0 else "…"
