# SPDX-License-Identifier: Apache-2.0
"""Loads of the runs in words."""

from __future__ import annotations

from kadenz.config.manifest import LoadEntry, Manifest


def described(entry: LoadEntry) -> str:
    """ "disk: 141 MB/s written (idle 1.38)"."""
    text = f"{entry.name}: {rate_text(entry.rate)} {entry.unit} (idle {rate_text(entry.idle_rate)})"
    return text if entry.verified else f"{text}; not verified: {entry.reason}"


def line(manifest: Manifest) -> str:
    """ "load disk: 141 MB/s written (idle 1.38)"; "" if no load was requested."""
    name = manifest.condition_values.get("load", "")
    parts = "; ".join(described(entry) for entry in manifest.loads)
    if not parts:
        return f"load {name}" if name else ""
    return f"load {parts}" if parts.startswith(f"{name}:") else f"load {name}: {parts}"


def rate_text(value: float) -> str:
    """A rate of work."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
