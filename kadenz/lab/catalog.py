# SPDX-License-Identifier: Apache-2.0
"""What an image can measure, asked of the image itself and remembered beside it."""

from __future__ import annotations

import threading
from pathlib import Path

import msgspec

from kadenz.config import inventory
from kadenz.errors import StoreError, TargetFailed, WireDamaged
from kadenz.images.image import Image
from kadenz.lab.boot import run_plan
from kadenz.targets.base import Target
from kadenz.wire.messages import Bench, Hello
from kadenz.wire.records import Assembler, NoRecords

SILENCE_S = 20.0


class Catalog(msgspec.Struct):
    """An image's own words: who it is, and its benchmarks."""

    elf_sha256: str
    hello: Hello
    benches: list[Bench]


def remembered(build_folder: Path, elf_sha256: str | None) -> Catalog | None:
    """The catalog of an image that was asked before; None when it was not, or is another image.

    Without a digest any image of that folder will do.
    """
    try:
        catalog = msgspec.json.decode((build_folder / _FILE).read_bytes(), type=Catalog)
    except (OSError, msgspec.DecodeError):
        return None
    return catalog if elf_sha256 in (None, catalog.elf_sha256) else None


def all_remembered() -> list[Catalog]:
    """The catalogs of every image that was built and asked in this checkout."""
    found = []
    for file in sorted((inventory.root() / "build").glob(f"*/{_FILE}")):
        try:
            found.append(msgspec.json.decode(file.read_bytes(), type=Catalog))
        except (OSError, msgspec.DecodeError):
            continue
    return found


def ask(
    target: Target, name: str, image: Image, *, silence_s: float = SILENCE_S, keep: bool = True
) -> Catalog:
    """Runs the plan `list`. Raises TargetFailed, or WireDamaged when the answer is not whole.

    `keep` is false for an image that was started with options of one run: its settings are not
    those of the next.
    """
    assembler = Assembler(NoRecords())
    outcome = run_plan(
        target,
        name,
        "list\nend\n",
        assembler,
        silence_s=lambda: silence_s,
        stop=threading.Event(),
    )
    if outcome.failure is not None:
        raise outcome.failure
    damage = [finding.message for finding in assembler.findings if finding.lost]
    if damage:
        raise WireDamaged(
            f"{name}: its list of benchmarks arrived damaged: {damage[0]}",
            remedy="Run again; if it stays, check the line",
        )
    if assembler.hello is None:
        raise TargetFailed(
            f"{name} did not say who it is", remedy="Is the image the suite's?", detail=outcome.said
        )
    catalog = Catalog(image.entry.elf_sha256, assembler.hello, assembler.benches)
    if not keep:
        return catalog
    try:
        (image.folder / _FILE).write_bytes(msgspec.json.encode(catalog))
    except OSError as error:
        raise StoreError(
            f"{image.folder / _FILE}: {error.strerror}", remedy="Make room on the disk"
        ) from None
    return catalog


_FILE = "catalog.json"
