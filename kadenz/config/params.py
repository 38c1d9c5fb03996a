# SPDX-License-Identifier: Apache-2.0
"""The parameters of a point: numbers, or words such as `policy=deadline`."""

from __future__ import annotations

import re
from collections.abc import Mapping

Value = int | str
Params = dict[str, Value]

_WORD = re.compile(r"[a-z][a-z0-9-]*")


def number(params: Mapping[str, Value], name: str, default: int = 0) -> int:
    """The number of a parameter; `default` where it is not there or is a word."""
    value = params.get(name, default)
    return value if isinstance(value, int) else default


def parse_value(text: str) -> Value:
    """`1000`, `0x10` or `deadline`. Raises ValueError for anything else."""
    return text if _WORD.fullmatch(text) else int(text, 0)
