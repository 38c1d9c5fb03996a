# SPDX-License-Identifier: Apache-2.0
"""Sample rates as analysers write them: "24 MHz", "24000000", "24M"."""

from __future__ import annotations

import re

_RATE = re.compile(r"(\d+(?:\.\d+)?)\s*([kMG]?)(?:Hz)?", re.IGNORECASE)
_FACTORS = {"": 1, "k": 1_000, "m": 1_000_000, "g": 1_000_000_000}


def parse_rate(text: str) -> float:
    """In Hz; 0.0 for a text that is no rate above zero."""
    found = _RATE.fullmatch(text.strip())
    return float(found[1]) * _FACTORS[found[2].lower()] if found else 0.0
