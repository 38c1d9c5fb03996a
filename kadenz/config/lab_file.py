# SPDX-License-Identifier: Apache-2.0
"""kadenz.toml: it makes a folder a lab, with targets, defaults and parts of the user's own."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from kadenz.config.board_link import BoardLink, Way
from kadenz.config.model import FileModel
from kadenz.config.quantity import parse_quantity
from kadenz.config.toml import read_toml
from kadenz.config.trust import refuse_foreign
from kadenz.errors import ConfigError, UsageError

FILE = "kadenz.toml"
VARIABLE = "KADENZ_LAB"
# A value of a condition's option: `load = "disk"`, `load = ["none", "disk"]`.
ConditionValue = str | int | bool | list[str]
_MECHANISM = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


class LabTarget(FileModel, kw_only=True, frozen=True):
    """A [target.NAME] table: a target of the user's own, by a short name."""

    board: str
    tier: str
    kernel: str = ""  # that kadenz builds
    image: str = ""  # ELF file that another build made, with its kernel; relative to the lab
    # How a board is reached, as in BoardLink. Empty: as its board.toml says.
    port: str = ""  # serial line: "/dev/serial/by-id/…"
    probe: str = ""  # "vid:pid:serial", or the serial number alone
    server: str = ""  # file of servers/, "NAME@HOST:PORT" of one that runs, or "none"
    server_command: tuple[str, ...] = ()  # instead of the server's own
    results: Way | Literal[""] = ""
    place: str = ""  # of a rack where the board stands: its line is the place's
    source: str = ""  # source tree of the kernel, relative to the lab; empty: the pinned one
    deadline: str = ""  # "100us": of benchmarks for which the campaign names none
    # Values of the conditions' options, as on the command line: `load = "disk"`.
    conditions: dict[str, ConditionValue] = msgspec.field(default_factory=dict)

    def __post_init__(self) -> None:
        """Raises ValueError for a wrong value; it becomes a ConfigError with its line."""
        if bool(self.kernel) == bool(self.image):
            raise ValueError("a target needs either `kernel` or `image`, which has its own kernel")
        if self.image and self.source:
            raise ValueError("`source` belongs to `kernel`: nothing is built for an `image`")
        if self.place and self.port:
            raise ValueError("`port` and `place`: the serial line is that of the place")
        if self.place and self.tier != "board":
            raise ValueError(f"`place` is for the tier board, this is {self.tier}")
        if self.deadline:
            try:
                parse_quantity(self.deadline, "deadline")
            except UsageError as error:
                raise ValueError(str(error)) from None

    @property
    def link(self) -> BoardLink:
        """How its board is reached."""
        return BoardLink(self.port, self.probe, self.server, self.server_command, self.results)


class Defaults(FileModel, kw_only=True, frozen=True):
    """The [defaults] table: what `kadenz run` does without the option."""

    output: str = "runs"  # folder of run folders, relative to the lab
    rounds: Annotated[int, msgspec.Meta(ge=1)] | None = None
    archive: str = "archive"  # folder relative to the lab, or URL of an object store


class Mechanisms(FileModel, kw_only=True, frozen=True):
    """The [mechanisms] table: names that the suite does not know, by the calls of mechanism.h."""

    channel: tuple[str, ...] = ()
    notify: tuple[str, ...] = ()
    lock: tuple[str, ...] = ()
    timer: tuple[str, ...] = ()
    memory: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Raises ValueError for a name that no benchmark can have, or that is there twice."""
        names = self.names
        for name in names:
            if not _MECHANISM.fullmatch(name):
                raise ValueError(
                    f"`{name}`: a mechanism has lower-case letters and digits, and words joined "
                    "by a hyphen"
                )
            if names.count(name) > 1:
                raise ValueError(f"`{name}` is there twice")

    @property
    def names(self) -> list[str]:
        """Names of mechanisms of all kinds, in the order of the file."""
        return [*self.channel, *self.notify, *self.lock, *self.timer, *self.memory]


class LabFile(FileModel, kw_only=True, frozen=True):
    """kadenz.toml. Every table may be left out: an empty file makes a lab, too."""

    title: str = ""
    defaults: Defaults = Defaults()
    target: dict[str, LabTarget] = msgspec.field(default_factory=dict)
    mechanisms: Mechanisms = Mechanisms()

    def __post_init__(self) -> None:
        """Raises ValueError for a target's name that the command line would misread."""
        for name in self.target:
            if not name or set(name) & set("/@*?[], ") or name == "latest":
                raise ValueError(
                    f"`target.{name}`: a target's name has letters, digits, `-` and `_`"
                )


@dataclass(frozen=True)
class Lab:
    """A lab on this machine."""

    folder: Path
    file: LabFile

    @property
    def path(self) -> Path:
        """The `kadenz.toml` of the lab."""
        return self.folder / FILE

    @property
    def output(self) -> Path:
        """Where its runs go."""
        return self.folder / self.file.defaults.output


def find_lab() -> Lab | None:
    """The lab named by KADENZ_LAB, else the one around the working directory; None: no lab.

    Raises ConfigError for a wrong KADENZ_LAB, an invalid file, a lab inside a lab, and for a lab
    of somebody else that was found, not named.
    """
    folder = _folder()
    return None if folder is None else Lab(folder, read_toml(folder / FILE, LabFile))


def output_folder() -> Path:
    """Where runs go, and where their names are looked up: the lab's folder, else `runs`."""
    lab = find_lab()
    return Path("runs") if lab is None else lab.output


def archive_place() -> str:
    """The archive without an option: that of the lab, else `archive`. A path or a URL."""
    lab = find_lab()
    if lab is None:
        return "archive"
    place = lab.file.defaults.archive
    return place if "://" in place else str(lab.folder / place)


def _folder() -> Path | None:
    named = os.environ.get(VARIABLE)
    if named:
        folder = Path(named).resolve()
        folder = folder.parent if folder.name == FILE else folder
        if not (folder / FILE).is_file():
            raise ConfigError(
                f"{VARIABLE}={named}: no {FILE} there",
                remedy="Unset it, or name the folder of a lab; `kadenz init` makes one",
            )
        return folder
    labs = labs_above(Path.cwd())
    if labs:
        refuse_foreign(labs[0], labs[0] / FILE)
    if len(labs) > 1:
        raise ConfigError(
            f"{labs[0] / FILE}: a lab inside the lab {labs[1] / FILE}",
            remedy=f"Move one of them elsewhere, or name the one to use: {VARIABLE}={labs[0]}",
        )
    return labs[0] if labs else None


def labs_above(folder: Path) -> list[Path]:
    """The folders from `folder` upward that are labs, the nearest first."""
    return [lab for lab in (folder, *folder.parents) if (lab / FILE).is_file()]
