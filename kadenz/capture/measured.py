# SPDX-License-Identifier: Apache-2.0
"""What a capture measured: the benchmark's end points and parameters, as an image states them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches

from kadenz.config import manifest
from kadenz.config.params import Params, Value
from kadenz.config.target_name import TargetName
from kadenz.errors import ConfigError
from kadenz.lab.catalog import all_remembered, known_benchmarks, remembered_catalog
from kadenz.lab.plan import check_params
from kadenz.wire.messages import Bench

_MISSPELT = 0.8  # of the letters, in order


@dataclass(frozen=True)
class Measured:
    """A point, as a run of the suite would describe it."""

    bench: str
    params: Params
    begins: str = ""
    ends: str = ""
    source: str = ""
    defaults: Params = field(default_factory=dict)
    nature: manifest.Nature | None = None
    warnings: list[manifest.Warning] = field(default_factory=list)


def measured(bench: str, target: TargetName, given: Mapping[str, Value]) -> Measured:
    """The point of `bench` with the parameters `given`; others have their initial values.

    Asks the images that were built before, the target's own first. ConfigError for a misspelt name,
    and for a parameter or a value that the benchmark does not take. Of a benchmark that is not
    known at all the run gets a warning.
    """
    known = _known_benches(target)
    benchmark = known.get(bench)
    if benchmark is None:
        names = known_benchmarks()
        if bench not in names and (near := get_close_matches(bench, names, 1, _MISSPELT)):
            raise ConfigError(
                f"--bench {bench}: no such benchmark",
                remedy=f"Did you mean `{near[0]}`? One of your own is known once an image has it: "
                "kadenz list --build",
            )
        warning = manifest.Warning(
            code="capture-benchmark",
            message=f"no built image has a benchmark {bench}",
            remedy="Its parameters and end points are those of the command line",
        )
        return Measured(bench, dict(given), warnings=[warning])
    check_params(benchmark, given, f"--bench {bench}")
    given = {**benchmark.defaults, **given}
    return Measured(
        bench,
        given,
        benchmark.begins,
        benchmark.ends,
        benchmark.source,
        benchmark.defaults,
        benchmark.nature,
    )


def _known_benches(target: TargetName) -> dict[str, Bench]:
    """The benchmarks of all built images by name; the target's own image says it best."""
    target_catalog = remembered_catalog(target) if target.kernel else None
    benchmarks: dict[str, Bench] = {}
    for catalog in [*([target_catalog] if target_catalog is not None else []), *all_remembered()]:
        for bench in catalog.benches:
            benchmarks.setdefault(bench.name, bench)
    return benchmarks
