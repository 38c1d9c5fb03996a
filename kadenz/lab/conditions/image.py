# SPDX-License-Identifier: Apache-2.0
"""An image that another build made, instead of one that kadenz builds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from kadenz.config.target_name import TargetName, own_image
from kadenz.errors import UsageError
from kadenz.images.given_image import given_image
from kadenz.lab.condition import Choice, Condition, Option, Setup

if TYPE_CHECKING:
    from kadenz.config.campaign import Campaign


@dataclass(frozen=True)
class ImageFile(Condition):
    """One image. The manifest has its digest, and its name in `build.kernel_source`."""

    file: Path

    @property
    def labels(self) -> tuple[str, ...]:
        """The file as the user wrote it."""
        return (f"image {self.file}",)

    @property
    def suffix(self) -> str:
        """The name of the file without its ending."""
        return f"-image-{self.file.stem}"

    def set_up(self, setup: Setup, target: TargetName) -> None:
        """This image is started; nothing is built."""
        setup.image = self.file


@dataclass(frozen=True)
class ImageChoice(Choice):
    """The images to measure, on each target that names no kernel."""

    files: tuple[Path, ...] = ()

    title = "Image"
    order = 5
    names_image = True
    options = (
        Option(
            "--image",
            "ELF file of an image that your own build made, with the suite inside, for targets "
            "BOARD@TIER. May be repeated, one run for each.",
            metavar="FILE",
            kind="file",
            many=True,
        ),
    )

    @classmethod
    def asked(cls, values: Mapping[str, Any], campaign: Campaign) -> Self:
        """Only the command line names images, beside the lab's file."""
        return cls(tuple(values.get("image", ())))

    def check(self, targets: Sequence[TargetName]) -> None:
        """Each image can be one of the suite for its board; each target without a kernel has one.

        Raises UsageError.
        """
        bare = [target for target in targets if not target.kernel]
        if self.files and not bare:
            raise UsageError(
                f"--image {self.files[0]}: every target of this run names a kernel to build",
                remedy=f"Name the board alone, the image has its kernel: "
                f"--target {targets[0].board}@{targets[0].tier}",
            )
        for target in bare:
            images = self.of(target)
            if not images:
                raise UsageError(
                    f"{target} names no kernel",
                    remedy=f"Name one, KERNEL/{target}, or pass an image that contains it: --image "
                    "FILE",
                )
            for image in images:
                given_image(target, image)

    def variants(self, target: TargetName) -> Sequence[ImageFile]:
        """One for each image. None for a target that names its kernel."""
        return [ImageFile(file) for file in self.of(target)]

    def of(self, target: TargetName) -> tuple[Path, ...]:
        """The images of a target without a kernel."""
        if target.kernel:
            return ()
        lab_image = own_image(target)
        return self.files or ((lab_image,) if lab_image is not None else ())
