# SPDX-License-Identifier: Apache-2.0
"""Stamps the tuning in force on every run of this machine."""

from __future__ import annotations

import os

from kadenz.config import manifest
from kadenz.config.manifest import Manifest
from kadenz.errors import KadenzError, TargetFailed
from kadenz.lab.conditions.tuning import tuning_entry
from kadenz.tuning import lifecycle
from kadenz.tuning.machine import Machine


def begin(document: Manifest, machine: Machine | None = None) -> None:
    """Enters the tuning in force and whether it holds; guests and emulated boards have none."""
    if document.target.tier != "host":
        return
    try:
        document.tuning = lifecycle.describe(machine or Machine())
    except KadenzError as error:
        _warn(document, "tuning-unknown", f"the tuning is unknown: {error.message}", "")
        return
    entry = document.tuning
    if entry is None:
        return
    failed = sum(item.count for item in entry.items if item.state != "applied")
    every = sum(item.count for item in entry.items)
    asked = document.condition_values.get("tuning", "")  # of `run --tuning`, with its processors
    name = asked if asked.startswith(f"{entry.profile},") else entry.profile
    missing = f", without {failed} of {every} values" if failed else ""
    half = "" if entry.complete else ", half applied"
    document.enter_condition(tuning_entry(name + missing + half))
    if not entry.complete:
        _warn(
            document,
            "tuning-incomplete",
            f"the tuning {name} was half applied or half restored when the run began",
            "kadenz tune restore, then apply it again",
        )
    if entry.at_start:
        _warn_changed(document, name, "began", entry.at_start)


def end(document: Manifest, machine: Machine | None = None) -> None:
    """Enters whether the same tuning still held when the run ended."""
    if document.target.tier != "host":
        return
    machine = machine or Machine()
    try:
        if document.tuning is None:
            if lifecycle.describe(machine) is not None:
                _warn(
                    document,
                    "tuning-changed",
                    "a tuning was applied while the run was measured",
                    "Measure again: its first records are without it",
                )
            return
        document.tuning.at_end = lifecycle.verified_at_end(machine, document.tuning)
    except KadenzError as error:
        _warn(document, "tuning-unknown", f"the tuning is unknown: {error.message}", "")
        return
    if document.tuning.at_end and document.tuning.at_end != document.tuning.at_start:
        _warn_changed(document, document.tuning.profile, "ended", document.tuning.at_end)


def on_every_processor(command: list[str], machine: Machine | None = None) -> list[str]:
    """The command, started outside the group to which a tuning confines programs.

    Raises TargetFailed if this process lacks the right to leave the group.
    """
    machine = machine or Machine()
    try:
        way_out = lifecycle.way_out(machine)
    except KadenzError:
        return command  # a damaged journal: `begin` stamps it
    if not way_out:
        return command
    file = machine.path(way_out)
    if not os.access(file, os.W_OK):
        raise TargetFailed(
            "the tuning in force keeps programs off the processors for real time, and this process "
            f"may not leave its group ({file})",
            remedy="Measure as root, or restore the tuning: kadenz tune restore",
        )
    # The shell moves itself, then becomes the program: its number stays the same.
    return ["/bin/sh", "-c", 'echo $$ > "$0" && exec "$@"', str(file), *command]


def _warn_changed(document: Manifest, name: str, when: str, what: list[str]) -> None:
    more = f", and {len(what) - 1} more" if len(what) > 1 else ""
    _warn(
        document,
        "tuning-changed",
        f"the tuning {name} did not hold when the run {when}: {what[0]}{more}",
        "See `kadenz tune verify`; restore, apply and measure again",
    )


def _warn(document: Manifest, code: str, message: str, remedy: str) -> None:
    document.warnings.append(manifest.Warning(code=code, message=message, remedy=remedy))
