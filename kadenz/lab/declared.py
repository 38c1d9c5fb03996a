# SPDX-License-Identifier: Apache-2.0
"""Finds misspelled benchmarks and parameters in seconds, before anything is compiled.

Only a built image knows exactly what it can measure. But every benchmark and parameter is a string
in the source of a benchmark, so a word that occurs nowhere there is a mistake. Words that pass are
checked again against the catalog of each image (`lab.plan`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from kadenz.config import inventory
from kadenz.config.campaign import Campaign
from kadenz.errors import UsageError
from kadenz.lab.plan import COLD_KEY, SAMPLES_KEY, SECONDS_KEY, no_benchmark, no_parameter
from kadenz.lab.reference import described
from kadenz.regular_files import read_regular

_NAME = re.compile(r"[a-z0-9-]+/[a-z0-9-]*[a-z0-9]")
_WORD = re.compile(r'"([a-z0-9_/-]+)"')


def check_declared(
    campaign: Campaign, overrides: Collection[str], extra_bench: Sequence[Path]
) -> None:
    """UsageError for a benchmark or `--set` that no source declares, or for two lengths at once."""
    if SAMPLES_KEY in overrides and SECONDS_KEY in overrides:
        raise UsageError("--set seconds and samples: two lengths", remedy="Set one of them")
    literals = {literal for file in _sources(extra_bench) for literal in _WORD.findall(_text(file))}
    declared = _declared(literals) | {SAMPLES_KEY, SECONDS_KEY, COLD_KEY}
    for benchmark in campaign.benchmark:
        if benchmark.name not in declared:
            # Only whole names are proposed: most of what a stem and an ending give does not exist.
            whole = {literal for literal in literals if _NAME.fullmatch(literal)}
            families = [literal for literal in literals if literal.endswith("/")]
            channels = inventory.mechanisms().channel  # of the lab: each is a benchmark
            of_the_lab = {family + channel for family in families for channel in channels}
            raise no_benchmark(benchmark.name, {*described(), *whole, *of_the_lab})
    for name in overrides:
        if name not in declared:
            raise no_parameter(name, declared)


def _declared(written: Collection[str]) -> set[str]:
    """Every literal; a macro may make one name of several: `"itc/" name "-one-way"`."""
    literals = {*written, *inventory.mechanisms().names}
    families = [literal for literal in literals if literal.endswith("/")]
    endings = [literal for literal in literals if literal.startswith("-")]
    names = {literal for literal in literals if re.fullmatch(r"[a-z][a-z0-9-]*", literal)}
    stems = {literal for literal in literals if "/" in literal}
    stems |= {family + name for family in families for name in names}
    return literals | stems | {stem + ending for stem in stems for ending in endings}


def _sources(extra_bench: Sequence[Path]) -> Iterator[Path]:
    root = inventory.root()
    yield from (root / "suite" / "bench").glob("*.[ch]")
    yield from (root / "fieldbus").glob("*/src/**/*.rs")  # programs that are targets themselves
    for path in (*inventory.benches(), *extra_bench):
        yield from path.rglob("*.[ch]") if path.is_dir() else [path]


def _text(file: Path) -> str:
    try:
        return read_regular(file).decode(errors="replace")
    except OSError:
        return ""  # the build names a file that cannot be read
