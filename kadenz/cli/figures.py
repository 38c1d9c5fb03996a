# SPDX-License-Identifier: Apache-2.0
"""Percentages and names of statistics, the same in every command."""

from __future__ import annotations

import re
from typing import Any

import click

from kadenz.errors import UsageError

_NUMBER = re.compile(r"[0-9]+(\.[0-9]+)?|\.[0-9]+")
_NAMED = ("mean", "median", "max")


class Percent(click.ParamType):
    """`5` or `5%` as 0.05."""

    name = "percent"

    def __init__(self, most: float = 100.0, *, zero: bool = True) -> None:
        """`most`: the largest percentage; `zero`: whether it may be none."""
        self._most = most
        self._zero = zero

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """The share. Raises UsageError of kadenz."""
        if isinstance(value, float):
            return value
        return share(
            param.opts[-1] if param is not None else "", value, self._most, zero=self._zero
        )


class Statistic(click.ParamType):
    """`median`, `mean`, `max`, or a percentile such as `p99.9` as 0.999."""

    name = "statistic"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> str | float:
        """The name, or the level of a percentile. Raises UsageError of kadenz."""
        return statistic(value) if isinstance(value, str) else float(value)


def share(option: str, text: str, most: float = 100.0, *, zero: bool = True) -> float:
    """`5` or `5%` as 0.05. UsageError unless it is from 0 to `most` per cent.

    A fraction without a sign is refused: 0.05 might mean 5 % or 0.05 %.
    """
    number = text.removesuffix("%").rstrip()
    value = float(number) if _NUMBER.fullmatch(number) else -1.0
    if not 0.0 <= value <= most or value == 100.0 or (value == 0.0 and not zero):
        limit = f" up to {most:g}%" if most < 100.0 else ""
        raise UsageError(
            f"{option} {text}: not a percentage{limit}",
            remedy=f"For example {option} {min(5.0, most):g}%",
        )
    if not text.endswith("%") and 0.0 < value < 1.0:
        raise UsageError(
            f"{option} {text}: {text} % or {value * 100:g} %?",
            remedy=f"Write {option} {number}% or {option} {value * 100:g}%",
        )
    return value / 100.0


def statistic(name: str) -> str | float:
    """`median`, `mean`, `max`, or `p99.9` as 0.999. UsageError for another name."""
    if name in _NAMED:
        return name
    digits = name.removeprefix("p")
    level = float(digits) / 100.0 if name != digits and _NUMBER.fullmatch(digits) else 0.0
    if not 0.0 < level < 1.0 or level == 0.5:
        raise UsageError(
            f"--statistic {name}: unknown statistic",
            remedy="Write median"
            if level == 0.5
            else "mean, median, max, or a percentile such as p99.9",
        )
    return level
