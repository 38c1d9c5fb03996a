# SPDX-License-Identifier: Apache-2.0
"""Events and notes by kind: frequent ones never hide rare ones, and no number is lost."""

from __future__ import annotations

import pytest

from kadenz.config.manifest import EventEntry
from kadenz.lab.events import enter_events, enter_kinds, kinds_in_words


def entered(*texts: str) -> tuple[list[EventEntry], list[str]]:
    events: list[EventEntry] = []
    return events, enter_events(events, texts)


def by_kind(texts: list[str]) -> list[str]:
    kinds: list[EventEntry] = []
    for text in texts:  # as they arrive
        enter_kinds(kinds, [text])
    return kinds_in_words(kinds)


def test_equal_texts_with_different_reactions_are_different_kinds() -> None:
    events, _ = entered(
        "cycle 5: working counter 18, 21 expected: holds the last setpoint",
        "cycle 7: working counter 9, 21 expected: holds the last setpoint",
        "cycle 9: working counter 0, 21 expected: quick stop",
    )
    assert [(e.text, e.reaction, e.count, e.first_cycle, e.last_cycle) for e in events] == [
        ("working counter 9 to 18, 21 expected", "holds the last setpoint", 2, 5, 7),
        ("working counter 0, 21 expected", "quick stop", 1, 9, 9),
    ]
    assert {e.kind for e in events} == {"working counter {}, {} expected"}


def test_least_and_greatest_compare_numbers_not_texts() -> None:
    (event,), _ = entered(*(f"cycle 1: off by {n} ns: logged" for n in ("9", "-10", "100", "2.5")))
    assert event.text == "off by -10 to 100 ns"


@pytest.mark.parametrize(
    "text",
    [
        "measured from cycle 812",
        "cycle 5 was late",
        "cycle x: what: reaction",
        "3 edges could not be written down in time and are missed",
    ],
)
def test_a_text_that_is_not_an_event_stays_a_note(text: str) -> None:
    assert entered(text) == ([], [text])


@pytest.mark.parametrize("text", ["-3 of 4", "1.2.3 is a version", "0x1f and v2", "007"])
def test_a_single_text_is_reported_unchanged(text: str) -> None:
    assert by_kind([text]) == [text]
    (event,), _ = entered(f"cycle 1: {text}: logged")
    assert event.text == text


def test_braces_of_the_target_are_not_numbers() -> None:
    assert by_kind(["a {} and 3", "a {} and 5"]) == ["a { } and 3 to 5 (2 times)"]


def test_notes_that_only_differ_in_numbers_are_reported_once() -> None:
    told = by_kind(["core 1 idle", "core 3 idle", "no cgroups", "core 2 idle"])
    assert told == ["core 1 to 3 idle (3 times)", "no cgroups"]
