# SPDX-License-Identifier: Apache-2.0
"""Runs from before conditions were data (schema version 1): their list, from what they state.

Their manifest has the conditions as text by kind, and two of them elsewhere.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kadenz.config.manifest import SCHEMA_VERSION, ConditionEntry

FIRST = 1  # the version of these manifests
_USUAL = dict.fromkeys(("load", "tuning", "disturbance"), "none")
_NAMED_BY_VALUE = ("instruction set",)


def conditions_of(texts: dict[str, str]) -> list[ConditionEntry]:
    """The entries of conditions that are texts by kind."""
    return [
        ConditionEntry(
            kind=kind,
            value=value,
            label=value if kind in _NAMED_BY_VALUE else "",
            usual=_USUAL.get(kind, ""),
        )
        for kind, value in texts.items()
    ]


def renew(plain: dict[str, Any]) -> None:
    """Makes a decoded manifest of version 1 one of today's version."""
    conditions = conditions_of(plain["conditions"])
    settings = plain["target"]["settings"]
    transport, _, interface = settings.get("transport", "").partition(",")[0].partition(" ")
    if transport == "interface":
        conditions.append(ConditionEntry(kind="interface", value=interface, usual="simulated"))
    if "layout_sha256" in settings:
        name = Path(settings.get("layout", "")).name
        digest = settings["layout_sha256"][:12]
        conditions.append(
            ConditionEntry(
                kind="layout", value=f"{name} {digest}", label=f"layout {name}", usual="built in"
            )
        )
    if any(warning["code"] == "idle-states-allowed" for warning in plain["warnings"]):
        conditions.append(ConditionEntry(kind="idle states", value="allowed", usual="held off"))
    plain["conditions"] = conditions
    plain["schema_version"] = SCHEMA_VERSION
