# SPDX-License-Identifier: Apache-2.0
"""The HELLO of an image that another build made: its kernel, its board, its suite."""

from __future__ import annotations

import re

from kadenz import __version__
from kadenz.config import inventory
from kadenz.config.manifest import Warning as Stamp
from kadenz.config.target_name import TargetName
from kadenz.errors import UsageError
from kadenz.images.given_image import GivenImage
from kadenz.images.image import Image
from kadenz.wire.messages import Hello


def named(name: TargetName, hello: Hello) -> TargetName:
    """The target with the kernel that the image reports; a kernel unknown to the lab is fine."""
    if name.kernel:
        return name
    titles = {kernel.title.casefold(): known for known, kernel in inventory.kernels().items()}
    slug = re.sub(r"[^a-z0-9]+", "-", hello.kernel.casefold()).strip("-")
    return name._replace(kernel=titles.get(hello.kernel.casefold(), slug) or "unknown")


def check_hello(name: TargetName, image: Image, hello: Hello, instrument: str) -> None:
    """UsageError if a given image is not for this board, or not for this instrument."""
    if not isinstance(image, GivenImage):
        return
    file = image.elf.path
    if hello.board != name.board:
        raise UsageError(
            f"{file}: the image says that its board is `{hello.board}`, not `{name.board}`",
            remedy=f"Pass --target {hello.board}@{name.tier}, or correct kdz_board_name",
        )
    if hello.instrument != instrument:
        raise UsageError(
            f"{file}: built for the instrument `{hello.instrument}`, not `{instrument}`",
            remedy=f"Pass --instrument {hello.instrument}",
        )


def stamps(image: Image, hello: Hello) -> list[Stamp]:
    """Warnings of a run of a given image: what kadenz cannot know."""
    if not isinstance(image, GivenImage):
        return []
    warnings = [
        Stamp(
            code="built-elsewhere",
            message="another build made this image: its sources and options are not recorded",
            remedy="Keep the image: its SHA-256 is in run.json",
        )
    ]
    if image.stripped:
        warnings.append(
            Stamp(
                code="stripped",
                message="the image has no symbols: a crash or a hang is shown by addresses alone, "
                "and the scope cannot measure it",
                remedy="Pass the image before it is stripped",
            )
        )
    if image.elf.machine == "EM_RISCV" and not image.elf.riscv_arch:
        warnings.append(
            Stamp(
                code="unknown-instruction-set",
                message="the image does not say what it was compiled for: an instruction that the "
                "core does not have ends the run as a fault",
                remedy="Keep its section .riscv.attributes",
            )
        )
    if hello.suite != __version__:
        warnings.append(
            Stamp(
                code="another-suite",
                message=f"the image contains suite {hello.suite}, this is kadenz {__version__}",
                remedy="Export the suite again before you compare it with images of this kadenz",
            )
        )
    return warnings
