# SPDX-License-Identifier: Apache-2.0
"""A file for the samples of a host target: they survive a kill of the target and of the lab."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from kadenz.config.manifest import Warning  # noqa: A004
from kadenz.config.params import number
from kadenz.lab.plan import Point
from kadenz.store import RunWriter
from kadenz.store.salvage import complete_orphans
from kadenz.store.storage_file import Held, NoRoom
from kadenz.targets.base import Target
from kadenz.targets.process import ProcessTarget

_LANES_LEAST = 2  # of a benchmark without threads of its own
_COMPANIONS_LEAST = 1  # "cycle", beside each lane of a periodic benchmark
_COMPANIONS_MAX = 12  # KDZ_CONTEXT_MAX, beside each lane
_WITH_COMPANIONS = ("context", "migrate", "other_core")  # parameters that may ask for them


@contextmanager
def with_storage(
    target: Target, points: Sequence[Point], cores: int, writer: RunWriter
) -> Iterator[ProcessTarget | None]:
    """Gives a suite on this Linux its storage. Yields the target, or None if it has no storage.

    If memory has no room for the file, the suite measures into its own memory and the run carries a
    warning.
    """
    if not isinstance(target, ProcessTarget) or not target.suite:
        yield None
        return
    complete_orphans()
    try:
        kept = Held(writer.folder, max((_bytes(point, cores) for point in points), default=0))
    except NoRoom as reason:
        warning = Warning(
            code="samples-in-memory-only",
            message=f"a kill would lose the record being measured: {reason}",
            remedy="Enlarge /dev/shm, in a container by --shm-size=1g",
        )
        if warning not in writer.manifest.warnings:
            writer.manifest.warnings.append(warning)
        yield None
        return
    try:
        target.storage = kept.descriptor
        writer.hold(kept.path, kept.descriptor)
        yield target
    finally:
        try:
            writer.let_go()
        except BaseException:
            kept.close()  # its samples may be needed: the writer fetches them as it ends
            raise
        kept.remove()


def _bytes(point: Point, cores: int) -> int:
    """The largest size of a point's record, in bytes."""
    lanes = max(_LANES_LEAST, cores, number(point.params, "threads"))
    plain = all(point.params.get(param, "none") == "none" for param in _WITH_COMPANIONS)
    companions = _COMPANIONS_LEAST if plain else _COMPANIONS_MAX
    return 4 * point.samples * lanes * (1 + companions)
