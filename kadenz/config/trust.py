# SPDX-License-Identifier: Apache-2.0
"""Whose lab is believed: the caller's own, and those named by `kadenz lab trust`.

A lab names programs to start and code to build, so one of somebody else is refused, as git refuses
a repository (safe.directory).
"""

from __future__ import annotations

import os
import shlex
import stat
import tempfile
from pathlib import Path

from kadenz.errors import ConfigError, UsageError
from kadenz.owner import foreign, user_name
from kadenz.regular_files import MIB, read_regular

# Folders of a lab whose contents are found by their names.
PARTS = ("kernels", "boards", "bench", "campaigns", "tunings", "servers", "published")


def refuse_foreign(folder: Path, file: Path) -> None:
    """Raises ConfigError if somebody else decides what the lab in `folder` contains.

    The folder, `file` (its kadenz.toml) and the folders of its parts belong to the caller, and not
    everybody may write to them, unless the caller trusts the lab.
    """
    paths = [folder, file, *(folder / part for part in PARTS if (folder / part).exists())]
    owners = {path: owner for path in paths if (owner := foreign(path)) is not None}
    exposed = [path for path in paths if path.stat().st_mode & stat.S_IWOTH]
    if not (owners or exposed) or folder in trusted():
        return
    trust = f"kadenz lab trust {shlex.quote(str(folder))}"
    if owners:
        path, owner = next(iter(owners.items()))
        raise ConfigError(
            f"{path} belongs to {user_name(owner)}: a lab of somebody else is not believed",
            remedy=f"Read what it contains; if you trust it: {trust}",
        )
    if any(path.stat().st_mode & stat.S_ISVTX for path in exposed):
        raise ConfigError(
            f"{exposed[0]}: a lab to which everybody may add parts is not believed",
            remedy=f"Move the lab into a folder of its own; if you trust it: {trust}",
        )
    raise ConfigError(
        f"{exposed[0]}: a lab that everybody may change is not believed",
        remedy=f"chmod o-w {shlex.join(map(str, exposed))}",
    )


def trusted() -> list[Path]:
    """The labs of others that the caller trusts. Raises ConfigError if others may add to them."""
    file = _file()
    try:
        if foreign(file) is not None or file.stat().st_mode & 0o022:
            raise ConfigError(
                f"{file}: others may write to it, so it trusts nobody",
                remedy=f"Remove it, and trust your labs again: rm {shlex.quote(str(file))}",
            )
        lines = os.fsdecode(read_regular(file, limit=MIB)).split("\n")
    except FileNotFoundError:
        return []
    return [Path(line) for line in lines if line]


def trust(folder: Path) -> None:
    """Believes the lab in `folder` from now on. UsageError if its path is no line."""
    if "\n" in str(folder):
        raise UsageError(f"{str(folder)!r}: a path with a line break", remedy="Rename the folder")
    _write([*(lab for lab in trusted() if lab != folder), folder])


def distrust(folder: Path) -> None:
    """Believes the lab no more. UsageError if it was not trusted."""
    known = trusted()
    if folder not in known:
        raise UsageError(
            f"{folder} is not trusted", remedy="`kadenz lab trust --list` shows those that are"
        )
    _write([lab for lab in known if lab != folder])


def _write(folders: list[Path]) -> None:
    file = _file()
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    descriptor, name = tempfile.mkstemp(dir=file.parent, prefix=".trusted-")  # mode 0600
    with os.fdopen(descriptor, "wb") as new:
        new.write(b"".join(os.fsencode(folder) + b"\n" for folder in folders))
    Path(name).replace(file)


def _file() -> Path:
    base = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(base) / "kadenz" / "trusted"
