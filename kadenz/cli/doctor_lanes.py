# SPDX-License-Identifier: Apache-2.0
"""The first lines of `kadenz doctor`: one for each lane, a way to measure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kadenz.errors import EXIT_FAILED, EXIT_INCONCLUSIVE

if TYPE_CHECKING:
    from kadenz.config.manifest import PreflightEntry
    from kadenz.host.clock import ClockCheck
    from kadenz.targets.checkup import TargetCheck

CLAIMS = ("medians", "worst-cases")
_COUNTED = {"emulated": "emulated", "rtl": "simulated cores", "guest": "guests"}
_ANSWERS = {0: "yes", EXIT_INCONCLUSIVE: "unknown", EXIT_FAILED: "no"}


def verdict(claim: str, preflight: Sequence[PreflightEntry], clock: ClockCheck) -> int:
    """Exit code for a claim about this Linux: 0 valid, 1 invalid, 4 unknown."""
    concerned = {entry.verdict for entry in preflight if claim in entry.invalidates}
    if "finding" in concerned or clock.problems:
        return EXIT_FAILED
    return EXIT_INCONCLUSIVE if "unknown" in concerned else 0


def lanes(
    targets: Sequence[TargetCheck],
    preflight: Sequence[PreflightEntry],
    clock: ClockCheck,
    probes: Sequence[object],
) -> dict[str, str]:
    """What each lane can do now: "emulated" -> "ready", how many of its targets are, or why none
    is."""
    by_tier: dict[str, list[TargetCheck]] = {}
    for check in targets:
        by_tier.setdefault(check.name.rpartition("@")[2], []).append(check)
    states = {word: _ready(by_tier[tier]) for tier, word in _COUNTED.items() if tier in by_tier}
    states["this Linux"] = _this_linux(by_tier.get("host", ()), preflight, clock)
    count = len(probes)
    states["boards"] = f"{count} probe{'s' * (count != 1)} on USB" if count else "no probe on USB"
    return states


def _ready(checks: Sequence[TargetCheck]) -> str:
    ready = sum(check.ready for check in checks)
    if not ready:
        return f"no: {checks[0].missing[0].problem}"
    return "ready" if ready == len(checks) else f"ready: {ready} of {len(checks)} targets"


def _this_linux(
    checks: Sequence[TargetCheck], preflight: Sequence[PreflightEntry], clock: ClockCheck
) -> str:
    lacking = [requirement.problem for check in checks for requirement in check.missing]
    if lacking:
        return f"no: {lacking[0]}"
    return ", ".join(f"{word}: {_ANSWERS[verdict(word, preflight, clock)]}" for word in CLAIMS)
