# SPDX-License-Identifier: Apache-2.0
"""Sample rates as analysers write them: "24 MHz", "24000000", "24M"."""

from __future__ import annotations

import re

_RATE = re.compile(r"(\d+(?:\.\d+)?)\s*([kMG]?)(?:Hz)?", re.IGNORECASE)
_RATES = (1e-3, 1e15)  # Hz; no analyser is slower or faster
_FACTORS = {"": 1, "k": 1_000, "m": 1_000_000, "g": 1_000_000_000}


def parse_rate(text: str) -> float:
    """In Hz; 0.0 for a text that is no rate of an analyser."""
    match = _RATE.fullmatch(text.strip())
    rate = float(match[1]) * _FACTORS[match[2].lower()] if match else 0.0
    return rate if _RATES[0] <= rate <= _RATES[1] else 0.0
