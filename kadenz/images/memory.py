# SPDX-License-Identifier: Apache-2.0
"""Which sections of an image are kept in flash, and which take RAM.

A section has two addresses: where its contents are loaded, and where they are when the image runs
(ELF: p_paddr and p_vaddr). Code that start-up copies to RAM takes both memories; an image that a
debugger or a loader writes into RAM takes no flash. No flag of ELF says which addresses are RAM:
what the image does there says it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kadenz.elf import Elf, Section, Segment


@dataclass(frozen=True)
class Region:
    """A memory of the linker script."""

    start: int
    size: int
    attributes: str = ""  # of its line in MEMORY: "xrw"; "" if it has none

    def has(self, address: int) -> bool:
        """Whether an address lies in it."""
        return self.start <= address < self.start + self.size


class Memories:
    """Flash and RAM of an image, by the regions of its link or, without them, by its segments."""

    def __init__(self, elf: Elf, regions: Sequence[Region] = ()) -> None:
        sections = [section for section in elf.sections if section.size and not section.per_thread]
        self._hosted = elf.hosted
        self._all = [] if elf.hosted else list(regions) or _adjacent(elf.segments)
        self._ram = [region for region in self._all if _is_ram(region, sections)]

    def stored(self, section: Section) -> bool:
        """Whether flash (of a hosted program: its file) keeps the contents of a section."""
        return section.kind != "zeroed" and not _within(self._ram, section.load)

    def resident(self, section: Section) -> bool:
        """Whether a section takes RAM when the image runs."""
        if section.per_thread and section.kind == "zeroed":
            return False  # memory of each thread, which the image does not have
        if section.copied or _within(self._ram, section.address):
            return True
        written = section.kind == "zeroed" or (self._hosted and section.kind == "data")
        return written and not _within(self._all, section.address)

    def copied_within_ram(self, section: Section) -> bool:
        """Whether the load image of a copied section takes RAM, too."""
        return section.copied and _within(self._ram, section.load)


def _within(regions: Sequence[Region], address: int) -> bool:
    return any(region.has(address) for region in regions)


def _is_ram(region: Region, sections: Sequence[Section]) -> bool:
    """What runs here after a copy says more than what waits here for one, and both more than
    attributes: scripts that give flash `rwx` are common."""
    if any(section.copied and region.has(section.address) for section in sections):
        return True
    if any(section.copied and region.has(section.load) for section in sections):
        return False
    if region.attributes:
        return "w" in region.attributes.partition("!")[0]
    return any(section.kind == "zeroed" and region.has(section.address) for section in sections)


def _adjacent(segments: Sequence[Segment]) -> list[Region]:
    """One region for segments that are less than a page apart, as those of one memory are."""
    regions: list[Region] = []
    for segment in segments:
        end = segment.address + segment.size
        if regions and segment.address <= regions[-1].start + regions[-1].size + segment.page:
            last = regions.pop()
            regions.append(Region(last.start, max(end, last.start + last.size) - last.start))
        else:
            regions.append(Region(segment.address, segment.size))
    return regions
