# SPDX-License-Identifier: Apache-2.0
"""kadenz watch for a program in a guest."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kadenz.errors import UsageError

if TYPE_CHECKING:
    from kadenz.config.target_name import TargetName
    from kadenz.lab.conditions.guest import Guest
    from kadenz.watching.guest import GuestWatch
    from kadenz.watching.live import Recording

_SECONDS = 10.0  # of the guest's time: a program under load needs ten times as much of this one's
_OF_TARGETS = "linux-rt/x86_64@guest"


@dataclass(frozen=True)
class GuestOptions:
    """What a guest and its program get, as the command line has it. `target` None: none is asked
    for."""

    target: str | None
    guest: Sequence[str]
    files: Sequence[str]
    standard_input: Path | None
    fresh: bool

    def refuse(self) -> None:
        """UsageError if there is any: this Linux is watched, or a recording."""
        options = {
            "--guest": self.guest,
            "--file": self.files,
            "--stdin": self.standard_input,
            "--fresh": self.fresh,
        }
        for option, value in options.items():
            if value:
                raise UsageError(
                    f"{option}: for a program in a guest, and there is no --target",
                    remedy=f"Name the guest: --target {_OF_TARGETS}",
                )


def checked_watch(
    source: Sequence[str], names: Sequence[str], seconds: float | None, options: GuestOptions
) -> GuestWatch:
    """The program in `source` with its guest. UsageError for what no guest can run."""
    from kadenz.lab.condition import NONE
    from kadenz.lab.conditions.guest import thread_rules
    from kadenz.watching.guest import GuestSettings, GuestWatch, program_for

    target = _target(options.target or "")
    linux = program_for(target, _file(source[0]), source[1:], options.files, options.standard_input)
    guest = _guest(target, options.guest)
    settings = GuestSettings(
        target=target,
        kernel=guest.kernel,
        load="" if guest.load == NONE else guest.load,
        threads=thread_rules(guest.tuning),
        disturbance=guest.disturbance,
        conditions=guest.entries,
        warnings=guest.warnings,
    )
    return GuestWatch(linux, settings, seconds or _SECONDS, names, options.fresh)


def watched_in_guest(subject: GuestWatch, stop: threading.Event, *, as_json: bool) -> Recording:
    """Boots the guest, and shows what the program wrote when it has ended."""
    from kadenz.visible_text import visible
    from kadenz.watching.guest import record_in_guest

    click.echo(f"watching {subject.title} in {subject.settings.target}", err=True)
    recording, end = record_in_guest(subject, stop.is_set)
    for written, is_error in ((end.output, as_json), (end.errors, True)):
        if written:
            click.echo(visible(written.decode(errors="replace")), err=is_error, nl=False)
    return recording


def _target(text: str) -> TargetName:
    """A guest that runs programs. UsageError for another target."""
    from kadenz.config import inventory
    from kadenz.config.target_name import parse_target

    target = parse_target(text)
    tier = inventory.board(target.board).tier.guest if target.tier == "guest" else None
    if tier is None or tier.program is not None:
        why = "has a program of its own" if tier is not None else "is no guest"
        raise UsageError(
            f"--target {text}: it {why}",
            remedy=f"Name one as {_OF_TARGETS}; without --target, this Linux is watched",
        )
    return target


def _file(name: str) -> Path:
    """The program, as a shell finds it."""
    path = Path(name)
    where = None if path.exists() else shutil.which(name)
    return path if where is None else Path(where)


def _guest(target: TargetName, texts: Sequence[str]) -> Guest:
    """The one variant that is asked for."""
    from kadenz.config.campaign import GuestSettings
    from kadenz.config.key_values import Notation
    from kadenz.lab.conditions.guest import GuestChoice

    (option,) = GuestChoice.options
    notation = Notation(option.flag, option.keys)
    keys = notation.merged(notation.parse(text) for text in texts)
    choice = GuestChoice(
        keys.get("kernel", ()),
        keys.get("load", ()),
        keys.get("tuning", ()),
        keys.get("disturbance", ""),
        GuestSettings(),
    )
    choice.check([target])
    variants = choice.variants(target)
    if len(variants) > 1:
        raise UsageError(
            f"--guest: {len(variants)} variants",
            remedy="A program is watched under one kernel, one load and one tuning: call it for "
            "each",
        )
    return variants[0]
