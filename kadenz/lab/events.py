# SPDX-License-Identifier: Apache-2.0
"""Groups target messages by kind, so that frequent messages do not hide rare ones."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from kadenz.config.manifest import EventEntry

# An event: docs/reference/wire-format.md, TEXT.
_EVENT = re.compile(r"cycle (?P<cycle>\d+): (?P<what>.+): (?P<reaction>[^:]+)", re.DOTALL)
# A number that is not part of a name or of another number.
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?!\w)")


def enter_events(events: list[EventEntry], texts: Iterable[str]) -> list[str]:
    """Enters the texts about single cycles into `events`. Returns the other texts.

    Events are of one kind if their words and the reaction are the same. Numbers in them may differ;
    the smallest and the largest of each are kept.
    """
    others = []
    for text in texts:
        match = _EVENT.fullmatch(text)
        if match is None:
            others.append(text)
        else:
            _enter(events, match["what"], match["reaction"], int(match["cycle"]))
    return others


def enter_kinds(kinds: list[EventEntry], texts: Iterable[str]) -> None:
    """Enters texts into `kinds`: those that differ only in their numbers are of one."""
    for text in texts:
        _enter(kinds, text, "", 0)


def kinds_in_words(kinds: Iterable[EventEntry]) -> list[str]:
    """Each kind, with the number of occurrences."""
    return [kind.text if kind.count == 1 else f"{kind.text} ({kind.count} times)" for kind in kinds]


def _enter(events: list[EventEntry], text: str, reaction: str, cycle: int) -> None:
    text = text.replace("{}", "{ }")  # the place of a number
    kind, numbers = _NUMBER.sub("{}", text), _NUMBER.findall(text)
    known = next((e for e in events if (e.kind, e.reaction) == (kind, reaction)), None)
    if known is None:
        events.append(
            EventEntry(
                kind=kind,
                reaction=reaction,
                count=1,
                first_cycle=cycle,
                last_cycle=cycle,
                least=numbers,
                greatest=list(numbers),
            )
        )
        return
    known.count += 1
    known.first_cycle = min(known.first_cycle, cycle)
    known.last_cycle = max(known.last_cycle, cycle)
    known.least = _each(min, known.least, numbers)
    known.greatest = _each(max, known.greatest, numbers)


def _each(choose: Callable[..., str], before: Sequence[str], now: Sequence[str]) -> list[str]:
    return [choose(pair, key=float) for pair in zip(before, now, strict=True)]
