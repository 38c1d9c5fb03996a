# SPDX-License-Identifier: Apache-2.0
"""Which kernels guests boot: versions of the cache, and files of the user's where they fit."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from kadenz.config import inventory
from kadenz.config.kernel import GuestKernels
from kadenz.config.target_name import TargetName, known_targets, parse_target
from kadenz.errors import UsageError
from kadenz.targets.guest_kernel import GuestKernel, files_of, find, given, is_file_name
from kadenz.targets.kernel_image import KernelImage, read_image


def check_files(texts: Sequence[str], targets: Sequence[TargetName]) -> None:
    """UsageError for a file that no target boots, or that is no kernel."""
    guests = [name for name in targets if name.tier == "guest"]
    offered = {version for name in guests for version in _offered(name)}
    for image in _images([text for text in texts if text not in offered]):
        reasons = [_misfit(image, name) for name in guests]
        if all(reasons):
            raise UsageError(f"--guest kernel={image.file}: {reasons[0]}", remedy=_fitting(image))


def kernels_of(
    target: TargetName, asked: Sequence[str], of_campaign: Sequence[str]
) -> list[GuestKernel]:
    """The kernels that were asked for, else those of the campaign, else the newest of the cache.

    Of files, those that fit the target. UsageError for a version that it has not, if it was asked
    for, and if no file fits; ToolMissing if a version is not in the cache.
    """
    board = inventory.board(target.board)
    kernels, tier = _guest_kernels(target), board.tier.guest
    assert tier is not None  # a target of this tier
    offered = _offered(target)
    kernels_chosen: list[GuestKernel] = []
    refusals: list[str] = []
    for text in asked or of_campaign:
        if text in offered:
            kernels_chosen.append(find(board.arch, kernels, text))
        elif not is_file_name(text):
            if asked:
                raise _no_version(text, target)
        else:
            for image in _images([text]):
                if why := _misfit(image, target):
                    refusals.append(f"{image.file}: {why}")
                else:
                    kernels_chosen.append(given(image, tier, board.arch))
    if not kernels_chosen and refusals:
        raise UsageError(
            f"--guest kernel: {target} has none to boot: {refusals[0]}",
            remedy=f"Name a kernel for {target}, or leave the target out",
        )
    return kernels_chosen or [find(board.arch, kernels, offered[0])]


def _images(texts: Sequence[str]) -> list[KernelImage]:
    files = chain.from_iterable(files_of(text) for text in texts if is_file_name(text))
    return [read_image(file) for file in files]


def _guest_kernels(target: TargetName) -> GuestKernels:
    kernels = inventory.kernel(target.kernel).guest
    assert kernels is not None  # a kernel whose boards have the tier: tests/config
    return kernels


def _offered(target: TargetName) -> tuple[str, ...]:
    return _guest_kernels(target).versions[inventory.board(target.board).arch]


def _misfit(image: KernelImage, target: TargetName) -> str:
    """Why a target cannot be measured with a kernel; "" if it can."""
    arch = inventory.board(target.board).arch
    if image.isa != arch:
        return f"Linux {image.release} is for {image.isa}, and {target} is {arch}"
    wants_rt = _guest_kernels(target).flavour == "rt"
    if image.preempt_rt != wants_rt:
        what = "has PREEMPT_RT" if image.preempt_rt else "has no PREEMPT_RT"
        which = "with" if wants_rt else "without"
        return f"Linux {image.release} {what} ({image.build}), and {target} is for kernels {which}"
    return ""


def _fitting(image: KernelImage) -> str:
    """The targets that boot a kernel."""
    guests = [parse_target(text) for text in known_targets() if text.endswith("@guest")]
    fitting = [f"--target {name}" for name in guests if not _misfit(image, name)]
    return f"It fits {fitting[0]}" if fitting else "No target of kadenz boots it"


def _no_version(text: str, target: TargetName) -> UsageError:
    return UsageError(
        f"--guest kernel={text}: {target} has no such kernel",
        remedy=f"It has {', '.join(_offered(target))}; one of your own is named by its file, "
        "with a slash: ./bzImage",
    )
