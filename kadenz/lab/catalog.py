# SPDX-License-Identifier: Apache-2.0
"""Benchmarks of an image: the image itself is asked, and its answer is kept next to it."""

from __future__ import annotations

import threading
from pathlib import Path

import msgspec

from kadenz.config import inventory
from kadenz.config.target_name import TargetName, own_image, own_source
from kadenz.errors import Interrupted, StoreError, TargetFailed, WireDamaged
from kadenz.images.given_image import given_folder
from kadenz.images.guest import guest_folder
from kadenz.images.image import Image, image_folder
from kadenz.json_text import read_json
from kadenz.lab.boot import Execution, run_plan
from kadenz.lab.condition import Setup
from kadenz.lab.execution import asked_by, default_setup, image_of, make_target
from kadenz.lab.guests import BOOT_S
from kadenz.lab.hello import check_hello
from kadenz.lab.reference import described
from kadenz.regular_files import read_regular
from kadenz.targets.base import Target
from kadenz.wire.messages import Bench, Hello
from kadenz.wire.records import Assembler, NoRecords

_FILE = "catalog.json"
_SILENCE_S = 20.0


class Catalog(msgspec.Struct):
    """The answer of an image: its identity and its benchmarks."""

    elf_sha256: str
    hello: Hello
    benches: list[Bench]


def catalog_of(name: TargetName) -> Catalog:
    """Benchmarks of a target's image; builds and asks it when they are not known.

    For callers without a handler of Ctrl-C, which raises KeyboardInterrupt there.
    """
    setup = default_setup(name)
    image = image_of(name, asked_by(name), setup)
    known = remembered(image.folder, image.entry.elf_sha256)
    if known is not None:
        return known
    target = make_target(name, "counter", image, setup)
    catalog = ask(target, str(name), image, silence_s=silence_s(setup), stop=threading.Event())
    check_hello(name, image, catalog.hello, asked_by(name))
    remember(image, catalog)
    return catalog


def remembered_catalog(name: TargetName) -> Catalog | None:
    """The same as far as it is known without building; it may be of an older image."""
    given = own_image(name)
    if given is not None:
        return remembered(given_folder(given), None)
    folder = image_folder(name, asked_by(name), own_source(name), inventory.benches())
    guest = inventory.kernel(name.kernel).guest
    if name.tier == "guest" and guest is not None:
        folder = guest_folder(name, guest.versions[inventory.board(name.board).arch][0])
    return remembered(folder, None)


def silence_s(setup: Setup) -> float:
    """How long a target may be silent before it lists its benchmarks, in seconds."""
    return BOOT_S if setup.guest is not None else _SILENCE_S


def remembered(build_folder: Path, elf_sha256: str | None) -> Catalog | None:
    """The catalog of an image that was asked before; None if it was not, or is another image.

    Without a digest any image of that folder is accepted.
    """
    catalog = _read(build_folder / _FILE)
    known = catalog is not None and elf_sha256 in (None, catalog.elf_sha256)
    return catalog if known else None


def all_remembered() -> list[Catalog]:
    """The catalogs of all images that were built and asked in this checkout."""
    files = sorted(inventory.build_folder().glob(f"*/{_FILE}"))
    return [catalog for catalog in map(_read, files) if catalog is not None]


def _read(file: Path) -> Catalog | None:
    try:
        return read_json(read_regular(file), Catalog)
    except (OSError, msgspec.DecodeError):
        return None


def known_benchmarks() -> list[str]:
    """Names of the benchmarks of the suite, of built images and of campaigns, sorted."""
    names = {bench.name for catalog in all_remembered() for bench in catalog.benches}
    names |= described().keys()
    for campaign in inventory.campaigns().values():
        names |= {benchmark.name for benchmark in campaign.benchmark}
    return sorted(names)


def ask(
    target: Target, name: str, image: Image, *, silence_s: float, stop: threading.Event
) -> Catalog:
    """Runs the plan `list`. Raises TargetFailed, WireDamaged if the answer is damaged, or
    Interrupted if `stop` was set before its end."""
    assembler = Assembler(NoRecords())
    execution = Execution(target, name, "list\nend\n", lambda: silence_s)
    outcome = run_plan(execution, assembler, stop)
    if outcome.stopped:
        raise Interrupted(
            f"stopped while {name} was asked for its benchmarks: nothing was measured",
            remedy="Run it again",
        )
    if outcome.failure is not None:
        raise outcome.failure
    damage = [finding.message for finding in assembler.findings if finding.lost]
    if damage:
        raise WireDamaged(
            f"{name}: its list of benchmarks arrived damaged: {damage[0]}",
            remedy="Run it again; if the error persists, check the line",
        )
    if assembler.hello is None:
        raise TargetFailed(
            f"{name} sent no HELLO", remedy="Is the image the suite's?", detail=outcome.output
        )
    return Catalog(image.entry.elf_sha256, assembler.hello, assembler.benches)


def remember(image: Image, catalog: Catalog) -> None:
    """Keeps the answer beside the image.

    Not for an image that was started with options of one run: the next may have other settings.
    """
    keep_answer(image, _FILE, catalog)


def keep_answer(image: Image, name: str, answer: object) -> None:
    """Writes what an image answered into a file beside it. Raises StoreError if it cannot."""
    file = image.folder / name
    try:
        image.folder.mkdir(parents=True, exist_ok=True)
        file.write_bytes(msgspec.json.encode(answer))
    except OSError as error:
        raise StoreError(f"{file}: {error.strerror}", remedy="Make room on the disk") from None
