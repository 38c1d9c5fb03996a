# SPDX-License-Identifier: Apache-2.0
"""The images of targets, built to be weighed and not to be measured."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from kadenz.config import inventory
from kadenz.config.manifest import BuildEntry, Instrument
from kadenz.config.target_name import TargetName, lab_target
from kadenz.elf import Elf
from kadenz.errors import UsageError
from kadenz.images.footprint import footprint
from kadenz.images.image import build_image
from kadenz.lab.condition import Choice
from kadenz.lab.execution import check_instrument, has_minimal, setup_of
from kadenz.lab.variants import combinations


def check(
    choices: Mapping[TargetName, Sequence[Choice]], instrument: Instrument, *, minimal: bool = False
) -> None:
    """UsageError for what no image can be built for, before any is built."""
    for name in choices:
        check_instrument(name, instrument)
        if minimal and not has_minimal(name):
            raise UsageError(
                f"--minimal: {name} is a process of Linux, and has no image that is linked for it",
                remedy="Name a target with a board",
            )
        host = inventory.board(name.board).tier.host
        if name.tier == "host" and host is not None and host.crate:
            raise UsageError(
                f"{name}: a program of its own, without suite and kernel",
                remedy="Name a target of `kadenz list` that runs the suite",
            )
    # Those of a lab's table are checked when made.
    others = [name for name in choices if not lab_target(name).conditions]
    for choice in choices[others[0]] if others else ():
        choice.check(others)


def built(
    name: TargetName,
    choices: Sequence[Choice],
    instrument: Instrument,
    extra_bench: Sequence[Path],
    say: Callable[[str], None],
    *,
    minimal: bool = False,
) -> list[tuple[str, BuildEntry]]:
    """A label and the image of a target under each combination of conditions.

    `minimal`: one periodic thread instead of the suite.
    """
    images = []
    for conditions in combinations(name, choices):
        setup = setup_of(name)
        for condition in conditions:
            condition.set_up(setup, name)
        labels = [label for condition in conditions for label in condition.labels]
        label = ", ".join([name.lab_name or f"{name.kernel}/{name.board}", *labels])
        say(f"building {label}")
        image = build_image(
            name,
            instrument,
            tree=setup.kernel_source,
            extra_bench=extra_bench,
            isa=setup.isa,
            minimal=minimal,
        )
        images.append((label, image.entry))
    return images


def of_file(program: Path) -> BuildEntry:
    """An image that somebody else built. UsageError if it is none, or cannot be attributed."""
    if not program.is_file():
        raise UsageError(f"{program}: no such file", remedy="Name an ELF file, or a target")
    elf = Elf(program)
    sizes, entries = elf.sizes, footprint(program)
    return BuildEntry(
        compiler="",
        compiler_version="",
        flags="",
        elf_sha256=elf.sha256,
        text_bytes=sizes.text,
        data_bytes=sizes.data,
        bss_bytes=sizes.bss,
        kernel_source="",
        footprint=entries,
    )
