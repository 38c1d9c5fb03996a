# SPDX-License-Identifier: Apache-2.0
"""Lists of processors in Linux notation: "0-2,6"."""

from __future__ import annotations

import re

from kadenz.errors import ConfigError, KadenzError

_PIECE = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9}))?", re.ASCII)
# Far above CONFIG_NR_CPUS, which is at most 8192: a mistyped range.
_MOST = 65_536


def parse_cpus(text: str) -> frozenset[int]:
    """{0, 1, 2, 6} for "0-2,6", empty for "". Raises ValueError that names the wrong piece."""
    text = text.strip()
    cpus: set[int] = set()
    for piece in text.split(",") if text else ():
        match = _PIECE.fullmatch(piece)
        if match is None:
            raise ValueError(f"`{piece}` is neither a number nor a range")
        first, last = int(match[1]), int(match[2] or match[1])
        if last < first:
            raise ValueError(f"the range {piece} is reversed")
        if last >= _MOST:
            raise ValueError(f"processor {last} is out of range")
        cpus.update(range(first, last + 1))
    return frozenset(cpus)


def asked_cpus(where: str, text: str, error: type[KadenzError] = ConfigError) -> frozenset[int]:
    """Parses a user's list, with at least one processor. Raises `error` with a remedy."""
    try:
        cpus = parse_cpus(text)
        if not cpus:
            raise ValueError("it is empty")
    except ValueError as wrong:
        raise error(
            f"{where} {text}: not a list of processors: {wrong}", remedy="For example 0,2-3"
        ) from None
    return cpus


def show_cpus(cpus: frozenset[int]) -> str:
    """ "0-2,6" for {0, 1, 2, 6}."""
    parts: list[tuple[int, int]] = []
    for cpu in sorted(cpus):
        if parts and parts[-1][1] == cpu - 1:
            parts[-1] = (parts[-1][0], cpu)
        else:
            parts.append((cpu, cpu))
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in parts)
