# SPDX-License-Identifier: Apache-2.0
"""The suite as sources for a project of the user's, whose image comes back with `--image`."""

from __future__ import annotations

from pathlib import Path

from kadenz.config import inventory
from kadenz.config.target_name import IMAGE_TIERS, TargetName
from kadenz.config.toml import did_you_mean
from kadenz.errors import UsageError
from kadenz.images import suite_forms
from kadenz.images.suite_export import check_folder, write_suite
from kadenz.images.suite_sources import Suite, suite_sources
from kadenz.lab.execution import check_instrument

FORM_OF_RULES = "cmake"  # the form that takes a kernel with rules of its own


def forms() -> list[str]:
    """The forms of an export: "cmake", "zephyr-module"."""
    return suite_forms.names()


def export_suite(
    kernel: str, board: str, tree: Path | None, form: str, folder: Path, instrument: str = "counter"
) -> Suite:
    """Writes the suite for a kernel on a board: the whole folder, or nothing.

    `tree` replaces the kernel's own source. Raises UsageError for a folder that is not empty, an
    unknown kernel or board, a board without an image of that kernel or without that instrument, and
    a kernel in Rust; else as a build.
    """
    check_folder(folder)
    inventory.kernel(kernel)
    inventory.board(board)
    offered = {
        board_name: next(tier for tier in tiers.names() if tier in IMAGE_TIERS)
        for name, board_name in inventory.pairs()
        for tiers in [inventory.board(board_name).tier]
        if name == kernel and not set(IMAGE_TIERS).isdisjoint(tiers.names())
    }
    if board not in offered:
        raise UsageError(
            f"--board {board}: no image of {kernel} runs there",
            remedy=did_you_mean(board, list(offered))
            if offered
            else f'Choose another --kernel, or write kernels = ["{kernel}"] in your board.toml',
        )
    if (inventory.kernel_folder(kernel) / "Cargo.toml").is_file():
        raise UsageError(
            f"--kernel {kernel}: its port and its benchmarks are a Rust crate, which no form holds",
            remedy="kadenz builds its image: kadenz run --target " + f"{kernel}/{board}@emulated",
        )
    source = inventory.kernel(kernel).source
    if source is not None and source.rules and form != FORM_OF_RULES:
        raise UsageError(
            f"--as {form}: {inventory.kernel(kernel).title} is built by CMake rules of its own",
            remedy=f"Choose --as {FORM_OF_RULES}",
        )
    target = TargetName(kernel, board, offered[board])
    check_instrument(target, instrument)
    suite = suite_sources(target, tree, instrument)
    write_suite(suite, form, folder)
    return suite
