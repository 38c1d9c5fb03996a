# SPDX-License-Identifier: Apache-2.0
"""Options and arguments of a call of `kadenz run`, with their types."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kadenz.config.board_link import BoardLink
from kadenz.lab.conditions import kinds

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from kadenz.config.manifest import Instrument


@dataclass(frozen=True)
class What:
    """Options under the heading What to measure."""

    work: tuple[str, ...]
    targets: tuple[str, ...]
    settings: tuple[str, ...]
    quick: bool
    deadlines: tuple[str, ...]
    extra_bench: tuple[Path, ...]


@dataclass(frozen=True)
class How:
    """Options under the heading How to measure."""

    instrument: Instrument | None
    rounds: int | None
    farm: Path | None
    timeout_s: float
    wait: bool
    resume: str
    dry_run: bool
    fresh: bool


@dataclass(frozen=True)
class Results:
    """Options under the heading Results."""

    output: Path | None
    name: str
    report: Path | None
    as_json: bool


@dataclass(frozen=True)
class RunOptions:
    """Options and arguments of `kadenz run`."""

    what: What
    how: How
    results: Results
    link: BoardLink
    conditions: Mapping[str, Any]  # values of `Option`s of conditions, by their keys

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> RunOptions:
        """From the values that click passes by name."""
        return cls(
            What(**_values_of(What, values)),
            How(**_values_of(How, values)),
            Results(**_values_of(Results, values)),
            BoardLink(**values["board"]),
            {option.key: values[option.key] for kind in kinds() for option in kind.options},
        )


def _values_of(part: type[DataclassInstance], values: Mapping[str, Any]) -> dict[str, Any]:
    return {field.name: values[field.name] for field in fields(part)}
