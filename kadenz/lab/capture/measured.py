# SPDX-License-Identifier: Apache-2.0
"""What a capture measured: the benchmark's end points and parameters, as an image states them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kadenz.config import manifest
from kadenz.config.params import Params, Value
from kadenz.config.target_name import TargetName
from kadenz.config.toml import did_you_mean
from kadenz.lab.catalog import all_remembered, remembered_catalog
from kadenz.lab.plan import check_params
from kadenz.wire.messages import Bench


@dataclass(frozen=True)
class Measured:
    """A point, as a run of the suite would describe it."""

    bench: str
    params: Params
    begins: str = ""
    ends: str = ""
    source: str = ""
    warnings: list[manifest.Warning] = field(default_factory=list)


def measured(bench: str, target: TargetName, given: Mapping[str, Value]) -> Measured:
    """The point of `bench` with the parameters `given`; others have their initial values.

    Asks the images that were built before, the target's own first. ConfigError for a parameter or
    a value that the benchmark does not take. Of an unknown benchmark the run gets a warning.
    """
    known = _known_benches(target)
    found = known.get(bench)
    if found is None:
        warning = manifest.Warning(
            code="capture-benchmark",
            message=f"no built image has a benchmark {bench}",
            remedy=did_you_mean(bench, list(known)) if known else "",
        )
        return Measured(bench, dict(given), warnings=[warning])
    check_params(found, given, f"--bench {bench}")
    params: Params = {param.name: param.value(param.initial) for param in found.params}
    return Measured(bench, params | dict(given), found.begins, found.ends, found.source)


def _known_benches(target: TargetName) -> dict[str, Bench]:
    """The benchmarks of all built images by name; the target's own image says it best."""
    own = remembered_catalog(target) if target.kernel else None
    found: dict[str, Bench] = {}
    for catalog in [*([own] if own is not None else []), *all_remembered()]:
        for bench in catalog.benches:
            found.setdefault(bench.name, bench)
    return found
