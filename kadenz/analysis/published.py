# SPDX-License-Identifier: Apache-2.0
"""The published figures (published/published.csv), matched to results.

A row matches a record if benchmark, kernel family, board family and all parameters of the row
agree. Matching rows are shown next to ours in their own unit, with their own system and clock
class. Nothing is converted, and a ratio is formed between cycles alone: a microsecond on silicon
and an instruction in an emulator are different quantities.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from kadenz.analysis.parameters import Points
from kadenz.analysis.results import RecordResult, RunResult
from kadenz.config import inventory
from kadenz.config.manifest import ClockClass
from kadenz.config.params import Params
from kadenz.errors import ConfigError, KadenzError
from kadenz.regular_files import MIB, read_regular

FIGURES = Path("published/published.csv")
SYSTEMS = Path("published/systems.csv")

# Published name of a parameter, our name, and our units per published unit.
_PARAMETERS: dict[str, tuple[str, int]] = {
    "bytes": ("size_bytes", 1),
    "interval": ("period_us", 1),
    "period_ms": ("period_us", 1000),
    "iterations": ("iterations", 1),
}
# yoo2024 writes "semaphore" on Linux; POSIX semaphores are counting. What arm2022 takes off as the
# overhead of its stamps is the time of the give between them.
_SAME_BENCHMARK = {
    "itc/semaphore": "itc/semaphore-counting",
    "clock/timestamp-overhead": "itc/semaphore-give",
}


@dataclass(frozen=True)
class System:
    """A system with published figures."""

    name: str
    boards: tuple[str, ...]
    clock_class: ClockClass
    chip: str


@dataclass(frozen=True)
class PublishedFigure:
    """A row of published/published.csv. `value` is in `unit`, as printed."""

    paper: str
    where: str
    system: System
    kernel: str
    benchmark: str
    parameters: dict[str, str]  # as published
    statistic: str
    value: float
    unit: str
    note: str

    @property
    def our_params(self) -> Params:
        """The parameters that our record must have; unknown names stay as published."""
        params: Params = {}
        for name, text in self.parameters.items():
            ours, factor = _PARAMETERS.get(name, (name, 1))
            number = re.match(r"[0-9]{1,18}(?![0-9])", text)
            if number:
                params[ours] = int(number.group()) * factor
        return params


def load(places: Sequence[Path] | None = None) -> list[PublishedFigure]:
    """Every published figure: kadenz's, then the lab's, which may use kadenz's systems.

    ConfigError names file and line if one cannot be read.
    """
    places = inventory.places() if places is None else places
    systems: dict[str, System] = {}
    figures = []
    for base in places:
        if (base / SYSTEMS).exists():
            systems |= {system.name: system for system in _systems(base / SYSTEMS)}
        if base == places[0] or (base / FIGURES).exists():
            figures += _figures(base, systems)
    return figures


def _figures(base: Path, systems: Mapping[str, System]) -> list[PublishedFigure]:
    figures = []
    for line, row in _rows(base / FIGURES):
        try:
            figures.append(
                PublishedFigure(
                    paper=row["paper"],
                    where=row["where"],
                    system=systems[row["system"]],
                    kernel=row["kernel"],
                    benchmark=row["benchmark"],
                    parameters=dict(_pairs(row["parameters"])),
                    statistic=row["statistic"],
                    value=float(row["value"]),
                    unit=row["unit"].replace("us", "µs"),
                    note=row["note"],
                )
            )
        except KeyError as error:
            raise ConfigError(
                f"{base / FIGURES}, line {line}: {error} is unknown",
                remedy=f"Add it to {SYSTEMS}, or correct the column",
            ) from None
        except ValueError as error:
            raise ConfigError(f"{base / FIGURES}, line {line}: {error}") from None
    return figures


def load_if_there() -> list[PublishedFigure]:
    """As `load`; empty if kadenz was installed without its checkout."""
    try:
        root = inventory.root()
    except ConfigError:
        return []
    return load() if (root / FIGURES).exists() else []


def family_of(figure: PublishedFigure, run: RunResult) -> bool:
    """Whether a run has the published figure's board and kernel family."""
    target = run.manifest.target
    kernel = _published_of(target.kernel).get(figure.paper)
    return (
        kernel is not None
        and figure.kernel.startswith(kernel)
        and target.board in figure.system.boards
    )


@cache
def _published_of(kernel: str) -> dict[str, str]:
    """By study, the published kernel of a kernel's family; none for a kernel that is not here."""
    try:
        return inventory.kernel(kernel).published
    except KadenzError:
        return {}


def matches(
    figures: Iterable[PublishedFigure], run: RunResult, record: RecordResult
) -> list[PublishedFigure]:
    """The published figures of the same benchmark, point and family as `record`."""
    return [
        figure
        for figure in figures
        if family_of(figure, run)
        and same_benchmark(figure.benchmark, record.bench)
        and set(Points((record.entry,)).of(record.bench, figure.our_params))
        <= record.params.items()
    ]


def same_benchmark(published: str, ours: str) -> bool:
    """Whether the two names mean the same benchmark."""
    return _SAME_BENCHMARK.get(published, published) == ours


def _rows(file: Path) -> list[tuple[int, dict[str, str]]]:
    try:
        text = read_regular(file, limit=16 * MIB).decode()
        reader = csv.DictReader(io.StringIO(text, newline=""), restval="")
        return [(reader.line_num, row) for row in reader]
    except OSError as error:
        raise ConfigError(
            f"{file}: {error.strerror}", remedy="The published figures are part of the checkout"
        ) from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise ConfigError(f"{file}: {error}", remedy="Save it as CSV in UTF-8") from None


def _systems(file: Path) -> Iterator[System]:
    for line, row in _rows(file):
        try:
            yield System(
                name=row["system"],
                boards=tuple(row["boards"].split(";")),
                clock_class=row["clock_class"],  # type: ignore[arg-type]
                chip=row["chip"],
            )
        except KeyError as error:
            raise ConfigError(
                f"{file}, line {line}: no column {error}", remedy="Add it to the first line"
            ) from None


def _pairs(text: str) -> list[tuple[str, str]]:
    """ "bytes=60 period_ms=1" as pairs; words without "=" are a description and are dropped."""
    pairs = []
    for word in text.split():
        name, equals, value = word.partition("=")
        if equals:
            pairs.append((name, value))
    return pairs
