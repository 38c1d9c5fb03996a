# SPDX-License-Identifier: Apache-2.0
"""The checkout under the same name in every build folder: a link.

The compiler's cache keys an object by the paths of its sources from the build folder on. A lab, and
the checkout itself, have different ones; the link has one. (docs/decisions/0050)
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import msgspec

from kadenz.config import inventory
from kadenz.errors import UsageError
from kadenz.json_text import read_json
from kadenz.regular_files import read_regular

# Shorter than "../../": of the names that a file has, ccache takes the shortest.
_LINK = "src"
CONFIGURED = "kadenz-options.json"  # a build folder of kadenz has it


def link(folder: Path, *, keep: str) -> Path:
    """The checkout's name for a build in `folder`; its own where the file system has no links.

    Anything that another checkout built there is removed, except the file `keep`: its objects have
    the same names, and their dates do not tell which checkout they came from.
    """
    place, root = folder / _LINK, inventory.root()
    folder.mkdir(parents=True, exist_ok=True)
    if place.is_symlink() and place.readlink() == root:
        return place
    if place.is_symlink():
        for entry in folder.iterdir():
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry)
            elif entry.name != keep:
                entry.unlink()
    try:
        place.symlink_to(root, target_is_directory=True)
    except OSError:
        return root  # its objects are not shared with other checkouts
    return place


def below(home: Path, path: str) -> str:
    """`path` by the name `home` of the checkout, if it is part of the checkout."""
    root = inventory.root()
    return str(home / Path(path).relative_to(root)) if Path(path).is_relative_to(root) else path


def compile_commands(folder: Path) -> list[dict[str, Any]]:
    """The commands of a build folder, with the files of the checkout by their own names.

    UsageError for a file that has none.
    """
    file = folder / "compile_commands.json"
    try:
        return _translated(folder, read_regular(file).decode())
    except (OSError, UnicodeDecodeError, msgspec.DecodeError) as error:
        raise UsageError(f"{file}: {error}", remedy="Remove it, or configure again") from None


def _translated(folder: Path, text: str) -> list[dict[str, Any]]:
    commands = read_json(text, list[dict[str, Any]])
    place = folder / _LINK
    if not place.is_symlink():  # a folder of somebody's project
        return commands
    # The build folder itself may have several names; CMake used this one.
    for called in {str(command.get("directory", folder)) for command in commands}:
        text = text.replace(f"{called}/{_LINK}/", f"{place.readlink()}/")
    return read_json(text, list[dict[str, Any]])
