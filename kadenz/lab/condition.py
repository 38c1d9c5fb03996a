# SPDX-License-Identifier: Apache-2.0
"""A condition: what a target is measured under. One type for load, tuning, guest, bus and the rest.

A kind of condition is one module of `lab/conditions/` with two classes. A `Choice` says how the
condition is asked for, checks it against the targets and lists its values. A `Condition` is one of
these values on one run: it names the run, sets up the target, is in force while the target is
measured, and is stamped into the manifest.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from kadenz.config.board_link import DEFAULT, BoardLink
from kadenz.config.key_values import Key, Notation

if TYPE_CHECKING:
    from kadenz.config.campaign import Campaign
    from kadenz.config.manifest import ConditionEntry, Manifest
    from kadenz.config.manifest import Warning as Stamp
    from kadenz.config.target_name import TargetName
    from kadenz.errors import KadenzError
    from kadenz.host.facts import Host
    from kadenz.images.given_program import GivenProgram
    from kadenz.lab.conditions.guest import Guest
    from kadenz.lab.progress import Progress
    from kadenz.targets.arrivals import Asked

NONE = "none"  # asked for: measured without the condition
INTERRUPTED = "interrupted (Ctrl-C)"  # why a run is partial
# What may be missing on this machine: real-time rights, idle states held off, the rate of a load.
Allowance = Literal["no-realtime", "idle-states", "weak-load"]


@dataclass(frozen=True)
class Option:
    """A command-line option of a condition. Its value arrives in `Choice.asked` under `key`."""

    flag: str  # "--load"
    help: str
    metavar: str = ""
    # "keys": KEY=VALUE,…, in one or several; the value is a mapping. "names": of `keys`.
    kind: Literal["text", "file", "keys", "names"] = "text"
    many: bool = False  # may be repeated; the value is a tuple
    keys: tuple[
        Key, ...
    ] = ()  # after a text: `OptionValue`. Of "keys" without: any, each a list of texts
    # Shell completion: (value, help) for the typed prefix. None: `file` or nothing.
    complete: Callable[[str], Iterable[tuple[str, str]]] | None = None
    or_file: bool = False  # completes file names where `complete` finds nothing

    @property
    def key(self) -> str:
        """The name of the value: `kernel_source`."""
        return self.flag.removeprefix("--").replace("-", "_")

    @property
    def notation(self) -> Notation | None:
        """Of an option with keys; None for others."""
        if self.kind == "keys":
            return Notation(self.flag, self.keys)
        named = self.keys and self.kind == "text"
        return Notation(self.flag, self.keys, self.metavar) if named else None


@dataclass
class Setup:
    """How the image of a target is built and started. Conditions change it."""

    kernel_source: Path | None = None  # a tree of the kernel, None: the pinned one
    image: Path | None = None  # that another build made, None: kadenz builds it
    link: BoardLink = DEFAULT  # how a board is reached
    # Of memories of a simulated SoC, by name; those that are not named keep the board's.
    wait_states: Mapping[str, int] = field(default_factory=dict)
    # Of a simulated core, emptied whenever a sample begins: "instructions", "data".
    flushed_caches: Sequence[str] = ()
    isa: str = ""  # instruction set of the image, "": the board's first
    guest: Guest | None = None  # the kernel that boots, for tier guest
    program: GivenProgram | None = None  # of the user's, that the guest runs
    allowed: frozenset[Allowance] = frozenset()
    profiled: bool = False  # what is executed between stamps is recorded
    traced: bool = False  # what is executed in whole records is
    arriving: Asked | None = None  # a sample with an interrupt in every cycle of it
    fresh: bool = False  # nothing is taken from the store of values
    arguments: list[str] = field(default_factory=list)  # for the program of a host target


@dataclass
class Running:
    """A run that begins. A condition in force may replace what the run is measured with."""

    label: str
    output: Path
    progress: Progress
    stop: threading.Event
    host: Host
    failures: list[KadenzError] = field(default_factory=list)  # do not end the run


class Active:
    """A condition in force. The base class does nothing."""

    def begin(self, document: Manifest) -> None:
        """Stamps the manifest before the first record."""

    def end(self, document: Manifest, why: str, failures: list[KadenzError]) -> str:
        """Stamps it after the last record. `why` says why the run is partial, "" if it is whole.

        Returns `why`, or a better reason.
        """
        return why


class Condition:
    """One condition of a run. Every part has a default: a kind overrides what concerns it.

    Subclasses are frozen dataclasses, so that equal conditions are equal.
    """

    asks_anew: ClassVar[bool] = False  # the target's catalog depends on it and is not kept

    @property
    def entries(self) -> tuple[ConditionEntry, ...]:
        """For `conditions` of the manifest: all that tells runs under it apart."""
        return ()

    @property
    def labels(self) -> tuple[str, ...]:
        """In the name of the run on the screen: `load disk`. Labels of all runs name no variant."""
        return tuple(entry.label for entry in self.entries)

    @property
    def suffix(self) -> str:
        """In the name of the run folder: `-load-disk`."""
        return ""

    @property
    def warnings(self) -> list[Stamp]:
        """Warnings of every run under this condition."""
        return []

    def set_up(self, setup: Setup, target: TargetName) -> None:
        """Changes how the target is built and started."""

    def settings(self) -> dict[str, str]:
        """Settings of the target that it cannot report itself. Read before each start."""
        return {}

    def refused(self, failure: KadenzError) -> KadenzError:
        """The error to show if the target ended while it was asked for its benchmarks."""
        return failure

    def active(self, run: Running) -> AbstractContextManager[Active]:
        """In force from entering to leaving. Entered in the order of the kinds, left in reverse."""
        return nullcontext(Active())


class Choice(ABC):
    """Everything that was asked for of one kind of condition."""

    title: ClassVar[str]  # heads its options in `kadenz run --help`
    order: ClassVar[int]  # of the kinds: in names, when entered; the lowest varies slowest
    options: ClassVar[tuple[Option, ...]]
    changes_image: ClassVar[bool] = False  # its conditions set up a build: `footprint` takes it too
    names_image: ClassVar[bool] = False  # its conditions replace the build

    @classmethod
    @abstractmethod
    def asked(cls, values: Mapping[str, Any], campaign: Campaign) -> Self:
        """From values of the options by key, and from the campaign where an option has none."""

    def check(self, targets: Sequence[TargetName]) -> None:  # noqa: B027  # optional
        """Raises KadenzError for every mistake that can be found before anything is built."""

    @abstractmethod
    def variants(self, target: TargetName) -> Sequence[Condition]:
        """One condition for each variant of `target`. Empty: this kind does not concern it."""
