# SPDX-License-Identifier: Apache-2.0
"""The checkout under the same name in every build folder: a link.

The compiler's cache keys an object by the paths of its sources from the build folder on. A lab, and
the checkout itself, have different ones; the link has one. (docs/decisions/0050)
"""

from __future__ import annotations

import json
from pathlib import Path

from kadenz.config import inventory

# Shorter than "../../": of the names that a file has, ccache takes the shortest.
_LINK = "src"


def link(folder: Path) -> Path:
    """Makes the link in a build folder, and returns it."""
    place = folder / _LINK
    if not place.is_symlink() or place.readlink() != inventory.root():
        folder.mkdir(parents=True, exist_ok=True)
        place.unlink(missing_ok=True)
        place.symlink_to(inventory.root(), target_is_directory=True)
    return place


def seen_from(folder: Path, path: Path) -> Path:
    """`path` as a build in `folder` names it: below the link if it is part of the checkout."""
    root = inventory.root()
    return folder / _LINK / path.relative_to(root) if path.is_relative_to(root) else path


def compile_commands(folder: Path) -> list[dict[str, str]]:
    """The commands of a build folder, with the files of the checkout by their own names."""
    text = (folder / "compile_commands.json").read_text()
    text = text.replace(f"{folder / _LINK}/", f"{inventory.root()}/")
    commands: list[dict[str, str]] = json.loads(text)
    return commands
