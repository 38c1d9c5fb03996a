# SPDX-License-Identifier: Apache-2.0
"""Each decision has a number of its own, and the list names every page once."""

from __future__ import annotations

import re
from collections import Counter

from tests.docs.pages import ROOT

FOLDER = ROOT / "docs" / "decisions"


def test_each_decision_has_its_own_number_and_stands_in_the_list_once() -> None:
    pages = sorted(file.name for file in FOLDER.glob("[0-9]*.md"))
    numbers = [int(name[:4]) for name in pages]
    assert numbers == list(range(1, len(pages) + 1))
    for name, number in zip(pages, numbers, strict=True):
        assert (FOLDER / name).read_text().startswith(f"# {number}. "), name
    listed = re.findall(
        r"^\| (\d+) \| \[.*\]\((.*\.md)\)", (FOLDER / "README.md").read_text(), re.M
    )
    assert Counter(listed) == Counter(
        (str(number), name) for name, number in zip(pages, numbers, strict=True)
    )
