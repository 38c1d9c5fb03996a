# SPDX-License-Identifier: Apache-2.0
"""Sizes beside figures: code of counted functions, flash and RAM of the images, on two sides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kadenz.store import Run

FLASH, RAM = "flash", "RAM"


@dataclass(frozen=True)
class SizePair:
    """Bytes on both sides: of the code of a record's function, or of an image's `FLASH` or `RAM`,
    which have no benchmark."""

    target: str
    bench: str
    kind: str  # "code", FLASH, RAM
    bytes: tuple[int, int]

    @property
    def more(self) -> int:
        """How many the second side has more."""
        return self.bytes[1] - self.bytes[0]

    @property
    def text(self) -> str:
        """ "96 → 110 bytes (+14)"."""
        before, after = self.bytes
        if before == after:
            return f"{before:,} bytes"
        return f"{before:,} → {after:,} bytes ({self.more:+,})"


def size_pairs(before: Sequence[Run], after: Sequence[Run]) -> list[SizePair]:
    """What both sides know the size of, in the order of the first one. Runs of one target and one
    side have the same image, or the first one counts."""
    sides = [
        {key: size for run in reversed(runs) for key, size in _sizes(run)}
        for runs in (before, after)
    ]
    ordered = dict.fromkeys(key for run in before for key, _ in _sizes(run))
    return [SizePair(*key, (sides[0][key], sides[1][key])) for key in ordered if key in sides[1]]


def _sizes(run: Run) -> Iterator[tuple[tuple[str, str, str], int]]:
    target, build = run.manifest.target.name, run.manifest.build
    for record in run.manifest.records:
        if record.code_bytes is not None:
            yield (target, record.bench, "code"), record.code_bytes
    if build is not None and build.footprint:
        yield (target, "", FLASH), sum(entry.flash for entry in build.footprint)
        yield (target, "", RAM), sum(entry.ram for entry in build.footprint)
