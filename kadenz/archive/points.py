# SPDX-License-Identifier: Apache-2.0
"""The points of an archive's series: a parameter that is missing had its default.

Defaults are in the run.json of a run. They are read only for a benchmark of a target whose rows
have different parameters, as when a new version of the suite added one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kadenz.analysis.parameters import Named, Points
from kadenz.archive.place import Place
from kadenz.archive.restore import manifest_of
from kadenz.config.manifest import Manifest, RecordEntry
from kadenz.config.params import Params

# Target, benchmark, parameters, and the month and id of a run that has them.
Stored = tuple[str, str, Params, str, str]


class ArchivedPoints:
    """The points of `stored` rows, and of a run `beside` them that is not in the archive."""

    def __init__(
        self, place: Place, stored: Iterable[Stored], beside: Manifest | None = None
    ) -> None:
        runs: dict[tuple[str, str], dict[frozenset[str], tuple[str, str] | None]] = {}
        for target, bench, params, month, run in stored:
            runs.setdefault((target, bench), {}).setdefault(frozenset(params), (month, run))
        records: Sequence[RecordEntry] = _usable(beside) if beside is not None else ()
        for record in records:
            assert beside is not None
            named = runs.get((beside.target.name, record.bench), {})
            named.setdefault(frozenset(record.params), None)
        self._points = {
            key: Points([*records, *(r for run in {*by.values()} if run for r in _of(place, *run))])
            for key, by in runs.items()
            if len(by) > 1
        }

    def of(self, target: str, bench: str, params: Params) -> Named:
        """The sorted parameters, without a default that some row of the target leaves out."""
        points = self._points.get((target, bench))
        return points.of(bench, params) if points is not None else tuple(sorted(params.items()))


def _of(place: Place, month: str, run: str) -> list[RecordEntry]:
    return _usable(manifest_of(place, month, run))


def _usable(manifest: Manifest) -> list[RecordEntry]:
    return [record for record in manifest.records if record.status == "ok"]
